"""A small study of captions, its workbooks, and raters who fill them in."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from earwitness.forms.workbooks.export import rater_workbook, study_rubric
from earwitness.forms.workbooks.read import JudgedRow, read_workbook
from earwitness.studies.design.report import study_design
from earwitness.studies.study import Design
from helpers.study_files import sound
from helpers.workbooks import typed

CLIPS, AUTHORS = 6, ("zora", "quill")  # names that stand in no other word
STUDY = """\
title: Captions
systems: [zora, quill]
files: "clips/{item}.wav"
material: clips.csv
captions: captions.csv
juries: {experts: 2, lay: 2}
rest_minutes: 0
blocks:
  - kind: rubric
    sessions: 2
    parameters: {group: dataset, synthesised: true}
"""
Judge = Callable[[JudgedRow], dict[str, Any]]


def captioned(folder: Path, text: str = STUDY, clips: int = CLIPS) -> Path:
    """A study file with all that it names: two captions a clip, clips of two datasets."""
    folder.mkdir(exist_ok=True)
    rows, texts = ["name,dataset"], ["item,system,caption"]
    for n in range(clips):
        sound(folder / "clips" / f"c{n}.wav")
        rows.append(f"c{n},{'street' if n % 3 else 'park'}")
        texts += [
            f'c{n},{one},"Sound {n}, as {place} hears it."' for place, one in enumerate(AUTHORS)
        ]
    (folder / "clips.csv").write_text("\n".join(rows) + "\n")
    (folder / "captions.csv").write_text("\n".join(texts) + "\n")
    path = folder / "study.yaml"
    path.write_text(text)
    return path


def anything(seed: int = 0) -> Judge:
    """Numbers that depend on rater, clip and caption alone, and now and then a comment."""

    def judge(row: JudgedRow) -> dict[str, Any]:
        rng = random.Random(f"{seed} {row.key}")
        scores = {name: rng.randint(10, 50) / 10 for name in ("precision", "recall")}
        others = ("fluency", "conciseness", "irrelevance")
        said = {"comment": f"=odd {row.record}"} if rng.random() < 0.3 else {}
        return scores | {name: -rng.randint(0, 20) / 10 for name in others} | said

    return judge


def filled(made: Design, listener: int, judge: Judge | None = None, links: str = "clips") -> bytes:
    """The workbook of a rater, as it comes back."""
    data, rubric = rater_workbook(made, listener, links), study_rubric(made.study)
    cells: dict[str, Any] = {}
    for row in read_workbook(data, rubric, name="x.xlsx").rows:
        said = (judge or anything(listener))(row)
        number = row.place.cell[1:]
        for name, value in said.items():
            cells[row.cells.get(name) or {"comment": f"K{number}"}.get(name, f"J{number}")] = value
    return typed(data, {cell: value for cell, value in cells.items() if value is not None})


def designed(path: Path) -> Design:
    """Everybody's plan."""
    return study_design(path)
