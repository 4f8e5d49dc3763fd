"""Metrics that compare texts by a model: which one, and from which layer."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from earwitness.errors import UsageError
from earwitness.metrics.base import Metric, at_least
from earwitness.models import LAYERS, Encoder, find_encoder

MODEL = {"help": "minilm, a folder, or a name in the Hugging Face cache"}
LAYER = {"help": "whose vectors are compared; 0 is the published one of the model"}


@dataclass(frozen=True)
class EncodedMetric(Metric):
    """A metric with a model; in one process, so that a text is encoded once, on all cores."""

    alone = True
    model: str = field(default="minilm", kw_only=True, metadata=MODEL)
    layer: int = field(default=0, kw_only=True, metadata=LAYER)

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[misc]
        if not isinstance(self.model, str) or not self.model:
            told = "model must be one of minilm, a folder, a name in the Hugging Face cache"
            raise UsageError(f"{told}, got {self.model!r}")
        if at_least(0, "layer", self.layer) % 1:
            raise UsageError(f"layer must be a whole number, got {self.layer!r}")
        object.__setattr__(self, "layer", int(self.layer) or LAYERS.get(self.model, 0))

    @property
    def encoder(self) -> Encoder:
        """The model."""
        return find_encoder(self.model, self.layer)

    @property
    def signature(self) -> str:
        """With all that the numbers depend on."""
        rest = [f.name for f in fields(self) if f.name not in ("model", "layer")]
        pairs = [f"{name}={getattr(self, name)}" for name in rest]
        return f"{self.name}({','.join([*pairs, self.encoder.signature])})"
