"""Pages of a study in a terminal: shown and answered from their views alone."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from earwitness.cli.asking import NotAnAnswer, shown_answers, understood
from earwitness.cli.player import Player
from earwitness.errors import BadAnswer
from earwitness.listening.pages import END
from earwitness.listening.wordings import Wording

View = Mapping[str, Any]
WIDTH = 78
AGAIN, REFERENCE = "R", "REF"


@dataclass
class Terminal:
    """Shows views in the words of a study, and plays sounds.

    ``files`` says which file an address stands for; nothing of it is ever shown. ``answered``
    counts pages whose answers are on disk.
    """

    words: Wording
    player: Player
    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    answered: int = 0
    _played: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __call__(self, view: View) -> dict[str, Any]:
        """Show a page and ask its questions."""
        self._head(view)
        questions = view.get("questions", ())
        if not questions and view["kind"] != END:
            self._typed(self.words.page("next"))
        values, said = {}, ""
        for question in questions:
            self._introduce(question, view, again=question["prompt"] == said)
            values[question["name"]] = self._ask(question, view)
            said = question["prompt"] if question["answer"] == "slider" else ""
        return values

    def refused(self, view: View, error: BadAnswer) -> None:
        """Say that answers do not go together; each by itself was found to be right."""
        del error  # says it in English
        own = f"misfit_{view['kind']}"
        self._say(self.words.page(own if own in self.words.pages else "misfit"))

    def stored(self, view: View) -> None:
        """Count a page whose answers are on disk."""
        del view
        self.answered += 1

    def meanwhile(self, view: View) -> None:
        """Say that another process was faster."""
        del view
        self._say(self.words.page("meanwhile"))

    def _head(self, view: View) -> None:
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
        for one in view.get("dimensions", ()) if "examples" in view else ():
            self._explain(one)
        for one in view.get("examples", ()):
            self._example(one)
        for one in view.get("captions", ()):
            click.echo()
            self._say(f"{one['label']}: {one['text']}", "")

    def _compare(self, row: View) -> None:
        """What was answered in practice, and what was expected."""
        click.echo()
        self._say(row["prompt"], "")
        for name in ("given", "expected"):
            if row[name] is not None:
                self._say(self.words.page(name, answer=row[name]))

    def _explain(self, dimension: View) -> None:
        """What a dimension is about, and what its numbers stand for."""
        click.echo()
        self._say(f"{dimension['title']}: {dimension['help']}", "")
        for anchor in dimension["anchors"]:
            self._say(f"{anchor['shown']}: {anchor['text']}")

    def _example(self, example: View) -> None:
        """A caption that was judged already."""
        click.echo()
        self._say(example["heard"], "")
        self._say(f"“{example['caption']}”")
        self._say(", ".join(f"{one['title']} {one['shown']}" for one in example["values"]))
        self._say(example["comment"])

    def _introduce(self, question: View, view: View, *, again: bool) -> None:
        """The question, before its sounds are heard; what was said already is not said again."""
        sounds = view.get("sounds", [])
        if not again:
            click.echo()
            self._say(question["prompt"], "")
        if sounds:
            self._hear_new(view) if view["switching"] else self._hear_all(view, question)
        if not again:
            for line in shown_answers(question, sounds, self.words):
                self._say(line)
            self._say(self._hint(view, sounds))

    def _hint(self, view: View, sounds: list[View]) -> str:
        if not sounds or view["plays"] == 1:
            return ""
        if view["switching"]:
            return self.words.page("switch", keys=", ".join(_keys(sounds)))
        return self.words.page("replay", key=AGAIN)

    def _ask(self, question: View, view: View) -> Any:
        while True:
            typed = self._typed(self._prompt(question, view)).strip()
            if self._replayed(typed.upper(), question, view):
                continue
            try:
                return understood(question, typed, view.get("sounds", []), self.words)
            except NotAnAnswer as error:
                self._say(str(error))

    def _prompt(self, question: View, view: View) -> str:
        if not question.get("needed", True):
            return f"({self.words.page('skip')}) >"
        if question["answer"] != "slider":
            return ">"
        low, high = self.words.number(question["low"]), self.words.number(question["high"])
        return f"{view['sounds'][question['sound']]['label']} ({low} – {high}) >".strip()

    def _replayed(self, key: str, question: View, view: View) -> bool:
        """Whether what was typed asks for a sound, which is then played if it may be."""
        if "sounds" not in view:
            return False
        if not view["switching"]:
            return key == AGAIN and self._hear_all(view, question)
        sound = _keys(view["sounds"]).get(key)
        return sound is not None and self._hear(sound, view["plays"])

    def _hear_new(self, view: View) -> None:
        for sound in view["sounds"]:
            if not self._played[sound["address"], ""]:
                self._hear(sound, view["plays"])

    def _hear_all(self, view: View, question: View) -> bool:
        """All sounds in order, so often for each question."""
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
        while wrong := self._wrong(self.folder / self.files[sound["address"]]):
            self._say(wrong)
            self._typed(self.words.page("retry"))
        self._played[key] += 1
        return True

    def _wrong(self, path: Path) -> str:
        """Play a file; why it was not heard, if so."""
        if self.player.command and not path.is_file():
            return self.words.page("missing")
        status = self.player.play(path)
        if not status:
            return ""
        return self.words.page("unplayed", player=self.player.name, status=status)

    def _typed(self, prompt: str) -> str:
        found: str = click.prompt(f"  {prompt}", default="", show_default=False, prompt_suffix=" ")
        return found

    def _say(self, text: str, indent: str = "  ", *, bold: bool = False) -> None:
        """Lines that fit; breaks of the text are kept."""
        width = min(WIDTH, shutil.get_terminal_size((80, 24)).columns - 1)
        for line in text.splitlines():
            own = textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent)
            click.echo(click.style(own, bold=True) if bold else own)


def _keys(sounds: list[View]) -> dict[str, View]:
    """What can be typed for every sound: its letter, or R for one with a longer name."""
    letters = {sound["label"] for sound in sounds}
    named = REFERENCE if AGAIN in letters else AGAIN
    return {one["label"] if len(one["label"]) == 1 else named: one for one in sounds}
