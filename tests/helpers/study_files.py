"""Studies that several tests share."""

from __future__ import annotations

import random
import wave
from dataclasses import replace
from pathlib import Path
from typing import Any

from earwitness.studies.study import Clip, SpokenText, Study, StudyBlock
from earwitness.studies.trials import KINDS

SESSIONS = ["S01"] * 112 + ["S21"] * 108
LOCATIONS = ["dining"] * 77 + ["living"] * 70 + ["kitchen"] * 73
SEXES = ["FM"] * 169 + ["F"] * 25 + ["M"] * 26
SYSTEMS = ("C0", "C1", "C2", "C3", "C4")
OF_BLOCKS = ("kind", "systems", "clips", "sessions", "heard", "seconds", "parameters")


def material(seed: int = 1) -> tuple[Clip, ...]:
    """220 clips with the margins of the UDASE listening test."""
    rng = random.Random(seed)
    columns = [list(column) for column in (SESSIONS, LOCATIONS, SEXES)]
    for column in columns:
        rng.shuffle(column)
    return tuple(
        Clip(f"clip{n}", 4.5, {"session": a, "location": b, "sex": c, "snr": rng.gauss(5, 5)})
        for n, (a, b, c) in enumerate(zip(*columns, strict=True))
    )


def udase(**more: Any) -> Study:
    """The UDASE listening test, or one like it."""
    block = {"kind": "p835", "systems": SYSTEMS, "clips": 32, "sessions": 4}
    block |= {key: more.pop(key) for key in OF_BLOCKS if key in more}
    block.setdefault("heard", len(block["systems"]))  # type: ignore[arg-type]
    study: dict[str, Any] = {
        "title": "UDASE",
        "seed": 1,
        "material": material(),
        "blocks": (StudyBlock(**block),),  # type: ignore[arg-type]
        "panels": 4,
        "listeners": 32,
        "categories": ("session", "location", "sex"),
        "numbers": ("snr",),
    }
    study |= more
    if KINDS[str(block["kind"])].transcribed:
        text = SpokenText(("it", "rains", "a", "lot", "in", "spring"))
        study["material"] = tuple(replace(clip, transcript=text) for clip in study["material"])
    return Study(**study)


def sound(path: Path, seconds: float = 0.1) -> None:
    """A WAV file that is not silent, with the same samples for every name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(1000)
        file.writeframes(b"\0\x08" * round(1000 * seconds))
