"""Ratings as the values that they mean: a page may send 4.0000001, and means 4."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from earwitness.listening.pages import View

CLOSE = 1e-6  # as far off as a rating may be


def meant(view: View, values: Mapping[str, Any]) -> dict[str, Any]:
    """Answers to the questions of a page; those next to a value of their scale are that value.

    What is null is not answered: only on paper can something be left blank.

    >>> asked = {"name": "OVRL", "options": [{"value": 5}, {"value": 4}]}
    >>> meant({"questions": [asked]}, {"OVRL": 4.0000001})
    {'OVRL': 4}
    """
    asked = {one["name"]: one for one in view.get("questions", ())}
    given = {name: value for name, value in values.items() if value is not None}
    return {name: _nearest(asked.get(name, {}), value) for name, value in given.items()}


def _nearest(question: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return value
    if {"low", "step"} <= set(question):
        low, step = question["low"], question["step"]
        known = [round(low + round((value - low) / step) * step, 6)]
    else:
        known = [one["value"] for one in question.get("options", ())]
    near = (one for one in known if not isinstance(one, str | bool) and abs(one - value) < CLOSE)
    found = next(near, value)
    return value if found == value else found
