"""Metrics of skims, a file a family."""

from earwitness.metrics.skims.skims import SkimMeasures

__all__ = ["SkimMeasures"]
