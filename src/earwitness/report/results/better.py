"""Who is better than whom, by scale."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Results, ScaleResults
from earwitness.report.methods.words import corrected, sized
from earwitness.report.numbers import titled
from earwitness.report.parts import Matrix, Section
from earwitness.report.tables import tested


def better_sections(results: Results) -> Iterator[Section]:
    """A matrix a scale."""
    compared = [scale for scale in results.scales if scale.contrasts]
    if compared:
        parts = tuple(matrix_of(results, scale) for scale in compared)
        yield Section("Who is better", parts, _told(results))


def matrix_of(results: Results, scale: ScaleResults) -> Matrix:
    """Means and contrasts of a scale."""
    names = _compared(scale) if against_others_only(scale) else list(scale.systems)
    means = {n: scale.systems[n].mean if n in scale.systems else None for n in names}
    plan, controls = results.plan, results.controls
    return Matrix(
        titled(scale.value), scale.value, means, scale.contrasts, plan.correction, controls
    )


def against_others_only(scale: ScaleResults) -> bool:
    """Whether systems were rated against others (CCR, SDG): some have no mean of their own."""
    return any(name not in scale.systems for c in scale.contrasts for name in (c.a, c.b))


def _compared(scale: ScaleResults) -> list[str]:
    return list(dict.fromkeys(name for c in scale.contrasts for name in (c.b, c.a)))


def _told(results: Results) -> str:
    every = [c for scale in results.scales for c in scale.contrasts]
    sizes = {sized(c.effect.method) for c in every if c.effect}
    effect = f" Effect sizes: {', '.join(sorted(sizes))}." if sizes else ""
    untested = ", ? cannot be tested" * (not all(map(tested, every)))
    untested += ", empty was not compared" * any(_in_part(results, s) for s in results.scales)
    return (
        f"Systems are compared within listeners; · cannot be told apart{untested}. "
        f"p is {corrected(results)}; intervals are not corrected.{effect}"
    )


def _in_part(results: Results, scale: ScaleResults) -> bool:
    """Whether some pairs of a matrix were not compared."""
    count = len(matrix_of(results, scale).systems)
    return 0 < len(scale.contrasts) < count * (count - 1) // 2
