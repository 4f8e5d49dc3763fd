"""BLEU: strings of up to four words, wherever they stand, against all manual summaries at once.

Words are compared as they are written. Counts are clipped to the most that any one manual summary
has; an output shorter than the manual summary closest in length is punished. `bleu_corpus`, the
micro value, sums counts over all cases first, `bleu` is the mean of the cases' own.

`smooth=none` is the paper's; the other ways are sacreBLEU's: `exp` halves for every order without
a match, `floor` and `add-k` put a small count in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from earwitness.data import Case, Value
from earwitness.metrics.base import Floats, one_of, ratio
from earwitness.metrics.summaries.base import SummaryMetric
from earwitness.text.strings import strings

ORDERS = 4
FLOOR, ADDED = 0.1, 1.0  # sacreBLEU's defaults
SMOOTH = {
    "help": "orders without a match: BLEU is 0, or as sacreBLEU",
    "choices": (
        "none",
        "exp",
        "floor",
        "add-k",
    ),
}


@dataclass(frozen=True)
class Bleu(SummaryMetric):
    """BLEU-4."""

    smooth: str = field(default="none", metadata=SMOOTH)

    name = "bleu"
    title = "BLEU"
    values = (
        Value("bleu", "high", 0, 1, "mean of the cases' own BLEU"),
        Value("bleu_corpus", "high", 0, 1, "BLEU over all cases"),
    )
    headline = "bleu"
    needs = "text"
    width = 2 * ORDERS + 4
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0",
        "reference empty": "refused: a manual summary has words",
        "fewer than four words": "0; with add-k more, as in sacreBLEU",
    }
    references = (
        "Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation",
        "Post (2018), A Call for Clarity in Reporting BLEU Scores",
    )

    def __post_init__(self) -> None:
        one_of(SMOOTH["choices"], "smooth", self.smooth)

    def statistics(self, case: Case) -> Sequence[float]:
        """Matches and strings of every order, both lengths, own BLEU, one case."""
        counts = string_counts(case.output.words, [one.words for one in case.references])
        row = np.array(counts, np.float64)
        return [*counts, float(self._bleu(row)), 1]

    def score(self, statistics: Floats) -> Floats:
        own, cases = statistics[..., -2], statistics[..., -1]
        corpus = np.where(cases > 0, self._bleu(statistics[..., :-2]), np.nan)
        return np.stack([ratio(own, cases, np.nan), corpus], axis=-1)

    def _bleu(self, counts: Floats) -> Floats:
        """From matches and strings of every order, the output's and the closest length."""
        matches, numbers = counts[..., :ORDERS], counts[..., ORDERS : 2 * ORDERS]
        length, wanted = counts[..., -2], counts[..., -1]
        logs = np.zeros(length.shape)
        halves = np.ones(length.shape)
        nothing = ~(matches > 0).any(axis=-1)
        for order in range(ORDERS):
            found, number = matches[..., order], numbers[..., order]
            if self.smooth == "add-k" and order:
                found, number = found + ADDED, number + ADDED
            missed = (found == 0) & (number > 0)
            if self.smooth == "exp":
                halves = np.where(missed, halves * 2, halves)
                found = np.where(missed, 1 / halves, found)
            elif self.smooth == "floor":
                found = np.where(missed, FLOOR, found)
            share = ratio(found, number, 0.0)
            nothing = nothing | (share == 0)
            logs += np.log(np.where(share > 0, share, 1.0)) / ORDERS
        short = np.where(length < wanted, 1 - ratio(wanted, length, np.inf), 0.0)
        return np.where(nothing | (length == 0), 0.0, np.exp(logs + np.maximum(short, -700)))


def string_counts(output: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Matches of every order, strings of every order, the length, and the closest one."""
    matches, numbers = list[float](), list[float]()
    for n in range(1, ORDERS + 1):
        known = [_counts(tuple(reference), n) for reference in references]
        own = _counts(tuple(output), n)
        matches.append(sum(min(k, max(one[s] for one in known)) for s, k in own.items()))
        numbers.append(max(len(output) - n + 1, 0))
    length = len(output)
    wanted = min((abs(len(one) - length), len(one)) for one in references)[1]
    return [*matches, *numbers, length, wanted]


@lru_cache(maxsize=1024)
def _counts(words: tuple[str, ...], n: int) -> Counter[tuple[str, ...]]:
    return Counter(strings(words, n))
