"""Notebooks of the documentation run, and show what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from notebooks import FOLDER, notebook_page, notebooks, read_notebook, run_notebook

NOTEBOOKS = notebooks()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_give(path: Path) -> None:
    stored = read_notebook(path)
    assert run_notebook(stored, FOLDER)["cells"] == stored["cells"], "run: make refresh"


def test_there_are_three_in_the_format_of_jupyter() -> None:
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        notebook = read_notebook(path)
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
        assert all(cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")


def test_a_page_has_the_text_the_code_and_the_outputs() -> None:
    code = {"cell_type": "code", "id": "b", "metadata": {}, "source": ["print(1)\n", "2 + 3"]}
    text = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title"]}
    ran = run_notebook({"cells": [text, code]}, Path())
    assert notebook_page(ran) == (
        "# Title\n\n```python\nprint(1)\n2 + 3\n```\n\n```text\n1\n```\n\n```text\n5\n```\n"
    )
