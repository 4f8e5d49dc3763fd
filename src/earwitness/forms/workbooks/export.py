"""Command ``study export-xlsx``: workbooks for the raters of a caption study.

Each workbook has the clips of a rater in the order of the design, over all sessions, and captions
in the order of each trial. Practice is available in the browser only. A workbook does not reveal
which system wrote a caption.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import combinations
from pathlib import Path, PurePosixPath
from shutil import copyfile
from typing import Annotated
from warnings import warn

from earwitness.core import StrPath, count_text
from earwitness.errors import (
    EarwitnessWarning,
    InputError,
    Problem,
    UsageError,
    install_command,
    refuse_problems,
)
from earwitness.forms.workbooks import DEFAULT_CLIPS_FOLDER, DEFAULT_FILE_PATTERN
from earwitness.forms.workbooks.layout import caption_hash
from earwitness.forms.workbooks.write import (
    WorkbookClip,
    WorkbookContent,
    make_workbook,
    write_workbooks,
)
from earwitness.io.atomic import real_path
from earwitness.ratings.rubric import Rubric, read_rubric
from earwitness.studies.design.report import study_design
from earwitness.studies.from_answers import StudySource
from earwitness.studies.pages import counted_trials
from earwitness.studies.study import Design, ListenerPlan, Study, Trial, choose_listeners
from earwitness.studies.trials import study_kinds
from earwitness.studies.trials.rubric import RubricKind

SAME_WORDS_MESSAGE = "have the same caption, so their ratings could not be distinguished"
SAME_WORDS_REMEDY = "change one of the captions, or remove the clip"


def study_export_xlsx(
    study: StudySource,
    folder: StrPath,
    *,
    local: Annotated[str, "FOLDER"] = DEFAULT_CLIPS_FOLDER,
    web: Annotated[str, "URL"] = "",
    rename: Annotated[str, "PATTERN"] = DEFAULT_FILE_PATTERN,
    listener: Annotated[str, "RANGES"] = "",
) -> list[Path]:
    """Write one workbook per rater and flavour to a new folder.

    Parameters
    ----------
    study
    folder
        Path of the folder; it must not exist.
    local
        Folder of the clips for workbooks with local links; ``''`` for no such workbooks. The clips
        are copied into it if it is in the new folder.
    web
        Address of clips for links in workbooks, such as ``https://example.org/{file}``.
    rename
        Pattern of the workbooks' file names, with ``{n}``, ``{rater}`` and ``{flavour}``.
    listener
        Listeners by number, such as ``1-16,20``. By default all.

    Returns
    -------
    list of Path
        Paths of the workbooks.

    Raises
    ------
    UsageError
        If the study does not rate captions, or an argument is invalid.
    InputError
        If captions of a clip are identical.

    Examples
    --------
    >>> len(study_export_xlsx("captions.yaml", "workbooks", listener="1"))
    1
    """
    design = study_design(study)
    rubric = study_rubric(design.study)
    check_captions(design)
    plan_of = {plan.listener: plan for plan in design.plans}
    sent = [
        workbook_content(design, plan_of[number])
        for number in choose_listeners(listener, list(plan_of))
    ]
    ask = rubric_kind(design.study).synthesised
    written = write_workbooks(folder, sent, rubric, local=local, web=web, pattern=rename, ask=ask)
    if local and not isinstance(study, Study):
        _copy_clips(design.study, Path(study).parent, Path(folder), Path(folder) / local)
    return written


def _copy_clips(study: Study, source: Path, folder: Path, target: Path) -> None:
    """Copy the clips of a study into a folder, unless it is not inside the new one."""
    if not real_path(target).is_relative_to(real_path(folder)):
        return
    system, missing = min(study.systems), 0
    for item, name in _file_names(study).items():
        path = source / study.file(item, system)
        if not path.is_file():
            missing += 1
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        copyfile(path, target / name)
    if missing:
        message = f"{count_text(missing, 'clip')} of the study do not exist, and were not copied"
        warn(f"{message} — put them into {target}", EarwitnessWarning, stacklevel=3)


def rater_workbook(design: Design, listener: int, links: str) -> bytes:
    """Return the workbook of one rater, with links to a folder or to an address."""
    plan = next(plan for plan in design.plans if plan.listener == listener)
    check_captions(design)
    ask = rubric_kind(design.study).synthesised
    return make_workbook(
        workbook_content(design, plan), study_rubric(design.study), links=links, ask=ask
    )


def workbook_obstacle(design: Design) -> str:
    """Return why a study cannot have workbooks, or an empty string."""
    try:
        rubric_kind(design.study)
        check_captions(design)
    except (UsageError, InputError) as error:
        return str(error)
    missing = [name for name in ("openpyxl", "xlsxwriter") if find_spec(name) is None]
    return f"{missing[0]} is not installed — run: {install_command('xlsx')}" if missing else ""


def rubric_kind(study: Study) -> RubricKind:
    """Return the trial kind of a caption study; raise UsageError if it cannot have workbooks."""
    kinds = study_kinds(study)
    judging = [kind for kind in kinds if isinstance(kind, RubricKind)]
    if len(judging) < len(kinds):
        what = "has transcripts" if any(kind.transcribed for kind in kinds) else "rates sounds"
        raise UsageError(f"workbooks support caption studies only — this study {what}")
    if any(kind != judging[0] for kind in judging):
        raise UsageError(
            "a workbook supports one rubric, but the blocks of this study have several"
        )
    return judging[0]


def study_rubric(study: Study) -> Rubric:
    """Return the rubric of a study in its language."""
    return read_rubric(rubric_kind(study).rubric, study.language)


def workbook_content(design: Design, plan: ListenerPlan) -> WorkbookContent:
    """Return the content of the workbook of a rater."""
    study, group = design.study, rubric_kind(design.study).group
    groups = {clip.name: clip.covariates.get(group, "") for clip in study.material}
    datasets = {
        name: f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
        for name, value in groups.items()
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
    """Return the captions of a trial in order."""
    return [study.caption(trial.item, system) for system in trial.systems]


def check_captions(design: Design) -> None:
    """Raise InputError for identical captions that are rated together."""
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
    refuse_problems(list(dict.fromkeys(problems)), "written")


def _caption_hash(study: Study, item: str, system: str) -> str:
    return caption_hash(study.caption(item, system))


def _file_names(study: Study) -> dict[str, str]:
    """Return the file of each clip, relative to the common folder."""
    system = min(study.systems)
    paths = {clip.name: PurePosixPath(study.file(clip.name, system)) for clip in study.material}
    parents = [path.parent.parts for path in paths.values()]
    shared = 0
    while (
        all(len(parent) > shared for parent in parents)
        and len({parent[shared] for parent in parents}) == 1
    ):
        shared += 1
    return {name: "/".join(path.parts[shared:]) for name, path in paths.items()}
