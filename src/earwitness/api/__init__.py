"""The verbs, as functions; the command line offers the same."""

from earwitness.api.annotating import people
from earwitness.api.comparing import compare
from earwitness.api.rendering import render
from earwitness.api.scoring import score

__all__ = ["compare", "people", "render", "score"]
