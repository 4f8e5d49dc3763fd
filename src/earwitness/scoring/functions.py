"""Metrics given as Python functions, or as functions and classes of a Python file."""

from __future__ import annotations

import math
import re
import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from earwitness.core import Case, Value
from earwitness.errors import UsageError, nearest
from earwitness.metric import Metric, mean_pool, mean_statistics, mean_values
from earwitness.metric_set import MetricFunction
from earwitness.registry import METRICS
from earwitness.stats.arrays import Floats, Ints

FILE_PATTERN = re.compile(r"(.+\.py):(\w+)")


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """Mean over outputs of a function of a case, in which NaN is undefined."""

    alone = True  # other processes do not know the function
    empty_cells: ClassVar[dict[str, str]] = {}
    references = ()

    @staticmethod
    @abstractmethod
    def function(case: Case) -> float:
        """Return the value of a case."""

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """Compute the values of all cases."""
        return mean_statistics(np.array([[self._value(case)] for case in cases]).reshape(-1, 1))

    def _value(self, case: Case) -> float:
        value = self.function(case)
        if not isinstance(value, Real) or math.isinf(value):
            place = f'item "{case.key.item}" of system "{case.key.system}"'
            remedy = "return a number, or NaN if undefined"
            raise UsageError(f"{self.name}: returned {value!r} for {place} — {remedy}")
        return float(value)

    def pool(self, statistics: Floats, counts: Ints) -> Floats:
        """Combine groups of rows into their means."""
        return mean_pool(statistics, counts)

    def score(self, statistics: Floats) -> Floats:
        """Return the means."""
        return mean_values(statistics)


def function_metric(function: MetricFunction, task: str) -> Metric:
    """Return the metric of a function; lower is better if it has the attribute ``best = "low"``."""
    name = function.__name__
    best: Any = getattr(function, "best", "high")
    text = (function.__doc__ or name).strip().partition("\n")[0]
    about = {"task": task, "name": name, "title": text, "headline": name}
    values = (Value(name, best, -math.inf, math.inf, text),)
    made = {**about, "values": values, "function": staticmethod(function)}
    kind: type[Metric] = type(name, (FunctionMetric,), made)
    return kind()


def load_metrics(metrics: object, task: str) -> list[str | Metric]:
    """Return names and metrics, with the functions and names of files among them loaded.

    Functions are for the task of the other metrics, or for ``task`` if there are none.
    """
    listed = metrics if isinstance(metrics, list | tuple) else [metrics]
    loaded = [_load_metric(metric) for metric in listed]
    tasks = [metric.task for metric in loaded if isinstance(metric, Metric)]
    tasks += [METRICS[name].task for name in loaded if isinstance(name, str) and name in METRICS]
    task = [*tasks, task][0]
    return [
        metric if isinstance(metric, str | Metric) else function_metric(metric, task)
        for metric in loaded
    ]


def _load_metric(metric: Any) -> str | Metric | MetricFunction:
    if isinstance(metric, str) and (match := FILE_PATTERN.fullmatch(metric)):
        metric = _load_name(Path(match[1]), match[2])
    if isinstance(metric, type) and issubclass(metric, Metric):
        return metric()
    if isinstance(metric, str | Metric) or (callable(metric) and not isinstance(metric, type)):
        return metric
    raise UsageError(f"a metric is a name, a function of a case, or a Metric, got {metric!r}")


def _load_name(path: Path, name: str) -> Any:
    """Return what a Python file defines under a name."""
    own_name = f"earwitness_file_{path.stem}"
    spec = spec_from_file_location(own_name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"{path}: the file does not exist")
    module = sys.modules[own_name] = module_from_spec(spec)  # dataclasses look it up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        names = [key for key, value in vars(module).items() if callable(value)]
        raise UsageError(f'{path}: no function "{name}" — {nearest(name, names)}')
    return getattr(module, name)
