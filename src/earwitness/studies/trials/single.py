"""Trials with one stimulus at a time: ACR, DCR and P.835."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earwitness.core import Rating
from earwitness.ratings.scales import KIND_SCALES
from earwitness.studies.population import Person
from earwitness.studies.study import Trial
from earwitness.studies.trials.base import (
    PLAYS_HELP,
    Load,
    RatingFactory,
    Treatment,
    TrialKind,
    TrialQuestion,
    Values,
    Way,
)

# --- Single-stimulus trials ----------------------------------------------------------------------


@dataclass(frozen=True)
class SingleKind(TrialKind):
    """A trial presents one item by one system."""

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        del reference
        return [(system,) for system in systems]

    def ways(self, treatment: Treatment, rng: np.random.Generator) -> list[Way]:
        del rng
        return [(treatment, 0)]

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        scale_of = {scale.name: scale for scale in self.scales}
        return [
            TrialQuestion(name, scale_of[name], int(self.open_reference)) for name in trial.scales
        ]

    def make_ratings(self, trial: Trial, values: Values, rate: RatingFactory) -> Iterator[Rating]:
        for name in trial.scales:
            yield rate(trial.systems[0], name, values[name])

    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        return {
            ask.name: ask.scale.at(person.hears(trial.item, trial.systems[0], ask.name, rng))
            for ask in self.asks(trial)
        }

    def load(self, systems: int) -> Load:
        scales = len(self.scales)
        questions = systems * scales
        how = f"{systems} systems × {scales} scale{'s' * (scales > 1)}"
        how += " × 2 sounds" * self.open_reference
        return Load(systems, questions * (1 + self.open_reference), questions, how)


# --- Absolute category rating --------------------------------------------------------------------


@dataclass(frozen=True)
class ACR(SingleKind):
    """One clip is rated on a scale of five categories."""

    plays: int = field(default=1, metadata=PLAYS_HELP)

    name = "acr"
    title = "Absolute category rating (P.800, P.808)"
    protocol = (
        "absolute category rating (ITU-T P.800 and P.808), in which each clip was rated on its own"
    )
    fixed = KIND_SCALES["acr"]
    renderer = "single"
    references = ("ITU-T P.800 (1996)", "ITU-T P.808 (2021)")


# --- Degradation category rating -----------------------------------------------------------------


@dataclass(frozen=True)
class DCR(SingleKind):
    """The reference is played, then the clip: how much worse is the clip?

    In the browser, one button plays both sounds, labelled Reference and Second sound, with a pause
    of 0.5 s between them; the one that is playing is highlighted. The answers open when both have
    ended. Keys: Space plays, 5 to 1 choose, Enter continues.
    """

    plays: int = field(default=1, metadata=PLAYS_HELP)

    name = "dcr"
    title = "Degradation category rating (P.800)"
    protocol = (
        "degradation category rating (ITU-T P.800), in which each clip was rated after its "
        "reference"
    )
    fixed = KIND_SCALES["dcr"]
    open_reference = True
    renderer = "single"
    references = ("ITU-T P.800 (1996), annex D",)


# --- Speech, background and overall (P.835) ------------------------------------------------------


@dataclass(frozen=True)
class P835(SingleKind):
    """The same clip is rated three times: the speech, the background and the overall quality.

    The overall quality is always rated last; speech and background are asked in both orders,
    balanced over listeners and sessions. The clip is played once per question, in full.
    """

    plays: int = field(default=1, metadata=PLAYS_HELP)

    name = "p835"
    title = "P.835: speech, background, overall"
    protocol = (
        "ITU-T P.835, in which each clip was rated for speech, background and overall quality in "
        "turn"
    )
    fixed = KIND_SCALES["p835"]
    orders = (("SIG", "BAK", "OVRL"), ("BAK", "SIG", "OVRL"))
    renderer = "single"
    references = ("ITU-T P.835 (2003), Systems that include noise suppression",)
