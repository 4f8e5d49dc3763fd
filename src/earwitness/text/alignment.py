"""Word error counts and word alignments printed as text columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from string import whitespace
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from earwitness.core import Alignment, WordPair

# --- Word error counts ---------------------------------------------------------------------------
# Texts are normalized as in chunkseg, by the rules of jiwer: lower case, English contractions
# expanded, text in [brackets] or <angles> removed, white space collapsed; punctuation is kept.


EDIT_MARKS = {"equal": "", "replace": "S", "delete": "D", "insert": "I"}
CONTRACTIONS = {  # replaced in this order
    "won't": "will not",
    "can't": "can not",
    "let's": "let us",
    "n't": " not",
    "'re": " are",
    "'s": " is",
    "'d": " would",
    "'ll": " will",
    "'t": " not",
    "'ve": " have",
    "'m": " am",
}
NON_WORD = re.compile(r"[<\[][^>\]]*[>\]]")
WORD_BREAK = re.compile(rf"\s{{2,}}|[{whitespace}]")  # a single no-break space is part of a word


class WordErrors(NamedTuple):
    """Word error counts of one output."""

    substitutions: int
    deletions: int
    insertions: int
    words: int

    @property
    def errors(self) -> int:
        """Number of all errors."""
        return self.substitutions + self.deletions + self.insertions


def word_errors(output: str, reference: str) -> WordErrors:
    """Count the word errors of an output.

    >>> word_errors("the cat's on mat", "The cat is on the mat")
    WordErrors(substitutions=0, deletions=1, insertions=0, words=6)
    """
    from rapidfuzz.distance import Levenshtein

    words = split_plain_words(reference)
    edits = Counter(edit.tag for edit in Levenshtein.editops(words, split_plain_words(output)))
    return WordErrors(edits["replace"], edits["delete"], edits["insert"], len(words))


def align_words(output: str, reference: str) -> Alignment:
    """Align the words of output and reference.

    >>> align_words("a cat", "cat").pairs
    (WordPair(wanted='', actual='a', mark='I', people=None), \
WordPair(wanted='cat', actual='cat', mark='', people=None))
    """
    from rapidfuzz.distance import Levenshtein

    wanted, actual = split_plain_words(reference), split_plain_words(output)
    return Alignment(
        tuple(
            WordPair(*words, EDIT_MARKS[edit.tag])
            for edit in Levenshtein.opcodes(wanted, actual)
            for words in zip_longest(
                wanted[edit.src_start : edit.src_end],
                actual[edit.dest_start : edit.dest_end],
                fillvalue="",
            )
        )
    )


def split_plain_words(text: str) -> list[str]:
    """Return the normalized words of a text.

    >>> split_plain_words("Can't  [noise] stop!")
    ['can', 'not', 'stop!']
    """
    text = text.lower()
    for short, long in CONTRACTIONS.items():
        text = text.replace(short, long)
    text = NON_WORD.sub("", text)
    return [word for word in WORD_BREAK.split(text.strip()) if word]


# --- Text columns --------------------------------------------------------------------------------


def display_width(text: str) -> int:
    """Return the number of terminal columns of a text."""
    if text.isascii():
        return len(text)
    wide = sum(east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(combining(char) > 0 for char in text)


def pad_text(text: str, width: int, *, left: bool) -> str:
    """Return a text padded to a width."""
    space = " " * (width - display_width(text))
    return text + space if left else space + text


def format_columns(names: Sequence[str], table: Sequence[Sequence[str]], width: int = 100) -> str:
    """Format one line per name and one column per entry, wrapped to the width.

    >>> print(format_columns(["A:", "B:"], [("one", "1"), ("two", "22")]))
    A: one two
    B: 1   22
    """
    name_width = max(map(display_width, names))
    blocks = _column_blocks(table, width - name_width)
    drawn_blocks = []
    for block in blocks:
        sizes = [max(map(display_width, column)) for column in block]
        lines = []
        for index, name in enumerate(names):
            texts = [
                pad_text(column[index], size, left=True)
                for column, size in zip(block, sizes, strict=True)
            ]
            lines.append(" ".join([pad_text(name, name_width, left=True), *texts]).rstrip())
        drawn_blocks.append("\n".join(lines).rstrip("\n"))
    return "\n\n".join(drawn_blocks)


def _column_blocks(table: Sequence[Sequence[str]], width: int) -> Iterator[list[Sequence[str]]]:
    block, used = list[Sequence[str]](), 0
    for column in table:
        size = max(map(display_width, column)) + 1
        if block and used + size > width:
            yield block
            block, used = [], 0
        block.append(column)
        used += size
    yield block


# --- Alignments as text --------------------------------------------------------------------------


def format_alignments(alignments: Sequence[Alignment]) -> str:
    """Format expected words above actual words, with S, D and I below differences.

    >>> pairs = (WordPair("the", "the"), WordPair("is", "", "D"), WordPair("here", "there", "S"))
    >>> print(format_alignments([Alignment(pairs)]))
    REF: the is here
    OUT: the ** there
             D  S
    """
    parts = [
        part
        for alignment in alignments
        for part in (_format_pairs(alignment), alignment.text)
        if part
    ]
    return "\n\n".join(parts)


def _format_pairs(alignment: Alignment) -> str:
    if not alignment.pairs:
        return ""
    table = [
        (
            pair.wanted or "*" * display_width(pair.actual),
            pair.actual or "*" * display_width(pair.wanted),
            pair.mark,
            "" if pair.people is None else str(pair.people),
        )
        for pair in alignment.pairs
    ]
    names = [f"{alignment.wanted}:", "OUT:", "", "people:"]
    has_people = any(pair.people is not None for pair in alignment.pairs)
    return format_columns(names if has_people else names[:3], table)
