"""Records of summaries that several people and systems made, with judgements."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

Record = dict[str, Any]
ISOLATED_NOISE = 5.0  # a person with this much noise keeps words at random


class SummaryRecords(NamedTuple):
    """Outputs, references and judgements."""

    outputs: list[Record]
    references: list[Record]
    judgements: list[Record]


def summary_records(
    items: int = 3,
    people: int = 4,
    systems: int = 3,
    *,
    words: int = 10,
    judges: int = 2,
    human: str = "",
    isolated: int = 0,
    skipped: float = 0.0,
    seed: int = 0,
) -> SummaryRecords:
    """Return summaries that keep the words of most weight, with noise.

    Later systems have more noise and lower judgements. The first ``isolated`` people keep words at
    random. People but for the first two skip a share of items.
    """
    rng = random.Random(seed)
    outputs, references, judgements = list[Record](), list[Record](), list[Record]()
    for number in range(items):
        item = f"item {number}"
        weights = [rng.random() for _ in range(words)]

        def kept(noise: float, weights: list[float] = weights) -> list[int]:
            own = [weight + rng.gauss(0, noise) for weight in weights]
            limit = sorted(own)[round(0.6 * words)]
            return [place for place, weight in enumerate(own, 1) if weight >= limit]

        made = [
            {
                "annotator": f"P{person}",
                "positions": kept(ISOLATED_NOISE if person < isolated else 0.2),
            }
            for person in range(people)
            if person < 2 or rng.random() >= skipped
        ]
        spoken = [rng.choice("abcdef") for _ in range(words)]
        references.append(
            {"item": item, "words": spoken, "references": made, "meta": {"number": number}}
        )
        names = [f"S{system}" for system in range(systems)]
        for system, name in enumerate(names):
            output = {"positions": kept(0.1 + 0.2 * system)}
            outputs.append({"item": item, "system": name, "output": output})
        for place, name in enumerate([*names, *([human] if human else [])]):
            level = 4.5 if name == human else 4.0 - 2.5 * place / systems
            for judge in range(judges):
                vote = min(5, max(1, round(level + rng.gauss(0, 0.7))))
                row = {"item": item, "system": name, "listener": f"J{judge}", "score": vote}
                judgements.append(row)
    return SummaryRecords(outputs, references, judgements)
