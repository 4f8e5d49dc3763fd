"""A session in French has no English in it, whatever the kind of its trials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from earwitness.studies.trials import KINDS
from earwitness.studies.wording import PLACEHOLDER, wording
from helpers.http_listener import link, served, take
from helpers.study_files import sound
from helpers.study_listener import about_captions, about_transcripts

SYSTEMS, ITEMS = ("Kestrel", "Osprey"), ("bittern", "curlew", "dunlin", "eider")
STUDY = """\
language: fr
title: Oiseaux
systems: [Kestrel, Osprey]
files: "{{system}}/{{item}}.wav"
reference: Knot
listeners: 1
training: 1
feedback: true
device: [level, sides, huggins, antiphase]
rest_minutes: 0
blocks:
  - kind: {kind}
    clips: 2
"""


def fragments(language: str) -> set[str]:
    """All that a listener can be told on pages, without what is filled in."""
    words = wording(language)
    texts = [*words.pages.values(), *map(words.prompt, words.scales)]
    texts += [label for scale in words.scales for label in words.labels(scale)]
    return {part.strip() for text in texts for part in PLACEHOLDER.split(text)[::2]}


def texts_of(value: Any) -> Iterator[str]:
    """Yield all texts in JSON, without the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_of(one)


@pytest.mark.parametrize("kind", KINDS)
def test_a_french_session_has_no_english_in_it(tmp_path: Path, kind: str) -> None:
    for system in (*SYSTEMS, "Knot", "anchor35", "anchor70"):
        for item in ITEMS:
            sound(tmp_path / system / f"{item}.wav")
    path, text = tmp_path / "study.yaml", STUDY.format(kind=kind)
    if KINDS[kind].transcribed:
        text = about_transcripts(text, tmp_path, SYSTEMS, ITEMS)
    path.write_text(about_captions(text, tmp_path, SYSTEMS) if KINDS[kind].captioned else text)
    shown: list[str] = []

    def record(response: Any) -> None:
        if "json" in response.headers.get("content-type", ""):
            response.read()
            shown.extend(texts_of(response.json()))

    with served(path, str(tmp_path / "store.db")) as client:
        client.event_hooks = {"response": [record]}
        take(client, link(client), hear=True)
    assert len(shown) > 5
    told = "\n".join(shown)
    french, english = fragments("fr"), fragments("en")
    assert any(part in told for part in french if len(part) > 20)
    only_english = {
        part for part in english - french - {"second"} if len(part) > 3
    }  # is French, too
    assert not {part for part in only_english if re.search(rf"\b{re.escape(part)}(?!\w)", told)}
