"""Ratings of listeners, read from tables, answer files and databases."""
