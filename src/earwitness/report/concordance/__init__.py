"""Which metric to trust: a ranking, what it rests on, and sentences that one may write."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Concordance
from earwitness.report.concordance.ranking import ranking_sections, shown
from earwitness.report.concordance.records import concordance_csv, concordance_json
from earwitness.report.concordance.short import in_short, to_mind, writable
from earwitness.report.concordance.tables import table_sections
from earwitness.report.parts import Lines, Quote, Report, Section

__all__ = ["concordance_csv", "concordance_json", "concordance_report"]


def concordance_report(found: Concordance) -> Report:
    """All of it, the answer first."""
    metrics = dict.fromkeys(shown(one) for scale in found.scales for one in scale.metrics)
    title = f"Which metric to trust: {found.title}" if found.title else "Which metric to trust"
    return Report(
        title, _about(found), tuple(metrics), tuple(_sections(found)), tuple(_made(found)), _more()
    )


def _sections(found: Concordance) -> Iterator[Section]:
    yield Section("In short", (Lines("", tuple(in_short(found))),))
    doubts = tuple(to_mind(found))
    if doubts:
        yield Section("To keep in mind", doubts)
    yield from ranking_sections(found)
    yield from table_sections(found)
    quotes = tuple(Quote(one) for one in writable(found))
    if quotes:
        yield Section("What one may write", quotes, "To copy into a paper:", place="pages")


def _about(found: Concordance) -> str:
    """What there is, once for all scales of which it is the same."""
    told: dict[str, list[str]] = {}
    for one in found.scales:
        counts = (
            f"{len(one.metrics)} metrics, {len(one.people)} systems, {one.items:,} items, "
            f"{one.raters:,} raters"
        )
        told.setdefault(counts, []).append(one.scale.name)
    return "; ".join(f"{', '.join(names)}: {counts}" for counts, names in told.items())


def _made(found: Concordance) -> Iterator[str]:
    yield f"intervals: {100 * found.level:.4g} %, bootstrap over {found.over}"
    yield f"signature: {found.signature}"
    yield from (f"scores: {one}" for one in found.signatures)
    for one in found.inputs:
        yield f"input: {one.name} ({one.bytes:,} bytes, sha256 {one.sha256})"
    yield from (f"note: {one}" for one in found.notes)


def _more() -> str:
    return (
        "more with -o report.html: scatter plots, all coefficients, errors after a mapping, people "
        "against people, how many are enough, sentences to write"
    )
