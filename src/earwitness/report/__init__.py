"""A result as something to read: ``MEDIA`` lists the ways."""

from __future__ import annotations

from collections.abc import Callable

from earwitness.data import Scores
from earwitness.report.comparison import COMPARISON_MEDIA
from earwitness.report.markdown import markdown
from earwitness.report.records import to_csv, to_json
from earwitness.report.text import text

MEDIA: dict[str, Callable[[Scores], str]] = {
    "text": text,
    "json": to_json,
    "csv": to_csv,
    "md": markdown,
}

__all__ = ["COMPARISON_MEDIA", "MEDIA", "text"]
