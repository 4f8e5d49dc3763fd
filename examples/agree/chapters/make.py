"""Write chapters of seven systems and four annotators, and ratings; they are reproducible.

Systems miss, shift and insert boundaries at different rates. Raters tolerate small shifts, and
extra chapters more than missing ones. Not every rater rated everything.
"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
MINUTES = {"acoustics": 48, "birds": 25, "cities": 31, "dialects": 40, "engines": 22, "films": 36}
MINUTES |= {"gardens": 28, "harbours": 19, "islands": 33, "jazz": 44, "kitchens": 26, "looms": 30}
RATERS = 8
SEEN = 0.8  # share of the outputs that a rater rated


class System(NamedTuple):
    """A system: rate of missed chapters, shift in seconds, and number of extra chapters."""

    missed: float
    moved: float
    invented: float

    @property
    def quality(self) -> float:
        """Quality as perceived by raters, from 0 to 1."""
        return max(0.0, 1 - 0.9 * self.missed - 0.02 * self.moved - 0.4 * self.invented)


SYSTEMS = {
    "hand": System(0.05, 1, 0.05),
    "text": System(0.15, 3, 0.1),
    "sound": System(0.25, 2, 0.4),
    "both": System(0.1, 2, 0.15),
    "pauses": System(0.4, 4, 0.8),
    "topics": System(0.3, 12, 0.2),
    "clock": System(0.7, 20, 0.6),
}


def main() -> None:
    """Write the three files."""
    rng = random.Random(5)
    references, outputs = list[dict[str, Any]](), list[dict[str, Any]]()
    quality = dict[tuple[str, str], float]()
    for item, minutes in MINUTES.items():
        times = boundaries(rng, 60.0 * minutes, round(minutes / 4))
        people = [
            {"annotator": name, "boundaries": made(rng, times, System(missed, moved, 0.05))}
            for name, missed, moved in (("ada", 0, 0.5), ("ben", 0.1, 2), ("cy", 0.2, 3))
        ]
        people.append({"annotator": "dee", "boundaries": made(rng, times, System(0.15, 6, 0.2))})
        references.append({"item": item, "duration": 60.0 * minutes, "references": people})
        for name, system in SYSTEMS.items():
            luck = rng.gauss(0, 0.15)
            own = System(*(max(0.0, x * (1 - 2 * luck)) for x in system))
            found = made(rng, times, own)
            outputs.append({"item": item, "system": name, "output": {"boundaries": found}})
            quality[item, name] = own.quality
    write_lines("references.jsonl", references)
    write_lines("outputs.jsonl", outputs)
    write_ratings(quality, rng)


def boundaries(rng: random.Random, seconds: float, chapters: int) -> list[float]:
    """Return chapters of uneven length."""
    weights = [rng.uniform(0.4, 2.0) for _ in range(chapters)]
    scale = seconds / sum(weights)
    return [round(scale * sum(weights[: n + 1]), 1) for n in range(chapters - 1)]


def made(rng: random.Random, times: list[float], how: System) -> list[float]:
    """Return the boundaries of a system or annotator."""
    found = [t + rng.gauss(0, how.moved) for t in times if rng.random() >= how.missed]
    more = sum(rng.random() < how.invented for _ in times)
    found += [rng.uniform(10, times[-1]) for _ in range(more)]
    return sorted(round(max(1.0, t), 1) for t in found)


def write_ratings(quality: dict[tuple[str, str], float], rng: random.Random) -> None:
    """Write ratings from 1 to 5, one row per rating."""
    biases = [rng.gauss(0, 0.4) for _ in range(RATERS)]
    with (FOLDER / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["item", "system", "scale", "listener", "value"])
        for rater, bias in enumerate(biases, 1):
            for (item, system), own in quality.items():
                said = 1 + 4 * own + bias + rng.gauss(0, 0.7)
                if rng.random() < SEEN:
                    vote = min(5, max(1, round(said)))
                    table.writerow([item, system, "CHAPTERS", f"r{rater}", vote])


def write_lines(name: str, records: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in records)
    (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
