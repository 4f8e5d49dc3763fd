"""What several tests share: counts, random chapters, and files of records."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from earwitness.chapters.cases import ChapterCases
from earwitness.stats.arrays import Ragged

FULL = os.environ.get("EARWITNESS_COUNTS") == "full"
Sample = dict[str, Any]


def many(small: int, full: int) -> int:
    """How often to do something."""
    return full if FULL else small


def hear_ctrl_c() -> None:
    """For children of tests: whoever runs these in the background has told them not to."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def columns(samples: Iterable[Mapping[str, Any]]) -> ChapterCases:
    """Samples as cases."""
    samples = list(samples)
    return ChapterCases(
        [f"item {i}" for i in range(len(samples))],
        ["system"] * len(samples),
        np.array([sample["duration"] for sample in samples], np.float64),
        Ragged.from_rows([sample["hypothesis"] for sample in samples]),
        Ragged.from_rows([sample["reference"] for sample in samples]),
    )


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def corpus(count: int, seconds: float, fewest: int, most: int, seed: int = 0) -> list[Sample]:
    """Plausible samples: most boundaries found, some a little off, some invented."""
    rng = random.Random(seed)
    samples = []
    for _ in range(count):
        n = rng.randint(fewest, most)
        reference = sorted(round(rng.uniform(1, seconds - 1), 2) for _ in range(n))
        found = [t + rng.gauss(0, 5) for t in reference if rng.random() < 0.7]
        found += [rng.uniform(1, seconds - 1) for _ in range(rng.randint(0, n // 3))]
        hypothesis = sorted(round(t, 2) for t in found)
        samples.append({"hypothesis": hypothesis, "reference": reference, "duration": seconds})
    return samples


def nasty(rng: random.Random, chunk_size: float, chunks: int) -> Sample:
    """A sample with everything that may go wrong with boundaries."""
    duration = chunks * chunk_size + rng.choice([0.0, 0.0, rng.uniform(0, chunk_size)])

    def boundaries(most: int) -> list[float]:
        times = [
            rng.choice(
                [
                    rng.uniform(-chunk_size, duration * 1.1 + 1),
                    rng.randint(0, chunks) * chunk_size,
                    float(round(rng.uniform(0, duration))),
                    duration,
                ]
            )
            for _ in range(rng.choice([0, 1, 2, 5, most]))
        ]
        if times and rng.random() < 0.3:
            times += rng.choices(times, k=3)
        return sorted(times) if rng.random() < 0.5 else times

    reference = boundaries(min(chunks, 80))
    hypothesis = boundaries(min(chunks, 80))
    if rng.random() < 0.4:
        steps = [0.0, chunk_size, -chunk_size, 2 * chunk_size, rng.gauss(0, chunk_size)]
        hypothesis = [t + rng.choice(steps) for t in reference]
    return {"hypothesis": hypothesis, "reference": reference, "duration": duration}


times = st.one_of(
    st.floats(-20, 700, allow_nan=False),
    st.integers(-2, 110).map(lambda chunk: chunk * 6.0),
    st.integers(0, 600).map(float),
)
sample = st.fixed_dictionaries(
    {
        "hypothesis": st.lists(times, max_size=40),
        "reference": st.lists(times, max_size=40),
        "duration": st.one_of(st.floats(0, 650), st.integers(0, 100).map(lambda n: n * 6.0)),
    }
)
chunk_sizes = st.one_of(st.sampled_from([0.1, 0.5, 1.0, 6.0, 30.0]), st.floats(0.1, 30))
collars = st.one_of(st.sampled_from([0.0, 1.0, 3.0, 10.0]), st.floats(0, 40))
