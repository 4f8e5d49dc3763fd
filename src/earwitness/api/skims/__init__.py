"""A minute that stands for a day: the verb ``skim``."""

from earwitness.api.skims.asked import ENDINGS, EXTRAS, METHODS, SPEECH, Asked
from earwitness.api.skims.running import skim

__all__ = ["ENDINGS", "EXTRAS", "METHODS", "SPEECH", "Asked", "skim"]
