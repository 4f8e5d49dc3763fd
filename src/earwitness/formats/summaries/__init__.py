"""Summaries in files: outputs, and references with what was said."""

from earwitness.formats.summaries.contents import Reading
from earwitness.formats.summaries.lines import SummaryLines

__all__ = ["Reading", "SummaryLines"]
