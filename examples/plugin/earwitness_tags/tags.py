"""Example task and metric: tags of a recording, compared with those of annotators.

This example is complete; CONTRIBUTING.md explains it, and a test installs it, uses it and runs the
contract tests of metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from random import Random
from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.core import Case, Cases, Item, Key, Value
from earwitness.io.records import RecordType
from earwitness.io.schema import Fault, Name
from earwitness.metric import CaseList, Metric, PairMetric, ratio
from earwitness.metric_set import MetricSet
from earwitness.stats.arrays import Bools, Floats
from earwitness.task import Folders, ItemLine, OutputLine, Task, TaskFields, TaskReader

Tags = frozenset[str]

# --- Metric --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TagOverlap(PairMetric):
    """Precision, recall and F1 of tags, pooled over all outputs."""

    task = "tags"
    name = "tag_overlap"
    title = "Shared tags"
    values = (
        Value("tag_precision", "high", 0, 1, "share of output tags that are in the reference"),
        Value("tag_recall", "high", 0, 1, "share of reference tags that are in the output"),
        Value("tag_f1", "high", 0, 1, "harmonic mean of precision and recall"),
    )
    headline = "tag_f1"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined",
        "output empty": "precision undefined, recall and F1 0",
        "reference empty": "recall undefined, precision and F1 0",
    }
    references = ("this file",)

    def columns(self, cases: Sequence[Case]) -> CaseList:
        return CaseList.of(cases)

    def measure_pairs(self, pairs: CaseList) -> Floats:
        """Return shared tags, output tags and reference tags, one row per pair."""
        rows = [
            (len(case.output & reference), len(case.output), len(reference))
            for case in pairs
            for reference in case.references
        ]
        return np.array(rows, np.float64).reshape(len(rows), 3)

    def score(self, statistics: Floats) -> Floats:
        shared, output, reference = np.moveaxis(statistics, -1, 0)
        precision, recall = ratio(shared, output, nan), ratio(shared, reference, nan)
        return np.stack([precision, recall, ratio(2 * shared, output + reference, nan)], axis=-1)

    def same(self, pairs: CaseList) -> Bools:
        return np.array([case.output == case.references[0] for case in pairs], np.bool_)


# --- Records -------------------------------------------------------------------------------------


class TagContent(Struct, forbid_unknown_fields=True):
    """The output of a system."""

    tags: list[Name]


class TagOutputLine(OutputLine, forbid_unknown_fields=True, kw_only=True):
    """A line of an outputs file."""

    output: TagContent


class TagAnnotation(Struct, forbid_unknown_fields=True):
    """The tags of one annotator."""

    tags: list[Name]
    annotator: Name | UnsetType = UNSET


class TagReferenceLine(ItemLine, forbid_unknown_fields=True, kw_only=True):
    """A line of a references file."""

    references: Annotated[list[TagAnnotation], Meta(min_length=1)]


# --- Reader --------------------------------------------------------------------------------------


class TagReader(TaskReader):
    """Reads lines of tags as cases."""

    outputs = RecordType(TagOutputLine, output="output")
    references = RecordType(TagReferenceLine)
    failed = frozenset[str]()
    nothing: ClassVar[dict[str, Any]] = {"tags": []}
    if_nothing = "write an empty list if there are no tags"
    signature = ""

    def output(self, record: TagContent, cases: Cases, row: int) -> Tags:
        del cases, row
        return frozenset(map(str, record.tags))

    def reference(
        self, record: TagReferenceLine, names: Sequence[str]
    ) -> tuple[list[Tags], list[Fault]]:
        del names
        return [frozenset(map(str, person.tags)) for person in record.references], []

    def of_references(
        self, records: Sequence[TagReferenceLine], resolved: Sequence[list[Tags]]
    ) -> CaseList:
        return CaseList(
            Case(Key(str(record.item), ""), Item(nan), self.failed, tuple(references))
            for record, references in zip(records, resolved, strict=True)
        )

    def join(self, cases: Cases, systems: list[str], outputs: Sequence[Tags]) -> CaseList:
        return CaseList(
            Case(Key(case.key.item, system), case.item, output, case.references)
            for case, system, output in zip(cases, systems, outputs, strict=True)
        )

    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        return {"tags": len(case[row].references[0])}

    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        del cases, references
        return Counter({"empty": sum(not tags for tags in resolved)})

    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        del metrics
        if remarks["empty"]:
            yield f"empty lists of tags: {remarks['empty']:,}"


# --- Task ----------------------------------------------------------------------------------------


def tag_reader(metrics: MetricSet, options: dict[str, str], folders: Folders) -> TagReader:
    """Return a reader; tags need no options."""
    del metrics, options, folders
    return TagReader()


def sample_cases(rng: Random, references: int) -> list[Case]:
    """Return random cases with ``references`` references each, for the contract tests."""
    names = ["bird", "rain", "speech", "bell", "engine"]

    def tags() -> Tags:
        return frozenset(rng.sample(names, rng.randint(0, 4)))

    return [
        Case(Key(f"item {n}", "s"), Item(nan), tags(), tuple(tags() for _ in range(references)))
        for n in range(40)
    ]


TAGS = Task(
    name="tags",
    metrics=(TagOverlap,),
    defaults=("tag_overlap",),
    people=("tag_overlap",),
    reader=tag_reader,
    fields=TaskFields(content=frozenset({"tags"})),
    sample_cases=sample_cases,
)
