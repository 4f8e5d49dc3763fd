"""Chapters: the task of segmenting a long recording, and its metrics as plain functions.

Times are in seconds from the start. A value that is not defined for a case is NaN, and the case is
counted as undefined; see the table of empty cells of each metric.

The functions compare one output with one reference, or with those of several annotators, and return
values by name. They use the same code as ``earwitness.score``, which scores whole corpora, with
confidence intervals.

>>> import earwitness as ew
>>> ew.chapters.collar([61, 120], [60], collar=3.0)
{'collar_precision': 0.5, 'collar_recall': 1.0, 'collar_f1': 0.6666666666666666}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from earwitness.errors import UsageError

if TYPE_CHECKING:
    from earwitness.chapters.metrics import ChapterMetric
    from earwitness.core import Case, Chapters

Times = Iterable[float]
TitleTimes = Iterable[tuple[str, float]]
Values = dict[str, float]

__all__ = [
    "agreement",
    "chunks",
    "collar",
    "deviation",
    "r_value",
    "segments",
    "sentences",
    "similarity",
    "title_bertscore",
    "titles",
    "wer",
]

# --- Metrics of time -----------------------------------------------------------------------------


def chunks(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float,
    *,
    chunk_size: float = 6.0,
    edge: float = 0.0,
    against: str = "mean",
) -> Values:
    """Compare boundaries in discrete time, as chunkseg does.

    Parameters
    ----------
    hypothesis
        Boundaries of the output, in seconds.
    reference
        Boundaries of the reference, or a list of them, one per annotator.
    duration
        Duration of the recording in seconds.
    chunk_size
        Length of a chunk in seconds.
    edge
        Boundaries within this many seconds of the start or the end are ignored.
    against
        How to combine several references: ``"mean"`` or ``"best"``.

    Returns
    -------
    dict
        precision, recall, f1, pk, window_diff, boundary_similarity and more, by name.

    Examples
    --------
    >>> chunks([61], [60], 180)["boundary_similarity"]
    1.0
    """
    from earwitness.chapters.metrics import Chunks

    metric = Chunks(chunk_size=chunk_size, edge=edge, against=against)
    return _values(metric, hypothesis, reference, duration)


def collar(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float | None = None,
    *,
    collar: float = 3.0,
    boundary_matching: str = "greedy",
    edge: float = 0.0,
    against: str = "mean",
) -> Values:
    """Match boundaries one to one within a collar: precision, recall and F1.

    Parameters
    ----------
    hypothesis
        Boundaries of the output, in seconds.
    reference
        Boundaries of the reference, or a list of them, one per annotator.
    duration
        Duration of the recording in seconds; needed only if ``edge`` is set.
    collar
        Largest distance between matched boundaries in seconds.
    boundary_matching
        ``"greedy"`` matches the closest pairs first, ``"optimal"`` as many pairs as possible.
    edge
        Boundaries within this many seconds of the start or the end are ignored.
    against
        How to combine several references: ``"mean"`` or ``"best"``.

    Returns
    -------
    dict
        collar_precision, collar_recall and collar_f1.

    Examples
    --------
    >>> collar([61, 120], [60], collar=3.0)["collar_recall"]
    1.0
    """
    from earwitness.chapters.metrics import Collar

    metric = Collar(collar=collar, boundary_matching=boundary_matching, edge=edge, against=against)
    return _values(metric, hypothesis, reference, duration)


def r_value(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float | None = None,
    *,
    collar: float = 3.0,
    boundary_matching: str = "greedy",
    edge: float = 0.0,
    against: str = "mean",
) -> Values:
    """Compute the R-value and the over-segmentation; parameters as for ``collar``.

    Examples
    --------
    >>> r_value([61, 120], [60])["over_segmentation"]
    1.0
    """
    from earwitness.chapters.metrics import RValue

    metric = RValue(collar=collar, boundary_matching=boundary_matching, edge=edge, against=against)
    return _values(metric, hypothesis, reference, duration)


def deviation(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float | None = None,
    *,
    edge: float = 0.0,
    against: str = "mean",
) -> Values:
    """Compute median distances to the nearest boundary; parameters as for ``collar``.

    Examples
    --------
    >>> deviation([61, 120], [60])
    {'deviation_of_reference': 1.0, 'deviation_of_output': 30.5}
    """
    from earwitness.chapters.metrics import Deviation

    return _values(Deviation(edge=edge, against=against), hypothesis, reference, duration)


def similarity(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float,
    *,
    chunk_size: float = 6.0,
    edge: float = 0.0,
    against: str = "mean",
) -> Values:
    """Compute the segmentation similarity S; parameters as for ``chunks``.

    Examples
    --------
    >>> similarity([61], [60], 180)
    {'segmentation_similarity': 1.0}
    """
    from earwitness.chapters.metrics import Similarity

    metric = Similarity(chunk_size=chunk_size, edge=edge, against=against)
    return _values(metric, hypothesis, reference, duration)


def segments(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float,
    *,
    frame: float = 0.1,
    edge: float = 0.0,
    against: str = "mean",
) -> Values:
    """Compare chapters as partitions of time: purity, coverage, V-measure, adjusted Rand index.

    ``frame`` is the distance between frames in seconds; other parameters as for ``chunks``.

    Examples
    --------
    >>> round(segments([90], [60], 180)["purity"], 3)
    0.833
    """
    from earwitness.chapters.metrics import Segments

    metric = Segments(frame=frame, edge=edge, against=against)
    return _values(metric, hypothesis, reference, duration)


def agreement(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float,
    *,
    chunk_size: float = 6.0,
    edge: float = 0.0,
    against: str = "mean",
) -> Values:
    """Compute agreement beyond chance (π); parameters as for ``chunks``.

    Examples
    --------
    >>> round(agreement([61, 130], [60], 180)["pi"], 3)
    0.499
    """
    from earwitness.chapters.metrics import Agreement

    metric = Agreement(chunk_size=chunk_size, edge=edge, against=against)
    return _values(metric, hypothesis, reference, duration)


# --- Metrics of texts ----------------------------------------------------------------------------


def titles(
    hypothesis: TitleTimes,
    reference: TitleTimes,
    duration: float | None = None,
    **parameters: Any,
) -> Values:
    """Compare titles of chapters by ROUGE; see the metric ``titles`` for its parameters.

    Parameters
    ----------
    hypothesis, reference
        Titles with their start times in seconds.
    duration
        Duration of the recording in seconds, if it is needed.
    **parameters
        Parameters of the metric.

    Returns
    -------
    dict
        Values by name.

    Examples
    --------
    >>> titles([("Opening words", 0)], [("Opening words", 0)], 60)["tm_rl_f1"]
    1.0
    """
    from earwitness.chapters.text_metrics import TitleOverlap

    return _title_values(TitleOverlap(**parameters), hypothesis, reference, duration)


def title_bertscore(
    hypothesis: TitleTimes,
    reference: TitleTimes,
    duration: float | None = None,
    **parameters: Any,
) -> Values:
    """Compare titles of chapters by BERTScore; parameters as for ``titles``."""
    from earwitness.chapters.text_metrics import TitleBertScore

    return _title_values(TitleBertScore(**parameters), hypothesis, reference, duration)


def sentences(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float,
    *,
    starts: Times,
    hypothesis_starts: Times | None = None,
    **parameters: Any,
) -> Values:
    """Compare boundaries on sentences: each boundary is moved to the nearest start of a sentence.

    Parameters
    ----------
    hypothesis, reference, duration
        As for ``chunks``.
    starts
        Start times of the sentences of the reference transcript.
    hypothesis_starts
        Start times of the sentences of the output's own transcript.
    **parameters
        Parameters of the metric ``sentences``.

    Returns
    -------
    dict
        Values by name.
    """
    from earwitness.chapters.text_metrics import Sentences
    from earwitness.core import Chapters

    own = None if hypothesis_starts is None else _times("hypothesis_starts", hypothesis_starts)
    output = Chapters(_times("hypothesis", hypothesis), sentences=own)
    references = [Chapters(times) for times in _references(reference)]
    case = _case(output, references, duration, sentences=_times("starts", starts))
    return Sentences(**parameters).values_of(case)


def wer(hypothesis: str, reference: str, **parameters: Any) -> Values:
    """Compute the word error rate of a transcript.

    Parameters
    ----------
    hypothesis, reference
        Transcript of the system and reference transcript.
    **parameters
        Parameters of the metric ``wer``.

    Returns
    -------
    dict
        Values by name.

    Examples
    --------
    >>> wer("welcome to the show", "welcome to this show")["wer"]
    0.25
    """
    from earwitness.chapters.text_metrics import WordErrorRate
    from earwitness.core import Chapters

    case = _case(Chapters((), text=hypothesis), [Chapters(())], None, transcript=reference)
    return WordErrorRate(**parameters).values_of(case)


# --- Cases ---------------------------------------------------------------------------------------


def _values(
    metric: ChapterMetric,
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float | None,
) -> Values:
    from earwitness.core import Chapters

    if duration is None and metric.edge:
        raise UsageError("edge requires duration, the length of the recording in seconds")
    output = Chapters(_times("hypothesis", hypothesis))
    references = [Chapters(times) for times in _references(reference)]
    return metric.values_of(_case(output, references, duration))


def _title_values(
    metric: ChapterMetric, hypothesis: TitleTimes, reference: TitleTimes, duration: float | None
) -> Values:
    from earwitness.core import Chapters

    sides = [
        tuple((str(title), float(at)) for title, at in side) for side in (hypothesis, reference)
    ]
    output, expected = (Chapters(tuple(at for _, at in side), titles=side) for side in sides)
    return metric.values_of(_case(output, [expected], duration))


def _case(
    output: Chapters, references: Sequence[Chapters], duration: float | None, **item: Any
) -> Case:
    from earwitness.core import Case, Item, Key

    if duration is not None and not 0 <= duration < float("inf"):
        raise UsageError(f"duration must be a number of seconds, got {duration!r}")
    # metrics of exact times do not use the duration
    length = float("inf") if duration is None else float(duration)
    return Case(Key("item", "system"), Item(length, **item), output, tuple(references))


def _references(reference: Times | Sequence[Times]) -> list[tuple[float, ...]]:
    """Return the boundaries of every annotator."""
    rows: list[Any] = list(reference)
    if rows and all(hasattr(row, "__iter__") and not isinstance(row, str) for row in rows):
        return [_times("reference", row) for row in rows]
    return [_times("reference", rows)]


def _times(name: str, values: Iterable[Any]) -> tuple[float, ...]:
    """Return times in seconds; raise UsageError unless all are finite numbers."""
    try:
        times = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise UsageError(f"{name} must be a list of times in seconds") from None
    if not all(abs(time) < float("inf") for time in times):
        raise UsageError(f"{name} must have finite times")
    return times
