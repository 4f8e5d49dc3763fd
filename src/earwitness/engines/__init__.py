"""Ways to spread work; each implements the ``Map`` of ``data``."""

from earwitness.engines.local import in_process
from earwitness.engines.processes import processes

__all__ = ["in_process", "processes"]
