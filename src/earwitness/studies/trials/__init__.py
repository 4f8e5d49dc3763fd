"""Trial kinds by name, from ACR and P.835 to MUSHRA, rubrics, summaries and skims, and plug-ins."""

from __future__ import annotations

from typing import Any

from earwitness.plugins import TRIAL_GROUP, PluginTable
from earwitness.studies.study import Study, StudyBlock, Trial
from earwitness.studies.trials.base import TrialKind
from earwitness.studies.trials.mushra import BS1116, Mushra
from earwitness.studies.trials.pairs import AB, ABX, CCR, Preference
from earwitness.studies.trials.plane import PlaneKind
from earwitness.studies.trials.rubric import RubricKind
from earwitness.studies.trials.single import ACR, DCR, P835
from earwitness.studies.trials.words import ReadingKind, WordsKind

BUILT_IN_KINDS: tuple[type[TrialKind], ...] = (
    P835,
    ACR,
    DCR,
    CCR,
    Mushra,
    BS1116,
    AB,
    ABX,
    Preference,
    RubricKind,
    WordsKind,
    ReadingKind,
    PlaneKind,
)


def _check_kind(name: str, loaded: Any) -> str:
    if not (isinstance(loaded, type) and issubclass(loaded, TrialKind)):
        return "is not a subclass of earwitness.studies.trials.base.TrialKind"
    wrong = f'has the name "{loaded.name}", which differs from its entry point'
    return wrong if loaded.name != name else ""


KINDS: PluginTable[type[TrialKind]] = PluginTable(
    TRIAL_GROUP, {kind.name: kind for kind in BUILT_IN_KINDS}, _check_kind
)


def block_kind(block: StudyBlock) -> TrialKind:
    """Return the trial kind of a block, with its parameters."""
    return KINDS[block.kind](**block.parameters)


def study_kinds(study: Study) -> list[TrialKind]:
    """Return the trial kinds of the blocks of a study."""
    return list(map(block_kind, study.blocks))


def anchor_folders(study: Study) -> list[str]:
    """Return the folders of the anchors that are rated like systems, each once."""
    return list(dict.fromkeys(name for kind in study_kinds(study) for name in kind.anchor_systems))


def kinds_for_rule(rule: str) -> list[str]:
    """Return the trial kinds that a screening rule was made for."""
    return [name for name, kind in KINDS.items() if rule in kind.screening_rules()]


def trial_kind(study: Study, trial: Trial) -> TrialKind:
    """Return the kind of a trial, with the transcript of its item, if any."""
    kind = block_kind(study.blocks[trial.block])
    return kind.with_transcript(study.transcript(trial.item)) if kind.transcribed else kind
