"""Archives of our method, kept: they do not depend on z, so that another z costs little.

An archive is kept under the numbers that it was made of, whatever they came from.
"""

from __future__ import annotations

import hashlib

import msgspec
import numpy as np

from earwitness import __version__
from earwitness.models.cached import Cache, digest_of, open_sealed, write_sealed
from earwitness.stats.skims.day import Day
from earwitness.summarizers.skims.archive import archive_of
from earwitness.summarizers.skims.hull import Archive
from earwitness.summarizers.skims.plan import Plan

VERSION = 1  # of the way from numbers to an archive: a new one, and all are made anew


def kept_archive(day: Day, plan: Plan, cache: Cache) -> Archive:
    """The archive of a day: that which is kept, or a new one."""
    place = cache.folder / "archives" / f"{_key(day, plan)}.sealed"
    kept = open_sealed(place)
    if kept is not None:
        return msgspec.convert(kept.facts, Archive)
    made = archive_of(day, plan)
    write_sealed(place, msgspec.to_builtins(made))
    return made


def _key(day: Day, plan: Plan) -> str:
    numbers = hashlib.sha256()
    for array in (day.starts, day.vectors, day.classes, day.allowed):
        numbers.update(f"{array.dtype.str}{array.shape}".encode())
        numbers.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    made = [VERSION, __version__, numbers.hexdigest(), day.seconds, day.length, plan]
    return digest_of(msgspec.json.encode(made).decode())
