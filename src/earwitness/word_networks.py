"""The function network: word network of an item, as text, JSON, Graphviz or HTML."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

from earwitness.core import WordNetwork
from earwitness.errors import EarwitnessWarning, UsageError, nearest, refuse_problems
from earwitness.io.source import RecordSource
from earwitness.metric_set import MetricSet
from earwitness.report.columns import TableRows
from earwitness.report.html.page import render_html
from earwitness.report.parts import ABOUT_ARCS, NetworkPart, Report, Section, Table
from earwitness.report.result import Result
from earwitness.report.tables import kept_words_table
from earwitness.report.text import draw_tables
from earwitness.scoring.join import References, parse_outputs, read_references
from earwitness.scoring.score import Place, reference_source, sources
from earwitness.scoring.setup import set_up

# --- Function network ----------------------------------------------------------------------------


class NetworkResult(WordNetwork, Result):
    """Result of ``network``: the word network of an item."""

    __slots__ = ()

    __repr__ = Result.__repr__


def network(
    references: Place,
    item: str,
    *,
    outputs: Place | None = None,
    **parameters: Any,
) -> NetworkResult:
    """Merge the reference summaries of an item into a word network.

    Parameters
    ----------
    references
        Path, ``"-"`` for standard input, or records with reference summaries.
    item
        Name of the item.
    outputs
        Summaries of systems. Adds the path that is closest to each of them.
    **parameters
        Parameters of the metric ``sumaccy``, and ``language`` of the words, such as en or ja.

    Returns
    -------
    NetworkResult
        Words, arcs with the number of people on each, and closest paths by system.

    Raises
    ------
    InputError
        If a file cannot be read or has invalid lines.
    UsageError
        If an argument is invalid, or the item does not exist.

    Warns
    -----
    EarwitnessWarning
        If a summary can be located in the transcript in several equally good ways.

    References
    ----------
    Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization.

    Examples
    --------
    >>> said = {"item": "a", "words": ["it", "rains", "a", "lot"]}
    >>> two = [{"positions": [1, 2]}, {"positions": [2, 4]}]
    >>> network([said | {"references": two}], "a").arcs[0, 2]
    1
    """
    source = reference_source(references)
    other = None if outputs is None else sources(outputs, references)[0]
    _, metrics, reader = set_up(other, source, "sumaccy", parameters)
    parsed, findings = read_references(source, reader, "fail")
    refuse_problems(findings.problems, "drawn", findings.count)
    if item not in parsed.rows:
        raise UsageError(f'no item "{item}" in the references — {nearest(item, parsed.rows)}')
    signature = f"{metrics.signature}{reader.signature}"
    remarks = Counter(parsed.remarks)
    drawn = replace(_picture(parsed, item, metrics, other, remarks), signature=signature)
    of_item = Counter({name: n for name, n in remarks.items() if name.endswith(f" {item}")})
    for note in reader.notes(of_item, metrics.metrics):
        warnings.warn(note, EarwitnessWarning, stacklevel=2)
    return NetworkResult(*(getattr(drawn, field.name) for field in fields(drawn)))


def _picture(
    references: References,
    item: str,
    metrics: MetricSet,
    outputs: RecordSource | None,
    remarks: Counter[str],
) -> WordNetwork:
    row = references.rows[item]
    case = references.cases[row]
    cases = {"": case}
    for block in outputs.blocks() if outputs is not None else ():
        parsed = parse_outputs(block, references, "fail")
        refuse_problems(parsed.findings.problems, "drawn", parsed.findings.count)
        remarks.update(parsed.remarks)
        for other in parsed.cases:
            if other.key.item == item and other.key.system in cases:
                raise UsageError(
                    f'system "{other.key.system}" has two outputs for "{item}" — keep one'
                )
            if other.key.item == item:
                cases[other.key.system] = other
    people = dict(zip(references.annotators[row], case.references, strict=True))
    from earwitness.summaries.metrics import draw_network

    picture = draw_network(metrics.metrics, cases, people)
    assert picture is not None, "the metric draws networks"
    return picture


# --- Networks as text, JSON and Graphviz ---------------------------------------------------------


TEXT_WIDTH = 100  # of the table of people and words


def written_network(network: WordNetwork, form: str) -> str:
    """Return a network in an output format."""
    return {"text": _text, "json": _json, "dot": _dot, "html": _html}[form](network)


def _text(network: WordNetwork) -> str:
    drawn = [text for table in _tables(network) for text in draw_tables(table)]
    return "\n\n".join([*drawn, *draw_tables(kept_words_table(network), TEXT_WIDTH)]) + "\n"


def _tables(network: WordNetwork) -> tuple[Table, ...]:
    """Return the tables of arcs, of reference summaries, and of closest paths of systems."""
    arcs = tuple(
        (str(a), network.name(a), str(b), network.name(b), str(count))
        for (a, b), count in sorted(network.arcs.items())
    )
    people = len(network.people)
    tables = [
        Table(
            f"{network.item}: {people} people, {len(arcs)} arcs",
            ("from", "", "to", "", "people"),
            arcs,
            names=4,
        )
    ]
    sides = {"summaries": network.people, "closest paths": network.targets}
    for title, paths in sides.items():
        rows = tuple(
            (who, " ".join(map(str, path)), " ".join(network.name(p) for p in path))
            for who, path in paths.items()
        )
        if rows:
            tables.append(Table(title, ("", "positions", "words"), rows, names=3))
    return tuple(tables)


def _html(network: WordNetwork) -> str:
    return render_html(network_report(network))


def network_report(network: WordNetwork) -> Report:
    """Return a report with the figure and the tables."""
    systems = tuple(network.targets)
    picked = systems[0] if systems else ""
    picture = NetworkPart(network.item, network, 0, picked, grid_open=True)
    about = f"{len(network.people)} people, {len(network.arcs)} arcs, {len(network.words):,} words"
    sections = (
        Section("Network", (picture,), ABOUT_ARCS),
        Section("Arcs", _tables(network)[:1], folded=True),
        Section("Summaries and paths", _tables(network)[1:]),
    )
    signature = f"signature: {network.signature}"
    return Report(network.item, about, systems, sections, (signature,))


def network_tables(network: WordNetwork) -> dict[str, TableRows]:
    """Return the table ``arcs``: nodes, their words, and the number of people."""
    rows = [
        [start, end, network.name(start), network.name(end), people]
        for (start, end), people in sorted(network.arcs.items())
    ]
    return {"arcs": TableRows(("start", "end", "word", "next_word", "people"), rows)}


def _json(network: WordNetwork) -> str:
    record = {
        "item": network.item,
        "words": network.words,
        "people": network.people,
        "arcs": [
            {"from": a, "to": b, "people": count} for (a, b), count in sorted(network.arcs.items())
        ],
        "targets": network.targets,
        "signature": network.signature,
    }
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def _dot(network: WordNetwork) -> str:
    """Return a Graphviz graph; the width of an arc grows with the number of people."""
    end, people = len(network.words) + 1, len(network.people)
    nodes = sorted({node for arc in network.arcs for node in arc})
    lines = [f"digraph {json.dumps(network.item, ensure_ascii=False)} {{", "  rankdir=LR;"]
    for node in nodes:
        shape = ", shape=circle" if node in (0, end) else ", shape=plaintext"
        label = json.dumps(network.name(node), ensure_ascii=False)
        lines.append(f"  n{node} [label={label}{shape}];")
    paths = {s: {*pairwise((0, *path, end))} for s, path in network.targets.items()}
    for (a, b), count in sorted(network.arcs.items()):
        width = 0.5 + 5 * count / people
        on = [system for system, path in paths.items() if (a, b) in path]
        label = json.dumps(", ".join([str(count), *on]), ensure_ascii=False)
        style = "" if count else ", style=dashed"
        lines.append(f"  n{a} -> n{b} [label={label}, penwidth={width:.2f}{style}];")
    return "\n".join([*lines, "}"]) + "\n"
