"""Pages of a study in a terminal: shown and answered from their views alone."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from earwitness.errors import BadAnswer

View = Mapping[str, Any]


@dataclass
class Terminal:
    """Shows views; plays sounds with a command, if there is one.

    ``files`` says which file an address stands for; nothing of it is ever shown.
    """

    folder: Path
    player: str
    files: dict[str, str] = field(default_factory=dict)

    def __call__(self, view: View) -> dict[str, Any]:
        """Show a page and ask its questions."""
        click.echo()
        if "progress" in view:
            click.echo("{} / {}".format(*view["progress"]))
        for part in ("title", "text"):
            if view.get(part):
                click.echo(view[part])
        self._play_all(view)
        questions = view.get("questions", ())
        if not questions:
            click.prompt("Enter to go on", default="", show_default=False, prompt_suffix=" ")
        return {one["name"]: self._ask(one, view) for one in questions}

    def refused(self, error: BadAnswer) -> None:
        """Say what was wrong with the answers."""
        for told in error.wrong:
            click.echo(f"  {told}", err=True)

    def _play_all(self, view: View) -> None:
        for number, sound in enumerate(view.get("sounds", ()), 1):
            click.echo(f"  sound {sound['label'] or number}")
            self._play(sound["address"])

    def _play(self, address: str) -> None:
        if self.player:
            path = self.folder / self.files[address]
            command = [*shlex.split(self.player), str(path)]
            quiet = subprocess.DEVNULL
            subprocess.run(command, stdout=quiet, stderr=quiet, check=False)

    def _ask(self, question: View, view: View) -> Any:
        sounds = view.get("sounds", ())
        about = sounds[question["sound"]]["label"] if "sound" in question else ""
        click.echo(f"{about + ': ' if about else ''}{question['prompt']}")
        match question["answer"]:
            case "choice":
                return self._choose(question["options"])
            case "slider":
                labels = " – ".join(question["labels"])
                told = f"  {question['high']:g} to {question['low']:g} ({labels})"
                return click.prompt(told, type=float)
            case "number":
                return click.prompt("  number", type=float)
            case _:
                needed = None if question.get("needed", True) else ""
                return click.prompt("  text", default=needed, show_default=False)

    def _choose(self, options: list[View]) -> Any:
        by_value = all(type(one["value"]) is int for one in options)
        keys = {
            str(one["value"] if by_value else number): one["value"]
            for number, one in enumerate(options, 1)
        }
        for key, one in zip(keys, options, strict=True):
            click.echo(f"  {key:>3}  {one['label']}")
        chosen = click.prompt("  ", type=click.Choice(list(keys)), show_choices=False)
        return keys[chosen]
