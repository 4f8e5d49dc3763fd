"""Settings of the functions that score: metrics, selection of cases, groups and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Self, get_args

from earwitness.core import OnError
from earwitness.errors import UsageError
from earwitness.metric_set import MetricChoice
from earwitness.scoring.collectors import ANNOTATOR_FIELD
from earwitness.task import Filter, Slicing, parse_where

Names = Sequence[str] | str
DEFAULT_WORST_CASES = 5  # if they are ranked by a value, and on pages


@dataclass(frozen=True, kw_only=True)
class ScoringSettings:
    """What is scored, and how sure it is.

    Parameters
    ----------
    metrics
        Metrics; ``earwitness metrics`` lists them. By default those of the task, which is detected
        from the first lines of the files.
    values
        Values to show. By default all values of the metrics; in comparisons, the main one of each.
    where
        Conditions on fields, such as ``accuracy>=0.9``, that items or outputs must fulfil.
    draws
        Number of bootstrap samples.
    level
        Confidence level of intervals.
    seed
        Random seed.
    on_error
        Invalid or missing outputs: ``fail``, ``skip`` them, or score them as ``empty`` outputs.
    """

    metrics: MetricChoice | None = None
    values: Names | None = None
    where: Annotated[Names, "CONDITION"] = ()
    draws: int = 1000
    level: float = 0.95
    seed: int = 0
    on_error: OnError = "fail"
    _counts: ClassVar[tuple[str, ...]] = ("draws",)

    def __post_init__(self) -> None:
        counts = {name: getattr(self, name) for name in self._counts}
        check(level=self.level, seed=self.seed, on_error=self.on_error, **counts)

    @classmethod
    def split(cls, options: Mapping[str, Any]) -> tuple[Self, dict[str, Any]]:
        """Return the settings among these options, and the others: parameters of metrics."""
        names = {field.name for field in fields(cls)}
        own = {name: value for name, value in options.items() if name in names}
        return cls(**own), {name: options[name] for name in options.keys() - names}

    @property
    def filter(self) -> Filter:
        """The conditions that scored items fulfil."""
        return parse_where(self.where)


@dataclass(frozen=True, kw_only=True)
class SystemSettings(ScoringSettings):
    """What is scored of systems, and how sure it is.

    Parameters
    ----------
    by
        Fields of ``meta``, ``duration`` or ``annotator`` by which items are grouped. Numbers are
        cut into ranges as in ``snr:0,10``.
    worst
        Number of worst items to show per system. By default 5 with ``worst_by``, else none;
        commands also show 5 on HTML pages.
    worst_by
        Value that ranks the worst items. By default the first one shown.
    show
        Items to show in detail, in addition to the worst ones.
    baselines
        Baselines to add, such as ``lead`` or ``random``.
    ceiling
        Whether to compute the human ceiling, by leaving out each annotator in turn. Without it,
        items with many references are scored faster.
    """

    by: Names = ()
    worst: int | None = None
    worst_by: str | None = None
    show: Names = ()
    baselines: Names = ()
    ceiling: bool = True
    _counts: ClassVar[tuple[str, ...]] = ("draws", "worst")

    def __post_init__(self) -> None:
        if self.worst is None:
            object.__setattr__(self, "worst", DEFAULT_WORST_CASES if self.worst_by else 0)
        super().__post_init__()
        if self.worst_by is not None and not self.worst:
            raise UsageError("worst_by requires items to show — set worst to 1 or more")
        names = [slicing.field for slicing in self.slicings]
        if any(slicing.cuts for slicing in self.slicings if slicing.field == ANNOTATOR_FIELD):
            raise UsageError("by annotator: names cannot be cut into ranges")
        if len(set(names)) < len(names):
            raise UsageError(f"by: a field is listed twice: {', '.join(names)}")

    @property
    def slicings(self) -> tuple[Slicing, ...]:
        """The fields by which cases are grouped."""
        return tuple(Slicing.of(text) for text in listed(self.by))


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings(SystemSettings):
    """What is compared, and how sure it is.

    Parameters
    ----------
    permutations
        Number of permutations.
    """

    permutations: int = 10_000
    _counts: ClassVar[tuple[str, ...]] = ("draws", "permutations", "worst")

    @property
    def alpha(self) -> float:
        """Significance level, without the error of 1 − 0.95 in floating point."""
        return round(1 - self.level, 12)

    @property
    def test_signature(self) -> str:
        """The test, its settings and the correction."""
        return f"permutation(permutations={self.permutations},alpha={self.alpha})|holm"


def listed(names: Names) -> list[str]:
    """Return names as a list."""
    return [names] if isinstance(names, str) else list(names)


def check(*, level: float, seed: int, on_error: str, **counts: int) -> None:
    """Raise UsageError for invalid arguments; counts must be at least 1, ``worst`` at least 0."""
    for name, number in {"seed": seed, **counts}.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise UsageError(f"{name} must be a whole number, got {number!r}")
    for name, number in counts.items():
        least = 0 if name == "worst" else 1
        if number < least:
            raise UsageError(f"{name} must be {least} or more, got {number}")
    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, such as 0.95, got {level}")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed}")
    if on_error not in get_args(OnError):
        raise UsageError(f"on_error must be one of fail, skip, empty, got {on_error!r}")
