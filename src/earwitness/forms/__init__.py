"""Answers without a browser: workbooks of raters and paper sheets, written and read."""
