"""Sounds in a terminal: a command of the user's that plays a file."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from earwitness.errors import UsageError


@dataclass(frozen=True)
class Player:
    """Plays files with a command; without one nothing is played."""

    command: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the program is called."""
        return Path(self.command[0]).name

    def play(self, path: Path) -> int:
        """Play a file to its end; the exit status, which is 0 if all went well."""
        if not self.command:
            return 0
        quiet = subprocess.DEVNULL
        command = [*self.command, str(path)]
        try:
            done = subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, check=False)
        except OSError as error:
            return error.errno or 1
        return done.returncode


def player(text: str) -> Player:
    """A player as written on the command line; its program must be there."""
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--player {text}: {str(error).lower()}") from None
    if command and shutil.which(command[0]) is None:
        raise UsageError(f'--player {text}: there is no program "{command[0]}"')
    return Player(command)
