"""Rules of screening at work: limits to the letter, and planted careless listeners."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from earwitness.analysis.evidence import (
    CheckAnswer,
    PlaybackCounts,
    QualityEvidence,
    RepeatedVote,
    TaskTimes,
    TrialTime,
)
from earwitness.analysis.plan import Rule
from earwitness.analysis.screening import (
    SCREENS,
    Screening,
    screen,
)
from earwitness.analysis.settings import default_rules
from earwitness.core import Key, Rating
from earwitness.ratings.records import Who
from earwitness.stats.arrays import Floats
from helpers.samples import many


def rated(table: Floats, scale: str = "OVRL", names: Iterable[Who] = ()) -> list[Rating]:
    """A row an item, a column a listener."""
    who = list(names) or list(range(1, table.shape[1] + 1))
    return [
        Rating(Key(f"item {i}", "A"), scale, who[j], 1, float(table[i, j]))
        for i, j in np.argwhere(~np.isnan(table)).tolist()
    ]


def usual(name: str, **limits: float) -> Rule:
    return Rule(name, {**SCREENS[name].limits, **limits})


def left(found: Screening) -> set[Who]:
    return set(found.left)


@pytest.mark.parametrize("rule", sorted(SCREENS))
def test_nobody_is_judged_where_there_are_no_ratings(rule: str) -> None:
    assert screen([], [usual(rule)]).verdicts == ()


# --- P.808


def test_the_complete_p808_screening_has_every_rule_of_its_data_cleaning() -> None:
    # ITU-T P.808 cleans data by trapping questions, gold standard clips, playback to the end, and
    # by votes that vary and agree with the panel
    complete = {"traps", "gold", "unheard", "p808"}
    assert {rule.name for rule in default_rules(["p808_complete"])} == complete
    assert default_rules(["p808_complete", "gold"]) == default_rules(["p808_complete"])


def honest(rng: np.random.Generator, items: int, listeners: int) -> Floats:
    """Five points; qualities, biases and noise as in a test of ordinary size."""
    heard = rng.normal(3, 1, (items, 1)) + rng.normal(0, 0.3, listeners)
    return np.clip(np.rint(heard + rng.normal(0, 0.7, (items, listeners))), 1, 5)


def test_p808_tells_figures_beside_limits() -> None:
    good = np.array([[1.0], [2], [4], [5]])
    table = np.hstack([good, good, good, 6 - good, np.full((4, 1), 3.0)])
    found = screen(rated(table, names=["ann", "bob", "cat", "eve", "zoe"]), [usual("p808")])
    # variance 10/3; the others of eve have (3g + 3) / 4, those of ann (2g + 6 − g + 3) / 4
    assert [one.figures for one in found.verdicts[::3]] == [
        "variance 3.33 (minimum 0.1), correlation 1 (minimum 0.4)",
        "variance 3.33 (minimum 0.1), correlation −1 (minimum 0.4)",
    ]
    assert found.verdicts[4].figures == (
        "variance 0 (minimum 0.1), correlation undefined (minimum 0.4)"
    )
    assert found.left == ("eve", "zoe")


def test_p808_leaves_out_who_fails_on_any_scale() -> None:
    good = np.tile(np.array([[1.0], [2], [4], [5]]), (1, 4))
    bad = good.copy()
    bad[:, 2] = bad[::-1, 2]
    found = screen([*rated(good, "SIG"), *rated(bad, "BAK")], [usual("p808")])
    assert [(one.scale, one.listener) for one in found.verdicts if not one.kept] == [("BAK", 3)]
    assert found.left == (3,)


def test_limits_of_the_study_file_count() -> None:
    table = honest(np.random.default_rng(1), 40, 6)
    assert left(screen(rated(table), [usual("p808", correlation=1)])) == set(range(1, 7))
    assert left(screen(rated(table), [usual("p808", variance=9)])) == set(range(1, 7))


def test_a_listener_alone_cannot_be_judged_and_the_note_says_so() -> None:
    found = screen(rated(np.array([[1.0], [5], [3]])), [usual("p808")])
    assert found.left == ()
    assert found.notes == ("p808: a figure is undefined in 1 check; these exclude no listener",)


def test_p808_leaves_scales_of_other_kinds_alone() -> None:
    found = screen(rated(np.full((5, 3), 60.0), "BASIC"), [usual("p808")])
    assert found.verdicts == ()


def test_comparisons_with_different_systems_are_different_stimuli() -> None:
    ratings = [
        Rating(Key("item", "A"), "COMPARISON", who, 1, value, Key("item", other))
        for who in (1, 2, 3)
        for other, value in (("B", 3.0), ("C", 0.0), ("D", -3.0))
    ]
    found = screen(ratings, [usual("p808")])
    assert {one.figures.split(", ")[1] for one in found.verdicts} == {"correlation 1 (minimum 0.4)"}


# --- BS.1534


def mushra(missed: dict[Who, tuple[int, int]], items: int) -> list[Rating]:
    """Listeners who rate the reference 89 in some items, and the middle anchor 91 in some."""
    ratings = []
    for who, (low, high) in missed.items():
        for item in range(items):
            given = {"ref": 89 if item < low else 90, "anchor70": 91 if item < high else 90, "A": 0}
            ratings += [
                Rating(Key(f"item {item}", system), "BASIC", who, 1, float(value))
                for system, value in given.items()
            ]
    return ratings


@pytest.mark.parametrize("items", [20, 40, 60, 100, 140, 1000])
def test_bs1534_leaves_out_more_than_fifteen_in_a_hundred_and_not_fifteen(items: int) -> None:
    five, fifteen, twenty = items // 20, 3 * items // 20, items // 5
    listeners: dict[Who, tuple[int, int]] = {
        "never": (0, 0),
        "5 %": (five, 0),
        "15 %": (fifteen, 0),
        "one more": (fifteen + 1, 0),
        "20 %": (twenty, 0),
        "15 % of both": (fifteen, fifteen),
        "anchor 20 %": (0, twenty),
    }
    found = screen(mushra(listeners, items), [usual("bs1534")], reference="ref", anchor="anchor70")
    assert left(found) == {"one more", "20 %", "anchor 20 %"}
    assert found.notes == ()


def test_fifteen_in_a_hundred_is_exact_for_every_number_of_items() -> None:
    for items in range(1, many(60, 200)):
        most = 15 * items // 100  # whole numbers: the most that is not more than 15 %
        found = screen(
            mushra({"kept": (most, 0), "left": (most + 1, 0)}, items),
            [usual("bs1534")],
            reference="ref",
            anchor="anchor70",
        )
        assert found.left == ("left",)


def test_bs1534_tells_counts_beside_limits() -> None:
    found = screen(mushra({7: (4, 1)}, 20), [usual("bs1534")], reference="ref", anchor="anchor70")
    assert found.verdicts[0].figures == (
        "hidden reference below 90 in 4 of 20 items, middle anchor above 90 in 1 of 20 "
        "(maximum share 0.15)"
    )


def test_rules_on_the_hidden_reference_are_not_applied_where_low_is_good() -> None:
    ratings = mushra({7: (20, 0)}, 20)
    low = screen(
        ratings, [usual("bs1534")], reference="ref", anchor="anchor70", low_is_good={"BASIC"}
    )
    assert low.verdicts == ()
    assert low.notes == ("bs1534: not applied to BASIC: lower is better there",)
    grades = screen(rated(np.ones((4, 2)), "SDG"), [usual("bs1116")], low_is_good={"SDG"})
    assert grades.left == ()
    assert grades.notes[0] == "bs1116: not applied to SDG: lower is better there"


def test_bs1534_without_an_anchor_says_that_half_of_it_was_not_applied() -> None:
    found = screen(mushra({7: (4, 0)}, 20), [usual("bs1534")], reference="ref")
    assert found.left == (7,)
    assert found.notes == (
        "bs1534: no ratings of the middle anchor on BASIC: that condition is not applied",
    )


# --- BS.1116


@pytest.mark.peer
def test_bs1116_has_the_p_of_a_one_sided_t_test() -> None:
    from scipy.stats import ttest_1samp

    rng = np.random.default_rng(3)
    table = rng.normal([-0.8, -0.3, 0, 0.5], 0.8, (20, 4)).round(1)
    found = screen(rated(table, "SDG"), [usual("bs1116")])
    for one, grades in zip(found.verdicts, table.T, strict=True):
        p = ttest_1samp(grades, 0, alternative="less").pvalue
        assert one.figures == f"p {p:.3g} over 20 grades (maximum 0.05)"
        assert one.kept == (p <= 0.05)


def test_bs1116_with_equal_grades_needs_no_test() -> None:
    table = np.array([[-1.0, 0.0, 1.0]] * 4)
    found = screen(rated(table, "SDG"), [usual("bs1116")])
    assert found.left == (2, 3)


def test_one_grade_cannot_be_tested() -> None:
    found = screen(rated(np.array([[-1.0]]), "SDG"), [usual("bs1116")])
    assert found.left == ()
    assert found.notes == ("bs1116: 1 listener kept with a single grade, which cannot be tested",)


def test_bs1116_without_difference_grades_says_so() -> None:
    found = screen(rated(np.ones((3, 2)), "IMPAIRMENT"), [usual("bs1116")])
    assert found.notes == ("bs1116: not applied: no ratings on SDG",)


# --- BT.500 and unheard


def test_bt500_tells_counts_beside_limits() -> None:
    rows = np.tile(np.append([1.0] * 6 + [-1.0] * 6, 0.0), (39, 1))
    rows[0, -1], rows[1, -1] = 4, -4
    found = screen(rated(rows), [usual("bt500")])
    assert found.left == (13,)
    assert found.verdicts[-1].figures == (
        "1 above and 1 below of 39 votes: share of outliers 0.0513 (maximum 0.05), imbalance 0 "
        "(minimum 0.3)"
    )
    assert left(screen(rated(rows), [usual("bt500", outside=0.06)])) == set()


def test_what_needs_plays_is_not_passed_over_in_silence() -> None:
    found = screen(rated(honest(np.random.default_rng(1), 9, 4)), [usual("unheard")])
    assert found.verdicts == ()
    assert found.notes == ("unheard: not applied: playback was not recorded",)


def test_who_did_not_hear_to_the_end_is_left_out_by_the_share() -> None:
    ratings = rated(honest(np.random.default_rng(1), 9, 4))
    plays: dict[Who, PlaybackCounts] = {1: PlaybackCounts(0, 20), 2: PlaybackCounts(3, 20)}
    plays |= {3: PlaybackCounts(4, 20, 2), 4: PlaybackCounts(0, 0, 9)}
    strict = screen(ratings, [usual("unheard")], plays=plays)
    assert strict.left == (2, 3)
    lax = screen(ratings, [usual("unheard", share=0.15)], plays=plays)
    assert lax.left == (3,)  # 3 of 20 is not more than 15 %
    assert [one.figures for one in lax.verdicts if one.listener == 2] == [
        "3 of 20 sounds not played to the end (maximum share 0.15)"
    ]
    assert {one.listener for one in lax.verdicts} == {1, 2, 3}
    marked = screen(ratings, [usual("unheard")], plays={1: PlaybackCounts(2, 20, marked=2)})
    assert marked.verdicts[0].figures == (
        "2 of 20 sounds not played to the end, 2 of them reported as played (maximum share 0)"
    )
    assert lax.notes == (
        "unheard: 1 listener kept whose playback was not recorded",
        "unheard: playback was not recorded for 11 answers",
    )


def test_rules_stand_beside_each_other() -> None:
    table = honest(np.random.default_rng(1), 30, 8)
    table[:, 0] = 3
    found = screen(rated(table), [usual("p808"), usual("unheard"), usual("bt500")])
    assert {one.rule for one in found.verdicts} == {"p808", "bt500"}
    assert found.left == (1,)
    assert len(found.notes) == 1


# --- planted listeners


def told(name: str, hits: int, total: int) -> float:
    share = hits / total
    error = math.sqrt(max(share * (1 - share), 1 / total) / total)
    print(f"{name}: {hits} of {total} left out, {share:.4f} ± {error:.4f}")
    return share


@pytest.mark.parametrize("rule", ["p808", "bt500"])
def test_careless_listeners_among_honest_ones_are_found(rule: str) -> None:
    panels, rng = many(60, 2000), np.random.default_rng(11)
    caught = dict.fromkeys(("random", "constant", "inverted", "honest"), 0)
    for _ in range(panels):
        table = honest(rng, 40, 16)
        table[:, 0] = rng.integers(1, 6, 40)
        table[:, 1] = rng.integers(1, 6)
        table[:, 2] = 6 - table[:, 2]
        gone = left(screen(rated(table), [usual(rule)]))
        for n, name in enumerate(("random", "constant", "inverted"), start=1):
            caught[name] += n in gone
        caught["honest"] += len(gone - {1, 2, 3})
    shares = {
        name: told(f"{rule}, {name}", hits, panels * (13 if name == "honest" else 1))
        for name, hits in caught.items()
    }
    assert shares["honest"] < 0.01
    if rule == "p808":
        assert min(shares["random"], shares["constant"], shares["inverted"]) > 0.95
    else:  # far from the panel on both sides is all that it sees
        assert shares["random"] > shares["honest"]


def test_careless_assessors_of_mushra_are_found() -> None:
    listeners, rng = many(60, 2000), np.random.default_rng(12)
    ratings: list[Rating] = []
    for who in range(2 * listeners):
        careful = who < listeners
        for item in range(20):
            given = {"ref": 98.0 if rng.random() < 0.98 else 80.0, "anchor70": rng.normal(50, 12)}
            if not careful:
                given = {name: rng.uniform(0, 100) for name in given}
            ratings += [
                Rating(Key(f"item {item}", system), "BASIC", who, 1, float(value))
                for system, value in given.items()
            ]
    gone = left(screen(ratings, [usual("bs1534")], reference="ref", anchor="anchor70"))
    false = sum(isinstance(who, int) and who < listeners for who in gone)
    assert told("bs1534, random", len(gone) - false, listeners) > 0.99
    # more than 3 of 20 at 2 %: 0.0006
    assert told("bs1534, honest", false, listeners) < 0.02


def test_who_cannot_hear_a_difference_is_left_out_as_often_as_the_level_says() -> None:
    listeners, rng = many(400, 4000), np.random.default_rng(13)
    table = rng.normal(0, 0.6, (20, 2 * listeners))
    table[:, listeners:] -= 0.6
    gone = left(screen(rated(table, "SDG"), [usual("bs1116")]))
    deaf = told(
        "bs1116, cannot tell", len({who for who in gone if int(who) <= listeners}), listeners
    )
    heard = told("bs1116, can tell", len(gone) - round(deaf * listeners), listeners)
    assert abs(deaf - 0.95) < 4 * math.sqrt(0.95 * 0.05 / listeners)
    assert heard < 0.05  # the power of the test at one deviation and 20 grades is 0.995


# --- Quality control


def judged(rule: Rule, evidence: QualityEvidence) -> dict[Who, tuple[str, bool]]:
    found = screen(rated(np.full((2, 3), 3.0)), [rule], quality=evidence)
    return {one.listener: (one.figures, one.kept) for one in found.verdicts}


def test_gold_answers_may_be_off_by_the_tolerance() -> None:
    gold = [CheckAnswer("gold", value, 4) for value in (5, 4, 3, 3, 5)]
    wrong = [*gold[:3], CheckAnswer("gold", 2, 4), CheckAnswer("gold", 1, 4)]
    found = judged(usual("gold"), QualityEvidence({1: gold, 2: [*gold[:4], wrong[4]], 3: wrong}))
    assert [kept for _, kept in found.values()] == [True, True, False]  # 0, 1 and 2 of 5
    assert found[3][0] == "2 of 5 answers wrong by more than 1 (maximum share 0.2)"


def test_a_single_trap_that_is_missed_excludes() -> None:
    missed = [CheckAnswer("trap", 2, 2), CheckAnswer("trap", 3, 2)]
    evidence = QualityEvidence({1: missed, 2: missed[:1], 3: [CheckAnswer("gold", 5, 5)]})
    assert judged(usual("traps"), evidence) == {
        1: ("1 of 2 answers wrong (maximum share 0)", False),
        2: ("0 of 1 answer wrong (maximum share 0)", True),
    }
    found = screen(rated(np.full((2, 3), 3.0)), [usual("traps")], quality=evidence)
    assert found.notes == ("traps: 1 listener kept without answers to trapping clips",)


def test_repeated_votes_agree_within_the_tolerance() -> None:
    def votes(who: int, *pairs: tuple[float, float]) -> list[RepeatedVote]:
        return [RepeatedVote(Key("i", "A"), "OVRL", who, pair, pair[0]) for pair in pairs]

    steady = votes(1, (3, 3), (4, 5), (2, 1), (1, 5))  # 1 of 4
    unsteady = votes(2, (3, 5), (1, 4), (2, 2))
    found = judged(usual("repeats"), QualityEvidence(repeats=[*steady, *unsteady]))
    assert [kept for _, kept in found.values()] == [True, False]
    assert found[2][0] == "2 of 3 repeated votes changed by more than 1 (maximum share 0.25)"


def test_haste_is_judged_by_the_sounds_and_by_declared_minima() -> None:
    slow = TaskTimes((TrialTime(12, 10), TrialTime(9.6, 10)), 8)  # 9.5 s is the limit
    fast = TaskTimes((TrialTime(12, 10), TrialTime(9.4, 10)), 8)
    evidence = QualityEvidence(times={1: slow, 2: fast})
    assert [kept for _, kept in judged(usual("hasty"), evidence).values()] == [True, False]
    rule = usual("hasty", share=0.5, seconds=11, minutes=9)
    assert judged(rule, evidence)[1] == (
        "1 of 2 trials answered faster than the sounds last or 11 s (maximum share 0.5), "
        "8 min in all (minimum 9)",
        False,
    )


def test_a_high_threshold_in_the_hearing_test_excludes() -> None:
    assert judged(usual("hearing"), QualityEvidence(thresholds={1: -5, 2: -4.9})) == {
        1: ("threshold −5 dB (maximum −5)", True),
        2: ("threshold −4.9 dB (maximum −5)", False),
    }


@pytest.mark.parametrize("rule", [name for name, rule in SCREENS.items() if rule.unapplied])
def test_a_rule_without_records_says_so(rule: str) -> None:
    found = screen(rated(np.full((2, 3), 3.0)), [usual(rule)])
    assert found.verdicts == ()
    assert found.notes == (f"{rule}: not applied: {SCREENS[rule].unapplied}",)
