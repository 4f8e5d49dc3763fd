"""A trial kind: one clip, rated by the effort needed to understand it."""

from __future__ import annotations

from dataclasses import dataclass

from earwitness.ratings.scales import Scale
from earwitness.studies.trials.single import SingleKind
from earwitness.studies.trials.template import StudyTemplate


@dataclass(frozen=True)
class Effort(SingleKind):
    """One clip, rated by the effort of listening on five categories."""

    name = "effort"
    title = "Listening effort (P.800, annex B)"
    protocol = "rating of listening effort (ITU-T P.800, annex B)"
    fixed = (Scale("EFFORT", 5, 1, doc="listening effort (5: none)", rules=("p808",)),)
    texts = {
        "en": {
            "EFFORT": {
                "prompt": "How much effort did it take to understand what was said?",
                "labels": ["none", "little", "some", "much", "nothing was understood"],
            }
        }
    }
    template = StudyTemplate(rule="p808", listeners=8, clips=4)
    renderer = "single"  # the page of ACR, which shows the questions of the view
    references = ("ITU-T P.800 (1996), annex B",)
