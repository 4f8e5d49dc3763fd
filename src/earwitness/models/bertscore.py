"""BERTScore: how well the tokens of two texts match, each with the nearest of the other.

No idf, no rescaling; tokens that only begin and end a text may be matched but do not count, as in
the package bert-score.

Reference: Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from earwitness.models.encoder import Encoder
from earwitness.models.kept import Encoded


def bertscore(
    outputs: Sequence[str], references: Sequence[str], encoder: Encoder
) -> NDArray[np.float64]:
    """A row a pair: precision, recall, F1; 0 if either text has no token."""
    return bertscore_rates(bertscore_sums(outputs, references, encoder))


def bertscore_sums(
    outputs: Sequence[str], references: Sequence[str], encoder: Encoder
) -> NDArray[np.float64]:
    """A row a pair: for the output, then the reference, summed similarities and its tokens."""
    encoder.encode([*outputs, *references])
    rows = []
    for one, other in zip(outputs, references, strict=True):
        mine = encoder.encoded(one)
        # numpy rounds a matrix with itself differently: equal texts are one matrix, always
        rows.append(_pair(mine, mine if one == other else encoder.encoded(other)))
    return np.array(rows, np.float64).reshape(len(rows), 4)


def bertscore_rates(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Precision, recall, F1 from sums of a pair or of many, over the last axis; 0 of nothing."""
    tokens = sums[..., 1::2]
    rates = sums[..., ::2] / np.where(tokens == 0, 1, tokens)
    total = rates.sum(axis=-1)
    f1 = 2 * rates.prod(axis=-1) / np.where(total == 0, 1, total)
    return np.concatenate([rates, f1[..., None]], axis=-1)


def _pair(output: Encoded, reference: Encoded) -> tuple[float, float, float, float]:
    tokens = float(output.weights.sum()), float(reference.weights.sum())
    if not all(tokens):
        return 0.0, tokens[0], 0.0, tokens[1]
    similar = output.vectors @ reference.vectors.T
    precise = float(similar.max(axis=1) @ output.weights)
    recalled = float(similar.max(axis=0) @ reference.weights)
    return precise, tokens[0], recalled, tokens[1]
