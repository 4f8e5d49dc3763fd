"""Chapters: the task of segmenting a long recording.

Times are in seconds from the start. A value that is not defined for a case is NaN, and the case is
counted as undefined; see the table of empty cells of each metric.
"""
