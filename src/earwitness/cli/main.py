"""The command group, lazy import of commands, and exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import click

from earwitness.errors import EarwitnessError, InputError, nearest
from earwitness.version import __version__


class Verb(NamedTuple):
    """Where the command of a verb is, and what it does in a line."""

    module: str
    help: str


COMMANDS = {
    "agree": Verb("agree", "Say which metric agrees with people."),
    "chunkseg": Verb("chunkseg", "Score as the chunkseg package does, with its flags."),
    "compare": Verb("score", "Say which systems can be told apart."),
    "gather": Verb("score", "Make JSON lines of subtitles and lists of chapters."),
    "network": Verb("score", "Write the word network of manual summaries."),
    "people": Verb("score", "Say how well annotators agree."),
    "metrics": Verb("score", "List the metrics with their values and parameters."),
    "serve": Verb("serve", "Serve a study to listeners, in their browsers."),
    "skim": Verb("skim", "Make a minute that stands for a day."),
    "study": Verb("study", "Plan a study with listeners."),
    "soundscape": Verb("skim", "Make a day of sound whose sources are known."),
    "score": Verb("score", "Score outputs against references."),
}


class VerbGroup(click.Group):
    """Knows the verbs by name and imports them late, so that help comes at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        del ctx
        if name not in COMMANDS:
            return None
        module = import_module(f"earwitness.cli.{COMMANDS[name].module}")
        command = getattr(module, f"{name}_command")
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
            formatter.write_dl([(name, verb.help) for name, verb in COMMANDS.items()])


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="earwitness")
def group() -> None:
    """Say how good an audio system is: scores with intervals, signatures and provenance."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors that are the set-up's fault end without a traceback."""
    _prepare_process()
    try:
        run(list(sys.argv[1:] if arguments is None else arguments))
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except EarwitnessError as error:
        prefix = "" if isinstance(error, InputError) else "earwitness: "
        click.echo(f"{prefix}{error}", err=True)
        sys.exit(2)
    except Termination as stop:
        click.echo(f"earwitness: terminated; {_remaining_work(stop)}", err=True)
        sys.exit(143)
    except (KeyboardInterrupt, click.Abort) as stop:
        click.echo(f"\nearwitness: interrupted; {_remaining_work(stop)}", err=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        sys.stdout = None
        click.echo(f"earwitness: cannot write: {error.strerror or error}", err=True)
        sys.exit(1)


def _remaining_work(stop: BaseException) -> str:
    """What is left of work that was stopped."""
    return "; ".join(getattr(stop, "__notes__", ["nothing was written"]))


def run(arguments: list[str]) -> None:
    """Run a command and see to it that what it printed has left."""
    with group.make_context("earwitness", arguments) as context:
        group.invoke(context)
        sys.stdout.flush()


class Termination(BaseException):
    """The process was asked to end."""


def _prepare_process() -> None:
    """Standard output that takes any character, and an orderly end when asked for one."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _raise_termination)


def _raise_termination(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise Termination
