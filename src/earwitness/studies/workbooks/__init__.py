"""Spreadsheet workbooks for raters of captions: export and import."""
