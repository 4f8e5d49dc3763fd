"""Text that was written with marks."""

from __future__ import annotations

from html.parser import HTMLParser


class _Text(HTMLParser):
    """What a page says without its marks."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag in ("br", "p", "li", "div"):
            self.found.append("\n")


def plain_text(html: str) -> str:
    """What HTML says, a line a paragraph, without its marks.

    >>> plain_text("Welcome!<br/>Use <b>headphones</b> &amp; relax.")
    'Welcome!\\nUse headphones & relax.'
    """
    reader = _Text()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.found).splitlines())
    return "\n".join(line for line in lines if line)
