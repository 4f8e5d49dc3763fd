"""Word errors: what must be changed in an output to get the reference.

Texts are normalised as chunkseg does: small letters, English contractions written out, what stands
in [brackets] or <angles> removed, white space squeezed; punctuation stays.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple


class WordErrors(NamedTuple):
    """Counts of one output."""

    substitutions: int
    deletions: int
    insertions: int
    words: int

    @property
    def errors(self) -> int:
        """All of them."""
        return self.substitutions + self.deletions + self.insertions


def word_errors(output: str, reference: str) -> WordErrors:
    """How an output differs from the reference.

    >>> word_errors("the cat's on mat", "The cat is on the mat")
    WordErrors(substitutions=0, deletions=1, insertions=0, words=6)
    """
    found = _processed(output, reference)
    words = found.hits + found.substitutions + found.deletions
    return WordErrors(found.substitutions, found.deletions, found.insertions, words)


def alignment(output: str, reference: str, width: int = 100) -> str:
    """Reference and output one above the other, with S, D and I below what differs.

    Lines are at most ``width`` long.

    >>> print(alignment("the cat on a mat", "the cat is on the mat"))
    REF: the cat is on the mat
    OUT: the cat ** on   a mat
                  D      S
    """
    import jiwer

    shown = jiwer.visualize_alignment(
        _processed(output, reference), show_measures=False, skip_correct=False, line_width=width
    )
    lines = [line.rstrip() for line in shown.splitlines()]
    kept = [line for line in lines if line and not line.startswith("===") and line != "sentence 1"]
    text = "\n".join("OUT:" + line[4:] if line.startswith("HYP:") else line for line in kept)
    return text.replace("\nREF:", "\n\nREF:")


def _processed(output: str, reference: str) -> Any:
    import jiwer

    change = _normalisation()
    return jiwer.process_words(
        reference, output, reference_transform=change, hypothesis_transform=change
    )


@cache
def _normalisation() -> Any:
    import jiwer

    return jiwer.Compose(
        [
            jiwer.ToLowerCase(),
            jiwer.ExpandCommonEnglishContractions(),
            jiwer.RemoveKaldiNonWords(),
            jiwer.RemoveWhiteSpace(replace_by_space=True),
            jiwer.RemoveMultipleSpaces(),
            jiwer.Strip(),
            jiwer.ReduceToListOfListOfWords(),
        ]
    )
