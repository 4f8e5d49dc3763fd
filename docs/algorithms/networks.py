"""Scoring of extractive speech summaries, slow reference implementation.

A summary keeps words of a transcript. The manual summaries of several subjects are merged into a
word network, and a summary is scored against the closest word string of the network. See Hori, Hori
and Furui (2003), Evaluation Methods for Automatic Speech Summarization.

All paths are enumerated. Words are identified by their position, 1 to N; label 0 is a word that
matches nothing.

>>> A, B, C = [1, 3, 4, 5, 6], [2, 3, 4, 5, 6], [2, 3, 4, 8, 9]
>>> D, E = [3, 4, 7, 8, 9], [2, 3, 7, 8, 9]
>>> net = build(9, [A, B, C, D, E])
>>> len(net.counts), len(paths(net))
(15, 12)
>>> def row(network, subjects, hypothesis):
...     best = closest(network, hypothesis)
...     scores = [wsumaccy(network, subjects, best, b) for b in ("include", "exclude")]
...     return best.path, float(best.accuracy), *(round(score, 6) for score in scores)
>>> row(net, 5, A)
((1, 3, 4, 5, 6), 1.0, 0.356359, 0.4)
>>> row(build(9, [A, B, C, E]), 4, D)
((2, 3, 4, 8, 9), 0.6, 0.327337, 0.308965)
>>> row(net, 5, [3, 4, 5, 6, 7])
((3, 4, 5, 6), 0.75, 0.3, 0.377976)
>>> row(net, 5, [2, 3, 0, 4, 5, 6])
((2, 3, 4, 5, 6), 0.8, 0.411167, 0.421144)
>>> row(build(9, [A, B, C, D, E], "original"), 5, [3, 4, 5, 6, 7])
((3, 4, 5, 6, 7), 1.0, 0.0, 0.0)
>>> # The two objectives can disagree:
>>> odd = build(9, [[7], [1, 9], [7, 8], [2, 3, 4, 5, 6, 9], [7]])
>>> closest(odd, [1, 5, 6, 7, 8, 9], "edits")
Target(path=(7, 8), edits=4, accuracy=Fraction(-1, 1))
>>> closest(odd, [1, 5, 6, 7, 8, 9], "accuracy")
Target(path=(2, 3, 4, 5, 6, 9), edits=5, accuracy=Fraction(1, 6))
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Literal, NamedTuple

Path = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
Labels = Sequence[int]
Summaries = Sequence[Labels]
Strings = Sequence[str]
Words = Labels | Strings
Spans = Sequence[tuple[float, float]]
Times = tuple[Spans, Spans] | None
Arcs = Literal["observed", "original"]
Objective = Literal["edits", "accuracy"]
Boundary = Literal["include", "exclude"]
TOLERANCE = 1e-9


class Network(NamedTuple):
    """Word network: N, and the number of subjects who used each arc; START is 0, END is N + 1."""

    size: int
    counts: dict[tuple[int, int], int]


class Target(NamedTuple):
    """Closest path of a network, with its edit distance and SumACCY."""

    path: Path
    edits: int
    accuracy: Fraction


def arcs_of(path: Labels, size: int) -> list[tuple[int, int]]:
    """Return the Len + 1 arcs of a word string, including START and END arcs."""
    return list(pairwise([0, *path, size + 1]))


def build(size: int, summaries: Summaries, arcs: Arcs = "observed") -> Network:
    """Return the network of manual summaries; "original" adds unobserved arcs with count 0.

    >>> build(3, [[1, 3], [1, 2]]).counts
    {(0, 1): 2, (1, 3): 1, (3, 4): 1, (1, 2): 1, (2, 4): 1}
    """
    used = [arc for summary in summaries for arc in arcs_of(summary, size)]
    extra = [(a, a + 1) for a in range(1, size)] + [(v, size + 1) for v in range(1, size + 1)]
    allowed = used + extra if arcs == "original" else used
    return Network(size, {arc: used.count(arc) for arc in allowed})


def paths(network: Network) -> list[Path]:
    """Return every path from START to END as positions, in lexicographic order.

    >>> paths(build(3, [[1, 3], [1, 2, 3]], "original"))
    [(1,), (1, 2), (1, 2, 3), (1, 3)]
    """

    def onward(node: int) -> Iterator[Path]:
        """Yield the continuations of a node, without the node itself."""
        for a, b in network.counts:
            if a == node and b == network.size + 1:
                yield ()
            elif a == node:
                yield from ((b, *rest) for rest in onward(b))

    return sorted(onward(0))


def edit_distance(left: Words, right: Words) -> int:
    """Return the edit distance; label 0 matches nothing.

    >>> edit_distance([2, 3, 0, 4], [2, 3, 4]), edit_distance([0], [0])
    (1, 1)
    """

    @cache
    def cost(i: int, j: int) -> int:
        """Return the distance between the first i of left and the first j of right."""
        if i == 0 or j == 0:
            return i + j
        match = left[i - 1] == right[j - 1] and left[i - 1] != 0
        return min(cost(i - 1, j - 1) + (not match), cost(i - 1, j) + 1, cost(i, j - 1) + 1)

    return cost(len(left), len(right))


def log_count(network: Network, path: Path) -> float:
    """Return the sum of log C over all arcs of a path, with START and END; log 0 is -inf."""
    counts = [network.counts[arc] for arc in arcs_of(path, network.size)]
    return sum(math.log(count) if count else -math.inf for count in counts)


def closest(
    network: Network, hypothesis: Words, objective: Objective = "edits", transcript: Strings = ()
) -> Target:
    """Return the path with the least cost, then longest, then most frequent, then smallest.

    The hypothesis consists of labels, or of strings if a transcript is given (surface matching).

    >>> closest(build(2, [[1, 2], [2]]), [])
    Target(path=(2,), edits=1, accuracy=Fraction(0, 1))
    >>> closest(build(3, [[2, 3]]), ["in", "May"], transcript=["May", "in", "May"])
    Target(path=(2, 3), edits=0, accuracy=Fraction(1, 1))
    """
    edits = {}
    for path in paths(network):
        words = [transcript[position - 1] for position in path] if transcript else path
        edits[path] = edit_distance(hypothesis, words)
    cost = {p: Fraction(e, len(p) if objective == "accuracy" else 1) for p, e in edits.items()}
    least = min(cost.values())
    nearest = [path for path in edits if cost[path] == least]
    length = max(map(len, nearest))
    longest = [path for path in nearest if len(path) == length]
    best = max(log_count(network, path) for path in longest)
    path = min(path for path in longest if log_count(network, path) >= best - TOLERANCE)
    return Target(path, edits[path], Fraction(len(path) - edits[path], len(path)))


def geometric_mean(network: Network, subjects: int, path: Path, boundary: Boundary) -> float:
    """Return the geometric mean of C/H over the arcs of a path; NaN without arcs.

    START and END arcs are included or excluded, as ``boundary`` says.

    >>> two = build(2, [[1, 2], [1]])
    >>> geometric_mean(two, 2, (1, 2), "exclude"), geometric_mean(two, 2, (1,), "exclude")
    (0.5, nan)
    """
    arcs = arcs_of(path, network.size)
    chosen = arcs if boundary == "include" else arcs[1:-1]
    factors = [network.counts[arc] / subjects for arc in chosen]
    return math.prod(factors) ** (1 / len(factors)) if factors else math.nan


def wsumaccy(network: Network, subjects: int, target: Target, boundary: Boundary) -> float:
    """Return WSumACCY: the target's geometric mean of C/H times its SumACCY."""
    return geometric_mean(network, subjects, target.path, boundary) * float(target.accuracy)


def ceiling(network: Network, subjects: int, boundary: Boundary) -> float:
    """Return the largest geometric mean over all paths; NaN if no path has a factor.

    >>> ceiling(build(2, [[1, 2]]), 1, "include"), ceiling(build(2, [[1]]), 1, "exclude")
    (1.0, nan)
    """
    means = [geometric_mean(network, subjects, path, boundary) for path in paths(network)]
    return max((mean for mean in means if not math.isnan(mean)), default=math.nan)


def ngrams(words: Labels, n: int) -> list[Path]:
    """Return the contiguous n-grams of a word string."""
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def string_precision(hypothesis: Labels, summaries: Summaries, n: int) -> float:
    """Return the share of n-grams that are in any manual summary; NaN for n > M.

    >>> string_precision([1, 0, 3, 4], [[1, 3, 4]], 2), string_precision([1], [[1]], 2)
    (0.3333333333333333, nan)
    """
    known = [gram for summary in summaries for gram in ngrams(summary, n)]
    found = [0 not in gram and gram in known for gram in ngrams(hypothesis, n)]
    return sum(found) / len(found) if found else math.nan


def weighted_precision(size: int, hypothesis: Labels, summaries: Summaries) -> tuple[float, float]:
    """Return the mean of c(v)/H, and the sum of c(v) divided by the sum of the M largest c.

    >>> weighted_precision(3, [2, 0], [[1, 2], [1]]), weighted_precision(1, [], [[1]])
    ((0.25, 0.3333333333333333), (nan, nan))
    """
    if not hypothesis:
        return math.nan, math.nan
    c = {0: 0} | {v: sum(v in kept for kept in summaries) for v in range(1, size + 1)}
    total = sum(c[label] for label in hypothesis)
    largest = sorted(c.values(), reverse=True)[: len(hypothesis)]
    return total / len(summaries) / len(hypothesis), total / sum(largest)


def kept_words(hypothesis: Labels, reference: Labels) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the kept positions; precision of no words is NaN.

    >>> kept_words([1, 2, 0, 0], [1, 3])
    (0.25, 0.5, 0.3333333333333333)
    """
    common = len(set(hypothesis) & set(reference))
    precision = common / len(hypothesis) if hypothesis else math.nan
    f1 = 2 * common / (len(hypothesis) + len(reference))
    return precision, common / len(reference), f1


def alignments(left: Words, right: Words) -> set[tuple[int, Pairs]]:
    """Return all alignments, each as its edits and its matched index pairs (from 0).

    >>> sorted(alignments(["a"], ["a"]))
    [(0, ((0, 0),)), (2, ())]
    """

    @cache
    def rest(i: int, j: int) -> set[tuple[int, Pairs]]:
        """Return the alignments of left from i with right from j."""
        if i == len(left) and j == len(right):
            return {(0, ())}
        found: set[tuple[int, Pairs]] = set()
        if i < len(left):
            found |= {(edits + 1, pairs) for edits, pairs in rest(i + 1, j)}
        if j < len(right):
            found |= {(edits + 1, pairs) for edits, pairs in rest(i, j + 1)}
        if i < len(left) and j < len(right):
            match = left[i] == right[j] and left[i] != 0
            for edits, pairs in rest(i + 1, j + 1):
                found.add((edits, ((i, j), *pairs)) if match else (edits + 1, pairs))
        return found

    return rest(0, 0)


def best_alignments(left: Words, right: Words) -> list[Pairs]:
    """Return the matched pairs of all alignments with the fewest edits, then most matches."""
    found = alignments(left, right)
    key = min((edits, -len(pairs)) for edits, pairs in found)
    return [pairs for edits, pairs in found if (edits, -len(pairs)) == key]


def word_accuracy(hypothesis: Words, reference: Words) -> tuple[float, float]:
    """Return WACC, (Len - E) / Len, and the most matches with the fewest edits, per Len.

    >>> word_accuracy([1, 2, 0], [1, 3])
    (0.0, 0.5)
    """
    edits = edit_distance(hypothesis, reference)
    hits = len(best_alignments(hypothesis, reference)[0])
    return (len(reference) - edits) / len(reference), hits / len(reference)


def align_text(summary: Strings, transcript: Strings) -> tuple[Path, int] | None:
    """Return the embedding with most adjacent pairs, and the number of tied embeddings.

    >>> align_text(["in", "May"], ["in", "June", "in", "May"])
    ((3, 4), 1)
    >>> align_text(["in"], ["in", "June", "in", "May"]), align_text(["x"], ["y"])
    (((1,), 2), None)
    """
    places = [[i for i, other in enumerate(transcript, 1) if other == word] for word in summary]
    found = [path for path in product(*places) if all(a < b for a, b in pairwise(path))]
    pairs = {path: sum(b == a + 1 for a, b in pairwise(path)) for path in found}
    most = max(pairs.values(), default=0)
    best = [path for path in found if pairs[path] == most]
    return (min(best), len(best)) if best else None


def align_recognised(
    words: Strings, transcript: Strings, times: Times = None
) -> tuple[list[int], bool]:
    """Return labels of recognized words, and whether other labels are equally good.

    Fewest edits, most matches, most overlap, most neighbours, smallest. Overlaps within 1e-9
    seconds of the best are ties. ``times`` are the spans of ``words`` and of ``transcript``.

    >>> align_recognised(["a"], ["a", "a"], ([(5.0, 6.0)], [(0.0, 1.0), (5.0, 6.0)]))
    ([2], False)
    >>> align_recognised(["a", "b"], ["a", "b", "c", "b"]), align_recognised(["a"], ["a", "a"])
    (([1, 2], False), ([1], True))
    """

    def overlap(pairs: Pairs) -> float:
        """Return the overlap of matched words in seconds; 0 without times."""
        both = [(times[0][i], times[1][j]) for i, j in pairs] if times else []
        return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a, b in both)

    def neighbours(pairs: Pairs) -> int:
        """Return the number of matches that follow another match on both sides."""
        return sum(b == (a[0] + 1, a[1] + 1) for a, b in pairwise(pairs))

    found = best_alignments(words, transcript)
    most = max(map(overlap, found))
    tied = [pairs for pairs in found if overlap(pairs) >= most - TOLERANCE]
    beside = max(map(neighbours, tied))
    best = [dict(pairs) for pairs in tied if neighbours(pairs) == beside]
    earliest = min(best, key=lambda pairs: [(j, i) for i, j in pairs.items()])
    labels = [earliest.get(i, -1) + 1 for i in range(len(words))]
    return labels, len(best) > 1
