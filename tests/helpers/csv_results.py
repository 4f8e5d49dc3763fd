"""Results as CSV: the provenance in the comment at the head, if there is one, and the rows."""

from __future__ import annotations

import csv
import io
import json
from typing import Any


def read_results(text: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    facts = {}
    if text.startswith("# earwitness "):
        comment, _, text = text.partition("\n")
        facts = json.loads(comment.split(" ", 3)[3])
    return facts, list(csv.DictReader(io.StringIO(text)))
