"""ChapterCases: a batch of chapter cases as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, overload

import numpy as np

from earwitness.core import Case, Cases, Chapters, Item, Key, Titles
from earwitness.errors import UsageError, nearest
from earwitness.report.sentences import TIMES_NOTE
from earwitness.stats.arrays import Bools, Floats, Ints, Ragged, all_others, bounds, pick

Starts = tuple[float, ...]  # start times of sentences


class ParsedChapters(NamedTuple):
    """Boundaries, titles, transcript, and start times of sentences.

    ``loose`` is the number of lines of the transcript outside all chapters, ``levels`` are the
    levels of its headings. ``is_aligned`` is true if its times are from an aligner; ``damage`` are
    passages of its audio that could not be read.
    """

    boundaries: Sequence[float]
    titles: Titles | None = None
    said: str | None = None
    sentences: Starts | None = None
    loose: int = 0
    levels: tuple[int, ...] = ()
    is_aligned: bool = False
    damage: tuple[str, ...] = ()

    @property
    def texts(self) -> OutputTexts:
        """Titles, transcript and start times of sentences."""
        return self.titles, self.said, self.sentences


# replacement of an output that is invalid or missing
EMPTY_CHAPTERS = ParsedChapters((), (), "", ())


OutputTexts = tuple[Titles | None, str | None, Starts | None]  # titles, transcript, sentences
ItemTexts = tuple[str | None, Starts | None]  # transcript and sentences


@dataclass(frozen=True, slots=True, eq=False)
class ChapterTexts:
    """Texts of the outputs, of the references (their titles) and of the items of cases.

    Texts that are not given are None. Sentences are start times.
    """

    outputs: Sequence[OutputTexts]
    references: Sequence[Titles | None]
    items: Sequence[ItemTexts]

    @classmethod
    def of(
        cls,
        outputs: Sequence[OutputTexts],
        references: Sequence[Titles | None],
        items: Sequence[ItemTexts],
    ) -> ChapterTexts | None:
        """Return the texts of outputs, references and items, or None if there are no texts."""
        texts = chain(chain.from_iterable(outputs), references, chain.from_iterable(items))
        return None if all(text is None for text in texts) else cls(outputs, references, items)

    def take(self, cases: Ints, references: Ints) -> ChapterTexts:
        """Return the texts of these cases and references."""
        chosen = cases.tolist()
        return ChapterTexts(
            [self.outputs[i] for i in chosen],
            [self.references[i] for i in references.tolist()],
            [self.items[i] for i in chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class ChapterCases(Cases):
    """A sequence of chapter cases as arrays; a single case is created when accessed.

    The references of case ``i`` are the rows ``spans[i]`` to ``spans[i + 1]`` of ``reference``;
    without ``spans`` every case has one. ``audio`` has the paths or addresses of items as given, by
    which outputs are aligned; cases with outputs do not have it.
    """

    items: Sequence[str]
    systems: Sequence[str]
    duration: Floats
    output: Ragged
    reference: Ragged
    spans: Ints | None = None
    texts: ChapterTexts | None = None
    audio: Sequence[str | None] | None = None

    @classmethod
    def of(cls, cases: Sequence[Case]) -> ChapterCases:
        """Return cases as arrays; ChapterCases are returned unchanged."""
        if isinstance(cases, ChapterCases):
            return cases
        if not all(case.references for case in cases):
            raise UsageError("an output needs at least one reference")
        return cls(
            [case.key.item for case in cases],
            [case.key.system for case in cases],
            np.array([case.item.duration for case in cases], np.float64),
            Ragged.from_rows([case.output.boundaries for case in cases]),
            Ragged.from_rows(
                [reference.boundaries for case in cases for reference in case.references]
            ),
            spans_of([len(case.references) for case in cases]),
            ChapterTexts.of(
                [(case.output.titles, case.output.text, case.output.sentences) for case in cases],
                [reference.titles for case in cases for reference in case.references],
                [(case.item.transcript, case.item.sentences) for case in cases],
            ),
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
        titles = [None if texts is None else texts.references[r] for r in rows]
        transcript, sentences = (None, None) if texts is None else texts.items[index]
        own_texts = () if texts is None else texts.outputs[index]
        return Case(
            Key(self.items[index], self.systems[index]),
            Item(float(self.duration[index]), transcript=transcript, sentences=sentences),
            Chapters(tuple(self.output.row(index).tolist()), *own_texts),
            tuple(
                Chapters(tuple(self.reference.row(r).tolist()), named)
                for r, named in zip(rows, titles, strict=True)
            ),
        )

    @property
    def counts(self) -> Ints:
        """Number of references of every case."""
        return np.ones(len(self), np.int64) if self.spans is None else np.diff(self.spans)

    @property
    def has_several(self) -> bool:
        """Whether cases may have more than one reference."""
        return self.spans is not None

    def each(self) -> ChapterCases:
        """Return one case per reference."""
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
        """Return the same cases with only some references: ``rows``, ``counts`` per case."""
        return replace(
            self,
            reference=self.reference.take(rows),
            spans=spans_of(counts.tolist()),
            texts=None if self.texts is None else self.texts.take(np.arange(len(self)), rows),
        )

    def people(self) -> tuple[ChapterCases, Ints]:
        """Return cases with each reference in turn as the output, against the other references.

        Only cases with two or more references are used. The second array has, for every new case,
        the row of its output among the references.
        """
        each = self.each()
        other, other_counts = all_others(self.counts)
        chosen = np.flatnonzero(other_counts)
        spans = bounds(other_counts[chosen])
        turned = replace(each.take(chosen), output=self.reference.take(chosen), spans=spans)
        reference, texts = self.reference.take(other), None
        if self.texts is not None and each.texts is not None:
            titles = self.texts.references
            texts = ChapterTexts(
                [(titles[i], None, None) for i in chosen.tolist()],
                [titles[i] for i in other.tolist()],
                [each.texts.items[i] for i in chosen.tolist()],
            )
        return replace(turned, reference=reference, texts=texts), chosen

    def without_edges(self, edge: float) -> ChapterCases:
        """Return cases without boundaries within ``edge`` of the start or the end, unless 0."""
        if not edge:
            return self

        def inner(side: Ragged, duration: Floats) -> Ragged:
            stop = duration[side.rows] - edge
            return side.where((side.values > edge) & (side.values < stop))

        of_references = np.repeat(self.duration, self.counts)
        output, reference = inner(self.output, self.duration), inner(self.reference, of_references)
        return replace(self, output=output, reference=reference)

    @property
    def has_later(self) -> Bools:
        """Whether a boundary of the output or of the reference is after the end of the recording.

        Cases must have one reference.
        """
        sides = (self.output, self.reference)
        later = [side.where(side.values > self.duration[side.rows]).lengths for side in sides]
        return np.asarray(later[0] + later[1] > 0)

    def positive(self) -> tuple[Ragged, Ragged]:
        """Return output and reference without boundaries at or before 0."""
        return (
            self.output.where(self.output.values > 0),
            self.reference.where(self.reference.values > 0),
        )

    def take(self, index: Ints) -> ChapterCases:
        """Return the cases at ``index``, in this order."""
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


def spans_of(counts: Sequence[int]) -> Ints | None:
    """Return the spans for these numbers of references per case; None if each case has one."""
    numbers = np.array(counts, np.int64)
    return None if (numbers == 1).all() else bounds(numbers)


# --- Units of times ------------------------------------------------------------------------------
# Times in another unit than seconds are beyond the end of their recordings, or all at its start.
# Remarks are counts per side (the references, or the outputs of a system), which workers add up.


UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
UNIT_NAMES = {"ms": "milliseconds", "s": "seconds", "min": "minutes", "h": "hours"}
SIDES = OUTPUTS, REFERENCES, DURATIONS = ("outputs", "references", "durations")
EARLY_UNITS = ("h", "ms", "min")  # the smallest share of the recording first
MIN_BEYOND, MIN_EARLY = 2, 3  # times past the end, and items, from which a unit is doubtful
LONG_SECONDS, SHORT_SECONDS = 100_000.0, 24.0  # durations that may be milliseconds, or hours
SENTENCES = "sentences"  # also those of subtitles and words


def parse_units(text: str) -> dict[str, str]:
    """Return units by side from ``"ms"``, or from pairs such as ``"outputs=ms,durations=min"``.

    >>> parse_units("outputs=ms")
    {'outputs': 'ms'}
    """
    units = dict[str, str]()
    for part in filter(None, text.split(",")):
        side, is_pair, unit = part.rpartition("=")
        for name, known in ([(side, SIDES)] if is_pair else []) + [(unit, tuple(UNIT_SECONDS))]:
            if name not in known:
                raise UsageError(f'unit: unknown name "{name}" — {nearest(name, known)}')
        units |= {side: unit} if is_pair else dict.fromkeys(SIDES, unit)
    return units


def time_remarks(cases: ChapterCases, *, references: bool) -> Counter[str]:
    """Count times outside the recording and signs of other units, of references or of outputs."""
    boundaries, row = cases.output, cases.output.rows
    sides = np.array(
        [f"{OUTPUTS} of {name}" if name else OUTPUTS for name in cases.systems], np.str_
    )
    if references:
        boundaries = cases.reference
        row = np.repeat(np.arange(len(cases)), cases.counts)[boundaries.rows]
        sides = np.full(len(cases), REFERENCES)
    values, end, last = boundaries.values, cases.duration[row], np.zeros(len(cases))
    past = values > end
    is_long, is_short = cases.duration >= LONG_SECONDS, cases.duration < SHORT_SECONDS
    np.maximum.at(last, row, values)
    remarks = Counter({"past the duration": int(past.sum()), "before 0": int((values < 0).sum())})
    remarks.update(cases=len(cases), long=int(is_long.sum()))
    for side in np.unique(sides).tolist():
        own = sides == side
        beyond, timed = past & own[row], own & (last > 0)
        counted = {
            "times": own[row] & (values > 0),
            "beyond": beyond,
            "beyond by ms": beyond & (values > 60 * end) & (values / 1000 <= end) & ~is_short[row],
            "beyond by min": beyond & (values <= 60 * end),
            "beyond by h": beyond & (values <= 3600 * end) & is_short[row],
            "cases": timed,
            "early by ms": timed & (last * 1000 <= cases.duration),
            "early by min": timed & (last * 60 <= cases.duration),
            "early by h": timed & (last * 3600 <= cases.duration) & ~is_long,
        }
        remarks.update({f"{side}: {what}": int(hits.sum()) for what, hits in counted.items()})
    if not references and cases.texts is not None:
        ends = cases.duration.tolist()
        for texts in (cases.texts.items, cases.texts.outputs):
            pairs = [(text[-1], end) for text, end in zip(texts, ends, strict=True) if text[-1]]
            remarks[f"{SENTENCES}: times"] += sum(len(times) for times, _ in pairs)
            remarks[f"{SENTENCES}: beyond"] += sum(sum(map(e.__lt__, x)) for x, e in pairs)
    return remarks


def check_units(remarks: Counter[str], units: Mapping[str, str], option: str = "--unit") -> None:
    """Raise UsageError if most times are past the durations, or all at the start of recordings.

    Sides with a unit in ``units`` are not checked. ``option`` is the one that sets units.
    """
    sides = sorted(name.removesuffix(": times") for name in remarks if name.endswith(": times"))
    unknown = {
        side: remarks[f"{side}: beyond"] for side in sides if side.split(" of ")[0] not in units
    }
    wrong = [
        side
        for side, beyond in unknown.items()
        if beyond >= MIN_BEYOND and 2 * beyond > remarks[f"{side}: times"]
    ]
    likely, told = dict[str, str](), list[str]()
    for side in wrong:
        kind, beyond = side.split(" of ")[0], remarks[f"{side}: beyond"]
        what = "starts" if kind == SENTENCES else "boundaries"
        total = f"{beyond:,} of {remarks[f'{side}: times']:,} {what}"
        told.append(f"{total} in the {side} are past the duration")
        unit = next((u for u in UNIT_SECONDS if 2 * remarks[f"{side}: beyond by {u}"] > beyond), "")
        likely |= {kind if unit == "ms" else DURATIONS: unit} if unit else {}
    right = [side for side in sides if side not in wrong and side.startswith(OUTPUTS)]
    is_convertible = SENTENCES not in wrong and not (right and OUTPUTS in likely)
    cases = remarks[f"{REFERENCES}: cases"]
    unit = next((u for u in EARLY_UNITS if remarks[f"{REFERENCES}: early by {u}"] == cases), "")
    if not told and unit and cases >= MIN_EARLY and not {REFERENCES, DURATIONS} & {*units}:
        share = "1/1000" if unit == "ms" else f"1/{UNIT_SECONDS[unit]:g}"
        told.append(
            f"all boundaries of all {cases:,} references are in the first {share} of the item"
        )
        likely = {DURATIONS if unit == "ms" else REFERENCES: unit}
        early = [remarks[f"{side}: early by {unit}"] >= remarks[f"{side}: cases"] for side in sides]
        likely |= {OUTPUTS: unit} if all(early) and REFERENCES in likely else {}
    if told:
        guess = ", ".join(f"{side} in {UNIT_NAMES[unit]}" for side, unit in likely.items())
        pairs = ",".join(f"{side}={unit}" for side, unit in likely.items())
        remedy = f"use {option} {pairs}, or {option} s if all times are in seconds"
        remedy = remedy if guess and is_convertible else "write times in seconds"
        message = "; ".join(told) + (f" (probably {guess})" if guess else "")
        raise UsageError(f"{message} — {remedy}")


def time_notes(
    remarks: Counter[str], units: Mapping[str, str], option: str = "--unit"
) -> Iterator[str]:
    """Yield notes on times outside the recordings, and on durations that may be milliseconds."""
    for where in ("before 0", "past the duration"):
        if count := remarks[where]:
            what = "boundary lies" if count == 1 else "boundaries lie"
            yield f"{TIMES_NOTE}: {count:,} {what} {where}"
    if remarks["cases"] and remarks["long"] == remarks["cases"] and DURATIONS not in units:
        told = f"all recordings are longer than {LONG_SECONDS:,.0f} s; if that is milliseconds"
        yield f"{TIMES_NOTE}: {told}, use {option} ms or {option} durations=ms"
