"""The command chunkseg, with the flags and output of the chunkseg package."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from earwitness.chunkseg import evaluate_batch, print_results
from earwitness.errors import EarwitnessWarning, InputError, Problem
from earwitness.io.atomic import AtomicFile
from earwitness.io.source import RecordSource


@click.command("chunkseg")
@click.argument("input")
@click.option("--chunk-size", default=6.0, show_default=True, help="Chunk size in seconds.")
@click.option("--collar", default=3.0, show_default=True, help="Collar in seconds.")
@click.option("--format", help="Preset of transcripts, such as cstart_ts.")
@click.option("--custom-pattern", help="Pattern for custom presets.")
@click.option("--timestamp-format", help="Time format for custom_ts.")
@click.option("--src-lang", default="eng", show_default=True, help="Language of the audio.")
@click.option("--tgt-lang", default="en", show_default=True, help="Language of the titles.")
@click.option(
    "--fa-backend",
    type=click.Choice(["mms_fa", "alqalign"]),
    default="mms_fa",
    show_default=True,
    help="Aligner (not used yet).",
)
@click.option("--force-alignment", is_flag=True, help="Times from the audio (not used yet).")
@click.option("--wer", is_flag=True, help="Word error rate; needs reference_transcript.")
@click.option("--titles", is_flag=True, help="Title metrics; needs reference_titles.")
@click.option("--tolerance", default=5.0, show_default=True, help="For title metrics.")
@click.option("--output", type=click.Path(path_type=Path), help="Write JSON to this file.")
@click.option("--num-bootstrap", default=100, show_default=True, help="Bootstrap draws.")
def chunkseg_command(input: str, output: Path | None, **options: Any) -> None:
    """Score INPUT.jsonl as the chunkseg package does.

    Same flags, keys, arithmetic and text; see `earwitness score` for better intervals and ids.
    """
    lines, samples = [], []
    for line, sample in _read_samples(RecordSource(input)):
        lines.append(line)
        samples.append(sample)
    if not samples:
        raise InputError([Problem(input, 0, "", "no samples found")])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EarwitnessWarning)
        try:
            results = evaluate_batch(samples, **options)
        except InputError as error:
            raise _locate_by_line(error, input, lines) from error
    for warning in caught:
        click.echo(f"Warning: {warning.message}", err=True)
    if output is None:
        print_results(results)
        return
    with AtomicFile(output) as file:
        json.dump(results, file, indent=2)
    click.echo(f"Results written to {output}")


def _locate_by_line(error: InputError, source: str, lines: list[int]) -> InputError:
    """The same problems by line of the file, not by index of the sample."""
    indices = [int(problem.source.removeprefix("sample ")) for problem in error.problems]
    indexed = zip(indices, error.problems, strict=True)
    moved = [replace(problem, source=source, line=lines[index]) for index, problem in indexed]
    return InputError(moved, error.count)


def _read_samples(source: RecordSource) -> Iterator[tuple[int, Any]]:
    for block in source.blocks():
        for line, text in enumerate(block.lines, block.line):
            if not text.strip():
                continue
            try:
                yield line, json.loads(text)
            except (ValueError, RecursionError) as error:
                click.echo(f"Warning: skipping invalid JSON on line {line}: {error}", err=True)
