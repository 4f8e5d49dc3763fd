"""The verbs, as functions; the command line offers the same."""

from earwitness.api.rendering import render
from earwitness.api.scoring import score

__all__ = ["render", "score"]
