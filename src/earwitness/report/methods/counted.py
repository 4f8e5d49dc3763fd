"""How many votes were analysed, on which scales and of what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.data import Results, ScaleResults
from earwitness.report.methods.words import ALL, several
from earwitness.report.sentences import listed

DOUBLED = {
    "first": "the first counts",
    "last": "the last counts",
    "mean": "their mean counts",
}

OF_VOTES = ("vote", "missing")  # words of notes that belong into the paragraph


def votes_told(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    rated = [scale for scale in results.scales if scale.systems]
    given = [scale for scale in rated if not _derived(scale)] or rated
    if given:
        votes = sum(r.votes for scale in given for r in scale.systems.values())
        names = listed([_ends(scale) for scale in given], ALL)
        word = "scale" if len(given) == 1 else "scales"
        yield (
            f"{several(votes, 'vote', 'votes')} on the {word} {names} were analysed, for "
            f"{what_rated(rated)}{_items(rated)}."
        )
    follow = [_ends(scale) for scale in rated if scale not in given]
    if follow:
        yield f"{listed(follow, ALL)} {'follows' if len(follow) == 1 else 'follow'} from these."
    if results.doubled:
        yield doubled_told(results)
    yield from (_sentence(note) for note in results.notes if any(w in note for w in OF_VOTES))


def doubled_told(results: Results) -> str:
    """How votes that were given more than once are resolved."""
    rule = DOUBLED.get(results.rule, results.rule)
    what = several(len(results.doubled), "stimulus was", "stimuli were")
    how = f"; of such votes {rule}" if rule else ""
    return f"{what} rated more than once by the same listener on the same scale{how}."


def what_rated(scales: Sequence[ScaleResults]) -> str:
    """How many systems there are, or pairs of them."""
    pairs = {name for scale in scales if in_pairs(scale) for name in scale.systems}
    alone = {name for scale in scales if not in_pairs(scale) for name in scale.systems}
    told = [several(len(alone), "system", "systems")] if alone or not pairs else []
    return listed([*told, *([several(len(pairs), "pair", "pairs")] if pairs else [])])


def in_pairs(scale: ScaleResults) -> bool:
    """Whether pairs stand where systems do: none of them is a system that was compared."""
    named = {name for c in scale.contrasts for name in (c.a, c.b)}
    return bool(named) and not named & {*scale.systems}


def _derived(scale: ScaleResults) -> bool:
    """Whether its numbers follow from votes on another scale."""
    from earwitness.listening.kinds import KINDS

    return any(scale.value.name in kind.derived for kind in KINDS.values())


def _ends(scale: ScaleResults) -> str:
    return f"{scale.value.name} ({scale.value.low:g} to {scale.value.high:g})"


def _items(scales: Sequence[ScaleResults]) -> str:
    each = {r.items for scale in scales for r in scale.systems.values()}
    return f" with {several(each.pop(), 'item', 'items')} each" if len(each) == 1 else ""


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."
