"""Formatting of numbers, shared by all output formats."""

from __future__ import annotations

from math import inf, isfinite, isnan

from earwitness.core import Estimate, Value

COMPONENT_LABELS = {  # variance components of votes
    "listener": "listener",
    "item": "item",
    "listener_system": "listener × system",
    "item_system": "item × system",
    "residual": "residual",
}
ARROWS = {"high": "↑", "low": "↓", "none": ""}
DIRECTIONS = {"high": "higher is better", "low": "lower is better", "none": ""}
MINUS = "−"  # U+2212, for people; files for programs have the hyphen of ASCII
WIDE_RANGE_FROM = 50  # ranges from this width on have one decimal place
CORRECTED_P_HEADINGS = {"holm": "p (Holm)", "bh": "p (BH)", "max_t": "p (max-T)"}


def value_title(value: Value) -> str:
    """Return the name of a value, with an arrow towards its better end."""
    return f"{value.name} {ARROWS[value.best]}".rstrip()


def axis_label(value: Value) -> str:
    """Return the label of an axis: the name of a value, its unit and its better direction.

    >>> axis_label(Value("delay", "low", 0, inf, "median delay", "s"))
    'delay (s), lower is better'
    """
    name = label_with_unit(value.name, value.unit)
    return ", ".join(filter(None, [name, DIRECTIONS[value.best]]))


def number(x: float, value: Value) -> str:
    """Format with the decimals of ``decimal_places``; "–" if undefined.

    >>> number(-0.25, Value("rating", "high", 1, 5, "mean of votes"))
    '−0.25'
    """
    if not isfinite(x):
        return "–" if isnan(x) else "∞" if x > 0 else f"{MINUS}∞"
    places = decimal_places(value)
    return f"{round(x, places) + 0.0:.{places}f}".replace("-", MINUS)  # no negative zero


def short_number(x: float) -> str:
    """Format with as few digits as needed, such as the ticks of an axis.

    >>> short_number(-0.5), short_number(20.0)
    ('−0.5', '20')
    """
    return f"{x:g}".replace("-", MINUS)


def decimal_places(value: Value) -> int:
    """Return the number of decimals: three for shares, one for wide ranges, else two."""
    is_wide = WIDE_RANGE_FROM <= value.high - value.low < inf
    return 3 if value.high == 1 else 1 if is_wide else 2


def interval(estimate: Estimate, value: Value) -> str:
    """Format both ends of an interval, or say that all values are equal.

    >>> interval(Estimate(2.0, 2.0, 2.0, 0.95, 12, 0, ""), Value("MOS", "high", 1, 5, ""))
    'no variance'
    """
    if isfinite(estimate.value) and estimate.low == estimate.high:
        return "no variance"
    return f"[{number(estimate.low, value)}, {number(estimate.high, value)}]"


def cell(estimate: Estimate, value: Value, votes: int = 0) -> str:
    """Format a number with its interval, or with n (or ``votes``) if all are equal.

    >>> cell(Estimate(2.0, 2.0, 2.0, 0.95, 12, 0, ""), Value("MOS", "high", 1, 5, ""), votes=48)
    '2.00 (no variance, 48 votes)'
    """
    figure = number(estimate.value, value)
    if isfinite(estimate.value) and estimate.low == estimate.high:
        size = f"{votes:,} votes" if votes else f"n = {estimate.n:,}"
        return f"{figure} ({interval(estimate, value)}, {size})"
    return f"{figure} {interval(estimate, value)}"


def p_value(p: float) -> str:
    """Format p with four decimals."""
    return "–" if isnan(p) else f"{p:.4f}" if p >= 0.00005 else "<0.0001"


def p_phrase(p: float) -> str:
    """Format p for a sentence.

    >>> p_phrase(0.0123), p_phrase(1e-9)
    ('p = 0.0123', 'p < 0.0001')
    """
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def percent(estimate: Estimate | None) -> str:
    """Format a share in percent with its interval."""
    if estimate is None or isnan(estimate.value):
        return "–"
    low, high = (("–" if isnan(x) else f"{100 * x:.0f}") for x in (estimate.low, estimate.high))
    return f"{100 * estimate.value:.0f} % [{low}, {high}]"


def label_with_unit(name: str, unit: str) -> str:
    """Return a name with its unit, if any."""
    return f"{name} ({unit})" if unit else name


def size_text(estimate: Estimate) -> str:
    """Return n, and the number of all cases if some are undefined."""
    total = f" of {estimate.n + estimate.undefined:,}" if estimate.undefined else ""
    return f"n {estimate.n:,}{total}"


def count_with_undefined(estimate: Estimate) -> str:
    """Return the number of defined cases, and that of undefined ones if any."""
    n, undefined = estimate.n, estimate.undefined
    return f"{n:,}" + (f" + {undefined:,} undefined" if undefined else "")


def clock(seconds: float) -> str:
    """Format a duration as minutes and seconds, with hours if needed.

    >>> clock(75), clock(3675)
    ('1:15', '1:01:15')
    """
    whole = round(seconds)
    hours, minutes, remainder = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{remainder:02}" if hours else f"{minutes}:{remainder:02}"
