"""Word networks: manual summaries of one transcript, merged, and the path closest to a summary."""

from earwitness.networks.closest import Target, closest
from earwitness.networks.network import Network
from earwitness.networks.weight import ceiling, weight

__all__ = ["Network", "Target", "ceiling", "closest", "weight"]
