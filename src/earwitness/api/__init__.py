"""The verbs, as functions; the command line offers the same.

Each is loaded when it is first asked for: who skims needs none of what scores.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from earwitness.api.annotating import people as people
    from earwitness.api.comparing import compare as compare
    from earwitness.api.gathering import gather as gather
    from earwitness.api.networks import network as network
    from earwitness.api.rendering import render as render
    from earwitness.api.scoring import score as score

PLACES = {
    "compare": "comparing",
    "gather": "gathering",
    "network": "networks",
    "people": "annotating",
    "render": "rendering",
    "score": "scoring",
}
__all__ = ["compare", "gather", "network", "people", "render", "score"]


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{PLACES[name]}"), name)
