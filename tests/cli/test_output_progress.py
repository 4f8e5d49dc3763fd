"""The bar on a terminal, and warnings as notes."""

from __future__ import annotations

import io
import sys
import warnings
from threading import Event

import click
import pytest

from earwitness.cli import output
from earwitness.core import label_progress, no_progress
from earwitness.errors import EarwitnessWarning


class Terminal(io.StringIO):
    """Standard error that is a terminal, and knows when it was written to three times."""

    def __init__(self) -> None:
        super().__init__()
        self.lively, self.times = Event(), 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if "steps" in text:
            self.times += 1
            if self.times == 3:
                self.lively.set()
        return super().write(text)


def test_an_option_hides_progress_wherever_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    hidden = list[bool]()

    @click.command()
    @output.QUIET_OPTION
    def command() -> None:
        with output.progress_bar() as progress:
            hidden.append(progress is no_progress)

    command.main(["--quiet"], standalone_mode=False)
    command.main([], standalone_mode=False)
    assert hidden == [True, False]


def test_time_goes_on_while_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "REFRESH_SECONDS", 0.01)
    with output.progress_bar(unit="steps") as told:
        told(1, 7, 1)
        assert terminal.lively.wait(60)
    assert "1/7" in terminal.getvalue()


def test_nothing_is_shown_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with output.progress_bar(unit="steps") as told:
        assert told is no_progress


def test_a_part_of_the_work_has_a_bar_with_its_label(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "REFRESH_SECONDS", 0.01)
    with output.progress_bar() as told, label_progress(told, "many steps") as part:
        part(43_200, 86_400, 8)
        assert terminal.lively.wait(60)
    assert "50%" in terminal.getvalue()
    assert "many steps: 12:00:00 of 24:00:00" in terminal.getvalue()
    with label_progress(no_progress, "many steps") as part:
        assert part is no_progress


def test_a_warning_is_printed_once_as_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    with output.warnings_as_notes():
        for text in ("a.wav is short", "b.wav is short", "a.wav is short"):
            warnings.warn(text, EarwitnessWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: a.wav is short\nnote: b.wav is short\n"
