"""A result as text, in any form."""

from __future__ import annotations

from earwitness.data import Scores
from earwitness.errors import UsageError, nearest
from earwitness.report import MEDIA


def render(scores: Scores, to: str = "text") -> str:
    """A result as a table for the terminal (``text``), ``json``, ``csv`` or ``md``."""
    if to not in MEDIA:
        raise UsageError(f'there is no form "{to}" — {nearest(to, MEDIA)}')
    return MEDIA[to](scores)
