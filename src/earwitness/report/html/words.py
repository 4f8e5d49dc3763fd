"""Alignments of words: a column a word, in lines as long as the screen is wide."""

from __future__ import annotations

from unicodedata import bidirectional

from earwitness.data import Alignment, Pair
from earwitness.report.html.elements import Html, element, joined
from earwitness.report.parts import Block

SHORT = 4000  # characters of a text that is not folded
MARKS = {"S": "replaced", "D": "missing", "I": "too much"}
NONE = element("i", "–", title="no word")


def words_block(part: Block) -> Html:
    """Folded if it is long."""
    return element(
        "details",
        element("summary", part.title),
        *(_alignment(one) for one in part.alignments),
        class_="block",
        open=len(part.text) < SHORT,
    )


def _alignment(alignment: Alignment) -> Html:
    told = alignment.told
    if not alignment.pairs:
        return element("pre", *(element("span", line) for line in told.splitlines()))
    people = any(pair.people is not None for pair in alignment.pairs)
    heads = [alignment.wanted, "OUT", "", *(["people"] if people else [])]
    head = element("li", *(element("span", name) for name in heads), class_="head")
    pairs = [_pair(pair, people=people) for pair in alignment.pairs]
    listed = element("ol", head, *pairs, class_="words", dir=_direction(alignment))
    return element("div", joined([listed, element("p", told)]) if told else listed, class_="card")


def _direction(alignment: Alignment) -> str | None:
    """From the right if most letters are of such a script."""
    text = "".join(pair.wanted + pair.given for pair in alignment.pairs)
    letters = [bidirectional(letter) for letter in text if letter.isalpha()]
    return "rtl" if 2 * sum(one in ("R", "AL") for one in letters) > len(letters) else None


def _pair(pair: Pair, *, people: bool) -> Html:
    """Wanted, given, the mark, and how many people; a dash where there is no word."""
    number = "" if pair.people is None else str(pair.people)
    return element(
        "li",
        *(element("span", word) if word else NONE for word in (pair.wanted, pair.given)),
        element("b", pair.mark, title=MARKS[pair.mark]) if pair.mark else None,
        element("small", number) if people else None,
        class_=pair.mark or None,
    )
