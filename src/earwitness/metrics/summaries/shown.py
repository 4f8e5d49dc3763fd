"""An output below the path of the network that it is closest to, for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from earwitness.data import Alignment, Case, Pair
from earwitness.networks import START, Network, Step, Target


def position_of(case: Case, place: int | None) -> int | None:
    """Where a word of an output stands: 0 if it was not said, None if nobody knows."""
    known = case.output.positions
    return None if known is None or place is None else int(known[place])


def shown_steps(case: Case, network: Network, target: Target, steps: Sequence[Step]) -> Alignment:
    """Words with S, D or I, and how many people went to this word from the last.

    The number behind the last word is that of the people who ended there.
    """
    came = dict(zip(target.path, pairwise((START, *target.path)), strict=True))
    pairs = []
    for step in steps:
        wanted = "" if step.position is None else case.item.words[step.position - 1]
        given = "" if step.place is None else case.output.words[step.place]
        place = position_of(case, step.place)
        if place == 0:
            given += "?"
        elif place and step.mark == "S" and wanted == given:  # the same word elsewhere
            wanted, given = f"{wanted}[{step.position}]", f"{given}[{place}]"
        people = None if step.position is None else network.counts[came[step.position]]
        pairs.append(Pair(wanted, given, step.mark, people))
    pairs.append(Pair("</s>", "</s>", "", network.counts[target.path[-1], network.end]))
    kinds = [step.mark for step in steps]
    wrong = sum(label == 0 for label in case.output.positions or ())
    told = (
        f"accuracy {target.accuracy:.3f} = ({len(target.path)} - {target.edits}) / "
        f"{len(target.path)}: {kinds.count('S')} replaced, {kinds.count('D')} missing, "
        f"{kinds.count('I')} too many; {wrong} not said; {network.people} people"
    )
    return Alignment(tuple(pairs), "PATH", told)
