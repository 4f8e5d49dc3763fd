"""Chapters: where a long recording is cut into parts.

Times are seconds from the start. The output is compared with one reference per item. A value is
undefined (NaN, counted) where its definition says nothing; see each family's empty cells.
"""

from earwitness.metrics.chapters.chunks import Chunks
from earwitness.metrics.chapters.collar import Collar

__all__ = ["Chunks", "Collar"]
