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
from earwitness.studies.pages import counted_trials
from earwitness.studies.ratings.from_answers import StudySource
from earwitness.studies.rubric import Rubric, read_rubric
from earwitness.studies.study import Design, ListenerPlan, Study, Trial
from earwitness.studies.trials import block_kind
from earwitness.studies.trials.rubric import RubricKind
from earwitness.studies.workbooks.layout import caption_hash
from earwitness.studies.workbooks.write import (
    DEFAULT_FILE_PATTERN,
    WorkbookClip,
    WorkbookContent,
    make_workbook,
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
    design = study_design(study)
    rubric = study_rubric(design.study)
    check_captions(design)
    plan_of = {plan.listener: plan for plan in design.plans}
    sent = [
        workbook_content(design, plan_of[number])
        for number in choose_listeners(listeners, list(plan_of))
    ]
    ask = rubric_kind(design.study).synthesised
    return write_workbooks(folder, sent, rubric, local=local, web=web, pattern=pattern, ask=ask)


def rater_workbook(design: Design, listener: int, links: str) -> bytes:
    """The workbook of one rater, with links into a folder or to an address."""
    plan = next(plan for plan in design.plans if plan.listener == listener)
    check_captions(design)
    ask = rubric_kind(design.study).synthesised
    return make_workbook(
        workbook_content(design, plan), study_rubric(design.study), links=links, ask=ask
    )


def workbook_obstacle(design: Design) -> str:
    """Why a study cannot have workbooks; nothing if it can."""
    try:
        rubric_kind(design.study)
        check_captions(design)
    except (UsageError, InputError) as error:
        return str(error)
    missing = [name for name in ("openpyxl", "xlsxwriter") if find_spec(name) is None]
    return f"{missing[0]} is not installed: pip install 'earwitness[xlsx]'" if missing else ""


def rubric_kind(study: Study) -> RubricKind:
    """What captions of a study are asked by; refused where a workbook could not ask it."""
    kinds = list(map(block_kind, study.blocks))
    judging = [kind for kind in kinds if isinstance(kind, RubricKind)]
    if len(judging) < len(kinds):
        raise UsageError("only captions can be judged in workbooks — this study is about sounds")
    if any(kind != judging[0] for kind in judging):
        raise UsageError("a workbook has one rubric, but blocks of this study have several")
    return judging[0]


def study_rubric(study: Study) -> Rubric:
    """The rubric of a study, in its language."""
    return read_rubric(rubric_kind(study).rubric, study.language)


def workbook_content(design: Design, plan: ListenerPlan) -> WorkbookContent:
    """What a rater is sent."""
    study, group = design.study, rubric_kind(design.study).group
    datasets = {
        clip.name: _covariate_text(clip.covariates.get(group, "")) for clip in study.material
    }
    files = _file_names(study)
    clips = [
        WorkbookClip(
            trial.item, tuple(trial_captions(study, trial)), files[trial.item], datasets[trial.item]
        )
        for trial in counted_trials(plan).values()
    ]
    title = " ".join(study.title.split())
    return WorkbookContent(title, f"P{plan.listener}", tuple(clips), study.digest, plan.listener)


def trial_captions(study: Study, trial: Trial) -> list[str]:
    """The captions of a trial in their order."""
    return [study.caption(trial.item, system) for system in trial.systems]


def check_captions(design: Design) -> None:
    """Refuse captions that have the same words and are judged together: nobody could tell later
    which of them was meant."""
    captions = {
        (trial.item, trial.treatment)
        for plan in design.plans
        for trial in counted_trials(plan).values()
    }
    problems = [
        Problem(
            design.study.title,
            0,
            "captions",
            f"{first} and {second} {SAME_WORDS_MESSAGE}",
            SAME_WORDS_REMEDY,
            item=item,
        )
        for item, systems in sorted(captions)
        for first, second in combinations(systems, 2)
        if _caption_hash(design.study, item, first) == _caption_hash(design.study, item, second)
    ]
    if problems:
        raise InputError(list(dict.fromkeys(problems)), done="written")


def _caption_hash(study: Study, item: str, system: str) -> str:
    return caption_hash(study.caption(item, system))


def choose_listeners(listeners: str, numbers: Sequence[int]) -> list[int]:
    """Numbers that are meant, in order.

    >>> choose_listeners("2-3, 5", [1, 2, 3, 4, 5]), choose_listeners("", [1, 2])
    ([2, 3, 5], [1, 2])
    """
    wanted = sorted({*_parse_numbers(listeners)}) if listeners.strip() else list(numbers)
    if unknown := [number for number in wanted if number not in {*numbers}]:
        message = f"there is no listener {unknown[0]}"
        raise UsageError(f"listeners: {message} — known: {min(numbers)} to {max(numbers)}")
    return wanted


def _parse_numbers(listeners: str) -> Iterator[int]:
    for part in listeners.split(","):
        match = NUMBER_RANGE.fullmatch(part.strip())
        if match is None:
            raise UsageError(f'listeners: "{part.strip()}" is no number — write them as 1-16,20')
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first > 100_000:
            raise UsageError(f'listeners: "{part.strip()}" must go from a number to a higher one')
        yield from range(first, last + 1)


def _file_names(study: Study) -> dict[str, str]:
    """The file of every clip, from the folder that all of them share."""
    system = min(study.systems)
    paths = {one.name: PurePosixPath(study.file(one.name, system)) for one in study.material}
    parents = [path.parent.parts for path in paths.values()]
    shared = 0
    while all(len(one) > shared for one in parents) and len({one[shared] for one in parents}) == 1:
        shared += 1
    return {name: "/".join(path.parts[shared:]) for name, path in paths.items()}


def _covariate_text(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
