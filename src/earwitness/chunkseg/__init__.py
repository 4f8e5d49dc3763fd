"""Drop-in replacement for the chunkseg package.

Functions, keys, order and aggregation are those of chunkseg 0.4.0, and so are the names of its
modules: ``from earwitness.chunkseg.metrics import collar_boundary_f1``. With a seed of NumPy's
global generator, the numbers are identical to the last bit, and batches are computed much faster.
In the cases where chunkseg is wrong, the correct value is returned; ``exact=True`` returns
chunkseg's. ``tm_rule="start"`` pairs titles as chunkseg 0.3.4 does. docs/migrate/chunkseg.md lists
every difference, with an example.

Use ``earwitness.score`` for better confidence intervals; this module exists to reproduce
published numbers.

>>> evaluate([120.5, 300.0], [125.0, 310.0], 600.0)["collar_f1"]
0.0
"""

from earwitness.chunkseg.display import print_results
from earwitness.chunkseg.evaluate import evaluate, evaluate_batch
from earwitness.chunkseg.titles import compute_title_scores

__all__ = ["compute_title_scores", "evaluate", "evaluate_batch", "print_results"]
__version__ = "0.4.0"  # the version of chunkseg that this package replaces
