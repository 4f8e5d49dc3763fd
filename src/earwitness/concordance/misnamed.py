"""Why names of ratings and of scores do not meet: likely causes, with examples and a remedy.

Nothing is joined by guessing: two names that differ in anything are two names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

SHOWN = 2  # examples in a message
ENDING = re.compile(r"\.(wav|flac|mp3|ogg|opus|m4a|aac|aiff?|w64|raw|pcm|json|txt)$", re.IGNORECASE)
ALIKE = "write them alike in one of the files"


def _without_ending(name: str) -> str:
    return ENDING.sub("", name)


def _without_folder(name: str) -> str:
    return re.split(r"[/\\]", name)[-1]


def _without_zeros(name: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", name)


CAUSES: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "ending": _without_ending,
    "folder": _without_folder,
    "zero padding": _without_zeros,
    "spaces": lambda name: "".join(name.split()),
}


@dataclass(frozen=True)
class Cause:
    """How names differ: by what alone, and which are the same but for that (rated, scored)."""

    what: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]


def likely(rated: Iterable[str], scored: Iterable[str]) -> Cause | None:
    """What most names of the one side that the other lacks differ by, if it is one of these."""
    ours, theirs = {*rated}, {*scored}
    ours, theirs = ours - theirs, theirs - ours
    found = [
        Cause(what, tuple(_pairs(ours, theirs, what)))
        for count in (1, 2)
        for what in combinations(CAUSES, count)
    ]
    best = max(found, key=lambda one: (len(one.pairs), -len(one.what)))
    return best if best.pairs else None


def _pairs(ours: set[str], theirs: set[str], what: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Names that are the same but for what they may differ by; none that fits two others."""
    sides = [_by_rest(names, what) for names in (ours, theirs)]
    for rest in sorted({*sides[0]} & {*sides[1]}):
        one, other = sides[0][rest], sides[1][rest]
        if len(one) == len(other) == 1:
            yield one[0], other[0]


def _by_rest(names: set[str], what: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        rest = name
        for one in what:
            rest = CAUSES[one](rest)
        found.setdefault(rest, []).append(name)
    return found


def hint(role: str, rated: Iterable[str], scored: Iterable[str]) -> str:
    """A sentence about items or systems that look the same but are not; empty if none do."""
    cause = likely(rated, scored)
    if cause is None:
        return ""
    pairs = ", ".join(f'"{one}" and "{other}"' for one, other in cause.pairs[:SHOWN])
    more = ", …" * (len(cause.pairs) > SHOWN)
    told = f"{role}s of ratings and scores differ only by {' and '.join(cause.what)}"
    return f"{told}: {pairs}{more} — {_remedy(role, cause)}"


def _remedy(role: str, cause: Cause) -> str:
    """Options that take away what names of one side have too much; else files must change."""
    if not {*cause.what} <= {"ending", "folder"}:
        return ALIKE
    lengths = {len(one) > len(other) for one, other in cause.pairs}
    if len(lengths) > 1:
        return ALIKE
    longer = [one if lengths == {True} else other for one, other in cause.pairs]
    patterns = {_pattern(role, name) for name in longer}
    shorter = [other if lengths == {True} else one for one, other in cause.pairs]
    if len(patterns) > 1 or any(_pattern(role, name) != f"{{{role}}}" for name in shorter):
        return ALIKE
    score = "" if lengths == {True} else "score-"
    return f"say --{score}sample {role} --{score}pattern '{patterns.pop()}', or {ALIKE}"


def _pattern(role: str, name: str) -> str:
    """How a name is made: folders as stars, its own ending."""
    folders = len(re.findall(r"[/\\]", name))
    ending = ENDING.search(name)
    return "*/" * folders + f"{{{role}}}" + (ending.group() if ending else "")
