"""Chapters in files: chunkseg's lines, or outputs and references apart."""

from earwitness.formats.chapters.contents import Reading
from earwitness.formats.chapters.lines import ChapterLines

__all__ = ["ChapterLines", "Reading"]
