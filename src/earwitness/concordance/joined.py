"""Scores beside votes on the same outputs, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from earwitness.concordance.misnamed import hint
from earwitness.data import Key, Rating, Score
from earwitness.errors import UsageError
from earwitness.listening.analysis.choices import are_choices
from earwitness.listening.analysis.coded import coded
from earwitness.stats.concord.levels import Grid, value
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Votes

SHOWN = 3  # names in a message


@dataclass(frozen=True)
class Metric:
    """A column of scores: what it is called, which end is good, whether it is a baseline."""

    name: str
    low_is_good: bool = False
    baseline: bool = False


@dataclass(frozen=True)
class Joined:
    """Outputs that have both scores and ratings, on one scale.

    ``scores`` are metrics × systems × items with high scores good, NaN where there is none;
    ``paired`` are ratings that choose between two systems, in place of votes on one.
    """

    scale: str
    metrics: tuple[Metric, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    scores: Floats
    votes: Votes
    ratings: tuple[Rating, ...]
    paired: bool
    notes: tuple[str, ...] = ()


def joined(
    scores: Sequence[Score],
    metrics: Sequence[Metric],
    ratings: Sequence[Rating],
    scale: str,
    systems: Sequence[str] = (),
) -> Joined:
    """Scores and ratings of a scale with the same keys."""
    own = [one for one in ratings if one.scale == scale]
    paired = are_choices(own) or _among_several(own)
    rated = {key for one in own for key in (one.key, one.against if paired else None) if key}
    scored = {one.key for one in scores}
    both = rated & scored
    if not both:
        raise UsageError(
            f"{scale}: no output has both scores and ratings — {_apart(rated, scored)}"
        )
    kept = [one for one in own if one.key in both and (not paired or one.against in both)]
    names = _in_order([key.system for key in both], systems)
    code = coded([replace(one, against=None) for one in kept], scale, names)
    items = tuple(sorted({key.item for key in both})) if paired else code.items
    found = tuple(names) if paired else code.systems
    return Joined(
        scale,
        tuple(metrics),
        found,
        items,
        table_of(scores, metrics, found, items),
        code.votes,
        tuple(kept),
        paired,
        _notes(rated, scored, both),
    )


def with_turned(own: Joined, people: Floats) -> Joined:
    """Baselines that go against people are turned round: they have no good end of their own."""
    found = value(Grid(own.scores, people), "system", ["spearman"]).value[0]
    turned = [
        one.baseline and found[n] < 0 and not one.low_is_good for n, one in enumerate(own.metrics)
    ]
    signs = np.where(turned, -1.0, 1.0)[:, None, None]
    metrics = tuple(
        replace(one, low_is_good=True) if turn else one
        for one, turn in zip(own.metrics, turned, strict=True)
    )
    return replace(own, metrics=metrics, scores=own.scores * signs)


def _among_several(ratings: Sequence[Rating]) -> bool:
    """Whether outputs are rated against different others."""
    return len({one.against.system for one in ratings if one.against}) > 1


def _in_order(names: Sequence[str], known: Sequence[str]) -> list[str]:
    seen = {*names}
    return [*(one for one in known if one in seen), *sorted(seen - {*known})]


def table_of(
    scores: Sequence[Score], metrics: Sequence[Metric], systems: Sequence[str], items: Sequence[str]
) -> Floats:
    """Metrics × systems × items, high scores good."""
    number = {one.name: n for n, one in enumerate(metrics)}
    row = {name: n for n, name in enumerate(systems)}
    column = {name: n for n, name in enumerate(items)}
    found = np.full((len(metrics), len(systems), len(items)), np.nan)
    for one in scores:
        key = one.key
        if one.metric in number and key.system in row and key.item in column:
            found[number[one.metric], row[key.system], column[key.item]] = one.value
    turned = np.array([-1.0 if one.low_is_good else 1.0 for one in metrics])
    return np.asarray(found * turned[:, None, None])


def _apart(rated: set[Key], scored: set[Key]) -> str:
    """What both sides are called, where they have nothing in common."""
    for name in ("system", "item"):
        ours = {getattr(key, name) for key in rated}
        theirs = {getattr(key, name) for key in scored}
        if not ours & theirs:
            told = f"{name}s are called {_some(ours)} in ratings, {_some(theirs)} in scores"
            return "; ".join(part for part in (told, hint(name, ours, theirs)) if part)
    return "items and systems are the same, but never together"


def _some(names: set[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in sorted(names)[:SHOWN])
    return f"{shown}, …" if len(names) > SHOWN else shown


def _notes(rated: set[Key], scored: set[Key], both: set[Key]) -> tuple[str, ...]:
    found = []
    for what, own, lack in (("rated", rated, "score"), ("scored", scored, "rating")):
        lost = own - both
        if lost:
            systems = {key.system for key in lost} - {key.system for key in both}
            whole = f", among them all of {_some(systems)}" if systems else ""
            found.append(f"{len(lost):,} of {len(own):,} {what} outputs have no {lack}{whole}")
    for name in ("system", "item"):
        sides = ({getattr(key, name) for key in own} for own in (rated, scored))
        found += [told for told in [hint(name, *sides)] if told]
    return tuple(found)
