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


class SampleTable(Writer):
    """Rows ``item, system, value …, signature`` as .csv or .jsonl; undefined is empty or null."""

    def __init__(self, path: str | Path, names: Sequence[str], signature: str) -> None:
        self._path, self._names, self._signature = Path(path), tuple(names), signature
        if self._path.suffix not in ENDINGS:
            raise UsageError(f"{self._path}: a sample table ends in .csv or .jsonl")
        super().__init__(self._path)

    def _begin(self) -> None:
        self._csv = csv.writer(self._stream, lineterminator="\n")
        if self._path.suffix == ".csv":
            self._csv.writerow(["item", "system", *self._names, "signature"])

    def write(self, keys: Sequence[Key], values: Sequence[Sequence[float]]) -> None:
        """Cases with their values in the order of the names."""
        rows = zip(keys, values, strict=True)
        if self._path.suffix == ".csv":
            self._csv.writerows(
                [
                    key.item,
                    key.system,
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
                "values": dict(zip(self._names, row, strict=True)),
                "signature": self._signature,
            }
            self._stream.write(msgspec.json.encode(record).decode() + "\n")
