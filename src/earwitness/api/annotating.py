"""How well people agree, without any system."""

from __future__ import annotations

from typing import Any

from earwitness.api.family import Chosen
from earwitness.api.run import Run
from earwitness.api.scoring import Place, check, collected
from earwitness.api.tasks import setting
from earwitness.data import Map, Progress, Scores, no_progress
from earwitness.engines import in_process
from earwitness.formats.records import OnError
from earwitness.formats.source import Source


def people(
    references: Place,
    *,
    metrics: Chosen | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    on_error: OnError = "fail",
    preset: str = "",
    pattern: str = "",
    timestamp_format: str = "",
    tokenise: str = "",
    map: Map = in_process,
    progress: Progress = no_progress,
    **parameters: Any,
) -> Scores:
    """Every annotator against the others of the same item; the result has no systems.

    >>> both = [{"boundaries": [60]}, {"boundaries": [61, 120]}]
    >>> scores = people([{"item": "a", "duration": 180, "references": both}], metrics="collar")
    >>> round(scores.people.ceiling["collar_f1"].value, 3)
    0.667
    """
    check(level=level, seed=seed, on_error=on_error, draws=draws)
    source = Source(references, "" if isinstance(references, str) else "references")
    reading = {
        "preset": preset,
        "pattern": pattern,
        "timestamp_format": timestamp_format,
        "tokenise": tokenise,
    }
    families, lines = setting(None, source, metrics, parameters, reading)
    kept = collected(families, draws, seed, 0, None, (), ())
    run = Run(kept, on_error, lines)
    run.read_people(source, map)
    progress(run.sources[0].read().bytes, run.sources[0].total, 0)
    return run.result(level)
