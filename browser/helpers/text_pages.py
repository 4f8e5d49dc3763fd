"""Pages and small studies about transcripts: words that are kept, and summaries that are rated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from browser.helpers.fake_server import FakeServer, tone
from browser.helpers.real_server import CLIPS, SYSTEMS, signed
from browser.helpers.study_pages import end

from earwitness.studies.study import SpokenText, Trial
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.words import ReadingKind, WordsKind
from earwitness.studies.wording import wording

SENTENCE = "the beautiful cherry blossoms in Japan bloom in spring this year"
WORDS = tuple(SENTENCE.split())
SUMMARIES = ("cherry blossoms bloom in spring", "the beautiful blossoms in Japan")
SPOKEN = "well {item} flies over the sea in autumn and comes back when spring begins"
STUDY = """\
title: Small texts
seed: 3
systems: {systems}
transcripts: texts.jsonl
listeners: 2
blocks:
  - kind: {kind}
    clips: 2
    parameters: {parameters}
{more}"""


def words_trial(
    words: tuple[str, ...] = WORDS, seconds: float = 0, **parameters: Any
) -> FakeServer:
    """A study with one transcript; its words are heard one after the other, for ``seconds``."""
    each = seconds / len(words)
    times = tuple((n * each, (n + 0.9) * each) for n in range(len(words))) if seconds else ()
    options = {"audio": bool(seconds), "ratio": 0.4, "tolerance": 0.1, **parameters}
    kind = WordsKind(**options).with_transcript(SpokenText(words, times))
    trial = Trial("item", ("original",), ("KEPT",))
    view = kind.view(trial, wording("en"), lambda *_: "/l/tok/sound/1.1/0")
    fake = FakeServer([{**view, "name": "1.1", "title": "Words", "progress": [1, 1]}, end()])
    fake.sound = tone(seconds) if seconds else fake.sound
    return fake


def reading_trial(
    words: tuple[str, ...] = WORDS,
    summaries: tuple[str, ...] = SUMMARIES,
    language: str = "en",
    seconds: float = 0,
) -> FakeServer:
    """A study with one original, which may be heard for ``seconds``, and its summaries."""
    kind = ReadingKind(audio=bool(seconds)).with_transcript(SpokenText(words))
    wrote = dict(zip(LETTERS, summaries, strict=False))
    trial, address = Trial("item", tuple(wrote), ("READING",)), "/l/tok/sound/1.1/0"
    view = kind.view(
        trial, wording(language), lambda *_: address, caption=lambda _, system: wrote[system]
    )
    shown = {**view, "name": "1.1", "title": "Reading", "progress": [1, 1]}
    fake = FakeServer([shown, end()], language)
    fake.sound = tone(seconds) if seconds else fake.sound
    return fake


def write_words(folder: Path, study: Path, language: str) -> None:
    """A study in which words are kept while they are heard."""
    del language
    _write_texts(folder)
    for number, clip in enumerate(CLIPS):
        path = folder / "audio" / f"{clip}.wav"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(signed(tone(2.0, 300 + 50 * number), clip))
    options = "{audio: true, ratio: 0.5, tolerance: 0.2}"
    more = 'files: "audio/{item}.wav"\n'
    study.write_text(
        STUDY.format(systems="[original]", kind="words", parameters=options, more=more)
    )


def write_reading(folder: Path, study: Path, language: str) -> None:
    """A study in which summaries are read and rated."""
    del language
    _write_texts(folder)
    outputs = [
        {"item": clip, "system": system, "output": {"positions": positions}}
        for clip in CLIPS
        for system, positions in zip(SYSTEMS, ([3, 4, 5, 6], [9, 10, 11, 12]), strict=True)
    ]
    (folder / "outputs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in outputs))
    systems = f"[{', '.join(SYSTEMS)}]"
    more = "summaries: outputs.jsonl\n"
    study.write_text(STUDY.format(systems=systems, kind="reading", parameters="{}", more=more))


def _write_texts(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, clip in enumerate(CLIPS):
        words = SPOKEN.format(item=f"bird{number}").split()
        each = 2.0 / len(words)
        timed = [
            [word, round(n * each, 3), round((n + 1) * each, 3)] for n, word in enumerate(words)
        ]
        lines.append(json.dumps({"item": clip, "words": timed}))
    (folder / "texts.jsonl").write_text("\n".join(lines) + "\n")
