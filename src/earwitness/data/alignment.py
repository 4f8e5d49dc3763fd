"""Words side by side: what was wanted, and what is there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """A word that was wanted and the one that is there; where there is none, nothing.

    ``mark`` is S if it was replaced, D if it is missing, I if it is too much. ``people`` is how
    many went to this word, where that is known.
    """

    wanted: str
    given: str
    mark: str = ""
    people: int | None = None


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs in order, what is wanted by name (a reference, a path), and more in words.

    Texts that no metric lays beside each other have no pairs, and all is ``told``.
    """

    pairs: tuple[Pair, ...]
    wanted: str = "REF"
    told: str = ""
