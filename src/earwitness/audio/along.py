"""Parts of a skim along their recording: when each begins and ends, and where it comes from.

A part that was found at a low rate is moved to where its samples are the same, and fades tell when
parts begin and end. Then each is held against its rivals. What was not found, or could come from
elsewhere just as well, is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.beside import Beside, Samples
from earwitness.audio.chain import ROUNDED, Choice, choose
from earwitness.audio.layout import FARTHEST, Fades, Layout
from earwitness.audio.remains import other_sound, remains
from earwitness.audio.rivals import Laid, Part, common_gain, laid, likeliest, rivals_of
from earwitness.audio.runs import Run, Ways, way_through
from earwitness.audio.seams import explained
from earwitness.audio.settling import begin, settled
from earwitness.data import Pick, Skim

HEARD = 2.0  # seconds of a part in which it is held against its neighbours
PLAIN = 0.9  # likeness of samples that needs no search for a better place
SURE = 0.2  # likeness of samples from which on a part is known
FOUND = 0.25  # of a part's power that its place must explain
SAME = 0.002  # seconds
ENOUGH = 0.9  # of a part's likeness that its neighbours must reach to replace it
STEADY = 0.1  # seconds in which gains hardly change
HOLE = 2.5  # seconds of a skim that are told if nothing is known of them
ODD = 20.0  # times what others leave, or rounding: what is told as another sound
AUDIBLE, INAUDIBLE = 1e-2, 1e-5  # share that it has at least, and beside rounding alone
CLEARLY = 0.9  # of what is left with parts of one length, for others to be believed
CONFIDENCE = "confidence"


@dataclass(frozen=True, slots=True)
class Matched:
    """A skim as it was found, what is to be told, and which picks may come from elsewhere."""

    skim: Skim
    notes: tuple[str, ...] = ()
    doubted: tuple[int, ...] = ()


class Along:
    """Finds the parts of one skim, from the places of its probes."""

    def __init__(
        self, beside: Beside, ways: Ways, middles: Sequence[int], factor: int, ahead: int
    ) -> None:
        self._beside, self._ways, self._factor = beside, ways, factor
        self._ahead = ahead  # samples of the skim that are before this sound of it
        self._middles, self._rate = np.array(middles, np.int64), beside.rate
        self._fades = Fades(beside)

    def matched(self) -> Matched:
        """Picks, and what is to be told."""
        runs = [run for one in way_through(self._ways) if (run := self._exact(*one)) is not None]
        runs = self._joined(runs)
        if not runs:
            return Matched(Skim(()), (f"{self._from(0, len(self._beside))}, nothing was found",))
        layout, choices = self._best(runs)
        return self._told(layout, choices)

    def _best(self, runs: Sequence[Run]) -> tuple[Layout, list[Choice]]:
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
        kept = next(n for n, one in enumerate(left) if one <= min(left) / CLEARLY)
        return tried[kept]

    def _rest(self, layout: Layout, choices: Sequence[Choice]) -> Samples:
        """What is left of the skim."""
        parts = layout.parts(self._rate, len(self._beside))
        return remains(self._beside, parts, [one.run for one in choices])

    def _told(self, layout: Layout, choices: Sequence[Choice]) -> Matched:
        parts = layout.parts(self._rate, len(self._beside))
        found = [
            (part, one) for part, one in zip(parts, choices, strict=True) if 1 - one.left >= FOUND
        ]
        if not found:
            return Matched(Skim(()), (f"{self._from(0, len(self._beside))}, nothing was found",))
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
        return Matched(Skim(picks, layout.overlap), tuple(notes), doubted)

    def _run(self, offset: int, first: int, last: int) -> Run:
        """An offset at a low rate as a part from one middle of a probe to another."""
        one = self._ways.offsets[offset]
        place = round(one.place * self._factor) + (len(self._beside) - 1 if one.turned else 0)
        return Run(place, one.turned, first, last, 0.0)

    def _exact(self, offset: int, first: int, last: int) -> Run | None:
        """A part where its samples are: the first rival that is the same, or the best of all."""
        inside = np.zeros(len(self._middles), np.bool_)
        inside[first : last + 1] = True
        best: Run | None = None
        for rival in [offset, *rivals_of(self._ways, inside)]:
            run = self._run(rival, int(self._middles[first]), int(self._middles[last]))
            run = laid(self._beside, run, run.middle).run
            if best is None or run.score > best.score:
                best = run
            if run.score >= PLAIN:
                break
        return best if best is not None and best.score >= SURE else None

    def _joined(self, runs: Sequence[Run]) -> list[Run]:
        """Those that lie along the same samples are one part: fades go to and fro between two."""
        groups: list[list[Run]] = []
        for run in sorted(runs, key=lambda one: one.first - one.last):
            own = next((one for one in groups if self._same(one[0], run)), None)
            groups.append([run]) if own is None else own.append(run)
        return sorted((group[0] for group in groups), key=lambda one: one.middle)

    def _same(self, one: Run, other: Run) -> bool:
        apart = max(one.first, other.first) - min(one.last, other.last)
        near = abs(one.offset - other.offset) < SAME * self._rate
        return one.turned == other.turned and near and apart < FARTHEST * self._rate

    def _own(self, runs: Sequence[Run]) -> list[Run]:
        """Without parts that neighbours explain: one call of a bird is like another."""
        kept = list(runs)
        for run in sorted(runs, key=lambda one: one.last - one.first):
            place = kept.index(run)
            beside = kept[max(0, place - 1) : place] + kept[place + 1 : place + 2]
            if self._explained(run, beside) >= ENOUGH * run.score:
                kept.remove(run)
        return kept

    def _explained(self, run: Run, beside: Sequence[Run]) -> float:
        """How alike a part is to the sum of what its neighbours lie along at its place."""
        half = round(min(HEARD, (run.last - run.first) / self._rate + HEARD / 2) / 2 * self._rate)
        first, last = max(0, run.middle - half), min(len(self._beside), run.middle + half)
        own = np.diff(self._beside.skim(first, last))
        there = [np.diff(self._beside.along(other, first, last)) for other in beside]
        return explained(own, there, round(STEADY * self._rate))

    def _chosen(self, runs: Sequence[Run], layout: Layout) -> list[Choice]:
        """Each part where it leaves the least unexplained."""
        parts = layout.parts(self._rate, len(self._beside))
        rivals = [self._rivals(part, runs) for part in parts]
        gain = common_gain(rivals)
        kept = [likeliest(part, gain) for part in rivals]
        return choose(self._beside, parts, kept, common=gain is not None)

    def _rivals(self, part: Part, runs: Sequence[Run]) -> list[Laid]:
        """Places of a part: the one that is known, and all that are alike."""
        middle = part.middle
        near = min(runs, key=lambda run: max(run.first - middle, middle - run.last, 0))
        offsets = rivals_of(self._ways, self._inside(part))
        rows = [near, *(self._run(one, near.first, near.last) for one in offsets)]
        return [laid(self._beside, row, middle) for row in rows]

    def _inside(self, part: Part) -> NDArray[np.bool_]:
        """Probes that hear a part alone, or nearly."""
        first, last = part.first + part.rise // 2, part.last - part.fall // 2
        half = self._rate * HEARD / 2
        inside = (self._middles >= first + half) & (self._middles <= last - half)
        near = np.abs(self._middles - (first + last) / 2)
        return inside if inside.any() else near <= near.min(initial=np.inf)

    def _pick(self, part: Part, run: Run, left: float) -> Pick:
        why = {CONFIDENCE: round(max(0.0, 1 - left) ** 0.5, 3)}
        seconds, start = (part.last - part.first) / self._rate, begin(part, run) / self._rate
        return Pick(max(0.0, round(start, 6)), round(seconds, 6), run.turned, why)

    def _holes(self, parts: Sequence[Part], found: Sequence[Part]) -> list[tuple[int, int]]:
        """Where nothing was found: parts that are not there, and longer times between others."""
        edges = [0, *(x for part in found for x in (part.first, part.last)), len(self._beside)]
        between = zip(edges[::2], edges[1::2], strict=True)
        holes = [one for one in between if one[1] - one[0] > HOLE * self._rate]
        lost = [(part.first, part.last) for part in parts if part not in found]
        return holes + [one for one in lost if not any(_within(one, hole) for hole in holes)]

    def _odd(
        self, found: Sequence[tuple[Part, Choice]], holes: Sequence[tuple[int, int]]
    ) -> Iterator[str]:
        """Where the recording sounds different: clearly, or in parts more than in others."""
        rest = remains(self._beside, [part for part, _ in found], [one.run for _, one in found])
        spans = [one for one in other_sound(self._beside, rest) if not _within(one, *holes)]
        usual = float(np.median([one.noise for _, one in found]))
        limit = ODD * (ROUNDED if usual <= ROUNDED else usual)
        parts = [
            (part.first, part.last)
            for part, one in found
            if one.noise > limit and one.left > (INAUDIBLE if usual <= ROUNDED else AUDIBLE)
        ]
        for span in sorted(
            spans + [one for one in parts if not any(_within(s, one) for s in spans)]
        ):
            yield f"{self._from(*span)}, the recording sounds different where it was found"

    def _doubts(self, parts: Sequence[Part], whole: int) -> str:
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
