"""Models behind small protocols: text as vectors."""

from earwitness.models.bertscore import bertscore
from earwitness.models.encoder import LAYERS, Encoded, Encoder, find_encoder, is_there

__all__ = ["LAYERS", "Encoded", "Encoder", "bertscore", "find_encoder", "is_there"]
