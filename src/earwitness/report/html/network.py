"""Word networks drawn as SVG arcs over lines of words, and tables of people and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import add

from earwitness.core import WordNetwork
from earwitness.report.charts import NetworkSizes, Point, path_arcs
from earwitness.report.html.elements import Html, draw_table, element, folded, header_cells
from earwitness.report.parts import NetworkPart, Table
from earwitness.report.tables import MAX_DRAWN_WORDS, kept_words_table
from earwitness.text.alignment import display_width

LETTER_WIDTH = 8.2
SIZES = NetworkSizes(width=900, margin=34, gap=22, arcs=(26, 120), lift=18, head=26, foot=34)
MAX_ARC_THICKNESS = 7.0
GRID_WIDTH, GRID_PADDING = 96, 2  # of a table of people and words: letters in all, and per word


def network_picture(part: NetworkPart, colours: Mapping[str, str]) -> Html:
    """Return the words that anyone kept, and buttons that highlight the paths of systems."""
    network = part.network
    layout = SIZES.lay_out(network, lambda word: LETTER_WIDTH * display_width(word))
    paths = [path_arcs(network, path) for path in network.targets.values()]
    arcs = [
        _draw_arc(
            network,
            arc,
            layout.arcs[arc],
            [_path_class(part, i) for i, path in enumerate(paths) if arc in path],
        )
        for arc in sorted(layout.arcs, key=lambda arc: network.arcs[arc])
    ]
    words = [_draw_word(network, node, place) for node, place in layout.words.items()]
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
                viewBox=f"0 0 {SIZES.width} {layout.height:.0f}",
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
    note = f"; the first {len(shown)} of {len(words):,} words" if len(shown) < len(words) else ""
    tables = [_kept_table(grid, block) for block in _split_words(shown)]
    box = element("div", *tables, class_="scroll grid")
    return folded(f"Words that each person kept{note}", box, open=part.grid_open)


def _split_words(words: Sequence[str]) -> list[range]:
    """Return the positions of words in blocks that fit the width of a page."""
    blocks, start, width = list[range](), 1, 0
    for place, word in enumerate(words, 1):
        size = display_width(word) + GRID_PADDING
        if width + size > GRID_WIDTH and place > start:
            blocks.append(range(start, place))
            start, width = place, 0
        width += size
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


def _draw_arc(
    network: WordNetwork,
    arc: tuple[int, int],
    ends: Sequence[Point],
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


def _draw_word(network: WordNetwork, node: int, place: Point) -> Html:
    kept = sum(node in positions for positions in network.people.values())
    is_end = node in (0, len(network.words) + 1)
    title = None if is_end else element("title", f"word {node}: kept by {kept}")
    return element(
        "text",
        network.name(node),
        title,
        x=place[0],
        y=place[1],
        class_="end" if is_end else None,
        fill_opacity=1.0 if is_end else round(0.45 + 0.55 * kept / len(network.people), 2),
    )
