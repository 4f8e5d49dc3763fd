"""Exceptions, warnings, problems of an input, and hints at the nearest known name.

::

    EarwitnessError
    ├── UsageError        an argument makes no sense; says which and what would
    ├── InputError        a file or a record is wrong; carries every problem found
    ├── BadAnswer         answers of a listener that cannot be; says all of it
    ├── WorkerDied        a process that shared the work is gone
    ├── StoreError        the database of a store failed; nothing was acknowledged
    ├── MissingExtra      an optional library is not installed; names the extra
    ├── PluginError       a plug-in cannot be used; names its package
    └── MissingFeature    a promised feature that a later version brings

    EarwitnessWarning     numbers are right, but something was left out
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

SHOWN_PROBLEMS = 1000
SHOWN_NAMES = 30  # names in a remedy


class EarwitnessError(Exception):
    """Base of all errors that are the set-up's fault, not a bug: shown without a traceback."""


class UsageError(EarwitnessError, ValueError):
    """An argument makes no sense."""


class WorkerDied(EarwitnessError, RuntimeError):
    """A process that shared the work is gone."""


class StoreError(EarwitnessError, RuntimeError):
    """The database of a store failed; nothing of what was asked for was acknowledged."""


class BadAnswer(EarwitnessError, ValueError):
    """Answers of a listener that cannot be: all that is wrong with them.

    Where it is known what is wrong with which answer, ``about`` has the names of these answers.
    """

    def __init__(self, wrong: Sequence[str] | Mapping[str, str]) -> None:
        self.about = tuple(wrong) if isinstance(wrong, Mapping) else ()
        self.wrong = tuple(wrong.values() if isinstance(wrong, Mapping) else wrong)
        super().__init__("; ".join(self.wrong))


class MissingFeature(EarwitnessError, NotImplementedError):
    """A promised feature that a later version brings."""


class MissingExtra(EarwitnessError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed"
            f" — run: pip install 'earwitness[{extra}]'"
        )


class PluginError(EarwitnessError, ImportError):
    """A plug-in cannot be used: its package, and why."""

    def __init__(self, package: str, reason: str) -> None:
        super().__init__(f'plug-in package "{package}": {reason}')
        self.package = package


class EarwitnessWarning(UserWarning):
    """The numbers are right, but something was left out of them."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong with an input: where, what, and what to do about it.

    >>> print(Problem("a.jsonl", 17, "reference[2]", "must be a number", "write seconds"))
    a.jsonl:17: reference[2]: must be a number — write seconds
    """

    source: str
    line: int
    field: str
    message: str
    remedy: str = ""
    item: str = ""

    def __str__(self) -> str:
        where = f"{self.source}:{self.line}" if self.line else self.source
        field = f"{self.field}: " if self.field else ""
        remedy = f" — {self.remedy}" if self.remedy else ""
        item = f' [item "{self.item}"]' if self.item else ""
        return f"{where}: {field}{self.message}{remedy}{item}"


class InputError(EarwitnessError, ValueError):
    """Bad input: the first thousand problems, and how many there are in all."""

    def __init__(
        self, problems: Sequence[Problem], count: int | None = None, done: str = "scored"
    ) -> None:
        self.problems = tuple(sorted(problems, key=_problem_order)[:SHOWN_PROBLEMS])
        self.count = len(problems) if count is None else count
        super().__init__(self._text(done))

    def _text(self, done: str) -> str:
        lines = [str(problem) for problem in self.problems]
        if self.count > len(lines):
            lines.append(f"… and {self.count - len(lines):,} more problems")
        what = "problem" if self.count == 1 else "problems"
        lines.append(f"{self.count:,} {what}; nothing was {done}")
        return "\n".join(lines)


def _problem_order(problem: Problem) -> tuple[str, float, Problem]:
    """Source by source, line by line; what has no line is a consequence and comes last."""
    return problem.source, problem.line or float("inf"), problem


def whole_characters(text: str) -> str:
    """Text that can be written as UTF-8: what is no character is spelt out.

    >>> whole_characters("caf\\udce9")
    'caf\\\\udce9'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def nearest(name: str, names: Iterable[str]) -> str:
    """A remedy that names the nearest known name.

    >>> nearest("refrence", ["reference", "duration"])
    'did you mean "reference"?'
    >>> nearest("zzz", ["reference", "duration"])
    'known: duration, reference'
    >>> nearest("pesq", ["MOS", "PESQ"])
    'did you mean "PESQ"?'
    """
    names = sorted(names)
    if not names:
        return ""
    close = [other for other in names if other.casefold() == name.casefold() and other != name]
    matches = get_close_matches(name, names, n=9, cutoff=0.7)
    close += [other for other in matches if _has_same_numbers(name, other)]
    if close:
        return f'did you mean "{close[0]}"?'
    more = f" and {len(names) - SHOWN_NAMES:,} more" * (len(names) > SHOWN_NAMES)
    return f"known: {', '.join(names[:SHOWN_NAMES])}{more}"


def _has_same_numbers(name: str, other: str) -> bool:
    """Names that have other numbers in them are other names, not slips."""
    return [int(n) for n in re.findall(r"\d+", name)] == [int(n) for n in re.findall(r"\d+", other)]
