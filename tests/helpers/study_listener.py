"""Studies that are taken part in, and somebody who answers anything."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from earwitness.core import Answer
from earwitness.studies.answers import answer_line
from earwitness.studies.design.report import study_design
from earwitness.studies.pages import (
    DEVICE_PAGE,
    HEARING_PAGE,
    View,
    pages,
    presented_trial,
    read_page,
    view_with_answer,
)
from earwitness.studies.trials import KINDS
from earwitness.version import __version__
from helpers.samples import write_lines
from helpers.study_files import sound

STUDY = """\
title: Taking part
systems: [C0, C1]
files: "{{system}}/{{item}}.wav"
reference: ref
listeners: 2
training: 1
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
    clips: 2
    sessions: 2
"""


def sounds(folder: Path) -> Path:
    """A folder with the sounds of a small study of any kind."""
    for system in ("C0", "C1", "ref", "anchor35", "anchor70"):
        for name in "abcd":
            sound(folder / system / f"{name}.wav")
    return folder


def study(folder: Path, kind: str, more: str = "") -> Path:
    """A study file of a kind."""
    path = folder / f"{kind}.yaml"
    text = STUDY.format(kind=kind) + more
    if KINDS[kind].transcribed:
        text = about_transcripts(text, folder)
    path.write_text(about_captions(text, folder) if KINDS[kind].captioned else text)
    return path


def about_transcripts(
    text: str, folder: Path, systems: Sequence[str] = ("C0", "C1"), items: Sequence[str] = "abcd"
) -> str:
    """A study file as one about transcripts, without audio."""
    towns = zip(items, "abcd", strict=False)
    lines = [{"item": item, "transcript": f"it rains a lot in {one} today"} for item, one in towns]
    write_lines(folder / "transcripts.jsonl", lines)
    outputs = [
        {"item": item, "system": system, "output": {"positions": positions}}
        for item in items
        for system, positions in zip(systems, ([2, 6], [1, 2, 7]), strict=True)
    ]
    write_lines(folder / "outputs.jsonl", outputs)
    unused = ("reference:", "files:", "feedback:")
    kept = [line for line in text.splitlines() if not line.startswith(unused)]
    made = "\n".join([*kept, "transcripts: transcripts.jsonl", ""])
    if "kind: words" in text:
        return made.replace(f"[{', '.join(systems)}]", "[original]")
    return f"{made}summaries: outputs.jsonl\n"


def about_captions(text: str, folder: Path, systems: Sequence[str] = ("C0", "C1")) -> str:
    """A study file as one about captions, whose sounds are those of the first system."""
    items = sorted(path.stem for path in (folder / systems[0]).glob("*.wav"))
    rows = [
        f"{item},{system},Texte {number} {place}."
        for number, item in enumerate(items)
        for place, system in enumerate(systems)
    ]
    (folder / "captions.csv").write_text("\n".join(["item,system,caption", *rows]) + "\n")
    kept = [line for line in text.splitlines() if not line.startswith(("reference:", "feedback:"))]
    made = "\n".join(kept).replace("{system}/{item}.wav", f"{systems[0]}/{{item}}.wav")
    return f"{made}\ncaptions: captions.csv\n"


class Anyone:
    """Answers any page from its view alone."""

    def __init__(self, seed: int = 1) -> None:
        self.rng, self.seen = random.Random(seed), list[Mapping[str, Any]]()

    def __call__(self, view: Mapping[str, Any]) -> dict[str, Any]:
        self.seen.append(view)
        if view["kind"] == "device":
            known = {"level": -12.5, "sides": True, "huggins": [5, 6], "antiphase": [6, 6]}
            return {step: known[step] for step in view["steps"]}
        if view["kind"] == "check":
            return {one["name"]: one["options"][1]["value"] for one in view["questions"]}
        values = {one["name"]: self.answer(one) for one in view.get("questions", ())}
        if view["kind"] == "bs1116":
            values["B"] = 5.0
        return values

    def answer(self, question: Mapping[str, Any]) -> Any:
        """An answer to one question."""
        match question["answer"]:
            case "choice":
                return self.rng.choice(question["options"])["value"]
            case "slider":
                return question["high"]
            case "number":
                return 30
            case "words":
                return [1, 2, 3]
            case _:
                return 'ünï "&+%" 🙂'


def answer_study(
    path: Path, listener: int, answers: Path, respond: Callable[[View], dict[str, Any]]
) -> int:
    """Add the answers of one listener to all pages with questions; return how many these are.

    Device checks and hearing tests, which need a browser, are left out.
    """
    design, given = study_design(path), dict[str, Answer]()
    study = design.study
    for page in pages(study, design.plans[listener - 1], lambda *_: secrets.token_hex(8)):
        if page.view["kind"] in (DEVICE_PAGE, HEARING_PAGE):
            continue
        about = given[page.about.name].values if page.about else None
        values = respond(view_with_answer(study, page, about))
        read_page(study, page, values, listener)
        if page.asks:
            heard = presented_trial(page.trial) if page.trial else None
            given[page.name] = Answer(
                study.digest, listener, page.name, values, heard, "2026-01-01", __version__
            )
    with answers.open("ab") as file:
        file.writelines(map(answer_line, given.values()))
    return len(given)
