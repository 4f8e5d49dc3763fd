"""Files that commands of the snapshot need: sounds, workbooks, studies."""

from __future__ import annotations

import io
import re
import wave
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import openpyxl

RATE = 8_000
HEAD = (
    "No.",
    "Record ID",
    "Caption",
    "text",
    "Precision",
    "Recall",
    "Fluency",
    "Conciseness",
    "Irrelevance",
    "synthesized?",
    "Comments",
)
STUDY = """\
title: Taking part
systems: [C0, C1]
files: "{{system}}/{{item}}.wav"
reference: ref
listeners: 6
training: 1
rest_minutes: 0
instructions: Listen well.
consent: I may stop at any time.
forms:
  before:
    - {{name: age, prompt: "Your age?", answer: number}}
    - {{name: ears, prompt: "Ears?", answer: choice, options: [two, one]}}
  after:
    - {{name: remarks, prompt: "Anything else?", needed: false}}
blocks:
  - kind: {kind}
    clips: 3
    sessions: 1
"""
CAPTIONS = """\
title: Captions
systems: [person, model]
files: "clips/{item}.wav"
material: clips.csv
captions: captions.csv
juries: {experts: 2, lay: 2}
rest_minutes: 0
blocks:
  - kind: rubric
    sessions: 2
    parameters: {group: dataset, synthesised: true}
analysis:
  margins: {total: 0.5}
"""


def sound(seconds: float = 0.25, seed: int = 0, rate: int = RATE) -> bytes:
    """A WAV file of noise."""
    samples = np.random.default_rng(seed).uniform(-0.3, 0.3, round(seconds * rate))
    held = io.BytesIO()
    with wave.open(held, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples * 32767).astype("<i2").tobytes())
    return held.getvalue()


def sounds(
    folder: str, systems: Sequence[str], items: Sequence[str], rate: int = RATE
) -> dict[str, bytes]:
    """A sound of every item, in a folder for every system."""
    names = [f"{folder}/{system}/{item}.wav" for system in systems for item in items]
    return {name: sound(seed=number, rate=rate) for number, name in enumerate(names)}


def captions(items: int = 4) -> str:
    """What both sources wrote."""
    rows = [
        f'c{n},{system},"Sound {n}, as {system} hears it."'
        for n in range(items)
        for system in ("person", "model")
    ]
    return "\n".join(["item,system,caption", *rows]) + "\n"


def captioned(folder: str, items: int = 4) -> dict[str, str | bytes]:
    """A study of captions with all that it names."""
    rows = [f"c{n},{'street' if n % 2 else 'park'}" for n in range(items)]
    return {
        f"{folder}/study.yaml": CAPTIONS,
        f"{folder}/clips.csv": "\n".join(["name,dataset", *rows]) + "\n",
        f"{folder}/captions.csv": captions(items),
        **{f"{folder}/clips/c{n}.wav": sound(seed=n) for n in range(items)},
    }


def filled(name: str, change: Mapping[str, Any] | None = None) -> Callable[[Path], bytes]:
    """A workbook that was written before, as a rater sends it back; some cells may be changed."""

    def fill(folder: Path) -> bytes:
        book = openpyxl.load_workbook(folder / name)
        sheet = book["Assessment"]
        for row in range(2, sheet.max_row + 1):
            text = sheet.cell(row, 4).value
            if isinstance(text, str) and text.startswith("Sound"):
                good = 4.5 if "person" in text else 3
                values = [good, good - row % 3 / 2, -(row % 4) / 10, 0, -(row % 2) / 2]
                for column, value in enumerate(values, 5):
                    sheet.cell(row, column).value = value
        for cell, value in (change or {}).items():
            sheet[cell] = value
        return saved(book)

    return fill


def book(*rows: Sequence[Any], head: Sequence[Any] = HEAD) -> bytes:
    """A workbook in the original layout, with these rows to be judged."""
    made = openpyxl.Workbook()
    made.active.title = "Example"
    made.active.append(list(head))
    sheet = made.create_sheet("Assessment")
    for row in (head, *rows):
        sheet.append(list(row))
    return saved(made)


def saved(made: Any) -> bytes:
    """The bytes of a workbook, the same whenever it is saved."""
    held = io.BytesIO()
    made.save(held)
    return changed(held.getvalue(), lambda _, text: text)


def changed(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """The same workbook with some of its parts changed, and without times."""
    held = io.BytesIO()
    with ZipFile(io.BytesIO(data)) as old, ZipFile(held, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "docProps/core.xml":
                text = re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"2020-01-01T00:00:00Z", text)
            new.writestr(ZipInfo(name), change(name, text), ZIP_DEFLATED)
    return held.getvalue()


def with_entities(data: bytes) -> bytes:
    """A workbook whose sheet declares entities, as attacks do."""
    declared = b'<!DOCTYPE x [<!ENTITY a "b">]>'

    def change(name: str, text: bytes) -> bytes:
        head, end, rest = text.partition(b"?>")
        own = name == "xl/worksheets/sheet2.xml"
        return (head + end + declared + rest if end else declared + text) if own else text

    return changed(data, change)
