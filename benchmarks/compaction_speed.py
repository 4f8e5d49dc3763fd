"""Time and memory of the search for summaries by compaction, and the loss of its beam.

The words are those of the documentation of this project, cut into utterances, with the trigram
model inside the package pocketsphinx and significance scores. Times include those of all scores,
of which none is kept from an earlier search. Then the beam is compared with the exact search on
these words and on random trigram scores, which no language model has, and an hour of lecture
(10,000 words in 400 utterances) is summarized by two levels of dynamic programming.
`--quick` uses small sizes, to check that the program runs.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earwitness.summaries.methods.compaction import ScoreTables, ScoreWeights, SpokenUtterance
from earwitness.summaries.methods.language_models import LanguageModel, open_language_model
from earwitness.summaries.methods.scores import make_tables
from earwitness.summaries.methods.search import (
    BEAM_SIZE,
    BEAM_WORDS,
    allocate_words,
    count_kept,
    search_summaries,
)

BAR_SHORT, BAR_LONG, BAR_HOUR, BAR_MEMORY = 20, 500, 60, 500  # ms, ms, s, MB
RATIO = 0.4
WEIGHTS = ScoreWeights()
DOCS = Path(__file__).parents[1] / "docs"


def read_words() -> list[str]:
    """Return the words of sentences in the documentation, without tables, headings and code."""
    words = []
    for path in sorted(DOCS.rglob("*.md")):
        if path.name != "proof.md":
            text = re.sub(r"^(```.*?^```|[|#].*?$)", "", path.read_text("utf-8"), flags=re.M | re.S)
            words += re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower())
    return words


def cut_utterances(lengths: Sequence[int], seed: int = 0) -> list[SpokenUtterance]:
    """Return utterances of given lengths that start at random words."""
    rng, words = random.Random(seed), read_words()
    starts = [rng.randrange(len(words) - length) for length in lengths]
    return [
        SpokenUtterance(tuple(words[start : start + length]))
        for start, length in zip(starts, lengths, strict=True)
    ]


def draw_lecture(words: int, utterances: int) -> list[SpokenUtterance]:
    """Return utterances of 5 to 60 words with a given number of words in total."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(utterances, 4.0)) * (words - 5 * utterances)
    lengths = 5 + np.floor(shares).astype(int)
    lengths[: words - lengths.sum()] += 1
    return cut_utterances(lengths.tolist())


def make_random_tables(size: int, seed: int) -> ScoreTables:
    """Return random scores, independent for all trigrams."""
    rng = np.random.default_rng(seed)
    trigrams = -rng.exponential(3.0, (size + 1, size + 1, size + 2))
    return ScoreTables(
        size,
        linguistic=lambda before, last, following: np.asarray(trigrams[before, last, following]),
        significance=rng.gamma(1.0, 2.0, size),
    )


def judge(number: float, bar: float) -> str:
    """Return whether a limit is met."""
    return "met" if number <= bar else "missed"


# --- One utterance


class Times(NamedTuple):
    """Mean times per utterance in ms: of all, and of the search with queries of trigrams."""

    total: float
    search: float


def time_searches(model: LanguageModel, words: int, count: int, beam: int | None) -> Times:
    """Return the mean times over utterances, each the shortest of three."""
    taken = []
    for utterance in cut_utterances([words] * count):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            [tables] = make_tables([utterance], model)
            scored = time.perf_counter()
            search_summaries(tables, WEIGHTS, beam=beam)
            times.append((time.perf_counter() - start, time.perf_counter() - scored))
        taken.append(min(times))
    return Times(*(1000 * np.mean(taken, axis=0)))


def report_times(model: LanguageModel, count: int) -> bool:
    """Print the times by number of words; return whether the limits are met."""
    is_met = True
    for words, number, bar in ((30, count, BAR_SHORT), (100, count, BAR_LONG), (200, 2, None)):
        taken, exact = (time_searches(model, words, number, beam) for beam in (None, words))
        figure = f"{taken.total:.1f} ms"
        if bar is not None:
            figure += f" (bar {bar} ms: {judge(taken.total, bar)})"
            is_met &= taken.total <= bar
        kind = "exact" if words <= BEAM_WORDS else f"beam {BEAM_SIZE}"
        print(f"{words} words, {kind}, all lengths: {figure}")
        print(f"  search with trigrams {taken.search:.1f} ms, exact {exact.search:.1f} ms")
    return is_met


def report_loss(name: str, tables: Sequence[ScoreTables], weights: ScoreWeights) -> None:
    """Print the loss of beams against the exact search, over all lengths and at one ratio."""
    exact = [search_summaries(one, weights, beam=one.size) for one in tables]
    print(f"{name}, weight of significance {weights.significance:g}:")
    for beam in (BEAM_SIZE // 2, BEAM_SIZE, 2 * BEAM_SIZE):
        losses, equal, at_ratio = list[float](), list[bool](), list[bool]()
        for one, best in zip(tables, exact, strict=True):
            found = search_summaries(one, weights, beam=beam)
            losses += (best.scores - found.scores)[1:].tolist()
            same = (best.kept == found.kept).all(axis=1)[1:]
            equal += same.tolist()
            at_ratio.append(bool(same[count_kept(one.size, RATIO) - 1]))
        print(
            f"  beam {beam}: {np.mean(equal):.1%} of {len(equal):,} summaries are equal, at ratio"
            f" {RATIO} {np.mean(at_ratio):.1%} of {len(at_ratio)}; loss of score"
            f" {np.mean(losses):.4f} on average, {max(losses):.2f} at most"
        )


# --- Lectures, and memory


def summarize_lecture(words: int, utterances: int) -> tuple[float, float, float]:
    """Return the seconds for scores and searches, for the allocation, and the mean length."""
    lecture = draw_lecture(words, utterances)
    start = time.perf_counter()
    tables = make_tables(lecture, open_language_model("pocketsphinx"))
    searches = [search_summaries(one, WEIGHTS) for one in tables]
    searched = time.perf_counter()
    numbers = allocate_words(searches, count_kept(words, RATIO))
    kept = [search.positions(number) for search, number in zip(searches, numbers, strict=True)]
    assert sum(map(len, kept)) == count_kept(words, RATIO)
    return searched - start, time.perf_counter() - searched, words / utterances


def search_exactly(words: int) -> None:
    """Search one utterance without a beam."""
    model = open_language_model("pocketsphinx")
    [tables] = make_tables(cut_utterances([words]), model)
    search_summaries(tables, WEIGHTS, beam=words)


def run_measured(work: Callable[..., object], arguments: tuple[int, ...], answer: Any) -> None:
    """Run a function and report its result and the peak memory of the process in MB."""
    result = work(*arguments)
    status = Path("/proc/self/status").read_text()
    answer.put((result, int(status.split("VmHWM:")[1].split()[0]) / 1000))


def measure(work: Callable[..., object], *arguments: int) -> tuple[Any, float]:
    """Return the result and the peak memory in MB of a function in a new process."""
    context = get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=run_measured, args=(work, arguments, answer))
    process.start()
    result, used = answer.get()
    process.join()
    return result, float(used)


def report_lecture(words: int, utterances: int, longest: int) -> bool:
    """Print time and memory of a lecture and of an exact search; return if limits are met."""
    (searching, allocating, mean), used = measure(summarize_lecture, words, utterances)
    taken = searching + allocating
    print(
        f"lecture of {words:,} words in {utterances} utterances of {mean:.0f} words on average:"
        f" {taken:.1f} s (bar {BAR_HOUR} s: {judge(taken, BAR_HOUR)}),"
        f" memory {used:.0f} MB (bar {BAR_MEMORY} MB: {judge(used, BAR_MEMORY)})"
    )
    print(f"  scores and searches {searching:.1f} s, allocation of words {allocating:.2f} s")
    _, alone = measure(search_exactly, longest)
    told = f"memory {alone:.0f} MB (bar {BAR_MEMORY} MB: {judge(alone, BAR_MEMORY)})"
    print(f"exact search of {longest} words: {told}")
    return taken <= BAR_HOUR and max(used, alone) <= BAR_MEMORY


def main() -> None:
    """Print all figures; the exit status is 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    count = 2 if quick else 20
    model = open_language_model("pocketsphinx")
    is_met = report_times(model, count)
    lengths = np.linspace(61, 70 if quick else 120, count).astype(int).tolist()
    text = [make_tables([one], model)[0] for one in cut_utterances(lengths, seed=1)]
    noise = [make_random_tables(length, seed) for seed, length in enumerate(lengths)]
    for significance in (2.0, 0.5):
        weights = ScoreWeights(significance=significance)
        report_loss(f"text of {lengths[0]} to {lengths[-1]} words", text, weights)
        report_loss("random scores of as many words", noise, weights)
    is_met &= report_lecture(*((500, 20, 60) if quick else (10_000, 400, 200)))
    sys.exit(not is_met)


if __name__ == "__main__":
    main()
