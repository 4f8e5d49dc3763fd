"""Ratings to results, from answers and from tables."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from earwitness.analysis.plan import ANALYSIS_INTERVALS
from earwitness.analysis.rating_set import TableOptions
from earwitness.analysis.results import Results
from earwitness.cli.main import group
from earwitness.core import Rating
from earwitness.errors import InputError, UsageError
from earwitness.io.tables import csv_text, records_csv
from earwitness.report import apply_renderer
from earwitness.studies.analyse import results_write, study_analyse, study_results
from earwitness.studies.answers import answer_line
from earwitness.studies.file.reader import with_digest
from earwitness.studies.from_answers import rating_records, ratings_from_answers
from earwitness.studies.population import Population
from earwitness.studies.simulate import SimulatedStudy, simulated_write, study_simulate
from earwitness.studies.study import Study
from earwitness.studies.trials import KINDS
from helpers.study_files import udase

DRAWS = 50  # enough to see that something was drawn


def small(**more: Any) -> Study:
    """Eight listeners, six clips, five systems."""
    given: dict[str, Any] = {"listeners": 8, "panels": 1, "clips": 6, "sessions": 2}
    return with_digest(udase(**(given | more)))


def taken(study: Study, population: Population | None = None, seed: int = 1) -> SimulatedStudy:
    """The study, taken by simulated listeners."""
    return study_simulate(study, population, seed=seed)


def ratings(found: SimulatedStudy) -> list[Rating]:
    """What follows from the answers."""
    return ratings_from_answers(found.design.study, dict(enumerate(found.answers, 1)), "simulated")


def results(study: Study, votes: list[Rating], **how: Any) -> Results:
    """All of it, with few draws."""
    return study_results(study, votes, **({"draws": DRAWS} | how))


def answers(folder: Path, found: SimulatedStudy) -> Path:
    """A file of answers."""
    path = folder / "answers.jsonl"
    path.write_bytes(b"".join(map(answer_line, found.answers)))
    return path


@pytest.fixture(scope="module")
def simulated() -> SimulatedStudy:
    """A P.835 study."""
    return taken(small())


def test_answers_and_tables_give_the_same_results(
    tmp_path: Path, simulated: SimulatedStudy
) -> None:
    study = simulated.design.study
    records = rating_records(ratings(simulated))
    table, lines = tmp_path / "ratings.csv", tmp_path / "ratings.jsonl"
    table.write_text(records_csv(records))
    lines.write_text("".join(json.dumps(one) + "\n" for one in records))
    found = [
        study_analyse(path, study=study, draws=DRAWS)
        for path in (answers(tmp_path, simulated), table, lines)
    ]
    assert [one.simulated for one in found] == [True, False, False]
    known = [replace(one, inputs=(), notes=(), simulated=False) for one in found]
    assert repr(known[0]) == repr(known[1]) == repr(known[2])
    assert len({one.inputs[0].sha256 for one in found}) == 3


def test_one_column_a_scale_and_names_of_samples_give_the_same_means(
    tmp_path: Path, simulated: SimulatedStudy
) -> None:
    votes = ratings(simulated)
    rows = dict[tuple[Any, ...], dict[str, Any]]()
    for one in votes:
        row = rows.setdefault((one.listener, one.key), {})
        row |= {"worker": f"w{one.listener}", "file": f"{one.key.system}/{one.key.item}.wav"}
        row[one.scale] = one.value
    path = tmp_path / "wide.csv"
    path.write_text(records_csv(list(rows.values())))
    reading = TableOptions(pattern="{system}/{item}.wav", columns={"listener": "worker"})
    found = study_analyse(path, reading=reading, draws=DRAWS)
    wanted = results(simulated.design.study, votes)
    for own, other in zip(found.scales, wanted.scales, strict=True):
        assert {n: r.mean for n, r in own.systems.items()} == pytest.approx(
            {n: r.mean for n, r in other.systems.items()}
        )


def test_means_are_those_of_listeners_with_every_interval(simulated: SimulatedStudy) -> None:
    votes = ratings(simulated)
    found = results(simulated.design.study, votes).scales[0]
    own = [one for one in votes if one.scale == "SIG" and one.key.system == "C2"]
    each = [np.mean([v.value for v in own if v.listener == n]) for n in range(1, 9)]
    rated = found.systems["C2"]
    assert rated.mean.value == pytest.approx(np.mean(each))
    half = 2.364624 * np.std(each, ddof=1) / math.sqrt(8)  # t of 7 degrees of freedom
    assert (rated.mean.low, rated.mean.high) == pytest.approx(
        (np.mean(each) - half, np.mean(each) + half), rel=1e-6
    )
    assert set(rated.intervals) == set(ANALYSIS_INTERVALS)
    assert (rated.votes, rated.listeners, rated.items) == (48, 8, 6)
    assert rated.good is not None
    assert rated.good.value == pytest.approx(np.mean([v.value >= 4 for v in own]))
    assert rated.ceiling is not None
    assert rated.ceiling.value == pytest.approx(np.mean([v.value == 5 for v in own]))


def test_planned_contrasts_are_tested_and_no_others(simulated: SimulatedStudy) -> None:
    study = simulated.design.study
    every = results(study, ratings(simulated)).scales[0].contrasts
    assert len(every) == 10
    pairs = [("C1", "C0"), ("C4", "C0")]
    two = results(study, ratings(simulated), contrasts=pairs).scales[0].contrasts
    assert [(one.a, one.b) for one in two] == pairs
    smaller, larger = sorted(one.p for one in two)
    assert sorted(one.p_corrected for one in two) == pytest.approx(
        sorted([2 * smaller, max(2 * smaller, larger)])
    )
    assert two[1].better == "C4"
    assert two[1].effect is not None
    assert two[1].effect.low > 0


def test_careless_listeners_are_left_out_and_results_stand_with_and_without() -> None:
    study = small(listeners=16, clips=20)
    found = taken(study, Population(careless=3))
    careless = {one["listener"] for one in found.people if one["careless"]}
    made = results(study, ratings(found), screening=["p808"])
    assert set(made.left) == careless
    assert {one.listener for one in made.screened if not one.kept} == careless
    assert {one.listener for one in made.screened} == set(range(1, 17))
    scale = made.scales[0]
    assert scale.systems["C4"].mean.n == 13
    assert scale.everyone["C4"].n == 16
    assert scale.everyone["C4"].value < scale.systems["C4"].mean.value
    assert {one.listener for one in scale.listeners} == set(range(1, 17))
    none = results(study, ratings(found), screening=[])
    assert none.left == ()
    assert none.scales[0].systems["C4"].mean == scale.everyone["C4"]


def test_a_rule_that_leaves_nobody_keeps_everybody_and_says_so() -> None:
    study = small()
    votes = [replace(one, value=3.0) for one in ratings(taken(study))]
    found = results(study, votes, screening=["p808"])
    assert found.left == ()
    assert any("all listeners failed" in note for note in found.notes)
    assert found.scales[0].systems["C0"].mean.value == 3


@pytest.mark.parametrize("interval", ANALYSIS_INTERVALS)
def test_every_interval_may_be_the_planned_one(interval: str, simulated: SimulatedStudy) -> None:
    found = results(simulated.design.study, ratings(simulated), interval=interval, mixed=False)
    scale = found.scales[0]
    assert scale.systems["C1"].mean.method.startswith(interval)
    assert scale.contrasts[0].difference.method.startswith(interval)
    assert f"interval={interval}" in found.signature
    assert ("mixed" in scale.systems["C1"].intervals) is (interval == "mixed")


def test_doubled_votes_are_told_and_resolved_by_the_rule(simulated: SimulatedStudy) -> None:
    study, votes = simulated.design.study, ratings(simulated)
    again = replace(votes[0], value=6.0 - votes[0].value, session=2)
    for rule, counted in (("first", votes[0].value), ("last", again.value), ("mean", 3.0)):
        [found] = results(study, [*votes, again], doubled=rule).doubled
        assert (found.key, found.listener, found.counted) == (votes[0].key, 1, counted)
    with pytest.raises(InputError, match="2 times"):
        results(study, [*votes, again], doubled="refuse")


def test_votes_given_again_say_how_far_listeners_agree_with_themselves() -> None:
    study = small()
    votes = [one for one in ratings(taken(study)) if one.scale == "SIG"][:4]
    first = [replace(one, value=value) for one, value in zip(votes, (1, 2, 4, 5), strict=True)]
    again = [replace(one, value=value) for one, value in zip(votes, (2, 2, 4, 3), strict=True)]
    [found] = results(study, first + again).retests
    assert (found.scale, found.pairs, found.same) == ("SIG", 4, 0.5)
    assert found.change.value == -0.25  # (1 + 0 + 0 − 2) / 4, of one listener
    assert math.isnan(found.change.low)
    assert found.error == pytest.approx(math.sqrt((1 + 4) / 4 / 2))
    assert found.correlation == pytest.approx(np.corrcoef((1, 2, 4, 5), (2, 2, 4, 3))[0, 1])


def test_hidden_references_of_bs1116_are_not_doubled() -> None:
    study = small(kind="bs1116", reference="ref")
    found = results(study, ratings(taken(study)), screening=["bs1116"])
    assert found.doubled == ()
    impairment, grade = found.scales
    assert set(impairment.systems) == {*study.systems, "ref"}
    assert set(grade.systems) == set(study.systems)
    beside = [(one.a, one.b) for one in grade.contrasts if one.b == "ref"]
    assert beside == [(system, "ref") for system in study.systems]
    assert {one.rule for one in found.screened} == {"bs1116"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_analysed_and_written_in_every_form(kind: str, tmp_path: Path) -> None:
    study = small(kind=kind, reference="ref", systems=("C0", "C1", "C2"))
    found = results(study, ratings(taken(study)))
    names = results_write(found, tmp_path / "results")
    assert {"report.html", "results.json", "tables.tex", "methods.txt"} <= set(names)
    kept = json.loads((tmp_path / "results" / "results.json").read_text())
    assert [one["value"]["name"] for one in kept["scales"]] == list(KINDS[kind]().results())
    if kind in ("ab", "abx", "preference"):
        assert len(found.scales[0].choices) == 3
        assert not found.scales[0].systems
    else:
        assert found.scales[0].systems
        assert found.scales[0].contrasts


def test_comparisons_have_each_system_beside_its_other() -> None:
    study = small(kind="ccr", systems=("C0", "C1", "C2"))
    [scale] = results(study, ratings(taken(study))).scales
    assert list(scale.systems) == ["C2 / C0", "C2 / C1", "C1 / C0"]  # best first
    found = {(one.a, one.b): one for one in scale.contrasts}
    assert set(found) == {("C1", "C0"), ("C2", "C0"), ("C2", "C1")}
    assert found["C2", "C0"].difference.value == scale.systems["C2 / C0"].mean.value
    assert found["C2", "C0"].better == "C2"


def rows(*given: tuple[Any, ...]) -> str:
    """A long table."""
    names = ("item", "system", "listener", "scale", "value")
    return records_csv([dict(zip(names, one, strict=True)) for one in given])


@pytest.mark.parametrize(
    "given",
    [
        [("a", "A", "x", "MOS", 3)],
        [("a", "A", "x", "MOS", 3), ("b", "A", "x", "MOS", 4), ("a", "B", "x", "MOS", 1)],
        [("a", s, who, "MOS", v) for s in "AB" for who, v in (("x", 2), ("y", 3), ("z", 5))],
        [(i, s, who, "MOS", 4) for i in "ab" for s in "AB" for who in "xyz"],
        [("a", "A", "x", "MOS", 1), ("a", "B", "y", "MOS", 5)],
    ],
    ids=["one vote", "one listener", "one item", "constant", "nobody heard both"],
)
def test_tiny_tables_have_results_or_say_that_nothing_is_known(
    given: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    path = tmp_path / "tiny.csv"
    path.write_text(rows(*given))
    found = study_analyse(path, draws=DRAWS, screening=["p808", "bt500"])
    [scale] = found.scales
    for name, rated in scale.systems.items():
        own = [one[4] for one in given if one[1] == name]
        assert rated.mean.value == pytest.approx(np.mean(own))
        assert rated.votes == len(own)
    names = results_write(found, tmp_path / "out")
    assert "nan" not in (tmp_path / "out" / "report.html").read_text().lower().split()
    assert "means.csv" in names


def test_agreement_survives_missing_votes(simulated: SimulatedStudy) -> None:
    votes = [one for one in ratings(simulated) if one.scale == "SIG"]
    gaps = votes[3::17]  # every listener misses some
    assert len({one.listener for one in gaps}) > 4
    [scale] = results(simulated.design.study, [v for v in votes if v not in gaps]).scales
    [every] = scale.agreement
    assert (every.listeners, every.stimuli) == (8, 30)
    coefficient, alpha = every.figures["ICC(2,1)"], every.figures["alpha (interval)"]
    assert coefficient.n + coefficient.undefined == 30
    assert coefficient.undefined == len({one.key for one in gaps})
    assert 0.3 < coefficient.value < 1
    assert 0.3 < alpha.value < 1
    missing = next(one for one in scale.stimuli if one.key == gaps[0].key)
    places = [n for n, vote in enumerate(missing.votes, 1) if math.isnan(vote)]
    assert places == sorted(one.listener for one in gaps if one.key == missing.key)


@pytest.mark.parametrize(("scale", "steps", "is_shown"), [("x", 11, True), ("x", 12, False),
                                                          ("TC", 2, False)])  # fmt: skip
def test_nominal_alpha_is_left_out_on_scales_with_many_values(
    scale: str, steps: int, is_shown: bool
) -> None:
    votes = [
        {"item": "i", "system": f"s{n}", "listener": who, "scale": scale, "value": n / steps}
        for n in range(steps)
        for who in (1, 2)
    ]
    [found] = study_analyse(votes, draws=DRAWS).scales
    [every] = found.agreement
    assert [name for name in every.figures if "alpha" in name] == [
        *["alpha (nominal)"] * is_shown,
        "alpha (ordinal)",
        "alpha (interval)",
    ]


def test_p_of_the_two_way_bootstrap_goes_with_its_interval(simulated: SimulatedStudy) -> None:
    how = {"interval": "two_way_bootstrap", "draws": 400, "mixed": False}
    found = results(simulated.design.study, ratings(simulated), **how)
    every = [one for scale in found.scales for one in scale.contrasts]
    assert any(one.p_corrected < 0.05 for one in every)
    for one in every:
        low, high = one.difference.low, one.difference.high
        assert (low >= 0 or high <= 0) if one.p_corrected < 0.05 else low <= 0 <= high


def test_choices_are_known_by_what_they_say(tmp_path: Path) -> None:
    names = ("item", "system", "against", "listener", "scale", "value")
    given = [
        (f"i{n}", "A", "B", who, "WHICH", 1 if (n + who) % 4 else -1)
        for n in range(6)
        for who in range(5)
    ]
    path = tmp_path / "ab.csv"
    path.write_text(records_csv([dict(zip(names, one, strict=True)) for one in given]))
    [scale] = study_analyse(path, draws=DRAWS).scales
    [choice] = scale.choices
    wins = sum(one[5] > 0 for one in given)
    assert (choice.a, choice.b, choice.wins, choice.losses) == ("A", "B", wins, 30 - wins)
    assert scale.abilities is not None
    alone = tmp_path / "alone.csv"
    alone.write_text(rows(*[(i, s, w, "PREFERENCE", 1) for i in "ab" for s in "AB" for w in "xy"]))
    [scale] = study_analyse(alone, draws=DRAWS, scales=["PREFERENCE=1:5"]).scales
    assert not scale.choices
    assert scale.systems["A"].mean.value == 1


def test_controls_do_not_compete_and_are_known_by_their_usual_names(tmp_path: Path) -> None:
    quality = {"ref": 98, "anchor35": 20, "anchor70": 45, "A": 70, "B": 80}
    given = [
        (f"i{n}", name, f"p{who}", "BASIC", min(100, base + (3 * n + 5 * who) % 7))
        for n in range(5)
        for who in range(6)
        for name, base in quality.items()
    ]
    path = tmp_path / "mushra.csv"
    path.write_text(rows(*given))
    found = study_analyse(path, draws=DRAWS, reference="ref", screening=["bs1534"])
    assert found.controls == ("ref", "anchor35", "anchor70")
    assert [(one.a, one.b) for one in found.scales[0].contrasts] == [("A", "B")]
    assert "controls=ref+anchor35+anchor70" in found.signature
    assert {one.rule for one in found.screened} == {"bs1534"}
    with pytest.raises(UsageError, match='reference: no ratings of "reff"'):
        study_analyse(path, reference="reff")


def two_scales() -> list[dict[str, Any]]:
    """Votes of eight listeners on four systems: C is the best on both scales, noisy the worst."""
    quality = {"noisy": 1.4, "clipped": 2.2, "A": 3.0, "B": 3.2, "C": 4.4}
    rng = np.random.default_rng(4)
    return [
        {"item": item, "system": name, "listener": who, "scale": scale, "value": int(value)}
        for scale in ("SIG", "BAK")
        for who in range(1, 9)
        for item in "abcdef"
        for name, base in quality.items()
        for value in [np.clip(round(base + rng.normal(0, 0.7)), 1, 5)]
    ]


def few(**how: Any) -> Results:
    """Results of two scales, without mixed models."""
    return study_analyse(two_scales(), **({"draws": DRAWS, "mixed": False} | how))


def test_an_anchor_of_one_scale_competes_on_the_others() -> None:
    found = few(anchors=["BAK=noisy", "SIG=clipped", "SIG=noisy"])
    assert {one.value.name: one.controls for one in found.scales} == {
        "SIG": ("clipped", "noisy"),
        "BAK": ("noisy",),
    }
    assert found.controls == ("clipped", "noisy")
    compared = [{n for c in one.contrasts for n in (c.a, c.b)} for one in found.scales]
    assert compared == [{"A", "B", "C"}, {"A", "B", "C", "clipped"}]
    assert "|anchors=BAK:noisy+SIG:clipped+SIG:noisy|" in found.signature
    same = few(anchors={"BAK": "noisy", "SIG": ("clipped", "noisy")})
    assert repr(same) == repr(found)
    lines = str(apply_renderer(found, "report").sections[0]).split("'")
    assert any("BAK" in line and "clipped" in line and "controls: noisy" in line for line in lines)
    table = apply_renderer(found, "paper_table")
    assert [row.name for row in table.rows if row.apart] == ["noisy"]
    assert "Not ranked: clipped (in SIG) and noisy." in table.notes
    clipped = next(row for row in table.rows if row.name == "clipped")
    assert [(cell.is_worse, cell.is_control) for cell in clipped.cells] == [
        (False, True),
        (True, False),
    ]


def test_several_anchors_hold_on_all_scales() -> None:
    found = few(anchors=("noisy", "clipped"))
    assert [set(one.controls) for one in found.scales] == [{"noisy", "clipped"}] * 2
    assert "controls=clipped+noisy" in found.signature
    assert "anchors=" not in found.signature


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"anchors": "nosy"}, 'anchors: no ratings of "nosy" — did you mean "noisy"?'),
        ({"anchors": "BACK=noisy"}, 'anchors: no ratings on scale "BACK" — did you mean "BAK"?'),
        ({"anchors": {"BAK": ["nosy"]}}, 'anchors: no ratings of "nosy" on BAK — did you mean'),
        ({"anchors": "BAK="}, 'anchors: write SYSTEM or SCALE=SYSTEM, got "BAK="'),
        ({"low_is_good": ["BACK"]}, 'low_is_good: no ratings on scale "BACK" — did you mean "BAK"'),
        ({"test": "wilcox"}, 'unknown test "wilcox" — did you mean "wilcoxon"?'),
        (
            {"test": "wilcoxon", "interval": "naive_t"},
            "interval naive_t does not — use cluster_t or cluster_bootstrap",
        ),
        ({"generalize": "item"}, 'unknown generalize "item" — did you mean "items"?'),
        (
            {"generalize": "items", "interval": "cluster_t"},
            "intervals of cluster_t are not for other listeners and other items — use mixed or",
        ),
        (
            {"generalize": "listeners", "interval": "mixed"},
            "intervals of mixed are not for other listeners on these items — use cluster_t or",
        ),
    ],
)
def test_wrong_anchors_scales_and_tests_are_named(how: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as error:
        few(**how)
    assert told in str(error.value)


def test_rank_tests_replace_t_tests_and_add_one_of_all_systems() -> None:
    by_t, found = few(), few(test="wilcoxon")
    assert "contrasts=all)" in by_t.signature
    assert "contrasts=all,test=wilcoxon)" in found.signature
    for one, other in zip(found.scales, by_t.scales, strict=True):
        assert other.friedman is None
        assert one.friedman is not None
        assert (one.friedman.listeners, one.friedman.systems, one.friedman.freedom) == (8, 5, 4)
        assert one.friedman.p < 0.001
        for ranked, tested in zip(one.contrasts, other.contrasts, strict=True):
            assert ranked.difference.value == tested.difference.value
            inside = ranked.difference.low < 0 < ranked.difference.high
            assert not (inside and ranked.p_corrected < 0.05)
        assert min(c.p for c in one.contrasts) == 2 / 2**8  # all listeners agree
        assert {c.effect.method for c in one.contrasts if c.effect} == {"rank_biserial"}
    tables = apply_renderer(found, "tables")
    assert [row[0] for row in tables["friedman"][1]] == ["SIG", "BAK"]
    assert "friedman" not in apply_renderer(by_t, "tables")
    methods = json.loads(apply_renderer(found, "json"))["methods"]
    assert "by two-sided Wilcoxon signed-rank tests of per-listener differences" in methods
    assert "a Friedman test, corrected for ties, over the 8 listeners" in methods
    assert "Effect sizes are matched-pairs rank-biserial correlations" in methods
    assert "Wilcoxon" not in json.loads(apply_renderer(by_t, "json"))["methods"]
    text = str(apply_renderer(found, "report"))
    assert "the 5 systems differ in their ranks (Friedman test: chi-square(4) = " in text
    assert "Wilcoxon" in apply_renderer(found, "paper_table").test


def test_equivalence_and_interactions_are_tested_by_t_even_with_rank_tests() -> None:
    votes = [vote | {"room": "in" if vote["item"] in "abc" else "out"} for vote in two_scales()]
    how: dict[str, Any] = {"mixed": False, "draws": DRAWS, "by": ["room"]}
    by_t, found = (
        study_analyse(votes, margins={"SIG": 2}, test=test, **how) for test in ("t", "wilcoxon")
    )
    for one, other in zip(found.scales, by_t.scales, strict=True):
        assert repr(one.equivalences) == repr(other.equivalences)
        assert repr(one.groups[0].interactions) == repr(other.groups[0].interactions)
        ranked = [c.p for group in one.groups[0].groups for c in group.contrasts]
        assert all(p * 2**8 == round(p * 2**8) for p in ranked)  # shares of all signs
    methods = json.loads(apply_renderer(found, "json"))["methods"]
    assert "two one-sided tests (TOST), using t tests over listeners" in methods
    assert "within listeners by t tests for groups of items" in methods


def test_friedmans_test_leaves_out_anchors_and_says_when_nobody_rated_all_systems() -> None:
    anchored = few(test="wilcoxon", anchors=["noisy", "clipped"]).scales[0].friedman
    assert anchored is not None
    assert anchored.systems == 3
    assert few(test="wilcoxon", anchors=["noisy", "clipped", "A"]).scales[0].friedman is None
    systems = ["noisy", "clipped", "A", "B", "C"]
    some = [v for v in two_scales() if systems.index(v["system"]) != v["listener"] % 5]
    scale = study_analyse(some, test="wilcoxon", mixed=False, draws=DRAWS).scales[0]
    assert scale.friedman is not None
    assert (scale.friedman.listeners, math.isnan(scale.friedman.p)) == (0, True)
    assert "no listener rated all systems, so there is no Friedman test" in scale.notes


def test_too_few_listeners_for_a_significant_rank_test_are_noted() -> None:
    five = [vote for vote in two_scales() if vote["listener"] <= 5]
    found = study_analyse(five, test="wilcoxon", mixed=False, draws=DRAWS).scales[0]
    assert not any(c.better for c in found.contrasts)
    assert any(
        "5 listeners and 10 tests, p of the Wilcoxon test is at least" in n for n in found.notes
    )
    enough = few(test="wilcoxon", contrasts=[("A", "C")]).scales[0]
    assert not any("Wilcoxon" in note for note in enough.notes)


def test_turned_votes_on_a_scale_where_low_is_good_give_the_same_findings() -> None:
    votes = two_scales()
    turned = [v | {"value": 6 - v["value"]} if v["scale"] == "BAK" else v for v in votes]
    usual = study_analyse(votes, draws=DRAWS, mixed=False).scales[1]
    found = study_analyse(turned, draws=DRAWS, mixed=False, low_is_good="BAK")
    scale = found.scales[1]
    assert (scale.value.best, found.scales[0].value.best) == ("low", "high")
    assert [c.better for c in scale.contrasts] == [c.better for c in usual.contrasts]
    assert "C" in {c.better for c in scale.contrasts}
    for name, rated in scale.systems.items():
        assert rated.mean.value == pytest.approx(6 - usual.systems[name].mean.value)
        assert (rated.good, rated.poor) == (usual.systems[name].good, usual.systems[name].poor)
    assert "|low_is_good=BAK|" in found.signature
    table = apply_renderer(found, "paper_table")
    assert table.rows[0].name == "C"
    assert all(cell.is_best for cell in table.rows[0].cells)
    text = str(apply_renderer(found, "report"))
    assert "BAK ↓" in text
    assert "C is significantly better than all other systems on SIG and BAK" in text
    wrong = study_analyse(turned, draws=DRAWS, mixed=False).scales[1]
    assert "C" not in {c.better for c in wrong.contrasts}


def test_choices_have_no_low_end(tmp_path: Path) -> None:
    path = tmp_path / "ab.csv"
    path.write_text(
        "item,system,against,listener,scale,value\n"
        + "".join(f"i{n},A,B,{who},WHICH,{1 - 2 * (n % 2)}\n" for n in range(4) for who in "xyz")
    )
    with pytest.raises(UsageError, match="WHICH has choices between two systems"):
        study_analyse(path, draws=DRAWS, low_is_good=["WHICH"])


def test_planned_anchors_and_tests_are_used_and_changes_of_them_told(
    simulated: SimulatedStudy,
) -> None:
    study = simulated.design.study
    first, second, *_ = study.systems
    plan = replace(study.analysis, test="wilcoxon", anchors={"BAK": (first,), "": (second,)})
    planned = with_digest(replace(study, analysis=plan))
    assert planned.digest != study.digest
    votes = [rating for rating in ratings(simulated) if rating.scale != "OVRL"]
    found = results(planned, votes, mixed=False)
    assert found.changed == ()
    assert [one.controls for one in found.scales] == [(second,), (second, first)]
    assert all(one.friedman for one in found.scales)
    other = results(study, votes, mixed=False, test="wilcoxon", anchors=[f"BAK={first}"])
    assert other.changed == (
        "test: t was planned, wilcoxon was used",
        f"anchors: none was planned, {first} (BAK) was used",
    )


def test_anchors_tests_and_directions_are_options_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(records_csv(two_scales()))
    how = ["--test", "wilcoxon", "--anchor", "noisy", "--anchor", "SIG=clipped"]
    how += ["--low-is-good", "BAK", "--no-mixed", "--draws", str(DRAWS), "--to", "json"]
    done = CliRunner().invoke(group, ["study", "analyse", str(path), *how])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [one["controls"] for one in found["scales"]] == [["noisy", "clipped"], ["noisy"]]
    assert found["scales"][1]["value"]["best"] == "low"
    assert found["plan"]["test"] == "wilcoxon"


def test_what_differs_from_the_plan_is_told_and_the_study_named(simulated: SimulatedStudy) -> None:
    study = simulated.design.study
    found = results(study, ratings(simulated), interval="naive_t", screening=["p808"])
    assert found.changed == (
        "interval: cluster_t was planned, naive_t was used",
        "screening: none was planned, p808 was used",
    )
    assert found.study == study.digest
    assert results(study, ratings(simulated)).changed == ()


def test_simulated_answers_are_known_as_such(tmp_path: Path, simulated: SimulatedStudy) -> None:
    path = answers(tmp_path, simulated)
    assert study_analyse(path, study=simulated.design.study, draws=DRAWS).simulated
    simulated_write(simulated, tmp_path / "all", draws=DRAWS)
    assert json.loads((tmp_path / "all" / "results.json").read_text())["simulated"] is True


def test_few_votes_off_a_scale_of_five_points_are_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    votes = [(f"i{n}", "A", who, "MOS", 1 + (n + who) % 5) for n in range(8) for who in range(5)]
    path.write_text(rows(*votes[:-1], (*votes[-1][:4], 7)))
    [scale] = study_analyse(path, draws=DRAWS).scales
    assert "(39 of 40 are 1 to 5; the others are 7); set --scale MOS=LOW:HIGH" in scale.notes[0]
    with pytest.raises(InputError, match="7 is outside scale MOS"):
        study_analyse(path, scales=["MOS=1:5"])


def test_a_condition_without_any_vote_is_named_in_tables(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text(rows(("a", "A", "x", "MOS", 3), ("a", "C", "x", "MOS", "")))
    found = study_analyse(path, draws=DRAWS)
    assert "no ratings of C: all its votes are missing" in found.notes


def test_a_panel_too_small_for_the_subject_model_is_warned_of() -> None:
    study = small(listeners=3, clips=6)
    found = results(study, ratings(taken(study, Population(bias=0.2), seed=6)))
    warned = [scale for scale in found.scales if scale.subjects and scale.subjects.floored]
    assert warned
    assert all("panel is too small" in " ".join(scale.notes) for scale in warned)


def test_a_system_that_nobody_heard_is_named(simulated: SimulatedStudy) -> None:
    study = simulated.design.study
    votes = [one for one in ratings(simulated) if one.key.system != "C3"]
    found = results(study, votes)
    assert "C3" not in found.scales[0].systems
    assert any("C3" in note for note in found.notes)


def test_all_that_is_wrong_with_a_table_is_told_at_once(
    tmp_path: Path, simulated: SimulatedStudy
) -> None:
    study = simulated.design.study
    clip = study.material[0].name
    path = tmp_path / "bad.csv"
    path.write_text(
        rows(
            (clip, "C0", 1, "SIG", 6),
            (clip, "C9", 1, "SIG", 3),
            ("nowhere", "C0", 1, "SIG", 3),
            (clip, "C0", 99, "SIG", 3),
            (clip, "C0", 1, "SIGG", 3),
            (clip, "C0", 1, "BAK", "x"),
        )
    )
    with pytest.raises(InputError) as told:
        study_analyse(path, study=study)
    lines = {problem.line: problem.field for problem in told.value.problems}
    assert lines == {2: "value", 3: "system", 4: "item", 5: "listener", 6: "scale", 7: "value"}
    assert told.value.count == 6


def test_what_cannot_be_is_refused(tmp_path: Path, simulated: SimulatedStudy) -> None:
    study, votes = simulated.design.study, ratings(simulated)
    for how, said in (
        ({"interval": "cluster"}, 'unknown interval "cluster"'),
        ({"correction": "bonferroni"}, 'unknown correction "bonferroni"'),
        ({"level": 95.0}, "level must be between 0 and 1"),
        ({"screening": ["p80"]}, 'unknown screening rule "p80"'),
        ({"scales": ["MOS"]}, "scale: write NAME=LOW:HIGH"),
        ({"contrasts": [("C1", "C9")]}, 'unknown system "C9"'),
        ({"contrasts": [("C1", "C1")]}, "compared with itself"),
        ({"contrasts": [("C1", "C2"), ("C2", "C1")]}, "listed twice"),
        ({"draws": 0}, "draws must be at least 1"),
    ):
        with pytest.raises(UsageError, match=said):
            results(study, votes, **how)
    with pytest.raises(UsageError, match="name the study file"):
        study_analyse(answers(tmp_path, simulated))
    with pytest.raises(UsageError, match="cannot be read"):
        study_analyse(tmp_path / "nothing.csv")


def test_simulated_studies_go_from_design_to_report(tmp_path: Path) -> None:
    names = simulated_write(taken(small()), tmp_path / "all", draws=DRAWS)
    assert {"answers.jsonl", "truth.csv", "people.csv", "report.html", "stimuli.csv"} <= {*names}
    truth = {
        (row["scale"], row["system"]): float(row["expected"])
        for row in csv.DictReader(io.StringIO((tmp_path / "all" / "truth.csv").read_text()))
    }
    found = list(csv.DictReader(io.StringIO((tmp_path / "all" / "means.csv").read_text())))
    planned = [row for row in found if row["name"] == "mean" and row["planned"] == "yes"]
    assert len(planned) == len(truth) == 15
    for row in planned:
        assert float(row["value"]) == pytest.approx(truth[row["scale"], row["system"]], abs=0.5)


def test_the_command_analyses_answers_and_writes_a_folder(
    tmp_path: Path, simulated: SimulatedStudy
) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(records_csv(rating_records(ratings(simulated))))
    runner = CliRunner()
    shown = runner.invoke(group, ["study", "analyse", str(path), "--draws", "20", "--no-mixed"])
    assert shown.exit_code == 0, shown.output
    assert "C4 is significantly better than all other systems on SIG, BAK and OVRL" in shown.output
    folder = tmp_path / "out"
    made = runner.invoke(group, ["study", "analyse", str(path), "--draws", "20", "-o", str(folder)])
    assert made.exit_code == 0, made.output
    assert "mixed" in (folder / "means.csv").read_text()
    again = runner.invoke(group, ["study", "analyse", str(path), "--contrast", "C1"])
    assert isinstance(again.exception, UsageError)


def test_two_listeners_tell_no_systems_apart_however_small_p_is(tmp_path: Path) -> None:
    def contrast(listeners: int) -> tuple[float, str]:
        rows = [
            {"item": f"i{i}", "system": s, "listener": f"L{n}", "scale": "Q", "value": v + bump}
            for n in range(listeners)
            for i in range(4)
            for s, v in (("A", 1), ("B", 4))
            for bump in [int(s == "B" and i == 0 and n == 0)]
        ]
        path = tmp_path / "ratings.csv"
        path.write_text(records_csv(rows))
        [found] = study_analyse(path, draws=DRAWS).scales[0].contrasts
        return found.p_corrected, found.better

    p, better = contrast(2)
    assert math.isnan(p)
    assert better == ""
    p, better = contrast(3)
    assert p < 0.05
    assert better == "B"


def test_conditions_keep_clips_of_a_study_and_rows_of_its_tables(
    simulated: SimulatedStudy, tmp_path: Path
) -> None:
    study, path = simulated.design.study, answers(tmp_path, simulated)
    found = study_analyse(path, study=study, where=["location=kitchen", "snr>0"], draws=DRAWS)
    kept = {
        clip.name
        for clip in study.material
        if clip.covariates["location"] == "kitchen" and float(clip.covariates["snr"]) > 0
    }
    votes = [vote for vote in ratings(simulated) if vote.key.item in kept]
    wanted = results(study, votes)
    assert repr(found.scales) == repr(wanted.scales)
    assert "|where(location=kitchen,snr>0)|" in found.signature
    assert sum("which are kept" in note for note in found.notes) == 2
    table = tmp_path / "votes.csv"
    lines = [("item", "system", "listener", "scale", "value", "room")] + [
        (*(vote.key.item, vote.key.system, vote.listener, vote.scale, vote.value), n % 2)
        for n, vote in enumerate(votes)
    ]
    table.write_text(csv_text(lines))
    one = study_analyse(table, study=study, where="room=1", draws=DRAWS)
    assert sum(mean.votes for scale in one.scales for mean in scale.systems.values()) == sum(
        n % 2 for n in range(len(votes))
    )
    with pytest.raises(UsageError, match='where: no item or rater has a "loc" — known: location'):
        study_analyse(path, study=study, where="loc=kitchen")
