"""What is written beside a soundscape: labels, truth, and the reasons of a practice folder."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from earwitness.soundscapes import Scene, Truth
from earwitness.soundscapes.practice import Example
from earwitness.soundscapes.truth import BACKGROUND

FULL = "full-length"
CLOSE = 1e-9  # of an hour: times so close to the next one belong to it
INTRODUCTION = """\
A skim is a short piece of sound that stands for a long one. Two things make it good:

- **TC**, temporal consistency: what is most present in each hour of the day is heard, in the order
  of the day. Time need not pass evenly.
- **SD**, source diversity: of the sources that sound in the day, many are heard.

Listen to each skim beside the day, and read why it is where it is. TC and SD are true values: they
are computed from when each source sounds, which is known, since the day was made. Both go from 0 to
1; the most that a skim of this length can have is below 1 in most days.
"""


def labels_csv(scene: Scene, hour_gap: float = 0.0) -> str:
    """When each source sounds, in seconds of the sound.

    With silences between hours, which are in the sound but on no clock, that of the clock stands
    behind it. An event that goes on over such a silence has it inside.
    """
    both = hour_gap > 0
    head = ["start", "end", "source", *(["clock_start", "clock_end"] if both else [])]
    rows = []
    for event in scene.events:
        clock = event.start, event.end
        sound = _in_sound(scene, hour_gap, *clock) if both else clock
        rows.append([*_told_seconds(sound), event.source, *(_told_seconds(clock) if both else [])])
    return _csv(head, rows)


def _told_seconds(times: tuple[float, float]) -> list[str]:
    return [f"{time:.3f}" for time in times]


def _in_sound(scene: Scene, gap: float, start: float, end: float) -> tuple[float, float]:
    """From the clock to the sound: what begins with an hour follows its silence, what ends with
    one comes before that of the next."""
    before = math.floor(start / scene.hour + CLOSE), math.ceil(end / scene.hour - CLOSE) - 1
    return start + before[0] * gap, end + max(before) * gap


def picks_csv(example: Example) -> str:
    """Where the picks of a skim are in the day, in the order in which they are heard."""
    rows = ([f"{pick.start:.3f}", f"{pick.seconds:.3f}"] for pick in example.skim.picks)
    return _csv(["start", "seconds"], rows)


def truth_json(scene: Scene, hour_gap: float = 0.0) -> str:
    """The sources of the day with their seconds, and what is present in every hour.

    All of it is told on the clock; of silences between hours it says how long they are.
    """
    truth = Truth(scene.events)
    starts = [float(one) for one in np.arange(0, scene.seconds - 1e-9, scene.hour)]
    ends = [min(one + scene.hour, scene.seconds) for one in starts]
    whole = truth.seconds([0.0], [scene.seconds])[0]
    names = (*truth.sources, BACKGROUND)
    return _json(
        {
            "title": scene.name,
            "seed": scene.seed,
            "seconds": scene.seconds,
            "hour": scene.hour,
            **({"hour_gap": hour_gap} if hour_gap else {}),
            "rate": scene.rate,
            "sources": _rounded(truth.sources, whole, 3),
            "hours": [_rounded(names, row, 6) for row in truth.presence(starts, ends)],
        }
    )


def practice_json(examples: Sequence[Example], form: str) -> str:
    """All skims with their times, places and reasons."""
    return _json({"skims": [_told(n, one, form) for n, one in enumerate(examples, 1)]})


def _told(number: int, example: Example, form: str) -> dict[str, Any]:
    return {
        "skim": number,
        "title": example.title,
        "audio": f"{number}{form}",
        "overlap": example.skim.overlap,
        "picks": [[pick.start, pick.seconds] for pick in example.skim.picks],
        "tc": round(example.tc, 6),
        "sd": round(example.sd, 6),
        "heard": list(example.heard),
        "reason": example.reason,
    }


def reasons_text(scene: Scene, examples: Sequence[Example]) -> str:
    """For people who learn what TC and SD are."""
    lines = [f"# {scene.name}: seven skims of a day", INTRODUCTION, _plane(examples)]
    for number, one in enumerate(examples, 1):
        lines += [f"## {number}: {one.title}", one.reason, f"Heard: {', '.join(one.heard)}."]
    return "\n\n".join(line.strip("\n") for line in lines) + "\n"


def _plane(examples: Sequence[Example]) -> str:
    rows = [f"| {n} | {e.title} | {e.tc:.2f} | {e.sd:.2f} |" for n, e in enumerate(examples, 1)]
    return "\n".join(["| skim | | TC | SD |", "| --: | :-- | --: | --: |", *rows])


def _rounded(names: Sequence[str], values: Iterable[float], digits: int) -> dict[str, float]:
    return {name: round(float(one), digits) for name, one in zip(names, values, strict=True)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()
