"""Extension of griffe: complete docstrings for the website.

In NumPy style only an Examples section is code. Doctests without this heading would be read as
Markdown, so the heading is added. Parameters that are described once for several functions get
their description.
"""

from __future__ import annotations

import re
from pkgutil import resolve_name
from typing import Any

import griffe

from earwitness.docstrings import SECTION, complete_docstring

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
    """Adds the heading and the descriptions to every docstring that needs them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring:
            if obj.is_function and SECTION.search(obj.docstring.value):
                completed = complete_docstring(resolve_name(obj.canonical_path))
                obj.docstring.value = completed or obj.docstring.value
            obj.docstring.value = with_heading(obj.docstring.value)
