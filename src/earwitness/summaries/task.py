"""The task of summaries, with or without a transcript, and example items in reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from earwitness.core import ExampleItem, Value
from earwitness.metric_set import MetricSet
from earwitness.report.parts import ABOUT_ARCS, NetworkPart, Section
from earwitness.summaries.metrics import (
    KeptWords,
    SummarizationAccuracy,
    WeightedPrecision,
    WordAccuracy,
    WordStrings,
)
from earwitness.summaries.text_metrics import (
    Bleu,
    MisrecognizedWords,
    Rouge,
    SummaryBertScore,
)
from earwitness.task import Folders, Task, TaskOption, TaskReader


def summary_reader(metrics: MetricSet, options: dict[str, str], _folders: Folders) -> TaskReader:
    """Return a reader that determines the positions needed by the metrics."""
    from earwitness.summaries.methods.summarize import ENGLISH, choose_tokenizer
    from earwitness.summaries.reader import SummaryOptions, SummaryReader

    tokenize = choose_tokenizer(options.pop("language", ENGLISH))
    positional = [m for m in metrics.metrics if getattr(m, "needs", "positions") == "positions"]
    written = all(getattr(metric, "word_match", "position") == "surface" for metric in positional)
    return SummaryReader(SummaryOptions(not written, bool(positional), tokenize))


def summary_sections(
    shown: Sequence[ExampleItem], _values: Sequence[Value], worst: Mapping[str, str]
) -> Iterator[Section]:
    """Yield the word networks of items."""
    parts = list[NetworkPart]()
    for number, example in enumerate(shown):
        if (network := example.network) is not None:
            first = next((name for name in network.targets if not name.startswith("(")), "")
            picked = worst.get(network.item, first)  # the system whose path is highlighted
            parts.append(NetworkPart(example.item, network, number, picked, example.why))
    if parts:
        yield Section("Networks", tuple(parts), ABOUT_ARCS, place="pictures")


SUMMARIES = Task(
    name="summaries",
    metrics=(
        SummarizationAccuracy,
        WordAccuracy,
        WordStrings,
        WeightedPrecision,
        KeptWords,
        Bleu,
        Rouge,
        SummaryBertScore,
        MisrecognizedWords,
    ),
    defaults=("sumaccy", "weighted_precision", "kept"),
    people=("sumaccy", "weighted_precision", "kept"),
    reader=summary_reader,
    options=(
        TaskOption(
            "language",
            "Language of the words, such as en or ja; texts in Japanese are split into words.",
            default="en",
        ),
    ),
    baselines=("lead", "random"),
    example_sections=summary_sections,
)
# summaries in free wording, without a transcript
TEXTS = replace(
    SUMMARIES,
    name="texts",
    metrics=(),
    defaults=("rouge",),
    people=("rouge",),
    options=(),
    baselines=(),
)
