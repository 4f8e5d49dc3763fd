"""Chapters: the task of cutting a long recording into parts.

Times are seconds from the start. A value is undefined (NaN, counted) where its definition says
nothing; see each family's empty cells.
"""
