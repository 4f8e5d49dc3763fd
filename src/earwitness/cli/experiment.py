"""The command experiment references: how many references are enough."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from earwitness.cli.main import SubcommandGroup
from earwitness.cli.options import (
    MetricCommand,
    choose_metric_map,
    drop_unset,
    report_options,
)
from earwitness.cli.output import (
    FILE,
    FOLDER,
    JOBS_OPTION,
    QUIET_OPTION,
    FileName,
    OutputTarget,
    TextTarget,
    add_options,
    note_on_interruption,
    option,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.errors import UsageError
from earwitness.experiments.references import references_experiment
from earwitness.io.source import RecordSource
from earwitness.studies.answers import read_reading_answers, read_word_answers

# --- Command group -------------------------------------------------------------------------------


@click.group("experiment", cls=SubcommandGroup)
def experiment_command() -> None:
    """Find how many references are enough.

    \b
    earwitness experiment references outputs.jsonl references.jsonl -o report.html
    """


# --- Options of the simulator --------------------------------------------------------------------


SIMULATOR_SIZES = {
    "items": (50, "Number of utterances."),
    "ratio": (0.4, "Share of words that summaries keep."),
    "people": (25, "People who make summaries."),
    "systems": (9, "Number of automatic systems."),
    "judges": (10, "Judges who rate summaries."),
    "isolated": (0, "Isolated people among them."),
}


# sizes that are not set are None
simulator_options = add_options(
    *(
        option(
            f"--{name}",
            type=type(default),
            help=f"{text}  [default: {default}]",
        )
        for name, (default, text) in SIMULATOR_SIZES.items()
    )
)


# --- Options of the summarizer -------------------------------------------------------------------


SUMMARIZER_OPTIONS = {
    "lm": ("NAME", "pocketsphinx, an ARPA file, or none."),
    "grammar": ("FILE", "Grammar from train-grammar. [none]"),
    "language": ("CODE", "Language of the word frequencies. [en]"),
    "weights-file": ("FILE", "Weights from summarizer tune."),
    "systems-file": ("FILE", "Also write the outputs of the systems."),
}


summarizer_options = add_options(
    *(
        option(f"--{name}", help=text, metavar=metavar)
        for name, (metavar, text) in SUMMARIZER_OPTIONS.items()
    )
)


# --- Command experiment references ---------------------------------------------------------------


references_options = add_options(
    option(
        "--judgements",
        multiple=True,
        type=FILE,
        help="Table of ratings of the outputs (repeatable).",
    ),
    option(
        "--reading-answers",
        multiple=True,
        type=FILE,
        help="Ratings from reading trials (repeatable).",
    ),
    option("--words-answers", type=FILE, help="References from words trials."),
    signature_options(references_experiment, "resume_folder", "simulated", "leveling_tolerance"),
    JOBS_OPTION,
    option("--resume", type=FOLDER, help="Keep finished parts here, to resume."),
    QUIET_OPTION,
    option("--points", type=FILE, help="Also write all points (CSV)."),
    option("--simulate", is_flag=True, help="Simulate the data; no files are read."),
    option(
        "--make-systems",
        is_flag=True,
        help="Make up to nine systems; give REFERENCES alone.",
    ),
)
RESUME_REMARK = "run the same command again to resume"


@experiment_command.command("references", cls=MetricCommand)
@click.argument("outputs", required=False)
@click.argument("references", required=False)
@references_options
@summarizer_options
@simulator_options
@report_options
def references_command(
    outputs: str | None,
    references: str | None,
    *,
    judgements: tuple[Path, ...],
    reading_answers: tuple[Path, ...],
    words_answers: Path | None,
    jobs: int,
    quiet: bool,
    points: Path | None,
    resume: Path | None,
    simulate: bool,
    make_systems: bool,
    **options: Any,
) -> None:
    """Draw scores and correlations by number of references.

    \b
    REFERENCES have the references of several people per item; JSON Lines as for score. With
    --words-answers, they are the answers of people, and REFERENCES has the transcripts.
    earwitness experiment references outputs.jsonl references.jsonl \\
        --judgements ratings.csv --human anna -o report.html
    With --make-systems, systems summarize REFERENCES by word extraction, with up to nine
    combinations of linguistic scores, significance, confidence and concatenation.
    earwitness experiment references --make-systems references.jsonl -o report.html
    """
    import earwitness

    sizes = {name: options.pop(name) for name in SIMULATOR_SIZES}
    summarizer = {name: options.pop(name.replace("-", "_")) for name in SUMMARIZER_OPTIONS}
    if make_systems and not simulate:
        if references is not None:
            raise UsageError("--make-systems makes the outputs — give REFERENCES alone")
        outputs, references = None, outputs
    answers = [*reading_answers, *filter(None, [words_answers])]
    inputs = [outputs, references, *judgements, *answers]
    models = [summarizer[name] for name in ("lm", "grammar", "weights-file")]
    systems_file = summarizer["systems-file"]
    made_file = None if systems_file is None else Path(systems_file)
    target = OutputTarget.of(options, [*inputs, *models], points, made_file)
    point_file = None if points is None else TextTarget(points)
    check_summarizer_options(summarizer, make_systems=make_systems, simulate=simulate)
    work, notes = drop_unset(options), tuple[str, ...]()
    if simulate:
        data = simulated_inputs(inputs, sizes, work)
    else:
        ratio = sizes.pop("ratio") if make_systems else None
        check_files(outputs, references, sizes, make_systems=make_systems)
        read = (read_reading_answers(path) for path in reading_answers)
        given: Any = references
        if words_answers is not None and references is not None:
            given = read_word_answers(words_answers, references)
        data = {"outputs": outputs, "references": given, "judgements": [*judgements, *read]}
        if make_systems:
            RecordSource(given).check_rereadable("--make-systems")
            data["outputs"], notes = made_outputs(given, summarizer, ratio)
    with (
        warnings_as_notes(),
        note_on_interruption(RESUME_REMARK if resume else "nothing was written"),
        progress_bar(quiet=quiet, unit="steps") as progress,
    ):
        result = references_experiment(
            **{**work, **data},
            map=choose_metric_map(jobs, work.get("metrics", ())),
            progress=progress,
            resume_folder=resume,
        )
    result = replace(result, notes=(*notes, *result.notes))
    if result.simulated and target.title:
        target.title = f"{target.title} (simulated data)"
    target.write(result)
    if point_file is not None:
        point_file.write(earwitness.render(result, "csv"))


def simulated_inputs(
    inputs: list[FileName], sizes: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the inputs of an experiment from the simulator."""
    from earwitness.experiments.simulate import simulate_references_study

    if any(inputs) or options.get("human"):
        raise UsageError("--simulate reads no files and chooses the human system — leave them out")
    set_sizes = {name: size for name, size in sizes.items() if size is not None}
    study = simulate_references_study(seed=options.get("seed", 0), **set_sizes)
    return {
        "outputs": list(study.outputs),
        "references": list(study.references),
        "judgements": [list(study.judgements)],
        "human": study.human,
        "simulated": study.description,
    }


def check_summarizer_options(
    options: dict[str, Any], *, make_systems: bool, simulate: bool
) -> None:
    """Refuse options of made systems without them, and made systems of simulated data."""
    if make_systems and simulate:
        raise UsageError("--simulate makes its own systems — leave out --make-systems")
    for name, value in options.items():
        if value is not None and not make_systems:
            raise UsageError(f"--{name} is an option of made systems — use it with --make-systems")


def made_outputs(
    references: Any, options: dict[str, Any], ratio: float | None
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return the outputs of made systems, and notes."""
    from earwitness.experiments.systems import make_systems
    from earwitness.summaries.methods.summarize import open_models
    from earwitness.summaries.methods.tune import read_weights

    target = None if options["systems-file"] is None else TextTarget(Path(options["systems-file"]))
    models, notes = open_models(
        options["lm"] or "", options["grammar"] or "", language=options["language"] or "en"
    )
    weights_file = options["weights-file"]
    weights = None if weights_file is None else read_weights(weights_file)
    made = make_systems(references, models, weights=weights, ratio=ratio)
    if target is not None:
        target.write("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in made.outputs))
    return list(made.outputs), (*notes, *made.notes)


def check_files(
    outputs: str | None, references: str | None, sizes: dict[str, Any], *, make_systems: bool
) -> None:
    """Refuse options of the simulator without it, and missing files."""
    if make_systems and references is None:
        raise UsageError("REFERENCES are required — give a references file")
    if not make_systems and (outputs is None or references is None):
        raise UsageError("OUTPUTS and REFERENCES are required — or use --simulate")
    for name, size in sizes.items():
        if size is not None:
            raise UsageError(f"--{name} is a size of simulated data — use it with --simulate")
