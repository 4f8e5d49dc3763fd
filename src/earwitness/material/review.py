"""HTML page that plays clips and records which ones to keep, and why others are dropped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from earwitness.report.html.elements import (
    SCRIPT_POLICY,
    Html,
    breakable,
    data_element,
    element,
    html_document,
    page_style,
    script_element,
)

POLICY = f"{SCRIPT_POLICY}; media-src 'self' file:"
DROP_REASONS = (
    "no speech",
    "other language",
    "private content",
    "noise only",
    "cut word",
    "other",
)
FILTERS = {"all": "All", "open": "Not reviewed", "keep": "Kept", "drop": "Dropped"}
KEYS = {
    "Space": "play or pause",
    "K": "keep",
    "D": "drop",
    f"1–{len(DROP_REASONS)}": "drop with a reason",
    "U": "undo the decision",
    "← →": "previous and next clip",
}


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
    return html_document(
        f"{title}: review of clips",
        _header(title, len(clips)),
        element("main", _clip_section(), _list_section(), id="review"),
        data_element("clips", _clip_data(clips), ensure_ascii=False),
        script_element("material", "review.js"),
        policy=POLICY,
        style=page_style("material", "review.css"),
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


def _header(title: str, count: int) -> Html:
    progress = element(
        "div",
        element("p", f"0 of {count} reviewed", class_="count", role="status"),
        element("progress", max=count, value="0", aria_label="Reviewed clips"),
        element("p", "", class_="tally"),
        class_="progress",
    )
    actions = element(
        "div",
        element("button", "Export review.csv", type="button", class_="export main"),
        element(
            "label",
            "Import review.csv",
            element("input", type="file", accept=".csv,text/csv", class_="import"),
        ),
        class_="actions",
    )
    heading = element("h1", element("span", "Review of clips "), element("small", breakable(title)))
    message = element("p", "", class_="message", role="alert", hidden=True)
    return element("header", heading, progress, actions, message)


def _clip_section() -> Html:
    """Return the current clip: waveform, player, decision, reasons and facts."""
    title = element(
        "div",
        element("p", "", class_="place"),
        element("h2", "", class_="name"),
        element("p", "", class_="state", role="status"),
        class_="title",
    )
    return element(
        "section",
        title,
        _waveform(),
        _player(),
        _decision(),
        element("dl", class_="facts"),
        class_="clip",
        aria_label="Current clip",
    )


def _waveform() -> Html:
    picture = element(
        "div",
        element("svg", class_="wave", viewBox="0 0 100 100", preserveAspectRatio="none"),
        element("i", class_="cursor"),
        class_="picture",
        aria_hidden="true",
    )
    axis = element("div", class_="axis", aria_hidden="true")
    legend = element("p", element("i"), "speech", class_="key-speech")
    return element("div", picture, axis, legend, class_="sound")


def _player() -> Html:
    sign = element("span", aria_hidden="true")
    slider = element(
        "input", type="range", min="0", max="1", step="0.01", value="0", aria_label="Position"
    )
    goes_on = element(
        "label",
        element("input", type="checkbox", checked=True, class_="auto"),
        "Play the next clip after a decision",
    )
    return element(
        "div",
        element("audio", preload="auto"),
        element("button", sign, class_="play", aria_label="Play", type="button"),
        element("div", slider, element("p", "", class_="told"), class_="way"),
        goes_on,
        class_="player",
    )


def _decision() -> Html:
    def button(name: str, text: str, key: str) -> Html:
        kbd = element("kbd", key, aria_hidden="true")
        return element("button", f"{text} ", kbd, type="button", class_=name, aria_pressed="false")

    reasons = [
        element(
            "label",
            element("input", type="radio", name="reason", value=reason),
            element("span", f"{reason} ", element("kbd", str(number), aria_hidden="true")),
        )
        for number, reason in enumerate(DROP_REASONS, 1)
    ]
    note = element(
        "label",
        "Details of another reason",
        element("input", type="text", class_="note", maxlength="200", autocomplete="off"),
        class_="other",
        hidden=True,
    )
    steps = [
        element("button", "← Previous", type="button", class_="previous"),
        element("button", "Undo", type="button", class_="undo"),
        element("button", "Next →", type="button", class_="next"),
    ]
    return element(
        "div",
        element("div", button("keep", "Keep", "K"), button("drop", "Drop", "D"), class_="choices"),
        element(
            "fieldset",
            element("legend", "Reason for dropping"),
            element("div", *reasons, class_="chips"),
            note,
        ),
        element("div", *steps, class_="steps"),
        class_="decision",
    )


def _list_section() -> Html:
    options = [element("option", text, value=value) for value, text in FILTERS.items()]
    chosen = element("label", "Show ", element("select", *options, class_="show"))
    keys = [
        part for key, text in KEYS.items() for part in (element("dt", key), element("dd", text))
    ]
    return element(
        "section",
        element("div", element("h2", "Clips"), chosen, class_="bar"),
        element("ol", class_="clips"),
        element("p", "No clips.", class_="none", hidden=True),
        element("details", element("summary", "Keys"), element("dl", *keys, class_="keys")),
        class_="all",
        aria_label="All clips",
    )
