"""Kinds of trials by name: what is asked about a clip, and in which words."""

from earwitness.listening.kinds.base import Kind, Scale
from earwitness.listening.kinds.ratings import ACR, P835

KINDS: dict[str, Kind] = {kind.name: kind for kind in (P835, ACR)}

__all__ = ["KINDS", "Kind", "Scale"]
