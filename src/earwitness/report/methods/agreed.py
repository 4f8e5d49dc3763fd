"""How far listeners agree, and the model of them."""

from __future__ import annotations

from collections.abc import Iterator

from earwitness.data import Results
from earwitness.report.methods.words import ALL
from earwitness.report.sentences import listed


def agreement_told(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    names = dict.fromkeys(n for s in results.scales for one in s.agreement for n in one.figures)
    if names:
        yield f"Agreement of listeners is given as {listed([*names], ALL)}."
    floors = [f"{s.value.name} {s.subjects.floor:.2f}" for s in results.scales if s.subjects]
    if floors:
        yield (
            "Biases and inconsistencies of listeners are those of the subject model of ITU-T "
            f"P.910, annex E. Inconsistencies are held at a floor ({', '.join(floors)}), so that "
            "no single listener takes all the weight."
        )
