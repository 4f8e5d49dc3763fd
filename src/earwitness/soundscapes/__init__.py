"""Synthetic day-long recordings with known sources.

A timetable lists which sources sound at which time. A scene has the events of a timetable, drawn
with a seed. The mixer renders the audio, and the truth gives the true values of a skim.
"""
