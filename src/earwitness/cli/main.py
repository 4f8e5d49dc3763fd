"""The command group, lazy import of commands, and exit codes."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import click
from click.shell_completion import shell_complete

from earwitness.cli.old_options import explain_old_name
from earwitness.errors import EarwitnessError, InputError, nearest, printable
from earwitness.version import __version__

# --- Command group -------------------------------------------------------------------------------


class Verb(NamedTuple):
    """The module of a command, and its one-line description."""

    module: str
    help: str


COMMAND_SECTIONS = {
    "Score outputs": {
        "score": Verb("score", "Score system outputs against references."),
        "compare": Verb("score", "Test which systems differ significantly."),
        "people": Verb("score", "Measure inter-annotator agreement."),
        "metrics": Verb("metrics", "List metrics with their values and options."),
        "gather": Verb("score", "Convert subtitles and chapter lists to JSON Lines."),
        "network": Verb("score", "Show the word network of reference summaries."),
        "chunkseg": Verb("chunkseg", "Score with the options of the chunkseg package."),
    },
    "Run listening tests": {
        "audio": Verb("audio", "Cut clips, match loudness and make reference conditions."),
        "study": Verb("main", "Plan, run and analyse a study with listeners."),
        "serve": Verb("serve", "Serve a study to listeners in their browsers."),
    },
    "Check metrics against human ratings": {
        "agree": Verb("agree", "Rank metrics by agreement with human ratings."),
        "experiment": Verb("experiment", "Find how many references are enough."),
    },
    "Recognize, align and summarize speech": {
        "transcribe": Verb("speech", "Recognize speech: words with times and confidences."),
        "align": Verb("speech", "Find when the words of a text are spoken."),
        "summarize": Verb("summarize", "Summarize speech by word extraction."),
        "summarizer": Verb("summarize", "Estimate models and weights of the summarizer."),
    },
    "Browse, condense and synthesize recordings": {
        "browse": Verb("browse", "Browse a day-long recording in the browser."),
        "skim": Verb("skim", "Condense a day-long recording into about a minute."),
        "soundscape": Verb("skim", "Synthesize a day-long recording with known sources."),
    },
}
COMMANDS = {name: verb for verbs in COMMAND_SECTIONS.values() for name, verb in verbs.items()}
VERB_MODULES = {name: verb.module for name, verb in COMMANDS.items()}


class SubcommandGroup(click.Group):
    """A group of commands; an unknown command is refused with the closest known name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or refuse an unknown name."""
        names = self.list_commands(ctx)
        is_typed = args and not args[0].startswith("-") and not ctx.resilient_parsing
        if is_typed and args[0] not in names:
            message = f'unknown command "{args[0]}" — {nearest(args[0], names)}'
            message = explain_old_name(ctx.command_path, args[0]) or message
            raise click.UsageError(message, ctx if ctx.parent else None)
        return super().resolve_command(ctx, args)


class SectionGroup(SubcommandGroup):
    """Commands in sections, each imported when it is used, so that help starts fast."""

    sections: Mapping[str, Iterable[str]]  # names of commands by title
    modules: Mapping[str, str]  # by command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, by section."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command, or None."""
        return self.load_command(name) if name in self.modules else None

    def load_command(self, name: str) -> click.Command:
        """Import a command."""
        # matrices are small, and threads would only wait for each other
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        module = import_module(f"earwitness.cli.{self.modules[name]}")
        command = getattr(module, f"{name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)
        return command

    def describe(self, name: str) -> str:
        """Return the description of a command in one line."""
        return self.load_command(name).get_short_help_str(80)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        width = max(map(len, self.modules))
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self.describe(name)) for name in names])


class VerbGroup(SectionGroup):
    """All commands; their descriptions are known without an import."""

    sections = COMMAND_SECTIONS
    modules = VERB_MODULES

    def describe(self, name: str) -> str:
        """Return the description of a command in one line."""
        return COMMANDS[name].help


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="earwitness")
def group() -> None:
    """Evaluate audio systems: score outputs, run listening tests, and check metrics against
    human ratings.

    Run `earwitness COMMAND --help` for the options of a command.
    """


# --- Command group study -------------------------------------------------------------------------


STUDY_SECTIONS = {  # modules by command
    "Plan": {
        "new": "study",
        "check": "study",
        "design": "study",
        "power": "study",
        "simulate": "study",
        "anchors": "study",
        "import": "study",
        "plane": "study_plane",
    },
    "Run": {
        "links": "study_store",
        "status": "study_store",
        "backup": "study_store",
        "restore": "study_store",
    },
    "Evaluate": {
        "export": "study_store",
        "ratings": "study",
        "summaries": "study",
        "analyse": "study_analyse",
    },
    "Use workbooks": {"export-xlsx": "study", "import-xlsx": "study_workbooks"},
    "Use paper": {"sheets": "study_sheets", "enter": "study_sheets"},
}
STUDY_COMMANDS = {
    name: module for section in STUDY_SECTIONS.values() for name, module in section.items()
}


class StudyGroup(SectionGroup):
    """The commands of a study in the order in which they are used."""

    sections = STUDY_SECTIONS
    modules = STUDY_COMMANDS


@click.group("study", cls=StudyGroup)
def study_command() -> None:
    """Plan, run and analyse a study with listeners.

    \b
    earwitness study new p835 -o study.yaml
    earwitness study check study.yaml
    """


# --- Running commands ----------------------------------------------------------------------------


COMPLETION_VARIABLE = "_EARWITNESS_COMPLETE"  # set by the completion script of a shell


def _without_old_option(error: click.NoSuchOption) -> click.UsageError:
    """Return the error, or one that names what took the place of the option."""
    path = "" if error.ctx is None else error.ctx.command_path
    message = explain_old_name(path, error.option_name)
    return click.UsageError(message, error.ctx) if message else error


# a name with an underscore, unless it is quoted or part of a path, or at the start of a message
ARGUMENT_PATTERN = re.compile(
    r'(?<![\w/."])[a-z]+(?:_[a-z]+)+(?!\w|[/"]|\.\w)|\A[a-z]+(?=:| must | requires? | ")'
)


def _name_options(message: str, arguments: Sequence[str]) -> str:
    """Return the message of a function with the names of options instead of those of arguments."""
    command: click.Command = group
    for name in arguments:
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), name) or command
    flags = {option.name: option.opts[-1] for option in command.params}
    return ARGUMENT_PATTERN.sub(lambda match: flags.get(match[0], match[0]), message)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors of input or set-up end without a traceback."""
    _prepare_process()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        sys.exit(shell_complete(group, {}, "earwitness", COMPLETION_VARIABLE, instruction))
    try:
        run(arguments)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        shown = _without_old_option(error) if isinstance(error, click.NoSuchOption) else error
        shown.show()
        sys.exit(2)
    except EarwitnessError as error:
        message = printable(str(error), keep=chr(10))
        if not isinstance(error, InputError):
            message = f"earwitness: {_name_options(message, arguments)}"
        click.echo(message, err=True)
        for note in getattr(error, "__notes__", ()):
            click.echo(f"note: {note}", err=True)
        sys.exit(2)
    except Termination as stop:
        click.echo(f"earwitness: terminated; {_remaining_work(stop)}", err=True)
        sys.exit(143)
    except (KeyboardInterrupt, click.Abort) as stop:
        click.echo(f"\nearwitness: interrupted; {_remaining_work(stop)}", err=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader, such as head, has stopped reading
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        sys.stdout = None
        click.echo(f"earwitness: cannot write: {error.strerror or error}", err=True)
        sys.exit(1)


def _remaining_work(stop: BaseException) -> str:
    """Return what an interrupted command has left."""
    return "; ".join(getattr(stop, "__notes__", ["nothing was written"]))


def run(arguments: list[str]) -> None:
    """Run a command and flush its output."""
    with group.make_context("earwitness", arguments) as context:
        group.invoke(context)
        sys.stdout.flush()


class Termination(BaseException):
    """The process received SIGTERM."""


def _prepare_process() -> None:
    """Make standard output accept any character, and SIGTERM raise an exception."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _raise_termination)


def _raise_termination(_number: int, _frame: FrameType | None) -> None:
    raise Termination
