"""Files that commands read and write, the progress bar, and notes on standard error."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from earwitness.core import Progress, no_progress
from earwitness.errors import EarwitnessWarning, UsageError, printable
from earwitness.io.atomic import AtomicFile, AtomicFolder, real_path
from earwitness.output_formats import FORMS, choose_table, render, write_figures

if TYPE_CHECKING:
    from earwitness.report.result import Result

# --- Files of commands ---------------------------------------------------------------------------


Command = Callable[..., Any]
CommandOption = Callable[[Command], Command]
FileName = str | Path | None


class PathType(click.Path):
    """A path, which help names by what it is."""

    def __init__(self, metavar: str) -> None:
        super().__init__(path_type=Path)
        self._metavar = metavar

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the name that help shows."""
        return self._metavar


class Integer(click.IntRange):
    """A whole number within limits."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the name that help shows."""
        return "INTEGER"


def option(*names: str, choices: Iterable[str] = (), **settings: Any) -> CommandOption:
    """Return a decorator that adds an option, whose help shows its default, if it has one.

    ``choices`` are its values, if it takes no others.
    """
    if choices:
        settings["type"] = click.Choice(tuple(choices))
    has_default = settings.get("default", "") not in (None, "", ())
    return click.option(*names, **{"show_default": has_default, **settings})


def choice_option(*names: str, choices: Sequence[str], help: str) -> CommandOption:
    """Return an option with several values, of which the first is the default."""
    return option(*names, choices=choices, default=choices[0], help=help)


def text_option(*names: str, metavar: str, help: str) -> CommandOption:
    """Return an option with a text, which is empty by default."""
    return option(*names, default="", metavar=metavar, help=help)


def flag_option(*names: str, **settings: Any) -> CommandOption:
    """Return an option without a value."""
    return option(*names, is_flag=True, **settings)


def list_option(*names: str, **settings: Any) -> CommandOption:
    """Return an option that may be given several times."""
    return option(*names, multiple=True, **settings)


def output_option(text: str, **settings: Any) -> CommandOption:
    """Return the option of the output file, with its help."""
    return option("-o", "--output", **{"type": FILE, "help": text, **settings})


def format_option(forms: Sequence[str], default: str = "text") -> CommandOption:
    """Return the option of the output format."""
    text = f"Output format.  [default: from the ending of --output, else {default}]"
    return option("--to", choices=forms, help=text)


def add_options(*options: CommandOption) -> CommandOption:
    """Return a decorator that adds options in their order."""

    def decorate(command: Command) -> Command:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


FILE_PATH = click.Path(path_type=Path)
EXISTING_PATH = click.Path(exists=True, path_type=Path)
EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FILE, FOLDER = PathType("FILE"), PathType("FOLDER")
STUDY_SUFFIXES = (".yaml", ".yml")
STUDY_ARGUMENT = click.argument("study", type=FILE_PATH)
RECORDINGS_ARGUMENT = click.argument(
    "recordings", nargs=-1, required=True, type=FILE_PATH, metavar="RECORDING…"
)
DB_OPTION = option(
    "--db",
    metavar="FILE|URL",
    help="Database (SQLite file or postgresql://...).  [default: study.db next to STUDY]",
)
ANSWERS_DB_OPTION = option(
    "--db",
    metavar="FILE|URL",
    help="Database with the answers (SQLite file or postgresql://...), instead of answer files.",
)
OUTPUT_OPTION = output_option("Output file.  [default: standard output]")
NEW_FOLDER_OPTION = output_option("Folder to create; must not exist.", type=FOLDER, required=True)


def split_study_file(files: Sequence[Path]) -> tuple[Path | None, list[Path]]:
    """Return the study file, if there is one, and the other files."""
    studies = [path for path in files if path.suffix.lower() in STUDY_SUFFIXES]
    if len(studies) > 1:
        raise UsageError(f"only one study file is allowed, got {', '.join(map(str, studies))}")
    return (studies[0] if studies else None), [path for path in files if path not in studies]


# --- Messages on standard error ------------------------------------------------------------------


def print_message(text: str) -> None:
    """Print a line on standard error."""
    click.echo(text, err=True)


def preview_message(study: Path) -> str:
    """Return the line that names the command for a preview of a study."""
    return f"preview: earwitness serve {study} --preview"


def print_notes(notes: Iterable[object], label: str = "note") -> None:
    """Print notes on standard error, each with the label."""
    for note in notes:
        print_message(f"{label}: {note}")


# --- Output targets ------------------------------------------------------------------------------


FORM_BY_SUFFIX = {"tex": "latex", "htm": "html", "txt": "text", "markdown": "md"}
FIGURES_HELP = "New folder for figures (SVG, PDF and PNG)."
REPORT_OPTIONS = ("to", "output", "table", "interval_form", "title", "figures")


class OutputTarget:
    """Where and how a result is written; invalid options are refused before any work.

    ``figures`` is a new folder for the figures of the report, if they are wanted.
    """

    def __init__(
        self,
        to: str | None,
        output: Path | None,
        inputs: Iterable[FileName],
        *others: Path | None,
        table: str | None = None,
        interval_form: str | None = None,
        title: str = "",
        figures: Path | None = None,
    ) -> None:
        self.form = to or output_format(output, FORMS, FORM_BY_SUFFIX)
        self.title = title
        self._table = choose_table(self.form, table, interval_form)
        self._interval_form = interval_form
        self._output = output
        self._file = None if output is None else AtomicFile(output)
        self._figures = figures
        check_results(inputs, (output, figures, *others))
        if figures is not None:
            AtomicFolder(figures)
            import_module("earwitness.report.figures")  # fails without matplotlib

    @classmethod
    def of(
        cls, options: dict[str, Any], inputs: Iterable[FileName], *others: Path | None
    ) -> OutputTarget:
        """Return the target that the options of a command name, and remove them from it."""
        how = {name: options.pop(name) for name in REPORT_OPTIONS}
        return cls(how.pop("to"), how.pop("output"), inputs, *others, **how)

    def with_default_worst(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options; a page without samples to show has some of the worst ones."""
        from earwitness.scoring.settings import DEFAULT_WORST_CASES

        if self.form != "html" or self._table != "full" or "show" in options:
            return options
        return {"worst": DEFAULT_WORST_CASES} | options

    def write(self, result: Result) -> None:
        """Print the result, or write it to the file."""
        width = shutil.get_terminal_size((100, 24)).columns
        folder = None if self._output is None else self._output.parent
        text = render(
            result,
            self.form,
            table=self._table,
            interval_form=self._interval_form,
            width=width,
            folder=folder,
            title=self.title,
        )
        if self._file is None:
            _print_text(text)
        else:
            with self._file as file:
                file.write(text)
        if self._file is not None or self._table == "paper":  # a printed report has the notes
            scores: Any = getattr(result, "scores", result)  # notes of a comparison
            print_notes(scores.notes)
        if self._file is not None:
            print_message(f"wrote {self._output}")
        self.write_figures(result)

    def write_figures(self, result: Result) -> None:
        """Save the figures of the result, if they are wanted."""
        if self._figures is not None:
            with warnings_as_notes():
                files = write_figures(result, self._figures)
            print_message(f"wrote {len(files)} files into {self._figures}")


class TextTarget:
    """A text file, or standard output; invalid paths are refused before any work."""

    def __init__(self, output: Path | None, inputs: Iterable[FileName] = ()) -> None:
        self._output = output
        self._file = None if output is None else AtomicFile(output)
        check_results(inputs, [output])

    def write(self, text: str) -> None:
        """Print the text, or write it to the file."""
        if self._file is None:
            _print_text(text)
            return
        with self._file as file:
            file.write(text)
        print_message(f"wrote {self._output}")


def _print_text(text: str) -> None:
    """Write to standard output; a terminal gets no control characters from outside."""
    sys.stdout.write(printable(text, keep="\n\t") if sys.stdout.isatty() else text)


def output_format(output: Path | None, forms: Sequence[str], endings: Mapping[str, str]) -> str:
    """Return the format that the ending of a file selects."""
    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    form = endings.get(ending, ending) or "text"
    if form not in forms:
        suffixes = ", ".join(f".{name}" for name in sorted({*forms, *endings}))
        raise UsageError(f"{output}: unknown output format — use {suffixes}, or set --to")
    return form


def check_results(inputs: Iterable[FileName], results: Iterable[Path | None]) -> None:
    """Refuse a file that would be both read and written, or written twice.

    The same file is recognized through symbolic and hard links and in any spelling.
    """
    used_paths = [Path(name) for name in inputs if name and str(name) != "-"]
    for path in filter(None, results):
        if any(_is_same_file(path, used) for used in used_paths) and not path.is_char_device():
            raise UsageError(f"{path} is named twice — choose another file for the result")
        used_paths.append(path)


def _is_same_file(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:  # a file does not exist yet, or links form a loop
        return real_path(first) == real_path(second)


def check_seed(_context: click.Context, _option: click.Parameter, seed: int | None) -> int | None:
    """Return the seed, or refuse it before any work; for the ``callback`` of an option."""
    if seed is not None and not 0 <= seed < 2**64:
        raise UsageError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed}")
    return seed


def _set_quiet(context: click.Context, _option: click.Parameter, quiet: bool) -> None:
    context.meta["quiet"] = quiet


def is_quiet() -> bool:
    """Whether the command of this thread hides its progress."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("quiet"))


QUIET_OPTION = flag_option(
    "--quiet", expose_value=False, callback=_set_quiet, help="Hide the progress bar."
)
CACHE_OPTION = option(
    "--cache",
    type=FOLDER,
    help="Folder for finished parts. By default the cache folder of the user.",
)
JOBS_OPTION = option(
    "--jobs",
    type=int,
    help="Number of worker processes.  [default: one per core from 50 MB of input on, else one]",
)


LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def address_options(*, port: int) -> CommandOption:
    """Return the options for the address that a server listens on."""
    return add_options(
        option(
            "--host",
            default="127.0.0.1",
            metavar="ADDRESS",
            help="Address to listen on (0.0.0.0: all interfaces).",
        ),
        option(
            "--port",
            type=Integer(0, 65535),
            default=port,
            help="Port to listen on (0: any free port).",
        ),
    )


# --- Progress bar --------------------------------------------------------------------------------


REFRESH_SECONDS = 1.0
SOUND_UNIT = "s"  # seconds of audio
SOUND_BAR_FORMAT = "{percentage:3.0f}%|{bar}| {desc} [{elapsed}<{remaining}]"


@contextmanager
def progress_bar(*, quiet: bool = False, unit: str = "B") -> Iterator[Progress]:
    """Show progress, rate and time left if standard error is a terminal, unless --quiet is set."""
    if quiet or is_quiet() or not sys.stderr.isatty():
        yield no_progress
        return
    from tqdm import tqdm

    scale = {"unit": unit, "unit_scale": unit == "B", "unit_divisor": 1024}
    form = {"bar_format": SOUND_BAR_FORMAT} if unit == SOUND_UNIT else {}
    columns, lines = shutil.get_terminal_size()  # works for terminals that do not report a size
    with (
        tqdm(**scale, **form, leave=False, file=sys.stderr, ncols=columns, nrows=lines) as display,
        # bytes are reported often, by processes that must not be forked next to a thread
        nullcontext() if unit == "B" else _refreshing(display.refresh),
    ):
        yield _ProgressBar(display, unit)


class _ProgressBar:
    """A bar, below which parts of the work have bars of their own."""

    def __init__(self, display: Any, unit: str, label: str = "") -> None:
        self._display, self._unit, self._label = display, unit, label

    def __call__(self, done: int, total: int | None, cases: int) -> None:
        display = self._display
        display.total = total
        if self._unit == "B":
            display.set_postfix_str(f"{cases:,} outputs", refresh=False)
        if self._unit == SOUND_UNIT:
            text = _sound_progress(done, total, display.format_dict["elapsed"])
            display.desc = f"{self._label}: {text}" if self._label else text
        display.update(done - display.n)

    @contextmanager
    def show_part(self, label: str) -> Iterator[Progress]:
        """Show a part of the work, in seconds of audio, in a bar with a label."""
        from tqdm import tqdm

        columns = shutil.get_terminal_size()[0]
        with (
            tqdm(
                unit=SOUND_UNIT,
                bar_format=SOUND_BAR_FORMAT,
                leave=False,
                file=sys.stderr,
                ncols=columns,
                position=1,
                desc=label,
            ) as display,
            _refreshing(display.refresh),
        ):
            yield _ProgressBar(display, SOUND_UNIT, label)


def _sound_progress(done: int, total: int | None, elapsed: float) -> str:
    """Return how much audio was processed, and how much faster than real time.

    >>> _sound_progress(43200, 86400, 30.0)
    '12:00:00 of 24:00:00, 1,440 × real time'
    """
    times = (f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02}" for s in (done, total or done))
    done_of_total = " of ".join(times)
    if elapsed <= 0:
        return done_of_total
    return f"{done_of_total}, {done / elapsed:,.0f} × real time"


@contextmanager
def _refreshing(refresh: Callable[[], object]) -> Iterator[None]:
    """Refresh the elapsed time once per second, also while there is no progress."""
    stopped = Event()

    def tick() -> None:
        while not stopped.wait(REFRESH_SECONDS):
            refresh()

    clock = Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield
    finally:
        stopped.set()
        # Ctrl-C may have left the lock of the display acquired; then the thread never ends
        clock.join(REFRESH_SECONDS)


# --- Notes on standard error ---------------------------------------------------------------------


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings as notes on standard error, each text once."""
    printed = set[str]()

    def show(message: Warning | str, *_: Any, **_options: Any) -> None:
        if str(message) not in printed:
            printed.add(str(message))
            print_message(f"note: {printable(str(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", EarwitnessWarning)
        warnings.showwarning = show
        yield


@contextmanager
def note_on_interruption(remark: str) -> Iterator[None]:
    """On interruption, print this remark instead of that nothing was written."""
    try:
        yield
    except BaseException as stop:
        if not isinstance(stop, Exception):
            stop.add_note(remark)
        raise
