"""Metrics of chapters as functions of one output and its references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from inspect import Parameter, Signature, signature
from math import inf
from typing import Any

from earwitness.chapters.metrics import Deviation, MatchedMetric
from earwitness.chapters.task import CHAPTERS
from earwitness.chapters.text_metrics import Sentences, TitleMetric, WordErrorRate
from earwitness.core import Case, Chapters, Item, Key
from earwitness.errors import UsageError

Times = Iterable[float]
TitleTimes = Iterable[tuple[str, float]]
Values = dict[str, float]


@cache
def metric_function(name: str) -> Callable[..., Values]:
    """Return the function of the metric with this name.

    It takes the sides of a case, and the parameters of the metric by name.

    >>> metric_function("deviation")([61, 120], [60])
    {'deviation_of_reference': 1.0, 'deviation_of_output': 30.5}
    >>> metric_function("wer")("welcome to the show", "welcome to this show")["wer"]
    0.25
    """
    kind = next(metric for metric in CHAPTERS.metrics if metric.name == name)
    make = next((make for base, make in CASES.items() if issubclass(kind, base)), _timed_case)
    sides = signature(make).parameters

    def function(*given: Any, **options: Any) -> Values:
        more = {name: options.pop(name) for name in sides if name in options}
        metric, case = kind(**options), make(*given, **more)
        if make is _exact_case and options.get("edge") and case.item.duration == inf:
            raise UsageError("edge requires duration, the length of the recording in seconds")
        return metric.values_of(case)

    function.__name__, function.__doc__ = name, kind.__doc__
    parameters = kind.parameters().items()
    own = [Parameter(key, Parameter.KEYWORD_ONLY, default=default) for key, default in parameters]
    function.__signature__ = Signature([*sides.values(), *own])  # type: ignore[attr-defined]
    return function


# --- Cases ---------------------------------------------------------------------------------------


def _timed_case(
    hypothesis: Times, reference: Times | Sequence[Times], duration: float | None
) -> Case:
    references = [Chapters(times) for times in _references(reference)]
    return _case(Chapters(_times("hypothesis", hypothesis)), references, duration)


def _exact_case(
    hypothesis: Times, reference: Times | Sequence[Times], duration: float | None = None
) -> Case:
    """Return a case of a metric of exact times, which need no duration."""
    return _timed_case(hypothesis, reference, duration)


def _sentence_case(
    hypothesis: Times,
    reference: Times | Sequence[Times],
    duration: float,
    *,
    starts: Times,
    hypothesis_starts: Times | None = None,
) -> Case:
    """Return a case with the start times of sentences, also of those of the output."""
    case = _timed_case(hypothesis, reference, duration)
    own = None if hypothesis_starts is None else _times("hypothesis_starts", hypothesis_starts)
    item = replace(case.item, sentences=_times("starts", starts))
    return replace(case, output=replace(case.output, sentences=own), item=item)


def _title_case(
    hypothesis: TitleTimes, reference: TitleTimes, duration: float | None = None
) -> Case:
    """Return a case of titles with their start times."""
    sides = [
        tuple((str(title), float(at)) for title, at in side) for side in (hypothesis, reference)
    ]
    output, expected = (Chapters(tuple(at for _, at in side), titles=side) for side in sides)
    return _case(output, [expected], duration)


def _word_case(hypothesis: str, reference: str) -> Case:
    """Return a case of two transcripts."""
    return _case(Chapters((), text=hypothesis), [Chapters(())], None, transcript=reference)


CASES: dict[type, Callable[..., Case]] = {
    Sentences: _sentence_case,
    TitleMetric: _title_case,
    WordErrorRate: _word_case,
    MatchedMetric: _exact_case,
    Deviation: _exact_case,
}


def _case(
    output: Chapters, references: Sequence[Chapters], duration: float | None, **item: Any
) -> Case:
    if duration is not None and not 0 <= duration < inf:
        raise UsageError(f"duration must be a number of seconds, got {duration!r}")
    length = inf if duration is None else float(duration)
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
    if not all(abs(time) < inf for time in times):
        raise UsageError(f"{name} must have finite times")
    return times
