"""A trial kind: one clip, rated by the effort needed to understand it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from earwitness.ratings.scales import Scale
from earwitness.studies.study import Trial
from earwitness.studies.trials.single import SingleKind
from earwitness.studies.wording import Wording

PROMPT = "How much effort did it take to understand what was said?"
LABELS = ("none", "little", "some", "much", "nothing was understood")


@dataclass(frozen=True)
class Effort(SingleKind):
    """One clip, rated by the effort of listening on five categories."""

    name = "effort"
    title = "Listening effort (P.800, annex B)"
    fixed = (Scale("EFFORT", 5, 1),)
    renderer = "single"  # the page of ACR, which shows the questions of the view
    references = ("ITU-T P.800 (1996), annex B",)

    def questions(self, trial: Trial, words: Wording) -> list[dict[str, Any]]:
        """Return the scale; its labels are in this package, not in Earwitness."""
        del words
        values = self.fixed[0].values
        options = [
            {"value": int(value), "label": label}
            for value, label in zip(values, LABELS, strict=True)
        ]
        return [
            {
                "name": question.name,
                "prompt": PROMPT,
                "sound": question.sound,
                "answer": "choice",
                "options": options,
            }
            for question in self.asks(trial)
        ]
