"""Statistics over plain arrays."""

from earwitness.stats.bootstrap import (
    MULTINOMIAL_UP_TO,
    Bootstrap,
    Resampled,
    percentile_interval,
)

__all__ = ["MULTINOMIAL_UP_TO", "Bootstrap", "Resampled", "percentile_interval"]
