"""Several metrics with one table of statistics and one row of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Alignment, Case, Cases, Value
from earwitness.errors import UsageError, nearest
from earwitness.metric import Metric, ReferenceViews, find
from earwitness.stats.arrays import Bools, Floats
from earwitness.version import __version__

# --- Sweeps of a parameter -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sweep:
    """A value over several settings of a numeric parameter.

    ``points`` are the settings, each with the name of the value for it. ``unit`` is the unit of the
    parameter, or empty.
    """

    value: str
    parameter: str
    unit: str
    points: tuple[tuple[float, str], ...]


# --- Sets of metrics -----------------------------------------------------------------------------


MetricFunction = Callable[[Case], float]
MetricChoice = Sequence[str | Metric | MetricFunction] | str | Metric | MetricFunction


@dataclass(frozen=True)
class MetricSet:
    """The metrics of a run; a metric may occur several times with different parameters."""

    metrics: tuple[Metric, ...]

    @classmethod
    def of(
        cls,
        metrics: Sequence[str | Metric] | str,
        parameters: dict[str, Any],
        table: Mapping[str, type[Metric]],
        options: str = "metrics",
    ) -> MetricSet:
        """Return a set of metrics, given by name or as instances.

        A parameter is passed to every named metric that has it. If the parameter is a list, the
        metric is added once for each of its values. ``table`` has all metrics by name, ``options``
        names of other arguments that may be meant.
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
            remedy = nearest(name, {*parameter_names, *options.split()} - {name})
            if having:
                remedy = f"choose a metric that has it: {', '.join(having)}"
            raise UsageError(f'no chosen metric has a parameter "{name}" — {remedy}')
        instances = [m for metric in chosen for m in _make(metric, parameters, table)]
        tasks = {metric.task: metric.name for metric in instances}
        if len(tasks) > 1:
            message = ", ".join(f"{name} is for {task}" for task, name in tasks.items())
            raise UsageError(f"all metrics must belong to one task: {message}")
        signatures = [metric.signature for metric in instances]
        if len(set(signatures)) < len(signatures):
            raise UsageError(f"a metric is listed twice: {', '.join(signatures)}")
        families = cls(tuple(instances))
        names = families.value_names
        if len(set(names)) < len(names):
            raise UsageError(f"two metrics have values with the same name: {', '.join(names)}")
        return families

    @property
    def named(self) -> dict[str, tuple[Value, ...]]:
        """Values of every metric, by the signature of the metric.

        If a metric occurs several times, the names of its values include the parameters that
        differ, as in ``collar_f1@5.0``.
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
    def value_names(self) -> list[str]:
        """Names of all values, in the same order."""
        return [value.name for value in self.values]

    @property
    def task(self) -> str:
        """Task of the metrics."""
        return self.metrics[0].task

    @property
    def names(self) -> set[str]:
        """Names of the metrics."""
        return {metric.name for metric in self.metrics}

    @property
    def headlines(self) -> list[str]:
        """Main values of all metrics."""
        return self._headlines(self.metrics)

    @property
    def leading(self) -> list[str]:
        """Main values of ``leading_metrics``."""
        return self._headlines(self.leading_metrics)

    def _headlines(self, metrics: Iterable[Metric]) -> list[str]:
        return [name + self._label(m) for m in metrics for name in (m.headline, *m.also)]

    @property
    def leading_metrics(self) -> tuple[Metric, ...]:
        """One instance per metric: the one with default parameters if present, else the first."""
        chosen: dict[str, Metric] = {}
        for metric in self.metrics:
            usual = all(getattr(metric, n) == d for n, d in metric.parameters().items())
            if usual or metric.name not in chosen:
                chosen[metric.name] = metric
        return tuple(chosen.values())

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """Main values over the settings of one parameter, with all other parameters equal."""
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
        """Return the parameters in which instances of a metric differ."""
        kin = [other for other in self.metrics if other.name == metric.name]
        return [
            name for name in metric.parameters() if len({getattr(other, name) for other in kin}) > 1
        ]

    @property
    def signature(self) -> str:
        """Version, and metrics with all their parameters."""
        return "|".join(
            [f"earwitness={__version__}", *(metric.signature for metric in self.metrics)]
        )

    def measure(self, cases: Sequence[Case]) -> list[Floats]:
        """Return the statistics of every case, one table per metric."""
        return [metric.measure_many(cases) for metric in self.metrics]

    def views(self, cases: Sequence[Case], *, each: bool) -> list[ReferenceViews]:
        """Return the statistics with all, each and all but one of the references, per metric."""
        return [metric.measure_views(cases, each=each) for metric in self.metrics]

    def score_subsets(self, cases: Cases, subsets: Bools, names: Sequence[str]) -> Floats:
        """Return the named values of the cases of one item with subsets of its references.

        The result is subsets × cases × values; for ``subsets`` see ``Metric.measure_subsets``.
        """
        columns: dict[str, Floats] = {}
        for metric in self.metrics:
            labelled = [value.name for value in self.named[metric.signature]]
            wanted = {name: place for place, name in enumerate(labelled) if name in names}
            if wanted:
                own = [metric.values[place].name for place in wanted.values()]
                values = metric.score(metric.measure_subsets(cases, subsets, own))
                columns |= {name: values[..., place] for name, place in wanted.items()}
        return np.stack([columns[name] for name in names], axis=-1)

    @property
    def aligns(self) -> bool:
        """Whether any metric aligns words."""
        return any(metric.aligns for metric in self.metrics)

    @property
    def alone(self) -> bool:
        """Whether any metric must run in a single process."""
        return any(metric.alone for metric in self.metrics)

    def alignments(self, case: Case) -> tuple[Alignment, ...]:
        """Return the word alignments of a case."""
        shown = (metric.alignment(case) for metric in self.metrics)
        return tuple(
            dict.fromkeys(
                alignment for alignment in shown if alignment is not None and alignment.pairs
            )
        )

    def pool(self, tables: Sequence[Floats], counts: NDArray[np.int64]) -> list[Floats]:
        """Combine every ``counts`` rows into one, for every metric."""
        pairs = zip(self.metrics, tables, strict=True)
        return [metric.pool(table, counts) for metric, table in pairs]

    def score(self, statistics: Sequence[Floats]) -> Floats:
        """Return the values of all metrics from summed statistics."""
        pairs = zip(self.metrics, statistics, strict=True)
        return np.concatenate([metric.score(table) for metric, table in pairs], axis=-1)


def _make(
    metric: str | Metric, parameters: dict[str, Any], table: Mapping[str, type[Metric]]
) -> list[Metric]:
    """Return an instance as it is, or a named metric with every combination of its parameters."""
    if not isinstance(metric, str):
        return [metric]
    kind = table[metric]
    chosen = {key: parameters[key] for key in kind.parameters() if key in parameters}
    lists = [_listed(name, value) for name, value in chosen.items()]
    return [kind(**dict(zip(chosen, values, strict=True))) for values in product(*lists)]


def _listed(name: str, value: Any) -> list[Any]:
    """Return the values of a parameter as a list."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    values = list(value) if several else [value]
    if not values:
        raise UsageError(f"{name} must have at least one value")
    return values
