"""Tests of scripts in Node show the views that trial kinds make."""

from __future__ import annotations

import json

from helpers.script_views import PATH, views


def test_the_views_of_script_tests_are_those_of_trial_kinds() -> None:
    """`python -m helpers.script_views`, with `tests` and `.` on the path, writes them again."""
    known = json.loads(PATH.read_text(encoding="utf-8"))
    assert known == json.loads(json.dumps(views()))
