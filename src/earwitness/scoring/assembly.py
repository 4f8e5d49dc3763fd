"""Assembly of a run: the request, the collectors it needs, and their results as scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from earwitness.core import Estimates
from earwitness.io.source import RecordSource
from earwitness.metric_set import MetricSet
from earwitness.scoring.collectors import (
    GroupScores,
    LeftOutScores,
    OverallScores,
    WorstCases,
    by_annotator,
    by_meta,
)
from earwitness.scoring.gallery import CaseValueSpread, Gallery
from earwitness.scoring.measure import ReferenceSubsets, RunSettings
from earwitness.scoring.results import AnnotatorScores, Scores
from earwitness.scoring.run import ScoringRun
from earwitness.scoring.settings import SystemSettings, listed
from earwitness.scoring.setup import Setup
from earwitness.stats.bootstrap import MULTINOMIAL_UP_TO
from earwitness.task import Collector, CollectorSettings, TaskCollector

# --- Collectors of a run -------------------------------------------------------------------------


@dataclass(kw_only=True)
class RunCollectors:
    """The collectors of a run by result, followed by those of the task and of files."""

    overall: OverallScores
    groups: GroupScores
    left_out: LeftOutScores
    spread: CaseValueSpread
    worst: WorstCases
    gallery: Gallery
    task: tuple[TaskCollector, ...]
    files: list[Collector] = field(default_factory=list)

    def __iter__(self) -> Iterator[Collector]:
        yield from self.task
        yield from (self.overall, self.groups, self.left_out, self.spread)
        yield from (self.worst, self.gallery)  # in this order: the gallery uses the worst cases
        yield from self.files


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a run reads, its settings, and from how many cases on the bootstrap is approximate."""

    setup: Setup
    settings: SystemSettings
    limit: int | None = None

    @property
    def collector_settings(self) -> CollectorSettings:
        """The metrics, and the settings of the bootstrap."""
        limit = MULTINOMIAL_UP_TO if self.limit is None else self.limit
        metrics, settings = self.setup.metrics, self.settings
        return CollectorSettings(metrics, settings.draws, settings.seed, limit)

    @property
    def sample_signature(self) -> str:
        """The metrics and the selection of cases, for tables of values per case."""
        setup, settings = self.setup, self.settings
        on_error, where = f"|on_error={settings.on_error}", settings.filter.signature
        return f"{setup.metrics.signature}{on_error}{setup.reader.signature}{where}"

    def collectors(self, items: RecordSource) -> RunCollectors:
        """Return the collectors of every run and of the task; audio is next to ``items``."""
        settings, metrics, given = self.collector_settings, self.setup.metrics, self.settings
        worst = WorstCases(metrics, given.worst or 0, given.worst_by or metrics.leading[0])
        shown = tuple(dict.fromkeys(listed(given.show)))
        return RunCollectors(
            overall=OverallScores(settings),
            groups=GroupScores(settings, given.slicings),
            left_out=LeftOutScores(settings),
            spread=CaseValueSpread(metrics),
            worst=worst,
            gallery=Gallery(metrics, self.setup.reader, worst, shown, items.folder),
            task=tuple(self.setup.task.collectors(settings)),
        )

    def run(
        self,
        collectors: RunCollectors,
        *,
        subsets: ReferenceSubsets | None = None,
        align: bool = False,
    ) -> ScoringRun:
        """Return a run that fills these collectors."""
        given = self.settings
        settings = RunSettings(
            metrics=self.setup.metrics,
            reader=self.setup.reader,
            on_error=given.on_error,
            seed=given.seed,
            by=by_meta(given.slicings),
            by_annotator=by_annotator(given.slicings) is not None,
            keep_cases=bool(given.show or given.worst),
            align=align,
            subsets=subsets or ReferenceSubsets(),
            baselines=tuple(listed(given.baselines)),
            ceiling=given.ceiling,
            where=given.filter,
        )
        return ScoringRun(settings, tuple(collectors), self.collector_settings)


# --- Results of a run ----------------------------------------------------------------------------


def assemble_scores(run: ScoringRun, collectors: RunCollectors, level: float) -> Scores:
    """Return the scores from all collectors, with intervals of this level."""
    settings, metrics = run.settings, run.settings.metrics
    shown = collectors.gallery.result(level)
    systems = collectors.overall.result(level)
    people = None
    if run.people.ceiling.systems:
        people = AnnotatorScores(
            run.people.ceiling.items,
            run.people.estimates(level),
            collectors.left_out.result(level),
            run.people.annotators.estimates(level),
        )
    estimated: list[Estimates] = [*systems.values()] or ([people.ceiling] if people else [])
    methods = {estimate.method for estimates in estimated for estimate in estimates.values()}
    bootstrap = collectors.groups.settings
    drawn = f"draws={bootstrap.draws},level={level},seed={bootstrap.seed}"
    baselines = f"|baselines={'+'.join(run.baselines)}" if run.baselines else ""
    return Scores(
        signature=f"{metrics.signature}|{'+'.join(sorted(methods))}({drawn})"
        f"|on_error={settings.on_error}{settings.reader.signature}{baselines}"
        f"{settings.where.signature}",
        provenance=run.provenance,
        families=metrics.named,
        headlines=tuple(metrics.leading),
        systems=systems,
        slices=collectors.groups.result(level),
        people=people,
        sweeps=metrics.sweeps,
        parts=tuple(collector.result(level) for collector in collectors.task),
        spread=collectors.spread.result(level),
        spread_items=collectors.spread.items,
        shown=shown,
        skipped=tuple(run.findings.skipped),
        emptied=tuple(run.findings.emptied),
        worst=collectors.worst.result(level),
        worst_by=collectors.worst.by,
        notes=(*run.notes(), *_undefined_notes(metrics, estimated)),
        task=metrics.task,
    )


def _undefined_notes(metrics: MetricSet, estimated: Sequence[Estimates]) -> Iterator[str]:
    """Yield the reasons why values are undefined for all cases, where a metric knows them."""
    for metric in metrics.metrics:
        names = [value.name for value in metrics.named[metric.signature]]
        undefined = [
            name for name in names if not any(estimates[name].n for estimates in estimated)
        ]
        if undefined == names and "" in metric.undefined_reasons:
            yield f"{metric.name} is undefined for all outputs: {metric.undefined_reasons['']}"
            continue
        for start, reason in metric.undefined_reasons.items():
            without = [name for name in undefined if start and name.startswith(start)]
            if without:
                verb = "is" if len(without) == 1 else "are"
                yield f"{', '.join(without)} {verb} undefined for all outputs: {reason}"
