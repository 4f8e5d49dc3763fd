"""Which systems are shown to differ by less than a margin, and how small that could be."""

from __future__ import annotations

from math import nan

from earwitness.data import Equivalence
from earwitness.listening.analysis.coded import Coded
from earwitness.listening.analysis.rated import TELLING, against_others, planned
from earwitness.listening.analysis.settings import Settings
from earwitness.stats.correction import CORRECTIONS
from earwitness.stats.equivalence import equivalences
from earwitness.stats.mixed import Fitted


def equivalent(coded: Coded, settings: Settings, fitted: Fitted | None) -> tuple[Equivalence, ...]:
    """Two one-sided tests of every planned pair, by the method of the difference test.

    There are none where systems were rated against others.
    """
    if against_others(coded):
        return ()
    plan, named = settings.plan, planned(coded, settings)
    margin = plan.margins.get(coded.scale, nan)
    found = equivalences(
        coded.votes,
        [one.pair for one in named],
        margin,
        plan.interval,
        level=plan.level,
        draws=settings.draws,
        seed=settings.seed,
        fitted=fitted,
    )
    corrected = CORRECTIONS[plan.correction]([one.p for one in found])
    enough = len({one.listener for one in coded.ratings}) >= TELLING
    return tuple(
        Equivalence(
            *(coded.scale, pair.a, pair.b, one.difference, one.smallest, margin, one.p, p),
            shown=enough and p < 1 - plan.level,
        )
        for pair, one, p in zip(named, found, corrected, strict=True)
    )
