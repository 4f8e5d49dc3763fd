"""Printed results, as in chunkseg.display."""

from __future__ import annotations

from collections.abc import Mapping

from earwitness.chunkseg.metrics import COUNT_KEYS, ChunksegResults


def print_results(results: Mapping[str, Mapping[str, float]]) -> None:
    """Print one line per key, in per cent except for counts.

    Further lines have the model for titles, and the number of samples that could not be aligned,
    if any.

    Parameters
    ----------
    results
        Result of ``evaluate_batch``.

    Examples
    --------
    >>> print_results({"pk": {"mean": 0.25, "std": 0.01}, "num_segments": {"mean": 4, "std": 1}})
    pk: 25.0 ± 1.0
    num_segments: 4 ± 1
    """
    if not results:
        print("No results to display.")
    for name, value in results.items():
        scale = 1 if name in COUNT_KEYS else 100
        print(f"{name}: {round(value['mean'] * scale, 2)} ± {round(value['std'] * scale, 2)}")
    if isinstance(results, ChunksegResults) and results.model:
        print(f"model for titles: {results.model}")
    if isinstance(results, ChunksegResults) and results.failed:
        print(f"samples that could not be aligned: {results.failed:,}")
