"""Several metrics side by side: their statistics in one table, their values in one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness import __version__
from earwitness.data import Case, Value
from earwitness.errors import UsageError, nearest
from earwitness.metrics import DEFAULTS, METRICS, Metric, find

Floats = NDArray[np.float64]
Chosen = Sequence[str | Metric] | str


@dataclass(frozen=True)
class Families:
    """The metrics of a run."""

    metrics: tuple[Metric, ...]

    @classmethod
    def of(
        cls, metrics: Sequence[str | Metric] | str | None, parameters: dict[str, Any]
    ) -> Families:
        """Metrics by name or ready made; a parameter goes to every named family that has it."""
        if isinstance(metrics, str):
            metrics = [metrics]
        chosen = DEFAULTS if metrics is None else tuple(metrics)
        if not chosen:
            raise UsageError(f"name at least one metric — known: {', '.join(METRICS)}")
        kinds = [find(metric, METRICS) for metric in chosen if isinstance(metric, str)]
        known = {name for kind in kinds for name in kind.parameters()}
        for name in parameters.keys() - known:
            remedy = nearest(name, {*known, "metrics", "samples", "worst"})
            raise UsageError(f'no chosen metric has a parameter "{name}" — {remedy}')
        made = [_make(m, parameters) if isinstance(m, str) else m for m in chosen]
        names = [metric.name for metric in made]
        if len(set(names)) < len(names):
            raise UsageError(f"a metric was named twice: {', '.join(names)}")
        return cls(tuple(made))

    @property
    def values(self) -> tuple[Value, ...]:
        """All values, in the order of the metrics."""
        return tuple(value for metric in self.metrics for value in metric.values)

    @property
    def signature(self) -> str:
        """The version, and the metrics with all their parameters."""
        return "|".join(
            [f"earwitness={__version__}", *(metric.signature for metric in self.metrics)]
        )

    def measure(self, cases: Sequence[Case]) -> list[Floats]:
        """Statistics of every case, a table a metric."""
        return [metric.measure_many(cases) for metric in self.metrics]

    def score(self, statistics: Sequence[Floats]) -> Floats:
        """Values of all metrics from their summed statistics."""
        pairs = zip(self.metrics, statistics, strict=True)
        return np.concatenate([metric.score(table) for metric, table in pairs], axis=-1)


def _make(name: str, parameters: dict[str, Any]) -> Metric:
    kind = METRICS[name]
    return kind(**{key: parameters[key] for key in kind.parameters() if key in parameters})
