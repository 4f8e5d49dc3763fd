"""Notebooks of the documentation: run their cells, store the outputs, and show them as pages.

Run ``python docs/notebooks.py`` after a change of what results show; ``--check`` lists notebooks
whose outputs are outdated. A notebook runs in its own folder, in this process and without Jupyter:
a cell prints, and shows the value of its last line, as in Jupyter.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
Notebook = dict[str, Any]


def notebooks() -> list[Path]:
    """Return all notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def read_notebook(path: Path) -> Notebook:
    """Return the content of a notebook file."""
    content: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return content


def run_notebook(notebook: Notebook, folder: Path) -> Notebook:
    """Return the notebook with the outputs of all its code cells, run in order in a folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count, before = list[dict[str, Any]](), 0, Path.cwd()
    os.chdir(folder)
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                outputs = _run_cell("".join(cell["source"]), names, count)
                cell = {**cell, "execution_count": count, "outputs": outputs}
            cells.append(cell)
    finally:
        os.chdir(before)
    return {**notebook, "cells": cells}


def _run_cell(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return what a cell prints, and the value of its last line unless that ends in a semicolon."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    shown = isinstance(last, ast.Expr) and not source.rstrip().endswith(";")
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        if shown:
            assert isinstance(last, ast.Expr)
            statements = ast.Module(tree.body[:-1], [])
            exec(compile(statements, "<cell>", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        else:
            exec(compile(tree, "<cell>", "exec"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(text)})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if (as_html := getattr(value, "_repr_html_", None)) is not None and (html := as_html()):
            data["text/html"] = _lines(html)
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": count,
                "data": data,
                "metadata": {},
            }
        )
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write_notebook(notebook: Notebook, path: Path) -> None:
    """Write a notebook file in Jupyter's format."""
    text = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    path.write_text(text, encoding="utf-8")


def notebook_page(notebook: Notebook) -> str:
    """Return a notebook as Markdown, for the website."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                parts.append(_page_element("".join(data["text/html"])))
            else:
                text = "".join(output.get("text") or data.get("text/plain", ()))
                parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _page_element(html: str) -> str:
    """Return markup that Markdown leaves alone: a block without blank lines."""
    lines = [line for line in html.splitlines() if line.strip()]
    return '<div class="notebook-output">\n' + "\n".join(lines) + "\n</div>"


def main(arguments: list[str]) -> int:
    """Run all notebooks and rewrite their outputs, or list outdated ones with ``--check``."""
    outdated = []
    for path in notebooks():
        stored = read_notebook(path)
        fresh = run_notebook(stored, FOLDER)
        if fresh != stored:
            outdated.append(path)
            if "--check" not in arguments:
                write_notebook(fresh, path)
    verb = "outdated" if "--check" in arguments else "rewritten"
    for path in outdated:
        print(f"{path.name}: {verb}")
    return int(bool(outdated) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
