"""How unusual the classes of a block are in its day.

What sounds all day is nearly covered by any skim, so coverage of plain classes hardly tells skims
apart. Here a class counts by how far it is above its mean in the day, in spreads, to the third
power: a block that has much of what is rare elsewhere counts for much.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from earwitness.stats.skims.day import Day

FLOOR = 0.03  # added to the spread of a class, so that one that is hardly there counts for little
POWER = 3


def salient(day: Day) -> Day:
    """The same day with classes by how unusual they are."""
    if not len(day):
        return day
    middle = day.classes.mean(axis=0, dtype=np.float64).astype(np.float32)
    spread = day.classes.std(axis=0, dtype=np.float64).astype(np.float32)
    above = day.classes - middle
    above /= spread + np.float32(FLOOR)
    np.maximum(above, 0, out=above)
    return replace(day, classes=np.asarray(above**POWER, np.float32))
