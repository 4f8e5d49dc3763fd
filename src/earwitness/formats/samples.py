"""A table of every case's values, written as cases come and shown only when all went well."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from earwitness.data import Key
from earwitness.errors import UsageError
from earwitness.formats.whole import Writer

ENDINGS = (".csv", ".jsonl")


REFERENCES = ("references", "draw")


class SampleTable(Writer):
    """Rows ``item, system, value …, signature`` as .csv or .jsonl; undefined is empty or null.

    If some cases are ``drawn``, rows also say how many references they rest on, and which draw.
    """

    def __init__(
        self, path: str | Path, names: Sequence[str], signature: str, *, drawn: bool = False
    ) -> None:
        self._path, self._names, self._signature = Path(path), tuple(names), signature
        self._more = REFERENCES if drawn else ()
        if self._path.suffix not in ENDINGS:
            raise UsageError(f"{self._path}: a sample table ends in .csv or .jsonl")
        super().__init__(self._path)

    def _begin(self) -> None:
        self._csv = csv.writer(self._stream, lineterminator="\n")
        if self._path.suffix == ".csv":
            self._csv.writerow(["item", "system", *self._more, *self._names, "signature"])

    def write(
        self,
        keys: Sequence[Key],
        values: Sequence[Sequence[float]],
        references: tuple[int, int] = (0, 0),
    ) -> None:
        """Cases with their values in the order of the names, and the references they rest on."""
        more = dict(zip(self._more, references, strict=False))
        rows = zip(keys, values, strict=True)
        if self._path.suffix == ".csv":
            self._csv.writerows(
                [
                    key.item,
                    key.system,
                    *more.values(),
                    *("" if math.isnan(x) else repr(x) for x in row),
                    self._signature,
                ]
                for key, row in rows
            )
            return
        for key, row in rows:  # msgspec writes NaN as null
            record = {
                "item": key.item,
                "system": key.system,
                **more,
                "values": dict(zip(self._names, row, strict=True)),
                "signature": self._signature,
            }
            self._stream.write(msgspec.json.encode(record).decode() + "\n")
