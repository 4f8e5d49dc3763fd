"""Formulas of totals: names of dimensions, numbers, ``+ - * /`` and parentheses, nothing else.

A formula is read into a small tree; nothing of it is ever run as code. A minus sign may be the
hyphen or the real one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from earwitness.errors import UsageError

LONGEST = 1000  # characters
DEEPEST = 40  # parentheses and signs within each other
TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?|\.\d+)|([^\W\d]\w*)|([-−+*/()]))")
ALLOWED = "write names of dimensions, numbers, + - * / and parentheses"


@dataclass(frozen=True)
class Number:
    """A number as it is written."""

    value: float


@dataclass(frozen=True)
class Name:
    """A dimension."""

    name: str


@dataclass(frozen=True)
class Operation:
    """Two parts and the sign between them."""

    sign: str
    left: Part
    right: Part


Part = Number | Name | Operation
Range = tuple[float, float]
SIGNS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


@dataclass(frozen=True)
class Formula:
    """A formula as it is written, and its parts.

    >>> formula("(precision + recall)/2 − 1").value({"precision": 4, "recall": 5})
    3.5
    """

    text: str
    whole: Part

    @property
    def names(self) -> frozenset[str]:
        """Dimensions that it speaks of."""
        return frozenset(_names(self.whole))

    @property
    def linear(self) -> bool:
        """Whether no dimension is multiplied with, or divided by, another."""
        return _linear(self.whole)

    def value(self, values: Mapping[str, float]) -> float:
        """What it comes to."""
        return _value(self.whole, values)

    def bounds(self, ranges: Mapping[str, Range]) -> Range:
        """Between which numbers it lies; a division by what may be 0 is refused.

        They are exact where every dimension is named once.
        """
        return _bounds(self.whole, ranges)


def formula(text: str) -> Formula:
    """Read a formula, or say where it is none."""
    if len(text) > LONGEST:
        raise UsageError(f"formula: longer than {LONGEST:,} characters — {ALLOWED}")
    reader = _Reader(_tokens(text), text)
    whole = reader.sum()
    if reader.next:
        reader.refuse()
    return Formula(text, whole)


def _tokens(text: str) -> list[str]:
    found, place, whole = list[str](), 0, text.rstrip()
    while place < len(whole):
        token = TOKEN.match(whole, place)
        if token is None:
            raise UsageError(f'formula: "{whole[place:].strip()[:20]}" cannot be — {ALLOWED}')
        found.append(token[0].strip().replace("−", "-"))
        place = token.end()
    return found


class _Reader:
    """Reads sums of products of parts, from left to right."""

    def __init__(self, tokens: list[str], text: str) -> None:
        self._tokens, self._text, self._place, self._depth = tokens, text, 0, 0

    @property
    def next(self) -> str:
        """The token to come, or nothing."""
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def sum(self) -> Part:
        """Products with + or - between them."""
        return self._chain("+-", self._product)

    def refuse(self) -> None:
        told = f'"{self.next}" cannot stand there' if self.next else "it ends too early"
        raise UsageError(f'formula "{self._text}": {told} — {ALLOWED}')

    def _product(self) -> Part:
        return self._chain("*/", self._part)

    def _chain(self, signs: str, part: Callable[[], Part]) -> Part:
        found = part()
        while self.next and self.next in signs:
            found = Operation(self._take(), found, part())
        return found

    def _part(self) -> Part:
        self._depth += 1
        if self._depth > DEEPEST:
            raise UsageError(f"formula: nested more than {DEEPEST} deep — write it flatter")
        found = self._inner(self.next)
        self._depth -= 1
        return found

    def _inner(self, token: str) -> Part:
        if token == "(":
            self._take()
            found = self.sum()
            if self.next != ")":
                self.refuse()
            self._take()
            return found
        if token == "-":
            self._take()
            return Operation("-", Number(0.0), self._part())
        if not token or token in "+*/)":
            self.refuse()
        self._take()
        return Number(float(token)) if token[0] in ".0123456789" else Name(token)

    def _take(self) -> str:
        self._place += 1
        return self._tokens[self._place - 1]


def _names(part: Part) -> Iterator[str]:
    match part:
        case Name(name):
            yield name
        case Operation(_, left, right):
            yield from _names(left)
            yield from _names(right)


def _linear(part: Part) -> bool:
    if not isinstance(part, Operation):
        return True
    named = [bool([*_names(one)]) for one in (part.left, part.right)]
    bent = (part.sign == "*" and all(named)) or (part.sign == "/" and named[1])
    return not bent and _linear(part.left) and _linear(part.right)


def _value(part: Part, values: Mapping[str, float]) -> float:
    match part:
        case Number(value):
            return value
        case Name(name):
            return values[name]
        case Operation(sign, left, right):
            return SIGNS[sign](_value(left, values), _value(right, values))


def _bounds(part: Part, ranges: Mapping[str, Range]) -> Range:
    match part:
        case Number(value):
            return value, value
        case Name(name):
            return ranges[name]
        case Operation(sign, left, right):
            one, other = _bounds(left, ranges), _bounds(right, ranges)
            if sign == "/" and other[0] <= 0 <= other[1]:
                raise UsageError("formula: divides by what may be 0 — divide by something else")
            ends = [SIGNS[sign](a, b) for a in one for b in other]
            return min(ends), max(ends)
