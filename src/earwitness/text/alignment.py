"""Word error counts and word alignments printed as text columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple
from unicodedata import combining, east_asian_width

from earwitness.core import Alignment, WordPair

# --- Word error counts ---------------------------------------------------------------------------
# Texts are normalised as chunkseg does: small letters, English contractions written out, what
# stands in [brackets] or <angles> removed, white space squeezed; punctuation stays.


EDIT_MARKS = {"equal": "", "substitute": "S", "delete": "D", "insert": "I"}


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
    (WordPair(wanted='', actual='a', mark='I', people=None), \
WordPair(wanted='cat', actual='cat', mark='', people=None))
    """
    found = _processed(output, reference)
    theirs, mine = found.references[0], found.hypotheses[0]
    pairs = list[WordPair]()
    for chunk in found.alignments[0]:
        wanted = theirs[chunk.ref_start_idx : chunk.ref_end_idx]
        given = mine[chunk.hyp_start_idx : chunk.hyp_end_idx]
        both = zip_longest(wanted, given, fillvalue="")
        pairs += [WordPair(w, g, EDIT_MARKS[chunk.type]) for w, g in both]
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


# --- Text columns --------------------------------------------------------------------------------


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(combining(char) > 0 for char in text)


def pad(text: str, width: int, *, left: bool) -> str:
    """A text filled up to a width."""
    space = " " * (width - cells(text))
    return text + space if left else space + text


def columns(names: Sequence[str], table: Sequence[Sequence[str]], width: int = 100) -> str:
    """A line a name, a column an entry of the table; as many columns at a time as fit the width.

    >>> print(columns(["A:", "B:"], [("one", "1"), ("two", "22")]))
    A: one two
    B: 1   22
    """
    head = max(map(cells, names))
    blocks = _blocks(table, width - head)
    drawn = []
    for block in blocks:
        sizes = [max(map(cells, column)) for column in block]
        lines = []
        for index, name in enumerate(names):
            texts = [pad(c[index], size, left=True) for c, size in zip(block, sizes, strict=True)]
            lines.append(" ".join([pad(name, head, left=True), *texts]).rstrip())
        drawn.append("\n".join(lines).rstrip("\n"))
    return "\n\n".join(drawn)


def _blocks(table: Sequence[Sequence[str]], width: int) -> Iterator[list[Sequence[str]]]:
    block, used = list[Sequence[str]](), 0
    for column in table:
        size = max(map(cells, column)) + 1
        if block and used + size > width:
            yield block
            block, used = [], 0
        block.append(column)
        used += size
    yield block


# --- Alignments as text --------------------------------------------------------------------------


def aligned(alignments: Sequence[Alignment]) -> str:
    """Wanted words above those that are there, with S, D and I below what differs.

    >>> pairs = (WordPair("the", "the"), WordPair("is", "", "D"), WordPair("here", "there", "S"))
    >>> print(aligned([Alignment(pairs)]))
    REF: the is here
    OUT: the ** there
             D  S
    """
    parts = [part for one in alignments for part in (_pairs(one), one.text) if part]
    return "\n\n".join(parts)


def _pairs(alignment: Alignment) -> str:
    if not alignment.pairs:
        return ""
    table = [_column(pair) for pair in alignment.pairs]
    names = [f"{alignment.wanted}:", "OUT:", ""]
    if all(pair.people is None for pair in alignment.pairs):
        return columns(names, [column[:3] for column in table])
    return columns([*names, "people:"], table)


def _column(pair: WordPair) -> tuple[str, str, str, str]:
    return (
        pair.wanted or "*" * cells(pair.actual),
        pair.actual or "*" * cells(pair.wanted),
        pair.mark,
        "" if pair.people is None else str(pair.people),
    )
