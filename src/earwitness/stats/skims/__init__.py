"""Skims as arrays: what a day was like in blocks, and how close so few of them come to it."""
