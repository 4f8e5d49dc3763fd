"""Skims of a day: our method, the published one, and baselines."""

from earwitness.summarizers.skims.archive import archive_of
from earwitness.summarizers.skims.hull import Archive
from earwitness.summarizers.skims.picked import Picked
from earwitness.summarizers.skims.picker import METHODS, Picker, pick
from earwitness.summarizers.skims.plan import Plan

__all__ = ["METHODS", "Archive", "Picked", "Picker", "Plan", "archive_of", "pick"]
