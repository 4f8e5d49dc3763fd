"""Trials with one stimulus at a time: ACR, DCR and P.835."""

from __future__ import annotations

from dataclasses import dataclass

from earwitness.core import count_text
from earwitness.ratings.scales import SCALES
from earwitness.studies.study import Trial
from earwitness.studies.trials.base import Load, TrialKind, TrialQuestion
from earwitness.studies.trials.template import StudyTemplate

# --- Single-stimulus trials ----------------------------------------------------------------------


@dataclass(frozen=True)
class SingleKind(TrialKind):
    """A trial presents one item by one system.

    The size of the study that is suggested was published for P.835.
    """

    plays: int = 1

    is_single = True
    has_known_answers = True
    template = StudyTemplate(rule="p808", listeners=32, panels=4, clips=32, sessions=4)

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        scale_of = {scale.name: scale for scale in self.scales}
        return [
            TrialQuestion(name, scale_of[name], int(self.open_reference), trial.systems[0])
            for name in trial.scales
        ]

    def load(self, systems: int) -> Load:
        scales = len(self.scales)
        questions = systems * scales
        how = f"{systems} systems × {count_text(scales, 'scale')}"
        how += " × 2 sounds" if self.open_reference else ""
        return Load(systems, questions * (1 + self.open_reference), questions, how)


# --- Absolute category rating --------------------------------------------------------------------


class ACR(SingleKind):
    """One clip is rated on a scale of five categories."""

    name = "acr"
    title = "Absolute category rating (P.800, P.808)"
    protocol = (
        "absolute category rating (ITU-T P.800 and P.808), in which each clip was rated on its own"
    )
    fixed = (SCALES["QUALITY"],)
    renderer = "single"
    references = ("ITU-T P.800 (1996)", "ITU-T P.808 (2021)")


# --- Degradation category rating -----------------------------------------------------------------


class DCR(SingleKind):
    """The reference is played, then the clip: how much worse is the clip?

    In the browser, one button plays both sounds, labelled Reference and Second sound, with a pause
    of 0.5 s between them; the one that is playing is highlighted. The answers open when both have
    ended. Keys: Space plays, 5 to 1 choose, Enter continues.
    """

    name = "dcr"
    title = "Degradation category rating (P.800)"
    protocol = (
        "degradation category rating (ITU-T P.800), in which each clip was rated after its "
        "reference"
    )
    fixed = (SCALES["DEGRADATION"],)
    open_reference = True
    renderer = "single"
    references = ("ITU-T P.800 (1996), annex D",)


# --- Speech, background and overall (P.835) ------------------------------------------------------


class P835(SingleKind):
    """The same clip is rated three times: the speech, the background and the overall quality.

    The overall quality is always rated last; speech and background are asked in both orders,
    balanced over listeners and sessions. The clip is played once per question, in full.
    """

    name = "p835"
    title = "P.835: speech, background, overall"
    protocol = (
        "ITU-T P.835, in which each clip was rated for speech, background and overall quality in "
        "turn"
    )
    fixed = (SCALES["SIG"], SCALES["BAK"], SCALES["OVRL"])
    orders = (("SIG", "BAK", "OVRL"), ("BAK", "SIG", "OVRL"))
    renderer = "single"
    references = ("ITU-T P.835 (2003), Systems that include noise suppression",)
