"""Summarization accuracy, plain and weighted, on the network of all manual summaries.

Manual summaries are merged into a word network: a path through it goes only from word to word as
somebody did. SumACCY is the word accuracy against the path that is closest to the output; WSumACCY
weighs it by how many people went along the path's arcs.

"Closest" has two readings: the fewest edits (`edits`), or the fewest per word of the path
(`accuracy`, which never falls when a person is added). Of equally close paths the longest is taken,
then the one most people stand behind, then the one with the smallest positions.

All manual summaries of an item make one network, so that an item counts once in micro values too.
`wsumaccy_normalised_micro` divides summed weighted accuracies by summed ceilings, so that items on
which people agree count more. `wsumaccy_ceiling` has no micro value: the largest `wsumaccy_micro`
there can be depends on the paths chosen in all cases together, and is no function of their sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, isnan, log
from typing import ClassVar

import numpy as np

from earwitness.data import Alignment, Case, Summary, Value, WordNetwork
from earwitness.metrics.base import Floats, one_of, ratio
from earwitness.metrics.summaries.base import SummaryMetric, positions
from earwitness.metrics.summaries.shown import shown_steps
from earwitness.networks import Network, Target, alignment, ceiling, closest, weight
from earwitness.text.words import same

LARGE = 20_000  # positions of an item's summaries from which on its network is not kept
OBJECTIVE = {
    "help": "which path is closest: fewest edits, or fewest edits per word",
    "choices": ("edits", "accuracy"),
}
ARCS = {
    "help": "from word to word as people went, or also between neighbours in the original and "
    "from any word to the end",
    "choices": ("observed", "original"),
}
BOUNDARY = {
    "help": "whether the weight counts the arcs to the first and from the last word",
    "choices": ("include", "exclude"),
}
MATCH = {
    "help": "words are the same by their position, or by how they are written (optimistic)",
    "choices": ("position", "surface"),
}


@dataclass(frozen=True)
class SummarizationAccuracy(SummaryMetric):
    """SumACCY and WSumACCY."""

    objective: str = field(default="edits", metadata=OBJECTIVE)
    arcs: str = field(default="observed", metadata=ARCS)
    boundary: str = field(default="include", metadata=BOUNDARY)
    match: str = field(default="position", metadata=MATCH)

    name = "sumaccy"
    title = "Summarization accuracy on the word network"
    values = (
        Value("sumaccy", "high", -inf, 1, "mean of the cases' accuracy against the closest path"),
        Value("sumaccy_micro", "high", -inf, 1, "the same over all words of all paths"),
        Value("wsumaccy", "high", -inf, 1, "accuracy times the weight of the path, mean of cases"),
        Value("wsumaccy_micro", "high", -inf, 1, "sumaccy_micro times the weight of all arcs"),
        Value("wsumaccy_ceiling", "none", 0, 1, "the largest wsumaccy that is possible, mean"),
        Value("wsumaccy_normalised", "high", -inf, 1, "wsumaccy per its ceiling, mean of cases"),
        Value("wsumaccy_normalised_micro", "high", -inf, 1, "summed wsumaccy per summed ceilings"),
    )
    headline = "sumaccy"
    also = ("wsumaccy",)
    aligns = True
    width = 15
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "refused: a manual summary has words",
        "output empty": "0",
        "reference empty": "refused: a manual summary has words",
        "a path of one word with boundary=exclude": "wsumaccy undefined: no arc to weigh; "
        "wsumaccy_micro counts no arc",
    }
    references = (
        "Hori, Hori and Furui (2003), Evaluation Methods for Automatic Speech Summarization",
        "Hori et al. (2001), Advances in Automatic Speech Summarization",
    )

    def __post_init__(self) -> None:
        for name, known in (
            ("objective", OBJECTIVE),
            ("arcs", ARCS),
            ("boundary", BOUNDARY),
            ("match", MATCH),
        ):
            one_of(known["choices"], name, getattr(self, name))

    def network(self, case: Case) -> Network:
        """Of the manual summaries of a case."""
        kept = tuple(positions(one) for one in case.references)
        make = _network if sum(map(len, kept)) < LARGE else Network
        return make(len(case.item.words), kept, self.arcs == "original")

    def target(self, case: Case, network: Network | None = None) -> Target:
        """The closest path."""
        network = network or self.network(case)
        if self.match == "position":
            return closest(network, positions(case.output), objective=self.objective)
        written, said = self._written(case)
        return closest(network, written, objective=self.objective, words=said)

    @staticmethod
    def _written(case: Case) -> tuple[list[str], dict[int, str]]:
        """Words of the output and of what was said, as they are compared."""
        said = {place: same(word) for place, word in enumerate(case.item.words, 1)}
        return [same(word) for word in case.output.words], said

    def alignment(self, case: Case) -> Alignment:
        """The closest path above the output, with marks and how many people went that way."""
        network = self.network(case)
        target = self.target(case, network)
        if self.match == "position":
            steps = alignment(positions(case.output), target.path)
        else:
            written, said = self._written(case)
            steps = alignment(written, target.path, said)
        return shown_steps(case, network, target, steps)

    def picture(self, cases: Mapping[str, Case], people: Mapping[str, Summary]) -> WordNetwork:
        """The network of an item, with the path that is closest to each output."""
        first = next(iter(cases.values()))
        return WordNetwork(
            first.key.item,
            first.item.words,
            {name: positions(one) for name, one in people.items()},
            dict(self.network(first).counts),
            {system: self.target(case).path for system, case in cases.items() if system},
            self.signature,
        )

    def statistics(self, case: Case) -> Sequence[float]:
        """Of accuracy, weight, ceiling and their quotient: sums, and how many are defined.

        Then logarithms of shares, arcs, arcs of nobody; and what the quotient is made of.
        """
        network = self.network(case)
        target = self.target(case, network)
        inside = self.boundary == "include"
        own = weight(network, target.path, boundary=inside)
        best = _ceiling(network, inside)
        accuracy = target.accuracy
        weighted = own * accuracy if case.output.words else 0.0
        normal = weighted / best if best else np.nan
        arcs = network.arcs(target.path, boundary=inside)
        shares = [network.counts[arc] / network.people for arc in arcs]
        return [
            len(target.path) - target.edits,
            len(target.path),
            accuracy,
            1,
            *_defined(weighted),
            *_defined(best),
            *_defined(normal),
            sum(log(share) for share in shares if share),
            len(shares),
            sum(not share for share in shares),
            *((0.0, 0.0) if isnan(normal) else (weighted, best)),
        ]

    def score(self, statistics: Floats) -> Floats:
        columns = np.moveaxis(statistics[..., :10], -1, 0)
        right, words, own, count, weighted, ws, best, bs, normal, ns = columns
        logs, arcs, nobody, top, bottom = np.moveaxis(statistics[..., 10:], -1, 0)
        micro = ratio(right, words, np.nan)
        share = np.where(nobody > 0, 0.0, np.exp(ratio(logs, arcs, np.nan)))
        return np.stack(
            [
                ratio(own, count, np.nan),
                micro,
                ratio(weighted, ws, np.nan),
                micro * share,
                ratio(best, bs, np.nan),
                ratio(normal, ns, np.nan),
                ratio(top, bottom, np.nan),
            ],
            axis=-1,
        )


def _defined(value: float) -> tuple[float, float]:
    return (0.0, 0.0) if isnan(value) else (value, 1.0)


@lru_cache(maxsize=256)
def _network(size: int, summaries: tuple[tuple[int, ...], ...], original: bool) -> Network:
    return Network(size, summaries, original)


@lru_cache(maxsize=256)
def _small_ceiling(network: Network, inside: bool) -> float:
    return ceiling(network, boundary=inside)


def _ceiling(network: Network, inside: bool) -> float:
    small = sum(map(len, network.summaries)) < LARGE
    return _small_ceiling(network, inside) if small else ceiling(network, boundary=inside)
