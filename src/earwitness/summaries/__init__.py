"""Speech summaries: the task of summarizing a transcript, and its metrics as plain functions.

The functions compare one summary with the reference summaries of its item and return values by
name. They use the same code as ``earwitness.score``, which scores whole corpora, with confidence
intervals. A summary is a list of positions in the transcript (starting at 1) or a text.

>>> import earwitness as ew
>>> ew.summaries.sumaccy([1, 2, 4], [[1, 2], [2, 4]], "it rains a lot")["sumaccy"]
1.0
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import chain
from math import nan
from typing import Any

from earwitness.errors import EarwitnessWarning, UsageError

Summary = str | Sequence[int]
Transcript = str | Sequence[str] | None
Values = dict[str, float]

__all__ = [
    "bertscore",
    "bleu",
    "kept",
    "rouge",
    "sumaccy",
    "weighted_precision",
    "word_accuracy",
    "word_strings",
]


def sumaccy(
    hypothesis: Summary,
    references: Sequence[Summary],
    transcript: Transcript = None,
    *,
    objective: str = "edits",
    arcs: str = "observed",
    boundary: str = "include",
    word_match: str = "position",
) -> Values:
    """Compute SumACCY and WSumACCY on the word network of the reference summaries.

    Parameters
    ----------
    hypothesis
        Positions of the words of the summary in the transcript, or its text.
    references
        Reference summaries, in the same form.
    transcript
        Transcript as a text or a list of words; required for summaries as text.
    objective
        Criterion for the closest path: ``"edits"`` or ``"accuracy"``.
    arcs
        Arcs of the network: ``"observed"`` or ``"original"``.
    boundary
        Whether the weight includes the arcs to the first and from the last word: ``"include"``
        or ``"exclude"``.
    word_match
        Comparison of words by ``"position"`` or by spelling (``"surface"``).

    Returns
    -------
    dict
        sumaccy, wsumaccy, wsumaccy_ceiling and more, by name.

    Raises
    ------
    UsageError
        If a summary is not an extract of the transcript.

    Examples
    --------
    >>> sumaccy("it rains", ["it rains", "rains lot"], "it rains a lot")["wsumaccy"]
    0.5
    """
    parameters = {
        "objective": objective,
        "arcs": arcs,
        "boundary": boundary,
        "word_match": word_match,
    }
    return _values("sumaccy", parameters, hypothesis, references, transcript)


def word_accuracy(
    hypothesis: Summary,
    references: Sequence[Summary],
    transcript: Transcript = None,
    **parameters: Any,
) -> Values:
    """Compute the word accuracy against each reference summary; parameters as for ``sumaccy``.

    Examples
    --------
    >>> word_accuracy([1, 2, 4], [[1, 2]], "it rains a lot")["wacc"]
    0.5
    """
    return _values("word_accuracy", parameters, hypothesis, references, transcript)


def kept(
    hypothesis: Summary,
    references: Sequence[Summary],
    transcript: Transcript = None,
    **parameters: Any,
) -> Values:
    """Compute precision, recall and F1 of the kept words; parameters as for ``sumaccy``.

    Examples
    --------
    >>> kept([1, 2, 4], [[1, 2]], "it rains a lot")["kept_recall"]
    1.0
    """
    return _values("kept", parameters, hypothesis, references, transcript)


def word_strings(
    hypothesis: Summary,
    references: Sequence[Summary],
    transcript: Transcript = None,
    **parameters: Any,
) -> Values:
    """Compute the word string precision; parameters as for ``sumaccy``, and ``longest``."""
    return _values("word_strings", parameters, hypothesis, references, transcript)


def weighted_precision(
    hypothesis: Summary,
    references: Sequence[Summary],
    transcript: Transcript = None,
    **parameters: Any,
) -> Values:
    """Compute the weighted precision of kept words; parameters as for ``sumaccy``."""
    return _values("weighted_precision", parameters, hypothesis, references, transcript)


def bleu(hypothesis: str, references: Sequence[str], **parameters: Any) -> Values:
    """Compute BLEU of a text against all reference texts.

    Examples
    --------
    >>> bleu("it rains a lot in spring", ["it rains a lot in spring"])["bleu"]
    1.0
    """
    return _values("bleu", parameters, hypothesis, references)


def rouge(hypothesis: str, references: Sequence[str], **parameters: Any) -> Values:
    """Compute ROUGE of a text against the reference texts.

    Examples
    --------
    >>> rouge("it rains", ["it rains a lot"])["rouge_1_recall"]
    0.5
    """
    return _values("rouge", parameters, hypothesis, references)


def bertscore(hypothesis: str, references: Sequence[str], **parameters: Any) -> Values:
    """Compute BERTScore of a text against the reference texts; needs the extra ``bert``."""
    return _values("bertscore", parameters, hypothesis, references)


# --- Cases ---------------------------------------------------------------------------------------


def _values(
    name: str,
    parameters: dict[str, Any],
    hypothesis: Summary,
    references: Sequence[Summary],
    transcript: Transcript = None,
) -> Values:
    from earwitness.core import Case, Key
    from earwitness.summaries.reader import (
        AMBIGUOUS,
        ParsedSummary,
        SummaryOptions,
        of_person,
        of_system,
    )
    from earwitness.summaries.records import SummaryAnnotation, SummaryContent
    from earwitness.summaries.task import SUMMARIES

    metric = next(metric for metric in SUMMARIES.metrics if metric.name == name)(**parameters)
    if isinstance(references, str) or not references:
        raise UsageError("references must be a list of at least one reference summary")
    by_position = getattr(metric, "needs", "positions") == "positions"
    item = _item(hypothesis, references, transcript, needed=by_position)
    reading = SummaryOptions(by_position, by_position)
    content = SummaryContent(**_content(hypothesis))
    parsed = {"hypothesis": of_system(content, item, reading, "hypothesis")}
    for number, reference in enumerate(references):
        annotation, place = SummaryAnnotation(**_content(reference)), f"references[{number}]"
        parsed[place] = of_person(annotation, item, reading, place)
    faults = [fault for result in parsed.values() if isinstance(result, list) for fault in result]
    if faults:
        raise UsageError("; ".join(f"{fault.field}: {fault.message}" for fault in faults))
    located = {
        place: result for place, result in parsed.items() if isinstance(result, ParsedSummary)
    }
    for place, summary in located.items():
        if summary.ambiguous:
            warnings.warn(f"{place}: {AMBIGUOUS}", EarwitnessWarning, stacklevel=3)
    output, *people = [summary.summary for summary in located.values()]
    return metric.values_of(Case(Key("item", "system"), item, output, tuple(people)))


def _content(summary: Summary) -> dict[str, Any]:
    return {"text": summary} if isinstance(summary, str) else {"positions": list(summary)}


def _item(
    hypothesis: Summary,
    references: Sequence[Summary],
    transcript: Transcript,
    *,
    needed: bool,
) -> Any:
    """Return the item; without a transcript, positions stand for words that are all different."""
    from earwitness.core import Item

    if transcript is not None:
        words = transcript.split() if isinstance(transcript, str) else transcript
        return Item(nan, words=tuple(words))
    summaries = [summary for summary in (hypothesis, *references) if not isinstance(summary, str)]
    if needed and len(summaries) <= len(references):
        raise UsageError("summaries as text require transcript, the words that were spoken")
    last = max(chain.from_iterable(summaries), default=0)
    return Item(nan, words=tuple(f"word{number}" for number in range(1, last + 1)))
