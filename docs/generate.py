"""Pages that are made from the code; `make docs` writes them, a test compares them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from earwitness.cli.group import COMMANDS, group
from earwitness.data import Value
from earwitness.metrics import METRICS, Metric

FOLDER = Path(__file__).parent
NOTE = "<!-- made by docs/generate.py; do not edit -->"
BEST = {"high": "high", "low": "low", "none": "—"}


def metrics_page() -> str:
    """All metrics with their parameters, values and empty cells."""
    intro = (
        "A metric is a family of values with one set of parameters. Each case is turned into "
        "statistics, statistics are summed over cases, and values are computed from the sums; "
        "`docs/algorithms` has a slow plain version of each. Undefined values are NaN and counted."
    )
    parts = ["# Metrics", NOTE, intro]
    for task in dict.fromkeys(kind.task for kind in METRICS.values()):
        parts.append(f"# Metrics of {task}")
        parts += [_metric(kind) for kind in METRICS.values() if kind.task == task]
    return "\n\n".join(parts) + "\n"


def _metric(kind: type[Metric]) -> str:
    module = __import__(kind.__module__, fromlist=["_"]).__doc__ or ""
    rows = [_row(value) for value in kind.values]
    parameters = [
        f"| `{name}` | {default} | {kind.help(name)} |"
        for name, default in kind.parameters().items()
    ]
    return "\n".join(
        [
            f"## {kind.name}",
            "",
            module.strip(),
            "",
            "| parameter | default | meaning |",
            "| :-- | :-- | :-- |",
            *parameters,
            "",
            "| value | good | range | meaning |",
            "| :-- | :-- | :-- | :-- |",
            *rows,
            "",
            "| empty cell | values |",
            "| :-- | :-- |",
            *(f"| {cell} | {text} |" for cell, text in kind.empty_cells.items()),
            "",
            *(f"- {reference}" for reference in kind.references),
        ]
    )


def _row(value: Value) -> str:
    top = "∞" if value.high == float("inf") else f"{value.high:g}"
    return f"| `{value.name}` | {BEST[value.best]} | {value.low:g} … {top} | {value.doc} |"


def cli_page() -> str:
    """The help of every verb."""
    parts = ["# Command line", NOTE, _help(group, "earwitness", None)]
    context = click.Context(group, info_name="earwitness", **group.context_settings)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        parts += [f"## {name}", _help(command, name, context)]
        if isinstance(command, click.Group):
            inner = click.Context(command, info_name=name, parent=context)
            for verb, one in command.commands.items():
                parts += [f"### {name} {verb}", _help(one, verb, inner)]
    return "\n\n".join(parts) + "\n"


def _help(command: click.Command, name: str, parent: click.Context | None) -> str:
    settings: dict[str, Any] = {"terminal_width": 100, "max_content_width": 100}
    settings |= command.context_settings
    context = click.Context(command, info_name=name, parent=parent, **settings)
    return f"```text\n{command.get_help(context)}\n```"


PAGES = {"metrics.md": metrics_page, "cli.md": cli_page}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (FOLDER / page).write_text(make(), encoding="utf-8")
        print(f"wrote docs/{page}")
