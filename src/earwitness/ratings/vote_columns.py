"""Votes and metrics among the columns of numbers of one table."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from earwitness.io.schema import Fault, show

# With listeners, votes differ between the rows of an output, and metrics do not. Without, votes are
# recognized by their names, since both have one number per output.


WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|%")
OPINION = re.compile(
    r"[dcsn]?mos|opinion|votes?|ratings?|mushra|subjective|human|naturalness|quality|annoyance|"
    r"degradation|impairment"
)
P835 = re.compile(r"sig|bak|ovrl?")
FILLING = re.compile(r"mean|avg|average|scores?|gt|true|label|overall")
SPREAD = re.compile(
    r"std|sd|sem|stderr|var|variance|ci|ci95|95|%|low|high|lower|upper|min|max|n|num|count|raters"
)
NUMBERING = re.compile(r"id|idx|index|no|nr|number|seed|fold|year|age")


class NumberColumns(NamedTuple):
    """Columns with votes, columns with metrics, and a fault if it is not known which are which."""

    votes: tuple[str, ...]
    metrics: tuple[str, ...]
    fault: Fault | None = None


def name_words(name: str) -> list[str]:
    """Return the words of a column name in lower case.

    >>> name_words("MOS_95%CI"), name_words("nisqa_mos")
    (['mos', '95', '%', 'ci'], ['nisqa', 'mos'])
    """
    return [word.casefold() for word in WORD.findall(name)]


def is_vote_name(name: str) -> bool:
    """Return whether a name says that a column has votes or their means.

    >>> is_vote_name("MOS"), is_vote_name("mean_opinion_score"), is_vote_name("nisqa_mos")
    (True, True, False)
    """
    words = name_words(name)
    return _are_vote_words(words) and any(OPINION.fullmatch(w) or P835.fullmatch(w) for w in words)


def _are_vote_words(words: Iterable[str]) -> bool:
    return all(any(kind.fullmatch(word) for kind in (OPINION, P835, FILLING)) for word in words)


def is_statistic_name(name: str, names: Sequence[str]) -> bool:
    """Return whether a column has a spread or a count of another one, or numbers rows or units.

    >>> is_statistic_name("MOS_std", ["MOS"]), is_statistic_name("speaker_id", [])
    (True, True)
    >>> is_statistic_name("wer_max", ["MOS"])
    False
    """
    words = name_words(name)
    if words and NUMBERING.fullmatch(words[-1]):
        return True
    rest = [word for word in words if not SPREAD.fullmatch(word)]
    if len(rest) == len(words):
        return False
    return _are_vote_words(rest) or rest in [name_words(other) for other in names if other != name]


def divide_numbers(
    numbers: Mapping[str, Sequence[float]],
    outputs: Sequence[Hashable],
    listeners: Sequence[Hashable],
    votes: Sequence[str],
    metrics: Sequence[str],
) -> NumberColumns:
    """Return which columns have votes, and which have metrics.

    Parameters
    ----------
    numbers
        Columns by name; NaN is an empty cell.
    outputs, listeners
        Output and listener of each row; no listeners if the table has none.
    votes, metrics
        Columns that the user named.
    """
    has_votes = bool(listeners) and len({*outputs}) < len(outputs)
    varying = {n for n, column in numbers.items() if not is_constant_within(column, outputs)}
    chosen, fault = tuple(votes), None
    if not votes:
        names = [name for name in numbers if name not in metrics]
        named = [name for name in names if is_vote_name(name)]
        if has_votes and varying:
            free = [name for name in names if name in varying]
            own = [
                name
                for name in free
                if not is_constant_within(numbers[name], listeners)
                and not is_statistic_name(name, names)
            ]
            usual = [name for name in own if _are_vote_words(name_words(name))]
            chosen = tuple([name for name in named if name in own] or usual or own)
            is_sure = len(chosen) == 1 or {*chosen} <= {*named}
        else:
            chosen = tuple(named)
            marked = [any(map(P835.fullmatch, name_words(name))) for name in named]
            is_sure = all(marked) or not any(marked)
        if not chosen or not is_sure:
            fault = _doubtful_columns(chosen, names)
    left_out = {name for name in numbers if is_statistic_name(name, [*numbers]) and not metrics}
    left_out |= {name for name in numbers if is_vote_name(name) and not votes} | {*chosen}
    measured = [name for name in numbers if name not in left_out and name not in varying]
    return NumberColumns(chosen, tuple(metrics) or tuple(measured), fault)


def is_constant_within(numbers: Sequence[float], owners: Sequence[Hashable]) -> bool:
    """Return whether all numbers of each owner are equal; NaN is ignored."""
    first: dict[Hashable, float] = {}
    rows = zip(owners, numbers, strict=True)
    return all(
        first.setdefault(owner, number) == number for owner, number in rows if number == number
    )


def _doubtful_columns(chosen: Sequence[str], names: Sequence[str]) -> Fault:
    """Return the fault of a table in which votes look like metrics."""
    columns = ", ".join(map(show, chosen or names)) or "no column of numbers"
    if not chosen:
        message = f"no column is known to have ratings (columns of numbers: {columns})"
    else:
        message = f"columns {columns} may have ratings or metrics"
    candidates = [name for name in chosen or names if not is_statistic_name(name, names)]
    ways = " or ".join(f"--scale {_quoted(name)}" for name in candidates[:2])
    remedy = f"name the column of ratings ({ways})" if ways else "add a column of ratings"
    return Fault("", message, f"{remedy}, or add a table of ratings after this one")


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[\w.%+-]+", name) else f"'{name}'"
