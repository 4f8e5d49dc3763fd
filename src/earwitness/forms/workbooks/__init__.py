"""Spreadsheet workbooks for raters of captions: export and import."""

DEFAULT_CLIPS_FOLDER = "clips"  # default folder of links
DEFAULT_FILE_PATTERN = "P{n}_{flavour}.xlsx"
