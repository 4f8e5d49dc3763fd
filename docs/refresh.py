"""Console and Python blocks of the documents: find them, run them, and rewrite their outputs.

Run ``python docs/refresh.py`` after a change of what commands print. Every command of a
``console`` block, and every ``>>>`` line of a ``python`` block, is run, and the output below it is
replaced in place. Outputs that still match are kept as they are. An ellipsis (``...``) of the old
output stays: the lines between two ellipses are replaced by the most similar lines of the new
output. Name files to refresh only these; ``--check`` lists outdated blocks and changes nothing.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.M)
ELLIPSIS = "..."
MIN_SIMILARITY = 0.4  # below this the position of an excerpt is a guess, and is reported
CODE_IS_TESTED_ELSEWHERE = ("CONTRIBUTING.md",)  # by tests/test_plugins.py

Run = Callable[[str], str]
same = doctest.OutputChecker().check_output


class Step(NamedTuple):
    """A command and the output that a document shows below it."""

    command: str
    output: str


def documents(folder: Path = ROOT) -> list[Path]:
    """Return all Markdown files of the project."""
    found = folder.rglob("*.md")
    return sorted(path for path in found if not {".venv", "out"} & {*path.parts})


def blocks(path: Path, language: str) -> list[str]:
    """Return the contents of all code blocks of a language in a document."""
    text = path.read_text(encoding="utf-8")
    return [match[2] for match in BLOCK.finditer(text) if match[1] == language]


def steps(block: str) -> Iterator[Step]:
    """Yield the commands of a console block with their outputs."""
    found = list(COMMAND.finditer(block))
    ends = [match.start() for match in found[1:]] + [len(block)]
    for match, end in zip(found, ends, strict=True):
        yield Step(match[1], block[match.end() : end])


def joined(command: str) -> str:
    """Return a command whose continued lines are one."""
    return re.sub(r"\\\n\s*", "", command)


def shell(command: str) -> str:
    """Return what a command prints, standard error included."""
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PATH": programs, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout


def with_newline(output: str) -> str:
    """Return an output that ends with a line end, unless it is empty."""
    return output if not output or output.endswith("\n") else output + "\n"


# --- New outputs ---------------------------------------------------------------------------------


def excerpt(old: str, new: str) -> str:
    r"""Return the new output, shortened by ellipses where the old one was.

    >>> print(excerpt("a 1\n...\nz 26\n", "a 2\nb\nc\nz 27\n"), end="")
    a 2
    ...
    z 27
    >>> print(excerpt("wrote ... files\n", "wrote 7 files\n"), end="")
    wrote ... files
    """
    if same(old, new, doctest.ELLIPSIS):
        return old
    wanted, lines = old.splitlines(), new.splitlines()
    if ELLIPSIS not in wanted:
        return new
    parts: list[list[str]] = [[]]
    for line in wanted:
        if line == ELLIPSIS:
            parts.append([])
        else:
            parts[-1].append(line)
    made: list[str] = []
    start = 0
    for number, part in enumerate(parts):
        fixed = 0 if number == 0 else max(start, len(lines) - len(part))
        free = 0 < number < len(parts) - 1
        at = _most_similar(part, lines, start) if free else fixed
        chosen = lines[at : at + len(part)]
        made += [ELLIPSIS, *chosen] if number else chosen
        start = at + len(chosen)
    result = "\n".join(made) + "\n"
    return result if same(result, new, doctest.ELLIPSIS) else new


def _most_similar(part: Sequence[str], lines: Sequence[str], start: int) -> int:
    """Return where consecutive lines are most like an excerpt."""
    if not part:
        return start

    def similarity(at: int) -> float:
        pairs = zip(part, lines[at : at + len(part)], strict=False)
        return sum(SequenceMatcher(None, a, b, autojunk=False).ratio() for a, b in pairs)

    best = max(range(start, max(start + 1, len(lines) - len(part) + 1)), key=similarity)
    if similarity(best) < MIN_SIMILARITY * len(part):
        print(f"  check this excerpt, which is little like the old one: {part[0]!r}")
    return best


def refresh_console(block: str, run: Run = shell) -> str:
    """Return a console block with the outputs of its commands."""
    made = block[: block.index("$ ")] if "$ " in block else block
    for command, output in steps(block):
        made += f"$ {command}\n{excerpt(output, with_newline(run(joined(command))))}"
    return made


def refresh_python(block: str) -> str:
    r"""Return a Python block with the outputs of its examples.

    >>> refresh_python(">>> 1 + 1\n3\n")
    '>>> 1 + 1\n2\n'
    """
    scope: dict[str, object] = {}
    made = ""
    for part in doctest.DocTestParser().parse(block):
        if isinstance(part, str):
            made += part
            continue
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(part.source, "<document>", "single"), scope)
        first, *rest = part.source.splitlines()
        made += f">>> {first}\n" + "".join(f"... {line}".rstrip() + "\n" for line in rest)
        made += excerpt(part.want, with_newline(printed.getvalue()))
    return made


def refresh(path: Path, run: Run = shell) -> str:
    """Return the text of a document with new outputs."""

    def replaced(match: re.Match[str]) -> str:
        made = match[2]
        if match[1] == "console":
            made = refresh_console(made, run)
        elif match[1] == "python" and path.name not in CODE_IS_TESTED_ELSEWHERE:
            made = refresh_python(made)
        return f"```{match[1]}\n{made}```"

    return BLOCK.sub(replaced, path.read_text(encoding="utf-8"))


def main(arguments: Sequence[str]) -> int:
    """Refresh documents; with --check, return 1 if any of them is outdated."""
    named = [Path(name).resolve() for name in arguments if not name.startswith("-")]
    check, outdated = "--check" in arguments, 0
    for path in named or documents():
        old, new = path.read_text(encoding="utf-8"), refresh(path)
        if old == new:
            continue
        outdated += 1
        print(f"{'outdated' if check else 'rewrote'} {path.relative_to(ROOT)}")
        if not check:
            path.write_text(new, encoding="utf-8")
    return int(check and outdated > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
