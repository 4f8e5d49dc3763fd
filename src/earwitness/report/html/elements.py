"""HTML elements with escaped text and attributes, and documents made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

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


def join_elements(parts: Iterable[Html]) -> Html:
    """Return concatenated elements."""
    return Html("".join(parts))


def folded(summary: str, *content: Html | None, **attributes: str | bool | None) -> Html:
    """Return content below a line that unfolds it."""
    return element("details", element("summary", summary), *content, **attributes)


def header_cells(texts: Iterable[str], scope: str = "col") -> list[Html]:
    """Return cells that are the names of columns or rows."""
    return [element("th", text, scope=scope) for text in texts]


def draw_table(
    head: Iterable[Html], rows: Iterable[Html], class_: str | None = None, caption: str = ""
) -> Html:
    """Return a table with the cells of its head, and its rows."""
    return element(
        "table",
        element("caption", breakable(caption)) if caption else None,
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        class_=class_,
    )


def scroll_box(table: Html, label: str) -> Html:
    """Return a table in a box that scrolls sideways if the table is too wide."""
    return element("div", table, class_="scroll", role="group", aria_label=label)


# --- Documents -----------------------------------------------------------------------------------


STYLE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
PROVENANCE_TITLE = "Provenance"
SCRIPT_POLICY = f"{STYLE_POLICY}; script-src 'unsafe-inline'"


def html_document(title: str, *body: Html | None, policy: str, style: str) -> str:
    """Return a document that loads nothing but what its content security policy allows."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="generator", content="earwitness"),
        element("title", title),
        element("style", Html(style)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', *body), lang='en')}\n"


@cache
def read_static(package: str, name: str) -> str:
    """Return a file of the folder ``static`` of a package, such as ``report.html``."""
    return (files(f"earwitness.{package}") / "static" / name).read_text(encoding="utf-8")


def fill_template(package: str, name: str, values: Mapping[str, object]) -> Html:
    """Return a static file of elements, filled with values, which are escaped unless markup."""
    filled = {
        key: value if isinstance(value, Html) else escape("" if value is None else str(value))
        for key, value in values.items()
    }
    return Html(read_static(package, name).replace("\n", "").format(**filled))


def static_page(
    package: str,
    name: str,
    title: str,
    values: Mapping[str, object],
    data: Html | None,
    *,
    media: str,
) -> str:
    """Return a page of a package, made of its static files: template, style and script of a name.

    Parameters
    ----------
    package, name
        The package, and the name of its files.
    title
        Title of the document.
    values
        Contents of the template.
    data
        Data for the script; without any, the page has no script.
    media
        Addresses from which the page may load audio and pictures, as content security policies.
    """
    return html_document(
        title,
        fill_template(package, f"{name}.html", values),
        data,
        script_element(package, f"{name}.js") if data else None,
        policy=f"{SCRIPT_POLICY}; {media}",
        style=read_static("report.html", "report.css") + read_static(package, f"{name}.css"),
    )


def script_element(package: str, name: str) -> Html:
    """Return a script of a package."""
    return element("script", Html(read_static(package, name)))


def data_element(name: str, content: Any, **options: Any) -> Html:
    """Return JSON data for a script; ``<`` is escaped so that it cannot end the element."""
    text = json.dumps(content, **options).replace("<", "\\u003c")
    return element("script", Html(text), type="application/json", id=name)


def provenance_section(lines: Iterable[str], anchor: str | None = None) -> Html | None:
    """Return a section that lists how a page was made, or None without lines."""
    entries = [element("li", line) for line in lines]
    if not entries:
        return None
    listed = element("ul", *entries, class_="made")
    return element("section", element("h2", PROVENANCE_TITLE), listed, id=anchor)


def format_minutes(seconds: float) -> str:
    """Return a time of a player.

    >>> format_minutes(65.9)
    '1:05'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
