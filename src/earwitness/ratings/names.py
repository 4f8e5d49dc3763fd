"""Names in rating tables: sample names by pattern, names of a study, and columns of scales."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

from earwitness.core import Rating, group_values
from earwitness.errors import UsageError, nearest
from earwitness.io.schema import show
from earwitness.io.tables import Cell, InputTable
from earwitness.ratings.scales import canonical_scale
from earwitness.report.sentences import SIGNS_NOTE, UNUSED_VOTES_NOTE

# --- Patterns of sample names --------------------------------------------------------------------

# In ``{system}/{item}.wav`` names are placeholders and ``*`` is any text; names contain no slash.
# If a sample matches in several ways, ``{item}`` takes the longest text and all others the
# shortest: ``{item}_{system}.wav`` is split at the last underscore, ``{system}_{item}.wav`` at the
# first. If systems are known, the system must be one of them, in any case if no other spelling is
# known; if several match, the item must be known too, and then the longest system name is used.


DEFAULT_SOUND_PATTERN = "{system}/{item}.wav"
PATTERN_FIELDS = ("item", "system")
MAX_SAMPLE_NAME_CHARACTERS = 1000
PATTERN_PLACEHOLDER = re.compile(r"(\{[^{}]*\}|\*)")


class Division(NamedTuple):
    """Parts of a sample name by placeholder (empty: no match), and whether it is ambiguous."""

    parts: dict[str, str]
    several: bool


@dataclass(frozen=True)
class Pattern:
    """Pattern of sample names.

    >>> Pattern("{item}_{system}.wav").divide("clip_7_C1.wav")
    Division(parts={'item': 'clip_7', 'system': 'C1'}, several=True)
    >>> Pattern("{item}_{system}.wav", frozenset(["C_1"])).divide("clip_7_C_1.wav")
    Division(parts={'item': 'clip_7', 'system': 'C_1'}, several=False)
    """

    text: str
    systems: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in self.places:
            if name not in PATTERN_FIELDS:
                raise UsageError(
                    f'pattern: unknown placeholder "{{{name}}}" — {nearest(name, PATTERN_FIELDS)}'
                )
            if self.places.count(name) > 1:
                raise UsageError(f'pattern: "{{{name}}}" occurs twice — use it once')
        if not self.places:
            raise UsageError(
                f'pattern "{self.text}" has no placeholder — use at least one, such as {{item}}'
            )
        if re.search(r"[{}]", PATTERN_PLACEHOLDER.sub("", self.text)):
            raise UsageError(
                f'pattern "{self.text}" has an unmatched brace — write placeholders as {{item}}'
            )
        if "}{" in self.text:
            raise UsageError(
                f'pattern "{self.text}" has adjacent placeholders — put text between them'
            )

    @cached_property
    def places(self) -> list[str]:
        """Names of the placeholders."""
        return [
            placeholder[1:-1]
            for placeholder in PATTERN_PLACEHOLDER.findall(self.text)
            if placeholder != "*"
        ]

    def divide(self, sample: str) -> Division:
        """Split a sample name into its parts."""
        sample = sample.replace("\\", "/")
        if len(sample) > MAX_SAMPLE_NAME_CHARACTERS:
            return Division({}, False)
        if division := self._divide_by_system(sample):
            return division
        found = [pattern.fullmatch(sample) for pattern in self._patterns]
        usual, other = (match.groupdict() if match else {} for match in found)
        return Division(usual, usual != other)

    def _divide_by_system(self, sample: str) -> Division | None:
        """Return the best division with a known system, or None."""
        ways, folded = self._ways(sample, exact=True), sample.casefold()
        if not ways and any(system.casefold() in folded for system in self.systems):
            ways = self._ways(sample, exact=False)
        ways = [way for way in ways if way.get("item") in self.items] or ways
        if not ways:
            return None
        best = max(ways, key=lambda way: len(way["system"]))
        return Division({name: best[name] for name in self.places}, len(ways) > 1)

    def _ways(self, sample: str, *, exact: bool) -> list[dict[str, str]]:
        """Return the divisions with a known system, written exactly so or in any case."""
        patterns = self._by_system if exact else self._by_folded_system
        return [
            {**match.groupdict(), "system": system}
            for system, pattern in patterns.items()
            if (not exact or system in sample) and (match := pattern.fullmatch(sample))
        ]

    @cached_property
    def _by_system(self) -> dict[str, re.Pattern[str]]:
        if "system" not in self.places:
            return {}
        return {
            system: self._compile(flipped=False, system=system) for system in sorted(self.systems)
        }

    @cached_property
    def _by_folded_system(self) -> dict[str, re.Pattern[str]]:
        return {
            system: re.compile(pattern.pattern, re.IGNORECASE)
            for system, pattern in self._by_system.items()
        }

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        """The pattern, and one that divides ambiguous names the other way."""
        return [self._compile(flipped=flipped) for flipped in (False, True)]

    def _compile(self, *, flipped: bool, system: str = "") -> re.Pattern[str]:
        pieces = PATTERN_PLACEHOLDER.split(self.text.replace("\\", "/"))
        return re.compile("".join(_piece_regex(piece, flipped, system) for piece in pieces))


def _piece_regex(piece: str, flipped: bool, system: str) -> str:
    if piece == "*":
        return ".*" if flipped else ".*?"
    if not piece.startswith("{"):
        return re.escape(piece)
    if system and piece == "{system}":
        return re.escape(system)
    most = (piece == "{item}") != flipped
    return f"(?P<{piece[1:-1]}>[^/]+{'' if most else '?'})"


# --- Patterns of a column of file names ----------------------------------------------------------
# A pattern divides names at a separator. It fits if it divides all of them into two systems and two
# items or more, which are mostly crossed unless the systems look like systems. What the parts look
# like decides between patterns that fit; a folder is rather a system than an item.


SEPARATORS = "_-. "
TOKEN = re.compile(r"[^/_\-. ]+|[/_\-. ]")
AUDIO_ENDING = re.compile(r"\.(wav|flac|mp3|ogg|opus|m4a)$", re.IGNORECASE)
SYSTEM_START = re.compile(
    r"(sys|system|model|method|cond|codec|algo|vocoder|tts|vc|hrc|team)(?![a-z]{3})|c\d+$",
    re.IGNORECASE,
)
ITEM_START = re.compile(r"(utt|utterance|item|clip|sent|sentence|sample)[_-]?\d", re.IGNORECASE)
ITEM_WORD = re.compile(
    r"utt|utterance|item|clip|sent|sentence|seg|segment|sample|track|song|src|speaker|spk|speech|p|"
    r"prompt|text|audio|file|test"
)
CONTROL_NAME = re.compile(
    r"ref|reference|clean|noisy|original|natural|target|hidden|gt|groundtruth|unprocessed|"
    r"anchor(35|70)?|lp35|lp70"
)
MIN_CROSSED_SHARE = 0.5  # of the combinations of systems and items
SYSTEM_POINTS, ITEM_POINTS = {"system": 2, "item": -1, "": 0}, {"system": -2, "item": 1, "": 0}


def infer_patterns(
    samples: Iterable[str], systems: Sequence[str] = (), known: Collection[str] = ()
) -> list[str]:
    """Return the patterns that fit all file names best: none, one, or several that fit equally.

    ``systems`` are those of the names if a column has them, and ``known`` are all systems of
    a study.

    >>> infer_patterns(["p01_sysA.wav", "p01_sysB.wav", "p02_sysA.wav", "p02_sysB.wav"])
    ['{item}_{system}.wav']
    >>> infer_patterns(["ann_x.wav", "ann_y.wav", "ben_x.wav", "ben_y.wav"])
    ['{item}_{system}.wav', '{system}_{item}.wav']
    """
    names = [sample.replace("\\", "/") for sample in samples]
    owners = dict(zip(names, systems, strict=True)) if systems else {}
    distinct = sorted({*names})
    if not distinct or any(mark in name for name in distinct for mark in "{}*"):
        return []
    points: dict[str, float] = {}
    folded = {name.casefold() for name in known}
    for penalty, pattern, parts in _divisions(distinct):
        if not owners:
            value = _rate_division(parts, folded)
        else:
            pairs = zip(distinct, parts, strict=True)
            is_same = all(owners[name].casefold() == part[0].casefold() for name, part in pairs)
            value = 0.0 if is_same else None
        if value is not None:
            points.setdefault(pattern, value - penalty)
    best = max(points.values(), default=0)
    return [pattern for pattern in points if points[pattern] == best or best < 0]


Parts = list[tuple[str, str]]  # system and item of each name


def _divisions(names: Sequence[str]) -> Iterator[tuple[float, str, Parts]]:
    """Yield patterns that divide names at the first or last separator of a kind, and the parts.

    Text that all names share may be part of the pattern, at a penalty unless it is an ending.
    """
    ends = {match.group() if (match := AUDIO_ENDING.search(name)) else "" for name in names}
    end = ends.pop() if len(ends) == 1 else "" if "" in ends else ".*"
    tokens = [TOKEN.findall(AUDIO_ENDING.sub("", name) if end else name) for name in names]
    after, before = _shared_text([parts[::-1] for parts in tokens]), _shared_text(tokens)
    shares = {(len(before), len(after)): 0.5, (len(before), 0): 0.4, (0, len(after)): 0.25}
    for (first, last), penalty in {**shares, (0, 0): 0.0}.items():
        kept = ["".join(parts[first : len(parts) - last]) for parts in tokens]
        yield from (
            (
                penalty + extra,
                f"{''.join(before[:first])}{pattern}{''.join(after[:last][::-1])}{end}",
                parts,
            )
            for extra, pattern, parts in _divisions_at_marks(kept)
        )


def _shared_text(tokens: Sequence[Sequence[str]]) -> list[str]:
    """Return the first tokens that all names share; each keeps three tokens of its own."""
    count = 0
    while all(len(parts) > count + 3 for parts in tokens) and (
        len({parts[count] for parts in tokens}) == 1
    ):
        count += 1
    return [*tokens[0][:count]]


def _divisions_at_marks(names: Sequence[str]) -> Iterator[tuple[float, str, Parts]]:
    """Yield a penalty, a pattern and the parts of each name, which have no shared text."""
    is_folder, prefix = all("/" in name for name in names), ""
    if is_folder:
        folders = [name.rpartition("/")[::2] for name in names]
        is_deep = any("/" in folder for folder, _ in folders)
        start = "*/" if is_deep else ""
        parts = [(folder.rpartition("/")[2], name) for folder, name in folders]
        yield 0, f"{start}{{system}}/{{item}}", parts
        if not is_deep:
            yield 0.6, "{item}/{system}", [(name, folder) for folder, name in parts]
        prefix, names = "*/", [name for _, name in folders]
    for mark in SEPARATORS:
        if all(mark in name[1:-1] for name in names):
            last, first = (
                [cut(name, mark) for name in names] for cut in (str.rpartition, str.partition)
            )
            yield (
                0.1 if is_folder else 0,
                f"{prefix}{{item}}{mark}{{system}}",
                [(system, item) for item, _, system in last],
            )
            yield (
                0.1 if is_folder else 0,
                f"{prefix}{{system}}{mark}{{item}}",
                [(system, item) for system, _, item in first],
            )


def _rate_division(parts: Parts, known: Collection[str]) -> float | None:
    """Return how well pairs of system and item look like that; None if they do not fit."""
    systems, items = ({*names} for names in zip(*parts, strict=True))
    distinct = {*parts}
    if min(len(systems), len(items)) < 2 or len(distinct) < len(parts):
        return None
    if known:
        return 3.0 if {name.casefold() for name in systems} <= {*known} else None
    kind = _kind_of_names(systems)
    is_crossed = len(distinct) >= MIN_CROSSED_SHARE * len(systems) * len(items)
    if not is_crossed and (kind != "system" or len(distinct) == len(systems)):
        return None
    return SYSTEM_POINTS[kind] + ITEM_POINTS[_kind_of_names(items)]


def _kind_of_names(names: Collection[str]) -> str:
    """Return ``system`` or ``item`` if names look like these, else an empty string."""
    if any(CONTROL_NAME.fullmatch(name.casefold()) for name in names):
        return "system"
    if all(map(SYSTEM_START.match, names)):
        return "system"
    words = {word for name in names for word in re.findall(r"[a-z]+", name.casefold())}
    is_numbered = all(re.search(r"\d", name) for name in names)
    if is_numbered and all(map(ITEM_WORD.fullmatch, words)):
        return "item"
    return "item" if all(map(ITEM_START.match, names)) else ""


# --- Names of a study ----------------------------------------------------------------------------


@dataclass(frozen=True)
class KnownNames:
    """Names defined by a study; empty: any name is allowed."""

    systems: Collection[str] = ()
    items: Collection[str] = ()
    listeners: Collection[int | str] = ()
    scales: Collection[str] = ()

    def names(self, role: str) -> frozenset[str]:
        """Return the names allowed in a column."""
        names: Collection[int | str] = getattr(self, f"{role}s")
        return frozenset(map(str, names))


WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


def listener_ids(names: Sequence[str]) -> Sequence[int | str]:
    """Return listeners as numbers if all are whole numbers, else as names."""
    if all(isinstance(name, str) and WHOLE_NUMBER.fullmatch(name) for name in set(names)):
        numbers = {name: int(name) for name in set(names)}
        return [numbers[name] for name in names]
    return names


# --- Columns of scales, row counters, and votes that are not analysed ----------------------------


COUNTER_NAME = re.compile(r"(no|nr|num|number|row|index|idx|id|#|unnamed: \d+)\.?", re.IGNORECASE)
MIN_COUNTED_ROWS = 12  # from which consecutive numbers are a row counter, whatever its name
MIN_ORDERED_ROWS = 6  # of a listener, from which consecutive numbers are the order of trials
MAX_VOTE = 100.0  # votes are from −100 to 100
MAX_POSITIVE_SHARE = 0.1  # of the votes of a penalty


def match_scales(table: InputTable, expected: Sequence[str], taken: Iterable[str]) -> None:
    """Rename the column of an expected scale that has another usual name, with a note."""
    named = {*expected, *taken}
    others: dict[str, list[str]] = {}
    for name in table.names:
        scale = canonical_scale(name, expected)
        if name not in named and scale != name:
            others.setdefault(scale, []).append(name)
    for scale, names in others.items():
        if scale not in table.names:
            table.rename(names[0], scale)
            others_text = "".join(f"; column {show(name)} could be, too" for name in names[1:])
            table.notes.append(f"column {show(names[0])} is read as {scale}{others_text}")


def is_counter(name: str, numbers: Sequence[float] | None) -> bool:
    """Return whether a column counts the rows: by its name, or since each number is one more.

    ``numbers`` are those of all rows, or None if a cell is no plain number.

    >>> is_counter("No.", [4, 5, 9]), is_counter("quality", [1, 2, 3])
    (True, False)
    >>> is_counter("line", [*range(2, 20)])
    True
    """
    if numbers is None or not all(number.is_integer() for number in map(float, numbers)):
        return False
    steps = {after - before for before, after in pairwise(numbers)}
    return bool(COUNTER_NAME.fullmatch(name)) or (
        len(numbers) >= MIN_COUNTED_ROWS and steps == {1.0}
    )


def looks_like_votes(
    numbers: Sequence[float], owners: Sequence[Sequence[Cell]], listeners: Sequence[Cell]
) -> bool:
    """Return whether numbers look like votes of the listeners.

    Those that are constant for each of the ``owners``, such as items, describe these, and whole
    numbers that count the rows of each listener are the order of trials.
    """
    if len({*numbers}) < 2 or not all(abs(number) <= MAX_VOTE for number in numbers):
        return False
    if any(_is_constant(numbers, owner) for owner in owners):
        return False
    by_listener = group_values(zip(listeners, numbers, strict=True))
    longest = max(map(len, by_listener.values()))
    is_ordered = all(
        {b - a for a, b in pairwise(sorted(listener_numbers))} <= {1.0}
        for listener_numbers in by_listener.values()
    )
    return longest < MIN_ORDERED_ROWS or not is_ordered


def _is_constant(numbers: Sequence[float], owners: Sequence[Cell]) -> bool:
    if len({*owners}) == len(owners):
        return False
    first: dict[Cell, float] = {}
    rows = zip(owners, numbers, strict=True)
    return all(first.setdefault(owner, number) == number for owner, number in rows)


def unused_votes_note(names: Sequence[str]) -> str:
    """Return the note on columns that look like votes and are not analysed."""
    columns = ", ".join(map(show, names))
    plural = "s" if len(names) != 1 else ""
    return (
        f"{UNUSED_VOTES_NOTE}: column{plural} {columns}; "
        f"use --scale NAME=LOW:HIGH to analyse {'them' if plural else 'it'}"
    )


def penalty_notes(ratings: Iterable[Rating], known: Iterable[str]) -> Iterator[str]:
    """Yield a note per scale on which few votes are above 0 and all others are 0 or below.

    Scales with ``known`` ends are left out, since votes outside them are refused.
    """
    by_scale: dict[str, list[float]] = {}
    left_out = {*known}
    for rating in ratings:
        if rating.scale not in left_out and rating.against is None:
            by_scale.setdefault(rating.scale, []).append(rating.value)
    for scale, votes in by_scale.items():
        above = sorted(vote for vote in votes if vote > 0)
        if min(votes) < 0 and 0 < len(above) <= MAX_POSITIVE_SHARE * len(votes):
            shown = ", ".join(f"{vote:g}" for vote in dict.fromkeys(chain(above[:2], above[-1:])))
            count = f"{len(above):,} of {len(votes):,} votes on {scale}"
            verb = "is" if len(above) == 1 else "are"
            yield f"{SIGNS_NOTE}: {count} {verb} above 0 ({shown}), all others are 0 or below"
