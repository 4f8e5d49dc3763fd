"""Word networks drawn as SVG arcs over lines of words, and tables of people and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from operator import add

from earwitness.core import WordNetwork
from earwitness.report.charts import MAX_DRAWN_WORDS, NetworkSizes, WordPosition
from earwitness.report.html.elements import Html, draw_table, element, folded, header_cells
from earwitness.report.parts import NetworkPart, Table
from earwitness.report.tables import kept_words_table
from earwitness.text.alignment import display_width

LETTER_WIDTH = 8.2
SIZES = NetworkSizes(width=900, margin=34, gap=22, arcs=(26, 120), lift=18)
LINE_FOOT, LINE_HEAD = 34, 26  # heights below a line of words, and above its arcs
MAX_ARC_THICKNESS = 7.0
GRID_WIDTH, GRID_PADDING = 96, 2  # of a table of people and words: letters in all, and per word


def network_picture(part: NetworkPart, colours: Mapping[str, str]) -> Html:
    """Return the words that anyone kept, and buttons that highlight the paths of systems."""
    network = part.network
    nodes = sorted({node for arc in network.arcs for node in arc})
    end = len(network.words) + 1
    if len(nodes) > MAX_DRAWN_WORDS + 2:
        nodes = nodes[: MAX_DRAWN_WORDS + 1]
    places = _place_words(network, nodes)
    drawn = {arc: n for arc, n in network.arcs.items() if arc[0] in places and arc[1] in places}
    heights = (0.75 * rise + LINE_HEAD for rise in SIZES.highest(drawn, places))
    tops = [top + line * LINE_FOOT for line, top in enumerate(accumulate(heights))]
    marks = [{*pairwise((0, *path, end))} for path in network.targets.values()]
    edge = max(place.right for place in places.values()) + SIZES.gap
    arcs = [
        _draw_arc(
            network,
            arc,
            SIZES.arc(places[arc[0]], places[arc[1]], tops, edge),
            [_path_class(part, i) for i, m in enumerate(marks) if arc in m],
        )
        for arc in sorted(drawn, key=lambda arc: network.arcs[arc])
    ]
    words = [_draw_word(network, node, place, tops) for node, place in places.items()]
    return element(
        "figure",
        element("figcaption", network.item, element("small", _people_note(network))),
        element("p", part.why, class_="why") if part.why else None,
        *_system_buttons(part, colours),
        element("style", Html("".join(_path_rules(part, colours)))),
        element(
            "div",
            element(
                "svg",
                *arcs,
                *words,
                viewBox=f"0 0 {SIZES.width} {tops[-1] + LINE_FOOT:.0f}",
                role="img",
                aria_label=_network_label(network),
            ),
            class_="scroll",
        ),
        _kept_words(part),
        class_="network",
    )


# --- People and words ----------------------------------------------------------------------------


def _kept_words(part: NetworkPart) -> Html:
    """Return tables with a row per person and a column per word; kept words are printed."""
    grid, words = kept_words_table(part.network), part.network.words
    shown = grid.header[1:]
    note = f"; the first {len(shown)} of {len(words):,} words" * (len(shown) < len(words))
    tables = [_kept_table(grid, block) for block in _split_words(shown)]
    box = element("div", *tables, class_="scroll grid")
    return folded(f"Words that each person kept{note}", box, open=part.grid_open)


def _split_words(words: Sequence[str]) -> list[range]:
    """Return the positions of words in blocks that fit the width of a page."""
    blocks, start, width = list[range](), 1, 0
    for place, word in enumerate(words, 1):
        own = display_width(word) + GRID_PADDING
        if width + own > GRID_WIDTH and place > start:
            blocks.append(range(start, place))
            start, width = place, 0
        width += own
    return [*blocks, range(start, len(words) + 1)]


def _kept_table(grid: Table, places: range) -> Html:
    def draw_row(row: Sequence[str], cell_class: str | None, row_class: str | None) -> Html:
        cells = (element("td", text, class_=cell_class if text else None) for text in row[1:])
        return element("tr", *header_cells(row[:1], "row"), *cells, class_=row_class)

    block = grid.columns([0, *places])
    rows = [draw_row(row, "kept", None) for row in block.rows[:-1]]
    names = [f"words {places[0]}–{places[-1]}", *block.header[1:]]
    return draw_table(header_cells(names), [*rows, draw_row(block.rows[-1], None, "total")])


# --- Arcs and words ------------------------------------------------------------------------------


def _people_note(network: WordNetwork) -> str:
    """Return the number of people, and how many words are shown if not all."""
    people, kept = len(network.people), len({node for arc in network.arcs for node in arc}) - 2
    more = (
        f"; showing the first {MAX_DRAWN_WORDS} of {kept:,} words kept by anyone"
        if kept > MAX_DRAWN_WORDS
        else ""
    )
    return f" {people} {'person' if people == 1 else 'people'}{more}"


def _path_class(part: NetworkPart, index: int) -> str:
    """Return the class of a system's button and of the arcs on its path."""
    return f"n{part.number}-{index}"


def _network_label(network: WordNetwork) -> str:
    return f"Word network of {network.item}: {len(network.arcs)} arcs, {len(network.people)} people"


def _system_buttons(part: NetworkPart, colours: Mapping[str, str]) -> list[Html]:
    """Return one button per system; the stylesheet highlights its path."""
    buttons = []
    for index, system in enumerate(part.network.targets):
        name = _path_class(part, index)
        buttons.append(
            element(
                "input",
                type="radio",
                name=f"n{part.number}",
                id=name,
                class_=f"pick {colours[system]}",
                checked=system == part.picked,
            )
        )
        key = element("span", element("i"), system, class_=f"key {colours[system]}")
        buttons.append(element("label", key, for_=name))
    return buttons


def _path_rules(part: NetworkPart, colours: Mapping[str, str]) -> list[str]:
    """Return CSS rules that colour the path of the selected system."""
    names = {_path_class(part, i): colours[s] for i, s in enumerate(part.network.targets)}
    return [f"#{n}:checked~.scroll .{n}{{stroke:var(--{c.split()[0]})}}" for n, c in names.items()]


def _place_words(network: WordNetwork, nodes: list[int]) -> dict[int, WordPosition]:
    """Return word positions in as few lines as needed, with lines of similar length."""
    widths = {node: display_width(network.name(node)) * LETTER_WIDTH for node in nodes}

    def count_lines(limit: float) -> int:
        return SIZES.break_lines(widths, limit)[nodes[-1]].line + 1

    lines = count_lines(SIZES.width - SIZES.margin)
    limit = sum(width + SIZES.gap for width in widths.values()) / lines + SIZES.margin
    while count_lines(limit) > lines:
        limit += SIZES.gap
    return SIZES.break_lines(widths, limit)


def _draw_arc(
    network: WordNetwork,
    arc: tuple[int, int],
    ends: Sequence[tuple[float, float]],
    marks: list[str],
) -> Html:
    count, people = network.arcs[arc], len(network.people)
    points = [f"{round(x, 1)} {round(y, 1)}" for x, y in ends]
    commands = ("M", " C", " ", " ") if len(points) == 4 else ("M", " Q", " ", " M", " Q", " ")
    path = "".join(map(add, commands, points))
    title = f"{network.name(arc[0])} → {network.name(arc[1])}: {count} of {people}"
    return element(
        "path",
        element("title", title),
        d=path,
        class_=" ".join(["arc", *marks]),
        stroke_width=round(0.8 + (MAX_ARC_THICKNESS - 0.8) * count / people, 2),
        stroke_dasharray=None if count else "3 4",
    )


def _draw_word(network: WordNetwork, node: int, place: WordPosition, tops: list[float]) -> Html:
    kept = sum(node in positions for positions in network.people.values())
    is_end = node in (0, len(network.words) + 1)
    title = None if is_end else element("title", f"word {node}: kept by {kept}")
    return element(
        "text",
        network.name(node),
        title,
        x=place.middle,
        y=tops[place.line],
        class_="end" if is_end else None,
        fill_opacity=1.0 if is_end else round(0.45 + 0.55 * kept / len(network.people), 2),
    )
