"""Time to compute Krippendorff's alpha, compared with the krippendorff package.

Both compute alpha without an interval; then Earwitness also computes an interval of 1,000 draws.
The package keeps units × values² numbers in memory, so it cannot process votes that are mostly
distinct; for those, only Earwitness is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import krippendorff
import numpy as np

from earwitness.stats.agreement import Level, krippendorff_alpha
from earwitness.stats.arrays import Floats

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
REACH = 2e8  # largest number of cells for which the package is run


def seconds(work: Callable[[], object]) -> float:
    """Return the shortest time of several runs."""
    found: list[float] = []
    while len(found) < 3 or (sum(found) < 1 and len(found) < 50):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def tables() -> dict[str, Floats]:
    """Return tables of units by raters, by name."""
    rng = np.random.Generator(np.random.PCG64(0))
    small = rng.normal(size=(40, 1)) + rng.normal(size=(40, 30))
    large = rng.normal(size=(1000, 1)) + rng.normal(size=(1000, 30))
    return {
        "40 units × 30 raters, 5 values": np.clip(np.rint(small + 3), 1, 5),
        "40 units × 30 raters, 0 to 100": np.clip(np.rint(20 * small + 50), 0, 100),
        "1,000 units × 30 raters, 30 values": np.clip(np.rint(5 * large + 15), 1, 30),
        "1,000 units × 30 raters, all different": large,
    }


def compare(name: str, table: Floats, level: Level) -> None:
    """Print the times, their ratio and the difference of the values."""
    ours = seconds(lambda: krippendorff_alpha(table, level, draws=0))
    drawn = seconds(lambda: krippendorff_alpha(table, level))
    own = f"Earwitness {1e3 * ours:.2f} ms, with interval {1e3 * drawn:.0f} ms"
    cells = len(table) * float(len(np.unique(table))) ** 2
    if cells > REACH:
        print(f"{name}, {level}: {own}, krippendorff would need {8 * cells / 1e9:,.0f} GB")
        return
    peer = seconds(lambda: krippendorff.alpha(table.T, level_of_measurement=level))
    apart = krippendorff_alpha(table, level, draws=0).value - krippendorff.alpha(
        table.T, level_of_measurement=level
    )
    print(
        f"{name}, {level}: {own}, krippendorff {1e3 * peer:.2f} ms, "
        f"ratio {peer / ours:.1f}, difference {abs(apart):.0e}"
    )


def main() -> None:
    """Print all comparisons."""
    for name, table in tables().items():
        for level in LEVELS:
            compare(name, table, level)


if __name__ == "__main__":
    main()
