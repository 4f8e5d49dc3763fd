"""Record structs of skim files, and the method and z of an output."""

from __future__ import annotations

import re
from math import nan
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.io.records import RecordType, unset_to_empty
from earwitness.io.schema import MAX_DURATION_SECONDS, Length, Moment, is_name
from earwitness.skims.types import Dial
from earwitness.task import ItemLine, OutputLine

# --- Record structs ------------------------------------------------------------------------------


Seconds = Annotated[
    float,
    Meta(
        gt=0,
        le=MAX_DURATION_SECONDS,
        extra={"unit": " s", "remedy": "are these samples or milliseconds?"},
    ),
]
FilePath = Annotated[str, Meta(min_length=1, extra={"remedy": "give a file or a folder"})]
CONTENT_WORDING = Meta(extra={"remedy": 'write {"picks": [[3600, 8], [7200, 8]]}'})


class SkimContent(Struct, forbid_unknown_fields=True):
    """A skim: picks with start and seconds, starts of equal blocks, or an audio file."""

    picks: list[tuple[Moment, Seconds]] | UnsetType = UNSET
    times: list[Moment] | UnsetType = UNSET
    block: Seconds | UnsetType = UNSET
    audio: FilePath | UnsetType = UNSET


class SkimOutputLine(OutputLine, forbid_unknown_fields=True, kw_only=True):
    """One line of an outputs file."""

    output: Annotated[SkimContent, CONTENT_WORDING]


class WholeRecordingReference(Struct):
    """The recording as the only reference of an item; it has no annotator."""

    annotator: str | UnsetType = UNSET


class SkimReferenceLine(ItemLine, forbid_unknown_fields=True, kw_only=True):
    """One line of a references file: a recording with its clock, or its blocks.

    ``blocks`` is a NumPy file of embedded blocks, a table of audio files with their starts, or a
    list of these.
    """

    recording: FilePath | Annotated[list[FilePath], Meta(min_length=1)] | UnsetType = UNSET
    start: str | UnsetType = UNSET
    zone: str | UnsetType = UNSET
    hour_gap: Length | UnsetType = UNSET
    day: str | UnsetType = UNSET
    blocks: FilePath | Annotated[list[tuple[FilePath, Length]], Meta(min_length=1)] | UnsetType = (
        UNSET
    )
    audio: str | UnsetType = UNSET

    @property
    def references(self) -> list[WholeRecordingReference]:
        """The only reference: the recording itself."""
        return [WholeRecordingReference()]


OUTPUTS = RecordType(SkimOutputLine, output="output")
REFERENCES = RecordType(SkimReferenceLine)


# --- Method and z of outputs ---------------------------------------------------------------------


Z_PATTERN = re.compile(r"(?:^|[-_ ])z[-_= ]?\d*\.?\d+(?=$|[-_ ])", re.I)
UNNAMED_METHOD = "z"  # for a system named only by its z


def read_dial(record: SkimOutputLine) -> Dial | None:
    """Return ``meta.method``, or the system without its z, with z; None without z."""
    meta = unset_to_empty(record.meta)
    if meta.get("z") is None:
        return None
    named = meta.get("method")
    method = str(named) if is_name(named) else strip_z(str(record.system))
    z = meta["z"]
    is_valid = isinstance(z, int | float) and not isinstance(z, bool) and 0 <= z <= 1
    return Dial(method, z + 0.0 if is_valid else nan)


def strip_z(system: str) -> str:
    """Return a system's name without the part that gives z.

    >>> [strip_z(name) for name in ("pareto-z0.5", "ours_z=1_long", "jazz", "z0")]
    ['pareto', 'ours_long', 'jazz', 'z']
    """
    return Z_PATTERN.sub("", system, count=1).strip("-_ ") or UNNAMED_METHOD
