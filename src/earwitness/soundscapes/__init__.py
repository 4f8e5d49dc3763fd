"""Days made of known sources, so that the truth about them is known.

A timetable says what sounds when; a scene has its events, drawn with a seed; the mixer makes them
heard; the truth says what a skim of the day is worth.
"""

from earwitness.soundscapes.days import day, days
from earwitness.soundscapes.mixing import Mixer, chunks
from earwitness.soundscapes.scene import Event, Scene, scene_of
from earwitness.soundscapes.timetable import Row, Timetable
from earwitness.soundscapes.truth import Truth, true_sd, true_tc

__all__ = [
    "Event",
    "Mixer",
    "Row",
    "Scene",
    "Timetable",
    "Truth",
    "chunks",
    "day",
    "days",
    "scene_of",
    "true_sd",
    "true_tc",
]
