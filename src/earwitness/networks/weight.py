"""How many people stand behind a path: the geometric mean of the shares of its arcs."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, nan

from earwitness.networks.network import START, Network

ROUNDS = 100  # far more than the few that the search for the heaviest path needs


def weight(network: Network, path: Sequence[int], *, boundary: bool) -> float:
    """The geometric mean of C/H over the arcs of a path; with ``boundary`` those at its ends too.

    A path without such an arc has none: NaN.
    """
    arcs = network.arcs(path, boundary=boundary)
    if not arcs:
        return nan
    total = sum(network.logs[arc] for arc in arcs)
    return exp(total / len(arcs) - log(network.people))


def ceiling(network: Network, *, boundary: bool) -> float:
    """The weight of the heaviest path: no summary can have a greater WSumACCY.

    The largest mean of an arc is found by looking for a path whose arcs sum to more than the best
    mean so far would, until there is none.
    """
    mean = -inf
    for _ in range(ROUNDS):
        total, number = _heaviest(network, max(mean, -1e6), boundary=boundary)
        if not number:
            return nan
        better = total / number
        if not better > mean:
            break
        mean = better
    return exp(mean - log(network.people))


def _heaviest(network: Network, mean: float, *, boundary: bool) -> tuple[float, int]:
    """Sum of log counts and number of arcs of the path with the most above the mean.

    Of every node the best way there that has arcs is kept, and the way that has none yet.
    """
    nothing = (0.0, 0.0, 0)
    some: dict[int, tuple[float, float, int]] = {}
    none = {START}
    for node, leading in network.before.items():
        found = []
        for a in leading:
            ways = [way for way in (some.get(a), nothing if a in none else None) if way]
            if not boundary and node == network.end:
                found += [way for way in ways if way[2]]
            elif not boundary and a == START:
                none.add(node)
            else:
                one = network.logs[a, node]
                found += [(way[0] + one - mean, way[1] + one, way[2] + 1) for way in ways]
        if found:
            some[node] = max(found)
    _, total, number = some.get(network.end, nothing)
    return total, number
