"""What several files say together: ratings, groups of items and listeners, faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from earwitness.data import Answer, Input, Key, Rating, RatingFault, Study, Who
from earwitness.data.grouped import Grouping, Groupings
from earwitness.errors import UsageError
from earwitness.formats.ratings import OffScale, RatingsTable
from earwitness.listening.analysis.judging import off_scale, with_totals
from earwitness.listening.rubrics import TOTAL, Blank, Rubric, defined

JURY = "jury"
FORMS = ("before", "after")


@dataclass
class Gathered:
    """Takes files one after the other; ``known`` are groups that the study has."""

    known: Groupings = field(default_factory=dict)
    ratings: list[Rating] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    groups: dict[str, Grouping] = field(default_factory=dict)
    captions: dict[Key, str] = field(default_factory=dict)
    faults: list[RatingFault] = field(default_factory=list)
    rubric: str = ""

    def add(self, ratings: Iterable[Rating], of: Input) -> None:
        """Ratings of a file."""
        self.ratings += ratings
        self.inputs.append(of)

    def judged(self, known: Rubric | None, ratings: list[Rating], of: Input, blank: Blank) -> None:
        """Ratings of answers; where there is a rubric, totals are made anew."""
        if known is None:
            self.add(ratings, of)
            return
        own = [one for one in ratings if one.scale != TOTAL]
        made = with_totals(known, own, blank, where=Path(of.name).name)
        self.add(made.ratings, of)
        self.faults += made.faults

    def table(self, table: RatingsTable, blank: Blank) -> None:
        """All of a table; of ratings by a rubric, totals are made."""
        name = Path(table.input.name).name
        self.notes += table.notes
        self.join(table.groups, name)
        self.captions |= table.captions
        known = defined(table.rubric) if table.rubric else None
        off = [off_scale(known, f"{name}:{one.line}", *_vote(one)) for one in table.off]
        if known is None:
            self.add(table.ratings, table.input)
            self.faults += off
            return
        self.rubric = table.rubric
        made = with_totals(known, table.every, blank, off, where=name)
        self.add(made.ratings, table.input)
        self.faults += made.faults

    def join(self, groups: Groupings, source: str) -> None:
        """Groups of another file; nobody is in two."""
        for name, own in groups.items():
            before = self.groups.setdefault(name, own)
            if before.of != own.of:
                told = f'"{name}" is of a {before.of} elsewhere and of a {own.of} in {source}'
                raise UsageError(f"by: {told} — analyse the files apart")
            torn = [who for who, one in own.groups.items() if before.groups.get(who, one) != one]
            if torn:
                told = f'{torn[0]} is "{before.groups[torn[0]]}" and "{own.groups[torn[0]]}"'
                raise UsageError(f"by {name}: {told} ({source}) — it must be in one group")
            self.groups[name] = Grouping(own.of, {**before.groups, **own.groups})


def _vote(one: OffScale) -> tuple[Key, Who, str, float]:
    return Key(one.item, one.system), one.listener, one.scale, one.value


def study_captions(study: Study) -> dict[Key, str]:
    """What systems wrote about clips, where that is judged."""
    return {
        Key(clip.name, system): text
        for clip in study.material
        for system, text in clip.captions.items()
    }


def study_groups(study: Study | None) -> dict[str, Grouping]:
    """What a study knows of its clips, and of which jury listeners are."""
    if study is None:
        return {}
    names = dict.fromkeys(name for clip in study.material for name in clip.covariates)
    numbers = range(1, study.listeners + 1) if study.juries else ()
    found: dict[Who, str] = {number: study.jury(number) for number in numbers}
    juries = {JURY: Grouping("listener", found)} if found else {}
    return juries | {
        name: Grouping(
            "item",
            {c.name: _text(c.covariates[name]) for c in study.material if name in c.covariates},
        )
        for name in names
    }


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def form_groups(study: Study, answers: Iterable[Answer]) -> dict[str, Grouping]:
    """What listeners said of themselves in forms, by question."""
    asked = {one.name for one in (*study.before, *study.after)}
    found: dict[str, dict[Who, str]] = {}
    for answer in answers:
        for name, value in _said(answer.page, answer.values):
            if name in asked:
                found.setdefault(name, {})[answer.listener] = value
    return {name: Grouping("listener", groups) for name, groups in found.items()}


def _said(page: str, values: Mapping[str, object]) -> list[tuple[str, str]]:
    if page not in FORMS:
        return []
    return [
        (name, _text(value))
        for name, value in values.items()
        if isinstance(value, str | int | float) and value != ""
    ]
