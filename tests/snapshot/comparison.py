"""Two recordings beside each other: words exactly, long numbers nearly."""

from __future__ import annotations

import re
from difflib import unified_diff
from itertools import zip_longest
from math import isclose

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
CLOSE = 1e-9
LONG = 9  # digits; numbers that are all shorter were rounded on purpose and must be the same


def same(one: str, other: str, close: float = CLOSE) -> bool:
    """Whether two texts are the same but for the last digits of long numbers.

    With a wider tolerance, decimals of any length may differ by as much.

    >>> same("f1 0.123456789012", "f1 0.123456789013"), same("f1 0.123", "f1 0.124")
    (True, False)
    """
    if one == other:
        return True
    if NUMBER.split(one) != NUMBER.split(other):  # also if a # stands where a number was
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(_alike(first, second, close) for first, second in pairs)


def _alike(first: str, second: str, close: float) -> bool:
    if first == second:
        return True
    long = close > CLOSE or any(sum(map(str.isdigit, one)) >= LONG for one in (first, second))
    whole = all(one.lstrip("-").isdigit() for one in (first, second))
    near = isclose(float(first), float(second), rel_tol=close, abs_tol=close)
    return long and not whole and near


def difference(name: str, want: str, got: str, close: float = CLOSE) -> str:
    """What differs, as a diff that people read; nothing if nothing does."""
    before, after = want.split("\n"), got.split("\n")
    if len(before) == len(after):  # lines that are nearly the same are no difference
        after = [
            old if same(old, new, close) else new for old, new in zip(before, after, strict=True)
        ]
    elif same(want, got, close):
        return ""
    if before == after:
        return ""
    lines = unified_diff(before, after, f"{name} (recorded)", f"{name} (now)", lineterm="", n=2)
    return "\n".join(line[:400] for line, _ in zip_longest(lines, ()))
