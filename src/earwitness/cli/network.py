"""``earwitness network``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from earwitness.api import network
from earwitness.cli.options import SHARED, given
from earwitness.cli.target import check_results, form_of
from earwitness.formats.whole import WholeFile
from earwitness.metrics.summaries import SummarizationAccuracy
from earwitness.report.network import FORMS, written_network

ENDINGS = {"gv": "dot", "txt": "text", "htm": "html"}
PARAMETERS = SummarizationAccuracy.parameters()


def _options(function: Any) -> Any:
    for name, default in reversed(PARAMETERS.items()):
        function = click.option(
            f"--{name}",
            type=click.Choice(SummarizationAccuracy.choices(name)),
            help=f"{SummarizationAccuracy.help(name)}  [default: {default}]",
        )(function)
    return function


@click.command("network")
@click.argument("references")
@click.argument("item")
@click.option("--outputs", help="Also find the path that is closest to every system's output.")
@_options
@SHARED["tokenise"]
@click.option(
    "--to",
    type=click.Choice(FORMS),
    help="Form of the network.  [default: what --output ends in, else text]",
)
@SHARED["output"]
def command(
    references: str, item: str, to: str | None, output: Path | None, **options: Any
) -> None:
    """Write the word network of an ITEM of REFERENCES: who went from which word to which.

    \b
    earwitness network references.jsonl news-7 --outputs outputs.jsonl
    earwitness network references.jsonl news-7 --to dot | dot -Tsvg > news-7.svg
    """
    form = to or form_of(output, FORMS, ENDINGS)
    target = None if output is None else WholeFile(output)
    check_results((references, options.get("outputs")), (output,))
    text = written_network(network(references, item, **given(options)), form)
    if target is None:
        sys.stdout.write(text)
        return
    with target as file:
        file.write(text)
    click.echo(f"wrote {output}", err=True)
