"""Documents that run, and pages that are up to date."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
from examples.listen import make as listen

import refresh
from earwitness.cli.main import COMMANDS
from earwitness.studies.design.report import study_design
from earwitness.studies.file.page_checks import check_pages
from earwitness.studies.file.reader import read_study
from generate import PAGES
from helpers.caption_example import write_caption_example
from helpers.command_line import run
from refresh import BLOCK, ROOT, documents, same, with_newline

DOCUMENTS = documents()
TUTORIAL = "tutorial-"  # how names of documents start whose blocks follow from each other
SET_UP = {"make demo", "make test"}  # .ci/run calls the first and is called from the second


def blocks(language: str) -> list[tuple[str, str]]:
    """Blocks of a language in all documents."""
    return [(path.name, text) for path in DOCUMENTS for text in refresh.blocks(path, language)]


def printed(command: str) -> str:
    """What a command line prints; a process of its own only for what needs a shell."""
    return "".join(map(part_printed, command.split(" && ")))


def part_printed(command: str) -> str:
    """What one command prints."""
    words = shlex.split(command)
    if words[0] == "earwitness" and not {"|", ">"} & {*words}:
        return run(*words[1:], folder=ROOT, width=100, one_stream=True).stdout
    if words[0] == "earwitness" and words[-2] == ">" and "|" not in words:
        done = run(*words[1:-2], folder=ROOT, width=100)
        (ROOT / words[-1]).write_text(done.stdout)
        return done.stderr
    if words[:2] == ["python", "examples/captions/make.py"]:
        write_caption_example(ROOT / words[2])
        return ""
    return refresh.shell(command)


def console_blocks() -> list[tuple[str, str]]:
    """Blocks of commands; those of a tutorial are one block, since each needs the ones before."""
    joined = [
        (path.name, "".join(refresh.blocks(path, "console")))
        for path in DOCUMENTS
        if path.name.startswith(TUTORIAL)
    ]
    return [one for one in blocks("console") if not one[0].startswith(TUTORIAL)] + joined


@pytest.mark.parametrize(("name", "block"), console_blocks())
def test_commands_print_what_the_documents_say(name: str, block: str) -> None:
    (ROOT / "out").mkdir(exist_ok=True)  # as `make demo` does
    for command, want in refresh.steps(block):
        got = printed(refresh.joined(command))
        assert same(want, with_newline(got), doctest.ELLIPSIS), f"{name}: {command}\n{got}"


# code of the example of a plug-in is compared and run by tests/test_plugins.py
PYTHON = [one for one in blocks("python") if one[0] not in refresh.CODE_IS_TESTED_ELSEWHERE]


@pytest.mark.parametrize(("name", "block"), PYTHON)
def test_python_in_documents_runs(name: str, block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, name, name, 0)
    assert test.examples
    report: list[str] = []
    assert doctest.DocTestRunner().run(test, out=report.append).failed == 0, "".join(report)


def test_set_up_is_two_commands_that_ci_runs() -> None:
    lines = {line for _, block in blocks("sh") for line in block.splitlines()}
    assert lines == SET_UP
    ci = (ROOT / ".ci" / "run").read_text()
    assert all(line.replace("make", "make --no-print-directory") in ci for line in SET_UP)


def test_no_block_is_of_a_kind_that_nobody_runs() -> None:
    kinds = {m[1] for path in DOCUMENTS for m in BLOCK.finditer(path.read_text())}
    assert kinds <= {"console", "python", "sh", "json", "text", "toml"}


@pytest.mark.parametrize("page", PAGES)
def test_generated_pages_are_up_to_date(page: str) -> None:
    assert (ROOT / "docs" / page).read_text() == PAGES[page](), "run make docs"


def test_every_verb_is_in_the_formats_page() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    for name in COMMANDS:
        assert re.search(rf"^\| `{name}[ `]", page, re.M), name


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert link.startswith("https://") or (path.parent / link).exists(), link


def made_by(script: Path, folder: Path) -> dict[str, bytes]:
    """The files that a script of an example writes beside itself, and the script."""
    copy = folder / "make.py"
    copy.write_text(script.read_text())
    runpy.run_path(str(copy), run_name="__main__")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("example", "names"),
    [
        ("chapters", ("annotators", "outputs", "references", "samples")),
        ("ratings", ("ratings",)),
        ("p835", ("clips",)),
    ],
)
def test_examples_are_what_their_scripts_write(
    example: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    folder = ROOT / "examples" / example
    made = made_by(folder / "make.py", tmp_path)
    assert {Path(name).stem for name in made} == {*names, "make"}
    assert made == {name: (folder / name).read_bytes() for name in made}


@pytest.mark.parametrize("task", ["p835", "summaries", "chapters"])
def test_examples_of_scores_and_ratings_are_what_their_scripts_write(
    task: str, tmp_path: Path
) -> None:
    script = ROOT / "examples" / "agree" / task / "make.py"
    kept = {path.name: path.read_bytes() for path in script.parent.iterdir() if path.is_file()}
    assert made_by(script, tmp_path) == kept


def test_the_study_of_the_demonstration_is_right_and_has_all_its_sounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = str(ROOT / "examples" / "listen" / "make.py")
    monkeypatch.setattr(sys, "argv", [script, str(tmp_path / "listen")])
    runpy.run_path(script, run_name="__main__")
    study = read_study(tmp_path / "listen" / "study.yaml")
    assert len(study.material) == 6
    assert all(clip.seconds == 2.5 for clip in study.material)


@pytest.mark.parametrize("kind", ["p835", *listen.TASKS])
def test_example_studies_of_all_kinds_can_be_served(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listen, "SECONDS", 0.5)
    listen.main(tmp_path, kind)
    path = tmp_path / "study.yaml"
    assert check_pages(study_design(read_study(path)), path).problems == ()
