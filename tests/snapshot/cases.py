"""Random cases of every task, and what metrics make of them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from earwitness.core import Case, Chapters, Item, Key, Summary
from earwitness.registry import METRICS
from earwitness.skims.day import Day
from earwitness.skims.types import Pick, Skim

WORDS = ("one", "two", "three", "don't", "[noise]", "running", "東京", "été")
NAMES = tuple(METRICS)
# metrics and commands with numbers of 32 bits, which are not added in one order everywhere
LOOSE = {"bertscore": 1e-5, "title_bertscore": 1e-5, "skim": 1e-6}
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "agreement": ({"chunk_size": 3.0},),
    "chunks": ({"chunk_size": 2.0, "edge": 5.0}, {"against": "best"}),
    "collar": ({"boundary_matching": "optimal"}, {"collar": 10.0, "against": "best"}),
    "deviation": ({"edge": 4.0},),
    "r_value": ({"boundary_matching": "optimal", "collar": 8.0},),
    "segments": ({"frame": 0.5},),
    "sentences": ({"of": "output"},),
    "similarity": ({"chunk_size": 10.0},),
    "titles": ({"words": "unicode", "tm_rule": "start_end", "tolerance": 20.0},),
    "wer": ({"against": "best"},),
    "sumaccy": (
        {"objective": "accuracy", "arcs": "original"},
        {"boundary": "exclude", "word_match": "surface"},
    ),
    "word_accuracy": ({"against": "best"},),
    "word_strings": ({"longest": 3.0},),
    "kept": ({"against": "best"},),
    "bleu": ({"smooth": "exp"}, {"smooth": "add-k"}),
    "rouge": ({"words": "unicode"},),
    "skims": ({"period": 100.0},),
}


def chapter_case(rng: random.Random, number: int) -> Case:
    """Boundaries anywhere, also doubled, out of order, before the start and behind the end."""
    duration = rng.choice([6.0, 12.5, 60.0, 180.0])

    def chapters(own: Sequence[float]) -> Chapters:
        times = tuple(own)
        titles = tuple((" ".join(rng.choices(WORDS, k=2)), time) for time in times)
        spoken = " ".join(rng.choices(WORDS, k=12))
        text = rng.choice([None, "", spoken, spoken, spoken, spoken])
        starts = tuple(sorted(rng.uniform(0, duration) for _ in range(6)))
        return Chapters(times, rng.choice([titles, titles, None]), text, rng.choice([None, starts]))

    def anywhere() -> list[float]:
        times = [rng.uniform(-3, duration * 1.1) for _ in range(rng.choice([0, 1, 2, 5, 9]))]
        return times + times[:1] if rng.random() < 0.2 else sorted(times)

    references = [anywhere() for _ in range(rng.choice([1, 1, 2, 3]))]
    near = [time + rng.choice([0.0, 1.5, -4.0]) for time in references[0]]
    output = near if rng.random() < 0.5 else anywhere()
    talk = " ".join(rng.choices(WORDS, k=15))
    said = rng.choice([None, talk, talk, talk, talk])
    begins = tuple(7.3 * n for n in range(25) if 7.3 * n < duration)
    item = Item(duration, transcript=said, sentences=rng.choice([None, begins, begins]))
    own = chapters(output)
    return Case(Key(f"item {number}", "s"), item, own, tuple(map(chapters, references)))


def summary_case(rng: random.Random, number: int) -> Case:
    """What was said, manual summaries of it, and an output that may be empty or wrong."""
    said = tuple(rng.choices(WORDS, k=rng.randint(1, 12)))

    def summary(least: int, wrong: float = 0.0) -> Summary:
        kept = sorted(rng.sample(range(1, len(said) + 1), rng.randint(least, len(said))))
        places = tuple(0 if rng.random() < wrong else place for place in kept)
        words = tuple(said[place - 1] if place else "wrong" for place in places)
        return Summary(" ".join(words), words, places)

    people = tuple(summary(1) for _ in range(rng.choice([1, 2, 4])))
    return Case(Key(f"item {number}", "s"), Item(9.0, words=said), summary(0, 0.2), people)


def skim_case(rng: random.Random, number: int) -> Case:
    """A skim of days with gaps, by picks that may be none or lie anywhere."""

    def day() -> Day:
        starts = sorted(rng.sample(range(120), 0 if number == 3 else 60))
        vectors = [[round(rng.gauss(0, 1), 2) for _ in range(3)] for _ in starts]
        classes = [[round(rng.random(), 2) for _ in range(4)] for _ in starts]
        shaped = np.reshape(vectors, (-1, 3)), np.reshape(classes, (-1, 4))
        return Day.of([8.0 * start for start in starts], 8.0, *shaped)

    days = tuple(day() for _ in range(rng.choice([1, 1, 2])))
    picks = tuple(
        Pick(round(rng.uniform(0, 900), 1), rng.choice([4.0, 8.0, 20.0])) for _ in range(number % 6)
    )
    return Case(Key(f"item {number}", "s"), Item(960.0), Skim(picks), days)


def measured(name: str) -> str:
    """Statistics and values of random cases by a metric with several settings, as JSON."""
    kind: Any = METRICS[name]
    make = {"summaries": summary_case, "skims": skim_case}.get(kind.task, chapter_case)
    rng = random.Random(11)
    some = [make(rng, number) for number in range(12 if kind.task == "skims" else 24)]
    found = []
    for settings in ({}, *SETTINGS.get(name, ())):
        metric = kind(**settings)
        rows = metric.measure_many(some)
        views = metric.measure_views(some)
        parts = {
            "statistics": rows,
            "values": metric.score(rows),
            "corpus": metric.score(rows.sum(axis=0, keepdims=True)),
            "each reference": metric.score(views.each),
            "one reference left out": metric.score(views.left_out),
        }
        lines = [f'{{"signature": {json.dumps(metric.signature)}']
        lines.append(f'"names": {json.dumps([value.name for value in metric.values])}')
        lines += [f'"{part}": {_summary(table)}' for part, table in parts.items()]
        found.append(",\n".join(lines) + "}")
    return "[\n" + ",\n".join(found) + "\n]\n"


def _summary(table: Any) -> str:
    """The row in the middle of a table, and sums of columns with rows weighted by position."""
    rows = np.asarray(table, np.float64)
    weights = np.arange(1.0, len(rows) + 1)
    summary = {
        "shape": rows.shape,
        "middle": [float(one) + 0.0 for one in rows[len(rows) // 2]],
        "undefined": (weights @ np.isnan(rows)).tolist(),
        "sums": (weights @ np.nan_to_num(rows) + 0.0).tolist(),
    }
    lines = ",\n".join(f'"{name}": {json.dumps(value)}' for name, value in summary.items())
    return f"{{{lines}}}"
