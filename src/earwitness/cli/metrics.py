"""The command metrics: metrics with their values and parameters, and options of input formats."""

from __future__ import annotations

from collections.abc import Iterator

import click

from earwitness.cli.options import option_flag


@click.command("metrics")
@click.argument("task", required=False)
def metrics_command(task: str | None) -> None:
    """List metrics with their values and parameters, and options of input formats.

    TASK is chapters, summaries, skims or the task of a plug-in.  [default: all]

    \b
    earwitness metrics chapters
    """
    from earwitness.errors import PluginError, UsageError, nearest
    from earwitness.registry import METRICS

    known = dict.fromkeys(kind.task for kind in METRICS.values())
    if task is not None and task not in known:
        raise UsageError(f'unknown task "{task}" — {nearest(task, known)}')
    click.echo(
        "\n\n".join("\n".join(_describe(subject)) for subject in ([task] if task else known))
    )
    for name in sorted(METRICS.keys() - METRICS.usable()):
        try:
            METRICS[name]
        except PluginError as error:
            click.echo(f"\n{name}: {error}")


def _describe(task: str) -> Iterator[str]:
    """Return the lines about a task: each option once, and each metric with its options."""
    from earwitness.registry import METRICS, TASKS
    from earwitness.report.numbers import ARROWS

    kinds = [kind for kind in METRICS.values() if kind.task == task]
    for variant in TASKS.values():
        if variant.subject == task:
            yield (
                f"{variant.name}: default {', '.join(variant.defaults)}; "
                f"people: {', '.join(variant.people)}"
            )
            for option in variant.options:
                default = f"  [default: {option.default}]" if option.default else ""
                yield _option(option.name, list(option.choices), f"{option.help}{default}")
    yield "parameters:"
    for name in dict.fromkeys(name for kind in kinds for name in kind.parameters()):
        having = [kind for kind in kinds if name in kind.parameters()]
        defaults = [kind.parameters()[name] for kind in having]
        shown = [str(default) for default in defaults if default is not False]
        yield _option(name, [*shown, *having[0].choices(name)], having[0].help(name))
    for kind in kinds:
        flags = ", ".join(map(option_flag, kind.parameters()))
        yield f"{kind.name}: {kind.title} ({flags})" if flags else f"{kind.name}: {kind.title}"
        for value in kind.values:
            yield f"  {value.name} {ARROWS[value.best]}".rstrip() + f": {value.doc}"


def _option(name: str, values: list[str], text: str) -> str:
    """Return the line about an option; its default is the first of its values."""
    option = f"  {option_flag(name)} {'|'.join(dict.fromkeys(values))}".rstrip()
    return f"{option}: {text.replace('``', '')}"
