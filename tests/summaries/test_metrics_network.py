"""The word network that summarization accuracy draws of an item."""

from __future__ import annotations

from earwitness.core import Case, Item, Key, Summary
from earwitness.summaries.metrics import KeptWords, SummarizationAccuracy, draw_network

SAID = ("it", "rains", "a", "lot")


def summary(*positions: int) -> Summary:
    words = tuple(SAID[position - 1] for position in positions)
    return Summary(" ".join(words), words, positions)


def test_the_network_has_all_outputs_and_all_people_of_an_item() -> None:
    people = {"a": summary(1, 2), "b": summary(2, 4)}
    case = Case(Key("item", "s"), Item(9.0, words=SAID), summary(1, 2), tuple(people.values()))
    metrics = (KeptWords(), SummarizationAccuracy())
    drawn = draw_network(metrics, {"s": case, "t": case}, people)
    assert drawn is not None
    assert drawn.targets == {"s": (1, 2), "t": (1, 2)}
    assert drawn.people == {"a": (1, 2), "b": (2, 4)}
    assert draw_network(metrics[:1], {"s": case}, people) is None
