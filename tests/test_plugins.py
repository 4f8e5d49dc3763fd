"""A package with a metric, a task and a kind of trials joins by entry points."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import field, make_dataclass
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from earwitness import plugins
from earwitness.cli.main import group
from earwitness.cli.options import metric_parameters
from earwitness.errors import PluginError
from earwitness.plugins import PluginTable
from earwitness.registry import METRICS, OPTION_NAMES

OUTPUTS = [
    {"item": "a", "system": "x", "output": {"tags": ["bird", "rain"]}},
    {"item": "b", "system": "x", "output": {"tags": ["bell"]}},
]
REFERENCES = [
    {"item": "a", "references": [{"tags": ["bird"]}]},
    {"item": "b", "references": [{"tags": ["bell"]}]},
]
STUDY = """\
title: Effort
systems: [noisy, clean]
material: clips.csv
listeners: 4
blocks:
  - kind: effort
    clips: 4
"""
PYTHON = """
import json
from earwitness import score
from earwitness.registry import METRICS, TASKS
outputs, references = json.loads(input())
found = score(outputs, references)
named = score(outputs, references, metrics="tag_overlap", against="best")
values = {name: one.value for name, one in found.systems["x"].items()}
print(json.dumps([values, named.signature, list(METRICS)[-1], list(TASKS)[-1]]))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the example, installed as pip does."""
    folder = tmp_path_factory.mktemp("plugin")
    source = Path(__file__).parents[1] / "examples" / "plugin"
    shutil.copytree(source, folder / "source")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    target = folder / "packages"
    arguments = ["-m", "pip", "install", "-q", *options, "--target", str(target), "./source"]
    run(*arguments, folder=folder)
    return target


def run(
    *arguments: str, folder: Path, packages: Path | None = None, text: str = "", code: int = 0
) -> str:
    """What Python prints, with installed packages on its path."""
    path = [str(packages)] if packages is not None else []
    path.append(str(Path(__file__).parent))  # of helpers
    path += filter(None, [os.environ.get("PYTHONPATH")])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if not code else done.stderr


def files(folder: Path) -> tuple[str, str]:
    for name, records in (("outputs", OUTPUTS), ("references", REFERENCES)):
        lines = [json.dumps(record) + "\n" for record in records]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return "outputs.jsonl", "references.jsonl"


def test_the_command_line_scores_with_the_task_and_the_metric(
    installed: Path, tmp_path: Path
) -> None:
    command = ("-m", "earwitness", "score", *files(tmp_path), "--to", "json")
    told = json.loads(run(*command, folder=tmp_path, packages=installed))
    assert told["systems"]["x"]["tag_recall"]["value"] == 1
    named = (*command, "--metric", "tag_overlap", "--against", "best", "--jobs", "2")
    found = json.loads(run(*named, folder=tmp_path, packages=installed))
    assert found["systems"]["x"]["tag_precision"]["value"] == 2 / 3
    assert "tag_overlap(against=best)" in found["signature"]
    wrong = run(*named, "--by", "colour", folder=tmp_path, packages=installed, code=2)
    assert 'no item has a field "colour"' in wrong


def test_the_list_of_metrics_shows_it(installed: Path, tmp_path: Path) -> None:
    told = run("-m", "earwitness", "metrics", "tags", folder=tmp_path, packages=installed)
    assert "tags: default tag_overlap; people: tag_overlap" in told
    assert "tag_overlap: Shared tags (--against)" in told
    assert "tag_overlap" not in run("-m", "earwitness", "metrics", folder=tmp_path)


def test_python_scores_with_the_task_and_the_metric(installed: Path, tmp_path: Path) -> None:
    text = json.dumps([OUTPUTS, REFERENCES])
    told = run("-c", PYTHON, folder=tmp_path, packages=installed, text=text)
    values, signature, metric, task = json.loads(told)
    assert values == {"tag_precision": 2 / 3, "tag_recall": 1.0, "tag_f1": 0.8}
    assert "tag_overlap(against=best)" in signature
    assert (metric, task) == ("tag_overlap", "tags")


def test_a_study_has_trials_of_its_kind(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "clips.csv").write_text("name,seconds\n" + "".join(f"c{n},9\n" for n in range(4)))
    check = ("-m", "earwitness", "study", "check", "study.yaml")
    told = run(*check, folder=tmp_path, packages=installed)
    assert "Listening effort (P.800, annex B)" in told
    assert 'unknown kind "effort"' in run(*check, folder=tmp_path, code=2)


@pytest.mark.parametrize(
    ("kind", "own", "renderer", "protocol", "labels"),
    [
        pytest.param(
            "effort",
            ["trials/single.css", "trials/single.js"],
            "single",
            "The protocol was rating of listening effort (ITU-T P.800, annex B).",
            {"5": "none", "1": "nothing was understood"},
            id="with a page of Earwitness",
        ),
        pytest.param(
            "annoyance",
            ["trials/plugin/annoyance.css", "trials/plugin/annoyance.js"],
            "plugin/annoyance",
            "The protocol was rating of annoyance (ISO/TS 15666).",
            {"1": "not at all", "5": "extremely"},
            id="with a page of its own",
        ),
    ],
)
def test_a_study_of_its_kind_goes_from_the_template_to_the_report(
    installed: Path,
    tmp_path: Path,
    kind: str,
    own: list[str],
    renderer: str,
    protocol: str,
    labels: dict[str, str],
) -> None:
    told = run("-m", "helpers.plugin_study", kind, folder=tmp_path, packages=installed)
    found = json.loads(told)
    assert {*own} <= {*found["scripts"]}
    assert found["renderer"] == renderer
    assert labels.items() <= found["labels"].items()
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "(p808: variance 0.1, correlation 0.4)" in found["check"]
    assert "Listener 6 was excluded by screening (1 of 6)" in report
    assert "p808 (variance of ratings below 0.1" in report
    assert protocol in report


def test_the_metric_keeps_the_contract_of_metrics(installed: Path, root: Path) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-k", "tag_overlap", "tests/contracts")
    told = run("-m", "pytest", *options, folder=root, packages=installed)
    assert " passed" in told
    assert "failed" not in told


def test_code_in_the_guide_is_that_of_the_example(root: Path) -> None:
    guide = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folder = root / "examples" / "plugin"
    paths = [folder / "pyproject.toml", *sorted(folder.rglob("*.py"))]
    example = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    blocks = re.findall(r"^( *)```(?:python|toml)\n(.*?)^ *```", guide, re.M | re.S)
    assert len(blocks) == 5
    for _, code in blocks:
        assert code in example or dedent(code) in example


# --- Tables with plug-ins ------------------------------------------------------------------------


def table(monkeypatch: pytest.MonkeyPatch, *points: Any) -> PluginTable[int]:
    """A table of numbers with one built-in entry, and these entry points."""
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*points] if group == "g" else [])
    return PluginTable("g", {"one": 1}, lambda _, loaded: "" if loaded else "is nothing")


def point(name: str, loaded: Any, package: str = "numbers") -> Any:
    def load() -> Any:
        if isinstance(loaded, Exception):
            raise loaded
        return loaded

    dist = SimpleNamespace(name=package)
    return SimpleNamespace(name=name, value=f"{package}:x", load=load, dist=dist)


def test_entries_of_plug_ins_stand_behind_built_in_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    found = table(monkeypatch, point("two", 2), point("three", 3))
    assert list(found) == ["one", "three", "two"]
    assert dict(found.items()) == {"one": 1, "two": 2, "three": 3}
    assert len(found) == 3
    assert "two" in found
    assert "four" not in found
    with pytest.raises(KeyError):
        found["four"]


def test_a_plug_in_that_cannot_be_imported_fails_only_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = table(monkeypatch, point("bad", ImportError("no torch")), point("two", 2))
    assert list(found) == ["one", "bad", "two"]
    assert list(found.values()) == [1, 2]
    assert found["two"] == 2
    with pytest.raises(PluginError, match=r'plug-in package "numbers": "bad" .*no torch'):
        found["bad"]


def test_a_plug_in_of_another_type_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PluginError, match=r'"zero" in g .* is nothing'):
        table(monkeypatch, point("zero", 0))["zero"]


def test_the_name_of_a_built_in_entry_is_not_for_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    found = table(monkeypatch, point("one", 7))
    assert found["one"] == 1
    with pytest.raises(
        PluginError, match='package "numbers": "one" in g has the same name as a built'
    ):
        list(found)
    found = table(monkeypatch, point("two", 2), point("two", 3, "others"))
    with pytest.raises(PluginError, match='package "numbers" also provides "two" in g'):
        list(found)


# --- Parameters of metrics of plug-ins -----------------------------------------------------------


@pytest.fixture
def metric_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that installs metrics with one parameter more than chunks."""

    def install(**parameters: tuple[str, Any]) -> None:
        kinds = {
            name: make_dataclass(
                name,
                [
                    (
                        parameter,
                        type(default),
                        field(default=default, kw_only=True),
                    )
                ],
                bases=(METRICS["chunks"],),
                namespace={
                    "name": name,
                    "__doc__": f"More.\n\nParameters\n----------\n{parameter}\n    Anything.\n",
                },
                frozen=True,
            )
            for name, (parameter, default) in parameters.items()
        }
        points = {name: point(name, kind) for name, kind in kinds.items()}
        monkeypatch.setitem(METRICS.__dict__, "plugins", points)
        monkeypatch.setattr(METRICS, "loaded", {})
        metric_parameters.cache_clear()

    yield install
    metric_parameters.cache_clear()


SAMPLES = Path(__file__).parents[1] / "examples" / "chapters" / "samples.jsonl"


def test_a_parameter_that_is_false_is_a_flag(metric_table: Any) -> None:
    metric_table(extra=("thorough", False))
    command = ["score", str(SAMPLES), "--metric", "extra", "--draws", "5", "--to", "json"]
    done = CliRunner().invoke(group, [*command, "--thorough"])
    assert done.exit_code == 0, done.output
    assert "thorough=True" in json.loads(done.stdout)["signature"]
    done = CliRunner().invoke(group, [*command, "--chunk-size", "9"])
    assert "thorough=False" in json.loads(done.stdout)["signature"]
    assert "  --thorough: Anything" in CliRunner().invoke(group, ["metrics"]).stdout


@pytest.mark.parametrize(
    ("parameter", "default", "message"),
    [
        ("level", 2.0, '"level", which is also an option or a parameter of another type'),
        ("metric", "a", '"metric", which is also an option'),
        ("preset", "a", '"preset", which is also an option'),
        ("collar", "wide", '"collar", which is also an option or a parameter of another type'),
        ("thorough", True, '"thorough", which must have a number, a text or False as its default'),
        ("sizes_", (1, 2), '"sizes_", which must have a number, a text or False'),
    ],
)
def test_a_parameter_that_cannot_be_an_option_is_refused(
    metric_table: Any, parameter: str, default: Any, message: str
) -> None:
    metric_table(extra=(parameter, default))
    with pytest.raises(PluginError, match=re.escape(f"has the parameter {message}")):
        METRICS["extra"]


def test_metrics_of_two_plug_ins_agree_on_the_type_of_a_parameter(metric_table: Any) -> None:
    metric_table(first=("own", 1.0), second=("own", "a"))
    assert METRICS["first"]
    with pytest.raises(PluginError, match="a parameter of another type"):
        METRICS["second"]


def test_names_of_options_are_not_for_parameters() -> None:
    context = click.Context(group)
    names = set[str]()
    for place in ("score", "compare", "people", "network", "experiment references"):
        command: Any = group
        for word in place.split():
            command = command.get_command(context, word)
        for option in command.params:
            names |= {option.name, *(flag.strip("-").replace("-", "_") for flag in option.opts)}
    assert names - {"o"} <= {*OPTION_NAMES.split()}
