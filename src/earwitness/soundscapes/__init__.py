"""Synthetic days of sound with known truth.

A timetable says what sounds when; a scene has its events, drawn with a seed; the mixer makes them
heard; the truth says what a skim of the day is worth.
"""
