"""The worked table of Hori, Hori and Furui (2003), every row and column, and its erratum."""

from __future__ import annotations

import math
from typing import Any

import pytest

from earwitness.core import Case, Item, Key, Summary
from earwitness.errors import UsageError
from earwitness.summaries.closest_path import closest
from earwitness.summaries.metrics import (
    KeptWords,
    SummarizationAccuracy,
    WeightedPrecision,
    WordAccuracy,
    WordStrings,
)
from earwitness.summaries.network import Network
from earwitness.summaries.text_metrics import Bleu
from earwitness.text.alignment import format_alignments

SAID = ("the", "beautiful", "cherry", "blossoms", "in", "Japan", "bloom", "in", "spring")
PEOPLE = {
    "A": (1, 3, 4, 5, 6),
    "B": (2, 3, 4, 5, 6),
    "C": (2, 3, 4, 8, 9),
    "D": (3, 4, 7, 8, 9),
    "E": (2, 3, 7, 8, 9),
}
THIRD, TWO_THIRDS = 1 / 3, 2 / 3
TABLE: list[tuple[Any, ...]] = [
    # output, left out, p1…p5, BLEU, target, SumACCY, W include, W exclude
    ("A", "", (1, 1, 1, 1, 1), 1, (1, 3, 4, 5, 6), 1, 0.356359, 0.4),
    ("B", "", (1, 1, 1, 1, 1), 1, (2, 3, 4, 5, 6), 1, 0.513959, 0.526430),
    ("C", "", (1, 1, 1, 1, 1), 1, (2, 3, 4, 8, 9), 1, 0.524148, 0.489898),
    ("A", "A", (0.8, 0.75, TWO_THIRDS, 0.5, 0), 0.668740, (2, 3, 4, 5, 6), 0.8, 0.346410, 0.346410),
    ("C", "C", (1, 0.75, THIRD, 0, 0), 0.759836, (2, 3, 4, 7, 8, 9), 5 / 6, 0.399890, 0.393370),
    ("D", "D", (1, 0.75, THIRD, 0, 0), 0, (2, 3, 4, 8, 9), 0.6, 0.327337, 0.308965),
    ("34567", "", (1, 0.75, TWO_THIRDS, 0.5, 0), 0.707107, (3, 4, 5, 6), 0.75, 0.3, 0.377976),
    (
        "2345X",
        "",
        (0.8, 0.75, TWO_THIRDS, 0.5, 0),
        0.66874,
        (2, 3, 4, 5, 6),
        0.8,
        0.411167,
        0.421144,
    ),
    ("23X456", "", (5 / 6, 0.6, 0.25, 0, 0), 0, (2, 3, 4, 5, 6), 0.8, 0.411167, 0.421144),
    ("23459", "", (1, 0.75, TWO_THIRDS, 0.5, 0), 1, (2, 3, 4, 8, 9), 0.8, 0.419319, 0.391918),
]


def summary(named: str) -> Summary:
    kept = PEOPLE.get(named) or tuple(0 if n == "X" else int(n) for n in named)
    words = tuple(SAID[n - 1] if n else "X" for n in kept)
    return Summary(" ".join(words), words, kept)


def case(output: str, left_out: str = "") -> Case:
    people = tuple(summary(name) for name in PEOPLE if name != left_out)
    return Case(Key("cherry", output), Item(4.0, words=SAID), summary(output), people)


def values(metric: Any, one: Case) -> dict[str, float]:
    found = metric.score(metric.measure(one)).tolist()
    return dict(zip([value.name for value in metric.values], found, strict=True))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} without {row[1] or 'nobody'}")
def test_the_worked_table(row: tuple[Any, ...]) -> None:
    output, left_out, strings, bleu, target, accuracy, include, exclude = row
    one = case(output, left_out)
    found = values(WordStrings(), one)
    assert [found[f"p{n}"] for n in range(1, 6)] == pytest.approx(list(strings), abs=1e-12)
    assert values(Bleu(), one)["bleu"] == pytest.approx(bleu, abs=5e-7)
    assert SummarizationAccuracy().target(one).path == target
    found = values(SummarizationAccuracy(), one)
    assert found["sumaccy"] == found["sumaccy_micro"] == pytest.approx(accuracy, abs=1e-12)
    assert found["wsumaccy"] == pytest.approx(include, abs=5e-7)
    assert found["wsumaccy_micro"] == pytest.approx(include, abs=5e-7)
    found = values(SummarizationAccuracy(boundary="exclude"), one)
    assert found["wsumaccy"] == pytest.approx(exclude, abs=5e-7)


def test_strings_may_be_longer_or_shorter_than_five_words() -> None:
    longer = values(WordStrings(longest=6), case("A"))
    assert [longer["p5"], longer["p5_micro"]] == [1, 1]
    assert math.isnan(longer["p6"])
    assert math.isnan(longer["p6_micro"])
    said = tuple(f"w{n}" for n in range(1, 9))
    all_but_last = Summary(" ".join(said[:7]), said[:7], tuple(range(1, 8)))
    everything = Summary(" ".join(said), said, tuple(range(1, 9)))
    found = values(
        WordStrings(longest=8),
        Case(Key("i", "s"), Item(1.0, words=said), everything, (all_but_last,)),
    )
    # 7 of 8 words, 6 of 7 pairs, … 2 of 3 strings of six, 1 of 2 of seven, none of eight
    assert [found[f"p{n}"] for n in range(1, 9)] == pytest.approx(
        [(8 - n) / (9 - n) for n in range(1, 9)]
    )
    short = values(WordStrings(longest=2), case("34567"))
    assert list(short) == ["p1", "p2", "p1_micro", "p2_micro"]
    assert list(short.values()) == pytest.approx([1, 0.75, 1, 0.75])


@pytest.mark.parametrize("longest", [1, 2.5, 101])
def test_strings_of_no_such_length_are_refused(longest: float) -> None:
    with pytest.raises(UsageError, match="longest must be a"):
        WordStrings(longest=longest)  # type: ignore[arg-type]


def test_the_network_of_the_table_has_fifteen_arcs() -> None:
    assert len(Network(9, tuple(PEOPLE.values())).counts) == 15


def test_what_the_paper_calls_a_path_is_one_only_with_arcs_of_the_original() -> None:
    one = case("34567")
    found = values(SummarizationAccuracy(arcs="original"), one)
    assert (found["sumaccy"], found["wsumaccy"], found["wsumaccy_micro"]) == (1, 0, 0)


def test_the_ceiling_is_the_heaviest_path() -> None:
    found = values(SummarizationAccuracy(), case("C"))
    # 2 3 4 8 9: 3·3·4·1·3·3 of 5 each, over six arcs; no other of the twelve paths weighs more
    assert found["wsumaccy_ceiling"] == pytest.approx((3 * 3 * 4 * 1 * 3 * 3 / 5**6) ** (1 / 6))
    assert found["wsumaccy_normalised"] == pytest.approx(1)


def test_weighted_word_precision() -> None:
    found = values(WeightedPrecision(), case("34567"))
    # kept by 5, 4, 2, 2, 2 of 5 people, five words; the five most kept are 5, 4, 3, 3, 3
    assert found["weighted_precision"] == pytest.approx(15 / 25)
    assert found["weighted_precision_normalised"] == pytest.approx(15 / 18)


def test_word_accuracy_against_one_person() -> None:
    alone = case("34567")
    one = Case(alone.key, alone.item, alone.output, alone.references[:1])
    found = values(WordAccuracy(), one)
    # 1 3 4 5 6 – 3 4 5 6 7: 1 is missing, 7 is too much
    assert [found["wacc"], found["correct"]] == pytest.approx([3 / 5, 4 / 5])


def test_both_readings_of_closest() -> None:
    network = Network(9, ((7,), (1, 9), (7, 8), (2, 3, 4, 5, 6, 9), (7,)))
    output = (1, 5, 6, 7, 8, 9)
    edits, rate = closest(network, output), closest(network, output, objective="accuracy")
    assert (edits.path, edits.accuracy) == ((7, 8), -1)
    assert (rate.path, rate.edits) == ((2, 3, 4, 5, 6, 9), 5)
    assert rate.accuracy == pytest.approx(1 / 6)


def test_an_empty_output_is_0_and_has_no_precision() -> None:
    one = case("A")
    empty = Case(one.key, one.item, Summary("", (), ()), one.references)
    for boundary in ("include", "exclude"):
        found = values(SummarizationAccuracy(boundary=boundary), empty)
        assert (found["sumaccy"], found["wsumaccy"]) == (0, 0)
    assert values(Bleu(), empty)["bleu"] == 0
    assert math.isnan(values(WordStrings(), empty)["p1"])
    assert values(WeightedPrecision(), empty)["weighted_precision"] == 0
    assert values(KeptWords(), empty)["kept_precision"] == 0


def test_the_alignment_is_one_that_a_person_can_read() -> None:
    assert format_alignments([SummarizationAccuracy().alignment(case("2345X"))]) == (
        """\
PATH:   beautiful cherry blossoms in Japan </s>
OUT:    beautiful cherry blossoms in X?    </s>
                                     S
people: 3         3      4        2  2     2

accuracy 0.800 = (5 - 1) / 5: 1 substituted, 0 deleted, 0 inserted; 1 not said; 5 people"""
    )
    assert "in[8]" in format_alignments([SummarizationAccuracy().alignment(case("23459"))])
