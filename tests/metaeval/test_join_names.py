"""Why names of ratings and of scores do not meet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.analysis.rating_set import TableOptions
from earwitness.errors import UsageError
from earwitness.metaeval.agree import ScoreOptions
from earwitness.metaeval.join import likely_cause, mismatch_hint
from helpers.score_tables import QUICK, agreed, figure, people, rating_rows, score_rows

ALIKE = "use the same names in both files"


@pytest.mark.parametrize(
    ("rated", "scored", "told"),
    [
        (
            ["Anna", "Ben"],
            ["anna", "ben"],
            f'by case: "Anna" and "anna", "Ben" and "ben" — {ALIKE}',
        ),
        (
            ["a", "b", "c"],
            ["a.wav", "b.wav", "c.wav"],
            'by file ending: "a" and "a.wav", "b" and "b.wav", … — use --score-column sample=item '
            f"--score-pattern '{{item}}.wav', or {ALIKE}",
        ),
        (
            ["a.flac"],
            ["a"],
            'by file ending: "a.flac" and "a" — use --column sample=item '
            f"--pattern '{{item}}.flac', or {ALIKE}",
        ),
        (["a.flac"], ["a.wav"], f'by file ending: "a.flac" and "a.wav" — {ALIKE}'),
        (
            ["a"],
            ["x/y/a"],
            'by folder: "a" and "x/y/a" — use --score-column sample=item --score-pattern '
            f"'*/*/{{item}}', or {ALIKE}",
        ),
        (
            ["a"],
            ["x/a.wav"],
            'by file ending and folder: "a" and "x/a.wav" — use --score-column sample=item '
            f"--score-pattern '*/{{item}}.wav', or {ALIKE}",
        ),
        (
            ["i1", "i12"],
            ["i001", "i012"],
            f'by zero padding: "i1" and "i001", "i12" and "i012" — {ALIKE}',
        ),
        (["take 1"], ["take1"], f'by spaces: "take 1" and "take1" — {ALIKE}'),
        (["A.wav"], ["a"], f'by case and file ending: "A.wav" and "a" — {ALIKE}'),
    ],
)
def test_names_that_look_the_same_are_told_with_examples_and_a_remedy(
    rated: list[str], scored: list[str], told: str
) -> None:
    assert (
        mismatch_hint("item", rated, scored)
        == f"item names in ratings and scores differ only {told}"
    )


def test_names_that_meet_and_names_that_are_others_have_no_hint() -> None:
    assert mismatch_hint("item", ["a", "b"], ["a", "b", "c"]) == ""
    assert mismatch_hint("item", ["i1", "i2"], ["i3", "i4"]) == ""
    assert mismatch_hint("item", ["a"], ["a", "a.wav"]) == ""  # what meets is not looked at
    assert mismatch_hint("item", ["a"], ["a.wav", "a.flac"]) == ""  # which of two nobody knows
    assert mismatch_hint("item", ["i10"], ["i1", "i01"]) == ""


def test_the_cause_is_that_of_most_names() -> None:
    found = likely_cause(["a", "b", "C"], ["a.wav", "b.wav", "c"])
    assert found is not None
    assert (found.what, len(found.pairs)) == (("case", "file ending"), 3)
    assert likely_cause([], []) is None


def _with(rows: list[dict[str, Any]], change: Any) -> list[dict[str, Any]]:
    return [one | {"item": change(one["item"])} for one in rows]


def test_the_remedy_that_is_told_joins_them(tmp_path: Path) -> None:
    votes = people(systems=6)
    means = votes.mean(axis=2) + np.random.default_rng(0).normal(0, 2, votes.shape[:2])
    scores, ratings = score_rows(m=means), rating_rows(votes)
    wanted = figure(agreed(tmp_path, scores, ratings), "m", "system", "pearson")
    theirs = _with(scores, lambda name: f"set/{name}.wav")
    with pytest.raises(
        UsageError, match=r"--score-column sample=item --score-pattern '\*/\{item\}\.wav'"
    ):
        agreed(tmp_path, theirs, ratings)
    scoring = ScoreOptions(score_pattern="*/{item}.wav", score_columns={"sample": "item"})
    assert (
        figure(agreed(tmp_path, theirs, ratings, scoring=scoring), "m", "system", "pearson")
        == wanted
    )
    ours = _with(ratings, lambda name: f"{name}.flac")
    with pytest.raises(UsageError, match=r"--column sample=item --pattern '\{item\}\.flac'"):
        agreed(tmp_path, scores, ours)
    reading = TableOptions(pattern="{item}.flac", columns={"sample": "item"})
    assert (
        figure(agreed(tmp_path, scores, ours, reading=reading), "m", "system", "pearson") == wanted
    )


def test_names_that_meet_only_in_part_are_warned_of_and_not_joined(tmp_path: Path) -> None:
    votes = people(systems=6)
    scores = score_rows(m=votes.mean(axis=2))
    scores = _with(scores, lambda name: name.upper() if name in ("i0", "i1") else name)
    [scale] = agreed(tmp_path, scores, rating_rows(votes), **QUICK).scales
    assert scale.items == 5
    told = [one for one in scale.warnings if "differ only by case" in one]
    assert told == [
        'item names in ratings and scores differ only by case: "i0" and "I0", "i1" and "I1" — '
        + ALIKE
    ]
