"""Experiments: how results depend on the number of people."""
