"""The tables of metrics and tasks that Earwitness knows by name."""

from __future__ import annotations

from earwitness.chapters.metrics import (
    Agreement,
    Chunks,
    Collar,
    Deviation,
    RValue,
    Segments,
    Similarity,
)
from earwitness.chapters.text_metrics import Sentences, TitleBertScore, TitleOverlap, WordErrorRate
from earwitness.errors import UsageError, nearest
from earwitness.metric import Metric
from earwitness.metric_set import MetricSet
from earwitness.skims.metrics import SkimMeasures
from earwitness.summaries.metrics import (
    KeptWords,
    SummarizationAccuracy,
    WeightedPrecision,
    WordAccuracy,
    WordStrings,
)
from earwitness.summaries.text_metrics import Bleu, Rouge, SummaryBertScore
from earwitness.task import Folders, Task, TaskReader
from earwitness.text.words import TOKENIZERS

# --- Metrics by name -----------------------------------------------------------------------------


METRICS: dict[str, type[Metric]] = {
    "agreement": Agreement,
    "chunks": Chunks,
    "collar": Collar,
    "deviation": Deviation,
    "r_value": RValue,
    "segments": Segments,
    "sentences": Sentences,
    "similarity": Similarity,
    "title_bertscore": TitleBertScore,
    "titles": TitleOverlap,
    "wer": WordErrorRate,
    "sumaccy": SummarizationAccuracy,
    "word_accuracy": WordAccuracy,
    "word_strings": WordStrings,
    "weighted_precision": WeightedPrecision,
    "kept": KeptWords,
    "bleu": Bleu,
    "rouge": Rouge,
    "bertscore": SummaryBertScore,
    "skims": SkimMeasures,
}


# --- Tasks by name -------------------------------------------------------------------------------


def _chapter_reader(families: MetricSet, options: dict[str, str], folders: Folders) -> TaskReader:
    from earwitness.chapters.presets import PRESETS, PresetOptions
    from earwitness.chapters.reader import ChapterOptions, ChapterReader

    del families, folders
    preset = options.pop("preset", "")
    if preset and preset not in PRESETS:
        raise UsageError(f'there is no preset "{preset}" — {nearest(preset, PRESETS)}')
    given = PresetOptions(options.pop("pattern", ""), options.pop("timestamp_format", ""))
    given.check()
    return ChapterReader(ChapterOptions(preset, given))


def _summary_reader(families: MetricSet, options: dict[str, str], folders: Folders) -> TaskReader:
    from earwitness.summaries.reader import SummaryOptions, SummaryReader

    del folders
    tokenise = options.pop("tokenise", "blanks")
    if tokenise not in TOKENIZERS:
        raise UsageError(f'there is no tokeniser "{tokenise}" — {nearest(tokenise, TOKENIZERS)}')
    strict = [metric for metric in families.metrics if metric.needs == "positions"]
    free = all(getattr(metric, "match", "position") == "surface" for metric in strict)
    return SummaryReader(SummaryOptions(not free, bool(strict), tokenise))


def _skim_reader(families: MetricSet, options: dict[str, str], folders: Folders) -> TaskReader:
    from earwitness.skims.reader import SkimReader

    del options
    first = next(metric for metric in families.metrics if isinstance(metric, SkimMeasures))
    return SkimReader(folders.outputs, folders.references, first.embedder, first.block)


TASKS = {
    "chapters": Task(
        "chapters", ("chunks", "collar"), ("agreement", "chunks", "collar"), _chapter_reader
    ),
    "summaries": Task(
        "summaries",
        ("sumaccy", "weighted_precision", "kept"),
        ("sumaccy", "weighted_precision", "kept"),
        _summary_reader,
        baselines=("lead", "random"),
    ),
    "texts": Task("summaries", ("rouge",), ("rouge",), _summary_reader),
    "skims": Task(
        "skims",
        ("skims",),
        ("skims",),
        _skim_reader,
        baselines=("downsampling", "random", "calibration_tc", "calibration_sd"),
    ),
}
