"""Assembly of a run: the request, the collectors it needs, and their results as scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from earwitness.core import Estimates, OnError
from earwitness.errors import UsageError
from earwitness.io.source import RecordSource
from earwitness.metric_set import MetricSet
from earwitness.scoring.collectors import (
    ANNOTATOR_FIELD,
    GroupScores,
    LeftOutScores,
    OverallScores,
    WorstCases,
    by_annotator,
    by_meta,
)
from earwitness.scoring.gallery import CaseValueSpread, Gallery
from earwitness.scoring.join import NO_FILTER
from earwitness.scoring.measure import ReferenceSubsets, RunSettings
from earwitness.scoring.results import AnnotatorScores, Scores
from earwitness.scoring.run import ScoringRun
from earwitness.scoring.setup import Setup
from earwitness.stats.bootstrap import MULTINOMIAL_UP_TO
from earwitness.task import Collector, CollectorSettings, Filter, Slicing, TaskCollector

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
    """The arguments of a run."""

    setup: Setup
    draws: int
    seed: int
    on_error: OnError
    limit: int | None = None
    worst: int = 0
    worst_by: str | None = None
    by: tuple[Slicing, ...] = ()
    show: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    ceiling: bool = True
    where: Filter = NO_FILTER

    def __post_init__(self) -> None:
        if self.worst_by is not None and not self.worst:
            raise UsageError("worst_by requires worst, the number of samples to show")
        fields = [slicing.field for slicing in self.by]
        if any(slicing.cuts for slicing in self.by if slicing.field == ANNOTATOR_FIELD):
            raise UsageError("by annotator: names cannot be cut into ranges")
        if len(set(fields)) < len(fields):
            raise UsageError(f"by: a field is listed twice: {', '.join(fields)}")

    @property
    def collector_settings(self) -> CollectorSettings:
        """The metrics, and the settings of the bootstrap."""
        limit = MULTINOMIAL_UP_TO if self.limit is None else self.limit
        return CollectorSettings(self.setup.metrics, self.draws, self.seed, limit)

    @property
    def sample_signature(self) -> str:
        """The metrics and the selection of cases, for tables of values per case."""
        setup = self.setup
        on_error = f"|on_error={self.on_error}"
        return f"{setup.metrics.signature}{on_error}{setup.reader.signature}{self.where.signature}"

    def collectors(self, items: RecordSource) -> RunCollectors:
        """Return the collectors of every run and of the task; audio is next to ``items``."""
        settings, metrics = self.collector_settings, self.setup.metrics
        worst = WorstCases(metrics, self.worst, self.worst_by or metrics.leading[0])
        return RunCollectors(
            overall=OverallScores(settings),
            groups=GroupScores(settings, self.by),
            left_out=LeftOutScores(settings),
            spread=CaseValueSpread(metrics),
            worst=worst,
            gallery=Gallery(metrics, self.setup.reader, worst, self.show, items.folder),
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
        settings = RunSettings(
            metrics=self.setup.metrics,
            reader=self.setup.reader,
            on_error=self.on_error,
            seed=self.seed,
            by=by_meta(self.by),
            by_annotator=by_annotator(self.by) is not None,
            keep_cases=bool(self.show or self.worst),
            align=align,
            subsets=subsets or ReferenceSubsets(),
            baselines=self.baselines,
            ceiling=self.ceiling,
            where=self.where,
        )
        return ScoringRun(settings, tuple(collectors), self.collector_settings)


def slicings_of(by: Sequence[str] | str) -> tuple[Slicing, ...]:
    """Return the fields by which cases are grouped."""
    return tuple(Slicing.of(text) for text in listed(by))


def listed(names: Sequence[str] | str) -> list[str]:
    """Return names as a list."""
    return [names] if isinstance(names, str) else list(names)


# --- Results of a run ----------------------------------------------------------------------------


def assemble_scores(run: ScoringRun, collectors: RunCollectors, level: float) -> Scores:
    """Return the scores from all collectors, with intervals of this level."""
    settings, metrics = run.settings, run.settings.metrics
    shown = collectors.gallery.result(level)
    systems = collectors.overall.result(level)
    people = _people(run, collectors, level)
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
        undefined = [name for name in names if not any(one[name].n for one in estimated)]
        if undefined == names and "" in metric.undefined_reasons:
            yield f"{metric.name} is undefined for all cases: {metric.undefined_reasons['']}"
            continue
        for start, reason in metric.undefined_reasons.items():
            without = [name for name in undefined if start and name.startswith(start)]
            if without:
                verb = "is" if len(without) == 1 else "are"
                yield f"{', '.join(without)} {verb} undefined for all cases: {reason}"


def _people(run: ScoringRun, collectors: RunCollectors, level: float) -> AnnotatorScores | None:
    if not run.people.ceiling.systems:
        return None
    return AnnotatorScores(
        items=run.people.ceiling.items,
        ceiling=run.people.estimates(level),
        systems=collectors.left_out.result(level),
        annotators=run.people.annotators.estimates(level),
    )
