"""The command chunkseg, with the options and output of the chunkseg package."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from earwitness.chapters.gather import gather
from earwitness.chapters.matching import TM_RULES
from earwitness.chapters.presets import ItemAudio
from earwitness.chunkseg import evaluate_batch, print_results
from earwitness.chunkseg.metrics import time_warnings
from earwitness.cli.output import (
    check_results,
    choice_option,
    flag_option,
    option,
    output_option,
    print_message,
)
from earwitness.cli.signatures import signature_options
from earwitness.errors import EarwitnessWarning, InputError, file_problem
from earwitness.io.atomic import AtomicFile
from earwitness.io.source import RecordSource


@click.command("chunkseg")
@click.argument("input")
@option("--chunk-size", default=6.0, help="Chunk size in seconds.")
@option("--collar", default=3.0, help="Collar in seconds.")
@option("--format", metavar="NAME", help="Transcript format, such as cstart_ts.")
@signature_options(gather, only=("custom_pattern", "timestamp_format"))
@option("--src-lang", default="eng", help="Language of the audio (ISO 639-3).")
@option("--tgt-lang", default="en", help="Language of the titles.")
@choice_option(
    "--fa-backend",
    choices=["mms_fa", "pocketsphinx", "alqalign"],
    help="Forced aligner of transcripts without times. Without the weights of mms_fa, English is"
    " aligned by pocketsphinx. alqalign is not supported.",
)
@flag_option("--force-alignment", help="Align transcripts with the audio even if they have times.")
@flag_option("--wer", help="Compute word error rates; requires reference_transcript.")
@flag_option("--titles", help="Compute title metrics; requires reference_titles.")
@option("--tolerance", default=5.0, help="Largest distance of matching titles in seconds.")
@output_option("Output file (JSON).  [default: text to standard output]")
@option("--num-bootstrap", default=100, help="Number of bootstrap draws.")
@option(
    "--tm-rule",
    choices=TM_RULES,
    default="start_end",
    help="Times of titles that must match: start (chunkseg 0.3.4) or start_end (0.4.0).",
)
@flag_option("--exact", help="Reproduce chunkseg also in the cases where it is wrong.")
def chunkseg_command(input: str, output: Path | None, **options: Any) -> None:
    """Score INPUT, a JSON Lines file, like the chunkseg package.

    Options, results and output are those of chunkseg 0.4.0, except in the cases where it is
    wrong; --exact reproduces these, too. `earwitness score` reads the same file, and has better
    intervals and more metrics.

    \b
    earwitness chunkseg samples.jsonl --collar 5
    """
    file = None if output is None else AtomicFile(output)
    check_results([input], [output])
    lines, samples = [], []
    source = RecordSource(input)
    for line, sample in _read_samples(source):
        lines.append(line)
        samples.append(_locate_audio(sample, source.folder))
    if not samples:
        raise InputError([file_problem(input, "no samples found")])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EarwitnessWarning)
        try:
            results = evaluate_batch(samples, **options)
        except InputError as error:
            raise _locate_by_line(error, input, lines) from error
    told = [str(warning.message) for warning in caught]
    told += [] if options["exact"] else time_warnings(samples)
    for text in told:
        print_message(f"Warning: {text}")
    if file is None:
        print_results(results)
        return
    with file as stream:
        json.dump(results.to_json(), stream, indent=2)
    click.echo(f"Results written to {output}")


def _locate_audio(sample: Any, folder: Path | None) -> Any:
    """Return a sample with the path of its audio in the folder of the input, or as given."""
    if not isinstance(sample, dict) or not isinstance(sample.get("audio"), str):
        return sample
    return {**sample, "audio": str(ItemAudio(sample["audio"], folder).path)}


def _locate_by_line(error: InputError, source: str, lines: list[int]) -> InputError:
    """Return the error with lines of the file instead of indices of samples."""
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
                print_message(f"Warning: skipping invalid JSON on line {line}: {error}")
