"""Word errors: what must be changed in an output to get the reference.

Texts are normalised as chunkseg does: small letters, English contractions written out, what stands
in [brackets] or <angles> removed, white space squeezed; punctuation stays.
"""

from __future__ import annotations

from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from earwitness.data import Alignment, Pair

MARKS = {"equal": "", "substitute": "S", "delete": "D", "insert": "I"}


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


def alignment(output: str, reference: str) -> Alignment:
    """Reference and output word by word.

    >>> alignment("a cat", "cat").pairs
    (Pair(wanted='', given='a', mark='I', people=None), \
Pair(wanted='cat', given='cat', mark='', people=None))
    """
    found = _processed(output, reference)
    theirs, mine = found.references[0], found.hypotheses[0]
    pairs = list[Pair]()
    for chunk in found.alignments[0]:
        wanted = theirs[chunk.ref_start_idx : chunk.ref_end_idx]
        given = mine[chunk.hyp_start_idx : chunk.hyp_end_idx]
        both = zip_longest(wanted, given, fillvalue="")
        pairs += [Pair(w, g, MARKS[chunk.type]) for w, g in both]
    return Alignment(tuple(pairs))


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
