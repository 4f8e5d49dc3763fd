"""References files, and outputs joined to them by item."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET

from earwitness.core import Cases, Key, OnError, number_keys
from earwitness.errors import InputError, Problem, UsageError, file_problem, find_close, nearest
from earwitness.io.records import (
    Findings,
    KeyIndex,
    hash_names,
    item_name,
    refuse_other_files,
    unset_to_empty,
)
from earwitness.io.schema import BadLine, Fault, is_name, load_json_line
from earwitness.io.source import LineBlock, RecordSource
from earwitness.task import Filter, GroupLabels, Hashes, ParsedBatch, Slicing, TaskReader

# --- Items that a filter leaves out --------------------------------------------------------------


NO_FILTER = Filter()
# counts of outputs that a filter sees, keeps, and finds without a field
SEEN_COUNT, KEPT_COUNT, MISSING_COUNT, NAME_COUNT = "seen", "kept", "without ", "named "


@dataclass(frozen=True)
class FilteredItems:
    """Items that a filter leaves out, of how many, and the number of items without each field.

    ``field_names`` are the names of all fields of items.
    """

    items: frozenset[str] = frozenset()
    total: int = 0
    without: Mapping[str, int] = field(default_factory=dict)
    field_names: frozenset[str] = frozenset()


def filter_records(
    where: Filter, records: Sequence[Mapping[str, Any]]
) -> tuple[list[int], Counter[str]]:
    """Return the indices of records that remain, and the counts of all."""
    kept = [place for place, record in enumerate(records) if where(record)]
    counts = Counter({SEEN_COUNT: len(records), KEPT_COUNT: len(kept)})
    for name in dict.fromkeys(condition.field for condition in where.conditions):
        missing = sum(record.get(name) is None for record in records)
        counts[f"{MISSING_COUNT}{name}"] = missing
    counts.update({f"{NAME_COUNT}{name}" for record in records for name in record})
    return kept, counts


def check_filter(where: Filter, items: FilteredItems, counts: Counter[str]) -> None:
    """Raise UsageError if nothing has a field of the filter, or if nothing is left.

    ``counts`` are those of outputs.
    """
    names = {name.removeprefix(NAME_COUNT) for name in counts if name.startswith(NAME_COUNT)}
    for name, count in _missing_counts(counts).items():
        if count == counts[SEEN_COUNT]:
            remedy = nearest(name, {*names, *items.field_names})
            raise UsageError(f'where: no item or output has a field "{name}" — {remedy}')
    for unit, total, kept, missing in _filter_sides(items, counts):
        if not kept:
            conditions = _condition_text(where, missing)
            raise UsageError(f"where: {conditions} for none of {total:,} {unit}s")


def filter_notes(where: Filter, items: FilteredItems, counts: Counter[str]) -> Iterator[str]:
    """Yield how many items and outputs a filter keeps."""
    for unit, total, kept, missing in _filter_sides(items, counts):
        lacking = [f"{count:,} without {name}" for name, count in missing.items() if count]
        about = f" ({', '.join(lacking)})" if lacking else ""
        conditions = _condition_text(where, missing)
        yield f"{conditions} for {kept:,} of {total:,} {unit}s, which are kept{about}"


def _filter_sides(
    items: FilteredItems, counts: Counter[str]
) -> Iterator[tuple[str, int, int, Mapping[str, int]]]:
    """Yield unit, number, number kept and numbers without a field, of items and of outputs."""
    if items.without:
        yield "item", items.total, items.total - len(items.items), items.without
    if counts[SEEN_COUNT]:
        yield "output", counts[SEEN_COUNT], counts[KEPT_COUNT], _missing_counts(counts)


def _missing_counts(counts: Counter[str]) -> dict[str, int]:
    start = MISSING_COUNT
    return {n.removeprefix(start): count for n, count in counts.items() if n.startswith(start)}


def _condition_text(where: Filter, fields: Mapping[str, int]) -> str:
    """Return the conditions on some fields as the start of a sentence."""
    texts = ["".join(condition) for condition in where.conditions if condition.field in fields]
    return f"{' and '.join(texts)} {'hold' if len(texts) > 1 else 'holds'}"


# --- References files ----------------------------------------------------------------------------


@dataclass(kw_only=True)
class References:
    """References by item; ``cases`` have empty outputs and no system.

    ``annotators`` are the names of the annotators of every case, ``metas`` the meta fields of items
    (only for grouping), and ``bad`` the items with invalid references, with the reasons.
    ``reduced`` has the reasons why some references of an item are left out. ``filtered`` are the
    items that a filter leaves out, and ``where`` its conditions on fields that only outputs have.
    With ``is_partial``, outputs of items without references are left out instead of refused.
    """

    reader: TaskReader
    rows: dict[str, int]
    cases: Cases
    annotators: list[list[str]]
    hashes: Hashes
    audio: dict[str, str]
    metas: list[dict[str, Any]]
    by: tuple[Slicing, ...]
    bad: dict[str, str]
    reduced: dict[str, list[str]]
    remarks: Counter[str]
    where: Filter = field(default_factory=Filter)
    filtered: FilteredItems = field(default_factory=FilteredItems)
    is_partial: bool = False

    @cached_property
    def people(self) -> frozenset[str]:
        """Names of all annotators."""
        return frozenset(chain.from_iterable(self.annotators))

    def others(self, item: str, system: str) -> list[str]:
        """Return the annotators of an item, without the system if it is one of them."""
        return [name for name in self.annotators[self.rows[item]] if name != system]

    def join(self, items: list[str], systems: list[str], outputs: list[Any]) -> ParsedBatch:
        """Return the cases of outputs for these items."""
        rows = np.array([self.rows[item] for item in items], np.int64)
        cases = self._without_own(self.reader.join(self.cases.take(rows), systems, outputs))
        answered = list(zip(systems, rows.tolist(), strict=True))
        lines = np.zeros(len(items), np.int64)
        remarks = self.reader.remarks(cases, outputs, references=False)
        return ParsedBatch(cases, lines, self.hashes[rows], Findings(), remarks, answered)

    def _without_own(self, cases: Cases) -> Cases:
        """Return the cases without references that their systems made as annotators."""
        if self.people.isdisjoint(cases.systems):
            return cases
        own = [
            name == system
            for item, system in zip(cases.items, cases.systems, strict=True)
            for name in self.annotators[self.rows[item]]
        ]
        other = zip(cases.items, cases.systems, strict=True)
        counts = np.array([len(self.others(item, system)) for item, system in other], np.int64)
        return cases.keep(np.flatnonzero(~np.array(own, np.bool_)), counts)

    def names(self, items: Iterable[str], systems: Iterable[str]) -> list[str]:
        """Return the annotator of each reference of the cases of these items and systems."""
        pairs = zip(items, systems, strict=True)
        return [name for item, system in pairs for name in self.others(item, system)]

    def labels(self, parsed: ParsedBatch, metas: list[dict[str, Any]]) -> GroupLabels:
        """Return the groups of cases, by the meta fields of the item, then of the output."""
        if not self.by:
            return GroupLabels()
        rows = [row for _, row in parsed.answered]
        places = enumerate(zip(rows, metas, strict=True))
        fields = ((self.metas[r], m, self.reader.fields(parsed.cases, i)) for i, (r, m) in places)
        return GroupLabels.of(self.by, fields)


def read_references(
    source: RecordSource,
    reader: TaskReader,
    on_error: OnError,
    by: tuple[Slicing, ...] = (),
    where: Filter = NO_FILTER,
) -> tuple[References, Findings]:
    """Read a whole references file, which must fit into memory; ``where`` leaves out items."""
    findings, seen, remarks = Findings(on_error), KeyIndex(), Counter[str]()
    bad: dict[str, str] = {}
    reduced: dict[str, list[str]] = {}
    kept: list[ParsedReference] = []
    for block in source.blocks():
        refuse_other_files("references", block, on_error, reader.foreign_endings)
        taken, numbers = list[ParsedReference](), list[int]()
        for line, record in reader.references.read(block, remarks):
            good = _good(block, line, record, findings, bad, reader)
            if good is not None:
                taken.append(good)
                if good.left_out:
                    problems = [Problem(block.source, line, *fault) for fault in good.left_out]
                    reduced[str(good.record.item)] = list(map(str, problems))
                numbers.append(line)
        hashes = hash_names([str(good.record.item) for good in taken])
        earlier = seen.add(hashes, np.array(numbers, np.int64)).tolist()
        for good, line, first in zip(taken, numbers, earlier, strict=True):
            if first:
                item = str(good.record.item)
                fault = Fault("item", f'"{item}" is also on line {first}', "keep one")
                findings.bad(source.name, line, Key(item, ""), [fault])
            else:
                kept.append(good)
    if not kept and not bad:
        raise InputError([file_problem(source.name, "contains no references")])
    kept, filtered, undecided = _filter_items(kept, where, reader)
    reduced = {item: reasons for item, reasons in reduced.items() if item not in filtered.items}
    references = _columns(kept, bad, reduced, by, reader)
    references.remarks.update(remarks)
    references.filtered, references.where = filtered, undecided
    return references, findings


REFERENCE_FIELD = re.compile(r"references\[(\d+)\]")


class ParsedReference(NamedTuple):
    """A record of references with its parsed references and their annotators.

    ``left_out`` are the faults of other references of the record.
    """

    record: Any
    resolved: list[Any]
    annotators: list[str]
    left_out: list[Fault]


def _columns(
    kept: list[ParsedReference],
    bad: dict[str, str],
    reduced: dict[str, list[str]],
    by: tuple[Slicing, ...],
    reader: TaskReader,
) -> References:
    records = [good.record for good in kept]
    items = [str(record.item) for record in records]
    cases = reader.of_references(records, [good.resolved for good in kept])
    named = zip(items, records, strict=True)
    resolved = [part for good in kept for part in good.resolved]
    return References(
        reader=reader,
        rows=number_keys(items),
        cases=cases,
        annotators=[good.annotators for good in kept],
        hashes=hash_names(items),
        audio={
            item: record.audio
            for item, record in named
            if getattr(record, "audio", UNSET) is not UNSET
        },
        metas=[unset_to_empty(record.meta) for record in records] if by else [],
        by=by,
        bad=bad,
        reduced=reduced,
        remarks=reader.remarks(cases, resolved, references=True),
    )


def _filter_items(
    kept: list[ParsedReference], where: Filter, reader: TaskReader
) -> tuple[list[ParsedReference], FilteredItems, Filter]:
    """Return the items that remain, those left out, and the conditions on fields of no item."""
    if not where.conditions:
        return kept, FilteredItems(), where
    cases = reader.of_references([good.record for good in kept], [good.resolved for good in kept])
    fields = [
        (unset_to_empty(good.record.meta), reader.fields(cases, row))
        for row, good in enumerate(kept)
    ]
    found = {
        condition: sum(condition.find(*field) is not None for field in fields)
        for condition in where.conditions
    }
    decided = Filter(tuple(condition for condition in where.conditions if found[condition]))
    remaining = [good for good, field in zip(kept, fields, strict=True) if decided(*field)]
    names = {str(good.record.item) for good in remaining}
    return (
        remaining,
        FilteredItems(
            frozenset(str(good.record.item) for good in kept) - names,
            len(kept),
            {condition.field: len(kept) - found[condition] for condition in decided.conditions},
            frozenset(name for field in fields for record in field for name in record),
        ),
        Filter(tuple(condition for condition in where.conditions if not found[condition])),
    )


def _annotators(reference: Any, numbers: Sequence[int] = ()) -> list[str]:
    """Return the annotator of each reference of an item, or its number without a name."""
    names = [annotation.annotator for annotation in reference.references]
    pairs = zip(numbers or range(1, len(names) + 1), names, strict=True)
    return [f"reference {n}" if a is UNSET else str(a) for n, a in pairs]


def _good(
    block: LineBlock,
    line: int,
    record: Any,
    findings: Findings,
    bad: dict[str, str],
    reader: TaskReader,
) -> ParsedReference | None:
    if isinstance(record, bytes):
        value, faults = reader.references.faults(record)
        item = value.get("item")
        if (mended := reader.references.mended(value, faults)) is not None:
            faults += reader.reference(mended, _annotators(mended))[1] + _repeated(
                _annotators(mended)
            )
    else:
        names = _annotators(record)
        resolved, faults = reader.reference(record, names)
        faults += _repeated(names)
        if not faults:
            return ParsedReference(record, resolved, names, [])
        value, item = {"references": record.references}, record.item
    if findings.on_error != "fail":
        smaller = _without_faulty(record, value, faults, reader)
        if smaller is not None:
            return smaller
    named = item_name(item, line)
    bad[named] = "; ".join(fault.message for fault in faults)
    findings.bad(block.source, line, Key(named, ""), faults)
    return None


def _without_faulty(
    record: Any, value: dict[str, Any], faults: list[Fault], reader: TaskReader
) -> ParsedReference | None:
    """Return the record without its faulty references, or None if that leaves nothing valid."""
    left_out = list[Fault]()
    references = value.get("references")
    if not isinstance(references, list | tuple):
        return None
    numbers = list(range(1, len(references) + 1))
    while True:
        places = [REFERENCE_FIELD.match(fault.field) for fault in faults]
        faulty = {int(place[1]) for place in places if place}
        if not all(places) or len(faulty) == len(numbers):
            return None
        for fault, place in zip(faults, places, strict=True):
            if place is not None:  # the place in the file, not among those that are left
                number = f"references[{numbers[int(place[1])] - 1}]"
                left_out.append(fault._replace(field=number + fault.field[place.end() :]))
        numbers = [number for place, number in enumerate(numbers) if place not in faulty]
        if isinstance(record, bytes):
            record = reader.references.without_entries(value, "references", faulty)
            if record is None:
                return None
        else:
            kept = [
                reference
                for place, reference in enumerate(record.references)
                if place not in faulty
            ]
            record = msgspec.structs.replace(record, references=kept)
        names = _annotators(record, numbers)
        resolved, faults = reader.reference(record, names)
        faults = [*faults, *_repeated(names)]
        if not faults:
            return ParsedReference(record, resolved, names, left_out)


def _repeated(names: list[str]) -> list[Fault]:
    return [
        Fault(f"references[{n}].annotator", f'"{name}" also made references[{names.index(name)}]')
        for n, name in enumerate(names)
        if names.index(name) < n
    ]


# --- Outputs joined by item ----------------------------------------------------------------------


UNREFERENCED_REMARK = "without reference: "  # before the item of an output that is left out
MAX_NAMES_SEARCHED = 1000  # number of names up to which the nearest one is suggested


def parse_outputs(block: LineBlock, references: References, on_error: OnError) -> ParsedBatch:
    """Return the cases of an outputs file, joined with their references by item."""
    reader = references.reader
    refuse_other_files("outputs", block, on_error, reader.foreign_endings)
    findings, taken, lines = Findings(on_error), list[Any](), list[int]()
    outputs: list[Any] = []
    answered: list[tuple[str, int]] = []
    remarks = Counter[str]()
    read = list(reader.outputs.read(block, remarks))
    known: list[Any] = [record for _, record in read if _is_known(record, references)]
    rows = [references.rows[str(record.item)] for record in known]
    given = [record.output for record in known]
    known_outputs = iter(reader.outputs_of(given, references.cases, rows))
    for line, record in read:
        resolved = reader.failed
        if references.filtered.items and _named_item(record) in references.filtered.items:
            continue
        if references.is_partial and _lacks_reference(record, references):
            remarks[f"{UNREFERENCED_REMARK}{_named_item(record)}"] += 1
            continue
        if _is_known(record, references):
            output = record
            resolved = _resolved(
                block, line, output, next(known_outputs), references, findings, answered
            )
        else:
            output = _mend(block, line, record, references, findings, answered)
        if output is not None and resolved is not None:
            taken.append(output)
            lines.append(line)
            outputs.append(resolved)
    metas = [unset_to_empty(output.meta) for output in taken]
    filtered = Counter[str]()
    if references.where.conditions:
        kept, filtered = filter_records(references.where, metas)
        left_out = (taken[place] for place in {*range(len(taken))} - {*kept})
        answered += [
            (str(dropped.system), references.rows[str(dropped.item)]) for dropped in left_out
        ]
        taken, lines, outputs, metas = (
            [column[place] for place in kept] for column in (taken, lines, outputs, metas)
        )
    items = [str(output.item) for output in taken]
    systems = [str(output.system) for output in taken]
    parsed = references.join(items, systems, outputs)
    parsed.labels = references.labels(parsed, metas)
    parsed.filtered = filtered
    parsed.details = reader.details(taken)
    parsed.remarks.update(reader.output_remarks(taken) + remarks)
    parsed.lines, parsed.findings = np.array(lines, np.int64), findings
    parsed.answered += answered
    return parsed


def _is_known(record: Any, references: References) -> bool:
    """Whether a line is valid and has references."""
    return not isinstance(record, bytes) and str(record.item) in references.rows


def _lacks_reference(record: Any, references: References) -> bool:
    """Whether a line is valid, but its item is not in the references file."""
    if isinstance(record, bytes):
        return False
    return str(record.item) not in references.rows and str(record.item) not in references.bad


def _named_item(record: Any) -> Any:
    """Return the item of a line, as far as it can be read."""
    if not isinstance(record, bytes):
        return str(record.item)
    try:
        value = load_json_line(record)
    except BadLine:
        return None
    return value.get("item") if isinstance(value, dict) else None


def _resolved(
    block: LineBlock,
    line: int,
    output: Any,
    resolved: Any,
    references: References,
    findings: Findings,
    answered: list[tuple[str, int]],
) -> Any | None:
    """Return the parsed output, or None and findings if it is invalid."""
    reader, row = references.reader, references.rows[str(output.item)]
    key = Key(str(output.item), str(output.system))
    alone = not references.others(key.item, key.system)
    if alone:
        message = f'"{key.system}" is the only annotator of "{key.item}"'
        resolved = [Fault("system", message, "add a reference of somebody else")]
    if not isinstance(resolved, list):
        return resolved
    empty = findings.on_error == "empty" and not alone
    findings.bad(block.source, line, key, resolved, skip=not empty)
    if not empty:
        answered.append((key.system, row))
    return reader.failed if empty else None


def _mend(
    block: LineBlock,
    line: int,
    record: Any,
    references: References,
    findings: Findings,
    answered: list[tuple[str, int]],
) -> Any | None:
    """Return a replacement for a line that is invalid or has no reference, and add findings."""
    reader = references.reader
    value: dict[str, Any]
    if isinstance(record, bytes):
        value, faults = reader.outputs.faults(record)
    else:
        value, faults = {"item": record.item, "system": record.system}, []
    item, system = value.get("item"), value.get("system")
    key = Key(item_name(item, line), str(system) if is_name(system) else "")
    if is_name(item) and key.item not in references.rows:
        faults += _no_reference(key.item, references, findings.on_error)
    elif is_name(item) and key.system:
        row = references.rows[key.item]
        answered.append((key.system, row))
        if (
            isinstance(record, bytes)
            and (mendable := reader.outputs.mended(value, faults)) is not None
        ):
            more = reader.output(mendable.output, references.cases, row)
            faults += more if isinstance(more, list) else []
    mended = None
    if findings.on_error == "empty":
        mended = reader.outputs.without_output(value, faults, reader.nothing)
    findings.bad(block.source, line, key, faults, skip=mended is None)
    return mended


def _no_reference(item: str, references: References, on_error: OnError) -> list[Fault]:
    reason = references.bad.get(item)
    if reason is None:
        few = references.rows if len(references.rows) <= MAX_NAMES_SEARCHED else ()
        close = find_close(item, few) or next((name for name in few if item in name), "")
        remedy = f'did you mean "{close}"?' if close else "add one, or leave the item out"
        return [Fault("item", f'no reference for "{item}"', remedy)]
    if on_error == "fail":
        return []  # the problem of the references file is reported already
    return [Fault("item", f"its reference is invalid: {reason}")]


def empty_outputs(references: References, items: list[str], system: str) -> ParsedBatch:
    """Return cases with empty outputs for items that a system has no output for."""
    failed = [references.reader.failed] * len(items)
    parsed = references.join(items, [system] * len(items), failed)
    parsed.labels = references.labels(parsed, [{} for _ in items])
    parsed.answered = []
    return parsed
