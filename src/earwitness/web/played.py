"""Whether sounds were played as a trial asks for: each to its end, and not too often.

A page that says of a play that it ended, though it lasted clearly less than the sound does, is not
believed. Clocks of computers differ a little, and numbers are rounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from earwitness.listening.pages import View
from earwitness.listening.played import Part, ended

SHARE, LEAST = 0.05, 0.05  # of a sound, and seconds, that a play may seem too short by


def unheard(view: View, meta: Mapping[str, Any], seconds: Sequence[float | None] = ()) -> list[str]:
    """What is wrong with how the sounds of a page were played.

    ``seconds`` are how long they last, where that is known.
    """
    if not view.get("sounds") or not view.get("questions"):
        return []
    plays = meta.get("plays", [])
    if not isinstance(plays, list) or not all(isinstance(one, dict) for one in plays):
        return ["plays must be a list of objects"]
    whole = [one for one in plays if not _is_short(one, seconds)]
    return list(_misplayed(view, ended(whole, switching=view["switching"])))


def _is_short(play: Mapping[str, Any], seconds: Sequence[float | None]) -> bool:
    """Whether a play lasted clearly less than its sound does."""
    number, lasted = play.get("sound"), play.get("seconds")
    if not isinstance(number, int) or not 0 <= number < len(seconds):
        return False
    wanted = seconds[number]
    if wanted is None:
        return False
    if isinstance(lasted, bool) or not isinstance(lasted, int | float):
        return True
    return lasted < wanted - max(LEAST, SHARE * wanted)


def _misplayed(view: View, counted: Counter[Part]) -> Iterator[str]:
    names = [""] if view["switching"] else [str(one["name"]) for one in view["questions"]]
    for name in names:
        for number in range(len(view["sounds"])):
            count, where = counted[name, number], f" for {name}" if name else ""
            if not count:
                yield f"sound {number} was not heard to its end{where}"
            elif 0 < view["plays"] < count:
                yield f"sound {number} was played {count} times{where}, not {view['plays']}"
