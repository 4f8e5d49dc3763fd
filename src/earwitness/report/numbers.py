"""Number formatting shared by all output media."""

from __future__ import annotations

from math import inf, isfinite, isnan

from earwitness.core import Estimate, Value

COMPONENT_LABELS = {  # of differences between votes, in words
    "listener": "between listeners",
    "item": "between items",
    "listener_system": "of a listener for a system",
    "item_system": "of an item with a system",
    "residual": "of a vote, given again",
}
ARROWS = {"high": "↑", "low": "↓", "none": ""}
WIDE_RANGE_FROM = 50  # a range from which on one place is enough
CORRECTED_P_HEADINGS = {"holm": "p (Holm)", "bh": "p (BH)"}


def value_title(value: Value) -> str:
    """A value's name, and which end is good."""
    return f"{value.name} {ARROWS[value.best]}".rstrip()


def number(x: float, value: Value) -> str:
    """Three places for a share, two for a count, one where the range is wide; – is undefined."""
    if not isfinite(x):
        return "–" if isnan(x) else "∞" if x > 0 else "-∞"
    is_wide = WIDE_RANGE_FROM <= value.high - value.low < inf
    places = 3 if value.high == 1 else 1 if is_wide else 2
    return f"{round(x, places) + 0.0:.{places}f}"  # no negative zero


def interval(estimate: Estimate, value: Value) -> str:
    """Both ends."""
    return f"[{number(estimate.low, value)}, {number(estimate.high, value)}]"


def cell(estimate: Estimate, value: Value) -> str:
    """A number with its interval."""
    return f"{number(estimate.value, value)} {interval(estimate, value)}"


def p_value(p: float) -> str:
    """Four places."""
    return "–" if isnan(p) else f"{p:.4f}" if p >= 0.00005 else "<0.0001"


def percent(estimate: Estimate | None) -> str:
    """A share in percent with its interval."""
    if estimate is None or isnan(estimate.value):
        return "–"
    low, high = (("–" if isnan(x) else f"{100 * x:.0f}") for x in (estimate.low, estimate.high))
    return f"{100 * estimate.value:.0f} % [{low}, {high}]"


def label_with_unit(name: str, unit: str) -> str:
    """A name with its unit, if it has one."""
    return f"{name} ({unit})" if unit else name


def count_text(estimate: Estimate) -> str:
    """n, and of how many cases where some are undefined."""
    total = f" of {estimate.n + estimate.undefined:,}" * bool(estimate.undefined)
    return f"n {estimate.n:,}{total}"


def count_with_undefined(estimate: Estimate) -> str:
    """How many cases, and how many more have no value."""
    n, undefined = estimate.n, estimate.undefined
    return f"{n:,}" + f" + {undefined:,} undefined" * bool(undefined)


def clock(seconds: float) -> str:
    """A time as people write it.

    >>> clock(75), clock(3675)
    ('1:15', '1:01:15')
    """
    whole = round(seconds)
    hours, minutes, remainder = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{remainder:02}" if hours else f"{minutes}:{remainder:02}"
