"""How long a listener is busy, step by step."""

from __future__ import annotations

from earwitness.data import Study
from earwitness.listening.kinds import KINDS

Step = tuple[str, str, float]  # what, how it comes about, minutes


def minutes(study: Study) -> list[Step]:
    """Hearing, rating, rests, and their sum."""
    scales = len(KINDS[study.kind].scales)
    ratings = study.clips * len(study.systems) * scales
    seconds = sum(clip.seconds for clip in study.material) / len(study.material)
    rests = study.sessions - 1
    told = f"{study.clips} clips × {len(study.systems)} systems × {scales} scales = {ratings}"
    steps = [
        ("hearing", f"{told} × {seconds:.1f} s", ratings * seconds / 60),
        ("rating", f"{ratings} × {study.rating_seconds:g} s", ratings * study.rating_seconds / 60),
        ("resting", f"{rests} × {study.rest_minutes:g} min", rests * study.rest_minutes),
    ]
    return [*steps, ("in all", "", sum(value for _, _, value in steps))]


def clips_for(study: Study, limit: float) -> int:
    """The most clips that a listener can rate in so many minutes; 0 if there is no time for one."""
    scales = len(KINDS[study.kind].scales)
    seconds = sum(clip.seconds for clip in study.material) / len(study.material)
    each = len(study.systems) * scales * (seconds + study.rating_seconds) / 60
    left = limit - (study.sessions - 1) * study.rest_minutes
    return max(0, int(left / each + 1e-9))
