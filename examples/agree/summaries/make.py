"""Write summaries of eight systems and four annotators, and ratings; they are reproducible.

Words differ in importance (short words are less important). Annotators and systems keep the words
that are most important to them; worse systems make more mistakes. Judges rate how much of the
important content was kept.
"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SAID = {
    "bridge": "engineers closed the old bridge on Monday after divers found deep cracks below it",
    "bees": "farmers in the valley say that wild bees have come back to their apple trees",
    "train": "the night train to the coast will run again from May with cheaper tickets",
    "choir": "a choir of two hundred children sang in the square until the rain began",
    "flood": "water rose by three metres in one hour and cut the village off from help",
    "school": "the council wants to build a new school where the factory stood before the fire",
    "glacier": "the glacier lost more ice this summer than in the ten years before it",
    "library": "readers can borrow tools and garden seeds from the town library since last week",
    "strike": "pilots ended their strike on Friday because the airline agreed to longer rests",
    "lynx": "a lynx was seen near the border for the first time in a century",
    "radio": "the radio station turns ninety and plays its oldest records for a whole day",
    "harvest": "after a dry spring the harvest of wheat is a third smaller than usual",
}
SMALL = {"the", "a", "of", "to", "in", "on", "and", "is", "by", "it", "its", "was", "that", "for"}
PEOPLE = ("anna", "bela", "chen", "dora")
MISTAKES = {"S1": 0.5, "S2": 1.0, "S3": 1.5, "S4": 2.0, "S5": 2.8, "S6": 3.6, "S7": 5.0, "S8": 9.0}
JUDGES = 8
SHARE = 0.5


def main() -> None:
    """Write the three files."""
    rng = random.Random(12)
    references, outputs = list[dict[str, Any]](), list[dict[str, Any]]()
    quality = dict[tuple[str, str], float]()
    for item, text in SAID.items():
        words = text.split()
        matter = [rng.uniform(0, 3) if word in SMALL else rng.uniform(3, 9) for word in words]
        people = [{"annotator": name, "positions": kept(matter, 1.5, rng)} for name in PEOPLE]
        references.append({"item": item, "transcript": text, "references": people})
        for system, mistakes in MISTAKES.items():
            positions = kept(matter, mistakes, rng)
            outputs.append({"item": item, "system": system, "output": {"positions": positions}})
            quality[item, system] = share(matter, positions)
    write_lines("references.jsonl", references)
    write_lines("outputs.jsonl", outputs)
    write_ratings(quality, rng)


def kept(matter: list[float], mistakes: float, rng: random.Random) -> list[int]:
    """Return the positions of the words that are most important to an annotator."""
    size = max(1, round(SHARE * len(matter) + rng.choice([-1, 0, 0, 1])))
    own = [number + rng.gauss(0, mistakes) for number in matter]
    return sorted(sorted(range(1, len(own) + 1), key=lambda p: -own[p - 1])[:size])


def share(matter: list[float], positions: list[int]) -> float:
    """Return the importance kept, relative to the maximum for as many words."""
    best = sorted(matter, reverse=True)[: len(positions)]
    return sum(matter[p - 1] for p in positions) / sum(best)


def write_ratings(quality: dict[tuple[str, str], float], rng: random.Random) -> None:
    """Write ratings from 1 to 5; some judges are more lenient than others."""
    biases = [rng.gauss(0, 0.4) for _ in range(JUDGES)]
    with (FOLDER / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["item", "system", "listener", "QUALITY"])
        for judge, bias in enumerate(biases, 1):
            for (item, system), own in quality.items():
                said = 1 + 4 * (own - 0.5) / 0.5 + bias + rng.gauss(0, 0.7)
                table.writerow([item, system, f"judge{judge}", min(5, max(1, round(said)))])


def write_lines(name: str, records: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in records)
    (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
