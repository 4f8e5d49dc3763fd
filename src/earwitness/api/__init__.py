"""The verbs, as functions; the command line offers the same."""

from earwitness.api.scoring import score

__all__ = ["score"]
