"""A trial kind with its own page: one clip, rated by how annoying it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from earwitness.ratings.scales import Scale
from earwitness.studies.trials.single import SingleKind
from earwitness.studies.trials.template import StudyTemplate


@dataclass(frozen=True)
class Annoyance(SingleKind):
    """One clip, rated by the annoyance of its noise on five categories."""

    name = "annoyance"
    title = "Annoyance of noise (ISO/TS 15666)"
    protocol = "rating of annoyance (ISO/TS 15666)"
    fixed = (Scale("ANNOYANCE", 5, 1, good="low", doc="annoyance", rules=("p808",)),)
    texts = {
        "en": {
            "ANNOYANCE": {
                "prompt": "How much does this noise annoy you?",
                "labels": ["not at all", "slightly", "moderately", "very", "extremely"],
            }
        }
    }
    template = StudyTemplate(rule="p808", listeners=8, clips=4)
    renderer = Path(__file__).with_name("annoyance.js")
    references = ("ISO/TS 15666 (2021)",)
