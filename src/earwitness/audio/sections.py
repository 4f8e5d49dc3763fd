"""Sound between silences: a skim may have its parts apart, and silence before and behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.audio.along import Matched
from earwitness.audio.thinning import Floats
from earwitness.data import Pick, Skim

ZERO = 1e-5  # of full scale: what 16 bits hold is nothing or more
APART = 0.1  # seconds of silence between sections
SHORTEST = 2.1  # seconds of sound that can be looked for
SPREAD, SOFT = 0.06, 0.1  # seconds by which encoding spreads sound, and how loud at most
NOTHING = "nothing of it is in the recording"
CLOSE = 0.002  # seconds between parts of one pick


def sections_of(sound: Floats, rate: int) -> list[tuple[int, int]]:
    """From where to where there is sound, with silences between; none is too short to be found."""
    heard = np.flatnonzero(np.abs(sound) > ZERO)
    if not len(heard):
        return []
    breaks = np.flatnonzero(np.diff(heard) > APART * rate)
    firsts = heard[np.concatenate([[0], breaks + 1])].tolist()
    lasts = (heard[np.concatenate([breaks, [len(heard) - 1]])] + 1).tolist()
    firsts[0] = 0 if firsts[0] <= APART * rate else firsts[0]
    lasts[-1] = len(sound) if len(sound) - lasts[-1] <= APART * rate else lasts[-1]
    found: list[tuple[int, int]] = []
    for first, last in zip(firsts, lasts, strict=True):
        if found and min(last - first, found[-1][1] - found[-1][0]) < SHORTEST * rate:
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
    ahead = np.abs(sound[: round(SPREAD * rate)])
    usual = float(np.sqrt(np.mean(np.square(sound[: rate // 2]))))
    loud = np.flatnonzero(ahead > SOFT * usual)
    return int(loud[0]) if len(loud) else 0


def together(found: Sequence[Matched], sections: Sequence[tuple[int, int]], rate: int) -> Matched:
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
        return Matched(Skim(()), (NOTHING,))
    overlap = found[0].skim.overlap if len(found) == 1 else 0.0
    notes = tuple(note for one in found for note in one.notes)
    return Matched(Skim(tuple(picks), overlap), notes, tuple(dict.fromkeys(doubted)))


def _goes_on(pick: Pick, following: Pick, silence: float) -> bool:
    """Whether a pick is followed by what was recorded a silence later."""
    away = following.start - pick.start - pick.seconds - silence
    return not pick.turned and not following.turned and abs(away) <= CLOSE
