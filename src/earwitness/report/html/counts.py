"""Bars that show how votes divide over a scale, coloured from its bad end to its good one."""

from __future__ import annotations

from collections.abc import Mapping

from earwitness.report.html.elements import Html, element
from earwitness.report.parts import Counts

ROOM = 0.045  # of the bar, which a number needs
ENDS = {"high": ("worst", "best"), "low": ("best", "worst"), "none": ("least", "most")}


def counts_plot(part: Counts) -> Html:
    """A bar a system, a shade a value, percentages in the bars."""
    values = list(part.rows[0][1])
    shades = {x: _shade(i, len(values), part.value.best) for i, x in enumerate(values)}
    rows = [_row(name, counts, part.notes.get(name, ""), shades) for name, counts in part.rows]
    return element(
        "div", _legend(part, values, shades), element("div", *rows, class_="plot shares votes")
    )


def _shade(index: int, count: int, best: str) -> tuple[str, str]:
    """A class for what is written on it, and a style: from worst to best through a middle."""
    place = 2 * index / (count - 1) - 1 if count > 1 else 0.0
    place = -place if best == "low" else place
    end, far = ("worst" if place < 0 else "best"), abs(place)
    kind = "middle" if far < 0.3 else "half" if far < 0.8 else "end"
    return kind, f"--c:color-mix(in oklab,var(--{end}) {100 * far:.0f}%,var(--between))"


def _legend(part: Counts, values: list[float], shades: Mapping[float, tuple[str, str]]) -> Html:
    first, last = ENDS[part.value.best]
    ends = {values[0]: f" ({first})", values[-1]: f" ({last})"}
    keys = [
        element("span", element("i"), f"{x:g}{ends.get(x, '')}", class_="key", style=shades[x][1])
        for x in values
    ]
    return element("div", *keys, class_="legend votes")


def _row(
    name: str, counts: Mapping[float, int], note: str, shades: Mapping[float, tuple[str, str]]
) -> Html:
    total = sum(counts.values())
    bars = [
        element(
            "b",
            f"{100 * n / total:.0f}" if n / total >= ROOM else "",
            class_=shades[x][0],
            style=f"flex-grow:{n / total:.5f};{shades[x][1]}",
            title=f"{x:g}: {n:,} of {total:,} votes",
        )
        for x, n in counts.items()
        if n
    ]
    told = f"{name}: {', '.join(f'{n:,} votes of {x:g}' for x, n in counts.items())}"
    return element(
        "div",
        element("span", name, class_="name"),
        element("span", *bars, class_="bar", role="img", aria_label=told),
        element("span", note, class_="figure"),
        class_="row",
    )
