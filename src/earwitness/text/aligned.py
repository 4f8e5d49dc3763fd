"""Alignments of words as text, for people with a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from earwitness.data import Alignment, Pair
from earwitness.text.columns import cells, columns


def aligned(alignments: Sequence[Alignment]) -> str:
    """Wanted words above those that are there, with S, D and I below what differs.

    >>> pairs = (Pair("the", "the"), Pair("is", "", "D"), Pair("here", "there", "S"))
    >>> print(aligned([Alignment(pairs)]))
    REF: the is here
    OUT: the ** there
             D  S
    """
    parts = [part for one in alignments for part in (_pairs(one), one.told) if part]
    return "\n\n".join(parts)


def _pairs(alignment: Alignment) -> str:
    if not alignment.pairs:
        return ""
    table = [_column(pair) for pair in alignment.pairs]
    names = [f"{alignment.wanted}:", "OUT:", ""]
    if all(pair.people is None for pair in alignment.pairs):
        return columns(names, [column[:3] for column in table])
    return columns([*names, "people:"], table)


def _column(pair: Pair) -> tuple[str, str, str, str]:
    return (
        pair.wanted or "*" * cells(pair.given),
        pair.given or "*" * cells(pair.wanted),
        pair.mark,
        "" if pair.people is None else str(pair.people),
    )
