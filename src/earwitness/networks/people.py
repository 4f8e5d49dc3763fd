"""Costs that also tell how many people stand behind a path, roughly.

What a step costs is multiplied so that there is room for the log counts of all arcs of a path,
rounded down to whole numbers. Paths with the best sum then cost the least but for what rounding
takes: ``slack``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log

from earwitness.networks.costs import Costs
from earwitness.networks.distances import LARGE
from earwitness.networks.network import WHOLE, Network
from earwitness.networks.optimal import SAME
from earwitness.networks.summary import Summary


@dataclass(frozen=True)
class People:
    """Costs of a network without arcs that nobody took, and the same with gains."""

    network: Network
    summary: Summary
    plain: Costs

    @cached_property
    def arcs(self) -> int:
        """The most arcs of a path."""
        return self.network.longest + 1

    @cached_property
    def one(self) -> int:
        """What a log of 1 is, as large as 64 bits admit."""
        room = LARGE // self.steps // (self.plain.most + 1) - 2
        return max(0, int((room / self.arcs - 4) / (log(max(self.network.counts.values())) + 0.01)))

    @property
    def steps(self) -> int:
        """No path beside the summary has more."""
        return self.summary.words + len(self.network.before) + 2

    @property
    def fits(self) -> bool:
        """Whether 64 bits hold all costs."""
        return self.costs.most * self.steps < LARGE

    @cached_property
    def gains(self) -> dict[int, int]:
        """Logs of all counts, rounded down."""
        return {count: int(log(count) * self.one) for count in set(self.network.counts.values())}

    @property
    def slack(self) -> int:
        """What rounding takes from a path at most, and what the same sums may differ by."""
        return self.arcs + SAME * self.one // WHOLE + 2

    @cached_property
    def times(self) -> int:
        """What costs are multiplied by: more than all gains of a path and the slack."""
        return self.arcs * max(self.gains.values()) + self.slack + 1

    @property
    def costs(self) -> Costs:
        """With gains."""
        match, wrong, extra = self.plain.match, self.plain.wrong, self.plain.extra
        times = self.times
        return Costs(match * times, wrong * times, extra * times, self.gains, times)

    def cost(self, least: int) -> int:
        """The cost without gains of a path that costs the least with them."""
        return -(-least // self.times)
