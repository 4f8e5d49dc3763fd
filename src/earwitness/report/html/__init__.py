"""A report as one self-contained page."""

from earwitness.report.html.page import html

__all__ = ["html"]
