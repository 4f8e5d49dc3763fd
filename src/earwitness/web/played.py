"""Whether sounds were played as a trial asks for: each to its end, and not too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from earwitness.listening.pages import View
from earwitness.listening.played import Part, ended


def unheard(view: View, meta: Mapping[str, Any]) -> list[str]:
    """What is wrong with how the sounds of a page were played."""
    if not view.get("sounds"):
        return []
    plays = meta.get("plays", [])
    if not isinstance(plays, list) or not all(isinstance(one, dict) for one in plays):
        return ["plays must be a list of objects"]
    return list(_misplayed(view, ended(plays, switching=view["switching"])))


def _misplayed(view: View, counted: Counter[Part]) -> Iterator[str]:
    names = [""] if view["switching"] else [str(one["name"]) for one in view["questions"]]
    for name in names:
        for number in range(len(view["sounds"])):
            count, where = counted[name, number], f" for {name}" if name else ""
            if not count:
                yield f"sound {number} was not heard to its end{where}"
            elif 0 < view["plays"] < count:
                yield f"sound {number} was played {count} times{where}, not {view['plays']}"
