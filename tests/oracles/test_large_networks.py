"""Closest paths of larger networks against a plain program over all cells, one by one.

From every cell (a node, and how many words of the output are used up) the plain program knows the
least cost to the end, then the most words, then the largest sum of log counts. Then it walks from
the start to the smallest node from which the best can still be reached.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest

from earwitness.summaries.closest_path import closest
from earwitness.summaries.network import Network
from helpers.samples import many

ONE, SAME = 2**60, 2**60 // 10**9
Kept = tuple[int, ...]
Ahead = tuple[int, int, float]  # cost, words and the sum of logs from a cell to the end


class Plain:
    """Closest paths, if an edit costs ``per_edit`` and a word of the path gains ``per_word``."""

    def __init__(self, network: Network, output: Sequence[Any], said: Sequence[Any]) -> None:
        self.end, self.output, self.said = network.end, output, said
        self.logs = {
            a: round(math.log(n) * ONE) if n else -math.inf for a, n in network.counts.items()
        }
        self.after: dict[int, list[int]] = {}
        for a, b in sorted(network.counts):
            self.after.setdefault(a, []).append(b)

    def same(self, node: int, place: int) -> bool:
        label = self.output[place]
        return bool(label) and label == self.said[node]

    def ahead(self, per_edit: int, per_word: int) -> dict[int, list[Ahead]]:
        size = len(self.output)
        rows: dict[int, list[Ahead]] = {
            self.end: [(per_edit * (size - i), 0, 0) for i in range(size + 1)]
        }
        for node in sorted(self.after, reverse=True):
            rows[node] = [(0, 0, 0)] * (size + 1)
            for place in range(size, -1, -1):
                rows[node][place] = self.best(rows, node, place, per_edit, per_word)
        return rows

    def best(
        self, rows: dict[int, list[Ahead]], node: int, place: int, edit: int, word: int
    ) -> Ahead:
        found = []
        for b in self.after[node]:
            steps = [(0, 0)] if b == self.end else [(0, edit)]
            if b != self.end and place < len(self.output):
                steps.append((1, 0 if self.same(b, place) else edit))
            for used, cost in steps:
                rest, words, logs = rows[b][place + used]
                inside = b != self.end
                found.append(
                    (rest + cost - word * inside, words + inside, logs + self.logs[node, b])
                )
        if place < len(self.output):
            rest, words, logs = rows[node][place + 1]
            found.append((rest + edit, words, logs))
        return min(found, key=lambda one: (one[0], -one[1], -one[2]))

    def row(self, row: list[int], node: int) -> list[int]:
        """Edits of a path with one more word, for every number of words of the output."""
        found = [row[0] + 1]
        for place in range(len(self.output)):
            wrong = not self.same(node, place)
            found.append(min(row[place] + wrong, row[place + 1] + 1, found[-1] + 1))
        return found

    def path(self, per_edit: int, per_word: int) -> tuple[Kept, int]:
        rows = self.ahead(per_edit, per_word)
        cost, words, logs = rows[0][0]
        node, path, passed = 0, list[int](), 0.0
        row = list(range(len(self.output) + 1))
        while True:
            for b in self.after[node]:
                total = passed + self.logs[node, b]
                new = row if b == self.end else self.row(row, b)
                length = len(path) + (b != self.end)
                ways = [
                    ahead[2]
                    for edits, ahead in zip(new, rows[b], strict=True)
                    if per_edit * edits - per_word * length + ahead[0] == cost
                    and length + ahead[1] == words
                ]
                if ways and total + max(ways) >= logs - SAME:
                    break
            if b == self.end:
                return tuple(path), row[-1]
            node, row, passed = b, new, total
            path.append(b)

    def closest(self, objective: str) -> tuple[Kept, int]:
        if objective == "edits":
            return self.path(1, 0)
        rate = Fraction(10**6)
        while True:
            path, edits = self.path(rate.denominator, rate.numerator)
            if Fraction(edits, len(path)) == rate:
                return path, edits
            rate = Fraction(edits, len(path))


def people(rng: random.Random, size: int) -> tuple[Kept, ...]:
    """People who mostly keep the same words."""
    share, noise = rng.choice([0.2, 0.5, 0.9]), rng.choice([0.03, 0.15, 0.6])
    common = [rng.random() < share for _ in range(size)]

    def one() -> Kept:
        drawn = [rng.random() < share if rng.random() < noise else kept for kept in common]
        return tuple(n for n, kept in enumerate(drawn, 1) if kept) or (rng.randint(1, size),)

    return tuple(one() for _ in range(rng.randint(3, 8)))


def outputs(rng: random.Random, size: int, kept: tuple[Kept, ...]) -> Iterator[list[int]]:
    """Near to somebody's, far from all, of which nothing or little matches, very long and short."""
    one = list(rng.choice(kept))
    yield [n for n in one if rng.random() < 0.8]
    yield sorted(rng.sample(range(1, size + 1), size // 3))
    yield [0] * rng.choice([1, len(one) // 2, len(one), size, size + 30])
    yield [n if rng.random() < 0.1 else 0 for n in one]
    yield list(range(1, size + 1))
    yield one[: rng.randint(0, 3)]
    yield [n for n in one for _ in range(rng.choice([1, 1, 2]))]
    yield one


@pytest.mark.parametrize("objective", ["edits", "accuracy"])
@pytest.mark.parametrize("original", [False, True])
@pytest.mark.parametrize("written", [False, True])
def test_closest_paths_of_larger_networks(objective: str, original: bool, written: bool) -> None:
    rng = random.Random(f"{objective} {original} {written}")
    for _ in range(many(1, 3)):
        size = rng.randint(many(40, 200), many(80, 600))
        kept = people(rng, size)
        network = Network(size, kept, original)
        vocabulary = [f"w{n}" for n in range(rng.choice([3, 20, 200]))]
        words = [rng.choice(vocabulary) if written else n for n in range(size + 2)]
        for output in outputs(rng, size, kept):
            labels = [words[n] if n else 0 for n in output]
            found = closest(
                network,
                labels,
                objective=objective,
                words=dict(enumerate(words)) if written else None,
            )
            want = Plain(network, labels, words).closest(objective)
            assert (found.path, found.edits) == want, (kept, output, words)


def test_many_ties_are_settled_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    monkeypatch.setattr(
        import_module("earwitness.summaries.closest_path"), "MAX_TIED_CELLS_PER_NODE", 0
    )
    for _ in range(many(4, 60)):
        size = rng.randint(10, 60)
        kept = people(rng, size)
        network = Network(size, kept, rng.random() < 0.5)
        for output in outputs(rng, size, kept):
            for objective in ("edits", "accuracy"):
                found = closest(network, output, objective=objective)
                want = Plain(network, output, range(size + 2)).closest(objective)
                assert (found.path, found.edits) == want, (kept, output)


def test_cells_that_closest_paths_cannot_have_are_left_out_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(4)
    for _ in range(many(8, 120)):
        size = rng.randint(2, 60)
        monkeypatch.setattr(
            import_module("earwitness.summaries.path_distances"), "SECTION_NODES", size // 8 + 1
        )
        kept = people(rng, size)
        network = Network(size, kept, rng.random() < 0.5)
        for output in outputs(rng, size, kept):
            for objective in ("edits", "accuracy"):
                found = closest(network, output, objective=objective)
                want = Plain(network, output, range(size + 2)).closest(objective)
                assert (found.path, found.edits) == want, (kept, output)
