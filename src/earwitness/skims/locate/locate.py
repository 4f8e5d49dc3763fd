"""Search for the parts of a skim in its recording: the entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.read import read_blocks
from earwitness.audio.signal import (
    FILTER_SPAN_SAMPLES,
    Floats,
    LowRateSound,
    factor_of,
    resampled,
    thinned,
    thinned_pieces,
)
from earwitness.recordings.cut import cut as cut_out
from earwitness.recordings.types import Recording
from earwitness.skims.locate.candidates import (
    AlignedRun,
    OffsetScores,
    ProbePlaces,
    RivalFit,
    Samples,
    SkimOverRecording,
    SkimPart,
    SoundCutter,
    common_gain,
    laid,
    likeliest,
    places,
    probes_of,
    rivals_of,
    way_through,
    ways_of,
)
from earwitness.skims.locate.choose import MAX_ROUNDING_POWER, PlaceChoice, begin, choose, settled
from earwitness.skims.locate.joins import (
    MAX_FADE_GAP_SECONDS,
    PartLayout,
    SkimFades,
    explained,
    other_sound,
    remains,
)
from earwitness.skims.types import Pick, Skim

# --- Parts of one skim ---------------------------------------------------------------------------
# A part that was found at a low rate is moved to where its samples are the same, and fades tell
# when parts begin and end. Then each is held against its rivals. What was not found, or could come
# from elsewhere just as well, is told.


COMPARED_SECONDS = 2.0  # seconds of a part in which it is held against its neighbours
CERTAIN_LIKENESS = 0.9  # likeness of samples that needs no search for a better place
MIN_PART_LIKENESS = 0.2  # likeness of samples from which on a part is known
MIN_EXPLAINED_SHARE = 0.25  # of a part's power that its place must explain
SAME_OFFSET_SECONDS = 0.002
# of a part's likeness that its neighbours must reach to replace it
MIN_NEIGHBOR_LIKENESS_RATIO = 0.9
GAIN_STEP_SECONDS = 0.1  # seconds in which gains hardly change
MIN_HOLE_SECONDS = 2.5  # seconds of a skim that are told if nothing is known of them
OTHER_SOUND_RATIO = 20.0  # times what others leave, or rounding: what is told as another sound
# share that another sound has at least, and beside rounding alone
MIN_OTHER_SHARE, MIN_OTHER_SHARE_LOSSLESS = 1e-2, 1e-5
MAX_REMAINDER_RATIO = 0.9  # of what is left with parts of one length, for others to be believed
CONFIDENCE_REASON = "confidence"


@dataclass(frozen=True, slots=True)
class LocatedSkim:
    """A skim as it was found, what is to be told, and which picks may come from elsewhere."""

    skim: Skim
    notes: tuple[str, ...] = ()
    doubted: tuple[int, ...] = ()


class SkimLocator:
    """Finds the parts of one skim, from the places of its probes."""

    def __init__(
        self,
        beside: SkimOverRecording,
        ways: OffsetScores,
        middles: Sequence[int],
        factor: int,
        ahead: int,
    ) -> None:
        self._beside, self._ways, self._factor = beside, ways, factor
        self._ahead = ahead  # samples of the skim that are before this sound of it
        self._middles, self._rate = np.array(middles, np.int64), beside.rate
        self._fades = SkimFades(beside)

    def matched(self) -> LocatedSkim:
        """Picks, and what is to be told."""
        runs = [run for one in way_through(self._ways) if (run := self._exact(*one)) is not None]
        runs = self._joined(runs)
        if not runs:
            return LocatedSkim(
                Skim(()), (f"{self._from(0, len(self._beside))}, nothing was found",)
            )
        layout, choices = self._best(runs)
        return self._told(layout, choices)

    def _best(self, runs: Sequence[AlignedRun]) -> tuple[PartLayout, list[PlaceChoice]]:
        """Parts of one length if fades fit that plainly; else what leaves less."""
        even = self._fades.even(runs)
        if even is not None and even.plain:
            return even, self._chosen(runs, even)
        tried = [] if even is None else [(even, self._chosen(runs, even))]
        own = self._own(runs)
        layout = self._fades.uneven(own)
        own = [one.run for one in self._chosen(own, layout)]
        layout = self._fades.even(own) or self._fades.uneven(own)  # fades are clearer now
        tried.append((layout, self._chosen(own, layout)))
        if not layout.plain and layout.even:
            layout = self._fades.uneven(own)
            tried.append((layout, self._chosen(own, layout)))
        left = [float(np.square(self._rest(*one)).sum()) for one in tried]
        kept = next(n for n, one in enumerate(left) if one <= min(left) / MAX_REMAINDER_RATIO)
        return tried[kept]

    def _rest(self, layout: PartLayout, choices: Sequence[PlaceChoice]) -> Samples:
        """What is left of the skim."""
        parts = layout.parts(self._rate, len(self._beside))
        return remains(self._beside, parts, [one.run for one in choices])

    def _told(self, layout: PartLayout, choices: Sequence[PlaceChoice]) -> LocatedSkim:
        parts = layout.parts(self._rate, len(self._beside))
        found = [
            (part, one)
            for part, one in zip(parts, choices, strict=True)
            if 1 - one.left >= MIN_EXPLAINED_SHARE
        ]
        if not found:
            return LocatedSkim(
                Skim(()), (f"{self._from(0, len(self._beside))}, nothing was found",)
            )
        notes = [layout.note] if layout.note else []
        holes = self._holes(parts, [part for part, _ in found])
        notes += [f"{self._from(*one)}, nothing was found" for one in holes]
        notes += self._odd(found, holes)
        doubted = tuple(number for number, (_, one) in enumerate(found) if not one.sure)
        if doubted:
            notes.append(self._doubts([found[number][0] for number in doubted], len(found)))
        runs = settled([part for part, _ in found], [one for _, one in found], self._rate)
        picks = tuple(
            self._pick(part, run, one.left) for (part, one), run in zip(found, runs, strict=True)
        )
        return LocatedSkim(Skim(picks, layout.overlap), tuple(notes), doubted)

    def _run(self, offset: int, first: int, last: int) -> AlignedRun:
        """An offset at a low rate as a part from one middle of a probe to another."""
        one = self._ways.offsets[offset]
        place = round(one.place * self._factor) + (len(self._beside) - 1 if one.turned else 0)
        return AlignedRun(place, one.turned, first, last, 0.0)

    def _exact(self, offset: int, first: int, last: int) -> AlignedRun | None:
        """A part where its samples are: the first rival that is the same, or the best of all."""
        inside = np.zeros(len(self._middles), np.bool_)
        inside[first : last + 1] = True
        best: AlignedRun | None = None
        for rival in [offset, *rivals_of(self._ways, inside)]:
            run = self._run(rival, int(self._middles[first]), int(self._middles[last]))
            run = laid(self._beside, run, run.middle).run
            if best is None or run.score > best.score:
                best = run
            if run.score >= CERTAIN_LIKENESS:
                break
        return best if best is not None and best.score >= MIN_PART_LIKENESS else None

    def _joined(self, runs: Sequence[AlignedRun]) -> list[AlignedRun]:
        """Those that lie along the same samples are one part: fades go to and fro between two."""
        groups: list[list[AlignedRun]] = []
        for run in sorted(runs, key=lambda one: one.first - one.last):
            own = next((one for one in groups if self._same(one[0], run)), None)
            groups.append([run]) if own is None else own.append(run)
        return sorted((group[0] for group in groups), key=lambda one: one.middle)

    def _same(self, one: AlignedRun, other: AlignedRun) -> bool:
        apart = max(one.first, other.first) - min(one.last, other.last)
        near = abs(one.offset - other.offset) < SAME_OFFSET_SECONDS * self._rate
        return one.turned == other.turned and near and apart < MAX_FADE_GAP_SECONDS * self._rate

    def _own(self, runs: Sequence[AlignedRun]) -> list[AlignedRun]:
        """Without parts that neighbours explain: one call of a bird is like another."""
        kept = list(runs)
        for run in sorted(runs, key=lambda one: one.last - one.first):
            place = kept.index(run)
            beside = kept[max(0, place - 1) : place] + kept[place + 1 : place + 2]
            if self._explained(run, beside) >= MIN_NEIGHBOR_LIKENESS_RATIO * run.score:
                kept.remove(run)
        return kept

    def _explained(self, run: AlignedRun, beside: Sequence[AlignedRun]) -> float:
        """How alike a part is to the sum of what its neighbours lie along at its place."""
        half = round(
            min(COMPARED_SECONDS, (run.last - run.first) / self._rate + COMPARED_SECONDS / 2)
            / 2
            * self._rate
        )
        first, last = max(0, run.middle - half), min(len(self._beside), run.middle + half)
        own = np.diff(self._beside.skim(first, last))
        there = [np.diff(self._beside.along(other, first, last)) for other in beside]
        return explained(own, there, round(GAIN_STEP_SECONDS * self._rate))

    def _chosen(self, runs: Sequence[AlignedRun], layout: PartLayout) -> list[PlaceChoice]:
        """Each part where it leaves the least unexplained."""
        parts = layout.parts(self._rate, len(self._beside))
        rivals = [self._rivals(part, runs) for part in parts]
        gain = common_gain(rivals)
        kept = [likeliest(part, gain) for part in rivals]
        return choose(self._beside, parts, kept, common=gain is not None)

    def _rivals(self, part: SkimPart, runs: Sequence[AlignedRun]) -> list[RivalFit]:
        """Places of a part: the one that is known, and all that are alike."""
        middle = part.middle
        near = min(runs, key=lambda run: max(run.first - middle, middle - run.last, 0))
        offsets = rivals_of(self._ways, self._inside(part))
        rows = [near, *(self._run(one, near.first, near.last) for one in offsets)]
        return [laid(self._beside, row, middle) for row in rows]

    def _inside(self, part: SkimPart) -> NDArray[np.bool_]:
        """Probes that hear a part alone, or nearly."""
        first, last = part.first + part.rise // 2, part.last - part.fall // 2
        half = self._rate * COMPARED_SECONDS / 2
        inside = (self._middles >= first + half) & (self._middles <= last - half)
        near = np.abs(self._middles - (first + last) / 2)
        return inside if inside.any() else near <= near.min(initial=np.inf)

    def _pick(self, part: SkimPart, run: AlignedRun, left: float) -> Pick:
        why = {CONFIDENCE_REASON: round(max(0.0, 1 - left) ** 0.5, 3)}
        seconds, start = (part.last - part.first) / self._rate, begin(part, run) / self._rate
        return Pick(max(0.0, round(start, 6)), round(seconds, 6), run.turned, why)

    def _holes(self, parts: Sequence[SkimPart], found: Sequence[SkimPart]) -> list[tuple[int, int]]:
        """Where nothing was found: parts that are not there, and longer times between others."""
        edges = [0, *(x for part in found for x in (part.first, part.last)), len(self._beside)]
        between = zip(edges[::2], edges[1::2], strict=True)
        holes = [one for one in between if one[1] - one[0] > MIN_HOLE_SECONDS * self._rate]
        lost = [(part.first, part.last) for part in parts if part not in found]
        return holes + [one for one in lost if not any(_within(one, hole) for hole in holes)]

    def _odd(
        self, found: Sequence[tuple[SkimPart, PlaceChoice]], holes: Sequence[tuple[int, int]]
    ) -> Iterator[str]:
        """Where the recording sounds different: clearly, or in parts more than in others."""
        rest = remains(self._beside, [part for part, _ in found], [one.run for _, one in found])
        spans = [one for one in other_sound(self._beside, rest) if not _within(one, *holes)]
        usual = float(np.median([one.noise for _, one in found]))
        limit = OTHER_SOUND_RATIO * (MAX_ROUNDING_POWER if usual <= MAX_ROUNDING_POWER else usual)
        parts = [
            (part.first, part.last)
            for part, one in found
            if one.noise > limit
            and one.left
            > (MIN_OTHER_SHARE_LOSSLESS if usual <= MAX_ROUNDING_POWER else MIN_OTHER_SHARE)
        ]
        for span in sorted(
            spans + [one for one in parts if not any(_within(s, one) for s in spans)]
        ):
            yield f"{self._from(*span)}, the recording sounds different where it was found"

    def _doubts(self, parts: Sequence[SkimPart], whole: int) -> str:
        places = ", ".join(f"{(self._ahead + part.first) / self._rate:.0f}" for part in parts)
        heard = "sounds" if len(parts) == 1 else "sound"
        comes = "it" if len(parts) == 1 else "they"
        return (
            f"{len(parts)} of its {whole} parts (from {places} s on) {heard} the same at other"
            f" times of the recording; {comes} may come from there"
        )

    def _from(self, first: int, last: int) -> str:
        first, last = self._ahead + first, self._ahead + last
        return f"from {first / self._rate:.0f} to {last / self._rate:.0f} s of it"


def _within(one: tuple[int, int], *others: tuple[int, int]) -> bool:
    """Whether more than half of a span lies in one of others."""
    shared = [min(one[1], other[1]) - max(one[0], other[0]) for other in others]
    return max(shared, default=0) > (one[1] - one[0]) / 2


# --- Sections between silences -------------------------------------------------------------------


SILENCE_AMPLITUDE = 1e-5  # of full scale: what 16 bits hold is nothing or more
MIN_SILENCE_SECONDS = 0.1  # seconds of silence between sections
MIN_SECTION_SECONDS = 2.1  # seconds of sound that can be looked for
# by how much encoding spreads sound, and how loud at most
CODEC_SPREAD_SECONDS, MAX_SPREAD_LEVEL = 0.06, 0.1
NOTHING_FOUND_NOTE = "nothing of it is in the recording"
MAX_PICK_BREAK_SECONDS = 0.002  # seconds between parts of one pick


def sections_of(sound: Floats, rate: int) -> list[tuple[int, int]]:
    """From where to where there is sound, with silences between; none is too short to be found."""
    heard = np.flatnonzero(np.abs(sound) > SILENCE_AMPLITUDE)
    if not len(heard):
        return []
    breaks = np.flatnonzero(np.diff(heard) > MIN_SILENCE_SECONDS * rate)
    firsts = heard[np.concatenate([[0], breaks + 1])].tolist()
    lasts = (heard[np.concatenate([breaks, [len(heard) - 1]])] + 1).tolist()
    firsts[0] = 0 if firsts[0] <= MIN_SILENCE_SECONDS * rate else firsts[0]
    lasts[-1] = len(sound) if len(sound) - lasts[-1] <= MIN_SILENCE_SECONDS * rate else lasts[-1]
    found: list[tuple[int, int]] = []
    for first, last in zip(firsts, lasts, strict=True):
        if found and min(last - first, found[-1][1] - found[-1][0]) < MIN_SECTION_SECONDS * rate:
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    return [_without_spread(sound, *one, rate) for one in found]


def _without_spread(sound: Floats, first: int, last: int, rate: int) -> tuple[int, int]:
    """A section without what encoding spread into the silence beside it."""
    before = _faint(sound[first:last], rate) if first else 0
    behind = _faint(sound[first:last][::-1], rate) if last < len(sound) else 0
    return first + before, last - behind


def _faint(sound: Floats, rate: int) -> int:
    """Samples before a sound that only encoding made: they are far softer."""
    ahead = np.abs(sound[: round(CODEC_SPREAD_SECONDS * rate)])
    usual = float(np.sqrt(np.mean(np.square(sound[: rate // 2]))))
    loud = np.flatnonzero(ahead > MAX_SPREAD_LEVEL * usual)
    return int(loud[0]) if len(loud) else 0


def together(
    found: Sequence[LocatedSkim], sections: Sequence[tuple[int, int]], rate: int
) -> LocatedSkim:
    """Sections as one skim; a pick that goes on behind a silence of the recording is one pick."""
    picks: list[Pick] = []
    doubted: list[int] = []
    end = 0.0
    for one, (first, last) in zip(found, sections, strict=True):
        own = list(one.skim.picks)
        if picks and own and _goes_on(picks[-1], own[0], first / rate - end):
            begun = picks.pop()
            seconds = own[0].start + own[0].seconds - begun.start
            own[0] = Pick(begun.start, round(seconds, 6), why=begun.why)
        doubted += [number + len(picks) for number in one.doubted]
        picks += own
        end = last / rate
    if not picks:
        return LocatedSkim(Skim(()), (NOTHING_FOUND_NOTE,))
    overlap = found[0].skim.overlap if len(found) == 1 else 0.0
    notes = tuple(note for one in found for note in one.notes)
    return LocatedSkim(Skim(tuple(picks), overlap), notes, tuple(dict.fromkeys(doubted)))


def _goes_on(pick: Pick, following: Pick, silence: float) -> bool:
    """Whether a pick is followed by what was recorded a silence later."""
    away = following.start - pick.start - pick.seconds - silence
    return not pick.turned and not following.turned and abs(away) <= MAX_PICK_BREAK_SECONDS


# --- Search in the recording ---------------------------------------------------------------------
# Seconds of the skims are first looked for everywhere in the recording, at a low rate; all skims of
# a recording in one pass over it. What runs along with it is then laid over its samples, exactly;
# and where two parts meet, the fade between them tells when each begins and ends. Neither levels
# nor lossy encoding matter much.


SoundSamples = NDArray[Any]
PROBE_SECONDS = 2.0
MAX_LOST_SHARE = 0.05  # of a skim that is not found before it is looked for backwards
READ_PIECE_SECONDS = 120.0  # seconds that are read at once


@dataclass(frozen=True)
class RecordingSound:
    """What is asked of a recording.

    ``pieces`` gives all of its samples, one channel, each piece with its place, and ``cut`` so many
    seconds from a time on.
    """

    pieces: Callable[[], Iterable[tuple[int, Floats]]]
    cut: SoundCutter


def find_picks(
    samples: SoundSamples, rate: int, recording: Recording, *, source: RecordingSound | None = None
) -> Skim:
    """The picks of a skim that is given as sound; each has its ``confidence``, up to 1, as reason.

    Parts that are not in the recording are left out: ``match`` says which they are.
    """
    return match(samples, rate, recording, source=source).skim


def match(
    samples: SoundSamples, rate: int, recording: Recording, *, source: RecordingSound | None = None
) -> LocatedSkim:
    """The same, with what was not found in words."""
    sound = one_channel(samples, rate, recording)
    [found] = match_all([sound], recording, source=source)
    return found


def one_channel(samples: SoundSamples, rate: int, recording: Recording) -> Floats:
    """Sound of a skim as it is laid beside a recording: one channel, at its rate."""
    one = samples if samples.ndim == 1 else samples.mean(axis=1)
    return np.asarray(resampled(np.asarray(one, np.float32), rate, recording.rate))


def match_all(
    sounds: Sequence[Floats], recording: Recording, *, source: RecordingSound | None = None
) -> list[LocatedSkim]:
    """Many skims of a recording, which is read once for all of them, and of each one channel."""
    search = _Search(recording, source or source_of(recording))
    sections = [sections_of(sound, recording.rate) for sound in sounds]
    pieces = [
        (sound[first:last], first)
        for sound, own in zip(sounds, sections, strict=True)
        for first, last in own
    ]
    known = search.known([sound for sound, _ in pieces])
    found = iter(
        [search.matched(*one, ahead) for one, (_, ahead) in zip(known, pieces, strict=True)]
    )
    return [together([next(found) for _ in own], own, recording.rate) for own in sections]


def source_of(recording: Recording) -> RecordingSound:
    """A recording as it is read from its files."""

    def pieces() -> Iterable[tuple[int, Floats]]:
        for one in recording.stretches:
            chunks = read_blocks(
                Path(one.path), at=one.at, seconds=one.seconds, size=READ_PIECE_SECONDS
            )
            for chunk in chunks:
                start = one.start + chunk.position - one.at
                yield round(start * recording.rate), chunk.samples

    def cut(start: float, seconds: float) -> SoundSamples:
        return np.asarray(cut_out(recording, start, seconds).mean(axis=1))

    return RecordingSound(pieces, cut)


class _Again(NamedTuple):
    """Places of a sound with the recording's colour, of the sound turned, and of it inverted."""

    filtered: ProbePlaces
    turned: ProbePlaces
    inverted: ProbePlaces


class _Search:
    """Skims are looked for in one recording."""

    def __init__(self, recording: Recording, source: RecordingSound) -> None:
        self._recording, self._source = recording, source
        self._factor = factor_of(recording.rate)
        self._length = round(PROBE_SECONDS * recording.rate / self._factor)
        self._every = self._length // 2

    def known(self, sounds: Sequence[Floats]) -> list[tuple[Floats, OffsetScores]]:
        """Every sound with its offsets.

        Where something is not found, a sound may have been filtered, turned or inverted: it is
        looked for again in all these ways, and comes back with the sign that it has.
        """
        counts = [self._count(sound) for sound in sounds]
        forwards = self._places(sounds)
        found = [
            (sound, ways_of([one], None, count))
            for sound, one, count in zip(sounds, forwards, counts, strict=True)
        ]
        lost = [
            number for number, (_, ways) in enumerate(found) if _share_lost(ways) > MAX_LOST_SHARE
        ]
        for number, more in zip(lost, self._again([sounds[one] for one in lost]), strict=True):
            flipped = more.turned._replace(probes=counts[number] - 1 - more.turned.probes)
            ways = ways_of([forwards[number], more.filtered], flipped, counts[number])
            inverted = ways_of([more.inverted], None, counts[number])
            if _share_lost(inverted) < _share_lost(ways):
                found[number] = -sounds[number], inverted
            else:
                found[number] = sounds[number], ways
        return found

    def _again(self, sounds: Sequence[Floats]) -> list[_Again]:
        """Places of sounds whatever was done to them."""
        if not sounds:
            return []
        every = [*sounds, *(one[::-1] for one in sounds), *(-one for one in sounds)]
        found, count = self._places(every, own_colour=True), len(sounds)
        return [_Again(*found[number::count]) for number in range(count)]

    def matched(self, sound: Floats, ways: OffsetScores, ahead: int) -> LocatedSkim:
        """The picks of a sound whose offsets are known, and before which some is in the skim."""
        firsts = self._every * np.arange(len(ways.scores))
        middles = self._factor * (firsts + (self._length + FILTER_SPAN_SAMPLES) // 2)
        beside = SkimOverRecording(sound, self._recording, self._source.cut)
        return SkimLocator(beside, ways, middles.tolist(), self._factor, ahead).matched()

    def _count(self, sound: Floats) -> int:
        """How many probes a skim has."""
        low = len(sound) // self._factor - FILTER_SPAN_SAMPLES + 1
        return max(0, (low - self._length) // self._every + 1)

    def _places(self, sounds: Sequence[Floats], *, own_colour: bool = False) -> list[ProbePlaces]:
        """Places of the probes of each sound, by their numbers in it."""
        low = [thinned(sound, self._factor) for sound in sounds]
        probes = [probes_of(one, self._length, self._every) for one in low]
        if not any(len(one.rows) for one in probes):
            pieces: Iterable[LowRateSound] = ()
        else:
            pieces = thinned_pieces(self._source.pieces(), self._factor)
        found = places(probes, pieces, self._factor, own_colour=own_colour)
        return [
            one._replace(probes=own.firsts[one.probes] // self._every)
            for one, own in zip(found, probes, strict=True)
        ]


def _share_lost(ways: OffsetScores) -> float:
    found = sum(last - first + 1 for _, first, last in way_through(ways))
    return 1 - found / max(1, len(ways.scores))
