"""Progress of parts of the work on a recording."""

from __future__ import annotations

from collections.abc import Callable

from earwitness.core import Progress


def divide_progress(
    progress: Progress, before: float, seconds: float, total: float
) -> Callable[[float, float], Progress]:
    """Return a function that returns the progress of the work between two shares of all.

    Parameters
    ----------
    progress
        Receives the seconds done of ``total``, which never decrease.
    before, seconds
        Seconds of what is done already, and of the work that is divided.
    total
        Seconds of all work.
    """
    most = 0.0

    def divide(start: float, end: float) -> Progress:
        def report(done: int, whole: int | None, cases: int, /) -> None:
            nonlocal most
            most = max(most, start + (end - start) * (min(1.0, done / whole) if whole else 0.0))
            progress(int(before + most * seconds), int(total), cases)

        return report

    return divide
