"""Skims in files: outputs by times or as sound, and the recordings that they are of."""

from earwitness.formats.skims.lines import SkimLines

__all__ = ["SkimLines"]
