"""Several metrics with one table of statistics and one row of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Alignment, Case, Value
from earwitness.errors import UsageError, nearest
from earwitness.metric import Metric, ReferenceViews, find
from earwitness.stats.arrays import Floats
from earwitness.version import __version__

# --- Sweeps of a parameter -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sweep:
    """One value for several numbers of a parameter: the numbers, and the value's name for each.

    ``unit`` is that of the numbers, if they have one.
    """

    value: str
    parameter: str
    unit: str
    points: tuple[tuple[float, str], ...]


# --- Sets of metrics -----------------------------------------------------------------------------


MetricChoice = Sequence[str | Metric] | str


@dataclass(frozen=True)
class MetricSet:
    """The metrics of a run; one family may occur several times with other parameters."""

    metrics: tuple[Metric, ...]

    @classmethod
    def of(
        cls,
        metrics: MetricChoice,
        parameters: dict[str, Any],
        table: Mapping[str, type[Metric]],
    ) -> MetricSet:
        """Metrics by name or ready made; a parameter goes to every named family that has it.

        A list of values for a parameter gives the family once for each. ``table`` has the metrics
        that are known by name.
        """
        if isinstance(metrics, str):
            metrics = [metrics]
        chosen = tuple(metrics)
        if not chosen:
            raise UsageError(f"name at least one metric — known: {', '.join(table)}")
        kinds = [find(metric, table) for metric in chosen if isinstance(metric, str)]
        parameter_names = {name for kind in kinds for name in kind.parameters()}
        for name in parameters.keys() - parameter_names:
            having = [key for key, kind in table.items() if name in kind.parameters()]
            remedy = nearest(name, {*parameter_names, "metrics"})
            if having:
                remedy = f"choose a metric that has it: {', '.join(having)}"
            raise UsageError(f'no chosen metric has a parameter "{name}" — {remedy}')
        instances = [m for one in chosen for m in _make(one, parameters, table)]
        tasks = {metric.task: metric.name for metric in instances}
        if len(tasks) > 1:
            message = ", ".join(f"{name} is for {task}" for task, name in tasks.items())
            raise UsageError(f"metrics of one task at a time: {message}")
        signatures = [metric.signature for metric in instances]
        if len(set(signatures)) < len(signatures):
            raise UsageError(f"a metric was named twice: {', '.join(signatures)}")
        families = cls(tuple(instances))
        names = [value.name for value in families.values]
        if len(set(names)) < len(names):
            raise UsageError(f"two metrics give values of the same name: {', '.join(names)}")
        return families

    @property
    def named(self) -> dict[str, tuple[Value, ...]]:
        """The values of every metric by its signature.

        Where a family occurs several times, its values are told apart by what differs, as in
        ``collar_f1@5.0``.
        """
        return {
            metric.signature: tuple(
                replace(value, name=value.name + self._label(metric)) for value in metric.values
            )
            for metric in self.metrics
        }

    @property
    def values(self) -> tuple[Value, ...]:
        """All values, in the order of the metrics."""
        return tuple(value for values in self.named.values() for value in values)

    @property
    def task(self) -> str:
        """What all of them are for."""
        return self.metrics[0].task

    @property
    def names(self) -> set[str]:
        """Of the families."""
        return {metric.name for metric in self.metrics}

    @property
    def headlines(self) -> list[str]:
        """The headlines of every metric."""
        return self._headlines(self.metrics)

    @property
    def leading(self) -> list[str]:
        """Headlines of families: with default parameters if they are there, else the first."""
        return self._headlines(self.leading_metrics)

    def _headlines(self, metrics: Iterable[Metric]) -> list[str]:
        return [name + self._label(m) for m in metrics for name in (m.headline, *m.also)]

    @property
    def leading_metrics(self) -> tuple[Metric, ...]:
        """One of every family: that with default parameters if it is there, else the first."""
        chosen: dict[str, Metric] = {}
        for metric in self.metrics:
            usual = all(getattr(metric, n) == d for n, d in metric.parameters().items())
            if usual or metric.name not in chosen:
                chosen[metric.name] = metric
        return tuple(chosen.values())

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """Headlines over the numbers of a parameter, all other parameters being equal."""
        curves: dict[tuple[str, str, str], list[tuple[float, str]]] = {}
        for metric in self.metrics:
            differ = self._differ(metric)
            for name in differ:
                x = getattr(metric, name)
                if isinstance(x, float):
                    others = [f"{n}={getattr(metric, n)}" for n in differ if n != name]
                    key = metric.headline, ", ".join(others), name
                    curves.setdefault(key, []).append((x, metric.headline + self._label(metric)))
        return tuple(
            Sweep(
                f"{value} ({others})" if others else value,
                parameter,
                self._unit(parameter),
                tuple(sorted(points)),
            )
            for (value, others, parameter), points in curves.items()
            if len(points) > 1
        )

    def _unit(self, parameter: str) -> str:
        kind = next(metric for metric in self.metrics if parameter in metric.parameters())
        return "s" if "in seconds" in kind.help(parameter) else ""

    def _label(self, metric: Metric) -> str:
        differ = self._differ(metric)
        return f"@{','.join(str(getattr(metric, name)) for name in differ)}" if differ else ""

    def _differ(self, metric: Metric) -> list[str]:
        """The parameters in which members of the family differ."""
        kin = [other for other in self.metrics if other.name == metric.name]
        return [
            name for name in metric.parameters() if len({getattr(other, name) for other in kin}) > 1
        ]

    @property
    def signature(self) -> str:
        """The version, and the metrics with all their parameters."""
        return "|".join(
            [f"earwitness={__version__}", *(metric.signature for metric in self.metrics)]
        )

    def measure(self, cases: Sequence[Case]) -> list[Floats]:
        """Statistics of every case, a table a metric."""
        return [metric.measure_many(cases) for metric in self.metrics]

    def views(self, cases: Sequence[Case], *, each: bool) -> list[ReferenceViews]:
        """The same, in all ways that several references allow; with a row a reference or not."""
        return [metric.measure_views(cases, each=each) for metric in self.metrics]

    @property
    def aligns(self) -> bool:
        """Whether any of them looks at words."""
        return any(metric.aligns for metric in self.metrics)

    @property
    def alone(self) -> bool:
        """Whether any of them is measured in one process only."""
        return any(metric.alone for metric in self.metrics)

    def alignments(self, case: Case) -> tuple[Alignment, ...]:
        """What metrics of words show of a case."""
        shown = (metric.alignment(case) for metric in self.metrics)
        return tuple(dict.fromkeys(one for one in shown if one is not None and one.pairs))

    def pool(self, tables: Sequence[Floats], counts: NDArray[np.int64]) -> list[Floats]:
        """A row for every so many rows, for every metric."""
        pairs = zip(self.metrics, tables, strict=True)
        return [metric.pool(table, counts) for metric, table in pairs]

    def score(self, statistics: Sequence[Floats]) -> Floats:
        """Values of all metrics from their summed statistics."""
        pairs = zip(self.metrics, statistics, strict=True)
        return np.concatenate([metric.score(table) for metric, table in pairs], axis=-1)


def _make(
    metric: str | Metric, parameters: dict[str, Any], table: Mapping[str, type[Metric]]
) -> list[Metric]:
    """A metric that is ready, or a family with every combination of its parameters."""
    if not isinstance(metric, str):
        return [metric]
    kind = table[metric]
    chosen = {key: parameters[key] for key in kind.parameters() if key in parameters}
    lists = [_listed(name, value) for name, value in chosen.items()]
    return [kind(**dict(zip(chosen, values, strict=True))) for values in product(*lists)]


def _listed(name: str, value: Any) -> list[Any]:
    """Values of a parameter: one, or several in any order that can be gone through."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    values = list(value) if several else [value]
    if not values:
        raise UsageError(f"{name} must have at least one value")
    return values
