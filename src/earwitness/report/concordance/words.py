"""Coefficients, levels and ways, in words."""

from __future__ import annotations

from earwitness.data import Figure, Value

NAMES = {
    "pearson": "Pearson r",
    "spearman": "Spearman ρ",
    "kendall_b": "Kendall τ-b",
    "kendall_c": "Kendall τ-c",
    "tau_23": "τ₂₃",
    "acc_23": "acc₂₃",
    "acc_23_calibrated": "acc₂₃ with calibrated ties",
    "pairwise_accuracy": "pairwise accuracy",
}
SHARES = ("acc_23", "acc_23_calibrated", "pairwise_accuracy")
LEVELS = {
    "system": "to rank systems",
    "item": "to rank outputs of one item",
    "global": "over all outputs at once",
}
WHERE = {
    "system": "over systems",
    "item": "over the systems of each item, averaged over items",
    "global": "over all outputs",
}
OVER = {
    "systems": "other systems",
    "items": "other items",
    "raters": "other raters",
    "all": "other systems, items and raters",
}
SWAPPED = {
    "inputs": "other items, of these very systems",
    "systems": "other systems",
    "both": "other outputs, if metrics err on each by itself",
}


def named(figure: Figure) -> str:
    """A figure in words."""
    return f"{NAMES[figure.coefficient]} {WHERE[figure.level]}"


def value_of(figure: Figure) -> Value:
    """How a figure is read: its range, and that high is good."""
    low = 0.0 if figure.coefficient in SHARES else -1.0
    return Value(NAMES[figure.coefficient], "high", low, 1.0, WHERE[figure.level])
