"""Word networks drawn as SVG arcs over lines of words, and tables of people and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from earwitness.core import WordNetwork
from earwitness.report.html.elements import Html, element
from earwitness.report.parts import NetworkPart
from earwitness.text.alignment import display_width

# widths: of a picture, of a letter, between words, at ends
PICTURE_WIDTH, LETTER_WIDTH, WORD_GAP, LINE_MARGIN = 900, 8.2, 22, 34
# heights: below a line of words; the lowest and the highest arc above it
LINE_FOOT, MIN_ARC_HEIGHT, MAX_ARC_HEIGHT = 34, 26, 120
MAX_ARC_THICKNESS, ARC_LIFT = 7.0, 18  # largest arc width; height of arc ends above the baseline
MAX_DRAWN_WORDS = 300
GRID_WIDTH, GRID_PADDING = 96, 2  # of a table of people and words: letters in all, and per word


class WordPosition(NamedTuple):
    """Position of a word: its line, and its left and right end."""

    line: int
    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def network_picture(part: NetworkPart, colours: Mapping[str, str]) -> Html:
    """Return the words that anyone kept, and buttons that highlight the paths of systems."""
    network = part.network
    nodes = sorted({node for arc in network.arcs for node in arc})
    end = len(network.words) + 1
    if len(nodes) > MAX_DRAWN_WORDS + 2:
        nodes = nodes[: MAX_DRAWN_WORDS + 1]
    places = _place_words(network, nodes)
    lines = max(place.line for place in places.values()) + 1
    drawn = {arc: n for arc, n in network.arcs.items() if arc[0] in places and arc[1] in places}
    highest = [_line_height(drawn, places, line) for line in range(lines)]
    tops = [sum(highest[: line + 1]) + line * LINE_FOOT for line in range(lines)]
    height = tops[-1] + LINE_FOOT
    marks = [{*pairwise((0, *path, end))} for path in network.targets.values()]
    arcs = [
        _draw_arc(
            network,
            arc,
            places,
            tops,
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
                viewBox=f"0 0 {PICTURE_WIDTH} {height:.0f}",
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
    network = part.network
    shown = network.words[:MAX_DRAWN_WORDS]
    kept = {who: frozenset(positions) for who, positions in network.people.items()}
    note = (
        f"; the first {len(shown)} of {len(network.words):,} words"
        if len(shown) < len(network.words)
        else ""
    )
    return element(
        "details",
        element("summary", f"Words that each person kept{note}"),
        element(
            "div",
            *(_kept_table(network.words, block, kept) for block in _split_words(shown)),
            class_="scroll grid",
        ),
        open=part.grid_open,
    )


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


def _kept_table(words: Sequence[str], places: range, kept: Mapping[str, frozenset[int]]) -> Html:
    header = [element("th", words[place - 1], scope="col") for place in places]
    rows = [
        element(
            "tr",
            element("th", who, scope="row"),
            *(
                element("td", words[place - 1], class_="kept") if place in own else element("td")
                for place in places
            ),
        )
        for who, own in kept.items()
    ]
    counts = [sum(place in own for own in kept.values()) for place in places]
    total = element(
        "tr",
        element("th", "kept by", scope="row"),
        *(element("td", str(count)) for count in counts),
        class_="total",
    )
    corner = element("th", f"words {places[0]}–{places[-1]}", scope="col")
    return element(
        "table", element("thead", element("tr", corner, *header)), element("tbody", *rows, total)
    )


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
    names = [
        (f"n{part.number}-{i}", colours[s].split()[0]) for i, s in enumerate(part.network.targets)
    ]
    return [f"#{n}:checked~.scroll .{n}{{stroke:var(--{colour})}}" for n, colour in names]


def _place_words(network: WordNetwork, nodes: list[int]) -> dict[int, WordPosition]:
    """Return word positions in as few lines as needed, with lines of similar length."""
    widths = {node: display_width(network.name(node)) * LETTER_WIDTH for node in nodes}
    lines = _break_lines(widths, PICTURE_WIDTH - LINE_MARGIN)[-1].line + 1
    limit = sum(width + WORD_GAP for width in widths.values()) / lines + LINE_MARGIN
    while _break_lines(widths, limit)[-1].line + 1 > lines:
        limit += WORD_GAP
    return dict(zip(nodes, _break_lines(widths, limit), strict=True))


def _break_lines(widths: Mapping[int, float], limit: float) -> list[WordPosition]:
    places, line, left = list[WordPosition](), 0, float(LINE_MARGIN)
    for width in widths.values():
        if left + width > limit and left > LINE_MARGIN:
            line, left = line + 1, float(LINE_MARGIN)
        places.append(WordPosition(line, left, left + width))
        left += width + WORD_GAP
    return places


def _arc_height(a: WordPosition, b: WordPosition) -> float:
    """Return the height of an arc."""
    span = b.middle - a.middle if a.line == b.line else PICTURE_WIDTH / 6
    return min(MAX_ARC_HEIGHT, MIN_ARC_HEIGHT + span / 5)


def _line_height(
    arcs: Mapping[tuple[int, int], int], places: Mapping[int, WordPosition], line: int
) -> float:
    rises = [
        _arc_height(places[a], places[b])
        for a, b in arcs
        if line in (places[a].line, places[b].line)
    ]
    return max(rises, default=MIN_ARC_HEIGHT) * 0.75 + 26


def _draw_arc(
    network: WordNetwork,
    arc: tuple[int, int],
    places: Mapping[int, WordPosition],
    tops: list[float],
    marks: list[str],
) -> Html:
    a, b = (places[node] for node in arc)
    count, people = network.arcs[arc], len(network.people)
    start, stop, rise = tops[a.line] - ARC_LIFT, tops[b.line] - ARC_LIFT, _arc_height(a, b)
    if a.line == b.line:
        left, right, top = f"{a.middle:.1f}", f"{b.middle:.1f}", f"{start - rise:.1f}"
        path = f"M{left} {start:.1f} C{left} {top} {right} {top} {right} {stop:.1f}"
    else:  # out at the right, in at the left
        out, into = start - rise * 0.6, stop - rise * 0.6
        edge = max(place.right for place in places.values()) + WORD_GAP
        path = (
            f"M{a.middle:.1f} {start:.1f} Q{a.middle:.1f} {out:.1f} {edge:.1f} {out:.1f} "
            f"M0 {into:.1f} Q{b.middle:.1f} {into:.1f} {b.middle:.1f} {stop:.1f}"
        )
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
