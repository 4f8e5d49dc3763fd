"""The functions score and people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

from earwitness.core import Estimates, Jobs, Map, Progress, StrPath, no_progress
from earwitness.engines.local import choose_map
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFiles
from earwitness.io.frames import DataFrame, is_frame, output_records, reference_records
from earwitness.io.source import Records, RecordSource
from earwitness.registry import METRICS, gather_folder
from earwitness.scoring.assembly import Request, assemble_scores
from earwitness.scoring.collectors import AlignmentRows, SampleRows
from earwitness.scoring.measure import subsets_of
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
from earwitness.scoring.settings import ScoringSettings, SystemSettings
from earwitness.scoring.setup import Setup, set_up

# --- Function score ------------------------------------------------------------------------------


RecordPlace = StrPath | Records
Place = RecordPlace | DataFrame


def score(
    outputs: Place,
    references: Place | None = None,
    *,
    system: str | None = None,
    samples: StrPath | bool | None = None,
    alignments: StrPath | None = None,
    reference_counts: Sequence[int] | int = (),
    repeats: int = 5,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
    **options: Any,
) -> Scores:
    """Score the outputs of one or more systems, with confidence intervals.

    Parameters
    ----------
    outputs
        Path, ``"-"`` for standard input, records in memory, or a pandas or polars data frame with
        one row per item and system; or a folder with one file per item, as for ``gather``. Without
        ``references``, records must be in chunkseg's format, which has output and reference in one
        line.
    references
        Path, ``"-"``, records, a data frame with one row per item and annotator, or a folder with
        one file per item; joined with the outputs by ``item``.
    system
        Name of the system if outputs and references are in one file. By default that of the file.
    samples
        File (.csv or .jsonl) for the values of every output, or True to keep them in the result,
        as ``to_records("samples")``.
    alignments
        Text file for the word alignment of every output.
    reference_counts
        Numbers of references with which every output is scored again; needs ``samples``.
    repeats
        Random draws of annotators per number of references; a draw has the same annotators in
        all items.
    jobs
        Number of worker processes, or a function that distributes work as ``map`` does.
        Metrics with a text encoder always run in this process.
    progress
        Function that is called with bytes read, total bytes and outputs so far.
    **options
        Settings (see ``SystemSettings``), such as ``metrics``, ``by`` or ``draws``; parameters of
        the metrics, such as ``chunk_size=6.0``, or a list of values to score with each of them,
        such as ``collar=[1, 3, 5]``; and options of the input format, such as ``preset``.

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
    settings, parameters = SystemSettings.split(options)
    source, other = sources(outputs, references)
    setup = set_up(source, other, settings.metrics, parameters)
    if setup.reader.separate_by:
        for record_source in filter(None, (source, other)):
            record_source.check_rereadable(setup.reader.separate_by)
    selected = find_values(setup.metrics.values, settings.values)
    if settings.worst and not settings.worst_by:
        settings = replace(settings, worst_by=first_ranked(setup.metrics.values, selected))
    if alignments is not None and not setup.metrics.aligns:
        having = [name for name, kind in METRICS.items() if kind.aligns]
        raise UsageError(f"alignments require a metric that aligns words: {', '.join(having)}")
    request, map_ = Request(setup=setup, settings=settings), choose_map(jobs)
    collectors = request.collectors(other or source)
    subsets = subsets_of(reference_counts, repeats, settings.seed, joined=other is not None)
    if subsets.counts and not samples:
        raise UsageError(
            "scores with fewer references go to the table of outputs only — set samples (--samples)"
        )
    with AtomicFiles() as together, ExitStack() as files:
        names = setup.metrics.value_names
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
        run.read(source, other, system, map_, progress)
        scores = replace(assemble_scores(run, collectors, settings.level), samples=kept)
        if setup.reader.separate_by:
            part = _score_parts(request, run, (source, other), system, map_)
            scores = replace(scores, slices=(*scores.slices, part))
        return select_values(scores, selected)


def _score_parts(
    request: Request,
    run: ScoringRun,
    sources: tuple[RecordSource, RecordSource | None],
    system: str | None,
    map_: Map,
) -> Slice:
    """Return the estimates of the parts of the input that the reader separates."""
    setup = request.setup
    settings = replace(request.settings, worst=0, worst_by=None, by=(), show=())
    groups: dict[str, Mapping[str, Estimates]] = {}
    for name, reader in setup.reader.separate(run.remarks).items():
        outputs, references = (None if source is None else source.again() for source in sources)
        assert outputs is not None
        part = Request(setup=setup._replace(reader=reader), settings=settings)
        collectors = part.collectors(references or outputs)
        part_run = part.run(collectors)
        part_run.read(outputs, references, system, map_, no_progress)
        groups[name] = assemble_scores(part_run, collectors, settings.level).systems
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
    if is_frame(outputs):
        source = RecordSource(output_records(outputs))
    else:
        source = _file_source(cast("RecordPlace", outputs), "", references=False)
    return source, None if references is None else reference_source(references)


def reference_source(references: Place) -> RecordSource:
    """Return the source of references."""
    name = str(references) if isinstance(references, str | PathLike) else "references"
    if is_frame(references):
        return RecordSource(reference_records(references), name)
    return _file_source(cast("RecordPlace", references), name, references=True)


def _file_source(place: RecordPlace, name: str, *, references: bool) -> RecordSource:
    """Return the source of records; files in a folder are converted."""
    if isinstance(place, str | PathLike) and Path(place).is_dir():
        return RecordSource(gather_folder(str(place), references=references), str(place))
    return RecordSource(place, name)


# --- Function people -----------------------------------------------------------------------------


def people(
    references: Place,
    *,
    samples: StrPath | bool | None = None,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
    **options: Any,
) -> Scores:
    """Measure agreement between annotators: each against the others of the same item.

    Parameters
    ----------
    references
        Path, ``"-"`` for standard input, records, or a data frame with one row per item and
        annotator. At least one item must have two references.
    samples
        File (.csv or .jsonl) for the values of every annotator and item, or True to keep them in
        the result. The annotator is the system, so that people can be compared with systems.
    jobs
    progress
        Function that is called with bytes read, total bytes and outputs so far.
    **options
        Settings (see ``ScoringSettings``), parameters of the metrics, and options of the input
        format, as for ``score``. Invalid references are left out unless ``on_error`` is ``"fail"``.

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
    settings, parameters = ScoringSettings.split(options)
    source = reference_source(references)
    setup = set_up(None, source, settings.metrics, parameters)
    refuse_separation(setup)
    selected = find_values(setup.metrics.values, settings.values)
    request = Request(setup=setup, settings=SystemSettings(**vars(settings)))
    collectors = request.collectors(source)
    run = request.run(collectors)
    names = setup.metrics.value_names
    kept = SampleValues.of(names) if samples is True else None
    with ExitStack() as files:
        run.people.samples = kept
        if samples is not None and not isinstance(samples, bool):
            table = SampleTable(Path(samples), names, request.sample_signature)
            run.people.samples = files.enter_context(table)
        run.read_people(source, choose_map(jobs))
    progress(source.read().bytes, source.total, 0)
    scores = replace(assemble_scores(run, collectors, settings.level), samples=kept)
    return select_values(scores, selected)
