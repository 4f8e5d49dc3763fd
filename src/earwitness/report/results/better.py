"""Who is better than whom, by scale."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Results, ScaleResults
from earwitness.report.methods import CORRECTIONS, sized
from earwitness.report.numbers import titled
from earwitness.report.parts import Matrix, Section


def better_sections(results: Results) -> Iterator[Section]:
    """A matrix a scale."""
    compared = [scale for scale in results.scales if scale.contrasts]
    if compared:
        parts = tuple(matrix_of(results, scale) for scale in compared)
        yield Section("Who is better", parts, _told(results))


def matrix_of(results: Results, scale: ScaleResults) -> Matrix:
    """Means and contrasts of a scale."""
    means = {name: rated.mean for name, rated in scale.systems.items()}
    return Matrix(titled(scale.value), scale.value, means, scale.contrasts, results.plan.correction)


def _told(results: Results) -> str:
    corrected = CORRECTIONS.get(results.plan.correction, results.plan.correction)
    sizes = {sized(c.effect.method) for s in results.scales for c in s.contrasts if c.effect}
    effect = f" Effect sizes: {', '.join(sorted(sizes))}." if sizes else ""
    return (
        "Systems are compared within listeners; · cannot be told apart. "
        f"p is {corrected}; intervals are not corrected.{effect}"
    )
