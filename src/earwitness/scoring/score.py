"""The functions score and people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, cast, get_args

from earwitness.core import Estimates, Map, OnError, Progress, StrPath, no_progress
from earwitness.engines.local import in_process
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFiles
from earwitness.io.frames import DataFrame, is_frame, output_records, reference_records
from earwitness.io.source import Records, RecordSource
from earwitness.metric_set import MetricChoice
from earwitness.registry import METRICS
from earwitness.scoring.assembly import Request, assemble_scores, listed, slicings_of
from earwitness.scoring.collectors import AlignmentRows, SampleRows
from earwitness.scoring.measure import fewer_of
from earwitness.scoring.records import AlignmentFile, SampleTable
from earwitness.scoring.results import (
    SampleValues,
    Scores,
    Slice,
    find_values,
    first_ranked,
    select_values,
)
from earwitness.scoring.run import ScoringRun
from earwitness.scoring.setup import Setup, set_up
from earwitness.task import parse_where

# --- Function score ------------------------------------------------------------------------------


RecordPlace = StrPath | Records
Place = RecordPlace | DataFrame


def score(
    outputs: Place,
    references: Place | None = None,
    *,
    metrics: MetricChoice | None = None,
    values: Sequence[str] | str | None = None,
    system: str | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    on_error: OnError = "fail",
    samples: StrPath | bool | None = None,
    alignments: StrPath | None = None,
    fewer: Sequence[int] | int = (),
    repeats: int = 5,
    worst: int = 0,
    worst_by: str | None = None,
    by: Sequence[str] | str = (),
    where: Sequence[str] | str = (),
    show: Sequence[str] | str = (),
    baselines: Sequence[str] | str = (),
    ceiling: bool = True,
    map: Map = in_process,
    progress: Progress = no_progress,
    **parameters: Any,
) -> Scores:
    """Score the outputs of one or more systems, with confidence intervals.

    The task (chapters, summaries, …) is that of ``metrics``, or is detected from the first lines of
    the files.

    Parameters
    ----------
    outputs
        Path, ``"-"`` for standard input, records in memory, or a pandas or polars data frame with
        one row per item and system. Without ``references``, records must be in chunkseg's format,
        which has output and reference in one line.
    references
        Path, ``"-"``, records, or a data frame with one row per item and annotator; joined with the
        outputs by ``item``.
    metrics
        Name of a metric, a ``Metric``, or a list of these. By default the metrics of the task.
    values
        Names of the values to keep in the result. By default all values of the metrics.
    system
        Name of the system if outputs and references are in one file. By default the file name.
    draws
        Number of bootstrap samples.
    level
        Level of the confidence intervals.
    seed
        Seed of the random numbers.
    on_error
        Handling of invalid or missing samples: ``"fail"`` raises an error, ``"skip"`` leaves them
        out, ``"empty"`` scores them with an empty output.
    samples
        File (.csv or .jsonl) for the values of every case, or True to keep them in the result, as
        ``to_records("samples")``.
    alignments
        File for the word alignment of every case.
    fewer
        Numbers of references. Every case is scored again with that many references of its item;
        these scores are among the ``samples``.
    repeats
        Number of random draws of annotators for each number of ``fewer``; a draw has the same
        annotators in all items.
    worst
        Number of worst cases to keep.
    worst_by
        Value by which the worst cases are chosen. By default the main value of the first metric.
    by
        Fields of ``meta``, or ``"duration"`` or ``"annotator"``, by which cases are grouped.
        Numbers are cut into ranges as in ``"snr:0,10"``.
    where
        Conditions on fields of items or outputs, such as ``"accuracy>=0.9"``; only items for which
        all of them hold are scored.
    show
        Items that the report shows in detail, in addition to the worst cases.
    baselines
        Names of baselines that are scored in addition to the systems.
    ceiling
        Whether to compute the human ceiling, by leaving out each annotator in turn. Without it,
        items with many references are scored faster.
    map
        Function that distributes the work, such as ``earwitness.engines.local.processes(4)``.
        Metrics with a text encoder always run in this process.
    progress
        Function that is called with bytes read, total bytes and cases so far.
    **parameters
        Parameters of the metrics, such as ``chunk_size=6.0``, or a list of values to score with
        each of them, such as ``collar=[1, 3, 5]``; and options of the task, such as ``preset``,
        ``heading_level`` or ``tokenise``.

    Returns
    -------
    Scores
        Estimates by system and value name.

    Raises
    ------
    InputError
        If a file cannot be read or has invalid lines. All problems are reported at once, and
        nothing is scored or written.
    UsageError
        If an argument is invalid.
    MissingExtra
        If a metric requires a library that is not installed.

    Examples
    --------
    >>> scores = score([{"hypothesis": [61, 120], "reference": [60], "duration": 180}])
    >>> scores.systems["outputs"]["collar_f1"].value
    0.6666666666666666
    """
    check(level=level, seed=seed, on_error=on_error, draws=draws, worst=worst, repeats=repeats)
    source, other = sources(outputs, references)
    setup = set_up(source, other, metrics, parameters)
    if setup.reader.separate_by:
        for one in filter(None, (source, other)):
            one.check_rereadable(setup.reader.separate_by)
    selected = find_values(setup.metrics.values, values)
    if alignments is not None and not setup.metrics.aligns:
        having = [name for name, kind in METRICS.items() if kind.aligns]
        raise UsageError(f"alignments require a metric that aligns words: {', '.join(having)}")
    request = Request(
        setup=setup,
        draws=draws,
        seed=seed,
        on_error=on_error,
        worst=worst,
        worst_by=worst_by or (first_ranked(setup.metrics.values, selected) if worst else None),
        by=slicings_of(by),
        where=parse_where(where),
        show=tuple(dict.fromkeys(listed(show))),
        baselines=tuple(listed(baselines)),
        ceiling=ceiling,
    )
    collectors = request.collectors(other or source)
    subsets = fewer_of(fewer, repeats, seed, joined=other is not None)
    if subsets.counts and not samples:
        raise UsageError(
            "scores with fewer references go to the table of samples only — set samples (--samples)"
        )
    with AtomicFiles() as together, ExitStack() as files:
        names = [value.name for value in setup.metrics.values]
        drawn = bool(subsets.counts)
        kept = SampleValues.of(names, drawn=drawn) if samples is True else None
        if kept is not None:
            collectors.files.append(SampleRows(kept))
        elif samples is not None and not isinstance(samples, bool):
            signature = request.sample_signature + subsets.signature
            table = SampleTable(Path(samples), names, signature, together, drawn=drawn)
            collectors.files.append(SampleRows(files.enter_context(table)))
        if alignments is not None:
            words = files.enter_context(AlignmentFile(Path(alignments), together))
            collectors.files.append(AlignmentRows(words))
        run = request.run(collectors, subsets=subsets, align=alignments is not None)
        run.read(source, other, system, map, progress)
        scores = replace(assemble_scores(run, collectors, level), samples=kept)
        if setup.reader.separate_by:
            part = _score_parts(request, run, (source, other), system, level, map)
            scores = replace(scores, slices=(*scores.slices, part))
        return select_values(scores, selected)


def _score_parts(
    request: Request,
    run: ScoringRun,
    sources: tuple[RecordSource, RecordSource | None],
    system: str | None,
    level: float,
    map_: Map,
) -> Slice:
    """Return the estimates of the parts of the input that the reader separates."""
    setup = request.setup
    groups: dict[str, Mapping[str, Estimates]] = {}
    for name, reader in setup.reader.separate(run.remarks).items():
        outputs, references = (None if one is None else one.again() for one in sources)
        assert outputs is not None
        part = replace(
            request, setup=setup._replace(reader=reader), worst=0, worst_by=None, by=(), show=()
        )
        collectors = part.collectors(references or outputs)
        part_run = part.run(collectors)
        part_run.read(outputs, references, system, map_, no_progress)
        groups[name] = assemble_scores(part_run, collectors, level).systems
    return Slice(setup.reader.separate_by, groups)


def refuse_separation(setup: Setup) -> None:
    """Raise UsageError if parts of the input shall be scored separately."""
    if field := setup.reader.separate_by:
        raise UsageError(f"only score can score each {field} — choose one of them")


def sources(outputs: Place, references: Place | None) -> tuple[RecordSource, RecordSource | None]:
    """Return the sources of outputs and references."""
    both = [place for place in (outputs, references) if isinstance(place, str) and place == "-"]
    if len(both) > 1:
        raise UsageError("standard input can be used for outputs or references, not for both")
    records = output_records(outputs) if is_frame(outputs) else cast("RecordPlace", outputs)
    source = RecordSource(records)
    return source, None if references is None else reference_source(references)


def reference_source(references: Place) -> RecordSource:
    """Return the source of references."""
    name = str(references) if isinstance(references, str | PathLike) else "references"
    if is_frame(references):
        return RecordSource(reference_records(references), name)
    return RecordSource(cast("RecordPlace", references), name)


def check(*, level: float, seed: int, on_error: str, **counts: int) -> None:
    """Raise UsageError for invalid arguments; counts must be at least 1, ``worst`` at least 0."""
    for name, number in {"seed": seed, **counts}.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise UsageError(f"{name} must be a whole number, got {number!r}")
    for name, number in counts.items():
        least = 0 if name == "worst" else 1
        if number < least:
            raise UsageError(f"{name} must be {least} or more, got {number}")
    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, such as 0.95, got {level}")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed}")
    if on_error not in get_args(OnError):
        raise UsageError(f"on_error must be one of fail, skip, empty, got {on_error!r}")


# --- Function people -----------------------------------------------------------------------------


def people(
    references: Place,
    *,
    metrics: MetricChoice | None = None,
    values: Sequence[str] | str | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    on_error: OnError = "fail",
    where: Sequence[str] | str = (),
    samples: StrPath | bool | None = None,
    map: Map = in_process,
    progress: Progress = no_progress,
    **parameters: Any,
) -> Scores:
    """Measure agreement between annotators: each against the others of the same item.

    Parameters
    ----------
    references
        Path, ``"-"`` for standard input, records, or a data frame with one row per item and
        annotator. At least one item must have two references.
    metrics
        Name of a metric, a ``Metric``, or a list of these. By default the metrics of the task.
    values
        Names of the values to keep in the result. By default all values of the metrics.
    draws
        Number of bootstrap samples.
    level
        Level of the confidence intervals.
    seed
        Seed of the random numbers.
    on_error
        Handling of invalid references: ``"fail"`` raises an error, ``"skip"`` and ``"empty"`` leave
        them out.
    where
        Conditions on fields of items, as for ``score``.
    samples
        File (.csv or .jsonl) for the values of every annotator and item, or True to keep them in
        the result. The annotator is the system, so that people can be compared with systems.
    map
        Function that distributes the work.
    progress
        Function that is called with bytes read, total bytes and cases so far.
    **parameters
        Parameters of the metrics and options of the task, as for ``score``.

    Returns
    -------
    Scores
        Scores of annotators in ``people``; ``systems`` is empty.

    Raises
    ------
    InputError
        If a file cannot be read or has invalid lines.
    UsageError
        If an argument is invalid, or no item has two references.

    Examples
    --------
    >>> both = [{"boundaries": [60]}, {"boundaries": [61, 120]}]
    >>> scores = people([{"item": "a", "duration": 180, "references": both}], metrics="collar")
    >>> round(scores.people.ceiling["collar_f1"].value, 3)
    0.667
    """
    check(level=level, seed=seed, on_error=on_error, draws=draws)
    source = reference_source(references)
    setup = set_up(None, source, metrics, parameters)
    refuse_separation(setup)
    selected = find_values(setup.metrics.values, values)
    request = Request(
        setup=setup, draws=draws, seed=seed, on_error=on_error, where=parse_where(where)
    )
    collectors = request.collectors(source)
    run = request.run(collectors)
    names = [value.name for value in setup.metrics.values]
    kept = SampleValues.of(names) if samples is True else None
    with ExitStack() as files:
        run.people.samples = kept
        if samples is not None and not isinstance(samples, bool):
            table = SampleTable(Path(samples), names, request.sample_signature)
            run.people.samples = files.enter_context(table)
        run.read_people(source, map)
    progress(source.read().bytes, source.total, 0)
    scores = replace(assemble_scores(run, collectors, level), samples=kept)
    return select_values(scores, selected)
