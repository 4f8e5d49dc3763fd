"""HTML page that plays clips and records which ones to keep, and why others are dropped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from earwitness.report.html.elements import (
    breakable,
    data_element,
    element,
    join_elements,
    static_page,
)

DROP_REASONS = (
    "no speech",
    "other language",
    "private content",
    "noise only",
    "cut word",
    "other",
)


class ReviewClip(NamedTuple):
    """A clip of the review: speech in seconds from its start, waveform, and facts to show."""

    name: str
    seconds: float
    spans: Sequence[tuple[float, float]] = ()
    peaks: Sequence[int] = ()
    facts: Mapping[str, str] = {}


def review_page(clips: Sequence[ReviewClip], title: str = "clips") -> str:
    """Return a page that reviews clips, whose files are in the folder ``audio`` next to it.

    Parameters
    ----------
    clips
        The clips. ``peaks`` are magnitudes from 0 to 100 at equal distances.
    title
        Name of the folder of clips.

    Returns
    -------
    str
        An HTML document that loads nothing but these files. The browser stores decisions under a
        hash of all clips, so those of another folder are not mixed with them.
    """
    reasons = (
        element(
            "label",
            element("input", type="radio", name="reason", value=reason),
            element("span", f"{reason} ", element("kbd", str(number), aria_hidden="true")),
        )
        for number, reason in enumerate(DROP_REASONS, 1)
    )
    values = {
        "title": breakable(title),
        "count": len(clips),
        "reasons": join_elements(reasons),
        "last_reason": len(DROP_REASONS),
    }
    return static_page(
        "material",
        "review",
        f"{title}: review of clips",
        values,
        data_element("clips", _clip_data(clips), ensure_ascii=False),
        media="media-src 'self' file:",
    )


def _clip_data(clips: Sequence[ReviewClip]) -> dict[str, Any]:
    """Return the clips for the script."""
    rows = [
        {
            "name": clip.name,
            "seconds": round(clip.seconds, 3),
            "spans": [[round(start, 3), round(end, 3)] for start, end in clip.spans],
            "peaks": list(clip.peaks),
            "facts": list(map(list, clip.facts.items())),
        }
        for clip in clips
    ]
    key = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    return {"key": key, "reasons": DROP_REASONS, "clips": rows}
