"""Rubrics that a study defines: by the name of a built-in one, with parts of its own, or whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from earwitness.errors import UsageError, nearest
from earwitness.listening.rubrics.rubric import Anchor, Dimension, Rubric, Worked
from earwitness.listening.rubrics.thumbs import thumbs

BUILT_IN = {"thumbs": thumbs}
WHOLE = ("dimensions", "total")


def defined(given: str | Mapping[str, Any], language: str = "en") -> Rubric:
    """The rubric that is meant.

    A mapping with the name of a built-in rubric and no dimensions is that one, with the title and
    examples that it names instead; any other must have dimensions and the formula of a total.
    """
    if not isinstance(given, str | Mapping):
        raise UsageError(f"rubric must be a name or say what it consists of, got {given!r}")
    return _defined(given if isinstance(given, str) else json.dumps(given), language)


@cache
def _defined(given: str, language: str) -> Rubric:
    if not given.startswith("{"):
        return _built_in(given, language)
    value = json.loads(given)
    name = str(value.get("name", ""))
    if not any(key in value for key in WHOLE):
        return _changed(_built_in(name, language), value)
    missing = [key for key in ("name", *WHOLE) if not value.get(key)]
    if missing:
        raise UsageError(f"rubric: {' and '.join(missing)} missing — or name a built-in one")
    if name in BUILT_IN:
        raise UsageError(f'rubric: "{name}" is built in — give yours another name')
    dimensions = tuple(map(_dimension, value["dimensions"]))
    title, examples = str(value.get("title", "")), _examples(value)
    return Rubric(name, dimensions, str(value["total"]), title, examples, language)


def _built_in(name: str, language: str) -> Rubric:
    if name not in BUILT_IN:
        raise UsageError(f'there is no rubric "{name}" — {nearest(name, BUILT_IN)}')
    return BUILT_IN[name](language)


def _changed(rubric: Rubric, value: Mapping[str, Any]) -> Rubric:
    title = str(value.get("title", rubric.title))
    examples = _examples(value) if "examples" in value else rubric.examples
    return replace(rubric, title=title, examples=examples)


def _dimension(value: Mapping[str, Any]) -> Dimension:
    told = value.get("anchors", {})
    low, high, step = (float(value[key]) for key in ("low", "high", "step"))
    return Dimension(
        str(value["name"]),
        low,
        high,
        step,
        value.get("role", "score"),
        str(value.get("title", "")),
        str(value.get("help", "")),
        tuple(Anchor(_number(one), str(text)) for one, text in told.items()),
    )


def _number(text: str) -> float:
    try:
        return float(str(text).replace("−", "-"))
    except ValueError:
        raise UsageError(f"anchors: {text!r} is no number") from None


def _examples(value: Mapping[str, Any]) -> tuple[Worked, ...]:
    return tuple(
        Worked(
            str(one.get("heard", "")),
            str(one["caption"]),
            {str(key): float(number) for key, number in one["values"].items()},
            str(one.get("comment", "")),
            str(one.get("sound", "")),
        )
        for one in value.get("examples", ())
    )
