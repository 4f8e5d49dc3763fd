"""The commands score, compare, people, metrics, gather and network."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import click

from earwitness import api
from earwitness.cli.options import (
    SHARED_OPTIONS,
    CountList,
    choose_map,
    drop_unset,
    network_options,
    shared_options,
)
from earwitness.cli.output import OutputTarget, check_results, output_format, progress_bar
from earwitness.errors import EarwitnessWarning, PluginError
from earwitness.io.atomic import AtomicFile

# --- Command score -------------------------------------------------------------------------------


@click.command("score")
@click.argument("outputs")
@click.argument("references", required=False)
@shared_options()
@click.option("--system", help="Name of the system, where one file holds both sides.")
@click.option(
    "--samples",
    type=click.Path(path_type=Path),
    help="Also write every sample's values to this .csv or .jsonl file.",
)
@click.option(
    "--references",
    "fewer",
    type=CountList(),
    default="",
    metavar="N,…",
    help="Also score against so many references of each item, drawn anew (for --samples).",
)
@click.option(
    "--repeats", default=5, show_default=True, help="How often so many references are drawn."
)
@click.option(
    "--alignments",
    type=click.Path(path_type=Path),
    help="Also write every sample's words to this text file, output below reference.",
)
def score_command(
    outputs: str,
    references: str | None,
    to: str | None,
    output: Path | None,
    samples: Path | None,
    alignments: Path | None,
    jobs: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Score OUTPUTS against REFERENCES.

    OUTPUTS alone is a file of chunkseg's: JSON lines with hypothesis, reference and duration. With
    REFERENCES both are JSON lines joined by item, and OUTPUTS may hold several systems. Either may
    be - for standard input, and may end in .gz or .zst. A metric's option may have several
    values: --collar 1,3 scores with both.

    \b
    earwitness score samples.jsonl
    earwitness score outputs.jsonl references.jsonl --collar 5 --worst 3
    """
    target = OutputTarget(to, output, (outputs, references), samples, alignments)
    files = {"samples": samples, "alignments": alignments}
    work = {
        "map": choose_map(jobs, options["metrics"]),
        **files,
        **target.with_default_worst(drop_unset(options)),
    }
    with progress_bar(quiet=quiet) as progress:
        scores = api.score(outputs, references, progress=progress, **work)
    for path in filter(None, files.values()):
        click.echo(f"wrote {path}", err=True)
    target.write(scores)


# --- Command compare -----------------------------------------------------------------------------


@click.command("compare")
@click.argument("outputs")
@click.argument("references")
@click.option(
    "--value",
    "values",
    multiple=True,
    help="Which values; may be given several times.  [default: each metric's headline]",
)
@click.option("--alpha", default=0.05, show_default=True, help="Below which p systems differ.")
@click.option("--permutations", default=10_000, show_default=True, help="Of the test.")
@shared_options()
def compare_command(
    outputs: str,
    references: str,
    to: str | None,
    output: Path | None,
    jobs: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Say which systems in OUTPUTS can be told apart.

    All pairs of systems are compared on the items that every system answered: the difference with
    an interval (paired bootstrap), p by swapping outputs item by item (permutation test), and p
    corrected for all pairs (Holm).

    \b
    earwitness compare outputs.jsonl references.jsonl
    earwitness compare outputs.jsonl references.jsonl --metric chunks --value pk --value f1
    """
    target = OutputTarget(to, output, (outputs, references))
    with progress_bar(quiet=quiet) as progress:
        comparison = api.compare(
            outputs,
            references,
            map=choose_map(jobs, options["metrics"]),
            progress=progress,
            **target.with_default_worst(drop_unset(options)),
        )
    target.write(comparison)


# --- Command people ------------------------------------------------------------------------------


@click.command("people")
@click.argument("references")
@shared_options(systems=False)
def people_command(
    references: str, to: str | None, output: Path | None, jobs: int, quiet: bool, **options: Any
) -> None:
    """Say how well the annotators of REFERENCES agree.

    Each annotator in turn is scored against the others of the same item: by default for agreement
    beyond chance, and by the metrics that systems are scored with, for which this is the ceiling.

    \b
    earwitness people references.jsonl
    """
    del quiet
    target = OutputTarget(to, output, (references,))
    target.write(
        api.people(references, map=choose_map(jobs, options["metrics"]), **drop_unset(options))
    )


# --- Command metrics -----------------------------------------------------------------------------


@click.command("metrics")
def metrics_command() -> None:
    """List the metrics with their values and parameters."""
    from earwitness.registry import METRICS
    from earwitness.report.numbers import ARROWS

    for name in METRICS:
        try:
            kind = METRICS[name]
        except PluginError as error:
            click.echo(f"{name}: {error}")
            continue
        click.echo(f"{name} ({kind.task}): {kind.title}")
        for parameter, default in kind.parameters().items():
            click.echo(f"  --{parameter.replace('_', '-')} {default}: {kind.help(parameter)}")
        for value in kind.values:
            click.echo(f"  {value.name} {ARROWS[value.best]}".rstrip() + f": {value.doc}")


# --- Command gather ------------------------------------------------------------------------------


@click.command("gather")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--durations",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Make references: a CSV file with the columns item and duration (in seconds).",
)
@click.option("--system", help="Name of the system.  [default: a file's folder]")
@click.option(
    "--spoken",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Add what was said, for --metric sentences: files or folders of .srt, .vtt or .ctm.",
)
@SHARED_OPTIONS["preset"]
@SHARED_OPTIONS["pattern"]
@SHARED_OPTIONS["timestamp_format"]
@SHARED_OPTIONS["output"]
def gather_command(files: tuple[Path, ...], output: Path | None, **options: Any) -> None:
    """Make JSON lines of FILES: subtitles and lists of chapters, a file an item.

    Without --durations they are outputs, and their folder is the system; with it they are
    references, and their folder is the annotator. A folder stands for the files in it that can be
    read. The preset follows from the ending (.srt, .vtt, .json, .ffmeta); --preset is for others,
    and for files that are named one by one. A .ctm file has recognised words of summaries, an item
    for every recording.

    \b
    earwitness gather careful/ eager/ > outputs.jsonl
    earwitness gather --durations durations.csv anna/ bert/ > references.jsonl
    earwitness gather --durations durations.csv anna/ --spoken subtitles/ > references.jsonl
    """
    import msgspec

    target = None if output is None else AtomicFile(output)
    read = [*files, *options["spoken"], *(path for path in [options.get("durations")] if path)]
    check_results(map(str, read), (output,))
    set_options = {name: value for name, value in options.items() if value not in (None, ())}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EarwitnessWarning)
        records = api.gather(files, **set_options)
    for warning in caught:
        click.echo(f"note: {warning.message}", err=True)
    lines = [msgspec.json.encode(one).decode() + "\n" for one in records]
    if target is None:
        sys.stdout.writelines(lines)
        return
    with target as file:
        file.writelines(lines)
    click.echo(f"wrote {output}", err=True)


# --- Command network -----------------------------------------------------------------------------


NETWORK_FORMS = ("text", "json", "dot", "html")
NETWORK_FORM_BY_SUFFIX = {"gv": "dot", "txt": "text", "htm": "html"}


@click.command("network")
@click.argument("references")
@click.argument("item")
@click.option("--outputs", help="Also find the path that is closest to every system's output.")
@network_options
@SHARED_OPTIONS["tokenise"]
@click.option(
    "--to",
    type=click.Choice(NETWORK_FORMS),
    help="Form of the network.  [default: what --output ends in, else text]",
)
@SHARED_OPTIONS["output"]
def network_command(
    references: str, item: str, to: str | None, output: Path | None, **options: Any
) -> None:
    """Write the word network of an ITEM of REFERENCES: who went from which word to which.

    \b
    earwitness network references.jsonl news-7 --outputs outputs.jsonl
    earwitness network references.jsonl news-7 --to dot | dot -Tsvg > news-7.svg
    """
    from earwitness.word_networks import written_network

    form = to or output_format(output, NETWORK_FORMS, NETWORK_FORM_BY_SUFFIX)
    target = None if output is None else AtomicFile(output)
    check_results((references, options.get("outputs")), (output,))
    text = written_network(api.network(references, item, **drop_unset(options)), form)
    if target is None:
        sys.stdout.write(text)
        return
    with target as file:
        file.write(text)
    click.echo(f"wrote {output}", err=True)
