"""Trials with a hidden reference: MUSHRA and ITU-R BS.1116."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from earwitness.analysis.plan import ANCHOR_CUTOFFS_HZ
from earwitness.core import Rating, count_text
from earwitness.errors import UsageError
from earwitness.ratings.scales import BASIC_QUALITY_SCALE, DIFFERENCE_GRADE, IMPAIRMENT_SCALE
from earwitness.studies.population import Person
from earwitness.studies.study import Names, Trial
from earwitness.studies.trials.base import (
    LETTERS,
    Load,
    RatingFactory,
    SwitchedKind,
    Treatment,
    TrialQuestion,
    Values,
    View,
    Way,
    check_flag,
)
from earwitness.studies.trials.template import StudyTemplate
from earwitness.studies.wording import Wording

# --- Hidden reference and anchors (MUSHRA) -------------------------------------------------------


# A-weighted; a smaller loss is hardly heard, and a larger one neither if it is a narrow band
MIN_ANCHOR_LOSS_DB, MIN_NARROW_ANCHOR_LOSS_DB = -40.0, -25.0
NARROW_BAND_RATIO = 1.25  # of the highest frequency of the reference to the cutoff


class AnchorLoss(NamedTuple):
    """What the anchor of a clip lacks, in dB(A) relative to its reference."""

    anchor: str
    item: str
    rate: int
    loss: float

    @property
    def is_weak(self) -> bool:
        """Whether the anchor is hardly worse than the reference: too little is above its cutoff."""
        is_narrow = self.rate / 2 < NARROW_BAND_RATIO * ANCHOR_CUTOFFS_HZ.get(self.anchor, 0.0)
        return self.loss < (MIN_NARROW_ANCHOR_LOSS_DB if is_narrow else MIN_ANCHOR_LOSS_DB)


def weak_anchor_notes(losses: Iterable[AnchorLoss]) -> Iterator[str]:
    """Yield a note per anchor that hardly differs from the reference of any clip."""
    losses = list(losses)
    for anchor in dict.fromkeys(loss.anchor for loss in losses):
        own = [loss for loss in losses if loss.anchor == anchor]
        if weak := [loss for loss in own if loss.is_weak]:
            least = min(weak, key=lambda one: one.loss)
            yield (
                f"{anchor} hardly differs from the reference in {len(weak):,} of "
                f"{count_text(len(own), 'clip')}: what it lacks is "
                f"{min(-least.loss, 99):.0f} dB below the reference "
                f"({least.item}, {least.rate / 1000:g} kHz) — leave {anchor} out of "
                "anchors, or use references with more bandwidth"
            )


@dataclass(frozen=True)
class Mushra(SwitchedKind):
    """All systems of one item are rated at once against a labelled reference, with free switching.

    The rated sounds include the hidden reference and low-pass anchors. The assignment of letters to
    systems changes from item to item, so that each system is in each position about equally often.
    Anchors are audio files in their own folders next to those of the systems; `earwitness study
    anchors` creates them from the references. For a test without references, set `open_reference`,
    `hidden_reference` or both to `false`, and `anchors: []` if there are no anchors either.

    In the browser, only the sound that was chosen last can be rated. Every sound must be heard to
    its end, in any number of parts, and every slider must be moved: it has no value before.
    Listeners can repeat a part of the sounds, and sort the sounds by rating. Keys: letters or
    digits play a sound, R or 0 the reference, arrows rate, Space pauses, Enter saves. How switching
    works: [Switching](switching.md).

    Parameters
    ----------
    anchors
        Folders of anchors, low-passed at 3.5 kHz and 7 kHz by default.
    open_reference
        Whether the page has a labelled reference.
    hidden_reference
        Whether the reference is also rated, without being labelled.
    """

    anchors: Names = tuple(ANCHOR_CUTOFFS_HZ)
    open_reference: bool = True  # type: ignore[misc]
    hidden_reference: bool = True  # type: ignore[misc]

    name = "mushra"
    title = "MUSHRA (BS.1534-3)"
    protocol = "MUSHRA (ITU-R BS.1534-3), in which all systems of a clip were rated on one page"
    fixed = (BASIC_QUALITY_SCALE,)
    compared = "set of systems"
    drawn = True
    renderer = "mushra"
    template = StudyTemplate(rule="bs1534")
    references = ("ITU-R BS.1534-3 (2015)",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("open_reference", self.open_reference)
        check_flag("hidden_reference", self.hidden_reference)
        anchors: object = self.anchors
        if not isinstance(anchors, list | tuple) or not all(
            isinstance(name, str) and name for name in anchors
        ):
            raise UsageError(f"anchors must be a list of folders, got {anchors!r}")
        if len(set(anchors)) < len(anchors):
            raise UsageError(f"anchors must be different folders, got {anchors!r}")
        object.__setattr__(self, "anchors", tuple(anchors))

    def describe_protocol(self) -> str:
        against = " relative to a labelled reference" if self.open_reference else ""
        added = ["a hidden reference"] if self.hidden_reference else []
        added += [f"the anchors {', '.join(self.anchors)}"] if self.anchors else []
        together = f", together with {' and '.join(added)}" if added else ""
        lacking = "" if self.open_reference else ", without a labelled reference"
        return f"{self.protocol}{against}{together}{lacking}"

    @property
    def anchor_systems(self) -> Names:
        return self.anchors

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        hidden = (reference,) if self.hidden_reference else ()
        treatment = (*systems, *hidden, *self.anchors)
        return [treatment] if len(treatment) > 1 else []

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        first = int(self.open_reference)
        return [
            TrialQuestion(letter, BASIC_QUALITY_SCALE, number, system)
            for number, (letter, system) in enumerate(
                zip(LETTERS, trial.systems, strict=False), first
            )
        ]

    def questions(self, trial: Trial, words: Wording) -> list[View]:
        asked = super().questions(trial, words)
        if self.open_reference:
            return asked
        return [question | {"prompt": words.pages["quality_alone"]} for question in asked]

    def load(self, systems: int) -> Load:
        rated = systems + self.hidden_reference + len(self.anchors)
        sounds = rated + self.open_reference
        return Load(1, sounds, rated, f"{sounds} sounds, each played once")


# --- Small impairments (BS.1116) -----------------------------------------------------------------


class BS1116(SwitchedKind):
    """A labelled reference and two sounds, one of which is the reference, with free switching.

    The sound taken for the reference is rated 5.0. The results are both ratings and the subjective
    difference grade (SDG): the rating of the system minus the rating of the hidden reference.
    The hidden reference is rated in every trial, so each of its votes in the analysis of both
    ratings is the mean of one listener's ratings of one clip.

    The page is that of [mushra](mushra.md), with the sounds A (the reference), B and C. It can only
    be saved if B or C is rated 5.0.
    """

    name = "bs1116"
    title = "Small impairments (BS.1116-3)"
    protocol = (
        "ITU-R BS.1116-3, in which each system and a hidden reference were rated relative to a "
        "labelled reference"
    )
    fixed = (IMPAIRMENT_SCALE,)
    open_reference = True
    hidden_reference = True
    letters = "BC"  # the labelled reference is A
    derived = (DIFFERENCE_GRADE,)
    renderer = "mushra"
    template = StudyTemplate(rule="bs1116")
    references = ("ITU-R BS.1116-3 (2015)",)

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        return [(reference, system) for system in systems]

    def ways(self, treatment: Treatment, rng: Generator) -> list[Way]:
        return [(treatment, 0), (treatment[::-1], 1)]  # with the position of the hidden reference

    def asks(self, trial: Trial) -> list[TrialQuestion]:
        return [
            TrialQuestion(self.letters[n], IMPAIRMENT_SCALE, n + 1)
            for n in range(len(trial.systems))
        ]

    def find_contradictions(self, trial: Trial, values: Values) -> Iterator[str]:
        if max(values.values()) < IMPAIRMENT_SCALE.high:
            yield "one of the two sounds is the reference — rate it 5.0"

    def make_ratings(self, trial: Trial, values: Values, rate: RatingFactory) -> Iterator[Rating]:
        grades = dict(zip(trial.systems, (values["B"], values["C"]), strict=True))
        hidden = trial.systems[trial.target]
        system = trial.systems[1 - trial.target]
        for name, value in grades.items():
            yield rate(name, IMPAIRMENT_SCALE.name, value)
        yield rate(system, DIFFERENCE_GRADE, round(grades[system] - grades[hidden], 6), hidden)

    def simulate(self, trial: Trial, person: Person, rng: Generator) -> dict[str, Any]:
        heard = [person.hears(trial.item, s, IMPAIRMENT_SCALE.name, rng) for s in trial.systems]
        best = int(np.argmax(heard))
        return {
            self.letters[n]: IMPAIRMENT_SCALE.high if n == best else IMPAIRMENT_SCALE.at(value)
            for n, value in enumerate(heard)
        }

    def trial_as_heard(
        self, item: str, shown: Names, systems: Sequence[str], reference: str
    ) -> Trial:
        hidden = shown.index(reference) if reference in shown else 0
        return Trial(item, shown, self.scale_orders[0], target=hidden)

    def load(self, systems: int) -> Load:
        return Load(systems, 3 * systems, 2 * systems, f"{systems} systems × 3 sounds")
