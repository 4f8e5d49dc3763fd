"""Printable sheets of plane studies: writing, and entry of their values."""
