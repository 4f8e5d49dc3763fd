"""Recordings of hours and days: many files on one clock, with gaps, damage and exact cuts."""
