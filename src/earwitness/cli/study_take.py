"""Pages of a study in a terminal: display, typed answers and audio player."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import click

from earwitness.errors import BadAnswer, UsageError, whole_characters
from earwitness.studies.pages import END_PAGE
from earwitness.studies.wording import Wording

# --- Audio player --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Player:
    """A command that plays audio files; without one nothing is played."""

    command: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the program."""
        return Path(self.command[0]).name

    def play(self, path: Path) -> int:
        """Play a file to its end and return the exit status."""
        if not self.command:
            return 0
        no_stream = subprocess.DEVNULL
        command = [*self.command, str(path)]
        try:
            completed = subprocess.run(
                command, stdin=no_stream, stdout=no_stream, stderr=no_stream, check=False
            )
        except OSError as error:
            return error.errno or 1
        return completed.returncode


def parse_player(text: str) -> Player:
    """Return the player of a command line; refuse a program that does not exist."""
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--player {text}: {str(error).lower()}") from None
    if command and shutil.which(command[0]) is None:
        raise UsageError(f'--player {text}: program "{command[0]}" not found')
    return Player(command)


# --- Typed answers -------------------------------------------------------------------------------


View = Mapping[str, Any]
RATING_TOLERANCE = 1e-6
MAX_POSITION_DIGITS = 10  # of a typed position


class NotAnAnswer(Exception):
    """The typed text is not a valid answer; the message says what is."""


def answer_keys(question: View, sounds: list[View]) -> dict[str, View]:
    """Return the keys for the options: their values if these are integers, else 1, 2, 3.

    Options named like sounds are numbered: the key for preferring A is 1, not -1.
    """
    options, labels = question["options"], {sound["label"] for sound in sounds}
    has_sound_names = any(one["label"] in labels for one in options)
    by_value = not has_sound_names and all(type(one["value"]) is int for one in options)
    return {str(one["value"] if by_value else number): one for number, one in enumerate(options, 1)}


def answer_lines(question: View, sounds: list[View], words: Wording) -> Iterator[str]:
    """Yield lines that list the possible answers."""
    if question["answer"] == "choice":
        keys = answer_keys(question, sounds)
        width = max(map(len, keys))
        yield from (f"{key:>{width}}  {one['label']}" for key, one in keys.items())
    elif question["answer"] == "words":
        yield words.page("positions", count=question["count"])
    elif question["answer"] == "slider" and "labels" in question:
        high, low = words.number(question["high"]), words.number(question["low"])
        yield f"{high}  {' – '.join(question['labels'])}  {low}"


def parse_answer(question: View, typed: str, sounds: list[View], words: Wording) -> Any:
    """Return the typed answer, or None if the question was skipped."""
    if not typed:
        if question.get("needed", True):
            raise NotAnAnswer(words.page("needed"))
        return None
    match question["answer"]:
        case "choice":
            return _parse_choice(typed, answer_keys(question, sounds), words)
        case "slider":
            return _parse_rating(typed, question, words)
        case "number":
            return _parse_number(typed, words.page("number"))
        case "words":
            return _parse_positions(typed, question["count"], words)
        case _:
            return whole_characters(typed)


def _parse_choice(typed: str, keys: Mapping[str, View], words: Wording) -> Any:
    if typed not in keys:
        raise NotAnAnswer(words.page("choices", keys=", ".join(keys)))
    return keys[typed]["value"]


def _parse_rating(typed: str, question: View, words: Wording) -> float:
    limits = {name: question[name] for name in ("low", "high", "step")}
    message = words.page("range", **{name: words.number(one) for name, one in limits.items()})
    value = _parse_number(typed, message)
    steps = (value - limits["low"]) / limits["step"]
    fits = abs(steps - round(steps)) * limits["step"] < RATING_TOLERANCE
    if not limits["low"] <= value <= limits["high"] or not fits:
        raise NotAnAnswer(message)
    return value


def _parse_positions(typed: str, count: int, words: Wording) -> list[int]:
    """Return typed positions and ranges, such as 1-4 7, as increasing numbers up to ``count``."""
    positions = set[int]()
    for part in typed.replace(",", " ").replace("–", "-").split():
        first, mark, last = part.partition("-")
        ends = [first, last if mark else first]
        numbers = [int(end) for end in ends if end.isdecimal() and len(end) < MAX_POSITION_DIGITS]
        if len(numbers) < 2 or not 1 <= numbers[0] <= numbers[1] <= count:
            raise NotAnAnswer(words.page("positions", count=count))
        positions |= {*range(numbers[0], numbers[1] + 1)}
    return sorted(positions)


def _parse_number(typed: str, message: str) -> float:
    try:
        value = float(typed.replace(",", ".").replace("−", "-"))
    except ValueError:
        raise NotAnAnswer(message) from None
    if not isfinite(value):
        raise NotAnAnswer(message)
    return value


# --- Study pages in a terminal -------------------------------------------------------------------


MAX_LINE_CHARACTERS = 78
REPLAY_KEY, REFERENCE_KEY = "R", "REF"


@dataclass
class Terminal:
    """Pages of a study in a terminal, in the language of the study.

    ``files`` has the path of each sound's address; paths are never shown. ``answered`` is the
    number of pages whose answers are saved.
    """

    words: Wording
    player: Player
    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    answered: int = 0
    _played: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __call__(self, view: View) -> dict[str, Any]:
        """Show a page and ask its questions."""
        self._show_head(view)
        questions = view.get("questions", ())
        if not questions and view["kind"] != END_PAGE:
            self._prompt_text(self.words.page("next"))
        values, last_prompt = {}, ""
        for question in questions:
            self._introduce(question, view, again=question["prompt"] == last_prompt)
            values[question["name"]] = self._ask(question, view)
            last_prompt = question["prompt"] if question["answer"] == "slider" else ""
        return values

    def refused(self, view: View, error: BadAnswer) -> None:
        """Show that answers, though each is valid, contradict one another."""
        del error  # its message is in English
        message_name = f"misfit_{view['kind']}"
        self._say(self.words.page(message_name if message_name in self.words.pages else "misfit"))

    def stored(self, view: View) -> None:
        """Count a page whose answers are saved."""
        del view
        self.answered += 1

    def meanwhile(self, view: View) -> None:
        """Show that another process has answered this page."""
        del view
        self._say(self.words.page("meanwhile"))

    def ineligible(self, view: View) -> None:
        """Show that the person may not take part, and the code for that, if any."""
        self._show_head(view)
        self._say("\n".join([view["text"], *([view["code"]] if view["code"] else [])]))

    def _show_head(self, view: View) -> None:
        click.echo(f"\n{'-' * 40}")
        title = view.get("title", "")
        if "progress" in view:
            number, count = view["progress"]
            title += f" - {self.words.page('progress', number=number, count=count)}"
        self._say(title, "", bold=True)
        if view.get("text"):
            click.echo()
            self._say(view["text"], "")
        for row in view.get("rows", ()):
            self._compare(row)
        for part in view.get("dimensions", ()) if "examples" in view else ():
            self._explain(part)
        for part in view.get("examples", ()):
            self._example(part)
        for part in view.get("placed", ()):
            click.echo()
            place = ", ".join(f"{name} {self.words.number(part[name])}" for name in view["axes"])
            self._say(f"{part['label']}: {place}. {part['reason']}", "")
        if view.get("words"):
            click.echo()
            self._say("  ".join(f"{n}\u00a0{word}" for n, word in enumerate(view["words"], 1)), "")
        for part in view.get("captions", ()):
            click.echo()
            self._say(f"{part['label']}: {part['text']}", "")

    def _compare(self, row: View) -> None:
        """Show the answer of a practice question and the expected answer."""
        click.echo()
        self._say(row["prompt"], "")
        for name in ("given", "expected"):
            if row[name] is not None:
                self._say(self.words.page(name, answer=row[name]))

    def _explain(self, dimension: View) -> None:
        """Show the description of a dimension and the meaning of its values."""
        click.echo()
        self._say(f"{dimension['title']}: {dimension['help']}", "")
        for anchor in dimension["anchors"]:
            self._say(f"{anchor['shown']}: {anchor['text']}")

    def _example(self, example: View) -> None:
        """Show an example caption with its ratings."""
        click.echo()
        self._say(example["heard"], "")
        self._say(f"“{example['caption']}”")
        self._say(", ".join(f"{one['title']} {one['shown']}" for one in example["values"]))
        self._say(example["comment"])

    def _introduce(self, question: View, view: View, *, again: bool) -> None:
        """Show a question, play its sounds, and list the answers; do not repeat known text."""
        sounds = view.get("sounds", [])
        if not again:
            click.echo()
            self._say(question["prompt"], "")
        if sounds:
            self._hear_new(view) if view["switching"] else self._hear_all(view, question)
        if not again:
            for line in answer_lines(question, sounds, self.words):
                self._say(line)
            self._say(self._replay_hint(view, sounds))

    def _replay_hint(self, view: View, sounds: list[View]) -> str:
        if not sounds or view["plays"] == 1:
            return ""
        if view["switching"]:
            return self.words.page("switch", keys=", ".join(_sound_keys(sounds)))
        return self.words.page("replay", key=REPLAY_KEY)

    def _ask(self, question: View, view: View) -> Any:
        while True:
            typed = self._prompt_text(self._question_prompt(question, view)).strip()
            if self._replay(typed.upper(), question, view):
                continue
            try:
                return parse_answer(question, typed, view.get("sounds", []), self.words)
            except NotAnAnswer as error:
                self._say(str(error))

    def _question_prompt(self, question: View, view: View) -> str:
        if not question.get("needed", True):
            return f"({self.words.page('skip')}) >"
        if question["answer"] != "slider":
            return ">"
        low, high = self.words.number(question["low"]), self.words.number(question["high"])
        return f"{view['sounds'][question['sound']]['label']} ({low} – {high}) >".strip()

    def _replay(self, key: str, question: View, view: View) -> bool:
        """Play a sound if the key asks for one; return whether it did."""
        if "sounds" not in view:
            return False
        if not view["switching"]:
            return key == REPLAY_KEY and self._hear_all(view, question)
        sound = _sound_keys(view["sounds"]).get(key)
        return sound is not None and self._hear(sound, view["plays"])

    def _hear_new(self, view: View) -> None:
        for sound in view["sounds"]:
            if not self._played[sound["address"], ""]:
                self._hear(sound, view["plays"])

    def _hear_all(self, view: View, question: View) -> bool:
        """Play all sounds in order, unless the limit for this question is reached."""
        allowed = view["plays"]
        key = view["sounds"][0]["address"], question["name"]
        if allowed and self._played[key] >= allowed:
            self._say(self.words.page("played_out"))
            return True
        for sound in view["sounds"]:
            self._hear(sound, 0)
        self._played[key] += 1
        return True

    def _hear(self, sound: View, allowed: int) -> bool:
        key = sound["address"], ""
        if allowed and self._played[key] >= allowed:
            self._say(self.words.page("played_out"))
            return True
        name = sound["label"]
        self._say(self.words.page("playing_named" if name else "playing", name=name))
        while fault := self._play_or_explain(self.folder / self.files[sound["address"]]):
            self._say(fault)
            self._prompt_text(self.words.page("retry"))
        self._played[key] += 1
        return True

    def _play_or_explain(self, path: Path) -> str:
        """Play a file; return why it could not be played, or an empty text."""
        if self.player.command and not path.is_file():
            return self.words.page("missing")
        status = self.player.play(path)
        if not status:
            return ""
        return self.words.page("unplayed", player=self.player.name, status=status)

    def _prompt_text(self, prompt: str) -> str:
        typed: str = click.prompt(f"  {prompt}", default="", show_default=False, prompt_suffix=" ")
        return typed

    def _say(self, text: str, indent: str = "  ", *, bold: bool = False) -> None:
        """Print text wrapped to the terminal; keep its line breaks."""
        width = min(MAX_LINE_CHARACTERS, shutil.get_terminal_size((80, 24)).columns - 1)
        for line in text.splitlines():
            wrapped = textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent)
            click.echo(click.style(wrapped, bold=True) if bold else wrapped)


def _sound_keys(sounds: list[View]) -> dict[str, View]:
    """Return the keys for the sounds: their letters, or R for a longer name."""
    letters = {sound["label"] for sound in sounds}
    reference_key = REFERENCE_KEY if REPLAY_KEY in letters else REPLAY_KEY
    return {one["label"] if len(one["label"]) == 1 else reference_key: one for one in sounds}
