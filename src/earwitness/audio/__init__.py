"""Signals and their files."""
