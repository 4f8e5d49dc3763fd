"""Skims: the task of choosing a minute that stands for a day."""
