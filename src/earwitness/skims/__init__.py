"""Skims: condensing a day-long recording into about a minute."""
