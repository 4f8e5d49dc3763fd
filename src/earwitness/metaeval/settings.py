"""Settings of an agreement analysis and their signature."""

from __future__ import annotations

from dataclasses import dataclass

from earwitness.errors import UsageError, nearest
from earwitness.metaeval.coefficients import COEFFICIENTS, LEVELS, coefficient_names
from earwitness.metaeval.mapping import MAPPING_ORDERS
from earwitness.metaeval.resampling import RESAMPLED_AXES
from earwitness.metaeval.results import Figure
from earwitness.metaeval.significance import SWAP_UNITS
from earwitness.metaeval.tie_calibration import FOLDS
from earwitness.stats.significance import CORRECTIONS

CALIBRATED_COEFFICIENT = "acc_23_calibrated"
ADJUSTMENTS = ("items", "none")


@dataclass(frozen=True)
class AgreementSettings:
    """Settings of an agreement analysis.

    Parameters
    ----------
    levels
        Levels at which coefficients are computed: ``system``, ``item``, ``global``.
    coefficient
        Coefficient that ranks the metrics; all others are reported as well.
    ranking
        Levels at which metrics are ranked.
    over
        What the bootstrap resamples: ``systems``, ``items``, ``raters`` or ``all``.
    swap
        What the permutation test that decides on the ranking swaps: ``inputs``, ``systems``,
        ``both``.
    mapping
        Mapping of scores to the rating scale: ``none``, ``linear`` or ``cubic``.
    adjust
        ``items`` adjusts system means for items if systems were rated on different items.
    correction
        Correction of p for multiple tests: ``holm``, ``bh`` or ``none``.
    level
        Confidence level; the significance level is 1 − ``level``.
    draws, permutations
        Number of bootstrap draws and of permutations.
    splits
        Number of random splits of the raters into halves.
    folds
        Number of folds of tie calibration.
    gain, spread
        A sample is large enough if doubling it gains less than ``gain`` and the half range of
        draws is
        at most ``spread``.
    seed
        Seed of all random draws.
    version
        Version of Earwitness, for the signature.

    Raises
    ------
    UsageError
        If a setting is unknown or out of range.
    """

    levels: tuple[str, ...] = LEVELS
    coefficient: str = "kendall_b"
    ranking: tuple[str, ...] = ("system", "item")
    over: str = "all"
    swap: str = "systems"
    mapping: str = "cubic"
    adjust: str = "items"
    correction: str = "holm"
    level: float = 0.95
    draws: int = 1000
    permutations: int = 1000
    splits: int = 200
    folds: int = FOLDS
    gain: float = 0.01
    spread: float = 0.1
    seed: int = 0
    version: str = ""

    def __post_init__(self) -> None:
        _check_choice("coefficient", self.coefficient, COEFFICIENTS)
        _check_choice("resampling unit", self.over, RESAMPLED_AXES)
        _check_choice("swapping unit", self.swap, SWAP_UNITS)
        _check_choice("mapping", self.mapping, MAPPING_ORDERS)
        _check_choice("adjustment", self.adjust, ADJUSTMENTS)
        _check_choice("correction", self.correction, CORRECTIONS)
        for level in (*self.levels, *self.ranking):
            _check_choice("level", level, LEVELS)
        if not 0 < self.level < 1:
            raise UsageError(f"level must be between 0 and 1, got {self.level:g}")
        for name in ("draws", "permutations", "splits"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.folds < 2:
            raise UsageError(f"folds must be 2 or more, got {self.folds}")
        if not self.ranked_figures:
            possible = ", ".join(COEFFICIENTS[self.coefficient].levels)
            message = f"{self.coefficient} is not available at level {'+'.join(self.levels)}"
            raise UsageError(f"{message} — use {possible}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, got {self.seed}")

    @property
    def alpha(self) -> float:
        """Significance level."""
        return 1 - self.level

    def coefficient_names(self, level: str) -> list[str]:
        """Return the coefficients that are defined at a level."""
        return list(coefficient_names(level))

    @property
    def ranked_figures(self) -> list[Figure]:
        """Levels and coefficients by which metrics are ranked."""
        levels = [level for level in self.ranking if level in self.levels] or list(self.levels)
        fitting = [level for level in levels if self.coefficient in coefficient_names(level)]
        return [Figure(level, self.coefficient) for level in fitting]

    @property
    def signature(self) -> str:
        """All settings on which results depend, apart from scores and ratings."""
        parts = [
            f"earwitness={self.version}",
            f"concordance(levels={'+'.join(self.levels)},rank={self.coefficient}@"
            f"{'+'.join(figure.level for figure in self.ranked_figures)},"
            f"calibration={self.folds}folds,mapping={self.mapping},adjust={self.adjust})",
            f"bootstrap(over={self.over},draws={self.draws},level={self.level:g})",
            f"permutation(swap={self.swap},n={self.permutations},correction={self.correction},"
            f"alpha={self.alpha:.4g})",
            f"ceiling(splits={self.splits})",
            f"enough(gain={self.gain:g},spread={self.spread:g})",
            f"seed={self.seed}",
        ]
        return "|".join(parts)


def _check_choice(setting: str, name: str, choices: object) -> None:
    names = list(choices)  # type: ignore[call-overload]
    if name not in names:
        raise UsageError(f'unknown {setting} "{name}" — {nearest(name, names)}')
