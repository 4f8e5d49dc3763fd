"""TrialKind: creates trials and their blind pages, reads answers and simulates listeners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from numpy.random import Generator

from earwitness.analysis.evidence import REPEAT_ROLE
from earwitness.core import Key, Rating
from earwitness.docstrings import parameter_phrases
from earwitness.errors import BadAnswer, UsageError
from earwitness.ratings.rubric import Rubric
from earwitness.ratings.rubric_totals import Blank
from earwitness.ratings.scales import Scale
from earwitness.studies.design.orders import PanelHistory, listener_order, rotated_order
from earwitness.studies.population import Person
from earwitness.studies.study import Names, Question, SpokenText, Trial
from earwitness.studies.trials.template import StudyTemplate
from earwitness.studies.wording import ScaleTexts, Wording

Sound = Callable[[str, str, int], str]  # blind address of an item and system at a position
Caption = Callable[[str, str], str]  # caption of an item by a system
View = dict[str, Any]
Values = Mapping[str, Any]  # of a page, by name
Treatment = Names
Way = tuple[Names, int]  # systems as presented, and the index of X
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


# --- Kinds of trials -----------------------------------------------------------------------------


@dataclass(frozen=True)
class TrialQuestion:
    """A question of a trial: its name, its scale, and the index of the sound it is about.

    ``system`` is the one that its answer rates, if there is one.
    """

    name: str
    scale: Scale
    sound: int
    system: str = ""


@dataclass(frozen=True)
class TrialKind(ABC):
    """Base class of trial kinds: a frozen dataclass whose fields are the parameters of a block.

    A plug-in subclasses it, sets the class attributes ``name``, ``title`` and ``references``, and
    implements the abstract methods. ``renderer`` is the script that shows trials in a browser: the
    name of a built-in one, or the path of its own, with a style sheet of the same name beside it,
    if any. ``texts`` has the prompt and labels of its own scales by language.

    Parameters
    ----------
    plays
        Number of times each sound may be played (0: unlimited).
    """

    plays: int = 0

    name: ClassVar[str]
    title: ClassVar[str]
    fixed: ClassVar[tuple[Scale, ...]] = ()  # scales that do not depend on parameters
    orders: ClassVar[tuple[Names, ...]] = ()  # orders of scales (default: that of ``scales``)
    compared = "system"  # what varies from trial to trial
    switching = False  # free switching between sounds; otherwise played in sequence
    is_single = False  # clips are rated one at a time
    has_known_answers = False  # practice answers can have expected ones
    open_reference: ClassVar[bool] = False  # the reference is presented and labelled
    hidden_reference: ClassVar[bool] = False  # the reference is rated like a system
    letters = LETTERS  # labels of several sounds
    is_paired = False  # systems are rated relative to each other
    unknown = False  # one of the sounds is repeated as X
    drawn = False  # all systems are in one trial, in an order drawn at random
    rotated = False  # one trial per item, whose positions rotate over listeners
    derived: ClassVar[Names] = ()  # scales computed from others
    captioned = False  # systems are captions of one sound
    transcribed = False  # items have transcripts, and at most one sound
    summarized = False  # systems are summaries of transcripts
    highlights = False  # words are highlighted while they are heard
    on_paper = False  # can be answered on paper sheets
    is_levelled = True  # sounds of an item should be equally long and loud
    rates_systems = True  # whether answers are ratings of systems
    renderer: ClassVar[str | Path] = ""
    texts: ClassVar[Mapping[str, ScaleTexts]] = {}
    template: ClassVar[StudyTemplate] = StudyTemplate()
    protocol = ""  # name and procedure for methods paragraphs, in the past tense
    references: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        if isinstance(self.plays, bool) or not isinstance(self.plays, int) or self.plays < 0:
            raise UsageError(f"plays must be a whole number of at least 0, got {self.plays!r}")

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Return the parameters with their defaults."""
        return {f.name: f.default for f in fields(cls) if f.init}

    @classmethod
    def help(cls, name: str) -> str:
        """Return the description of a parameter."""
        return parameter_phrases(cls).get(name, "")

    @classmethod
    def renderer_name(cls) -> str:
        """Return the name under which browsers load the renderer; empty if there is none."""
        return f"plugin/{cls.name}" if isinstance(cls.renderer, Path) else cls.renderer

    @classmethod
    def screening_rules(cls) -> set[str]:
        """Return the screening rules that were made for its scales."""
        return {rule for scale in cls.fixed for rule in scale.rules}

    @property
    def scales(self) -> tuple[Scale, ...]:
        """Scales that listeners answer on."""
        return self.fixed

    def describe_protocol(self) -> str:
        """Return the protocol as a phrase for methods paragraphs; by default the title."""
        return self.protocol or self.title

    def with_transcript(self, transcript: SpokenText) -> TrialKind:
        """Return the kind for trials about a transcript; by default the same."""
        return self

    @property
    def plays_audio(self) -> bool:
        """Whether any sound is played."""
        return True

    @property
    def anchor_systems(self) -> Names:
        """Anchors, which are rated like systems: their folders."""
        return ()

    def rubric_totals(self) -> tuple[Rubric | None, Blank]:
        """Return the rubric of captions, if any, and the effect of blank values on its total."""
        return None, "drop"

    @property
    def example_sounds(self) -> list[str]:
        """Audio files of the examples that are shown before the first trial."""
        return []

    @property
    def within(self) -> str:
        """Covariate whose clips are heard together, or an empty string."""
        return ""

    def results(self) -> Names:
        """Return the scales of the ratings, including derived ones."""
        return (*(scale.name for scale in self.scales), *self.derived)

    @property
    def needs_reference(self) -> bool:
        """Whether a folder of references is required."""
        return self.open_reference or self.hidden_reference

    @property
    def scale_orders(self) -> tuple[Names, ...]:
        """Orders in which scales are asked."""
        return self.orders or (tuple(scale.name for scale in self.scales),)

    def extra(self, reference: str) -> Names:
        """Return the folders that trials need in addition to those of the systems."""
        return (*((reference,) if self.needs_reference else ()), *self.anchor_systems)

    def treatments(self, systems: Sequence[str], reference: str) -> list[Treatment]:
        """Return the treatments: the systems compared in one trial; by default one, or all."""
        return [tuple(systems)] if self.drawn else [(system,) for system in systems]

    def ways(self, treatment: Treatment, rng: Generator) -> list[Way]:
        """Return the presentation orders of a treatment, which are used equally often."""
        if not self.drawn:
            return [(treatment, 0)]
        order = [treatment[i] for i in rng.permutation(len(treatment))]
        return [(tuple(order[n:] + order[:n]), 0) for n in range(len(order))]

    def against(self, treatment: Treatment) -> str:
        """Return the system that the other is rated against; empty if systems are rated alone."""
        return ""

    @abstractmethod
    def asks(self, trial: Trial) -> list[TrialQuestion]:
        """Return all questions of a trial."""

    def make_ratings(self, trial: Trial, values: Values, rate: RatingFactory) -> Iterator[Rating]:
        """Yield the ratings of valid answers; by default one per question, of its system."""
        for ask in self.asks(trial):
            yield rate(ask.system, ask.scale.name, values[ask.name])

    def simulate(self, trial: Trial, person: Person, rng: Generator) -> dict[str, Any]:
        """Return the answers of a simulated listener, who by default rates systems one by one."""
        return {
            ask.name: ask.scale.at(person.hears(trial.item, ask.system, ask.scale.name, rng))
            for ask in self.asks(trial)
        }

    def find_contradictions(self, trial: Trial, values: Values) -> Iterator[str]:
        """Yield contradictions between answers that are each valid; none by default."""
        yield from ()

    def trials(
        self,
        items: Sequence[str],
        systems: Sequence[str],
        sessions: int,
        rng: Generator,
        reference: str = "",
        *,
        pool: PanelHistory | None = None,
        asked: Sequence[Names] = (),
        block: int = 0,
    ) -> list[list[Trial]]:
        """Return all trials of one listener by session: each item with each treatment.

        Parameters
        ----------
        items
            Names of the clips.
        systems
            Systems that the listener hears.
        sessions
            Number of sessions.
        rng
            Random generator of the listener.
        reference
            Name of the reference, if any.
        pool
            Counts of the panel so far, which are updated.
        asked
            Order of scales in each session.
        block
            Index of the block.
        """
        treatments, pool = self.treatments(systems, reference), pool or PanelHistory()
        if self.rotated:
            order = rotated_order(items, treatments[0], sessions, pool)
        else:
            order = listener_order(items, treatments, sessions, rng, pool)
        asked = asked or (self.scale_orders[0],) * sessions
        ways = {treatment: self._deal_ways(treatment, items, pool) for treatment in treatments}
        made = list[list[Trial]]()
        for session, scales in zip(order, asked, strict=True):
            made.append([])
            for item, treatment in session:
                systems, target = way = ways[treatment][item]
                if (
                    key := (item, way, scales)
                ) not in pool.trials:  # else an identical one is reused
                    against = self.against(treatment)
                    pool.trials[key] = Trial(item, systems, scales, block, target, against)
                made[-1].append(pool.trials[key])
        return made

    def _deal_ways(
        self, treatment: Treatment, items: Sequence[str], pool: PanelHistory
    ) -> dict[str, Way]:
        """Return a presentation order per item, rotating over listeners and items."""
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

    def trial_as_heard(
        self, item: str, shown: Names, systems: Sequence[str], reference: str
    ) -> Trial:
        """Return the trial with these systems in this order."""
        return Trial(item, shown, self.scale_orders[0])

    def intro_views(self, words: Wording, sound: Sound) -> dict[str, View]:
        """Return the pages before the first trial by name; none by default."""
        return {}

    def check_question(self, words: Wording) -> Question | None:
        """Return a question to answer correctly before the first trial; none by default."""
        return None

    def definitions(self, words: Wording) -> str:
        """Return definitions that can be read again on the page of the check question."""
        return ""

    def practice_text(self, trials: Sequence[Trial], words: Wording, *, feedback: bool) -> str:
        """Return the text before practice."""
        return words.page("training_told")

    def session_text(self, trials: Sequence[Trial], words: Wording) -> str:
        """Return the text before a session."""
        return words.page("session_told", trials=len(trials))

    def feedback_view(self, trial: Trial, words: Wording) -> View:
        """Return what the feedback page of a practice trial has in addition to its rows."""
        return {}

    def repeat_trial(self, trial: Trial, rng: Generator) -> Trial:
        """Return a trial as it is presented again; by default the same."""
        return replace(trial, role=REPEAT_ROLE)

    def practice_trials(self, trials: Sequence[Trial]) -> list[Trial]:
        """Return the practice trials, given those of practice clips; by default the same."""
        return list(trials)

    def view(
        self,
        trial: Trial,
        words: Wording,
        sound: Sound,
        reference: str = "",
        caption: Caption | None = None,
    ) -> View:
        """Return the page of a trial as data, without revealing its systems."""
        return {
            "kind": self.name,
            "renderer": self.renderer_name(),
            "sounds": [
                {"address": sound(trial.item, system, place), "label": label}
                for place, (system, label) in enumerate(self.presented(trial, words, reference))
            ],
            "switching": self.switching,
            "plays": self.plays,
            "questions": self.questions(trial, words),
            **self.details(trial, words, caption),
        }

    def details(self, trial: Trial, words: Wording, caption: Caption | None) -> View:
        """Return what a page shows besides sounds and questions; nothing by default."""
        return {}

    def questions(self, trial: Trial, words: Wording) -> list[View]:
        """Return the questions of a trial as data."""
        return [_question_view(ask, words) for ask in self.asks(trial)]

    def presented(self, trial: Trial, words: Wording, reference: str) -> list[tuple[str, str]]:
        """Return the presented systems in order, each with its label on the page."""
        letters = self.letters if len(trial.systems) > 1 else ("",)
        sounds = list(zip(trial.systems, letters, strict=False))
        first = [(reference, words.pages["reference"])] if self.open_reference else []
        return first + sounds

    def read(
        self, trial: Trial, values: Values, listener: int, session: int, number: int = 0
    ) -> list[Rating]:
        """Return the ratings of the answers to a trial.

        Parameters
        ----------
        trial
            The trial.
        values
            Answers by name of the question.
        listener, session, number
            Number of the listener, of the session, and of the trial in its session.

        Raises
        ------
        BadAnswer
            If answers are missing, invalid or contradictory.
        """
        wrong = dict(self._misfits(trial, values)) or list(self.find_contradictions(trial, values))
        if wrong:
            raise BadAnswer(wrong)
        return list(
            self.make_ratings(trial, values, RatingFactory(trial, listener, session, number))
        )

    def _misfits(self, trial: Trial, values: Values) -> Iterator[tuple[str, str]]:
        """Yield the names of missing, invalid or unexpected answers, each with a message."""
        asks = {ask.name: ask for ask in self.asks(trial)}
        for name, ask in asks.items():
            scale = ask.scale
            if name not in values:
                yield name, f"{name} has no answer"
            elif not scale.allows(values[name]):
                limits = f"from {scale.low:g} to {scale.high:g} in steps of {scale.step:g}"
                yield name, f"{name} must be {limits}, got {values[name]!r}"
        for name in values:
            if name not in asks:
                yield name, f"unknown question {name!r}"

    @abstractmethod
    def load(self, systems: int) -> Load:
        """Return the workload of one clip with this number of systems."""


@dataclass(frozen=True)
class SwitchedKind(TrialKind):
    """Base class of trial kinds with free switching between sounds.

    Parameters
    ----------
    restart
        Start from the beginning after switching, not at the same position.
    """

    restart: bool = False

    switching = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("restart", self.restart)

    def details(self, trial: Trial, words: Wording, caption: Caption | None) -> View:
        """Return the way of switching."""
        return {"restart": self.restart}


def check_flag(name: str, value: object) -> None:
    """Raise UsageError if a parameter is neither true nor false."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be true or false, got {value!r}")


def is_number(value: object, low: float, high: float) -> bool:
    """Return whether a value is a number between two ends."""
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


# --- Several captions or summaries on a page -----------------------------------------------------


def caption_questions(trial: Trial, scales: Sequence[Scale]) -> list[TrialQuestion]:
    """Return a question per caption and scale; captions are labelled with letters."""
    return [
        TrialQuestion(f"{letter}.{scale.name}", scale, 0, system)
        for letter, system in zip(LETTERS, trial.systems, strict=False)
        for scale in scales
    ]


def caption_views(trial: Trial, caption: Caption | None) -> list[View]:
    """Return the captions of a trial as data, in the order of their letters."""
    return [
        {"label": letter, "text": caption(trial.item, system) if caption else ""}
        for letter, system in zip(LETTERS, trial.systems, strict=False)
    ]


# --- Load, ratings and questions of a trial ------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """Workload: numbers of trials, sounds and questions; ``how`` explains the number of sounds.

    ``browsing`` are the seconds in which a long recording is browsed.
    """

    trials: int
    sounds: int
    questions: int
    how: str
    browsing: float = 0.0


@dataclass(frozen=True)
class RatingFactory:
    """Creates ratings of one trial."""

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
        labels = labels[::-1] if scale.good == "low" else labels  # from the upper end down
        return shown | {"answer": "slider", **limits, "labels": labels}
    options = [
        {"value": int(value), "label": label}
        for value, label in zip(scale.values, labels, strict=True)
    ]
    return shown | {"answer": "choice", "options": options}
