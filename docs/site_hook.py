"""Hook of the website: notebooks, pages from outside docs/, and links that lead out of it.

Notebooks, CONTRIBUTING.md and CHANGELOG.md become pages of the website. Links to other files of the
repository, such as examples, become plain text, since the website does not contain them.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
from notebooks import notebook_page, notebooks, read_notebook

ROOT = Path(__file__).parents[1]
PAGES_FROM_ROOT = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.M | re.S)
DOCS = "docs"


def on_files(files: Files, config: Any) -> Files:
    """Add notebooks, and the pages that lie outside docs/."""
    for name, page in PAGES_FROM_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    for path in notebooks():
        page, text = f"notebooks/{path.stem}.md", notebook_page(read_notebook(path))
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links so that they are right on the website."""
    return rewrite_links(markdown, page.file.src_uri)


def rewrite_links(markdown: str, page: str) -> str:
    """Return the text of a page with links as the website needs them.

    >>> rewrite_links("[docs](docs/formats.md), [x](examples/a.py), `[b](c)`", "contributing.md")
    '[docs](formats.md), `examples/a.py` (x), `[b](c)`'
    >>> rewrite_links("[how](../CONTRIBUTING.md#add-a-metric)", "api.md")
    '[how](contributing.md#add-a-metric)'
    """
    sources = {one: name for name, one in PAGES_FROM_ROOT.items()}
    folder = posixpath.dirname(sources.get(page, f"{DOCS}/{page}"))

    def replaced(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target:
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in PAGES_FROM_ROOT:
            path = f"{DOCS}/{PAGES_FROM_ROOT[path]}"
        elif not path.startswith(f"{DOCS}/"):
            return f"`{path}`" if text in (path, f"`{path}`") else f"`{path}` ({text})"
        inside = path.removeprefix(f"{DOCS}/")
        return f"[{text}]({posixpath.relpath(inside, posixpath.dirname(page) or '.')}{anchor})"

    parts = CODE.split(markdown)
    return "".join(
        part if number % 2 else LINK.sub(replaced, part) for number, part in enumerate(parts)
    )
