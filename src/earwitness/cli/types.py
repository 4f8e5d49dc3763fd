"""Types of options with several numbers."""

from __future__ import annotations

from typing import Any

import click


class FloatList(click.ParamType[list[float]]):
    """One number, or several separated by commas."""

    name = "float,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> list[float]:
        try:
            return [float(text) for text in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a number or a list such as 1,3,10", param, ctx)


class IntegerList(click.ParamType[list[int]]):
    """One whole number, or several separated by commas; none for an empty text."""

    name = "integer,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        if isinstance(value, list):
            return value
        try:
            return [int(text) for text in str(value).split(",")] if value != "" else []
        except ValueError:
            self.fail(f"{value!r} is not a whole number or a list such as 1,2,4", param, ctx)
