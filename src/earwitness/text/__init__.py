"""Strings: times that people write, transcripts in sections, sentences."""

from earwitness.text.clock import CLOCKS, Clock
from earwitness.text.sections import Flaw, Section, Transcript
from earwitness.text.sentences import sentences

__all__ = ["CLOCKS", "Clock", "Flaw", "Section", "Transcript", "sentences"]
