"""Files that examples in docstrings use, in the folder in which they run."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
from _pytest.doctest import DoctestItem

from helpers.study_listener import sounds, study

EXAMPLE_FILES = (
    *("study.yaml", "captions.yaml", "words.yaml", "answers.jsonl", "words.jsonl"),
    *("talk.wav", "table.csv"),
)
TALK_RATE, TALK_SPANS = 16_000, ((1.0, 4.2), (6.0, 9.3))  # Hz; seconds of sound in the example


@pytest.fixture(scope="session")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small listening test, studies of captions and of words, and answers."""
    from earwitness.studies.answers import answer_line
    from earwitness.studies.simulate import study_simulate

    folder = sounds(tmp_path_factory.mktemp("examples"))
    study(folder, "p835").rename(folder / "study.yaml")
    study(folder, "rubric").rename(folder / "captions.yaml")
    study(folder, "words").rename(folder / "words.yaml")
    for name, answers in (("study.yaml", "answers.jsonl"), ("words.yaml", "words.jsonl")):
        simulated = study_simulate(folder / name, seed=1)
        (folder / answers).write_bytes(b"".join(map(answer_line, simulated.answers)))
    _write_talk(folder)
    rows = (f"clip{number},4.5,{'indoors' if number % 2 else 'outdoors'}\n" for number in range(8))
    (folder / "table.csv").write_text("name,seconds,place\n" + "".join(rows), encoding="utf-8")
    return folder


def _write_talk(folder: Path) -> None:
    """Write a recording with two passages of sound, and a table of these passages."""
    samples = 10 * np.random.default_rng(0).standard_normal(10 * TALK_RATE)
    for start, end in TALK_SPANS:
        samples[round(start * TALK_RATE) : round(end * TALK_RATE)] *= 200
    with wave.open(str(folder / "talk.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(TALK_RATE)
        file.writeframes(samples.astype("<i2").tobytes())
    lines = [f"talk,{start},{end}\n" for start, end in TALK_SPANS]
    (folder / "speech.csv").write_text("recording,start,end\n" + "".join(lines), encoding="utf-8")


@pytest.fixture(autouse=True)
def beside_example_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run examples that name one of the files beside them."""
    item = request.node
    if isinstance(item, DoctestItem) and item.dtest is not None:
        text = item.dtest.docstring or ""
        if any(f'"{name}"' in text for name in EXAMPLE_FILES):
            monkeypatch.chdir(request.getfixturevalue("example_folder"))
