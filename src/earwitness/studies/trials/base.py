"""TrialKind: makes trials, shows them blind, reads answers and simulates listeners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from earwitness.core import Key, Rating
from earwitness.errors import BadAnswer, UsageError
from earwitness.studies.design.orders import PanelHistory, listener_order
from earwitness.studies.population import Person
from earwitness.studies.study import Scale, Trial
from earwitness.studies.wording import Wording

Sound = Callable[[str, str, int], str]  # the blind address of an item, a system, at a place
Caption = Callable[[str, str], str]  # what a system wrote about an item
View = dict[str, Any]
Values = Mapping[str, Any]
Treatment = tuple[str, ...]
Way = tuple[tuple[str, ...], int]  # systems as presented, and which is the unknown one
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PLAYS_HELP = {"help": "times each sound may be played; 0 is as often as one likes"}


# --- Kinds of trials -----------------------------------------------------------------------------


@dataclass(frozen=True)
class TrialQuestion:
    """A question of a trial: its name, its scale, and which of the sounds it is about."""

    name: str
    scale: Scale
    sound: int


@dataclass(frozen=True)
class TrialKind(ABC):
    """A frozen dataclass whose fields are the parameters of a block."""

    plays: int = field(default=0, metadata=PLAYS_HELP)

    name: ClassVar[str]
    title: ClassVar[str]
    fixed: ClassVar[tuple[Scale, ...]] = ()  # scales that do not depend on parameters
    orders: ClassVar[tuple[tuple[str, ...], ...]] = ()  # of scales; else the one above
    compared: ClassVar[str] = "system"  # what takes turns within a session
    switching: ClassVar[bool] = False  # between sounds at any moment; else one after the other
    open_reference: ClassVar[bool] = False  # is heard, and known to be it
    hidden_reference: ClassVar[bool] = False  # is rated like any other
    letters: ClassVar[str] = LETTERS  # by which several sounds are called
    unknown: ClassVar[bool] = False  # one of the sounds comes again, and must be known
    drawn: ClassVar[bool] = False  # whether chance decides which ways of presenting there are
    derived: ClassVar[tuple[str, ...]] = ()  # scales that follow from others
    captioned: ClassVar[bool] = False  # systems differ in what they write; all have one sound
    renderer: ClassVar[str] = ""  # the script that shows it in a browser; none yet if empty
    references: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        if isinstance(self.plays, bool) or not isinstance(self.plays, int) or self.plays < 0:
            raise UsageError(f"plays must be a whole number from 0 on, got {self.plays!r}")

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Names and defaults."""
        return {f.name: f.default for f in fields(cls)}

    @classmethod
    def help(cls, name: str) -> str:
        """What a parameter means."""
        return next(str(f.metadata.get("help", "")) for f in fields(cls) if f.name == name)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """What is asked."""
        return self.fixed

    @property
    def within(self) -> str:
        """The covariate whose clips are heard together, if any."""
        return ""

    def results(self) -> tuple[str, ...]:
        """Scales of its ratings."""
        return (*(scale.name for scale in self.scales), *self.derived)

    @property
    def needs_reference(self) -> bool:
        """Whether there must be a folder of references."""
        return self.open_reference or self.hidden_reference

    @property
    def scale_orders(self) -> tuple[tuple[str, ...], ...]:
        """Orders in which scales are asked."""
        return self.orders or (tuple(scale.name for scale in self.scales),)

    def extra(self, reference: str) -> tuple[str, ...]:
        """Folders that trials need beside those of the systems."""
        return (reference,) if self.needs_reference else ()

    @abstractmethod
    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        """What is compared in one trial."""

    @abstractmethod
    def ways(self, treatment: Treatment, rng: np.random.Generator) -> list[Way]:
        """Orders of presentation that are used equally often."""

    def against(self, treatment: Treatment) -> str:
        """Which of two the other is rated against; nothing where systems are rated alone."""
        del treatment
        return ""

    @abstractmethod
    def asks(self, trial: Trial) -> list[TrialQuestion]:
        """All questions of a trial."""

    @abstractmethod
    def make_ratings(self, trial: Trial, values: Values, rate: RatingFactory) -> Iterator[Rating]:
        """Ratings that follow from answers that were found to be right."""

    @abstractmethod
    def simulate(self, trial: Trial, person: Person, rng: np.random.Generator) -> dict[str, Any]:
        """What a simulated listener answers."""

    def find_contradictions(self, trial: Trial, values: Values) -> Iterator[str]:
        """What is wrong with answers that are each allowed; nothing unless a kind says so."""
        del trial, values
        yield from ()

    def trials(
        self,
        items: Sequence[str],
        systems: Sequence[str],
        sessions: int,
        rng: np.random.Generator,
        reference: str = "",
        *,
        pool: PanelHistory | None = None,
        asked: Sequence[tuple[str, ...]] = (),
        block: int = 0,
    ) -> list[list[Trial]]:
        """All trials of one listener: every item with everything that is compared.

        The pool is what the panel heard so far, ``asked`` the order of scales of every session.
        """
        treatments, pool = self.treatments(systems, reference), pool or PanelHistory()
        order = listener_order(items, treatments, sessions, rng, pool)
        asked = asked or (self.scale_orders[0],) * sessions
        ways = {treatment: self._deal_ways(treatment, items, pool) for treatment in treatments}
        return [
            [
                self._trial(item, treatment, ways[treatment][item], scales, block, pool)
                for item, treatment in session
            ]
            for session, scales in zip(order, asked, strict=True)
        ]

    def _deal_ways(
        self, treatment: Treatment, items: Sequence[str], pool: PanelHistory
    ) -> dict[str, Way]:
        """A way of presenting for every item: the next one for the next listener, and item."""
        turn = pool.turns[treatment]
        pool.turns[treatment] += 1
        first = self.ways(treatment, pool.rng(treatment, 0, 0))
        if len(first) == 1:
            return dict.fromkeys(items, first[0])
        rounds = {0: first} if not self.drawn else {}
        way_of = {}
        for item, rank in zip(items, pool.ranks(treatment, len(items)), strict=True):
            place = rank // len(first) if self.drawn else 0
            if place not in rounds:
                rounds[place] = self.ways(treatment, pool.rng(treatment, place, turn // len(first)))
            way_of[item] = rounds[place][(rank + turn) % len(first)]
        return way_of

    def _trial(
        self,
        item: str,
        treatment: Treatment,
        way: Way,
        scales: tuple[str, ...],
        block: int,
        pool: PanelHistory,
    ) -> Trial:
        """A trial, or the same one that was made before."""
        key = item, way, scales
        trial = pool.trials.get(key)
        if trial is None:
            trial = Trial(item, way[0], scales, block, way[1], self.against(treatment))
            pool.trials[key] = trial
        return trial

    def trial_as_heard(
        self, item: str, shown: tuple[str, ...], systems: Sequence[str], reference: str
    ) -> Trial:
        """The trial in which these are heard in this order, of all systems that there are."""
        del systems, reference
        return Trial(item, shown, self.scale_orders[0])

    def intro_views(self, words: Wording, sound: Sound) -> dict[str, View]:
        """Pages that come before the first trial, by name; none unless a kind has some."""
        del words, sound
        return {}

    def view(
        self,
        trial: Trial,
        words: Wording,
        sound: Sound,
        reference: str = "",
        caption: Caption | None = None,
    ) -> View:
        """A page as data; what the sounds are cannot be seen from it."""
        del caption
        return {
            "kind": self.name,
            "renderer": self.renderer,
            "sounds": self._sounds(trial, words, sound, reference),
            "switching": self.switching,
            "plays": self.plays,
            "questions": self.questions(trial, words),
        }

    def questions(self, trial: Trial, words: Wording) -> list[View]:
        """What is asked, as data."""
        return [_question_view(ask, words) for ask in self.asks(trial)]

    def _sounds(self, trial: Trial, words: Wording, sound: Sound, reference: str) -> list[View]:
        return [
            {"address": sound(trial.item, system, place), "label": label}
            for place, (system, label) in enumerate(self.presented(trial, words, reference))
        ]

    def presented(self, trial: Trial, words: Wording, reference: str) -> list[tuple[str, str]]:
        """Systems that are heard, in order, and what each is called on the page."""
        letters = self.letters if len(trial.systems) > 1 else ("",)
        sounds = list(zip(trial.systems, letters, strict=False))
        first = [(reference, words.pages["reference"])] if self.open_reference else []
        return first + sounds

    def read(
        self, trial: Trial, values: Values, listener: int, session: int, number: int = 0
    ) -> list[Rating]:
        """Ratings, or all that is wrong with answers to trial ``number`` of a session."""
        wrong = dict(self._misfits(trial, values)) or list(self.find_contradictions(trial, values))
        if wrong:
            raise BadAnswer(wrong)
        return list(
            self.make_ratings(trial, values, RatingFactory(trial, listener, session, number))
        )

    def _misfits(self, trial: Trial, values: Values) -> Iterator[tuple[str, str]]:
        """Answers that cannot be, by name, and why."""
        asks = {ask.name: ask for ask in self.asks(trial)}
        for name, ask in asks.items():
            scale = ask.scale
            if name not in values:
                yield name, f"{name} is not answered"
            elif not scale.allows(values[name]):
                limits = f"from {scale.low:g} to {scale.high:g} in steps of {scale.step:g}"
                yield name, f"{name} must be {limits}, got {values[name]!r}"
        for name in values:
            if name not in asks:
                yield name, f"nobody asked for {name!r}"

    @abstractmethod
    def load(self, systems: int) -> Load:
        """What a listener has to do for one clip, if so many systems are heard."""


# --- Load, ratings and questions of a trial ------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """Trials, sounds to hear and questions to answer; ``how`` is the product for the sounds."""

    trials: int
    sounds: int
    questions: int
    how: str


@dataclass(frozen=True)
class RatingFactory:
    """Makes ratings of one trial."""

    trial: Trial
    listener: int
    session: int
    number: int = 0

    def __call__(self, system: str, scale: str, value: float, against: str | None = None) -> Rating:
        trial = self.trial
        other = None if against is None else Key(trial.item, against)
        place = trial.systems.index(system)
        asked = trial.scales.index(scale) + 1 if scale in trial.scales else 0
        return Rating(
            Key(trial.item, system),
            scale,
            self.listener,
            self.session,
            float(value),
            other,
            place,
            self.number,
            asked,
        )


def _question_view(ask: TrialQuestion, words: Wording) -> View:
    scale, labels = ask.scale, words.labels(ask.scale.name)
    shown: View = {"name": ask.name, "prompt": words.prompt(scale.name), "sound": ask.sound}
    if scale.slider:
        limits = {"low": scale.low, "high": scale.high, "step": scale.step}
        return shown | {"answer": "slider", **limits, "labels": labels}
    options = [
        {"value": int(value), "label": label}
        for value, label in zip(scale.values, labels, strict=True)
    ]
    return shown | {"answer": "choice", "options": options}
