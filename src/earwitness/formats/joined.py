"""Outputs and references in two files, joined by item."""

from __future__ import annotations

from typing import Any

import numpy as np

from earwitness.data import Key
from earwitness.errors import nearest
from earwitness.formats.check import Fault, is_name
from earwitness.formats.mistaken import refuse_other_files
from earwitness.formats.parsed import Parsed, given, item_name
from earwitness.formats.records import Findings, OnError
from earwitness.formats.references import References
from earwitness.formats.source import Block

FEW = 1000  # names among which a near one is looked for


def parse_outputs(block: Block, references: References, on_error: OnError) -> Parsed:
    """Cases of an outputs file, joined with their references by item."""
    kind = references.lines
    refuse_other_files("outputs", block, on_error)
    findings, taken, lines = Findings(on_error), list[Any](), list[int]()
    outputs: list[Any] = []
    answered: list[tuple[str, int]] = []
    read = list(kind.outputs.read(block))
    known = iter(_known([found for _, found in read], references))
    for line, found in read:
        resolved = kind.failed
        if _is_known(found, references):
            output = found
            resolved = _resolved(block, line, output, next(known), references, findings, answered)
        else:
            output = _mend(block, line, found, references, findings, answered)
        if output is not None and resolved is not None:
            taken.append(output)
            lines.append(line)
            outputs.append(resolved)
    items = [str(output.item) for output in taken]
    systems = [str(output.system) for output in taken]
    parsed = references.join(items, systems, outputs)
    parsed.labels = references.labels(parsed, [given(output.meta) for output in taken])
    parsed.dials = kind.dials(taken)
    parsed.remarks.update(kind.made(taken))
    parsed.lines, parsed.findings = np.array(lines, np.int64), findings
    parsed.answered += answered
    return parsed


def _is_known(found: Any, references: References) -> bool:
    """Whether a line could be read and has references."""
    return not isinstance(found, bytes) and str(found.item) in references.rows


def _known(read: list[Any], references: References) -> list[Any]:
    """What outputs are, of the lines for which that can be said."""
    good = [one for one in read if _is_known(one, references)]
    rows = [references.rows[str(one.item)] for one in good]
    return references.lines.outputs_of([one.output for one in good], references.cases, rows)


def _resolved(
    block: Block,
    line: int,
    output: Any,
    found: Any,
    references: References,
    findings: Findings,
    answered: list[tuple[str, int]],
) -> Any | None:
    """What an output was found to be; what is wrong with it is noted."""
    kind, row = references.lines, references.rows[str(output.item)]
    if not isinstance(found, list):
        return found
    key = Key(str(output.item), str(output.system))
    empty = findings.on_error == "empty"
    findings.bad(block.source, line, key, found, skip=not empty)
    if not empty:
        answered.append((key.system, row))
    return kind.failed if empty else None


def _mend(
    block: Block,
    line: int,
    found: Any,
    references: References,
    findings: Findings,
    answered: list[tuple[str, int]],
) -> Any | None:
    """What can be made of a line that is bad or has no reference; it is noted."""
    kind = references.lines
    value: dict[str, Any]
    if isinstance(found, bytes):
        value, faults = kind.outputs.faults(found)
    else:
        value, faults = {"item": found.item, "system": found.system}, []
    item, system = value.get("item"), value.get("system")
    key = Key(item_name(item, line), str(system) if is_name(system) else "")
    if is_name(item) and key.item not in references.rows:
        faults += _no_reference(key.item, references, findings.on_error)
    elif is_name(item) and key.system:
        row = references.rows[key.item]
        answered.append((key.system, row))
        if isinstance(found, bytes) and (rest := kind.outputs.mended(value, faults)) is not None:
            more = kind.output(rest.output, references.cases, row)
            faults += more if isinstance(more, list) else []
    mended = None
    if findings.on_error == "empty":
        mended = kind.outputs.without_output(value, faults, kind.nothing)
    findings.bad(block.source, line, key, faults, skip=mended is None)
    return mended


def _no_reference(item: str, references: References, on_error: OnError) -> list[Fault]:
    reason = references.bad.get(item)
    if reason is None:
        few = references.rows if len(references.rows) <= FEW else ()
        remedy = nearest(item, few) if few else ""
        remedy = remedy if remedy.startswith("did") else "add one, or leave the item out"
        return [Fault("item", f'no reference for "{item}"', remedy)]
    if on_error == "fail":
        return []  # the references file has been blamed already
    return [Fault("item", f"its reference is bad: {reason}")]


def empty_outputs(references: References, items: list[str], system: str) -> Parsed:
    """Cases for items that a system said nothing about."""
    failed = [references.lines.failed] * len(items)
    parsed = references.join(items, [system] * len(items), failed)
    parsed.labels = references.labels(parsed, [{} for _ in items])
    parsed.answered = []
    return parsed
