"""The word network of one item."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from earwitness.api.family import Families
from earwitness.api.scoring import Place, sources
from earwitness.api.tasks import setting
from earwitness.data import WordNetwork
from earwitness.errors import InputError, UsageError, nearest
from earwitness.formats.joined import parse_outputs
from earwitness.formats.references import References, read_references
from earwitness.formats.source import Source


def network(
    references: Place,
    item: str,
    *,
    outputs: Place | None = None,
    tokenise: str = "",
    **parameters: Any,
) -> WordNetwork:
    """What people kept of an item, merged; with ``outputs`` also the path closest to each.

    ``parameters`` are those of the metric ``sumaccy``.

    >>> said = {"item": "a", "words": ["it", "rains", "a", "lot"]}
    >>> two = [{"positions": [1, 2]}, {"positions": [2, 4]}]
    >>> network([said | {"references": two}], "a").arcs[0, 2]
    1
    """
    source = Source(references, "" if isinstance(references, str) else "references")
    if outputs == references == "-":
        raise UsageError("standard input can be the outputs or the references, not both")
    other = None if outputs is None else sources(outputs, None)[0]
    families, lines = setting(other, source, "sumaccy", parameters, {"tokenise": tokenise})
    found, findings = read_references(source, lines, "fail")
    if findings.count:
        raise InputError(findings.problems, findings.count, "drawn")
    if item not in found.rows:
        raise UsageError(f'there is no item "{item}" — {nearest(item, found.rows)}')
    signature = f"{families.signature}{lines.signature}"
    return replace(_picture(found, item, families, other), signature=signature)


def _picture(
    references: References, item: str, families: Families, outputs: Source | None
) -> WordNetwork:
    row = references.rows[item]
    case = references.cases[row]
    cases = {"": case}
    for block in outputs.blocks() if outputs is not None else ():
        parsed = parse_outputs(block, references, "fail")
        if parsed.findings.count:
            raise InputError(parsed.findings.problems, parsed.findings.count, "drawn")
        for one in parsed.cases:
            if one.key.item == item and one.key.system in cases:
                raise UsageError(f'"{item}" of system "{one.key.system}" comes twice — keep one')
            if one.key.item == item:
                cases[one.key.system] = one
    people = dict(zip(references.annotators[row], case.references, strict=True))
    picture = families.network(cases, people)
    assert picture is not None, "the metric draws networks"
    return picture
