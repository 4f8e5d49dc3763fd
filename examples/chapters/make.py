"""Write the example corpus of twelve recordings and three systems; it is reproducible.

`annotators.jsonl` has the same recordings as `references.jsonl`, with up to three annotators each.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

ITEMS = {  # minutes, chapters, kind
    "lecture-acoustics": (78, 11, "lecture"),
    "lecture-phonetics": (52, 8, "lecture"),
    "lecture-statistics": (91, 14, "lecture"),
    "lecture-history": (46, 6, "lecture"),
    "podcast-birdsong": (34, 9, "podcast"),
    "podcast-cities": (41, 7, "podcast"),
    "podcast-kitchen": (63, 15, "podcast"),
    "podcast-night-shift": (28, 5, "podcast"),
    "meeting-monday": (23, 7, "meeting"),
    "meeting-review": (57, 12, "meeting"),
    "interview-uncut": (19, 1, "interview"),
}
FOLDER = Path(__file__).parent


def reference(rng: random.Random, seconds: float, chapters: int) -> list[float]:
    """Return chapters of uneven length, none shorter than half a minute."""
    weights = [rng.uniform(0.4, 2.0) for _ in range(chapters)]
    scale = seconds / sum(weights)
    ends = [scale * sum(weights[: i + 1]) for i in range(chapters - 1)]
    return [round(end, 1) for end in ends]


def careful(rng: random.Random, times: list[float], seconds: float) -> list[float]:
    """Return few boundaries, most of them close to the reference."""
    del seconds
    return [round(t + rng.gauss(0, 2.5), 1) for t in times if rng.random() < 0.75]


def eager(rng: random.Random, times: list[float], seconds: float) -> list[float]:
    """Return almost all boundaries, and as many false ones."""
    found = [t + rng.gauss(0, 5) for t in times if rng.random() < 0.95]
    extra = [rng.uniform(10, seconds - 10) for _ in range(len(times) + 1)]
    return sorted(round(t, 1) for t in found + extra)


def clockwork(rng: random.Random, times: list[float], seconds: float) -> list[float]:
    """Return a boundary every five minutes, regardless of the content."""
    del rng, times
    return [float(t) for t in range(300, int(seconds) - 30, 300)]


def several(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the references as those of anna, plus those of ben and, for some items, carla."""
    rng = random.Random(7)
    found = []
    for record in records:
        times = record["references"][0]["boundaries"]
        people = {"anna": times, "ben": person(rng, times, 0.9, 1.0)}
        if record["meta"]["kind"] != "meeting":
            people["carla"] = person(rng, times, 0.7, 4.0)
        references = [{"boundaries": b, "annotator": name} for name, b in people.items()]
        found.append({**record, "references": references})
    return found


def person(rng: random.Random, times: list[float], chance: float, spread: float) -> list[float]:
    """Return an annotator's boundaries: most of the same chapters, slightly shifted."""
    return [round(t + rng.gauss(0, spread), 1) for t in times if rng.random() < chance]


def main() -> None:
    """Write the four files."""
    rng = random.Random(2026)
    outputs: list[dict[str, Any]] = []
    references: list[dict[str, Any]] = []
    samples: list[dict[str, Any]] = []
    for item, (minutes, chapters, kind) in ITEMS.items():
        seconds = minutes * 60 + round(rng.uniform(0, 59), 1)
        times = reference(rng, seconds, chapters)
        meta = {"kind": kind}
        references.append(
            {"item": item, "duration": seconds, "references": [{"boundaries": times}], "meta": meta}
        )
        for system in (careful, eager, clockwork):
            found = system(rng, times, seconds)
            outputs.append(
                {"item": item, "system": system.__name__, "output": {"boundaries": found}}
            )
            if system is careful:
                samples.append(
                    {"id": item, "hypothesis": found, "reference": times, "duration": seconds}
                )
    jingle = {"item": "jingle", "duration": 4.2, "references": [{"boundaries": []}]}
    references.append({**jingle, "meta": {"kind": "podcast"}})
    for name in ("careful", "eager", "clockwork"):
        outputs.append({"item": "jingle", "system": name, "output": {"boundaries": []}})
    samples.append({"id": "jingle", "hypothesis": [], "reference": [], "duration": 4.2})
    files = {"outputs": outputs, "references": references, "samples": samples}
    for name, records in {**files, "annotators": several(references)}.items():
        text = "".join(json.dumps(record) + "\n" for record in records)
        (FOLDER / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
