"""Parts of a recording that fulfil the rule of clips, and the best choice without overlap."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from typing import Annotated, NamedTuple

from earwitness.errors import UsageError

# --- Rule of clips -------------------------------------------------------------------------------
# Speech is a union of intervals. A clip contains whole intervals only, with at least ``silence``
# before the first and after the last one. It is as short as the rule allows; time that a short one
# needs in addition is divided between both ends, as far as the pauses there are long enough.


ROUNDING_SECONDS = 1e-6  # differences that are rounding errors
Span = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class ClipRule:
    """Rule that clips fulfil; all in seconds.

    Parameters
    ----------
    seconds
        Shortest and longest duration of a clip, in seconds.
    min_speech
        Least duration of speech in a clip, in seconds. By default three quarters of the
        shortest duration.
    silence
        Time without speech at both ends of a clip, in seconds.
    gap
        Least time between two clips of a recording, in seconds.
    """

    seconds: Annotated[Sequence[float], "MIN,MAX"] = (4.0, 5.0)
    min_speech: float | None = None
    silence: float = 0.25
    gap: float = 0.0

    def __post_init__(self) -> None:
        if len(self.seconds) != 2:
            raise UsageError("seconds must be the shortest and the longest duration, such as 4,5")
        shortest, longest = self.seconds
        if not 0 < shortest <= longest < inf:
            message = f"a clip cannot last {shortest:g} to {longest:g} s"
            raise UsageError(f"{message} — set seconds to two numbers such as 4,5")
        for name in ("min_speech", "silence", "gap"):
            if not 0 <= (value := getattr(self, name) or 0) < inf:
                raise UsageError(f"{name} must be 0 s or more, got {value:g}")
        if self.speech_seconds + 2 * self.silence > longest + ROUNDING_SECONDS:
            message = (
                f"{self.speech_seconds:g} s of speech and twice {self.silence:g} s without speech "
                f"do not fit into {longest:g} s"
            )
            raise UsageError(f"{message} — increase seconds")

    @property
    def speech_seconds(self) -> float:
        """Least duration of speech in a clip."""
        return 0.75 * self.seconds[0] if self.min_speech is None else self.min_speech


class ClipCandidate(NamedTuple):
    """A part of a recording that fulfils the rule, and its seconds of speech."""

    start: float
    end: float
    speech: float


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the union of intervals as intervals that do not touch, in order.

    >>> merge_spans([(3, 4), (1, 2), (2, 2.5)])
    [(1, 2.5), (3, 4)]
    """
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + ROUNDING_SECONDS:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def widen_spans(spans: Sequence[Span], guard: float, seconds: float) -> list[Span]:
    """Return the union of intervals that are extended by ``guard`` on both sides.

    >>> widen_spans([(1, 2), (2.1, 3)], 0.1, 3)
    [(0.9, 3)]
    """
    return merge_spans((max(start - guard, 0), min(end + guard, seconds)) for start, end in spans)


def sum_speech(spans: Sequence[Span], parts: Sequence[Span]) -> list[float]:
    """Return the seconds of intervals in each part; each interval is inside one part.

    >>> sum_speech([(1, 2), (2.5, 3), (6, 7)], [(0.5, 3.5), (5.5, 7.5)])
    [1.5, 1]
    """
    ends = [end for _, end in spans]
    places = [bisect_right(ends, end) for _, end in parts]
    return [
        sum(end - start for start, end in spans[first:last])
        for first, last in zip([0, *places], places, strict=False)
    ]


class TimeIndex:
    """Intervals in the order of their starts, for those in a part of the time."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]
        self._latest = list(accumulate(self._ends, max))

    def find(self, start: float, end: float) -> list[int]:
        """Return the indices of the intervals that overlap with a part."""
        first, last = bisect_right(self._latest, start), bisect_left(self._starts, end)
        return [index for index in range(first, last) if self._ends[index] > start]


def find_candidates(
    spans: Sequence[Span],
    seconds: float,
    rule: ClipRule,
    speech: Sequence[float] | None = None,
) -> list[ClipCandidate]:
    """Return all parts of a recording that fulfil the rule; they may overlap.

    Parameters
    ----------
    spans
        Start and end of speech, in order and without overlap; see ``merge_spans``.
    seconds
        Duration of the recording.
    rule
        Rule of clips.
    speech
        Seconds of speech in each span; by default, its duration.

    Examples
    --------
    >>> find_candidates([(1, 2), (2.5, 4.75)], 10, ClipRule())
    [ClipCandidate(start=0.75, end=5.0, speech=3.25)]
    """
    edges = [0.0, *(time for span in spans for time in span), seconds]
    pauses = [edges[place + 1] - edges[place] for place in range(0, len(edges), 2)]
    amounts = [end - start for start, end in spans] if speech is None else speech
    candidates = []
    for first, (start, _) in enumerate(spans):
        spoken = 0.0
        for last in range(first, len(spans)):
            core = spans[last][1] - start
            if core + 2 * rule.silence > rule.seconds[1] + ROUNDING_SECONDS:
                break
            spoken += amounts[last]
            before, after = pauses[first], pauses[last + 1]
            extra = max(rule.seconds[0] - core, 2 * rule.silence)
            if (
                spoken >= rule.speech_seconds - ROUNDING_SECONDS
                and min(before, after) >= rule.silence - ROUNDING_SECONDS
                and before + after >= extra - ROUNDING_SECONDS
            ):
                lead = min(max(extra / 2, extra - after), before)
                begin = start - lead
                candidates.append(ClipCandidate(begin, begin + core + extra, spoken))
    return candidates


def choose_candidates(candidates: Sequence[ClipCandidate], gap: float = 0.0) -> list[ClipCandidate]:
    """Return as many candidates as possible without overlap; of those, with the most speech.

    Two chosen candidates are at least ``gap`` seconds apart. This is weighted interval scheduling:
    candidates are ordered by their ends, and the best choice among the first ones is extended.

    Examples
    --------
    >>> found = [ClipCandidate(0, 4, 3), ClipCandidate(3, 8, 4), ClipCandidate(8, 12, 3)]
    >>> [one.start for one in choose_candidates(found)]
    [3, 8]
    """
    ordered = sorted(candidates, key=lambda one: (one.end, one.start))
    ends = [candidate.end for candidate in ordered]
    best: list[tuple[int, float]] = [(0, 0.0)]  # clips and speech of the first n candidates
    before = list[int]()
    for place, candidate in enumerate(ordered):
        before.append(bisect_right(ends, candidate.start - gap + ROUNDING_SECONDS, 0, place))
        count, speech = best[before[-1]]
        best.append(max(best[-1], (count + 1, round(speech + candidate.speech, 9))))
    chosen, place = list[ClipCandidate](), len(ordered)
    while place:
        if best[place] != best[place - 1]:
            chosen.append(ordered[place - 1])
            place = before[place - 1]
        else:
            place -= 1
    return chosen[::-1]


def spread_choice(count: int, wanted: int | None) -> list[int]:
    """Return indices of at most ``wanted`` of ``count`` clips, spread evenly.

    >>> spread_choice(9, 3), spread_choice(2, 3)
    ([1, 4, 7], [0, 1])
    """
    if wanted is None or wanted >= count:
        return list(range(count))
    return [int((place + 0.5) * count / wanted) for place in range(wanted)]
