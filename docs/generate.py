"""Pages generated from the code; `make docs` writes them, and a test compares them."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from earwitness.analysis import screening
from earwitness.analysis.screening import SCREENS, Screen
from earwitness.chapters.presets import PRESETS
from earwitness.cli.main import COMMANDS, group
from earwitness.core import Value
from earwitness.io.formats import TextFormat
from earwitness.material.annotations import ANNOTATIONS
from earwitness.metric import Metric
from earwitness.navigator.labels import LABELS
from earwitness.ratings.rubric import LANGUAGES, Dimension, thumbs
from earwitness.ratings.scales import Scale
from earwitness.registry import METRICS
from earwitness.studies.file.schema import study_schema
from earwitness.studies.population import Person
from earwitness.studies.study import SpokenText
from earwitness.studies.trials import KINDS
from earwitness.studies.trials.base import TrialKind
from earwitness.studies.trials.rubric import RubricKind
from earwitness.studies.wording import Wording, wording
from earwitness.text.timed_transcripts import TRANSCRIPTS, TranscriptFormat

FOLDER = Path(__file__).parent
NOTE = "<!-- made by docs/generate.py; do not edit -->"
NAMED = ("string", "integer")  # types of a name
UNLIMITED = 1_000_000  # a maximum from which on no limit is shown
TRANSCRIPT = SpokenText(("In", "the", "morning", "birds", "sing", "in", "the", "garden"))
METRICS_BY_TASK = {
    task: [kind for kind in METRICS.built_in.values() if kind.task == task]
    for task in dict.fromkeys(kind.task for kind in METRICS.built_in.values())
}


class CommandPage(NamedTuple):
    """Title and commands of a page, without the subcommands of its groups."""

    title: str
    commands: tuple[str, ...]


COMMAND_PAGES = {
    "score": CommandPage(
        "Commands that score outputs",
        ("score", "compare", "people", "metrics", "gather", "network", "chunkseg"),
    ),
    "audio": CommandPage("Commands for listening material", ("audio",)),
    "study": CommandPage("Commands that plan a study", ("study",)),
    "serve": CommandPage(
        "Commands that run a study",
        (
            "study links",
            "study status",
            "study backup",
            "study restore",
            "study export",
            "study export-xlsx",
            "study import-xlsx",
            "study sheets",
            "study enter",
            "serve",
        ),
    ),
    "ratings": CommandPage(
        "Commands that analyse ratings",
        ("study ratings", "study summaries", "study analyse", "agree", "experiment"),
    ),
    "speech": CommandPage(
        "Commands for speech", ("transcribe", "align", "summarize", "summarizer")
    ),
    "recordings": CommandPage("Commands for long recordings", ("browse", "skim", "soundscape")),
}
BEST = {"high": "higher", "low": "lower", "none": "—"}


def metrics_page() -> str:
    """All metrics by task, with links to the pages of the tasks."""
    intro = (
        "A metric is a family of values with one set of parameters. Statistics are computed for "
        "each output and summed over outputs; values are computed from the sums. "
        "[Algorithms](algorithms/index.md) has a plain version of each. Undefined values are NaN, "
        "and counted."
    )
    parts = ["# All metrics", NOTE, intro]
    for task, kinds in METRICS_BY_TASK.items():
        rows = [
            f"| [{kind.name}](metrics/{task}.md#{kind.name}) | "
            f"{', '.join(f'`{value.name}`' for value in kind.values)} |"
            for kind in kinds
        ]
        head = f"## [{_metrics_title(task)}](metrics/{task}.md)"
        parts += [head, "\n".join(["| metric | values |", "| :-- | :-- |", *rows])]
    return "\n\n".join(parts) + "\n"


def task_metrics_page(task: str) -> str:
    """The metrics of a task with their parameters, values and undefined cases."""
    parts = [f"# {_metrics_title(task)}", NOTE, *map(_metric, METRICS_BY_TASK[task])]
    return "\n\n".join(parts) + "\n"


def _metrics_title(task: str) -> str:
    return f"Metrics of {task}"


def _metric(kind: type[Metric]) -> str:
    text = _description(kind)
    rows = [_row(value) for value in kind.values]
    parameters = [
        f"| `{name}` | {default} | {kind.help(name)} |"
        for name, default in kind.parameters().items()
    ]
    return "\n".join(
        [
            f"## {kind.name}",
            "",
            text,
            "",
            "| parameter | default | meaning |",
            "| :-- | :-- | :-- |",
            *parameters,
            "",
            "| value | better | range | meaning |",
            "| :-- | :-- | :-- | :-- |",
            *rows,
            "",
            "| situation | values |",
            "| :-- | :-- |",
            *(f"| {cell} | {text} |" for cell, text in kind.empty_cells.items()),
            "",
            *(f"- {reference}" for reference in kind.references),
        ]
    )


def _description(kind: type[Metric] | type[TrialKind]) -> str:
    """Return the docstring up to its first section, such as Parameters."""
    text = cleandoc(kind.__doc__ or "")
    return re.split(r"\n\n\w+\n-{3,}\n", text, maxsplit=1)[0]


def _row(value: Value) -> str:
    top = "∞" if value.high == float("inf") else f"{value.high:g}"
    return f"| `{value.name}` | {BEST[value.best]} | {value.low:g} … {top} | {value.doc} |"


def cli_page() -> str:
    """All commands by page, with links."""
    context = click.Context(group, info_name="earwitness", **group.context_settings)
    intro = (
        "`earwitness COMMAND --help` prints the same texts. "
        "[File formats](formats.md) lists the files that commands read and write."
    )
    parts = ["# All commands", NOTE, _help(group, "earwitness", None), intro]
    for page, (title, _) in COMMAND_PAGES.items():
        rows = [
            f"| [{name}](cli/{page}.md#{name.replace(' ', '-')}) | {_help_line(command)} |"
            for name, command, _ in _commands(page, context)
        ]
        head = "| command | what it does |\n| :-- | :-- |"
        parts += [f"## [{title}](cli/{page}.md)", "\n".join([head, *rows])]
    return "\n\n".join(parts) + "\n"


def commands_page(page: str) -> str:
    """The help of every command of a page."""
    context = click.Context(group, info_name="earwitness", **group.context_settings)
    parts = [f"# {COMMAND_PAGES[page].title}", NOTE]
    for name, command, parent in _commands(page, context):
        parts += [f"## {name}", _help(command, name.split()[-1], parent)]
    return "\n\n".join(parts) + "\n"


def _commands(
    page: str, context: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """The commands of a page, with their contexts; a subcommand is on the page of its group,
    unless another page names it.
    """
    pages = {name: page for page, (_, names) in COMMAND_PAGES.items() for name in names}
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        if pages[name] == page:
            yield name, command, context
        if isinstance(command, click.Group):
            inner = click.Context(command, info_name=name, parent=context)
            for verb in command.list_commands(inner):
                if pages.get(f"{name} {verb}", pages[name]) == page:
                    subcommand = command.get_command(inner, verb)
                    assert subcommand is not None
                    yield f"{name} {verb}", subcommand, inner


def _help_line(command: click.Command) -> str:
    return command.get_short_help_str(200).replace("|", "\\|")


def _help(command: click.Command, name: str, parent: click.Context | None) -> str:
    settings: dict[str, Any] = {"terminal_width": 100, "max_content_width": 100}
    settings |= command.context_settings
    context = click.Context(command, info_name=name, parent=parent, **settings)
    return f"```text\n{command.get_help(context)}\n```"


def kind_page(kind: type[TrialKind]) -> str:
    """A trial kind: description, parameters, and labels in every language."""
    text = _description(kind)
    parameters = [
        f"| `{name}` | {_shown(default)} | {kind.help(name)} |"
        for name, default in kind.parameters().items()
    ]
    parts = [
        f"# {kind.name}: {kind.title}",
        NOTE,
        text,
        *_kind_picture(kind.name),
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


def _kind_picture(name: str) -> list[str]:
    """The picture of a trial in the browser, if `docs/pictures.py` has made one."""
    exists = (FOLDER / "images" / f"trial-{name}.png").exists()
    return [f"![A trial of the kind {name} in the browser](../images/trial-{name}.png)"] * exists


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
    """The meaning of the numbers of a dimension, one column per language."""
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


def _view_text(kind: type[TrialKind]) -> str:
    made = kind().with_transcript(TRANSCRIPT)
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
    intro = "The data that a renderer receives, and an answer:"
    return f"{intro}\n\n```json\n{shown}\n```\n\n```json\n{answer}\n```"


def study_page() -> str:
    """All keys of the study file."""
    intro = (
        "A study file is YAML. Unknown keys are refused with the nearest known name. All errors "
        "are reported at once with their lines. `earwitness study new` writes a template; "
        "[study.schema.json](study.schema.json) is a JSON Schema for editors. Paths are relative "
        "to the folder of the study file. A study is identified by a hash of its design, with "
        "defaults and the table of clips; comments and formatting do not change it, nor do the "
        "texts of pages and the number of listeners. The hash is part of every answer and report. "
        "Unquoted words are text "
        "unless they are true, false, null or a plain number: yes, 010, 12:30 and dates are text."
    )
    keys = study_schema()["$defs"]
    parts = ["# Study file", NOTE, intro, _keys(keys["StudyKeys"])]
    inner = {
        "blocks": "BlockKeys",
        "device": "DeviceKeys",
        "rubric": "RubricKeys",
        "rubric.dimensions": "DimensionKeys",
        "rubric.examples": "ExampleKeys",
        "recordings": "RecordingKeys",
        "recording_display": "DisplayKeys",
        "balance": "BalanceKeys",
        "hearing": "HearingKeys",
        "quality": "QualityKeys",
        "forms": "FormKeys",
        "forms.before, forms.after": "QuestionKeys",
        "screening": "RuleKeys",
        "analysis": "AnalysisKeys",
        "wordings": "WordingKeys",
        "wordings.scales": "ScaleKeys",
    }
    for title, name in inner.items():
        parts += [f"## {title}", _keys(keys[name])]
    rules = [
        f"| `{screen.name}` | {screen.doc} | {_limits(screen)} |" for screen in SCREENS.values()
    ]
    rules += [
        f"| `{name}` | the rules {', '.join(f'`{one}`' for one in ruled)} together | |"
        for name, ruled in screening.PRESETS.items()
    ]
    head = ["| rule | excludes | limits |", "| :-- | :-- | :-- |"]
    return "\n\n".join([*parts, "## Screening rules", "\n".join([*head, *rules])]) + "\n"


def _keys(schema: dict[str, Any]) -> str:
    rows = [
        f"| `{key}` | {_type(entry)} | {_unless(entry, key in schema['required'])} "
        f"| {entry['description']} |"
        for key, entry in schema["properties"].items()
    ]
    return "\n".join(["| key | type | default | meaning |", "| :-- |" * 1 + " :-- |" * 3, *rows])


def _limits(screen: Screen) -> str:
    return ", ".join(f"`{name}` {value:g}" for name, value in screen.limits.items())


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{name}`" for name in schema["enum"])
    if "$ref" in schema:
        return "keys"
    if "anyOf" in schema:
        types = [one.get("type") for one in schema["anyOf"]]
        if types in (["array", "object"], ["array", None], ["string", "array"]):
            return " or ".join(map(_type, schema["anyOf"]))
        return "name" if types == [*NAMED] else "anything"
    if "prefixItems" in schema:
        return f"list of {_type(schema['prefixItems'][0])}"
    if schema["type"] == "array":
        return f"list of {_type(schema['items'])}"
    name = str(schema["type"])
    return {"object": "keys", "string": "text"}.get(name, name) + _range(schema)


def _range(schema: dict[str, Any]) -> str:
    """The limits of a number, if there are any."""
    low, high = schema.get("minimum"), schema.get("maximum", UNLIMITED)
    if low is None:
        return ""
    if high < UNLIMITED:
        return f", {low:g} to {high:g}".replace("-", "−")
    return f", at least {low:g}" if low in (0, 1) else ", above 0"


def _unless(schema: dict[str, Any], required: bool) -> str:
    if required:
        return "required"
    default = schema.get("default")
    return "–" if default in (None, "", [], {}) else f"{default}".lower()


def schema_page() -> str:
    """The study file as a JSON Schema."""
    return json.dumps(study_schema(), indent=1, ensure_ascii=False) + "\n"


# --- The source tree ------------------------------------------------------------------------------


ARCHITECTURE = """\
Every score and every rating refers to one output, `Key(item, system)`. Metrics and people assign
values to keys, and agreement joins both by key.

## The three data paths

```text
A  chapters/records → chapters/reader → scoring/join → scoring/measure → chapters/metrics
     → scoring/run → scoring/collectors → scoring/results → scoring/report → report
B  studies/file → studies/design → studies/trials → studies/pages → web → store
     → studies/from_answers → studies/collect ─┐
   ratings/reader → analysis/rating_set ───────┴→ analysis/screening → analysis/pipeline
     → analysis/results → analysis/report
C  metaeval/join → metaeval/levels → metaeval/coefficients → metaeval/figures
     → metaeval/pipeline → metaeval/results → metaeval/report
```

Path A scores outputs against references; `summaries` and `skims` replace `chapters`. The engine in
`scoring` does not depend on any task: `<task>/task.py` declares its metrics, reader, options,
fields and collectors. Path B runs listening tests; tables of ratings enter it without a study.
Path C compares both.

## Domains and libraries

A *domain* (`chapters`, `summaries`, `skims`, `navigator`, `soundscapes`, `scoring`, `ratings`,
`analysis`, `metaeval`, `studies`) owns its record structs, reader, computation, result types and
report. A *library* (`io`, `text`, `audio`, `recordings`, `models`, `stats`, `report`, `engines`)
does not depend on any domain. `ratings` says what a vote is, and `analysis` turns votes into
results; neither knows studies: scales, controls, plan and evidence of playback come as data.
`studies` designs and runs studies, and turns their answers into ratings. `forms` has workbooks and
paper sheets, the ways to answer without a browser. The same role has the same file name everywhere:
`records.py` (structs of a file), `reader.py`, `metrics.py`, `settings.py`, `pipeline.py`,
`results.py`, `report.py`, `export.py`.

A layer may import the layers below it, and no modules import each other in a cycle. `make layers`
and the tests check this.

"""
PLACES = (  # what is added, where it is written, where it is registered
    (
        "a metric",
        "a class in `<task>/metrics.py`, or `text_metrics.py` for texts",
        "the `Task` in `<task>/task.py`",
    ),
    (
        "a task",
        "a folder with `records.py`, `reader.py`, `metrics.py` and `task.py`",
        "`BUILT_IN_TASKS` in `registry.py`",
    ),
    (
        "a trial kind",
        "a module in `studies/trials/`, a renderer in `web/static/trials/`",
        "`BUILT_IN_KINDS` in `studies/trials/__init__.py`, scales in `ratings/scales.py`",
    ),
    (
        "any of these three, or a type of results, from another package",
        "the same, and entry points; see CONTRIBUTING.md",
        "`earwitness.metrics`, `earwitness.tasks`, `earwitness.trials`, `earwitness.results`",
    ),
    ("a screening rule", "a function in `analysis/screening.py`", "`SCREENS` there"),
    ("a ratings format", "`ratings/layouts.py`", "`TOOL_LAYOUTS` there"),
    (
        "a format of transcripts",
        "a function in `text/timed_transcripts.py`",
        "`TRANSCRIPTS` there",
    ),
    (
        "a format of chapters",
        "a function in `chapters/formats.py`",
        "`PRESETS` in `chapters/presets.py`",
    ),
    (
        "a format of annotated speech",
        "a function in `material/annotations.py`",
        "`ANNOTATIONS` there",
    ),
    ("a format of labels", "a function in `navigator/labels.py`", "`LABELS` there"),
    ("an audio format", "`audio/decode.py`", ""),
    ("an embedder", "a module in `models/`", "`EMBEDDERS` in `models/embedders.py`"),
    (
        "a skim method",
        "a module in `skims/methods/`",
        "`METHODS` in `skims/methods/__init__.py`",
    ),
    (
        "a coefficient of agreement with ratings",
        "`metaeval/coefficients.py`",
        "`COEFFICIENTS` there",
    ),
    ("a part of reports", "a class in `report/parts.py`, and every format in `report/`", ""),
    (
        "a type of results",
        "a subclass of `Result` that holds data, and functions for its `Report` and its tables",
        "`RENDERERS` in `output_formats.py`",
    ),
    ("an output format", "`report/`, then `output_formats.py`", "`FORMS` there"),
    ("a command", "a function in `cli/`, over a verb of a domain", "`COMMANDS` in `cli/main.py`"),
)


def architecture_page() -> str:
    """The source tree: data paths, layers, and every module in one line."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    source = FOLDER.parent / "src" / "earwitness"
    folders: dict[Path, list[Path]] = {}
    for path in sorted(source.rglob("*.py")):
        folders.setdefault(path.parent, []).append(path)
    parts = [f"# Architecture\n\n{NOTE}\n\n{ARCHITECTURE}```text\n" + "\n".join(layers) + "\n```\n"]
    places = "\n".join(f"| {what} | {where} | {table} |" for what, where, table in PLACES)
    head = "| to add | write | register it in |\n| :-- | :-- | :-- |"
    parts += [f"## Where to add what\n\n{head}\n{places}\n", "## Every module\n"]
    for folder, paths in folders.items():
        name = folder.relative_to(source.parent)
        parts.append(f"### {name}\n\n{_first_line(folder / '__init__.py')}\n")
        rows = [f"| `{p.name}` | {_first_line(p)} |" for p in paths if p.name != "__init__.py"]
        if rows:
            parts.append("\n".join(["| module | content |", "| :-- | :-- |", *rows, ""]))
    return "\n".join(parts)


def _first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0]


# --- Tables of formats in pages written by hand ---------------------------------------------------


def tables_page(name: str) -> str:
    """A page with its tables of formats, each between a comment and the next blank line."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return TABLE.sub(lambda found: found[1] + TABLES[found[2]](), text)


def preset_table() -> str:
    """The chapter formats."""
    rows = [f"| `{name}` | {_files(form)} | {form.content} |" for name, form in PRESETS.items()]
    return "\n".join(["| preset | files | chapters |", "| :-- | :-- | :-- |", *rows])


def transcript_table() -> str:
    """The formats of transcripts with times."""
    rows = [
        f"| {form.tools} | {_files(form)} | {form.content} | {form.item} |"
        for form in TRANSCRIPTS.values()
    ]
    head = ["| tool | file | what is read | item |", "| :-- | :-- | :-- | :-- |"]
    return "\n".join([*head, *rows])


def annotation_table() -> str:
    """The formats of annotated speech."""
    rows = [f"| {one.title} | {_files(one)} | {one.content} |" for one in ANNOTATIONS.values()]
    page = "formats.md#input-transcripts-of-other-tools"
    rows.append(f"| [transcripts with times]({page}) | | as named in the file, else its name |")
    return "\n".join(["| format | file | recording |", "| :-- | :-- | :-- |", *rows])


def label_table() -> str:
    """The formats of labels."""
    rows = [f"| {form.title} | {form.content} |" for form in LABELS.values()]
    return "\n".join(["| file | content |", "| :-- | :-- |", *rows])


def _files(form: TextFormat) -> str:
    """The endings or names of the files of a format."""
    listed = ", ".join(f"`{one}`" for one in (*form.endings, *form.shared))
    beside = form.beside if isinstance(form, TranscriptFormat) else ""
    return f"{listed}, and `{beside}` next to it" if beside else listed


TABLE = re.compile(r"(<!-- table of (\w+), made by docs/generate.py -->\n\n)\|.*?(?=\n\n)", re.S)
TABLES = {
    "presets": preset_table,
    "transcripts": transcript_table,
    "annotations": annotation_table,
    "labels": label_table,
}


# --- Lists of pages -------------------------------------------------------------------------------


def kinds_page() -> str:
    """All trial kinds, with links to their pages."""
    intro = (
        "A trial kind defines what a trial presents, what it asks, and which ratings follow from "
        "the answers. `kind` of a block in the [study file](../study.md) chooses it."
    )
    head = "| kind | protocol | scales |\n| :-- | :-- | :-- |"
    rows = [
        f"| [{name}]({name}.md) | {kind.title} | "
        f"{', '.join(scale.name for scale in kind.fixed) or '–'} |"
        for name, kind in KINDS.items()
    ]
    return "\n\n".join(["# Trial kinds", NOTE, intro, "\n".join([head, *rows])]) + "\n"


def decisions_page() -> str:
    """All decisions, with links to their pages."""
    intro = (
        "Each page records choices that another developer might have made differently, with their "
        "reasons."
    )
    paths = sorted((FOLDER / "decisions").glob("0*.md"))
    rows = [f"- [{_title(path)}]({path.name})" for path in paths]
    return "\n\n".join(["# Decisions", NOTE, intro, "\n".join(rows)]) + "\n"


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")


def algorithms_page() -> str:
    """All plain versions of algorithms, with links to their source."""
    intro = (
        "Slow, plain Python versions of the algorithms, written to be read. The tests compare the "
        "fast implementations with them."
    )
    paths = sorted((FOLDER / "algorithms").glob("*.py"))
    rows = [
        f"| [{path.stem}]({path.name}) | {_first_line(path)} |"
        for path in paths
        if path.stem != "__init__"
    ]
    head = "| file | content |\n| :-- | :-- |"
    return "\n\n".join(["# Algorithms", NOTE, intro, "\n".join([head, *rows])]) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "algorithms/index.md": algorithms_page,
    "decisions/index.md": decisions_page,
    "trial-kinds/index.md": kinds_page,
    "architecture.md": architecture_page,
    "metrics.md": metrics_page,
    **{f"metrics/{task}.md": partial(task_metrics_page, task) for task in METRICS_BY_TASK},
    "cli.md": cli_page,
    **{f"cli/{page}.md": partial(commands_page, page) for page in COMMAND_PAGES},
    "study.md": study_page,
    "study.schema.json": schema_page,
    **{
        name: partial(tables_page, name)
        for name in ("formats.md", "listening-material.md", "browse.md")
    },
    **{f"trial-kinds/{name}.md": partial(kind_page, kind) for name, kind in KINDS.items()},
}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (FOLDER / page).parent.mkdir(exist_ok=True)
        (FOLDER / page).write_text(make(), encoding="utf-8")
        print(f"wrote {(FOLDER / page).resolve().relative_to(FOLDER.parent)}")
