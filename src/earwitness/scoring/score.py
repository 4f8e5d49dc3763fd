"""The verbs score and people."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from earwitness.core import Map, OnError, Progress, no_progress
from earwitness.engines.local import in_process
from earwitness.errors import UsageError
from earwitness.io.source import Records, RecordSource
from earwitness.metric_set import MetricChoice
from earwitness.registry import METRICS
from earwitness.scoring.assembly import Request, assemble_scores, listed, slicings_of
from earwitness.scoring.collectors import AlignmentRows, SampleRows
from earwitness.scoring.measure import fewer_of
from earwitness.scoring.records import AlignmentFile, SampleTable
from earwitness.scoring.results import Scores
from earwitness.scoring.setup import set_up

# --- Verb score ----------------------------------------------------------------------------------


Place = str | PathLike[str] | Records


def score(
    outputs: Place,
    references: Place | None = None,
    *,
    metrics: MetricChoice | None = None,
    system: str | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    on_error: OnError = "fail",
    samples: str | PathLike[str] | None = None,
    alignments: str | PathLike[str] | None = None,
    fewer: Sequence[int] | int = (),
    repeats: int = 5,
    worst: int = 0,
    worst_by: str | None = None,
    by: Sequence[str] | str = (),
    show: Sequence[str] | str = (),
    baselines: Sequence[str] | str = (),
    map: Map = in_process,
    progress: Progress = no_progress,
    **parameters: Any,
) -> Scores:
    """Estimates for every system in ``outputs``, with intervals and provenance.

    ``outputs`` alone holds chunkseg's records (output and reference together); with ``references``
    the two are joined by item. Either is a path, ``-`` for standard input, or records in memory.
    Nothing is returned or written unless all of the input is good, or ``on_error`` says what to do.
    ``samples`` is a file for every case's values, ``alignments`` one for every case's words.
    ``fewer`` scores every case also against so many references of its item, ``repeats`` times, each
    time against others; this is for the file of ``samples``. ``worst`` keeps that many of the worst
    samples, by the first metric's headline value or by ``worst_by``; ``show`` names items whose
    boundaries the report draws, beside the worst. ``by`` names fields of ``meta`` (or ``duration``,
    ``annotator``) that split the cases into groups;
    numbers are cut as in ``"snr:0,10"``. ``baselines`` are scored beside the systems. The task is
    that of the metrics, or is told from the first lines. ``parameters`` are those of the metrics,
    such as ``chunk_size=6.0``, or a list of values to score with each, such as ``collar=[1, 3,
    5]``; and options of how the task's lines are read, such as ``preset`` or ``tokenise``. ``map``
    shares the work; metrics with a model do theirs in this process, where every distinct text is
    encoded once.

    >>> scores = score([{"hypothesis": [61, 120], "reference": [60], "duration": 180}])
    >>> scores.systems["outputs"]["collar_f1"].value
    0.6666666666666666
    """
    check(level=level, seed=seed, on_error=on_error, draws=draws, worst=worst, repeats=repeats)
    source, other = sources(outputs, references)
    setup = set_up(source, other, metrics, parameters)
    if alignments is not None and not setup.metrics.aligns:
        having = [name for name, kind in METRICS.items() if kind.aligns]
        raise UsageError(f"alignments need a metric of words: {', '.join(having)}")
    request = Request(
        setup=setup,
        draws=draws,
        seed=seed,
        on_error=on_error,
        worst=worst,
        worst_by=worst_by,
        by=slicings_of(by),
        show=tuple(dict.fromkeys(listed(show))),
        baselines=tuple(listed(baselines)),
    )
    collectors = request.collectors(other or source)
    subsets = fewer_of(fewer, repeats, seed, joined=other is not None)
    if subsets.counts and samples is None:
        raise UsageError(
            "fewer references are for the table of samples — name its file (--samples)"
        )
    with ExitStack() as files:
        if samples is not None:
            names = [value.name for value in setup.metrics.values]
            signature = f"{setup.metrics.signature}|on_error={on_error}{setup.reader.signature}"
            drawn = bool(subsets.counts)
            table = SampleTable(Path(samples), names, signature + subsets.signature, drawn=drawn)
            collectors.files.append(SampleRows(files.enter_context(table)))
        if alignments is not None:
            words = files.enter_context(AlignmentFile(Path(alignments)))
            collectors.files.append(AlignmentRows(words))
        run = request.run(collectors, subsets=subsets, align=alignments is not None)
        run.read(source, other, system, map, progress)
        return assemble_scores(run, collectors, level)


def sources(outputs: Place, references: Place | None) -> tuple[RecordSource, RecordSource | None]:
    """Where both sides come from."""
    if outputs == references == "-":
        raise UsageError("standard input can be the outputs or the references, not both")
    if references is None:
        return RecordSource(outputs), None
    name = str(references) if isinstance(references, str | PathLike) else "references"
    return RecordSource(outputs), RecordSource(references, name)


def check(*, level: float, seed: int, on_error: str, **counts: int) -> None:
    """Refuse arguments that make no sense; counts are whole numbers from 1 on, worst from 0."""
    for name, number in {"seed": seed, **counts}.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise UsageError(f"{name} must be a whole number, got {number!r}")
    for name, number in counts.items():
        least = 0 if name == "worst" else 1
        if number < least:
            raise UsageError(f"{name} must be {least} or more, got {number}")
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, such as 0.95, got {level}")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed}")
    if on_error not in get_args(OnError):
        raise UsageError(f"on_error must be one of fail, skip, empty, got {on_error!r}")


# --- Verb people ---------------------------------------------------------------------------------


def people(
    references: Place,
    *,
    metrics: MetricChoice | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    on_error: OnError = "fail",
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
    source = RecordSource(references, "" if isinstance(references, str) else "references")
    setup = set_up(None, source, metrics, parameters)
    request = Request(setup=setup, draws=draws, seed=seed, on_error=on_error)
    collectors = request.collectors(source)
    run = request.run(collectors)
    run.read_people(source, map)
    progress(source.read().bytes, source.total, 0)
    return assemble_scores(run, collectors, level)
