"""A result as text, in any form."""

from __future__ import annotations

from earwitness.data import Comparison, Scores
from earwitness.errors import UsageError, nearest
from earwitness.report import COMPARISON_MEDIA, MEDIA


def render(result: Scores | Comparison, to: str = "text") -> str:
    """A result as a table for the terminal (``text``), ``json``, ``csv`` or ``md``."""
    if to not in MEDIA:
        raise UsageError(f'there is no form "{to}" — {nearest(to, MEDIA)}')
    if isinstance(result, Comparison):
        return COMPARISON_MEDIA[to](result)
    return MEDIA[to](result)
