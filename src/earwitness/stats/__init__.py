"""Statistics over plain arrays."""

from earwitness.stats.bootstrap import (
    FEWEST,
    MULTINOMIAL_UP_TO,
    Bootstrap,
    Resampled,
    percentile_interval,
)

__all__ = ["FEWEST", "MULTINOMIAL_UP_TO", "Bootstrap", "Resampled", "percentile_interval"]
