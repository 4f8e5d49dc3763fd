"""A word network as text, as JSON, and for Graphviz."""

from __future__ import annotations

import json
from itertools import pairwise

from earwitness.data import WordNetwork
from earwitness.report.html import html
from earwitness.report.parts import ABOUT_ARCS, NetworkPart, Report, Section, Table
from earwitness.report.text import draw

FORMS = ("text", "json", "dot", "html")


def written_network(network: WordNetwork, form: str) -> str:
    """A network in a form."""
    return {"text": _text, "json": _json, "dot": _dot, "html": _html}[form](network)


def _text(network: WordNetwork) -> str:
    return "\n\n".join(map(draw, _tables(network))) + "\n"


def _tables(network: WordNetwork) -> tuple[Table, ...]:
    """Arcs, then who kept what, then the paths closest to systems."""
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
    """A page with the picture and the lists of the text."""
    systems = tuple(network.targets)
    picture = NetworkPart(network.item, network, 0, systems[0] if systems else "")
    about = f"{len(network.people)} people, {len(network.arcs)} arcs, {len(network.words):,} words"
    sections = (
        Section("Network", (picture,), ABOUT_ARCS),
        Section("Arcs", _tables(network)[:1], folded=True),
        Section("Summaries and paths", _tables(network)[1:]),
    )
    made = f"signature: {network.signature}"
    return html(Report(network.item, about, systems, sections, (made,)))


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
    """Thick arcs are those of many people; arcs on closest paths name their systems."""
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
        told = json.dumps(", ".join([str(count), *on]), ensure_ascii=False)
        style = "" if count else ", style=dashed"
        lines.append(f"  n{a} -> n{b} [label={told}, penwidth={width:.2f}{style}];")
    return "\n".join([*lines, "}"]) + "\n"
