"""Trials with two stimuli of one item: AB, ABX, CCR and preference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import Generator

from earwitness.core import Rating
from earwitness.errors import UsageError
from earwitness.ratings.scales import SCALES, Scale
from earwitness.studies.population import Person
from earwitness.studies.study import Trial
from earwitness.studies.trials.base import (
    Load,
    RatingFactory,
    SwitchedKind,
    Treatment,
    TrialKind,
    TrialQuestion,
    Values,
    Way,
)
from earwitness.studies.wording import Wording

# --- Trials of two sounds ------------------------------------------------------------------------


ALL_PAIRS, REFERENCE_PAIRS = "all", "reference"


@dataclass(frozen=True)
class PairKind(TrialKind):
    """A trial presents one item by two systems; each comes first equally often.

    Parameters
    ----------
    pairs
        Pairs to compare: all (each two systems) or reference (each system with the reference).
    """

    pairs: str = ALL_PAIRS

    compared = "pair"
    is_paired = True
    shown = 2  # number of sounds per trial
    rated = 0  # index of the sound that is better if the answer is positive

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs not in (ALL_PAIRS, REFERENCE_PAIRS):
            raise UsageError(f"pairs must be all or reference, got {self.pairs!r}")

    @property
    def needs_reference(self) -> bool:
        return self.pairs == REFERENCE_PAIRS

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        if self.pairs == REFERENCE_PAIRS:
            return [(reference, system) for system in systems]
        return list(combinations(systems, 2))

    def ways(self, treatment: Treatment, rng: Generator) -> list[Way]:
        return [(treatment, 0), (treatment[::-1], 0)]

    def against(self, treatment: Treatment) -> str:
        return treatment[0]

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        return [TrialQuestion(scale.name, scale, 1) for scale in self.scales]

    def make_ratings(self, trial: Trial, values: Values, rate: RatingFactory) -> Iterator[Rating]:
        system, against = self.rated_pair(trial)
        sign = 1 if trial.systems[self.rated] == system else -1
        [scale] = self.scales
        yield rate(system, scale.name, sign * values[scale.name], against)

    def rated_pair(self, trial: Trial) -> tuple[str, str]:
        """Return the system that is rated and the one it is rated against, in whatever order.

        The latter is the reference or the system named first in the study; otherwise the first
        by name.
        """
        against = trial.against or trial.treatment[0]
        [system] = (name for name in trial.systems if name != against)
        return system, against

    def trial_as_heard(
        self, item: str, shown: tuple[str, ...], systems: Sequence[str], reference: str
    ) -> Trial:
        pair = shown[:2]
        same_pair = [
            treatment
            for treatment in self.treatments(systems, reference)
            if set(treatment) == set(pair)
        ]
        target = pair.index(shown[2]) if self.unknown and shown[2] in pair else 0
        against = same_pair[0][0] if same_pair else pair[0]
        return Trial(item, pair, self.scale_orders[0], target=target, against=against)

    def load(self, systems: int) -> Load:
        pairs = systems if self.pairs == REFERENCE_PAIRS else systems * (systems - 1) // 2
        return Load(pairs, pairs * self.shown, pairs, f"{pairs} pairs × {self.shown} sounds")


# --- AB choice -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class AB(SwitchedKind, PairKind):
    """Two clips with free switching between them: which is better?

    The answer is A or B; the rating is 1 if the named system was chosen, −1 if the other.

    In the browser, the page has a button per sound, which plays it or switches to it, at the same
    position or, with `restart`, from the beginning. The sound that is playing is highlighted. The
    answers open once every sound was heard in full, in any number of parts. Keys: A and B switch,
    Space plays or pauses, L repeats, digits choose, Enter continues.
    """

    name = "ab"
    title = "AB: which of two clips is better"
    protocol = "AB comparison, in which the better of two clips was chosen"
    fixed = (SCALES["BETTER"],)
    renderer = "pair"
    references = ("ITU-R BS.2132 (2019)",)

    def simulate(self, trial: Trial, person: Person, rng: Generator) -> dict[str, Any]:
        [scale] = self.scales
        a, b = (person.hears(trial.item, system, scale.name, rng) for system in trial.systems)
        return {scale.name: scale.at((1 + np.sign(a - b)) / 2 if a != b else rng.random())}


# --- ABX discrimination --------------------------------------------------------------------------


@dataclass(frozen=True)
class ABX(SwitchedKind, PairKind):
    """Two clips, A and B, and a third, X, which is one of them, with free switching: which is X?

    The identity of X and the order of A and B are balanced. The rating is 1 if the answer is
    correct, 0 if not.

    In the browser, the page is that of [ab](ab.md) with a third button, X. Keys: A, B and X switch,
    Space plays or pauses, L repeats, digits choose, Enter continues.
    """

    name = "abx"
    title = "ABX: which of two clips is X"
    protocol = "ABX discrimination, in which one of two clips was identified as X"
    fixed = (Scale("SAME", 1, -1, 2),)  # ratings are 0 or 1
    unknown = True
    renderer = "pair"
    shown = 3
    references = ("Munson and Gardner (1950), Standardizing auditory tests",)

    def ways(self, treatment: Treatment, rng: Generator) -> list[Way]:
        return [(pair, target) for target in (0, 1) for pair in (treatment, treatment[::-1])]

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        return [TrialQuestion("SAME", self.scales[0], 2)]

    def make_ratings(self, trial: Trial, values: Values, rate: RatingFactory) -> Iterator[Rating]:
        system, against = self.rated_pair(trial)
        right = values["SAME"] == (1, -1)[trial.target]
        yield rate(system, "SAME", float(right), against)

    def simulate(self, trial: Trial, person: Person, rng: Generator) -> dict[str, Any]:
        shown = (*trial.systems, trial.systems[trial.target])
        a, b, x = (person.hears(trial.item, system, "SAME", rng) for system in shown)
        return {"SAME": 1.0 if abs(a - x) <= abs(b - x) else -1.0}

    def presented(self, trial: Trial, words: Wording, reference: str) -> list[tuple[str, str]]:
        pair = super().presented(trial, words, reference)
        return [*pair, (trial.systems[trial.target], "X")]


# --- Comparison category rating ------------------------------------------------------------------


@dataclass(frozen=True)
class CCR(PairKind):
    """Two clips in sequence, in either order: how does the second compare with the first?

    The sign of the answer is normalized before the rating is stored, so that the rating always
    states how much better one named system is than the other; the order of presentation is
    stored too.

    In the browser, one button plays both sounds, labelled First sound and Second sound, with a
    pause of 0.5 s between them; the one that is playing is highlighted. The answers open when both
    have ended. Keys: Space plays, 1 (Much better) to 7 (Much worse) choose, Enter continues.
    """

    plays: int = 1

    name = "ccr"
    title = "Comparison category rating (P.800)"
    protocol = (
        "comparison category rating (ITU-T P.800), in which the second of two clips was rated "
        "relative to the first"
    )
    fixed = (SCALES["COMPARISON"],)
    rated = 1
    renderer = "single"
    references = ("ITU-T P.800 (1996), annex E",)

    def simulate(self, trial: Trial, person: Person, rng: Generator) -> dict[str, Any]:
        first, second = (person.hears(trial.item, s, "COMPARISON", rng) for s in trial.systems)
        return {"COMPARISON": self.scales[0].at((1 + second - first) / 2)}


# --- Preference with ties ------------------------------------------------------------------------


NO_PREFERENCE_THRESHOLD = 0.05  # for simulated listeners: smaller differences are ties


class Preference(AB):
    """Two clips with free switching between them: which is preferred, if either?

    The answer is A, B or no preference; the rating is 1 if the named system was preferred, −1 if
    the other, 0 for no preference.

    In the browser, the page is that of [ab](ab.md) with three answers. Keys: A and B switch, Space
    plays or pauses, L repeats, digits choose (2: no preference), Enter continues.
    """

    name = "preference"
    title = "Preference with ties"
    protocol = "paired preference with ties, in which one of two clips or neither was preferred"
    fixed = (SCALES["PREFERENCE"],)
    references = ("Davidson (1970), On extending the Bradley–Terry model to accommodate ties",)

    def simulate(self, trial: Trial, person: Person, rng: Generator) -> dict[str, Any]:
        a, b = (person.hears(trial.item, system, "PREFERENCE", rng) for system in trial.systems)
        better = 0.0 if abs(a - b) < NO_PREFERENCE_THRESHOLD else float(np.sign(a - b))
        return {"PREFERENCE": better}
