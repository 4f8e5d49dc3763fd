"""Tables of made captions that raters judged, for tests."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

DIMENSIONS = ("precision", "recall", "fluency", "conciseness", "irrelevance")
ITEMS, RATERS = 8, 6
Row = dict[str, str]


def rows(items: int = ITEMS, raters: int = RATERS, seed: int = 3) -> list[Row]:
    """A row a rater and caption; persons write the better ones, experts are more severe."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 0.5, (items, 2))
    found = []
    for rater in range(raters):
        for item in range(items):
            for place, system in enumerate(("person", "model")):
                jury = "experts" if rater < raters // 2 else "lay"
                base = 4 - 0.6 * place - 0.3 * (jury == "experts") + quality[item, place]
                scores = np.clip(np.round(2 * (base + rng.normal(0, 0.4, 2))) / 2, 1, 5)
                low = np.clip(np.round(-0.2 - 0.1 * place + rng.normal(0, 0.2, 3), 1), -2, 0) + 0.0
                values = [f"{x:g}" for x in (*scores, *low)]
                found.append(
                    {
                        "item": f"clip{item}",
                        "system": system,
                        "listener": f"R{rater}",
                        "dataset": "street" if item % 2 else "park",
                        "jury": jury,
                        "caption": f"Clip {item}, as a {system} has it.",
                        **dict(zip(DIMENSIONS, values, strict=True)),
                    }
                )
    return found


def table(made: Sequence[Mapping[str, str]], names: Mapping[str, str] | None = None) -> str:
    """As CSV, with other names of columns."""
    known = names or {}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([known.get(name, name) for name in made[0]])
    writer.writerows(row.values() for row in made)
    return file.getvalue()


def long(made: Iterable[Mapping[str, str]], names: Mapping[str, str] | None = None) -> list[Row]:
    """The same with a row a rating."""
    known = names or {}
    return [
        {n: row[n] for n in row if n not in DIMENSIONS}
        | {"scale": known.get(name, name), "value": row[name]}
        for row in made
        for name in DIMENSIONS
    ]
