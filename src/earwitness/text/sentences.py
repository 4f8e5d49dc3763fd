"""Rule-based sentence splitting, sentences with start times, and subtitle cues."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise
from math import inf, isfinite
from typing import NamedTuple

from earwitness.text.times import format_clock
from earwitness.text.words import UNSPACED_SCRIPTS

# --- Sentence splitting --------------------------------------------------------------------------
# A sentence ends with a mark such as . ! ? … 。 ！ ？ । ؟ and closing quotes or brackets.
# Unambiguous marks need no space after them. Latin marks need one (or a letter of a script without
# spaces), must not end an abbreviation, an initial or a number, and a lower-case letter after them
# continues the sentence. A blank line always ends a sentence.


CLOSING_MARKS = "\"'”’»›)\\]}」』）】"
UNAMBIGUOUS_MARKS = "。！？｡।॥။។៕"  # used only at the end of sentences
AMBIGUOUS_MARKS = ".!?…؟۔։።፧᠃᠉꓿᱾"
SENTENCE_BREAK = re.compile(
    rf"(?:[{UNAMBIGUOUS_MARKS}]|．(?!\d))+[{CLOSING_MARKS}]*|(?P<mark>[{AMBIGUOUS_MARKS}]+[{CLOSING_MARKS}]*)(?=[\s{UNSPACED_SCRIPTS}])|\n\s*\n"
)
SENTENCE_END = re.compile(rf"[{UNAMBIGUOUS_MARKS}．{AMBIGUOUS_MARKS}][{CLOSING_MARKS}]*\Z")
ABBREVIATIONS = """
mr mrs ms dr prof st sr jr vs etc cf al eds approx dept est inc ltd co corp gen col sgt capt lt rev
hon e.g i.e a.m p.m u.s u.k bzw ca usw z.b d.h u.a nr str mme mlle
"""
ABBREVIATION_SET = frozenset(ABBREVIATIONS.split())
NUMBER_ABBREVIATIONS = """
no fig vol pp ed jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun m
"""
NUMBER_ABBREVIATION_SET = frozenset(NUMBER_ABBREVIATIONS.split())  # ordinary words elsewhere
OPENING_MARKS = " \t\n\"'“‘«‹([{"


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of the sentences of a text, without surrounding spaces.

    >>> sentence_spans("It rained!  今日は雨。")
    [(0, 10), (12, 17)]
    """
    bounds, start = list[tuple[int, int]](), 0
    for match in SENTENCE_BREAK.finditer(text):
        if not match["mark"] or _is_sentence_end(text, start, match):
            bounds.append((start, match.end()))
            start = match.end()
    bounds.append((start, len(text)))
    parts = ((text[a:b], a, b) for a, b in bounds)
    return [
        (a + len(part) - len(part.lstrip()), b - len(part) + len(part.rstrip()))
        for part, a, b in parts
        if part.strip()
    ]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, with single spaces between words.

    >>> split_sentences("Dr. Lee spoke at 9 a.m. on Monday. It rained! 今日は雨。明日は晴れ。")
    ['Dr. Lee spoke at 9 a.m. on Monday.', 'It rained!', '今日は雨。', '明日は晴れ。']
    """
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]


def is_ended(text: str) -> bool:
    """Whether the text ends with an end mark.

    >>> is_ended("so it goes"), is_ended("So it goes.”")
    (False, True)
    """
    return SENTENCE_END.search(text) is not None


def _is_sentence_end(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a Latin end mark ends a sentence."""
    following = text[match.end() : match.end() + 50].lstrip(OPENING_MARKS)
    if following[:1].islower():
        return False
    if not match["mark"].startswith(".") or match["mark"].startswith(".."):
        return True
    word = re.split(r"[\s(\[\"'“‘]", text[max(start, match.start() - 30) : match.start()])[-1]
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False  # an initial
    if word.lower() in NUMBER_ABBREVIATION_SET:
        return not following[:1].isdigit()
    return word.lower() not in ABBREVIATION_SET


# --- Sentences with start times ------------------------------------------------------------------
# Pieces are cues of subtitles, or words. Their texts are joined and split into sentences, which may
# start and end within pieces: a time within a piece is interpolated by its characters. Subtitles
# without end marks (such as Thai) are split at the cues.


UNSPACED_CHARACTER = re.compile(f"[{UNSPACED_SCRIPTS}\u3000-\u303f\uff00-\uff60]")


class SpokenPiece(NamedTuple):
    """A text without surrounding spaces, spoken from ``start`` to ``end``."""

    text: str
    start: float
    end: float


class JoinedText(NamedTuple):
    """The text of all pieces, and the index at which each starts."""

    text: str
    places: list[int]


def join_pieces(pieces: Sequence[SpokenPiece]) -> JoinedText:
    """Join pieces to one text, without spaces between letters of scripts that have none.

    >>> said = [("It is", 0, 1), ("dry.", 1, 2), ("雨", 2, 3), ("だ", 3, 4)]
    >>> join_pieces([SpokenPiece(*piece) for piece in said])
    JoinedText(text='It is dry. 雨だ', places=[0, 6, 11, 12])
    """
    parts, places, length = list[str](), list[int](), 0
    for text, _, _ in pieces:
        is_spaced = bool(parts) and not (
            UNSPACED_CHARACTER.match(parts[-1][-1]) and UNSPACED_CHARACTER.match(text)
        )
        parts += [" " if is_spaced else "", text]
        places.append(length + is_spaced)
        length = places[-1] + len(text)
    return JoinedText("".join(parts), places)


def timed_sentences(pieces: Sequence[SpokenPiece], *, cues: bool) -> list[tuple[str, float]]:
    """Return the sentences of pieces with their start times, in order.

    A piece ends no later than the start of the next one.

    >>> timed_sentences([SpokenPiece("Hi. It", 0, 6), SpokenPiece("rains.", 6, 9)], cues=True)
    [('Hi.', 0.0), ('It rains.', 4.0)]
    """
    pieces = [piece for piece in pieces if piece.text]
    text, places = join_pieces(pieces)
    bounds = sentence_spans(text)
    if cues and len(bounds) == 1 and not is_ended(text):
        return [(piece.text, piece.start) for piece in pieces]
    nexts = [*(piece.start for piece in pieces), inf]
    timed = []
    for begin, end in bounds:
        row = bisect_right(places, begin) - 1
        said, start, stop = pieces[row]
        stop = min(stop, nexts[row + 1])
        time = start + (begin - places[row]) / len(said) * (stop - start)
        timed.append((text[begin:end], min(time, stop)))
    return timed


def group_sentences(words: Sequence[SpokenPiece]) -> list[tuple[str, int, int]]:
    """Return the sentences of words, each with the index of its first word and the next one's.

    >>> said = [SpokenPiece("Hi.", 0, 1), SpokenPiece("It", 2, 3), SpokenPiece("is", 3, 4)]
    >>> group_sentences(said)
    [('Hi.', 0, 1), ('It is', 1, 3)]
    """
    text, places = join_pieces(words)
    firsts = dict.fromkeys(bisect_right(places, start) - 1 for start, _ in sentence_spans(text))
    ranges = pairwise([*firsts, len(words)])
    stops = [*places, len(text)]
    return [(text[places[a] : stops[b]].rstrip(), a, b) for a, b in ranges]


def share_time(words: Sequence[str], start: float, end: float) -> Iterator[tuple[float, float]]:
    """Yield the times of words that share a period, in proportion to their characters."""
    letters, place = sum(map(len, words)), 0
    pace = max(end - start, 0.0) / letters
    for word in words:
        yield round(start + pace * place, 3), round(start + pace * (place + len(word)), 3)
        place += len(word)


def fill_times(pieces: Sequence[SpokenPiece], start: float, end: float) -> Iterator[SpokenPiece]:
    """Yield pieces of a period; those without times share the gap between their neighbours.

    >>> from math import nan
    >>> said = [SpokenPiece("a", 0, 1), SpokenPiece("7", nan, nan), SpokenPiece("b", 2, 3)]
    >>> list(fill_times(said, 0, 3))[1]
    SpokenPiece(text='7', start=1.0, end=2.0)
    """
    runs = [(timed, list(run)) for timed, run in groupby(pieces, lambda one: isfinite(one.start))]
    last = start
    for number, (is_timed, run) in enumerate(runs):
        following = runs[number + 1][1][0].start if number + 1 < len(runs) else end
        following = following if isfinite(following) else last
        times = share_time([piece.text for piece in run], last, following)
        for piece, (own_start, own_end) in zip(run, times, strict=True):
            yield piece if is_timed else piece._replace(start=own_start, end=own_end)
        last = run[-1].end if is_timed else following


# --- Subtitle cues -------------------------------------------------------------------------------


MAX_CUE_CHARACTERS = 84  # two lines
MAX_LINE_CHARACTERS = 42
MAX_CUE_SECONDS = 7.0
PUNCTUATION_END = re.compile(r"[^\w\s]\s*$")
# How far from the middle a text may be split, as a share of it, to split it after a punctuation
# mark, or in a pause of a second.
PUNCTUATION_BONUS, PAUSE_BONUS = 0.3, 0.3


def split_cue(text: str, words: Sequence[SpokenPiece]) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of a text that fit on the screen, with the indices of their words.

    A part has up to 84 characters and 7 seconds. Texts are split near the middle, and where
    possible after a punctuation mark or in a pause. If the text does not consist of the words and
    punctuation, it is replaced by the words.

    >>> said = [SpokenPiece("it", 0, 4), SpokenPiece("rains", 4, 8)]
    >>> list(split_cue("It rains.", said))
    [('It', 0, 1), ('rains.', 1, 2)]
    """
    text, places = _word_places(text, words)
    waiting = [(0, len(words))]
    while waiting:
        first, after = waiting.pop()
        begin, end = places[first], places[after]
        seconds = words[after - 1].end - words[first].start
        is_short = len(text[begin:end].rstrip()) <= MAX_CUE_CHARACTERS
        if after - first == 1 or (is_short and seconds <= MAX_CUE_SECONDS):
            yield text[begin:end].rstrip(), first, after
            continue
        costs = {}
        for number in range(first + 1, after):
            pause = min(max(words[number].start - words[number - 1].end, 0.0), 1.0)
            before = text[max(places[number] - 2, 0) : places[number]]
            is_marked = PUNCTUATION_END.search(before) is not None
            imbalance = abs(2 * (places[number] - begin) / (end - begin) - 1)
            costs[number] = imbalance - PUNCTUATION_BONUS * is_marked - PAUSE_BONUS * pause
        middle = min(costs, key=lambda number: costs[number])
        waiting += [(middle, after), (first, middle)]


def _word_places(text: str, words: Sequence[SpokenPiece]) -> tuple[str, list[int]]:
    """Return the text, the places at which its words start, and its length as the last place."""
    places, end, lower = list[int](), 0, text.lower()
    for word in words:
        place = lower.find(word.text.lower(), end)
        if place < 0 or len(lower) != len(text) or re.search(r"\w", text[end:place]):
            joined = join_pieces(words)
            return joined.text, [*joined.places, len(joined.text)]
        places.append(place)
        end = place + len(word.text)
    return text, [0, *places[1:], len(text)]


def break_cue_line(text: str) -> str:
    """Return the text of a cue in two lines if it is long, broken at the blank next to its middle.

    >>> break_cue_line("It rained in the morning, and it snowed in the evening.").split("\\n")
    ['It rained in the morning, and', 'it snowed in the evening.']
    """
    blanks = [place for place, character in enumerate(text) if character == " "]
    if len(text) <= MAX_LINE_CHARACTERS or not blanks:
        return text
    middle = min(blanks, key=lambda place: abs(2 * place - len(text)))
    return f"{text[:middle]}\n{text[middle + 1 :]}"


def fit_cues(segment: SpokenPiece, words: Sequence[SpokenPiece]) -> list[SpokenPiece]:
    """Return the cues of a segment, split between its words if they have times."""
    if not segment.text or not words:
        return [segment] if segment.text else []
    pieces = list(words)
    pieces[0] = pieces[0]._replace(start=segment.start)
    pieces[-1] = pieces[-1]._replace(end=segment.end)
    return [
        SpokenPiece(part, pieces[first].start, pieces[after - 1].end)
        for part, first, after in split_cue(segment.text, pieces)
    ]


def write_srt(cues: Sequence[SpokenPiece]) -> str:
    """Return cues as an SRT file.

    >>> write_srt([SpokenPiece("Rain.", 0.5, 1.0)])
    '1\\n00:00:00,500 --> 00:00:01,000\\nRain.\\n\\n'
    """
    return "".join(
        f"{number}\n{_cue_timing(cue, ',')}\n{break_cue_line(cue.text)}\n\n"
        for number, cue in enumerate(cues, 1)
    )


def write_webvtt(cues: Sequence[SpokenPiece]) -> str:
    """Return cues as a WebVTT file.

    >>> write_webvtt([SpokenPiece("Rain.", 0.5, 1.0)])
    'WEBVTT\\n\\n00:00:00.500 --> 00:00:01.000\\nRain.\\n'
    """
    texts = [
        f"\n{_cue_timing(cue, '.')}\n{escape(break_cue_line(cue.text), quote=False)}\n"
        for cue in cues
    ]
    return "".join(["WEBVTT\n", *texts])


def _cue_timing(cue: SpokenPiece, mark: str) -> str:
    start = max(0, round(cue.start * 1000))
    end = max(start + 1, round(cue.end * 1000))  # players ignore empty cues
    return f"{format_clock(start, mark)} --> {format_clock(end, mark)}"
