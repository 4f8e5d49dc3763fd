"""Results of a listening study: means, contrasts, agreement, screening and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Literal

from earwitness.core import Contrast, Estimate, Input, Key, Rating, Value
from earwitness.studies.study import Analysis, Rule

# --- Results by group ----------------------------------------------------------------------------


Sort = Literal["item", "listener"]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which group every item, or every listener, is of; those that are not named are of none."""

    of: Sort
    groups: Mapping[int | str, str]

    def group(self, rating: Rating) -> str:
        """The group of a rating, or nothing."""
        return self.groups.get(rating.key.item if self.of == "item" else rating.listener, "")


Groupings = Mapping[str, Grouping]


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The mean of a system in a group, and what it rests on."""

    mean: Estimate
    votes: int
    listeners: int
    items: int


@dataclass(frozen=True, slots=True)
class GroupResults:
    """Systems among the items, or the listeners, of one group.

    p of contrasts is corrected over all groups and pairs of the field. ``agreement`` has figures of
    the listeners of the group, where it is one of listeners.
    """

    name: str
    systems: Mapping[str, GroupMean]
    contrasts: tuple[Contrast, ...]
    agreement: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class DifferenceTest:
    """A difference with its p, as it is and corrected."""

    difference: Estimate
    p: float
    p_corrected: float


@dataclass(frozen=True, slots=True)
class Interaction:
    """How much larger the difference of ``a`` and ``b`` is in one group than in another.

    ``modelled`` is the same by the mixed model, where one is fitted beside the planned test.
    """

    a: str
    b: str
    first: str
    second: str
    tested: DifferenceTest
    modelled: DifferenceTest | None = None


@dataclass(frozen=True, slots=True)
class FieldGroups:
    """One scale by one field; ``of`` says whether items or listeners are divided."""

    field: str
    of: Sort
    groups: tuple[GroupResults, ...]
    interactions: tuple[Interaction, ...] = ()


# --- Equivalence and rubric results --------------------------------------------------------------


FaultKind = Literal["off scale", "positive penalty", "blank", "other total", "duplicate"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests that two systems differ by less than a margin.

    ``difference`` has the interval at 1 − 2 alpha. ``within`` is the smallest margin that it fits
    into; ``margin`` and p are NaN where no margin was said. ``shown`` says that the corrected p is
    below alpha: where it is not, the two may still be different, or equal.
    """

    value: str
    a: str
    b: str
    difference: Estimate
    within: float
    margin: float
    p: float
    p_corrected: float
    shown: bool


@dataclass(frozen=True, slots=True)
class Correlation:
    """How far two dimensions go together.

    ``pearson`` and ``spearman`` are over captions (means over raters), ``within`` is Pearson's over
    single votes, each less its rater's mean. Intervals are by a bootstrap over items.
    """

    a: str
    b: str
    pearson: Estimate
    spearman: Estimate
    within: Estimate


@dataclass(frozen=True, slots=True)
class RatingFault:
    """Something wrong or odd with what raters gave or judged, and what was done about it."""

    kind: FaultKind
    told: str
    done: str
    item: str = ""
    system: str = ""
    listener: int | str = ""
    scale: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class ContrastWithoutDuplicates:
    """A contrast with all captions, and without those whose words stand in two places."""

    value: str
    a: str
    b: str
    every: DifferenceTest
    rest: DifferenceTest
    items: int
    rest_items: int


@dataclass(frozen=True, slots=True)
class RubricResults:
    """What ratings by a rubric have beside their scales; ``blank`` is the policy for blanks."""

    name: str
    formula: str
    blank: str
    dimensions: tuple[str, ...]
    correlations: tuple[Correlation, ...] = ()
    without: tuple[ContrastWithoutDuplicates, ...] = ()


# --- Results by scale ----------------------------------------------------------------------------


Who = int | str  # a listener: a number in studies, a name in tables


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """One system on one scale.

    ``mean`` has the planned interval, ``intervals`` those of all methods that were asked for.
    ``counts`` has votes by value. ``good`` and ``poor`` are shares of votes that are Good or better
    and Poor or worse, where the scale has five points; ``floor`` and ``ceiling`` are shares of
    those at its ends.
    """

    mean: Estimate
    intervals: Mapping[str, Estimate]
    votes: int
    listeners: int
    items: int
    sd: float
    counts: Mapping[float, int]
    good: Estimate | None = None
    poor: Estimate | None = None
    floor: Estimate | None = None
    ceiling: Estimate | None = None


@dataclass(frozen=True, slots=True)
class ListenerAgreement:
    """How far listeners agree: all of them, or those of one panel.

    ``figures`` has estimates by name: ICC(2,1), ICC(2,k), and alpha by level of measurement.
    """

    panel: str
    listeners: int
    stimuli: int
    figures: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class ListenerFigures:
    """One listener on one scale, beside the mean of the others on the same stimuli.

    ``bias`` is the mean difference, ``inconsistency`` the spread of differences about it, ``usual``
    the share of the value given most often, ``run`` the longest row of equal votes in a session;
    ``means`` has the listener's own mean by system, ``alike`` is the share of trials with the same
    number on all scales, where there are several.
    """

    listener: Who
    votes: int
    mean: float
    sd: float
    bias: float
    inconsistency: float
    correlation: float
    rmse: float
    usual: float
    run: int
    means: Mapping[str, float] = field(default_factory=dict)
    alike: float = nan


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subject model of P.910 (annex E): qualities of stimuli, biases and inconsistencies.

    ``floored`` are listeners whose inconsistency would have gone below the floor, and ``warning``
    says so.
    """

    qualities: Mapping[Key, Estimate]
    systems: Mapping[str, float]
    biases: Mapping[Who, Estimate]
    inconsistencies: Mapping[Who, Estimate]
    floor: float
    floored: tuple[Who, ...]
    rounds: int
    converged: bool
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What should not matter: the place in a session, the session, the order of scales.

    ``what`` says what is compared, ``difference`` in points of the scale, with its p.
    """

    name: str
    what: str
    difference: Estimate
    p: float


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One item of one system with all its votes, by listener."""

    key: Key
    votes: tuple[float, ...]
    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class PairChoices:
    """One pair of systems: how often ``a`` was chosen, ``b``, or neither; for ABX right or wrong.

    ``share`` is that of ``a`` among choices with its exact interval, ``p`` that of the exact test
    against one half; ``sensitivity`` is d′ (ABX, by ``model``), else NaN. ``listeners`` has
    the same by listener: chosen a, chosen b, ties and p.
    """

    a: str
    b: str
    wins: int
    losses: int
    ties: int
    share: Estimate
    p: float
    corrected: float
    over_listeners: Estimate
    p_over_listeners: float
    sensitivity: Estimate | None = None
    listeners: Mapping[Who, tuple[int, int, int, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BradleyTerryAbilities:
    """Bradley–Terry with ties (Davidson): log abilities, summing to 0, and log of the tie factor.

    Intervals are by the sandwich over listeners. ``separated`` says that some are not finite.
    """

    systems: Mapping[str, Estimate]
    ties: Estimate | None
    separated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScreeningVerdict:
    """What a rule found of a listener: its figure beside its limit, and whether they are kept."""

    listener: Who
    rule: str
    scale: str
    figures: str
    kept: bool
    session: int = 0


@dataclass(frozen=True, slots=True)
class ScaleResults:
    """All about one scale; ``everyone`` are means of all listeners, also those left out.

    ``modelled`` are the same contrasts by the mixed model, which speak about other items too.
    """

    value: Value
    systems: Mapping[str, SystemMeans]
    contrasts: tuple[Contrast, ...]
    everyone: Mapping[str, Estimate]
    agreement: tuple[ListenerAgreement, ...] = ()
    listeners: tuple[ListenerFigures, ...] = ()
    subjects: Subjects | None = None
    effects: tuple[Effect, ...] = ()
    stimuli: tuple[Stimulus, ...] = ()
    choices: tuple[PairChoices, ...] = ()
    abilities: BradleyTerryAbilities | None = None
    components: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    modelled: tuple[Contrast, ...] = ()
    equivalences: tuple[Equivalence, ...] = ()
    groups: tuple[FieldGroups, ...] = ()


@dataclass(frozen=True, slots=True)
class RepeatedVote:
    """Votes of one listener on one stimulus and scale, and the one that counts."""

    key: Key
    scale: str
    listener: Who
    values: tuple[float, ...]
    counted: float


@dataclass(frozen=True, slots=True)
class Retest:
    """What listeners who voted twice on the same stimuli say the second time, on one scale.

    ``change`` is the second vote less the first, over listeners; ``error`` the standard deviation
    of a single vote about what the listener would say on average; ``same`` is the share of equal
    votes.
    """

    scale: str
    pairs: int
    change: Estimate
    error: float
    same: float
    correlation: float


@dataclass(frozen=True, slots=True)
class Results:
    """All that follows from the ratings of a study, or of a table.

    ``listeners`` counts all of them, ``left`` are those left out by screening, by the ``rules``;
    ``rule`` says how doubled votes are resolved; ``version`` is that of the program. ``controls``
    are hidden references and anchors, which are rated but do not compete; ``study`` is the digest
    of the study file, ``simulated`` whether its listeners are, and ``changed`` says where the
    analysis differs from the plan of the study. ``failed`` are listeners that rules would leave
    out: those ``left``, or everybody, who then are all kept. ``people`` has groups of listeners, by
    field; ``faults`` is what is odd about ratings or captions, with what was done about it.
    """

    title: str
    signature: str
    inputs: tuple[Input, ...]
    plan: Analysis
    scales: tuple[ScaleResults, ...]
    listeners: int
    screened: tuple[ScreeningVerdict, ...] = ()
    left: tuple[Who, ...] = ()
    doubled: tuple[RepeatedVote, ...] = ()
    rule: str = ""
    rules: tuple[Rule, ...] = ()
    version: str = ""
    notes: tuple[str, ...] = ()
    retests: tuple[Retest, ...] = ()
    controls: tuple[str, ...] = ()
    study: str = ""
    simulated: bool = False
    changed: tuple[str, ...] = ()
    failed: tuple[Who, ...] = ()
    people: Mapping[Who, Mapping[str, str]] = field(default_factory=dict)
    faults: tuple[RatingFault, ...] = ()
    rubric: RubricResults | None = None
