"""Models behind small protocols: text as vectors."""

from earwitness.models.bertscore import bertscore, bertscore_rates, bertscore_sums
from earwitness.models.encoder import LAYERS, Encoder, find_encoder, is_there
from earwitness.models.kept import Encoded

__all__ = [
    "LAYERS",
    "Encoded",
    "Encoder",
    "bertscore",
    "bertscore_rates",
    "bertscore_sums",
    "find_encoder",
    "is_there",
]
