"""Sentences about compared systems: the finding first, and never more than was tested."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, product

import pytest

from earwitness.core import Contrast, Estimate, Value
from earwitness.report.parts import Matrix
from earwitness.report.sentences import (
    OUTCOME_PHRASES,
    FindingContext,
    Topic,
    better_sentences,
    comparison_sentences,
    finding_sentences,
    shorten_topics,
)
from earwitness.report.tables import Verdict

F1 = Value("f1", "high", 0, 1, "")
ERROR = Value("error", "low", 0, 1, "")
ITEMS = FindingContext("24 items", 0.05)
NAN = float("nan")


def at(value: float) -> Estimate:
    return Estimate(value, value - 0.05, value + 0.05, 0.95, 24, 0, "")


def matrix(means: dict[str, float], value: Value = F1, **better: str) -> Matrix:
    """Return all pairs; ``ab="a"`` says that a is better than b, "?" that it cannot be tested."""
    contrasts = []
    for a, b in combinations(means, 2):
        said = better.get(a + b, "")
        p = NAN if said == "?" else 0.0012 if said else 0.4
        winner = said if said in means else ""
        contrasts.append(Contrast(value.name, a, b, at(means[a] - means[b]), p, p, winner))
    return Matrix(value.name, value, {name: at(x) for name, x in means.items()}, tuple(contrasts))


def only(part: Matrix) -> str:
    (sentence,) = comparison_sentences(part, ITEMS)
    return sentence


def test_a_winner_is_named_with_difference_interval_and_p() -> None:
    assert only(matrix({"a": 0.2, "b": 0.7}, ab="b")) == (
        "b is significantly better than a by f1 "
        "(0.700; b − a: 0.500 [0.450, 0.550], p = 0.0012, 24 items)"
    )
    three = matrix({"a": 0.7, "b": 0.5, "c": 0.4}, ab="a", ac="a")
    assert only(three) == (
        "a is significantly better than b and c by f1 "
        "(0.700; a − b: 0.200 [0.150, 0.250], p = 0.0012, 24 items)"
    )


def test_a_difference_on_fewer_items_says_so() -> None:
    context = FindingContext("30 items", 0.05, unit="items")
    (sentence,) = comparison_sentences(matrix({"a": 0.2, "b": 0.7}, ab="b"), context)
    assert sentence.endswith("p = 0.0012, 24 items)")


def test_lower_errors_lead() -> None:
    assert only(matrix({"a": 0.3, "b": 0.1}, ERROR, ab="b")).startswith(
        "b is significantly better than a by error (0.100; b − a: −0.200 [−0.250, −0.150], "
    )


def test_the_best_mean_comes_first_then_how_others_compare_with_it() -> None:
    part = matrix({"a": 0.72, "b": 0.7, "c": 0.4}, ac="a", bc="b")
    assert only(part) == (
        "a has the best f1 (0.720); it is significantly better than c (a − c: 0.320 [0.270, 0.370],"
        " p = 0.0012, 24 items) and not significantly different from b (a − b: 0.020 [−0.030, "
        "0.070], p = 0.4000)"
    )


def test_equal_best_means_are_compared_one_by_one() -> None:
    sentence = only(matrix({"a": 0.7, "b": 0.7, "c": 0.4}, ac="a"))
    assert sentence.startswith("a and b have the best f1 (0.700); a is significantly better than c")
    assert " and not significantly different from b (a − b: 0.000 " in sentence
    assert "; b is not significantly different from c (b − c: 0.300 " in sentence


def test_a_leader_that_cannot_be_tested_claims_nothing() -> None:
    sentence = only(matrix({"a": 0.7, "b": 0.5, "c": 0.1}, ab="?", ac="?", bc="b"))
    assert sentence == "a has the best f1 (0.700, 24 items); it is not testable against b and c"
    assert "significant" not in sentence


PHRASES = sorted((phrase, outcome) for outcome, phrase in OUTCOME_PHRASES.items())
EITHER = re.compile("|".join(phrase for phrase, _ in PHRASES))


def read_back(sentence: str) -> tuple[list[str], dict[tuple[str, str], Verdict | None]]:
    """Return the best systems that a sentence names, and how each compares with others."""
    plain = re.sub(r" \([^()]*\)", "", sentence)
    if whole := re.fullmatch(r"(\w) is significantly better than (.+) by f1", plain):
        return [whole[1]], {
            (whole[1], name): "better" for name in re.findall(r"\b[a-d]\b", whole[2])
        }
    undecided = plain.startswith("No significant difference")
    clauses = [clause for clause in plain.split("; ") if not clause.startswith("No ")]
    lead = re.findall(r"\b\w\b", clauses[0].partition(" ha")[0])
    told: dict[tuple[str, str], Verdict | None] = {}
    for clause in clauses[1:]:
        subject, _, rest = clause.partition(" is ")
        subject = lead[0] if subject == "it" else subject
        starts = list(EITHER.finditer(rest))
        for start, following in zip(starts, [*starts[1:], None], strict=True):
            names = rest[start.end() : following.start() if following else None]
            outcome = dict(PHRASES)[start[0]]
            told |= {(subject, name): outcome for name in re.findall(r"\b[a-d]\b", names)}
    if undecided:
        told = {pair: outcome for pair, outcome in told.items() if outcome != "same"}
    return lead, told


@pytest.mark.parametrize(
    "means", [(0.9, 0.7, 0.5, 0.3), (0.9, 0.9, 0.5, 0.3), (0.9, 0.7, 0.5), (0.9, 0.9, 0.5)]
)
def test_sentences_say_what_the_table_says(means: tuple[float, ...]) -> None:
    """All patterns of outcomes of three and four systems are read back from their sentence."""
    values = dict(zip("abcd", means, strict=False))
    pairs = list(combinations(values, 2))
    best = [name for name, value in values.items() if value == max(means)]
    kinds = ("better", "worse", "same", None, *(["untested"] if len(means) == 3 else []))
    for pattern in product(kinds, repeat=len(pairs)):
        outcomes = dict(zip(pairs, pattern, strict=True))
        said = {"better": 0, "worse": 1}
        marks = {
            a + b: "?"
            if outcome == "untested"
            else (a, b)[said[outcome]]
            if outcome in said
            else ""
            for (a, b), outcome in outcomes.items()
        }
        part = matrix(values, F1, **marks)
        kept = [c for c in part.contrasts if outcomes[c.a, c.b] is not None]
        part = replace(part, contrasts=tuple(kept))
        sentence = only(part)
        lead, told = read_back(sentence)
        assert lead == best
        expected = {pair: outcome for pair, outcome in outcomes.items() if pair[0] in best}
        if sentence.startswith("No significant difference"):
            assert not {"better", "worse"} & {*pattern}
            expected = {pair: o for pair, o in expected.items() if o != "same"}
        assert told == expected
        for a, b, figure in re.findall(r"(\w) − (\w): (\S+) \[", sentence):
            assert outcomes[a, b] in ("better", "same", "worse")
            assert float(figure) == pytest.approx(values[a] - values[b], abs=1e-9)


def test_noise_is_said_first_with_pairs_size_and_alpha() -> None:
    one = matrix({"a": 0.5, "b": 0.52, "c": 0.51})
    assert only(one) == (
        "No significant difference between systems was found by f1 "
        "(3 pairs tested, 24 items, alpha = 0.05); b has the best f1 (0.520)"
    )
    other = matrix({"a": 0.2, "b": 0.2, "c": 0.1}, ERROR, ab="?")
    assert list(finding_sentences([one, other], ITEMS)) == [
        "No significant difference between systems was found by f1 or error "
        "(3 pairs tested, 24 items, alpha = 0.05)",
        "b has the best f1 (0.520 [0.470, 0.570])",
        "c has the best error (0.100 [0.050, 0.150])",
    ]
    assert only(other).startswith(
        "No significant difference between systems was found by error (2 of 3 pairs tested, "
    )


def test_pairs_with_controls_are_counted_as_in_the_table() -> None:
    means = {"a": 0.5, "b": 0.52, "c": 0.51, "ref": 0.9}
    part = replace(matrix(means), controls=("ref",))
    assert only(part).startswith(
        "No significant difference between systems was found by f1 (6 pairs tested, 3 of them with "
        "ref, 24 items, "
    )
    part = replace(matrix(means, aref="ref"), controls=("ref",))
    assert "3 of them with ref, of which 1 significant, 24 items" in only(part)
    against = [contrast for contrast in matrix(means).contrasts if contrast.b == "ref"]
    part = replace(part, contrasts=tuple(against))
    (sentence,) = better_sentences(part, ITEMS)
    assert "(3 pairs tested, 3 of them with ref, 24 items, " in sentence


def test_a_summary_is_shortened_by_the_lines_it_takes_in_a_terminal() -> None:
    long = "many words " * 15  # 165 characters are two lines
    topics = [
        Topic("", ["a leads"]),
        Topic("groups", [f"{long} 1", f"{long} 2"]),
        Topic("order", ["x", "y"]),
        Topic("listeners", [f"{long} 3"]),
    ]
    assert len(shorten_topics(topics, 9)) == 6
    assert shorten_topics(topics, 8)[1:] == [
        f"{long} 1",
        "x",
        "y",
        f"{long} 3",
        "1 more sentence (groups) is in the sections below",
    ]
    assert shorten_topics(topics, 4) == [
        "a leads",
        f"{long} 1",
        "4 more sentences (groups, order, listeners) are in the sections below",
    ]
    assert shorten_topics(topics, 1) == [
        "a leads",
        "5 more sentences (groups, order, listeners) are in the sections below",
    ]
