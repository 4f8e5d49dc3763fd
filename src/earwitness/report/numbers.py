"""Numbers as text, the same in every medium."""

from __future__ import annotations

from math import isnan

from earwitness.data import Estimate, Value

ARROWS = {"high": "↑", "low": "↓", "none": ""}


def titled(value: Value) -> str:
    """A value's name, and which end is good."""
    return f"{value.name} {ARROWS[value.best]}".rstrip()


def number(x: float, value: Value) -> str:
    """Three places for a share, two for a count, a dash for what is undefined."""
    places = 3 if value.high == 1 else 2
    return "–" if isnan(x) else f"{round(x, places) + 0.0:.{places}f}"  # no negative zero


def interval(estimate: Estimate, value: Value) -> str:
    """Both ends."""
    return f"[{number(estimate.low, value)}, {number(estimate.high, value)}]"


def cell(estimate: Estimate, value: Value) -> str:
    """A number with its interval."""
    return f"{number(estimate.value, value)} {interval(estimate, value)}"


def p_value(p: float) -> str:
    """Four places."""
    return "–" if isnan(p) else f"{p:.4f}"


def labelled(name: str, unit: str) -> str:
    """A name with its unit, if it has one."""
    return f"{name} ({unit})" if unit else name


def counted(estimate: Estimate) -> str:
    """n, and of how many cases where some are undefined."""
    every = f" of {estimate.n + estimate.undefined:,}" * bool(estimate.undefined)
    return f"n {estimate.n:,}{every}"


def clock(seconds: float) -> str:
    """A time as people write it.

    >>> clock(75), clock(3675)
    ('1:15', '1:01:15')
    """
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
