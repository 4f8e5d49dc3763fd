"""ChapterCases: a batch of chapter cases as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from earwitness.core import Case, Cases, Chapters, Item, Key, Titles
from earwitness.errors import UsageError
from earwitness.stats.arrays import Floats, Ints, Ragged, all_others, bounds, pick

Starts = tuple[float, ...]  # when sentences begin


@dataclass(frozen=True, slots=True, eq=False)
class ChapterTexts:
    """What is written, in lists beside the columns; None is what nobody gave.

    ``titles``, ``said`` and ``own_sentences`` have an entry an output, ``reference_titles`` an
    entry a reference, ``transcripts`` and ``sentences`` an entry a case. Of sentences it is known
    when they begin.
    """

    titles: Sequence[Titles | None]
    said: Sequence[str | None]
    reference_titles: Sequence[Titles | None]
    transcripts: Sequence[str | None]
    own_sentences: Sequence[Starts | None]
    sentences: Sequence[Starts | None]

    @classmethod
    def of(
        cls,
        outputs: Sequence[tuple[Titles | None, str | None, Starts | None]],
        references: Sequence[Titles | None],
        items: Sequence[tuple[str | None, Starts | None]],
    ) -> ChapterTexts | None:
        """What is written, if anything is: titles, words and sentences of outputs and items."""
        chapter_texts = cls(
            [titles for titles, _, _ in outputs],
            [said for _, said, _ in outputs],
            references,
            [transcript for transcript, _ in items],
            [starts for _, _, starts in outputs],
            [starts for _, starts in items],
        )
        columns = (getattr(chapter_texts, name) for name in cls.__slots__)
        return (
            None if all(entry is None for column in columns for entry in column) else chapter_texts
        )

    def take(self, cases: Ints, references: Ints) -> ChapterTexts:
        """Those of these cases, and of these references."""
        chosen, rows = cases.tolist(), references.tolist()
        return ChapterTexts(
            [self.titles[i] for i in chosen],
            [self.said[i] for i in chosen],
            [self.reference_titles[i] for i in rows],
            [self.transcripts[i] for i in chosen],
            [self.own_sentences[i] for i in chosen],
            [self.sentences[i] for i in chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class ChapterCases(Cases):
    """A sequence of cases; one that is asked for is made on the spot.

    The references of case ``i`` are the rows ``spans[i]`` to ``spans[i + 1]`` of ``reference``;
    without ``spans`` every case has one.
    """

    items: Sequence[str]
    systems: Sequence[str]
    duration: Floats
    output: Ragged
    reference: Ragged
    spans: Ints | None = None
    texts: ChapterTexts | None = None

    @classmethod
    def of(cls, cases: Sequence[Case]) -> ChapterCases:
        """Cases as columns; columns stay as they are."""
        if isinstance(cases, ChapterCases):
            return cases
        if not all(case.references for case in cases):
            raise UsageError("a case needs at least one reference")
        return cls(
            [case.key.item for case in cases],
            [case.key.system for case in cases],
            np.array([case.item.duration for case in cases], np.float64),
            Ragged.from_rows([case.output.boundaries for case in cases]),
            Ragged.from_rows([one.boundaries for case in cases for one in case.references]),
            spans_of([len(case.references) for case in cases]),
            _texts(cases),
        )

    def __len__(self) -> int:
        return len(self.duration)

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> ChapterCases: ...

    def __getitem__(self, index: int | slice) -> Case | ChapterCases:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        index = range(len(self))[index]
        start, stop = (index, index + 1) if self.spans is None else self.spans[index : index + 2]
        rows, texts = range(start, stop), self.texts
        titles = [None if texts is None else texts.reference_titles[r] for r in rows]
        return Case(
            Key(self.items[index], self.systems[index]),
            Item(
                float(self.duration[index]),
                transcript=None if texts is None else texts.transcripts[index],
                sentences=None if texts is None else texts.sentences[index],
            ),
            Chapters(
                tuple(self.output.row(index).tolist()),
                None if texts is None else texts.titles[index],
                None if texts is None else texts.said[index],
                None if texts is None else texts.own_sentences[index],
            ),
            tuple(
                Chapters(tuple(self.reference.row(r).tolist()), named)
                for r, named in zip(rows, titles, strict=True)
            ),
        )

    @property
    def counts(self) -> Ints:
        """How many references every case has."""
        return np.ones(len(self), np.int64) if self.spans is None else np.diff(self.spans)

    @property
    def several(self) -> bool:
        """Whether there may be cases with more than one reference."""
        return self.spans is not None

    def each(self) -> ChapterCases:
        """A case for every reference; where every case has one, the same cases."""
        if self.spans is None:
            return self
        case = np.repeat(np.arange(len(self)), self.counts)
        return ChapterCases(
            [self.items[i] for i in case.tolist()],
            [self.systems[i] for i in case.tolist()],
            self.duration[case],
            self.output.take(case),
            self.reference,
            texts=None if self.texts is None else self.texts.take(case, np.arange(len(case))),
        )

    def keep(self, rows: Ints, counts: Ints) -> ChapterCases:
        """The same cases with some of their references: these rows of all, so many of a case."""
        return replace(
            self,
            reference=self.reference.take(rows),
            spans=spans_of(counts.tolist()),
            texts=None if self.texts is None else self.texts.take(np.arange(len(self)), rows),
        )

    def people(self) -> tuple[ChapterCases, Ints]:
        """Every reference in turn as the output, against the other references of its case.

        Only cases with two references and more are taken; the second answer has, for every new
        case, the row of its output among the references.
        """
        each = self.each()
        other, other_counts = all_others(self.counts)
        chosen = np.flatnonzero(other_counts)
        spans = bounds(other_counts[chosen])
        turned = replace(each.take(chosen), output=self.reference.take(chosen), spans=spans)
        texts = None if self.texts is None else _peoples_texts(self.texts, each, chosen, other)
        return replace(turned, reference=self.reference.take(other), texts=texts), chosen

    def without_edges(self, edge: float) -> ChapterCases:
        """Without boundaries at most ``edge`` from the start or the end; 0 changes nothing."""
        if not edge:
            return self

        def inner(side: Ragged, duration: Floats) -> Ragged:
            stop = duration[side.rows] - edge
            return side.where((side.values > edge) & (side.values < stop))

        of_references = np.repeat(self.duration, self.counts)
        output, reference = inner(self.output, self.duration), inner(self.reference, of_references)
        return replace(self, output=output, reference=reference)

    def positive(self) -> tuple[Ragged, Ragged]:
        """Output and reference without what lies at or before 0."""
        return (
            self.output.where(self.output.values > 0),
            self.reference.where(self.reference.values > 0),
        )

    def take(self, index: Ints) -> ChapterCases:
        """The cases of ``index``, in its order."""
        references, spans = (index, None) if self.spans is None else pick(self.spans, index)
        return ChapterCases(
            [self.items[i] for i in index],
            [self.systems[i] for i in index],
            self.duration[index],
            self.output.take(index),
            self.reference.take(references),
            spans,
            None if self.texts is None else self.texts.take(index, references),
        )


def _texts(cases: Sequence[Case]) -> ChapterTexts | None:
    return ChapterTexts.of(
        [(case.output.titles, case.output.text, case.output.sentences) for case in cases],
        [one.titles for case in cases for one in case.references],
        [(case.item.transcript, case.item.sentences) for case in cases],
    )


def _peoples_texts(
    texts: ChapterTexts, each: ChapterCases, chosen: Ints, other: Ints
) -> ChapterTexts:
    """References as outputs: their titles are theirs, and nobody said anything."""
    assert each.texts is not None
    return ChapterTexts(
        [texts.reference_titles[i] for i in chosen.tolist()],
        [None] * len(chosen),
        [texts.reference_titles[i] for i in other.tolist()],
        [each.texts.transcripts[i] for i in chosen.tolist()],
        [None] * len(chosen),
        [each.texts.sentences[i] for i in chosen.tolist()],
    )


def spans_of(counts: Sequence[int]) -> Ints | None:
    """Spans for these numbers of references a case; none if each has one."""
    numbers = np.array(counts, np.int64)
    return None if (numbers == 1).all() else bounds(numbers)
