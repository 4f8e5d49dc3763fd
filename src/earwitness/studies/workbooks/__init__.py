"""Spreadsheet workbooks for raters of captions, written and read back."""
