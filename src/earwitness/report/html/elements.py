"""HTML elements with escaped text and attributes."""

from __future__ import annotations

import re
from html import escape

VOID_TAGS = {"meta", "br", "wbr", "input", "line", "rect", "polyline", "polygon", "circle"}
# after a separator inside a name, but not inside a number such as 3.0
LINE_BREAK = re.compile(r"(?<=\w[_/@.-])(?<!\d\.)(?=\w)|(?<=\d\.)(?=[^\W\d])")


class Html(str):
    """Text that is already markup."""

    __slots__ = ()


def element(tag: str, *children: str | None, **attributes: str | float | bool | None) -> Html:
    """Return an element; ``class_`` is its class, ``data_x`` becomes ``data-x``, None is omitted.

    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    content = "".join(
        child if isinstance(child, Html) else escape(child)
        for child in children
        if child is not None
    )
    attribute_text = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID_TAGS and not content:
        return Html(f"<{tag}{attribute_text}/>")
    return Html(f"<{tag}{attribute_text}>{content}</{tag}>")


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(text)}"'


def breakable(text: str) -> Html:
    """Return text that may be broken into lines after the separators inside its names.

    >>> breakable("whisper_large@3.0")
    'whisper_<wbr/>large@<wbr/>3.0'
    """
    return Html("<wbr/>".join(map(escape, LINE_BREAK.split(text))))


def join_elements(parts: list[Html]) -> Html:
    """Return concatenated elements."""
    return Html("".join(parts))
