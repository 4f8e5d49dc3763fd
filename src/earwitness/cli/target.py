"""Where results go, and in what form."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from earwitness.api import render
from earwitness.data import Comparison
from earwitness.errors import UsageError
from earwitness.formats.whole import WholeFile
from earwitness.report import FORMS, Result

ENDINGS = {"tex": "latex", "htm": "html", "txt": "text", "markdown": "md"}
WORST = 5  # timelines of a page that was not told what to show


class Target:
    """Where a result goes and in what form; bad places are refused before any work."""

    def __init__(
        self,
        to: str | None,
        output: Path | None,
        inputs: Iterable[str | None],
        *others: Path | None,
    ) -> None:
        self.form = to or form_of(output, FORMS, ENDINGS)
        self._output = output
        self._file = None if output is None else WholeFile(output)
        check_results(inputs, (output, *others))

    def worst(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options; a page shows some of the worst samples if it is not told how many."""
        page = self.form == "html" and "show" not in options
        wanted = (page or "worst_by" in options) and "worst" not in options
        return {**options, "worst": WORST} if wanted else options

    def write(self, result: Result) -> None:
        """Print or write the result."""
        width = shutil.get_terminal_size((100, 24)).columns
        folder = None if self._output is None else self._output.parent
        text = render(result, self.form, width=width, folder=folder)
        if self._file is None:
            sys.stdout.write(text)
            return
        with self._file as file:
            file.write(text)
        scores = result.scores if isinstance(result, Comparison) else result
        for note in scores.notes:
            click.echo(f"note: {note}", err=True)
        click.echo(f"wrote {self._output}", err=True)


def form_of(output: Path | None, forms: Sequence[str], endings: Mapping[str, str]) -> str:
    """The form that a file's ending asks for."""
    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    form = endings.get(ending, ending) or "text"
    if form not in forms:
        listed = ", ".join(f".{name}" for name in sorted({*forms, *endings}))
        raise UsageError(f"{output}: which form is that? — end it in {listed}, or say --to")
    return form


def check_results(inputs: Iterable[str | None], results: Iterable[Path | None]) -> None:
    """No file may be both read and written, or written twice."""
    taken = [Path(place).resolve() for place in inputs if place not in (None, "-")]
    for path in filter(None, results):
        if path.resolve() in taken and not path.is_char_device():
            raise UsageError(f"{path} is named twice — results need files of their own")
        taken.append(path.resolve())
