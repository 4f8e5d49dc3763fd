"""Files that examples in docstrings use, in the folder in which they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem

from helpers.study_listener import sounds, study

EXAMPLE_FILES = ("study.yaml", "captions.yaml", "answers.jsonl")


@pytest.fixture(scope="session")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small listening test, its answers, and a study of captions."""
    from earwitness.studies.answers import answer_line
    from earwitness.studies.simulate import study_simulate

    folder = sounds(tmp_path_factory.mktemp("examples"))
    study(folder, "p835").rename(folder / "study.yaml")
    study(folder, "rubric").rename(folder / "captions.yaml")
    simulated = study_simulate(folder / "study.yaml", seed=1)
    (folder / "answers.jsonl").write_bytes(b"".join(map(answer_line, simulated.answers)))
    return folder


@pytest.fixture(autouse=True)
def beside_example_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run examples that name one of the files beside them."""
    item = request.node
    if isinstance(item, DoctestItem) and item.dtest is not None:
        text = item.dtest.docstring or ""
        if any(f'"{name}"' in text for name in EXAMPLE_FILES):
            monkeypatch.chdir(request.getfixturevalue("example_folder"))
