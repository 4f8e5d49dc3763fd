"""By what an analysis divides results, and within which margins systems are equivalent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from earwitness.data import Clip
from earwitness.errors import nearest
from earwitness.formats.check import Fault

Value = Mapping[str, Any]
UNDIVIDED = "none"  # says that results are not divided


def by_faults(value: Value, clips: Sequence[Clip]) -> Iterator[Fault]:
    """Results are divided by what is known of clips or listeners."""
    if not clips:
        return
    asked = [str(one["name"]) for questions in value["forms"].values() for one in questions]
    juries = ["jury"] * bool(value["juries"])
    known = [*clips[0].covariates, *juries, *asked, UNDIVIDED]
    names = list(map(str, value["analysis"]["by"]))
    for index, name in enumerate(names):
        path = f"analysis.by[{index}]"
        if name in names[:index]:
            yield Fault(path, f'"{name}" comes twice')
        elif name not in known:
            told = f'neither clips nor listeners have "{name}"'
            yield Fault(path, told, nearest(name, known))


def margin_faults(margins: Mapping[str, float], scales: Collection[str]) -> Iterator[Fault]:
    """Margins are of scales that there are, and are more than nothing."""
    for name, margin in margins.items():
        path = f"analysis.margins.{name}"
        if name not in scales:
            yield Fault(path, f'no scale "{name}"', nearest(str(name), scales))
        elif margin == 0:
            yield Fault(path, "must be above 0, got 0", "no two systems are exactly equal")
