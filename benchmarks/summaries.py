"""Time to find the closest path of a word network, compared with one pass over all cells.

An hour of unsegmented lecture (10,000 words, 25 annotators, a summary of 4,000 words) is scored by
positions and by written words, as is an output without any match. The baseline is one vectorized
pass over arcs times words: for every arc, NumPy relaxes the cells of its end by those of its start,
once. Then the time by number of words and annotators, and that of a corpus of utterances, are
printed. `--quick` uses small sizes, to check that the program runs.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Hashable
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.scoring import score
from earwitness.summaries.closest_path import closest
from earwitness.summaries.network import Network

BAR, MEMORY = 1.5, 500  # relative to one pass; MB
Output = tuple[
    tuple[Hashable, ...], dict[int, str] | None
]  # labels, and the words for surface matching
NOISE = {"close": 0.12, "fair": 0.35, "random": 9.0}  # by quality of the output


def lecture(words: int, people: int, seed: int = 0) -> tuple[Network, dict[str, tuple[int, ...]]]:
    """Return a network of annotators who keep mostly the same 40 % of words, and outputs."""
    rng = random.Random(seed)
    matter = [rng.random() for _ in range(words)]
    for here, there in pairwise(range(words)):  # neighbours have similar importance
        matter[there] = 0.6 * matter[here] + 0.4 * matter[there]

    def kept(noise: float) -> tuple[int, ...]:
        own = [number + rng.gauss(0, noise) for number in matter]
        limit = sorted(own)[round(0.6 * words)]
        return tuple(place for place, number in enumerate(own, 1) if number > limit)

    network = Network(words, tuple(kept(0.12) for _ in range(people)))
    return network, {name: kept(noise) for name, noise in NOISE.items()}


def one_pass(network: Network, words: int) -> Callable[[], object]:
    """Return a function that relaxes the cells of every arc once.

    Cells of the end become the minimum of their value, the start plus one error, and the start one
    word earlier plus one error.
    """
    rows = {node: np.arange(words + 1, dtype=np.int32) for node in network.before}

    def relax() -> None:
        for node, leading in network.before.items():
            row = rows[node]
            for other in leading:
                start = rows[other]
                np.minimum(row, start + 1, out=row)
                np.minimum(row[1:], start[:-1] + 1, out=row[1:])

    return relax


def bare_minima(network: Network, words: int) -> Callable[[], object]:
    """Return a function that computes one minimum of two rows per arc, the least possible work."""
    rows = {node: np.arange(words + 1, dtype=np.int32) for node in network.before}

    def reduce() -> None:
        for node, leading in network.before.items():
            row = rows[node]
            for other in leading:
                np.minimum(row, rows[other], out=row)

    return reduce


def best_of(*works: Callable[[], object], times: int = 5) -> list[float]:
    """Return the shortest time of each function, run in alternation to balance other load."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(times):
        for work, own in zip(works, taken, strict=True):
            start = time.perf_counter()
            work()
            own.append(time.perf_counter() - start)
    return [min(own) for own in taken]


def outputs_of(words: int, people: int) -> tuple[Network, dict[str, Output]]:
    """Return a lecture with outputs, including one without matches and one of written words."""
    network, kept = lecture(words, people)
    rng = random.Random(1)
    said = {n: f"w{int(rng.paretovariate(0.8))}" for n in range(1, words + 1)}  # some are frequent
    found: dict[str, Output] = {name: (one, None) for name, one in kept.items()}
    found["no match"] = (0,) * len(kept["fair"]), None
    found["fair, written words"] = tuple(said[n] for n in kept["fair"]), said
    return network, found


def peak(words: int, people: int, name: str, objective: str, answer: Any) -> None:
    """Score one output and report the peak memory of the process in MB."""
    network, outputs = outputs_of(words, people)
    labels, said = outputs[name]
    closest(network, labels, objective=objective, words=said)
    status = Path("/proc/self/status").read_text()
    answer.put(int(status.split("VmHWM:")[1].split()[0]) / 1000)


def memory(words: int, people: int, name: str, objective: str) -> float:
    """Return the peak memory in MB of scoring one output in a new process."""
    context = get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=peak, args=(words, people, name, objective, answer))
    process.start()
    found = float(answer.get())
    process.join()
    return found


def missed(number: float, bar: float) -> str:
    """Return the suffix of a limit that is not met, else an empty text."""
    return "" if number <= bar else ": missed"


def hour(words: int, people: int) -> None:
    """Print time and memory for an hour of lecture."""
    network, outputs = outputs_of(words, people)
    arcs, size = len(network.counts), len(outputs["close"][0])
    plain, bare = one_pass(network, size), bare_minima(network, size)
    print(f"{words:,} words, {people} annotators, {arcs:,} arcs, summary of {size:,} words;")
    print(f"  compared with one pass over {arcs * size / 1e6:.0f} million cells:")
    for name, (labels, said) in outputs.items():
        for objective in ("edits", "accuracy"):
            find = partial(closest, network, labels, objective=objective, words=said)
            target = find()
            once, least, taken = best_of(plain, bare, find)
            told = f"{taken:.2f} s: {taken / once:.2f} × the pass of {once:.2f} s"
            told += f" (bar {BAR} ×{missed(taken / once, BAR)}), {taken / least:.1f} × bare minima"
            used = memory(words, people, name, objective)
            told += f", {used:.0f} MB (bar {MEMORY} MB{missed(used, MEMORY)})"
            print(f"  {name}, {objective}: SumACCY {target.accuracy:.3f}, {told}")


def growth(sizes: list[int], people: list[int]) -> None:
    """Print the time by number of words and annotators."""
    print("time for a fair output, by numbers of words and annotators:")
    for words in sizes:
        cells = []
        for number in people:
            network, outputs = lecture(words, number)
            closest(network, outputs["fair"])
            [taken] = best_of(lambda n=network, o=outputs["fair"]: closest(n, o))  # type: ignore[misc]
            cells.append(f"{number} annotators {1000 * taken:7.1f} ms")
        print(f"  {words:6,} words: {', '.join(cells)}")


def utterances(count: int, people: int) -> None:
    """Print the time of `score` for a corpus like the paper's, with intervals and the ceiling."""
    references, outputs = list[dict[str, Any]](), list[dict[str, Any]]()
    for index in range(count):
        network, found = lecture(30, people, index)
        kept = [{"positions": list(one)} for one in network.summaries]
        said = [f"w{n}" for n in range(30)]
        references.append({"item": f"u{index}", "words": said, "references": kept})
        for name, positions in found.items():
            output = {"positions": list(positions)}
            outputs.append({"item": f"u{index}", "system": name, "output": output})
    start = time.perf_counter()
    score.score(outputs, references, metrics="sumaccy")
    taken = time.perf_counter() - start
    paths = len(outputs) * (1 + people) + count * people
    print(
        f"{count} utterances of 30 words, {people} annotators, {len(NOISE)} systems, with ceiling:"
    )
    print(f"  {taken:.1f} s, {1e3 * taken / paths:.2f} ms per path")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    hour(*((500, 5) if quick else (10_000, 25)))
    growth([250, 500] if quick else [1000, 3000, 10_000], [2, 5] if quick else [5, 25, 100])
    utterances(*((5, 3) if quick else (50, 25)))


if __name__ == "__main__":
    main()
