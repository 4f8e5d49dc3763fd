"""How results of ratings were made, as a paragraph for a paper.

Every sentence follows from the results; what is not there is not told.
"""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Results
from earwitness.report.methods.agreed import agreement_told
from earwitness.report.methods.chosen import choices_told
from earwitness.report.methods.counted import votes_told
from earwitness.report.methods.divided import groups_told
from earwitness.report.methods.further import further_told
from earwitness.report.methods.judged import judged_told
from earwitness.report.methods.screened import screening_told
from earwitness.report.methods.tested import contrasts_told, means_told

__all__ = ["methods"]


def methods(results: Results) -> str:
    """The paragraph."""
    return " ".join(_told(results))


def _told(results: Results) -> Iterator[str]:
    if results.simulated:
        yield "All listeners were simulated."
    yield from screening_told(results)
    yield from votes_told(results)
    yield from judged_told(results)
    yield from means_told(results)
    yield from contrasts_told(results)
    yield from further_told(results)
    yield from groups_told(results)
    yield from choices_told(results)
    yield from agreement_told(results)
    yield from (f"Other than the study had planned: {one.rstrip('.')}." for one in results.changed)
    made = f"All numbers were computed with Earwitness {results.version}".rstrip()
    yield f"{made} ({results.signature})." if results.signature else f"{made}."
