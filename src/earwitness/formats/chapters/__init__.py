"""Chapters in files: chunkseg's lines, or outputs and references apart."""

from earwitness.formats.chapters.contents import Reading
from earwitness.formats.chapters.joined import empty_outputs, parse_outputs
from earwitness.formats.chapters.parsed import Parsed
from earwitness.formats.chapters.references import References, read_references
from earwitness.formats.chapters.samples import parse_samples

__all__ = [
    "Parsed",
    "Reading",
    "References",
    "empty_outputs",
    "parse_outputs",
    "parse_samples",
    "read_references",
]
