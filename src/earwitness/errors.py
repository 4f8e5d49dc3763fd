"""Exceptions, warnings, problems of an input, and suggestions of the nearest known name.

::

    EarwitnessError
    ├── UsageError        an argument is invalid
    ├── InputError        a file or a record is invalid; has all problems
    ├── BadAnswer         the answers of a listener are invalid; has all reasons
    ├── WorkerDied        a worker process died
    ├── StoreError        the database failed; nothing was saved
    ├── MissingExtra      an optional library is not installed; names the extra
    └── PluginError       a plug-in cannot be used; names its package

    EarwitnessWarning     the numbers are right, but something was left out
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import category

SHOWN_PROBLEMS = 1000
SHOWN_ALIKE = 10  # problems that differ only in names and numbers, listed one by one
SHOWN_NAMES = 30  # names listed in a remedy


class EarwitnessError(Exception):
    """Base class of all errors that are caused by input or usage; shown without a traceback."""


class UsageError(EarwitnessError, ValueError):
    """An argument is invalid."""


class WorkerDied(EarwitnessError, RuntimeError):
    """A worker process died."""


class StoreError(EarwitnessError, RuntimeError):
    """The database failed; nothing was saved."""


class BadAnswer(EarwitnessError, ValueError):
    """The answers of a listener are invalid.

    ``about`` has the names of the invalid answers, if they are known.
    """

    def __init__(self, wrong: Sequence[str] | Mapping[str, str]) -> None:
        self.about = tuple(wrong) if isinstance(wrong, Mapping) else ()
        self.wrong = tuple(wrong.values() if isinstance(wrong, Mapping) else wrong)
        super().__init__("; ".join(self.wrong))


class MissingExtra(EarwitnessError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed — run: {install_command(extra)}"
        )


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, in the way it was installed.

    A checkout is installed from its folder, a file or a repository from the same address, and any
    other installation by the name of the package; uv and pipx are used if they made it.
    """
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    origin, installer = dict[str, Any](), ""
    with suppress(PackageNotFoundError, ValueError):
        package = distribution("earwitness")
        installer = (package.read_text("INSTALLER") or "").strip()
        origin = json.loads(package.read_text("direct_url.json") or "{}")
    parts = {*Path(sys.prefix).parts}
    install = "uv pip install" if installer == "uv" else "pip install"
    if {"uv", "tools"} <= parts:
        install = "uv tool install"
    elif {"pipx", "venvs"} <= parts:
        install = "pipx install --force"
    if "dir_info" in origin:
        checkout = url2pathname(urlsplit(origin["url"]).path)
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f'{install} {editable}".[{extra}]" (in {checkout})'
    address = origin.get("url", "")
    if vcs := origin.get("vcs_info", {}).get("vcs"):
        address = f"{vcs}+{address}"
    return f'{install} "earwitness[{extra}]{address and f" @ {address}"}"'


class PluginError(EarwitnessError, ImportError):
    """A plug-in cannot be used; the message has its package and the reason."""

    def __init__(self, package: str, reason: str) -> None:
        super().__init__(f'plug-in package "{package}": {reason}')
        self.package = package


class EarwitnessWarning(UserWarning):
    """The numbers are right, but something was left out."""


class CodedFault(NamedTuple):
    """A kind of fault by its code, and the values in its text, in any language."""

    code: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One problem of an input: where it is, what is wrong, and what to do.

    >>> print(Problem("a.jsonl", 17, "reference[2]", "must be a number", "write seconds"))
    a.jsonl:17: reference[2]: must be a number — write seconds

    ``more`` is the number of further lines with the same problem, ``fault`` the code by which the
    text is chosen in other languages, if any.
    """

    source: str
    line: int
    field: str
    message: str
    remedy: str = ""
    item: str = ""
    more: int = 0
    fault: CodedFault | None = dataclass_field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        where = f"{self.source}:{self.line}" if self.line else self.source
        path = f"{self.field}: " if self.field else ""
        remedy = f" — {self.remedy}" if self.remedy else ""
        item = f' [item "{self.item}"]' if self.item else ""
        return f"{where}: {path}{self.message}{remedy}{item}"


def file_problem(path: object, message: object, remedy: str = "", item: str = "") -> Problem:
    """Return a problem of a whole file; a message or an error need not repeat the path."""
    return Problem(str(path), 0, "", str(message).removeprefix(f"{path}: "), remedy, item)


class InputError(EarwitnessError, ValueError):
    """Invalid input: the first thousand problems, and the number of all problems.

    In the message, problems that are repeated more than ten times are merged: the first one is
    shown with its place, followed by the number of others. Of problems that differ only in names
    and numbers, ten are shown.
    """

    def __init__(
        self, problems: Sequence[Problem], count: int | None = None, done: str = "scored"
    ) -> None:
        problems = sorted(problems, key=_problem_order)
        self.problems = tuple(problems[:SHOWN_PROBLEMS])
        self.count = sum(1 + problem.more for problem in problems) if count is None else count
        super().__init__(self._text(problems, done))

    def _text(self, problems: Sequence[Problem], done: str) -> str:
        lines, told = list[str](), 0
        for problem, more in list(_merge_repeated(problems).items())[:SHOWN_PROBLEMS]:
            lines.append(str(problem))
            lines += [f"  … and {more:,} more like this"] if more else []
            told += 1 + more
        if self.count > told:
            lines.append(f"… and {_count_problems(self.count - told, 'more problem')}")
        lines.append(f"{_count_problems(self.count)}; nothing was {done}")
        return "\n".join(lines)


def _count_problems(count: int, noun: str = "problem") -> str:
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def refuse_problems(
    problems: Sequence[Problem], done: str = "scored", count: int | None = None
) -> None:
    """Raise InputError if there are problems; ``count`` is the number of all of them."""
    if problems:
        raise InputError(problems, count, done)


def _merge_repeated(problems: Sequence[Problem]) -> dict[Problem, int]:
    """Return the problems to show, and how many more there are like each.

    More than ten problems with the same text in one source are merged with the first one. Problems
    with the same text but for names and numbers, in any source, are merged with the tenth one.
    """
    shown: dict[Problem, int] = {}
    same: dict[tuple[str, ...], Problem] = {}
    alike: dict[tuple[str, str], list[Problem]] = {}
    fields = [_without_values(problem.field) for problem in problems]
    texts = [
        (problem.source, path, problem.message, problem.remedy)
        for problem, path in zip(problems, fields, strict=True)
    ]
    counts = Counter(texts)
    for problem, path, text in zip(problems, fields, texts, strict=True):
        group = alike.setdefault((path, _without_values(problem.message)), [])
        first = same.get(text) if counts[text] > SHOWN_ALIKE else None
        first = first or (group[-1] if len(group) >= SHOWN_ALIKE else None)
        if first is None:
            shown[problem] = problem.more
            same[text] = problem
            group.append(problem)
        else:
            shown[first] += 1 + problem.more
    return shown


VALUE_IN_MESSAGE = re.compile(r'"(?:[^"\\]|\\.)*"|\d+(?:[.,:]\d+)*')


@lru_cache(maxsize=4096)
def _without_values(text: str) -> str:
    """Return a message without quoted names and numbers.

    >>> _without_values('unknown system "C9" in line 7')
    'unknown system … in line …'
    """
    return VALUE_IN_MESSAGE.sub("…", text)


def _problem_order(problem: Problem) -> tuple[str, float, Problem]:
    """Sort by source and line; problems without a line are consequences and come last."""
    return problem.source, problem.line or float("inf"), problem


def whole_characters(text: str) -> str:
    """Return text that can be written as UTF-8; invalid characters are escaped.

    >>> whole_characters("caf\\udce9")
    'caf\\\\udce9'
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


HIDDEN_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")  # control characters, lone surrogates, line ends
DIRECTION_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def printable(text: str, keep: str = "") -> str:
    r"""Return text from outside that a terminal shows as it is; control characters are escaped.

    Characters of ``keep`` are not escaped. The escapes are those of JSON.

    >>> printable("5f8a\x1b[2J\nok")
    '5f8a\\u001b[2J\\nok'
    >>> printable("naïve ✓")
    'naïve ✓'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        json.dumps(character)[1:-1]
        if _is_hidden(character) and character not in keep
        else character
        for character in text
    )


def _is_hidden(character: str) -> bool:
    return category(character) in HIDDEN_CATEGORIES or character in DIRECTION_MARKS


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a remedy that suggests the nearest known name, or lists the known names.

    >>> nearest("refrence", ["reference", "duration"])
    'did you mean "reference"?'
    >>> nearest("zzz", ["reference", "duration"])
    'known: duration, reference'
    >>> nearest("pesq", ["MOS", "PESQ"])
    'did you mean "PESQ"?'
    """
    known = tuple(sorted(names))
    if close := _find_close(name, known):
        return f'did you mean "{close}"?'
    return f"known: {list_names(known)}" if known else ""


def find_close(name: str, names: Iterable[str]) -> str:
    """Return the nearest of several names, or an empty text if none is near.

    >>> find_close("refrence", ["reference", "duration"]), find_close("zzz", ["duration"])
    ('reference', '')
    """
    return _find_close(name, tuple(sorted(names)))


@lru_cache(maxsize=4096)  # the same name is often wrong in many lines
def _find_close(name: str, names: tuple[str, ...]) -> str:
    close = [other for other in names if other.casefold() == name.casefold() and other != name]
    matches = get_close_matches(name, names, n=9, cutoff=0.7)
    close += [other for other in matches if _has_same_numbers(name, other)]
    return close[0] if close else ""


def list_names(names: Iterable[str]) -> str:
    """Return the first names in alphabetical order, and how many more there are.

    >>> list_names(["b", "a"])
    'a, b'
    """
    names = sorted(names)
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more


def _has_same_numbers(name: str, other: str) -> bool:
    """Whether two names contain the same numbers; names that do not are never suggested."""
    numbers = ([n.lstrip("0") for n in re.findall(r"\d+", text)] for text in (name, other))
    return next(numbers) == next(numbers)
