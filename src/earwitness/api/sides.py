"""Files in the wrong place: scores for ratings, a study without answers, stores as files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from earwitness.data import Study
from earwitness.errors import UsageError

Place = str | PathLike[str]
STUDIES = (".yaml", ".yml")
STORES = (".db", ".sqlite", ".sqlite3")
SQLITE = b"SQLite format 3\0"
ADDRESS = re.compile(r"(sqlite|postgres(ql)?)(\+\w+)?:/")  # as a path, of two slashes one is left
LOOKED_AT = 1 << 16  # bytes of a file from which it is told what it has
STORE = "study.db"  # where serve keeps answers unless told
SORTS = {
    "study": "is a study file",
    "store": "is a store",
    "answers": "has answers of listeners",
    "ratings": "has ratings (a column {listener})",
}


def check_ratings(files: Sequence[Place], study: Place | Study | None) -> None:
    """Refuse stores that are named as files, and a study to which there are no answers."""
    for one in files:
        if ADDRESS.match(str(one)):
            raise UsageError(f"{one} is the address of a store, no file — say --db ADDRESS")
        if sort_of(one) == "store":
            raise UsageError(f"{one} is a store — say --db {one}")
    if not files:
        raise UsageError(f"{_unanswered(study)}name answers or a table of ratings, or --db STORE")


def _unanswered(study: Place | Study | None) -> str:
    """What a study file lacks; names the store beside it, if there is one."""
    if study is None or isinstance(study, Study):
        return ""
    beside = Path(study).parent / STORE
    if beside.is_file():
        told = f"its answers may be in the store beside it: say --db {beside}; or "
    else:
        told = ""
    return f"{study} has what was asked, not what people said — {told}"


def check_scores(
    scores: Sequence[Place],
    ratings: Sequence[Place],
    study: Place | Study | None = None,
    db: Place | None = None,
    listener: str = "listener",
) -> None:
    """Refuse ratings, studies and stores in the place of scores; say the command with both right.

    ``listener`` is what the column of listeners is called; nothing if listeners stand elsewhere.
    """
    others = [one for one in ratings if sort_of(one, listener) == "scores"]
    for one in scores:
        sort = sort_of(one, listener)
        if sort == "scores" or (sort == "ratings" and not (listener and others)):
            continue
        told = SORTS[sort].format(listener=listener)
        rest = [other for other in (study, *ratings) if isinstance(other, str | PathLike)]
        instead = next((other for other in others), "SCORES")
        command = [instead, *([] if sort == "store" else [one]), *(x for x in rest if x != instead)]
        store = db or (one if sort == "store" else None)
        command += ["--db", store] if store else []
        raise UsageError(
            f"{one} {told}, and stands where scores should — say: earwitness agree "
            f"{' '.join(map(str, command))}"
        )


def sort_of(path: Place, listener: str = "listener") -> str:
    """What a file has, told from its name and its first line: scores if nothing else."""
    ending = Path(path).suffix.lower()
    start = _start(path)
    if ending in STUDIES:
        return "study"
    if start.startswith(SQLITE) or (ending in STORES and not start):
        return "store"
    names = _names(start)
    if {"page", "values"} <= names:
        return "answers"
    return "ratings" if listener in names else "scores"


def _start(path: Place) -> bytes:
    """The first bytes of a file; none of what is no plain file, such as a pipe."""
    try:
        if not Path(path).is_file():
            return b""
        with Path(path).open("rb") as file:
            return file.read(LOOKED_AT)
    except OSError:
        return b""  # whoever reads it will tell


def _names(start: bytes) -> set[str]:
    """Names of columns, or of fields of the first object."""
    text = start.decode("utf-8-sig", errors="replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    try:
        found = json.loads(first)
    except ValueError:
        return {name.strip().strip('"') for name in re.split(r"[,;\t]", first)}
    return {*found} if isinstance(found, dict) else set()
