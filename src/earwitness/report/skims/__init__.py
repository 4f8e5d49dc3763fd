"""Skims for people: a picture of the whole day with its picks, and a page that plays them."""

from earwitness.report.skims.page import skim_page
from earwitness.report.skims.picture import skim_picture
from earwitness.report.skims.shown import CurvePoint, Measure, ShownSkim, Spectrogram

__all__ = [
    "CurvePoint",
    "Measure",
    "ShownSkim",
    "Spectrogram",
    "skim_page",
    "skim_picture",
]
