"""Types of options with several numbers, and with a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click


class NumberList(click.ParamType[list[float]]):
    """One number, or several separated by commas."""

    def __init__(self, kind: type[int] | type[float]) -> None:
        self._kind = kind
        self.name = f"{click.types.convert_type(kind).name},..."

    def convert(self, value: Any, param: Any, ctx: Any) -> list[float]:
        try:
            return [self._kind(text) for text in str(value).split(",")]
        except ValueError:
            form = "a whole number" if self._kind is int else "a number"
            self.fail(f"{value!r} is not {form} or a list such as 1,3,10", param, ctx)


class Pair(click.ParamType[tuple[str, Any]]):
    """A name and its value, separated by ``=``."""

    name = "pair"

    def __init__(self, value: Any = str) -> None:
        self._value = click.types.convert_type(value)

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Any]:
        name, mark, text = str(value).partition("=")
        if not (name and mark and text):
            self.fail(f"{value!r} is not {param.metavar}", param, ctx)
        return name, self._value.convert(text, param, ctx)


def collect_pairs(ctx: Any, param: Any, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return values by name, or refuse a name that is given twice; for ``callback``."""
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise click.BadParameter(f"{twice[0]} is given twice", ctx, param)
    return dict(pairs)
