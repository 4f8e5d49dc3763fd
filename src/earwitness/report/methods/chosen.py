"""How choices between two were tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.data import Choice, Results
from earwitness.report.methods.words import ALL, corrected, several
from earwitness.report.sentences import listed

MODELS = {
    "differencing": "by the differencing model",
    "independent": "by the model of independent observations",
    "2afc": "of forced choice",
}


def choices_told(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    choices = [c for scale in results.scales for c in scale.choices]
    if choices:
        total = sum(c.wins + c.losses + c.ties for c in choices)
        yield (
            f"{several(total, 'choice', 'choices')} between two sounds were tested by the exact "
            f"binomial test against one half ({_sides(choices)}), with exact intervals; these p "
            f"values are {corrected(results)}. The same was tested by t tests over the shares of "
            "listeners, which are not corrected."
        )
    if any(c.ties for c in choices):
        yield "Choices of neither count for no side in these tests."
    keen = [c.sensitivity.method for c in choices if c.sensitivity is not None]
    if keen:
        models = sorted({method.rpartition("|")[-1] for method in keen})
        yield f"Sensitivity is given as d′ {listed([MODELS.get(m, m) for m in models], ALL)}."
    able = [scale.abilities for scale in results.scales if scale.abilities]
    if able:
        ties = " with ties (Davidson)" * any(one.ties is not None for one in able)
        yield (
            f"Abilities are those of the Bradley–Terry model{ties}, with intervals by the sandwich "
            "estimator over listeners."
        )


def _sides(choices: Sequence[Choice]) -> str:
    """One-sided where answers are right or wrong: nobody can hear less than nothing."""
    abx = [c.sensitivity is not None for c in choices]
    if all(abx):
        return "ABX: one-sided"
    return "two-sided; ABX: one-sided" if any(abx) else "two-sided"
