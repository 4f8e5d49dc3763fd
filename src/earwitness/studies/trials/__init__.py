"""Kinds of trials by name, from ACR and P.835 to MUSHRA and rubrics."""

from __future__ import annotations

from earwitness.studies.study import StudyBlock
from earwitness.studies.trials.base import TrialKind
from earwitness.studies.trials.mushra import BS1116, Mushra
from earwitness.studies.trials.pairs import AB, ABX, CCR, Preference
from earwitness.studies.trials.rubric import RubricKind
from earwitness.studies.trials.single import ACR, DCR, P835

KINDS: dict[str, type[TrialKind]] = {
    kind.name: kind
    for kind in (P835, ACR, DCR, CCR, Mushra, BS1116, AB, ABX, Preference, RubricKind)
}


def block_kind(block: StudyBlock) -> TrialKind:
    """The kind of a block, with its parameters."""
    return KINDS[block.kind](**block.parameters)
