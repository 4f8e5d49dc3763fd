"""Report library: parts of a report, rendered in all output formats."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

# Place of the table of renderers, in the notation of entry points. The table is above all domains,
# so the package earwitness names it.
RENDERERS_PLACE = ""


def apply_renderer(result: Any, name: str) -> Any:
    """Return what a function of the renderer of a result returns, such as ``"report"``."""
    renderers: Mapping[str, Any] = resolve_name(RENDERERS_PLACE)
    for kind in type(result).__mro__:
        if (place := f"{kind.__module__}.{kind.__qualname__}") in renderers:
            return resolve_name(getattr(renderers[place], name))(result)
    raise NotImplementedError(f"{type(result).__name__} has no renderer — add an entry point")
