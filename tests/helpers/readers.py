"""Samples of files that fuzzing damages, and functions that read them.

A line of ``tests/fuzz/readers.txt`` is a command, or the name of a function and a file. Files in
braces are damaged; those after ``#`` are named by other files. A function returns false, or raises
an error, if a file is refused.
"""

from __future__ import annotations

import re
import shutil
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any

import earwitness
from earwitness.audio.read import read_mono, read_sound
from earwitness.chunkseg.parsers import parse_transcript
from earwitness.errors import EarwitnessError
from earwitness.forms.sheets.read import read_sheet_rows
from earwitness.material.annotations import read_annotations
from earwitness.navigator.labels import read_overlays
from earwitness.recordings.recording import open_recording
from earwitness.recordings.types import Recording, Stretch
from earwitness.skims.picks import read_times
from earwitness.skims.reader import read_blocks_file
from earwitness.studies.answers import answer_line
from helpers.caption_study import filled
from helpers.http_listener import fetch_sounds, link, served, take
from helpers.study_files import sound

FUZZ = Path(__file__).parents[1] / "fuzz"
READERS = (FUZZ / "readers.txt").read_text().splitlines()
SYSTEMS = ("C0", "C1", "ref", "anchor35", "anchor70", "clips", "audio")
ITEMS = (*"abcd", "c0", "c1", "c2", "c3", "a_ref", "a_c1", "a_c2", "b_ref", "b_c1", "b_c2", "rec")
DAY = Recording("day", (Stretch("one.wav", 0, 0, 50), Stretch("two.wav", 0, 60, 40)), 100, 8000, 1)
STACK = ExitStack()  # servers


def make_samples(folder: Path) -> Path:
    """Copy the samples to a folder, and make sounds and what raters send back."""
    shutil.copytree(FUZZ / "samples", folder)
    for system in SYSTEMS:
        for item in ITEMS[4:] if system in ("clips", "audio") else ITEMS[:4]:
            sound(folder / system / f"{item}.wav", 3.0 if item == "rec" else 0.25)
    simulated = earwitness.study_simulate(folder / "p835.yaml", seed=1)
    (folder / "answers.jsonl").write_bytes(b"".join(map(answer_line, simulated.answers)))
    judged = filled(earwitness.study_design(folder / "captions.yaml"), 1)
    (folder / "judged.xlsx").write_bytes(judged)
    (folder / "workbook.xlsx").write_bytes(judged)
    values = folder / "values.csv"
    earwitness.study_sheets(folder / "plane.yaml", folder / "sheets.pdf", template=values)
    values.write_text(re.sub(r"(?m)^(.*,\d),,", r"\1,0.25,0.75", values.read_text()))
    return folder


def sheet(path: Path) -> bool:
    read_sheet_rows(path, problems := list[Any](), [])
    return not problems


def audio(path: Path) -> bool:
    heard = 0
    for read in (read_sound, read_mono, lambda path: open_recording([path])):
        with suppress(EarwitnessError):
            read(path)
            heard += 1
    return bool(heard)


def sections(path: Path) -> None:
    for form in ("markdown", "markdown_ts", "cstart", "cstart_ts", "newline"):
        parse_transcript(path.read_text(errors="surrogateescape"), form)


def labels(path: Path) -> Any:
    return read_overlays(DAY, [path])


def times(path: Path) -> Any:
    return read_times(path, DAY)


def blocks(path: Path) -> bool:
    return not isinstance(read_blocks_file(path), list)


def utterances(path: Path) -> bool:
    return not read_annotations([path])[1]


@cache
def open_study(path: Path) -> tuple[Any, str]:
    """Serve a study to a listener at a trial; return a client and the address of the listener."""
    study = path.with_name("captions.yaml" if path.stem == "workbook" else "plane.yaml")
    client = STACK.enter_context(served(study, f"{path.parents[1] / path.stem}.db", open=1))
    own = link(client)
    fetch_sounds(client, take(client, own, stop="1.1")["page"])
    return client, own


def request(path: Path) -> bool:
    """Send a file as the body of a request; its name is the end of the address."""
    client, own = open_study(path)
    kind = {"content-type": "application/octet-stream"}
    sent = client.post(f"{own}/{path.stem}", content=path.read_bytes(), headers=kind)
    assert sent.status_code < 500, sent.text
    return bool(sent.status_code < 400)
