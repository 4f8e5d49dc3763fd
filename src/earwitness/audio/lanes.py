"""Rows of MP3 frames, found quickly: many parts of a file are walked through at the same time.

Where a frame ends only its header tells, so a file is walked through from frame to frame. A lane
begins where some frames follow each other, which is hardly ever chance. All lanes go on side by
side, each up to the begin of the next. A walk from the front then takes whole lanes at a time where
it meets their begins, and single frames where it does not; so a begin that was chance does no harm.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SURE = 4  # frames in a row that are no chance
LANE = 1 << 16  # bytes
Bytes = bytes | bytearray | mmap.mmap
Ints = NDArray[np.int64]


class Kind(NamedTuple):
    """What all frames of a file share: the second byte, samples, rate, channels, and sizes."""

    second: int
    samples: int
    rate: int
    channels: int
    sizes: tuple[int, ...]  # of a frame, by its third byte; 0 where that cannot be


def starts_in(piece: bytearray, kind: Kind) -> tuple[list[int], int]:
    """Where frames begin, one behind the other from the front on, and where the next would."""
    lanes = _lanes(piece, kind)
    starts: list[int] = []
    at, last = 0, len(piece) - 4
    while at <= last:
        if (lane := lanes.get(at)) is not None:
            starts += lane.tolist()
            at = starts[-1]
        elif not follows(piece, at, kind, 1):
            break
        else:
            starts.append(at)
        at += kind.sizes[piece[at + 2]]
    return starts, at


def _lanes(piece: bytearray, kind: Kind) -> dict[int, Ints]:
    """Frames of lanes by where these begin; none of a lane is left out, but for the last bytes."""
    found = dict.fromkeys(begins(piece, range(0, len(piece), LANE), kind))
    first = np.array(list(found), np.int64)
    ends = np.append(first[1:], len(piece) - 3)
    data, sizes = np.frombuffer(piece, np.uint8), np.array(kind.sizes, np.int64)
    at, going = first.copy(), np.flatnonzero(first < ends)
    owners, places = [going[:0]], [first[:0]]
    while len(going):
        here = at[going]
        steps = sizes[data[here + 2]]
        good = (data[here] == 0xFF) & (data[here + 1] == kind.second) & (steps > 0)
        going, here = going[good], here[good]
        owners.append(going)
        places.append(here)
        at[going] = here + steps[good]
        going = going[at[going] < ends[going]]
    owner, place = np.concatenate(owners), np.concatenate(places)
    ordered = place[np.argsort(owner, kind="stable")]
    cuts = np.cumsum(np.bincount(owner, minlength=len(first)))[:-1]
    return {int(one[0]): one for one in np.split(ordered, cuts) if len(one)}


def begins(data: Bytes, places: Iterable[int], kind: Kind) -> Iterator[int]:
    """The next begin of frames from each place on, if there is one."""
    sync = bytes((0xFF, kind.second))
    for place in places:
        at = data.find(sync, place)
        while at >= 0 and not follows(data, at, kind, SURE):
            at = data.find(sync, at + 1)
        if at >= 0:
            yield at


def follows(data: Bytes, place: int, kind: Kind, count: int) -> bool:
    """Whether so many frames stand in a row there, or as many as the end leaves."""
    for number in range(count):
        if place + 4 > len(data):
            return number > 1
        if data[place] != 0xFF or data[place + 1] != kind.second:
            return False
        if not (size := kind.sizes[data[place + 2]]):
            return False
        place += size
    return True
