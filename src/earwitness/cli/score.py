"""The commands score, compare, people, gather and network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import earwitness
from earwitness.chapters.gather import gather
from earwitness.cli.options import (
    MetricCommand,
    choose_metric_jobs,
    drop_unset,
    report_options,
)
from earwitness.cli.output import (
    EXISTING_FILE,
    EXISTING_PATH,
    JOBS_OPTION,
    OUTPUT_OPTION,
    QUIET_OPTION,
    OutputTarget,
    TextTarget,
    format_option,
    option,
    output_format,
    output_option,
    print_message,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.scoring.score import people, score
from earwitness.scoring.settings import ComparisonSettings, ScoringSettings, SystemSettings
from earwitness.word_networks import network, written_network

NO_CEILING = "Omit the human ceiling (faster)."
SAMPLES = "File (.csv or .jsonl) for the values of every output."

# --- Command score -------------------------------------------------------------------------------


@click.command("score", cls=MetricCommand)
@click.argument("outputs")
@click.argument("references", required=False)
@signature_options(SystemSettings, ceiling=NO_CEILING)
@signature_options(score, "repeats", samples=SAMPLES)
@JOBS_OPTION
@QUIET_OPTION
@report_options
def score_command(
    outputs: str,
    references: str | None,
    samples: Path | None,
    alignments: Path | None,
    jobs: int | None,
    **options: Any,
) -> None:
    """Score system outputs against references, joined by item (- is stdin).

    Both may be folders with one file per item, such as those of yt-dlp, which are read as by
    earwitness gather.

    \b
    earwitness score outputs.jsonl references.jsonl --collar 1,3 --worst 5
    """
    target = OutputTarget.of(options, (outputs, references), samples, alignments)
    files = {"samples": samples, "alignments": alignments}
    work = {
        "jobs": choose_metric_jobs(jobs, options["metrics"], outputs, references),
        **files,
        **target.with_default_worst(drop_unset(options)),
    }
    with warnings_as_notes(), progress_bar() as progress:
        scores = earwitness.score(outputs, references, progress=progress, **work)
    for path in filter(None, files.values()):
        print_message(f"wrote {path}")
    target.write(scores)


# --- Command compare -----------------------------------------------------------------------------


@click.command("compare", cls=MetricCommand)
@click.argument("outputs")
@click.argument("references")
@signature_options(ComparisonSettings, ceiling=NO_CEILING)
@JOBS_OPTION
@QUIET_OPTION
@report_options
def compare_command(
    outputs: str,
    references: str,
    jobs: int | None,
    **options: Any,
) -> None:
    """Test which systems in OUTPUTS differ significantly.

    Pairs are compared on common items by permutation tests, Holm-corrected.

    \b
    earwitness compare outputs.jsonl references.jsonl --metric chunks --value pk
    """
    target = OutputTarget.of(options, (outputs, references))
    with warnings_as_notes(), progress_bar() as progress:
        comparison = earwitness.compare(
            outputs,
            references,
            jobs=choose_metric_jobs(jobs, options["metrics"], outputs, references),
            progress=progress,
            **target.with_default_worst(drop_unset(options)),
        )
    target.write(comparison)


# --- Command people ------------------------------------------------------------------------------


@click.command("people", cls=MetricCommand)
@click.argument("references")
@signature_options(ScoringSettings)
@signature_options(people, samples=SAMPLES)
@JOBS_OPTION
@QUIET_OPTION
@report_options
def people_command(
    references: str,
    samples: Path | None,
    jobs: int | None,
    **options: Any,
) -> None:
    """Measure the inter-annotator agreement of REFERENCES.

    Each annotator is scored against the other annotators of the same item: by default with
    agreement beyond chance, and with the default metrics of systems, as an upper bound for them.

    \b
    earwitness people references.jsonl
    earwitness people references.jsonl --samples people.csv
    """
    target = OutputTarget.of(options, (references,), samples)
    work = {
        "jobs": choose_metric_jobs(jobs, options["metrics"], references),
        "samples": samples,
        **drop_unset(options),
    }
    with warnings_as_notes(), progress_bar() as progress:
        scores = earwitness.people(references, progress=progress, **work)
    if samples is not None:
        print_message(f"wrote {samples}")
    target.write(scores)


# --- Command gather ------------------------------------------------------------------------------


SHOWN_SYSTEMS = 5  # in the note about gathered outputs


@click.command("gather")
@click.argument("files", nargs=-1, required=True, type=EXISTING_PATH)
@option(
    "--durations",
    type=EXISTING_FILE,
    metavar="FILE",
    help="CSV file with columns item and duration (in seconds); FILES are then references.",
)
@signature_options(
    gather,
    "durations",
    references="FILES are references that contain their durations (yt-dlp, TextGrid, JAMS).",
)
@output_option("Output file (JSON Lines).  [default: standard output]")
def gather_command(files: tuple[Path, ...], output: Path | None, **options: Any) -> None:
    """Convert subtitles and chapter files to JSON Lines, one item per file.

    FILES are files or folders. Without --durations they become outputs, and the folder name is the
    system; with --durations (or --references) they become references, and the folder name is the
    annotator. In a folder, only files of a known format are read. The format follows from the
    ending and the content; set --preset for other files. Files of recognizers have the words of
    summaries, with one item per recording.

    \b
    earwitness gather careful/ eager/ > outputs.jsonl
    earwitness gather --durations durations.csv anna/ bert/ > references.jsonl
    earwitness gather --durations durations.csv anna/ --transcript subtitles/ > references.jsonl
    """
    import msgspec

    target = TextTarget(output, [*files, *options["transcripts"], options["durations"]])
    with warnings_as_notes():
        records = gather(files, **drop_unset(options))
    chapters = [
        record for record in records if {"boundaries", "transcript"} & {*record.get("output", ())}
    ]
    if chapters and options["system"] is None:
        names = [*dict.fromkeys(str(chapter["system"]) for chapter in chapters)]
        listed = ", ".join(names[:SHOWN_SYSTEMS]) + (", …" if len(names) > SHOWN_SYSTEMS else "")
        message = f"gathered as outputs of {listed}; for references, add --durations FILE"
        print_message(f"note: {message}")
    target.write("".join(msgspec.json.encode(record).decode() + "\n" for record in records))


# --- Command network -----------------------------------------------------------------------------


NETWORK_FORMS = ("text", "json", "dot", "html")
NETWORK_FORM_BY_SUFFIX = {"gv": "dot", "txt": "text", "htm": "html"}


@click.command("network", cls=MetricCommand)
@click.argument("references")
@click.argument("item")
@signature_options(network, only=("outputs",))
@format_option(NETWORK_FORMS)
@OUTPUT_OPTION
def network_command(
    references: str, item: str, to: str | None, output: Path | None, **options: Any
) -> None:
    """Show the word network of the reference summaries of ITEM.

    The network has an arc from word to word for each transition in a reference summary, with the
    number of annotators who made it.

    \b
    earwitness network references.jsonl news-7 --outputs outputs.jsonl
    earwitness network references.jsonl news-7 --to dot | dot -Tsvg > news-7.svg
    """
    form = to or output_format(output, NETWORK_FORMS, NETWORK_FORM_BY_SUFFIX)
    target = TextTarget(output, (references, options.get("outputs")))
    with warnings_as_notes():
        drawn = network(references, item, **drop_unset(options))
    target.write(written_network(drawn, form))
