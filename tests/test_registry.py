"""The tables of metrics and tasks agree with what they name."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from earwitness.io.source import RecordSource
from earwitness.registry import BUILT_IN_TASKS, METRICS, TASKS
from earwitness.scoring.setup import find_task, first_lines
from earwitness.skims.reader import SkimReader
from earwitness.skims.tradeoff import TradeoffCurves
from earwitness.summaries.reader import SummaryReader


def test_tasks_name_the_baselines_of_their_readers() -> None:
    assert TASKS["summaries"].baselines == SummaryReader.baselines
    assert TASKS["skims"].baselines == SkimReader.baselines
    assert TASKS["chapters"].baselines == ()


def test_entries_of_tasks_name_their_metrics_and_parts() -> None:
    for name, entry in BUILT_IN_TASKS.items():
        task = TASKS[name]
        assert task.name == name
        assert entry.metrics == tuple(kind.name for kind in task.metrics)
    assert BUILT_IN_TASKS["skims"].parts == (TradeoffCurves.name,)


@pytest.mark.parametrize("form", ["text", "json"])
def test_scoring_chapters_imports_no_other_task(root: Path, form: str) -> None:
    files = [f"examples/chapters/{side}.jsonl" for side in ("outputs", "references")]
    code = f"""
import json, sys
from earwitness.__main__ import main
try:
    main(["score", *{files!r}, "--draws", "100", "--to", {form!r}])
except SystemExit as stop:
    assert not stop.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    loaded = json.loads(done.stderr.splitlines()[-1])
    others = tuple(f"earwitness.{task}" for task in ("summaries", "skims", "captions", "studies"))
    assert [name for name in loaded if name.startswith(others)] == []
    assert "earwitness.chapters.task" in loaded


def test_default_metrics_of_a_task_are_metrics_of_it() -> None:
    for task in TASKS.values():
        for name in (*task.defaults, *task.people):
            assert METRICS[name].task == task.subject


def told(output: dict[str, Any] | None, reference: dict[str, Any] | None) -> str | None:
    """The name of the task that first lines tell."""
    sides = [None if line is None else RecordSource([line]) for line in (output, reference)]
    task = find_task(first_lines(sides[0], sides[1]))
    return None if task is None else task.name


def plain_decision(output: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """The same decision written out, whatever tasks declare."""
    several = reference.get("references")
    content = {*output.get("output", {}), *(several[0] if several else {})}
    if content & {"picks", "times", "block", "audio"} or reference.keys() & {"recording", "blocks"}:
        return "skims"
    kept = bool(
        content & {"positions", "text", "words", "ctm"} or reference.keys() & {"words", "ctm"}
    )
    marks = {"boundaries", "titles", "transcript", "preset", "sentences", "subtitles"}
    cut = bool(content & marks or "hypothesis" in output)
    if kept == cut:
        return None
    if cut:
        return "chapters"
    return "summaries" if reference.keys() & {"words", "transcript", "ctm"} else "texts"


CONTENTS: list[dict[str, Any]] = [{}] + [
    {name: 1}
    for name in (
        *("positions", "text", "words", "ctm", "boundaries", "titles", "transcript", "preset"),
        *("sentences", "subtitles", "picks", "times", "block", "audio", "other"),
    )
]


def test_first_lines_tell_the_task_by_the_fields_that_tasks_declare() -> None:
    names = ("words", "transcript", "ctm", "recording", "blocks", "duration", "sentences")
    lines = [{"item": "a", name: 1} for name in names]
    seen = set()
    for content, annotation, line in product(CONTENTS, CONTENTS, lines):
        for line_fields in ((), ("hypothesis",)):
            output = {"item": "a", "output": content, **dict.fromkeys(line_fields, "")}
            reference = {**line, "references": [annotation]}
            decision = plain_decision(output, reference)
            assert told(output, reference) == decision, (output, reference)
            seen.add(decision)
    assert seen == {"skims", "chapters", "summaries", "texts", None}
    assert told({"hypothesis": []}, None) == "chapters"
    assert told(None, {"item": "a", "recording": "day.wav"}) == "skims"
