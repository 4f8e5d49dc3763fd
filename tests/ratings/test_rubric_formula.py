"""Rubrics as data, formulas that are read and not run, totals rater by rater."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.core import Key, group_values
from earwitness.errors import UsageError
from earwitness.ratings.rubric import (
    LANGUAGES,
    TOTAL,
    Dimension,
    Rubric,
    formula,
    read_rubric,
    thumbs,
)
from earwitness.ratings.rubric_totals import Blank, CaptionJudgment, ratings, total

NAMES = ("precision", "recall", "fluency", "conciseness", "irrelevance")
KEY = Key("park", "person")


def judged(listener: int, *numbers: float | None) -> CaptionJudgment:
    return CaptionJudgment(KEY, listener, dict(zip(NAMES, numbers, strict=True)))


def votes(judgments: list[CaptionJudgment], blank: Blank = "drop") -> dict[str, list[float]]:
    """The values of all raters, by scale."""
    found = ratings(thumbs(), judgments, blank)
    assert {one.key for one in found} <= {KEY}
    return group_values((one.scale, one.value) for one in found)


def sixteen() -> list[CaptionJudgment]:
    """Fifteen raters whose totals add up to 25.3, and one who left a penalty blank."""
    plain = [judged(n, 2, 2, 0, 0, -0.1) for n in range(12)]  # 12 × 1.9 = 22.8
    low = [judged(12, 1, 1, 0, 0, 0), judged(13, 1, 1, 0, 0, 0)]  # 2 × 1.0
    slip = judged(14, 1, 1, -0.5, 0, 0)  # 0.5; 22.8 + 2.0 + 0.5 = 25.3
    return [*plain, *low, slip, judged(15, 4, 4, -0.2, -0.2, None)]


def test_a_rater_with_a_blank_leaves_the_total_and_stays_in_the_other_dimensions() -> None:
    found = votes(sixteen())
    assert fmean(found[TOTAL]) == pytest.approx(25.3 / 15)
    assert round(fmean(found[TOTAL]), 4) == 1.6867
    assert len(found[TOTAL]) == 15
    assert [len(found[name]) for name in NAMES] == [16, 16, 16, 16, 15]
    # the total of means: (31/16 + 31/16)/2 − 0.7/16 − 0.2/16 − 1.2/15 = 1.80125
    of_means = total(thumbs(), {name: fmean(found[name]) for name in NAMES})
    assert of_means == pytest.approx(1.80125, abs=1e-12)


def test_a_blank_counts_as_nothing_taken_off_if_that_is_asked_for() -> None:
    found = votes(sixteen(), "zero")
    assert fmean(found[TOTAL]) == pytest.approx((25.3 + 3.6) / 16)
    assert len(found[TOTAL]) == 16
    assert len(found["irrelevance"]) == 15


def test_a_blank_score_is_not_zero() -> None:
    found = votes([judged(1, None, 4, 0, 0, 0)], "zero")
    assert TOTAL not in found
    assert found["recall"] == [4]


def test_blanks_are_refused_with_all_their_places() -> None:
    wrong = [judged(1, 3, None, 0, 0, 0), judged(2, 3, 3, 0, None, 0)]
    with pytest.raises(UsageError, match=r"recall of park, person by 1; conciseness .* by 2"):
        votes(wrong, "refuse")
    assert votes([judged(1, 3, 3, 0, 0, 0)], "refuse")[TOTAL] == [3]


def test_a_policy_for_blanks_must_be_known() -> None:
    with pytest.raises(UsageError, match='did you mean "drop"'):
        votes([], "dorp")  # type: ignore[arg-type]


def test_totals_are_never_clipped() -> None:
    worst = total(thumbs(), dict(zip(NAMES, (1, 1, -2, -2, -2), strict=True)))
    best = total(thumbs(), dict(zip(NAMES, (5, 5, 0, 0, 0), strict=True)))
    assert (worst, best) == (-5, 5)
    scale = thumbs().scales[TOTAL]
    assert (scale.low, scale.high) == (-5, 5)


def test_steps_of_totals_follow_from_those_of_dimensions() -> None:
    scale = thumbs().scales[TOTAL]
    assert scale.step == 0.05  # (P + R)/2 in tenths
    assert all(scale.allows(value) for value in (-5, 1.35, 3.65, 5))
    bent = replace(thumbs(), total="precision*recall + fluency")
    assert bent.total_step == 0
    assert (bent.scales[TOTAL].low, bent.scales[TOTAL].high) == (-1, 25)


def test_ratings_leave_out_what_is_blank() -> None:
    found = ratings(thumbs(), [judged(7, 4, 3, -0.1, 0, None)])
    assert {one.scale: one.value for one in found} == {
        "precision": 4,
        "recall": 3,
        "fluency": -0.1,
        "conciseness": 0,
    }
    assert {one.listener for one in found} == {7}


tenths = st.integers(0, 40).map(lambda n: Fraction(n + 10, 10))
penalties = st.integers(-20, 0).map(lambda n: Fraction(n, 10))


@given(st.lists(st.tuples(tenths, tenths, penalties, penalties, penalties), min_size=1))
def test_means_are_those_of_exact_fractions(rows: list[tuple[Fraction, ...]]) -> None:
    found = votes([judged(n, *map(float, row)) for n, row in enumerate(rows)])
    exact = [(p + r) / 2 + f + c + i for p, r, f, c, i in rows]
    assert fmean(found[TOTAL]) == pytest.approx(float(sum(exact) / len(exact)), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a + b*2", 8),
        ("(a + b)*2", 10),
        ("a - b - 1", -2),
        ("8/a/2", 2),
        ("−a + 2*−b", -8),
        ("-(a - .5) / 1.5", -1),
    ],
)
def test_formulas_follow_the_usual_rules(text: str, value: float) -> None:
    assert formula(text).value({"a": 2, "b": 3}) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a +",
        "a b",
        "(a",
        "a)",
        "a ** 2",
        "a.b",
        "__import__('os')",
        "f(a)",
        "a[0]",
        "1e9",
        "a;b",
    ],
)
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="formula"):
        formula(text)


def test_formulas_have_ends() -> None:
    with pytest.raises(UsageError, match="more than 40 nested levels"):
        formula("(" * 100 + "a" + ")" * 100)
    with pytest.raises(UsageError, match="longer than"):
        formula("a+" * 1000 + "a")
    assert formula("+".join("a" * 400)).value({"a": 1}) == 400


@given(st.tuples(*[st.floats(1, 5)] * 2, *[st.floats(-2, 0)] * 2))
def test_values_lie_within_the_bounds(numbers: tuple[float, ...]) -> None:
    ranges = {"a": (1.0, 5.0), "b": (1.0, 5.0), "c": (-2.0, 0.0), "d": (-2.0, 0.0)}
    made = formula("a*c - d/b + 2*(a - d)")
    low, high = made.bounds(ranges)
    value = made.value(dict(zip("abcd", numbers, strict=True)))
    assert low - 1e-9 <= value <= high + 1e-9


def test_a_total_that_may_divide_by_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="may be 0"):
        replace(thumbs(), total="precision / fluency")


def test_a_total_speaks_of_known_dimensions() -> None:
    with pytest.raises(UsageError, match='did you mean "recall"'):
        replace(thumbs(), total="precision + recal")
    with pytest.raises(UsageError, match="contains no dimension"):
        replace(thumbs(), total="1 + 1")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"name": "two words"}, "must be a word"),
        ({"name": "total"}, "must be a word"),
        ({"low": 5.0}, "low must be below high"),
        ({"step": 0.0}, "low must be below high"),
        ({"step": 0.3}, "5 is not a valid value"),
        ({"role": "scroe"}, 'did you mean "score"'),
        ({"role": "penalty"}, "high must be 0"),
    ],
)
def test_dimensions_that_cannot_be_are_refused(changed: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        replace(Dimension("precision", 1, 5, 0.5), **changed)  # type: ignore[arg-type]


def test_an_own_rubric_needs_no_more_than_numbers_and_a_formula() -> None:
    own = Rubric("own", (Dimension("truth", 0, 10, 1), Dimension("noise", -1, 0, 0.5, "penalty")),
                 "truth/10 + noise")  # fmt: skip
    assert total(own, {"truth": 7, "noise": -0.5}) == 0.2
    assert own.dimensions[0].shown == "Truth"


def test_dimensions_take_tenths_with_dust_and_nothing_between() -> None:
    fluency = thumbs().dimensions[2]
    assert fluency.allows(-0.1 - 0.2)
    assert fluency.exactly(-0.1 - 0.2) == -0.3
    assert not fluency.allows(-0.25)
    assert not fluency.allows(0.1)
    assert not fluency.allows(-2.1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_help_anchors_and_worked_examples(language: str) -> None:
    made = read_rubric("thumbs", language)
    assert made.names == NAMES
    for one in made.dimensions:
        assert one.help
        assert {one.low, one.high} <= {anchor.value for anchor in one.anchors}
    fluency = {anchor.value: anchor.text for anchor in made.dimensions[2].anchors}
    assert {-0.1, -0.5} <= fluency.keys()
    assert [total(made, one.values) for one in made.examples] == [5, 1.35]


def test_languages_say_the_same_of_the_same_numbers() -> None:
    english, french = thumbs("en"), thumbs("fr")
    for one, other in zip(english.dimensions, french.dimensions, strict=True):
        assert [anchor.value for anchor in one.anchors] == [a.value for a in other.anchors]
        assert one.title != other.title
        assert one.help != other.help


def test_unknown_rubrics_and_languages_are_told_the_nearest() -> None:
    with pytest.raises(UsageError, match='did you mean "thumbs"'):
        read_rubric("thumb")
    with pytest.raises(UsageError, match='unknown language "de"'):
        thumbs("de")
