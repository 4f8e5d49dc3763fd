"""Scoring of outputs against references, for every task."""
