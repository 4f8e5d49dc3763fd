"""The verbs, as functions; the command line offers the same."""

from earwitness.api.annotating import people
from earwitness.api.comparing import compare
from earwitness.api.gathering import gather
from earwitness.api.networks import network
from earwitness.api.rendering import render
from earwitness.api.scoring import score

__all__ = ["compare", "gather", "network", "people", "render", "score"]
