"""Systems of an experiment: summaries by word extraction with combinations of scores.

The nine systems combine linguistic scores L, significance I, confidence C and concatenation T, and
keep the same number of words of an item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from earwitness.core import StrPath
from earwitness.errors import UsageError
from earwitness.io.source import Records
from earwitness.report.sentences import join_names
from earwitness.summaries.methods.compaction import ScoreWeights
from earwitness.summaries.methods.inputs import word_entry
from earwitness.summaries.methods.summarize import (
    SCORE_LETTERS,
    SCORE_NAMES,
    SummarizerModels,
)
from earwitness.summaries.methods.tune import read_references, score_references

SYSTEM_NAMES = ("L", "I", "L+I", "L+C", "I+C", "L+I+C", "L+T", "L+I+T", "L+I+C+T")
SCORE_REMEDIES = {
    "L": "set --language-model",
    "I": "install the extra for word frequencies",
    "C": "give recognized words with confidences",
    "T": "set --grammar",
}


@dataclass(frozen=True)
class MadeSystems:
    """Records of an outputs file, names of the systems, and notes."""

    outputs: tuple[dict[str, Any], ...]
    systems: tuple[str, ...]
    notes: tuple[str, ...] = ()


def make_systems(
    references: StrPath | Records,
    models: SummarizerModels,
    *,
    weights: ScoreWeights | None = None,
    ratio: float | None = None,
    tokenize: str = "blanks",
) -> MadeSystems:
    """Summarize the items of a references file with up to nine combinations of scores.

    Parameters
    ----------
    references
        Path of a JSON Lines file of references, or its records. The recognized words of an item are
        summarized if it has any, else its transcript.
    models
        Models of the scores.
    weights
        Weights of the scores that a system has. A score with the weight 0 has its default weight.
    ratio
        Share of the words to keep. By default as many as people keep on average for the item.
    tokenize
        Tokenizer of texts: ``"blanks"`` or ``"japanese"``.

    Returns
    -------
    MadeSystems
        Outputs of all systems; those that need a score that is not available are left out, and
        named in a note.

    Raises
    ------
    InputError
        If the file cannot be read or has invalid lines.
    UsageError
        If no score is available.

    Examples
    --------
    >>> people = [{"positions": [3, 4, 6]}, {"positions": [3, 4, 5, 6]}]
    >>> record = {"item": "a", "transcript": "the very old bridge was closed", "references": people}
    >>> made = make_systems([record], SummarizerModels())
    >>> made.systems, len(made.outputs[0]["output"]["positions"])
    (('I',), 4)
    """
    utterances, cases = read_references(references, tokenize)
    speech = score_references(utterances, cases, models, ratio=ratio)
    available = {letter for letter, name in SCORE_LETTERS.items() if name in speech.scores}
    systems = tuple(name for name in SYSTEM_NAMES if {*name.split("+")} <= available)
    if not systems:
        raise UsageError("no score is available, so there are no systems — set --language-model")
    outputs = list[dict[str, Any]]()
    for system in systems:
        kept = speech.summarize(combine_scores(system, weights or ScoreWeights()))
        for utterance, case, positions in zip(utterances, cases, kept, strict=True):
            is_heard = case.item.recognized is not None
            heard = [word_entry(utterance, position - 1) for position in positions]
            content = {"words": heard} if is_heard else {}
            output = content or {"positions": list(positions)}
            outputs.append({"item": case.key.item, "system": system, "output": output})
    kept_share = "people" if ratio is None else f"{ratio:g}"
    signature = f"compaction(ratio={kept_share},{models.describe(weights or ScoreWeights())})"
    notes = (f"systems were made by {signature}", *_note_missing(systems, available))
    return MadeSystems(tuple(outputs), systems, notes)


def combine_scores(system: str, weights: ScoreWeights) -> ScoreWeights:
    """Return the weights of a system; scores with the weight 0 have their default weight.

    >>> combine_scores("I+C", ScoreWeights(significance=4.0, confidence=0.0))
    ScoreWeights(linguistic=0.0, significance=4.0, confidence=1.0, concatenation=0.0)
    """
    used = {SCORE_LETTERS[letter] for letter in system.split("+")}
    default = ScoreWeights()
    values = {name: getattr(weights, name) or getattr(default, name) for name in used}
    return ScoreWeights(**{name: values.get(name, 0.0) for name in SCORE_NAMES})


def _note_missing(systems: tuple[str, ...], available: set[str]) -> list[str]:
    """Return a note on the systems that are left out, if there are any."""
    left_out = [name for name in SYSTEM_NAMES if name not in systems]
    if not left_out:
        return []
    missing = [letter for letter in SCORE_LETTERS if letter not in available]
    remedies = ", ".join(SCORE_REMEDIES[letter] for letter in missing)
    systems_text = join_names(left_out, len(SYSTEM_NAMES))
    return [
        f"without scores {join_names(missing)}, systems are left out: {systems_text} — {remedies}"
    ]
