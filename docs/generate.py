"""Pages that are made from the code; `make docs` writes them, a test compares them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np

from earwitness.cli.group import COMMANDS, group
from earwitness.data import Value
from earwitness.formats.shapes import Entry
from earwitness.formats.study import fields
from earwitness.formats.study.fields import schema
from earwitness.listening.kinds import KINDS, Kind
from earwitness.listening.kinds.rubric import RubricKind
from earwitness.listening.rubrics import Dimension, thumbs
from earwitness.listening.scale import Scale
from earwitness.listening.screening import SCREENS, Screen
from earwitness.listening.simulated import Person
from earwitness.listening.wordings import LANGUAGES, Wording, wording
from earwitness.metrics import METRICS, Metric

FOLDER = Path(__file__).parent
NOTE = "<!-- made by docs/generate.py; do not edit -->"
NAMED = ("string", "integer")  # types of a name
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


def kind_page(kind: type[Kind]) -> str:
    """A kind of trials: what it is, its parameters, and its words in every language."""
    module = __import__(kind.__module__, fromlist=["_"]).__doc__ or ""
    parameters = [
        f"| `{name}` | {_shown(default)} | {kind.help(name)} |"
        for name, default in kind.parameters().items()
    ]
    parts = [
        f"# {kind.name}: {kind.title}",
        NOTE,
        module.strip(),
        "\n".join(["| parameter | default | meaning |", "| :-- | :-- | :-- |", *parameters]),
    ]
    parts += [_scale_table(scale) for scale in kind.fixed]
    if issubclass(kind, RubricKind):
        parts += [_dimension_table(*own) for own in zip(*map(_dimensions, LANGUAGES), strict=True)]
    orders = [f"- {' – '.join(order)}" for order in kind().scale_orders]
    if len(orders) > 1:
        parts += ["Orders of the scales, balanced over listeners and sessions:", "\n".join(orders)]
    parts += [_view_text(kind), "\n".join(f"- {one}" for one in kind.references)]
    return "\n\n".join(parts) + "\n"


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _scale_table(scale: Scale) -> str:
    words = [wording(language) for language in LANGUAGES]
    rows = [f"| {' | '.join(labels)} |" for labels in zip(*_labels(scale, words), strict=True)]
    heads = [f"{scale.name}: {own.prompt(scale.name)}" for own in words]
    top = [f"| value | {' | '.join(heads)} |", f"| --: |{' :-- |' * len(words)}"]
    return "\n".join([*top, *rows])


def _dimensions(language: str) -> tuple[Dimension, ...]:
    return thumbs(language).dimensions


def _dimension_table(*languages: Dimension) -> str:
    """What the numbers of a dimension stand for, a column a language."""
    values = dict.fromkeys(anchor.value for one in languages for anchor in one.anchors)
    texts = [{anchor.value: anchor.text for anchor in one.anchors} for one in languages]
    rows = [f"| {value:g} | {' | '.join(own[value] for own in texts)} |" for value in values]
    heads = [f"{one.shown}: {one.help}" for one in languages]
    told = f"`{languages[0].name}`, a {languages[0].role}: {languages[0].range}."
    top = [f"| value | {' | '.join(heads)} |", f"| --: |{' :-- |' * len(languages)}"]
    return f"{told}\n\n" + "\n".join([*top, *rows])


def _labels(scale: Scale, words: list[Wording]) -> list[list[str]]:
    labels = [own.labels(scale.name) for own in words]
    if not scale.slider:
        return [[f"{value:g}" for value in scale.values], *labels]
    count = len(labels[0])
    ends = [scale.high - n * (scale.high - scale.low) / count for n in range(count + 1)]
    if scale.step < 1:  # labels stand at whole numbers
        return [[f"{scale.high - n:.1f}" for n in range(count)], *labels]
    return [[f"{a:g} … {b:g}" for a, b in pairwise(ends)], *labels]


def _view_text(kind: type[Kind]) -> str:
    made = kind()
    rng = np.random.default_rng(0)
    trial = made.trials(["item"], ["x", "y"], 1, rng, "reference")[0][0]
    captions = {"x": "Birds sing.", "y": "A bird sings."}
    view = made.view(
        trial,
        wording("en"),
        lambda _item, _system, place: f"s{place}",
        "reference",
        lambda _item, system: captions[system],
    )
    shown = json.dumps(view, indent=1, ensure_ascii=False)
    answer = json.dumps(made.simulate(trial, Person(lambda *_: 0.8), rng))
    told = "What a renderer is given, and an answer to it:"
    return f"{told}\n\n```json\n{shown}\n```\n\n```json\n{answer}\n```"


def study_page() -> str:
    """All keys of the study file."""
    intro = (
        "YAML; unknown keys are refused with the nearest known name, and all problems are told at "
        "once with their lines. `earwitness study new` writes a file to start from, "
        "`docs/study.schema.json` is the same as a JSON Schema, for editors. Paths are seen from "
        "the folder of the study file. The digest of a study is that of all it says and names "
        "(defaults too), however the file is written, but for the number of listeners: one more "
        "moves no other. It is in every answer and report. Words are text unless they are true, "
        "false, null or a number as people write it: yes, 010, 12:30 and dates stay as they are."
    )
    parts = ["# The study file", NOTE, intro, _keys(fields.STUDY)]
    inner = {
        "blocks": fields.BLOCK,
        "rubric": fields.RUBRIC,
        "rubric.dimensions": fields.DIMENSION,
        "rubric.examples": fields.EXAMPLE,
        "balance": fields.BALANCE,
        "forms": fields.FORMS,
        "forms.before, forms.after": fields.QUESTION,
        "screening": fields.RULE,
        "analysis": fields.ANALYSIS,
        "wordings": fields.WORDINGS,
        "wordings.scales": fields.SCALE,
    }
    for name, entries in inner.items():
        parts += [f"## {name}", _keys(entries)]
    rules = [
        f"| `{screen.name}` | {screen.doc} | {_limits(screen)} |" for screen in SCREENS.values()
    ]
    head = ["| rule | leaves out | limits |", "| :-- | :-- | :-- |"]
    return "\n\n".join([*parts, "## Rules of screening", "\n".join([*head, *rules])]) + "\n"


def _keys(entries: Mapping[str, Entry]) -> str:
    rows = [
        f"| `{key}` | {_type(entry.shape.schema)} | {_unless(entry)} | {entry.doc} |"
        for key, entry in entries.items()
    ]
    return "\n".join(
        ["| key | type | if left out | meaning |", "| :-- |" * 1 + " :-- |" * 3, *rows]
    )


def _limits(screen: Screen) -> str:
    return ", ".join(f"`{name}` {value:g}" for name, value in screen.limits.items())


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{name}`" for name in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    kind = schema.get("type", "anything")
    return {"object": "keys", "string": "text"}.get(str(kind), "name" if kind == [*NAMED] else kind)


def _unless(entry: Entry) -> str:
    if entry.required:
        return "needed"
    return "–" if entry.default in (None, "", [], {}) else f"{entry.default}".lower()


def schema_page() -> str:
    """The study file as a JSON Schema."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "metrics.md": metrics_page,
    "cli.md": cli_page,
    "study.md": study_page,
    "study.schema.json": schema_page,
    **{f"trial-kinds/{name}.md": partial(kind_page, kind) for name, kind in KINDS.items()},
}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (FOLDER / page).write_text(make(), encoding="utf-8")
        print(f"wrote docs/{page}")
