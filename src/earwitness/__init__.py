"""Earwitness: an evaluation workbench for systems that work on audio.

Functions
---------
score
    Score the outputs of systems, with confidence intervals.
compare
    Compare systems on the same items, with significance tests.
people
    Measure agreement between annotators.
gather
    Convert subtitles, chapter lists and CTM files to records.
network
    Merge the reference summaries of an item into a word network.
render
    Convert a result to text, Markdown, HTML, LaTeX, JSON or CSV.

Every function is imported when it is first used. The same functions are commands of the command
line program; see ``earwitness --help``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from earwitness.version import __version__

if TYPE_CHECKING:
    from earwitness.api import compare as compare
    from earwitness.api import gather as gather
    from earwitness.api import network as network
    from earwitness.api import people as people
    from earwitness.api import render as render
    from earwitness.api import score as score

__all__ = ["__version__", "compare", "gather", "network", "people", "render", "score"]


def __getattr__(name: str) -> Any:
    """Import a function when it is first used."""
    if name in ("compare", "gather", "network", "people", "render", "score"):
        from earwitness import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
