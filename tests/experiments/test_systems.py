"""Systems of an experiment that combine scores of summaries."""

from __future__ import annotations

import pytest

from earwitness.errors import UsageError
from earwitness.experiments.references import references_experiment
from earwitness.experiments.systems import SYSTEM_NAMES, MadeSystems, make_systems
from earwitness.scoring.score import score
from earwitness.summaries.methods.compaction import ScoreTables, SpokenUtterance
from helpers.letter_models import LetterModels, letter_records, recognize_records


def lengths(made: MadeSystems) -> dict[str, set[int]]:
    """Return the different numbers of words of all systems, by item."""
    found: dict[str, set[int]] = {}
    for record in made.outputs:
        (content,) = record["output"].values()
        found.setdefault(record["item"], set()).add(len(content))
    return found


def test_nine_systems_of_recognized_words_have_equal_lengths_and_can_be_scored() -> None:
    references = recognize_records(letter_records(4))
    made = make_systems(references, LetterModels(joined=True))
    assert made.systems == SYSTEM_NAMES
    assert len(SYSTEM_NAMES) == 9
    assert [note[:33] for note in made.notes] == ["systems were made by compaction(r"]
    assert lengths(made) == {f"u{number}": {4} for number in range(4)}
    first = made.outputs[0]["output"]["words"][0]
    assert first in references[0]["recognized"]
    assert made == make_systems(references, LetterModels(joined=True))
    assert {*score([*made.outputs], references, metrics="sumaccy").systems} == {*SYSTEM_NAMES}
    assert len({str(one["output"]) for one in made.outputs if one["item"] == "u0"}) > 1


def test_systems_without_their_scores_are_left_out_and_noted() -> None:
    made = make_systems(letter_records(3), LetterModels(), ratio=0.3)
    assert made.systems == ("L", "I", "L+I")
    assert lengths(made) == {f"u{number}": {3} for number in range(3)}
    assert made.notes[1:] == (
        "without scores C and T, systems are left out: L+C, I+C, L+I+C, L+T, L+I+T and L+I+C+T"
        " — give recognized words with confidences, set --grammar",
    )


def test_made_systems_are_those_of_an_experiment() -> None:
    references = letter_records(3)
    made = make_systems(references, LetterModels())
    result = references_experiment(
        [*made.outputs], references, metrics="sumaccy", orders=3, draws=20
    )
    assert {*result.systems} == {*made.systems}


def test_without_any_score_there_are_no_systems() -> None:
    records = [{"item": "a", "words": ["it"], "recognized": [], "references": [{"positions": [1]}]}]

    class NoModels(LetterModels):
        def make_table(self, utterance: SpokenUtterance) -> ScoreTables:
            return ScoreTables(len(utterance.words))

    with pytest.raises(UsageError, match="no score is available"):
        make_systems(records, NoModels())
