"""A text file with every case's words, output against reference; shown only when all went well."""

from __future__ import annotations

from collections.abc import Sequence

from earwitness.data import Key
from earwitness.formats.whole import Writer


class AlignmentFile(Writer):
    """A heading a case, its alignment below, a blank line behind."""

    def write(self, keys: Sequence[Key], alignments: Sequence[str]) -> None:
        """Cases with their alignments; where there is none it is said."""
        for key, text in zip(keys, alignments, strict=True):
            self._stream.write(f"## {key.item}, {key.system}\n\n{text or '(no words)'}\n\n")
