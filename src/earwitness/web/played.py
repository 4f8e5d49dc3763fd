"""Whether sounds were played as a trial asks for: each to its end, and not too often.

Where sounds come one after the other, they are heard for every question; where one may switch
between them, for the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from earwitness.listening.pages import View


def unheard(view: View, meta: Mapping[str, Any]) -> list[str]:
    """What is wrong with how the sounds of a page were played."""
    if not view.get("sounds"):
        return []
    plays = meta.get("plays", [])
    if not isinstance(plays, list) or not all(isinstance(one, dict) for one in plays):
        return ["plays must be a list of objects"]
    return list(_misplayed(view, _ended(view, plays)))


def _ended(view: View, plays: list[dict[str, Any]]) -> Counter[tuple[str, int]]:
    """How often each sound was played to its end, for each question where that matters."""
    by_question = not view["switching"]
    return Counter(
        (str(one.get("question")) if by_question else "", one["sound"])
        for one in plays
        if one.get("ended") is True and isinstance(one.get("sound"), int)
    )


def _misplayed(view: View, ended: Counter[tuple[str, int]]) -> Iterator[str]:
    names = [""] if view["switching"] else [str(one["name"]) for one in view["questions"]]
    for name in names:
        for number in range(len(view["sounds"])):
            count, where = ended[name, number], f" for {name}" if name else ""
            if not count:
                yield f"sound {number} was not heard to its end{where}"
            elif 0 < view["plays"] < count:
                yield f"sound {number} was played {count} times{where}, not {view['plays']}"
