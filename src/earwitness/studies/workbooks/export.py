"""The verb study export-xlsx: workbooks for the raters of a caption study.

Each rater gets what the design plans for them: clips in the order of their plan, over all sessions,
and captions in the order of each trial. Practice is left to browsers. Nothing in a workbook says
who wrote which caption.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import combinations
from os import PathLike
from pathlib import Path, PurePosixPath

from earwitness.errors import InputError, Problem, UsageError
from earwitness.studies.design.report import study_design
from earwitness.studies.pages import counted
from earwitness.studies.ratings.from_answers import StudySource
from earwitness.studies.rubric import Rubric, defined
from earwitness.studies.study import Design, ListenerPlan, Study, Trial
from earwitness.studies.trials import block_kind
from earwitness.studies.trials.rubric import RubricKind
from earwitness.studies.workbooks.layout import caption_hash
from earwitness.studies.workbooks.write import (
    DEFAULT_FILE_PATTERN,
    WorkbookClip,
    WorkbookContent,
    workbook,
    write_workbooks,
)

NUMBER_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
SAME_WORDS_MESSAGE = "have the same words, and could not be told apart when they come back"
SAME_WORDS_REMEDY = "give one of them other words, or leave the clip out"
DEFAULT_CLIPS_FOLDER = "clips"  # the folder that links go to, unless told


def study_export_xlsx(
    study: StudySource,
    folder: str | PathLike[str],
    *,
    local: str = DEFAULT_CLIPS_FOLDER,
    web: str = "",
    pattern: str = DEFAULT_FILE_PATTERN,
    listeners: str = "",
) -> list[Path]:
    """Write workbooks into a new folder, one a rater and flavour; their paths.

    ``listeners`` names some of them, such as ``1-16,20``; without it all get one.
    """
    made = study_design(study)
    rubric = judged_by(made.study)
    check_captions(made)
    known = {plan.listener: plan for plan in made.plans}
    sent = [sent_to(made, known[number]) for number in chosen(listeners, list(known))]
    ask = kind_of(made.study).synthesised
    return write_workbooks(folder, sent, rubric, local=local, web=web, pattern=pattern, ask=ask)


def own_workbook(made: Design, listener: int, links: str) -> bytes:
    """The workbook of one rater, with links into a folder or to an address."""
    plan = next(plan for plan in made.plans if plan.listener == listener)
    check_captions(made)
    ask = kind_of(made.study).synthesised
    return workbook(sent_to(made, plan), judged_by(made.study), links=links, ask=ask)


def obstacle(made: Design) -> str:
    """Why a study cannot have workbooks; nothing if it can."""
    try:
        kind_of(made.study)
        check_captions(made)
    except (UsageError, InputError) as error:
        return str(error)
    missing = [name for name in ("openpyxl", "xlsxwriter") if find_spec(name) is None]
    return f"{missing[0]} is not installed: pip install 'earwitness[xlsx]'" if missing else ""


def kind_of(study: Study) -> RubricKind:
    """What captions of a study are asked by; refused where a workbook could not ask it."""
    kinds = list(map(block_kind, study.blocks))
    judging = [kind for kind in kinds if isinstance(kind, RubricKind)]
    if len(judging) < len(kinds):
        raise UsageError("only captions can be judged in workbooks — this study is about sounds")
    if any(kind != judging[0] for kind in judging):
        raise UsageError("a workbook has one rubric, but blocks of this study have several")
    return judging[0]


def judged_by(study: Study) -> Rubric:
    """The rubric of a study, in its language."""
    return defined(kind_of(study).rubric, study.language)


def sent_to(made: Design, plan: ListenerPlan) -> WorkbookContent:
    """What a rater is sent."""
    study, group = made.study, kind_of(made.study).group
    datasets = {clip.name: _shown(clip.covariates.get(group, "")) for clip in study.material}
    files = _files(study)
    clips = [
        WorkbookClip(
            trial.item, tuple(captions(study, trial)), files[trial.item], datasets[trial.item]
        )
        for trial in counted(plan).values()
    ]
    title = " ".join(study.title.split())
    return WorkbookContent(title, f"P{plan.listener}", tuple(clips), study.digest, plan.listener)


def captions(study: Study, trial: Trial) -> list[str]:
    """The captions of a trial in their order."""
    return [study.caption(trial.item, system) for system in trial.systems]


def check_captions(made: Design) -> None:
    """Refuse captions that have the same words and are judged together: nobody could tell later
    which of them was meant."""
    every = {
        (trial.item, trial.treatment) for plan in made.plans for trial in counted(plan).values()
    }
    problems = [
        Problem(
            made.study.title,
            0,
            "captions",
            f"{one} and {other} {SAME_WORDS_MESSAGE}",
            SAME_WORDS_REMEDY,
            item=item,
        )
        for item, systems in sorted(every)
        for one, other in combinations(systems, 2)
        if _hash(made.study, item, one) == _hash(made.study, item, other)
    ]
    if problems:
        raise InputError(list(dict.fromkeys(problems)), done="written")


def _hash(study: Study, item: str, system: str) -> str:
    return caption_hash(study.caption(item, system))


def chosen(listeners: str, known: Sequence[int]) -> list[int]:
    """Numbers that are meant, in order.

    >>> chosen("2-3, 5", [1, 2, 3, 4, 5]), chosen("", [1, 2])
    ([2, 3, 5], [1, 2])
    """
    found = sorted({*_numbers(listeners)}) if listeners.strip() else list(known)
    if unknown := [one for one in found if one not in {*known}]:
        told = f"there is no listener {unknown[0]}"
        raise UsageError(f"listeners: {told} — known: {min(known)} to {max(known)}")
    return found


def _numbers(listeners: str) -> Iterator[int]:
    for part in listeners.split(","):
        found = NUMBER_RANGE.fullmatch(part.strip())
        if found is None:
            raise UsageError(f'listeners: "{part.strip()}" is no number — write them as 1-16,20')
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first > 100_000:
            raise UsageError(f'listeners: "{part.strip()}" must go from a number to a higher one')
        yield from range(first, last + 1)


def _files(study: Study) -> dict[str, str]:
    """The file of every clip, from the folder that all of them share."""
    system = min(study.systems)
    paths = {one.name: PurePosixPath(study.file(one.name, system)) for one in study.material}
    parents = [path.parent.parts for path in paths.values()]
    shared = 0
    while all(len(one) > shared for one in parents) and len({one[shared] for one in parents}) == 1:
        shared += 1
    return {name: "/".join(path.parts[shared:]) for name, path in paths.items()}


def _shown(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
