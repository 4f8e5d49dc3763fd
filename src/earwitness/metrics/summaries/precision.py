"""Words and strings of words that people kept too.

Word string precision p_n is the share of the output's n neighbouring words that also follow each
other in some manual summary, by position; n goes up to `longest`. Weighted word precision counts
every word by the share of people who kept it; the normalised form divides by what the words that
most people kept would get.

Without `_micro` a value is the mean of the cases' own; with it, strings, or shares of people, are
summed over all cases first. All manual summaries of an item are looked at at once: it counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import ClassVar

import numpy as np

from earwitness.data import Case, Value
from earwitness.errors import UsageError
from earwitness.metrics.base import Floats, at_least, ratio
from earwitness.metrics.summaries.base import SummaryMetric, positions
from earwitness.text.strings import strings

LEAST, USUAL, MOST = 2, 5, 100  # words of the longest strings; pairs are the headline
LONGEST = {"help": f"words of the longest strings, from {LEAST} to {MOST}"}
PAPERS = (
    "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
    "Hori et al. (2000), Improvements in Automatic Speech Summarization and Evaluation Methods",
)


def _values(longest: int) -> tuple[Value, ...]:
    lengths = range(1, longest + 1)
    return (
        *(Value(f"p{n}", "high", 0, 1, f"strings of {n} kept by somebody; mean") for n in lengths),
        *(
            Value(f"p{n}_micro", "high", 0, 1, f"the same for {n} over all strings")
            for n in lengths
        ),
    )


@dataclass(frozen=True)
class WordStrings(SummaryMetric):
    """Word string precision; an instance has as many values as its strings have lengths."""

    longest: int = field(default=USUAL, metadata=LONGEST)

    name = "word_strings"
    title = "Word string precision"
    values = _values(USUAL)
    headline = "p2"
    width = 4 * USUAL
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "undefined",
        "reference empty": "refused: a manual summary has words",
        "fewer than n words": "p_n undefined",
    }
    references = PAPERS

    def __post_init__(self) -> None:
        longest = at_least(LEAST, "longest", self.longest)
        if longest > MOST or longest % 1:
            told = f"longest must be a whole number from {LEAST} to {MOST}"
            raise UsageError(f"{told}, got {self.longest!r}")
        for name, own in (
            ("longest", int(longest)),
            ("values", _values(int(longest))),
            ("width", 4 * int(longest)),
        ):
            object.__setattr__(self, name, own)

    def statistics(self, case: Case) -> Sequence[float]:
        """For every n: found strings, strings, their quotient, whether there is one."""
        own, row = positions(case.output), list[float]()
        for n in range(1, self.longest + 1):
            known = [_known(positions(one), n) for one in case.references]
            mine = strings(own, n)
            found = sum(any(string in one for one in known) for string in mine)
            row += [found, len(mine), found / len(mine) if mine else 0, bool(mine)]
        return row

    def score(self, statistics: Floats) -> Floats:
        found, number, own, count = (statistics[..., kind::4] for kind in range(4))
        means = [ratio(own, count, np.nan), ratio(found, number, np.nan)]
        return np.concatenate(means, axis=-1)


@lru_cache(maxsize=1024)
def _known(words: tuple[int, ...], n: int) -> frozenset[tuple[int, ...]]:
    return frozenset(strings(words, n))


@dataclass(frozen=True)
class WeightedPrecision(SummaryMetric):
    """Weighted word precision."""

    name = "weighted_precision"
    title = "Weighted word precision"
    values = (
        Value("weighted_precision", "high", 0, 1, "mean share of people who kept a word; mean"),
        Value("weighted_precision_micro", "high", 0, 1, "the same over all words"),
        Value("weighted_precision_normalised", "high", 0, 1, "per the most that is possible; mean"),
        Value("weighted_precision_normalised_micro", "high", 0, 1, "the same over all words"),
    )
    headline = "weighted_precision"
    width = 6
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0; micro counts no word",
        "reference empty": "refused: a manual summary has words",
    }
    references = PAPERS

    def statistics(self, case: Case) -> Sequence[float]:
        """Shares of people, words, the most that shares can be; own quotients; that there are."""
        own = positions(case.output)
        if not own:
            return [0, 0, 0, 0, 0, 1]
        counts: dict[int, int] = {}
        for position in chain.from_iterable(map(positions, case.references)):
            counts[position] = counts.get(position, 0) + 1
        people = len(case.references)
        kept = sum(counts.get(position, 0) for position in own) / people
        most = sum(sorted(counts.values(), reverse=True)[: len(own)]) / people
        return [kept, len(own), most, kept / len(own), kept / most, 1]

    def score(self, statistics: Floats) -> Floats:
        kept, words, most, own, normal, count = np.moveaxis(statistics, -1, 0)
        pairs = (own, count), (kept, words), (normal, count), (kept, most)
        return np.stack([ratio(top, bottom, np.nan) for top, bottom in pairs], axis=-1)
