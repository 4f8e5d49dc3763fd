"""Word networks: manual summaries of one transcript, merged, and the path closest to a summary."""

from earwitness.networks.alignment import Step, alignment
from earwitness.networks.closest import Target, closest
from earwitness.networks.network import START, Network
from earwitness.networks.pairs import edits_and_hits
from earwitness.networks.weight import ceiling, weight

__all__ = [
    "START",
    "Network",
    "Step",
    "Target",
    "alignment",
    "ceiling",
    "closest",
    "edits_and_hits",
    "weight",
]
