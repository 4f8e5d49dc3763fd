"""Browsing of day-long recordings: picture levels, tiles, exact excerpts, labels."""
