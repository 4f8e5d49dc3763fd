"""Extension of griffe: show bare doctests of docstrings as examples on the website.

In NumPy style only an Examples section is code. Doctests without this heading would be read as
Markdown, so the heading is added.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

PROMPT = re.compile(r"^>>> ", re.M)
HEADING = re.compile(r"^Examples\n-+$", re.M)


def with_heading(text: str) -> str:
    r"""Return a docstring whose doctests stand below a heading.

    >>> with_heading("Sum.\n\n>>> 1 + 1\n2")
    'Sum.\n\nExamples\n--------\n>>> 1 + 1\n2'
    """
    found = PROMPT.search(text)
    if not found or HEADING.search(text):
        return text
    return f"{text[: found.start()]}Examples\n--------\n{text[found.start() :]}"


class DoctestSections(griffe.Extension):
    """Adds the heading to every docstring that needs it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = with_heading(obj.docstring.value)
