"""How skims were made, by what their lines say: the method, and z from TC (0) to SD (1)."""

from __future__ import annotations

import re
from math import nan
from typing import Any

from earwitness.data import Dial
from earwitness.formats.check import is_name
from earwitness.formats.parsed import given
from earwitness.formats.skims.layouts import Output

Z_PART = re.compile(r"(?:^|[-_ ])z[-_= ]?\d*\.?\d+(?=$|[-_ ])", re.I)
NAMELESS = "z"  # a method of which nothing but z is named


def dial_of(record: Output) -> Dial | None:
    """The method that ``meta`` names, else the system without its z; nothing where no z is told."""
    meta = given(record.meta)
    if meta.get("z") is None:
        return None
    named = meta.get("method")
    method = str(named) if is_name(named) else without_z(str(record.system))
    return Dial(method, _z(meta["z"]))


def without_z(system: str) -> str:
    """What is left of a system's name.

    >>> without_z("pareto-z0.5"), without_z("ours_z=1_long"), without_z("jazz"), without_z("z0")
    ('pareto', 'ours_long', 'jazz', 'z')
    """
    return Z_PART.sub("", system, count=1).strip("-_ ") or NAMELESS


def _z(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) + 0.0 if number and 0 <= value <= 1 else nan
