"""Results of a listening study: means, contrasts, agreement, screening and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

from earwitness.analysis.evidence import RepeatedVote
from earwitness.analysis.plan import Analysis, Rule
from earwitness.core import Contrast, Estimate, Input, Key, Value
from earwitness.ratings.records import RatingFault, Sort, Who
from earwitness.report.result import Result
from earwitness.stats.ellipses import MeanEllipse
from earwitness.stats.means import ITEM_T

# --- Results by group ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupMean:
    """Mean of a system in a group, with numbers of votes, listeners and items."""

    mean: Estimate
    votes: int
    listeners: int
    items: int


@dataclass(frozen=True, slots=True)
class GroupResults:
    """Means and contrasts of systems in one group of items or listeners.

    p of contrasts is corrected across all groups and pairs of the field. ``agreement`` has the
    agreement of the listeners of a group of listeners.
    """

    name: str
    systems: Mapping[str, GroupMean]
    contrasts: tuple[Contrast, ...]
    agreement: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class DifferenceTest:
    """A difference with p and corrected p."""

    difference: Estimate
    p: float
    p_corrected: float


@dataclass(frozen=True, slots=True)
class Interaction:
    """Difference of the ``a`` − ``b`` differences between two groups.

    ``modelled`` is the same by the mixed model, if it is fitted in addition to the planned test.
    """

    a: str
    b: str
    first: str
    second: str
    tested: DifferenceTest
    modelled: DifferenceTest | None = None


@dataclass(frozen=True, slots=True)
class FieldGroups:
    """Results of one scale by one field; ``of`` is "item" or "listener"."""

    field: str
    of: Sort
    groups: tuple[GroupResults, ...]
    interactions: tuple[Interaction, ...] = ()


# --- Equivalence and rubric results --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Equivalence of two systems by two one-sided tests (TOST).

    ``difference`` has the confidence interval at 1 − 2 alpha. ``within`` is the smallest margin
    that contains it; ``margin`` and p are NaN if no margin is set. ``shown`` is true if the
    corrected p is below alpha; if it is false, the systems may be different or equal.
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
    """Correlation of two dimensions.

    ``pearson`` and ``spearman`` are over captions (means over raters), ``within`` is Pearson's over
    single votes minus the rater's mean. Confidence intervals are by a bootstrap over items.
    """

    a: str
    b: str
    pearson: Estimate
    spearman: Estimate
    within: Estimate


@dataclass(frozen=True, slots=True)
class AlternativeContrast:
    """A contrast with all rows (``every``), and without rows that have a fault (``rest``).

    ``alternative`` describes the latter, such as "without 2 duplicate captions". If totals of means
    deviate from the formula, it has those by the formula. ``items`` and ``rest_items`` are the
    numbers of items rated for both systems.
    """

    value: str
    a: str
    b: str
    alternative: str
    every: DifferenceTest
    rest: DifferenceTest
    items: int
    rest_items: int


@dataclass(frozen=True, slots=True)
class RubricResults:
    """Additional results of ratings by a rubric; ``blank`` is the policy for blanks.

    ``published`` is whether totals of means are those of the table.
    """

    name: str
    formula: str
    blank: str
    dimensions: tuple[str, ...]
    correlations: tuple[Correlation, ...] = ()
    published: bool = False


# --- Results by scale ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """Mean and votes of one system on one scale.

    ``mean`` has the planned interval, ``intervals`` those of all computed methods; ``vote_mean`` is
    the plain mean of votes, to which listeners contribute by their numbers of votes. ``counts`` has
    the number of votes by value. ``good`` and ``poor`` are the shares of votes that are Good or
    better and Poor or worse, on five-point scales; ``floor`` and ``ceiling`` are the shares of
    votes at the ends of the scale. Tables of means have no listeners and no shares, and means in
    the place of votes.
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
    vote_mean: float = nan

    @property
    def units(self) -> int:
        """Number of listeners, or of items in tables of means."""
        return self.listeners or self.items

    @property
    def equal_votes(self) -> int:
        """Number of votes if all are equal, else 0."""
        return self.votes if self.listeners and len(self.counts) == 1 else 0


@dataclass(frozen=True, slots=True)
class ListenerAgreement:
    """Agreement of all listeners, or of one panel.

    ``figures`` has estimates by name: the intraclass correlations ICC(2,1) and ICC(2,k), and
    Krippendorff's alpha by level of measurement.
    """

    panel: str
    listeners: int
    stimuli: int
    figures: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class ListenerFigures:
    """One listener on one scale, relative to the mean of the others on the same stimuli.

    ``bias`` is the mean difference, ``inconsistency`` the standard deviation of differences,
    ``usual`` the share of the most frequent value, ``run`` the largest number of equal votes in a
    row in a session; ``means`` has the listener's mean by system, ``alike`` is the share of trials
    with the same vote on all scales, if there are several.
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
    """The subject model of ITU-T P.910, Annex E: qualities, biases and inconsistencies.

    ``floored`` are listeners whose inconsistency was estimated below the floor and set to it;
    ``warning`` reports them.
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
    """Effect of trial order, session, position on the page or order of scales.

    ``what`` describes the comparison; ``difference`` is in scale points.
    """

    name: str
    what: str
    difference: Estimate
    p: float


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One item of one system with its votes, by listener; tables of means have no votes."""

    key: Key
    votes: tuple[float, ...]
    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class StimulusComment:
    """A comment of a listener on one stimulus, without the listener."""

    key: Key
    text: str


@dataclass(frozen=True, slots=True)
class PairChoices:
    """Choices between two systems: ``a``, ``b`` or neither, on ``items`` items; for ABX correct
    or incorrect.

    ``share`` is the share of ``a``, where neither counts as half, with its confidence interval: the
    mean over listeners, or of all choices if results generalize to other items. ``p`` is that of a
    share of 0.5. With one listener, both are exact and without ties. ``sensitivity`` is d′ for ABX,
    else None. ``listeners`` has choices of a, choices of b, ties and exact p per listener.
    """

    a: str
    b: str
    wins: int
    losses: int
    ties: int
    items: int
    share: Estimate
    p: float
    corrected: float
    sensitivity: Estimate | None = None
    listeners: Mapping[Who, tuple[int, int, int, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BradleyTerryAbilities:
    """Bradley–Terry model with ties (Davidson): log abilities, which sum to 0, and log tie factor.

    Confidence intervals are cluster-robust (sandwich), over the clusters of the tests.
    ``separated`` are systems without a finite ability.
    """

    systems: Mapping[str, Estimate]
    ties: Estimate | None
    separated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScreeningVerdict:
    """Verdict of a rule on a listener: figures with limits, and whether the listener is kept."""

    listener: Who
    rule: str
    scale: str
    figures: str
    kept: bool
    session: int = 0


@dataclass(frozen=True, slots=True)
class FriedmanTest:
    """Friedman's test that all systems are ranked alike by listeners.

    ``listeners`` (or items, in tables of means) rated all ``systems``; others are not used.
    ``statistic`` has a chi-square distribution with ``freedom`` degrees of freedom. Statistic and p
    are NaN without listeners.
    """

    statistic: float
    freedom: int
    p: float
    listeners: int
    systems: int


@dataclass(frozen=True, slots=True)
class ScaleResults:
    """Results of one scale; ``everyone`` has means over all listeners, including excluded ones.

    ``modelled`` has the same contrasts by the mixed model, which generalizes to other items.
    ``controls`` are the hidden reference and the anchors of this scale, which are rated but not
    ranked. ``friedman`` is computed if pairs are compared by Wilcoxon's test. ``raters`` has the
    number of raters of each mean of a table of means, 0 if it is not known.
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
    controls: tuple[str, ...] = ()
    friedman: FriedmanTest | None = None
    raters: Mapping[Key, int] = field(default_factory=dict)


# --- TC/SD plane ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SystemPosition:
    """Mean position of a system on the TC/SD plane, with intervals and confidence ellipse."""

    tc: Estimate
    sd: Estimate
    ellipse: MeanEllipse


@dataclass(frozen=True, slots=True)
class PlanePosition:
    """A position on the TC/SD plane."""

    tc: float
    sd: float


@dataclass(frozen=True, slots=True)
class ListenerPlane:
    """Mean positions of a listener by system, and the listener's TC–SD correlation."""

    positions: Mapping[str, PlanePosition]
    correlation: float


@dataclass(frozen=True, slots=True)
class MethodContrasts:
    """Differences between methods of skims on one scale, over all values of z."""

    scale: str
    contrasts: tuple[Contrast, ...]
    modelled: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True)
class PlaneResults:
    """Positions of systems and of listeners on the TC/SD plane.

    ``correlation`` is that of TC and SD within listener and item. ``methods`` is empty if systems
    are not named after methods and z.
    """

    systems: Mapping[str, SystemPosition]
    listeners: Mapping[Who, ListenerPlane]
    correlation: Estimate
    methods: tuple[MethodContrasts, ...] = ()


# --- All results ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Retest:
    """Test–retest reliability on one scale, from repeated votes on the same stimuli.

    ``change`` is the second vote minus the first, over listeners; ``error`` is the standard error
    of measurement of a single vote; ``same`` is the share of identical votes.
    """

    scale: str
    pairs: int
    change: Estimate
    error: float
    same: float
    correlation: float


@dataclass(frozen=True, slots=True)
class Procedure:
    """How a study was run, in sentences for the methods paragraph.

    ``protocol`` is what was presented and asked, ``design`` what each listener heard, ``order`` the
    order of presentation, and ``playback`` what the pages required of listeners.
    """

    protocol: str
    design: str
    order: str
    playback: str


@dataclass(frozen=True, slots=True, repr=False)
class Results(Result):
    """All results of the ratings of a study or of a table.

    Attributes
    ----------
    listeners
        Number of listeners, including excluded ones; 0 for tables of means.
    left
        Listeners excluded by the screening ``rules``.
    failed
        Listeners who failed screening: ``left``, or all listeners, who are then all kept.
    rule
        How repeated votes are resolved.
    version
        Version of the program.
    controls
        Hidden references and anchors of any scale, which are rated but not ranked there.
    study
        Hash of the study file.
    simulated
        Whether listeners were simulated.
    changed
        Deviations from the planned analysis.
    people
        Groups of listeners, by field.
    faults
        Faults in ratings or captions and how they were handled.
    comments
        Comments of kept listeners on stimuli, sorted by item, system and text.
    procedure
        How the study was run; None for ratings without a study.
    alternatives
        Contrasts with all rows, and without rows that have a fault.
    plane
        Positions on the TC/SD plane, if both scales were rated.
    draws
        Number of bootstrap samples.
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
    comments: tuple[StimulusComment, ...] = ()
    procedure: Procedure | None = None
    alternatives: tuple[AlternativeContrast, ...] = ()
    plane: PlaneResults | None = None
    draws: int = 1000

    @property
    def choices(self) -> list[PairChoices]:
        """Choices of all scales."""
        return [choice for scale in self.scales for choice in scale.choices]

    @property
    def is_over_items(self) -> bool:
        """Whether values are means over raters, so that items are the units of inference."""
        return self.plan.interval == ITEM_T

    @property
    def units(self) -> int:
        """Number of kept listeners, or of items in tables of means."""
        if not self.is_over_items:
            return self.listeners - len(self.left)
        return len({stimulus.key.item for scale in self.scales for stimulus in scale.stimuli})
