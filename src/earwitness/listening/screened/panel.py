"""Rules that hold a listener against the panel: P.808 and BT.500."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from earwitness.data import Key, Rating, Screened, Who
from earwitness.listening.screened.found import Found, Roles, by_listener, by_scale, told
from earwitness.stats.exact import Floats
from earwitness.stats.listeners import beside_others
from earwitness.stats.rejection import rejection


def p808(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> Found:
    """Variance of a listener's ratings, and their correlation with the mean of the others."""
    del roles
    entries = []
    for scale, own in by_scale(ratings).items():
        table, listeners = _table(own)
        correlations = beside_others(table).correlation.tolist()
        for n, who in enumerate(listeners):
            votes = table[~np.isnan(table[:, n]), n]
            variance = float(votes.var(ddof=1)) if len(votes) > 1 else float("nan")
            entries.append(_varied(who, scale, variance, correlations[n], limits))
    return Found(entries, _unjudged(entries))


def _varied(
    who: Who, scale: str, variance: float, correlation: float, limits: Mapping[str, float]
) -> Screened:
    """An undefined figure leaves nobody out: that of a constant listener is their variance."""
    kept = not (variance < limits["variance"] or correlation < limits["correlation"])
    figures = (
        f"variance {told(variance)} (at least {limits['variance']:g}), "
        f"correlation {told(correlation)} (at least {limits['correlation']:g})"
    )
    return Screened(who, "p808", scale, figures, kept)


def _unjudged(entries: Sequence[Screened]) -> list[str]:
    count = sum(one.kept and "undefined" in one.figures for one in entries)
    return [f"{count} kept with an undefined figure"] if count else []


def bt500(ratings: Sequence[Rating], limits: Mapping[str, float], roles: Roles) -> Found:
    """Votes outside those of the panel, and how one-sided they are."""
    del roles
    entries = []
    for scale, own in by_scale(ratings).items():
        table, listeners = _table(own)
        found = rejection(table, outside=limits["outside"], one_side=limits["one_side"])
        judged = zip(listeners, *(column.tolist() for column in found), strict=True)
        for who, votes, above, below, rejected in judged:
            side = abs(above - below) / (above + below) if above + below else float("nan")
            figures = (
                f"{above} above and {below} below of {votes}: {told((above + below) / votes)} "
                f"outside (at most {limits['outside']:g}), one-sidedness {told(side)} "
                f"(at least {limits['one_side']:g})"
            )
            entries.append(Screened(who, "bt500", scale, figures, not rejected))
    return Found(entries)


def _table(ratings: Sequence[Rating]) -> tuple[Floats, list[Who]]:
    """A row a stimulus (or a pair of them), a column a listener; of doubled votes the last."""
    listeners = list(by_listener(ratings))
    column = {who: n for n, who in enumerate(listeners)}
    row: dict[tuple[Key, Key | None], int] = {}
    for rating in ratings:
        row.setdefault((rating.key, rating.against), len(row))
    found = np.full((len(row), len(column)), np.nan)
    for rating in ratings:
        found[row[rating.key, rating.against], column[rating.listener]] = rating.value
    return found, listeners
