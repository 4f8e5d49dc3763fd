"""Choices of an analysis plan."""

INTERVALS = ("cluster_t", "naive_t", "cluster_bootstrap", "two_way_bootstrap", "mixed")
CORRECTIONS = ("holm", "bh", "none")
