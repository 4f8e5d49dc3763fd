"""The command group; a command's module is imported only when the command is used."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from earwitness import __version__
from earwitness.errors import EarwitnessError, nearest

COMMANDS = {
    "chunkseg": ("earwitness.cli.chunkseg", "Score as the chunkseg package does, with its flags."),
    "metrics": ("earwitness.cli.metrics", "List the metrics with their values and parameters."),
    "score": ("earwitness.cli.score", "Score outputs against references."),
}


class Verbs(click.Group):
    """Knows the verbs by name and imports them late, so that help comes at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        del ctx
        if name not in COMMANDS:
            return None
        command = import_module(COMMANDS[name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f'there is no verb "{args[0]}" — {nearest(args[0], COMMANDS)}')
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="earwitness")
def group() -> None:
    """Say how good an audio system is: scores with intervals, signatures and provenance."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors that are the set-up's fault end without a traceback."""
    try:
        group.main(arguments, prog_name="earwitness", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except EarwitnessError as error:
        click.echo(f"earwitness: {error}" if "\n" not in str(error) else str(error), err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("earwitness: interrupted; nothing was written", err=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
