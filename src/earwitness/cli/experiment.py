"""The command experiment references: how many references are enough."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import click

from earwitness.cli.main import SubcommandGroup
from earwitness.cli.options import (
    MetricCommand,
    choose_metric_jobs,
    drop_unset,
    report_options,
)
from earwitness.cli.output import (
    FILE_PATH,
    JOBS_OPTION,
    QUIET_OPTION,
    FileName,
    OutputTarget,
    list_option,
    note_on_interruption,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.cli.types import Pair, collect_pairs
from earwitness.errors import UsageError, nearest
from earwitness.experiments.references import references_experiment


@click.group("experiment", cls=SubcommandGroup)
def experiment_command() -> None:
    """Find how many references are enough.

    \b
    earwitness experiment references outputs.jsonl references.jsonl -o report.html
    """


RESUME_REMARK = "run the same command again to resume"


@experiment_command.command("references", cls=MetricCommand)
@click.argument("outputs", required=False)
@click.argument("references", required=False)
@click.argument("judgements", nargs=-1, type=FILE_PATH)
@signature_options(references_experiment, "simulated", "leveling_tolerance", "isolated_rule")
@JOBS_OPTION
@QUIET_OPTION
@list_option(
    "--simulate",
    type=Pair(float),
    callback=collect_pairs,
    metavar="NAME=N",
    help="Simulate data instead of reading files, with this number of items, people, systems, "
    "judges or isolated annotators, or this ratio of kept words, such as items=50 (repeatable).",
)
@report_options
def references_command(
    outputs: str | None,
    references: str | None,
    *,
    judgements: tuple[Path, ...],
    jobs: int | None,
    simulate: Mapping[str, float],
    **options: Any,
) -> None:
    """Draw scores and correlations by number of references.

    \b
    REFERENCES have the references of several annotators per item; JSON Lines as for score.
    JUDGEMENTS are tables of ratings of the outputs, as for agree.
    earwitness experiment references outputs.jsonl references.jsonl ratings.csv \\
        --human anna -o report.html
    """
    inputs: list[FileName] = [outputs, references, *judgements]
    target = OutputTarget.of(options, inputs)
    work = drop_unset(options)
    if simulate:
        work |= simulated_inputs(inputs, simulate, work)
    elif outputs is None or references is None:
        raise UsageError("OUTPUTS and REFERENCES are required — or use --simulate")
    else:
        work |= {"outputs": outputs, "references": references, "judgements": judgements}
    with (
        warnings_as_notes(),
        note_on_interruption(RESUME_REMARK if "cache" in work else "nothing was written"),
        progress_bar(unit="steps") as progress,
    ):
        result = references_experiment(
            **work,
            jobs=choose_metric_jobs(jobs, work.get("metrics", ()), outputs, references),
            progress=progress,
        )
    if result.simulated and target.title:
        target.title = f"{target.title} (simulated data)"
    target.write(result)


def simulated_inputs(
    inputs: list[FileName], numbers: Mapping[str, float], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the inputs of an experiment from the simulator."""
    from earwitness.experiments.simulate import simulate_references_study

    if any(inputs) or options.get("human"):
        raise UsageError("--simulate reads no files and chooses the human system — leave them out")
    known, given = signature(simulate_references_study).parameters, dict[str, Any]()
    for name, number in numbers.items():
        if name not in known:
            raise UsageError(f'--simulate: unknown number "{name}" — {nearest(name, known)}')
        given[name] = type(known[name].default)(number)
        if given[name] != number:
            raise UsageError(f"--simulate: {name} must be a whole number, got {number:g}")
    study = simulate_references_study(**{"seed": options.get("seed", 0)} | given)
    return {
        "outputs": list(study.outputs),
        "references": list(study.references),
        "judgements": [list(study.judgements)],
        "human": study.human,
        "simulated": study.description,
    }
