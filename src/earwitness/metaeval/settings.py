"""Settings of an agreement analysis and their signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from earwitness.errors import UsageError, nearest
from earwitness.metaeval.coefficients import (
    LEVELS,
    RANKING_COEFFICIENTS,
    coefficient_levels,
)
from earwitness.metaeval.mapping import MAPPING_ORDERS
from earwitness.metaeval.pairwise_accuracy import FOLDS
from earwitness.metaeval.resampling import POPULATIONS
from earwitness.metaeval.results import Figure
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL
from earwitness.stats.votes import AGGREGATES

CORRECTION = "max_t"  # of p: step-down max-T
DEFAULT_LEVELS = ("system", "item")
MIN_SIZES_FOR_INTERVAL = {
    "systems": 6,
    "items": MIN_CASES_FOR_INTERVAL,
    "raters": MIN_CASES_FOR_INTERVAL,
}


@dataclass(frozen=True, kw_only=True)
class AgreementSettings:
    """Settings of an agreement analysis.

    Parameters
    ----------
    at
        Level at which scores and ratings are compared.
    coefficient
        Coefficient that ranks metrics; all others are reported as well.
    ranking
        Levels at which metrics are ranked.
    generalize
        What results hold for: other systems, items and raters; other items and raters on these
        systems; or other listeners of these items. Intervals resample these units; tests between
        metrics swap systems, or items on these systems.
    mapping
        Mapping of scores to the rating scale before errors are computed.
    level
        Confidence level of intervals.
    draws
        Number of bootstrap samples.
    permutations
        Number of permutations.
    splits
        Number of random splits of the raters into halves.
    folds
        Number of folds of tie calibration.
    gain, spread
        A sample is large enough if doubling it gains less than ``gain`` and the half range of
        draws is
        at most ``spread``.
    seed
        Random seed.
    version
        Version of Earwitness, for the signature.
    aggregate
        Rating of an output: mean or median of its votes, or mean of votes normalized per rater.
    partial
        Columns of scores to control for in partial correlations, or ``"length"``, that of outputs
        (needs ``--outputs``).
    by
        Fields of items or raters, such as dataset or jury, by which agreement is reported as well.
    fixed
        Units to which results do not generalize because there are too few; set by the analysis.

    Raises
    ------
    UsageError
        If a setting is unknown or out of range.
    """

    at: Annotated[tuple[str, ...], LEVELS] = DEFAULT_LEVELS
    coefficient: Annotated[str, RANKING_COEFFICIENTS] = "kendall_b"
    ranking: tuple[str, ...] = ("system", "item")
    generalize: Annotated[str, POPULATIONS] = "systems"
    mapping: Annotated[str, MAPPING_ORDERS] = "cubic"
    level: float = 0.95
    draws: int = 1000
    permutations: int = 1000
    splits: int = 200
    folds: int = FOLDS
    gain: float = 0.01
    spread: float = 0.1
    seed: int = 0
    version: str = ""
    aggregate: Annotated[str, AGGREGATES] = "mean"
    partial: Annotated[tuple[str, ...], "COLUMN"] = ()
    by: Annotated[tuple[str, ...], "FIELD"] = ()
    fixed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for setting, names, choices in (
            ("aggregate", [self.aggregate], AGGREGATES),
            ("coefficient", [self.coefficient], RANKING_COEFFICIENTS),
            ("population", [self.generalize], POPULATIONS),
            ("mapping", [self.mapping], MAPPING_ORDERS),
            ("level", [*self.at, *self.ranking], LEVELS),
        ):
            for name in names:
                if name not in choices:
                    raise UsageError(f'unknown {setting} "{name}" — {nearest(name, choices)}')
        if not 0 < self.level < 1:
            raise UsageError(f"level must be between 0 and 1, got {self.level:g}")
        for name in ("draws", "permutations", "splits"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.folds < 2:
            raise UsageError(f"folds must be 2 or more, got {self.folds}")
        if not self.ranked_figures:
            possible = ", ".join(coefficient_levels(self.coefficient))
            message = f"{self.coefficient} is not available at level {'+'.join(self.at)}"
            raise UsageError(f"{message} — use {possible}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, got {self.seed}")

    @property
    def alpha(self) -> float:
        """Significance level."""
        return 1 - self.level

    @property
    def over(self) -> str:
        """Units that the bootstrap resamples, as a key of ``RESAMPLED_AXES``."""
        units = [unit for unit in POPULATIONS[self.generalize] if unit not in self.fixed]
        return "all" if len(units) == len(MIN_SIZES_FOR_INTERVAL) else "+".join(units)

    @property
    def swap(self) -> str:
        """Units that the deciding tests between metrics swap."""
        return "systems" if self.generalize == "systems" else "items"

    @property
    def ranked_figures(self) -> list[Figure]:
        """Levels and coefficients by which metrics are ranked."""
        levels = [level for level in self.ranking if level in self.at] or list(self.at)
        fitting = [level for level in levels if level in coefficient_levels(self.coefficient)]
        return [Figure(level, self.coefficient) for level in fitting]

    @property
    def signature(self) -> str:
        """All settings on which results depend, apart from scores and ratings."""
        parts = [
            f"earwitness={self.version}",
            f"concordance(levels={'+'.join(self.at)},rank={self.coefficient}@"
            f"{'+'.join(figure.level for figure in self.ranked_figures)},"
            f"calibration={self.folds}folds,mapping={self.mapping},adjust=items)",
            f"generalize={self.generalize}",
            f"bootstrap(over={self.over},draws={self.draws},level={self.level:g})",
            f"permutation(swap={self.swap},n={self.permutations},correction={CORRECTION},"
            f"alpha={self.alpha:.4g})",
            f"ceiling(splits={self.splits})",
            f"enough(gain={self.gain:g},spread={self.spread:g})",
            f"seed={self.seed}",
        ]
        parts += [f"aggregate={self.aggregate}"] if self.aggregate != "mean" else []
        parts += [f"partial={'+'.join(self.partial)}"] if self.partial else []
        parts += [f"by={'+'.join(self.by)}"] if self.by else []
        return "|".join(parts)


# --- Settings for the available systems, items and raters ----------------------------------------


MIN_SYSTEMS_FOR_SYSTEM_LEVEL = 3  # two systems have one pair, which any metric orders or reverses
Sizes = tuple[int, int, int]  # numbers of systems, items and raters


def fit_settings(
    settings: AgreementSettings, sizes: Sequence[Sizes], *, paired: bool = False
) -> AgreementSettings:
    """Return settings that the numbers of systems, items and raters of each scale allow.

    One system is compared across its outputs, two systems within items; results then hold for these
    systems. Kinds of units of which there are too few are not resampled. Choices between systems
    (``paired``) have the system level only.
    """
    systems = max(size[0] for size in sizes)
    if systems < MIN_SYSTEMS_FOR_SYSTEM_LEVEL and not paired:
        possible = ("global",) if systems == 1 else ("item", "global")
        levels = tuple(level for level in settings.at if level in possible) or possible[:1]
        generalize = "items" if settings.generalize == "systems" else settings.generalize
        settings = replace(settings, at=levels, ranking=possible[:1], generalize=generalize)
    return replace(settings, fixed=fixed_units(settings.generalize, sizes))


def fixed_units(generalize: str, sizes: Sequence[Sizes]) -> tuple[str, ...]:
    """Return the units of which there are too few to resample, if there are enough others."""
    least = dict(zip(MIN_SIZES_FOR_INTERVAL, map(min, zip(*sizes, strict=True)), strict=True))
    units = POPULATIONS[generalize]
    few = tuple(unit for unit in units if least[unit] < MIN_SIZES_FOR_INTERVAL[unit])
    absent = tuple(unit for unit in few if not least[unit])  # means have no raters
    return absent if "systems" in few or len(few) == len(units) else few


def size_notes(
    asked: AgreementSettings, settings: AgreementSettings, sizes: Sequence[Sizes]
) -> Iterator[str]:
    """Yield how the numbers of systems, items and raters changed the settings."""
    systems = max(size[0] for size in sizes)
    if settings.ranking != asked.ranking:
        count = "is one system" if systems == 1 else "are two systems"
        where = "within items" if settings.ranked_figures[0].level == "item" else "across outputs"
        yield f"there {count}, so metrics are compared {where}"
    few = {
        unit: min(size[column] for size in sizes)
        for column, unit in enumerate(MIN_SIZES_FOR_INTERVAL)
        if unit in settings.fixed and any(size[column] for size in sizes)
    }
    if few:
        counts = " and ".join(f"{unit} ({count})" for unit, count in few.items())
        yield (
            f"there are too few {counts} to resample, so confidence intervals are over "
            f"{settings.over.replace('+', ' and ')} and hold for these {' and '.join(few)}"
        )
