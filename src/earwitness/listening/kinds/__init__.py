"""Kinds of trials by name: what is presented, what is asked, and what follows from the answers."""

from earwitness.data import Block
from earwitness.listening.kinds.ab import AB
from earwitness.listening.kinds.abx import ABX
from earwitness.listening.kinds.acr import ACR
from earwitness.listening.kinds.base import Kind
from earwitness.listening.kinds.bs1116 import BS1116
from earwitness.listening.kinds.ccr import CCR
from earwitness.listening.kinds.dcr import DCR
from earwitness.listening.kinds.mushra import Mushra
from earwitness.listening.kinds.p835 import P835
from earwitness.listening.kinds.preference import Preference
from earwitness.listening.kinds.rubric import RubricKind

KINDS: dict[str, type[Kind]] = {
    kind.name: kind
    for kind in (P835, ACR, DCR, CCR, Mushra, BS1116, AB, ABX, Preference, RubricKind)
}


def block_kind(block: Block) -> Kind:
    """The kind of a block, with its parameters."""
    return KINDS[block.kind](**block.parameters)


__all__ = ["KINDS", "Kind", "block_kind"]
