"""Statistics over plain arrays."""

from earwitness.stats.bootstrap import Bootstrap, Resampled, percentile_interval

__all__ = ["Bootstrap", "Resampled", "percentile_interval"]
