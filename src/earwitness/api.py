"""The public functions, each imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from earwitness.chapters.gather import gather as gather
    from earwitness.output_formats import render as render
    from earwitness.scoring.compare import compare as compare
    from earwitness.scoring.score import people as people
    from earwitness.scoring.score import score as score
    from earwitness.word_networks import network as network

VERB_MODULES = {
    "compare": "earwitness.scoring.compare",
    "gather": "earwitness.chapters.gather",
    "network": "earwitness.word_networks",
    "people": "earwitness.scoring.score",
    "render": "earwitness.output_formats",
    "score": "earwitness.scoring.score",
}
__all__ = ["compare", "gather", "network", "people", "render", "score"]


def __getattr__(name: str) -> Any:
    if name not in VERB_MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(VERB_MODULES[name]), name)
