"""The tables of metrics and tasks agree with what they name."""

from __future__ import annotations

from earwitness.registry import METRICS, TASKS
from earwitness.skims.reader import SkimReader
from earwitness.summaries.reader import SummaryReader


def test_tasks_name_the_baselines_of_their_readers() -> None:
    assert TASKS["summaries"].baselines == SummaryReader.baselines
    assert TASKS["skims"].baselines == SkimReader.baselines
    assert TASKS["chapters"].baselines == ()


def test_default_metrics_of_a_task_are_metrics_of_it() -> None:
    for task in TASKS.values():
        for name in (*task.defaults, *task.people):
            assert METRICS[name].task == task.name
