"""BERTScore: how well the tokens of two texts match, each with the nearest of the other.

No idf, no rescaling; tokens that only begin and end a text may be matched but do not count, as in
the package bert-score.

Reference: Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from earwitness.models.encoder import Encoded, Encoder


def bertscore(
    outputs: Sequence[str], references: Sequence[str], encoder: Encoder
) -> NDArray[np.float64]:
    """A row a pair: precision, recall, F1; 0 if either text has no token."""
    encoded = encoder.encode([*outputs, *references])
    rows = [_pair(encoded[o], encoded[r]) for o, r in zip(outputs, references, strict=True)]
    return np.array(rows, np.float64).reshape(len(rows), 3)


def _pair(output: Encoded, reference: Encoded) -> tuple[float, float, float]:
    if not output.weights.any() or not reference.weights.any():
        return 0.0, 0.0, 0.0
    similar = output.vectors @ reference.vectors.T
    precision = float(similar.max(axis=1) @ output.weights / output.weights.sum())
    recall = float(similar.max(axis=0) @ reference.weights / reference.weights.sum())
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0
