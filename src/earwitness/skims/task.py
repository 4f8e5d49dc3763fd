"""The task skims: metric, reader, fields and trade-off curves."""

from __future__ import annotations

from collections.abc import Sequence

from earwitness.metric_set import MetricSet
from earwitness.skims.metrics import SkimMeasures
from earwitness.skims.tradeoff import TradeoffCollector
from earwitness.task import CollectorSettings, Folders, Task, TaskCollector, TaskReader


def skim_reader(metrics: MetricSet, _options: dict[str, str], folders: Folders) -> TaskReader:
    """Return a reader whose baselines use the embedder of the first metric."""
    from earwitness.skims.reader import SkimReader

    first = next(metric for metric in metrics.metrics if isinstance(metric, SkimMeasures))
    return SkimReader(folders.outputs, folders.references, first.embedder, first.block)


def skim_collectors(settings: CollectorSettings) -> Sequence[TaskCollector]:
    """Return the collector of trade-off curves."""
    return (TradeoffCollector(settings),)


SKIMS = Task(
    name="skims",
    metrics=(SkimMeasures,),
    defaults=("skims",),
    people=("skims",),
    reader=skim_reader,
    baselines=("downsampling", "random", "calibration_tc", "calibration_sd"),
    collectors=skim_collectors,
)
