"""Sound at another rate."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[Any]


def resampled(samples: Samples, rate: int, wanted: int) -> Samples:
    """Sound at another sample rate, without what that rate cannot hold; a column a channel."""
    if rate == wanted:
        return samples
    from scipy.signal import resample_poly

    common = gcd(rate, wanted)
    made = resample_poly(samples, wanted // common, rate // common, axis=0)
    return np.asarray(made, samples.dtype)
