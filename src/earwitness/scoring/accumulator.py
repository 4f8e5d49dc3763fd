"""Scores of outputs that come in batches, as in a training loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from earwitness.core import Key, no_progress
from earwitness.engines.local import in_process
from earwitness.errors import UsageError
from earwitness.scoring.assembly import Request, assemble_scores
from earwitness.scoring.results import Scores, find_values, select_values
from earwitness.scoring.run import ScoringRun
from earwitness.scoring.score import Place, refuse_separation, sources
from earwitness.scoring.settings import SystemSettings
from earwitness.scoring.setup import set_up
from earwitness.task import Collector, ScoredBatch


class Accumulator:
    """Scores outputs batch by batch; only what the result needs is kept of each batch.

    Parameters
    ----------
    **options
        As for ``score``; the human ceiling is not computed.

    Examples
    --------
    >>> meter = Accumulator(metrics="collar")
    >>> meter.update([{"hypothesis": [61, 120], "reference": [60], "duration": 180}])
    >>> meter.update([{"hypothesis": [90], "reference": [90], "duration": 180}])
    >>> round(meter.compute().systems["outputs"]["collar_f1"].value, 3)
    0.833
    """

    def __init__(self, **options: Any) -> None:
        self._settings, self._parameters = SystemSettings.split({**options, "ceiling": False})
        self.reset()

    def reset(self) -> None:
        """Forget all outputs."""
        self._request: Request | None = None
        self._seen = set[Key]()
        self._counts = list[int]()  # smallest and largest numbers of references

    def update(
        self, outputs: Place, references: Place | None = None, *, system: str | None = None
    ) -> None:
        """Add a batch of outputs and the references of its items; a faulty one changes nothing."""
        if references is None and isinstance(outputs, Sequence) and not isinstance(outputs, str):
            numbered = enumerate(outputs, len(self._seen) + 1)
            outputs = [{"id": f"line {number}", **record} for number, record in numbered]
        source, other = sources(outputs, references)
        request = self._request
        if request is None:
            setup = set_up(source, other, self._settings.metrics, self._parameters)
            refuse_separation(setup)
            request = Request(setup=setup, settings=self._settings)
            self._collectors = request.collectors(other or source)
            self._total = request.run(self._collectors)
        held = _Held()
        run = ScoringRun(self._total.settings, [held], request.collector_settings)
        run.read(source, other, system, in_process, no_progress)
        self._request = request  # only a valid batch decides what is scored
        keys = [key for batch in held.batches for key in batch.keys]
        if again := next((key for key in keys if key in self._seen), None):
            message = f'the output of "{again.system}" for item "{again.item}" was added before'
            raise UsageError(f"{message} — add every output once, or call reset()")
        self._seen.update(keys)
        for batch in held.batches:
            for collector in self._collectors:
                collector.add(batch)
        self._counts += run.provenance.references
        self._counts = [min(self._counts), max(self._counts)]
        self._total.findings.merge(run.findings)
        self._total.remarks.update(run.remarks)
        self._total.cases += run.cases
        self._total.systems |= run.systems

    def compute(self) -> Scores:
        """Return the scores of all outputs so far."""
        if self._request is None or not self._seen:
            raise UsageError("no outputs to score — call update() first")
        scores = assemble_scores(self._total, self._collectors, self._settings.level)
        facts = replace(scores.provenance, references=(self._counts[0], self._counts[1]))
        values = find_values(self._request.setup.metrics.values, self._settings.values)
        return select_values(replace(scores, provenance=facts), values)


class _Held(Collector):
    """Batches of a run that has not ended."""

    def __init__(self) -> None:
        self.batches = list[ScoredBatch]()

    def add(self, batch: ScoredBatch) -> None:
        self.batches.append(batch)
