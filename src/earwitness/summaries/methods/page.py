"""HTML page of a summarized speech: its transcript with the kept words, and the spoken summary."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import accumulate, groupby
from math import isfinite, nan
from typing import NamedTuple

from earwitness.audio.encode import EncodedSound, kind_of
from earwitness.audio.read import mix_to_mono
from earwitness.audio.signal import resample_pieces
from earwitness.core import count_text
from earwitness.report.html.elements import (
    Html,
    breakable,
    data_element,
    draw_table,
    element,
    fill_template,
    folded,
    format_minutes,
    header_cells,
    join_elements,
    provenance_section,
    static_page,
)
from earwitness.summaries.methods.compaction import Compaction, SummarizedSpeech
from earwitness.summaries.methods.inputs import join_words
from earwitness.summaries.methods.passages import (
    SpokenSummary,
    SpokenWordPlace,
    place_words,
    write_blocks,
)
from earwitness.summaries.methods.summarize import SCORE_LETTERS
from earwitness.text.sentences import SpokenPiece, join_pieces

# --- Page ----------------------------------------------------------------------------------------


SCOPE_TEXTS = {"utterance": "of every utterance", "speech": "of the whole speech"}
# number and place of every word that is heard, by utterance and position
HeardWords = Mapping[tuple[int, int], tuple[int, SpokenWordPlace]]
LETTERS = {name: letter for letter, name in SCORE_LETTERS.items()}
MAX_OPEN_UTTERANCES = 12  # texts of more utterances scroll in a box
# Sufficient for speech; long summaries have the second rate. In FLAC, browsers find the start of a
# word exactly; in MP3 of variable rate, they are off by up to some seconds.
PAGE_RATES_HZ, LONG_ABOVE_SECONDS = (24_000, 16_000), 600.0


def summary_page(
    speech: SummarizedSpeech,
    sound: SpokenSummary | None = None,
    *,
    title: str = "",
    language: str = "en",
) -> str:
    """Return a page that shows a summary and plays it; it includes all that it needs.

    Parameters
    ----------
    speech
        Summaries of the utterances.
    sound
        The spoken summary; without it, the page has no player. The audio of the page has one
        channel and at most 24,000 Hz, or 16,000 Hz if it is longer than 10 min.
    title
        Title of the page; by default, the name of the speech.
    language
        Language code of the words, such as ``ja``. Texts of the page are English.

    Returns
    -------
    str
        An HTML document that loads nothing else.
    """
    title = title or speech.name or "Summary"
    words = place_words(speech, sound) if sound is not None else []
    heard = {(word.utterance_index, word.position): (n, word) for n, word in enumerate(words)}
    encoded = encode_page_audio(sound) if sound is not None else None
    notes = [*speech.notes, *(encoded.notes if encoded else ()), speech.signature]
    values = {
        "title": breakable(title),
        "about": describe_summary(speech),
        "facts": _draw_facts(speech, sound),
        "player": _draw_player(sound) if sound else None,
        "text": _draw_text(speech, language),
        "transcript": _draw_transcript(speech, heard, language),
        "scores": _scores_section(speech),
        "provenance": provenance_section(map(breakable, filter(None, notes))),
    }
    times = _player_times(sound, heard) if sound else None
    media = "media-src data:"
    page = static_page("summaries", "summary", f"{title}: summary", values, times, media=media)
    if encoded is None:
        return page
    audio = base64.b64encode(encoded.content).decode()  # may be large, so it is inserted last
    return page.replace("></audio>", f' src="data:{encoded.mime};base64,{audio}"></audio>')


def describe_summary(speech: SummarizedSpeech) -> str:
    """Return how much of a speech is kept, in one sentence."""
    share = format_share(speech.kept_count, speech.word_count)
    count = len(speech.compactions)
    utterances = count_text(count, "utterance")
    dropped = sum(not compaction.positions for compaction in speech.compactions)
    tail = f"; {dropped:,} of them dropped completely" if dropped else ""
    words = f"{speech.kept_count:,} of {speech.word_count:,} words"
    return f"Summary with {words} ({share}) of {utterances}{tail}"


def format_share(part: float, whole: float) -> str:
    """Return a share in percent, or a dash if there is nothing to share.

    >>> format_share(2, 3), format_share(0, 0)
    ('66.7 %', '–')
    """
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _draw_facts(speech: SummarizedSpeech, sound: SpokenSummary | None) -> Html:
    target = f"{100 * speech.ratio:.3g} % {SCOPE_TEXTS.get(speech.scope, speech.scope)}"
    oov_rate, perplexity, no_model = speech.oov_rate, speech.perplexity, ("–", "no language model")
    unknown, surprise = no_model, no_model
    if isfinite(oov_rate):
        unknown = f"{100 * oov_rate:.1f} %", "words unknown to the language model"
    if isfinite(perplexity):
        digits = 0 if perplexity >= 100 else 1
        surprise = f"{perplexity:,.{digits}f}", "of the language model on the input"
    facts = [
        ("Words kept", format_share(speech.kept_count, speech.word_count), f"target: {target}"),
        ("Out-of-vocabulary rate", *unknown),
        ("Perplexity", *surprise),
    ]
    if sound is not None:
        count = len(sound.passages)
        passages = count_text(count, "passage")
        facts.insert(1, ("Spoken summary", format_minutes(sound.seconds), passages))
    return join_elements(
        element(
            "div", element("dt", name), element("dd", element("b", value), element("small", note))
        )
        for name, value, note in facts
    )


# --- Player --------------------------------------------------------------------------------------


def encode_page_audio(sound: SpokenSummary) -> EncodedSound:
    """Return a spoken summary as FLAC for a page: one channel, at most 24,000 Hz.

    Summaries longer than 10 min have at most 16,000 Hz. Notes name damaged passages.
    """
    rate = min(sound.rate, PAGE_RATES_HZ[sound.seconds > LONG_ABOVE_SECONDS])
    notes, file, kind = list[str](), BytesIO(), kind_of(".flac")
    pieces = map(mix_to_mono, sound.blocks(notes.append))
    write_blocks(file, resample_pieces(pieces, sound.rate, rate), rate, 1, kind)
    return EncodedSound(file.getvalue(), kind.mime, tuple(notes))


def _draw_player(sound: SpokenSummary) -> Html:
    sizes = {"seconds": f"{sound.seconds:.3f}", "minutes": format_minutes(sound.seconds)}
    return fill_template("summaries", "player.html", sizes)


def _player_times(sound: SpokenSummary, heard: HeardWords) -> Html:
    """Return the times for the script."""
    counts = (len(place.passage.positions) for place in sound.passages)
    times = {
        "seconds": round(sound.seconds, 3),
        "words": [[round(word.start, 3), round(word.end, 3)] for _, word in heard.values()],
        "passages": [round(place.start, 3) for place in sound.passages],
        "firsts": [*accumulate(counts, initial=0)],
    }
    return data_element("times", times, separators=(",", ":"))


# --- Texts ---------------------------------------------------------------------------------------


def _draw_text(speech: SummarizedSpeech, language: str) -> Html:
    """Return the text of the summary, in a box that scrolls if it is long."""
    texts = [compaction.words for compaction in speech.compactions if compaction.words]
    lines = [element("p", join_words(words), dir="auto") for words in texts]
    if not lines:
        return element("p", "No words are kept.")
    is_long = len(lines) > MAX_OPEN_UTTERANCES
    return element(
        "div",
        *lines,
        class_="text long" if is_long else "text",
        lang=language,
        tabindex=0 if is_long else None,
        role="region" if is_long else None,
        aria_label="Text of the summary" if is_long else None,
    )


class _SpacedWord(NamedTuple):
    text: str
    position: int  # 0 for a space


def _space_words(words: Sequence[str]) -> Iterator[_SpacedWord]:
    """Yield words with their positions, and the spaces between them."""
    spoken = [(word.strip(), position) for position, word in enumerate(words, 1) if word.strip()]
    text, places = join_pieces([SpokenPiece(word, 0.0, 0.0) for word, _ in spoken])
    end = 0
    for (word, position), place in zip(spoken, places, strict=True):
        if place > end:
            yield _SpacedWord(text[end:place], 0)
        yield _SpacedWord(word, position)
        end = place + len(word)


def _draw_transcript(speech: SummarizedSpeech, heard: HeardWords, language: str) -> Html:
    return join_elements(
        element(
            "li",
            _utterance_label(compaction, index),
            element("p", _mark_words(compaction, index, heard), lang=language, dir="auto"),
            id=f"u{index + 1}",
            class_=None if compaction.positions else "empty",
        )
        for index, compaction in enumerate(speech.compactions)
    )


def _utterance_label(compaction: Compaction, index: int) -> Html:
    utterance = compaction.utterance
    times = [time for span in utterance.times or () for time in span if isfinite(time)]
    time = element("span", format_minutes(max(0.0, min(times))), class_="time") if times else None
    number = element("b", element("span", "Utterance ", class_="hidden"), f"{index + 1:,}")
    return element("div", number, time, class_="label", title=utterance.item or None)


def _mark_words(compaction: Compaction, index: int, heard: HeardWords) -> Html:
    """Return the words of an utterance; each run of kept words is a ``mark``."""
    kept = {*compaction.positions}
    spaced = list(_space_words(compaction.utterance.words))
    # a space between two kept words belongs to their run
    sides = [word.position in kept for word in spaced]
    for place, word in enumerate(spaced):
        if not word.position:
            sides[place] = sides[place - 1] and sides[place + 1]
    parts = list[Html]()
    for is_kept, run in groupby(zip(sides, spaced, strict=True), key=lambda pair: pair[0]):
        links = list[str]()
        for _, (text, position) in run:
            if is_kept and (index, position) in heard:
                number, spoken = heard[index, position]
                address = f"#t={spoken.start:.2f}"
                text = element("a", text, href=address, tabindex=-1, data_word=number)
            links.append(text)
        parts.append(element("mark", *links) if is_kept else element("span", "".join(links)))
    return join_elements(parts)


# --- Scores and provenance -----------------------------------------------------------------------


def _scores_section(speech: SummarizedSpeech) -> Html | None:
    """Return a table of the scores of all utterances and their weighted parts."""
    present = {name for compaction in speech.compactions for name in compaction.parts}
    if not present:
        return None
    names = [*(name for name in LETTERS if name in present), *sorted(present - {*LETTERS})]
    letters = [
        element("th", LETTERS[name], element("small", f" {name}"), scope="col")
        if name in LETTERS
        else element("th", name, scope="col")
        for name in names
    ]
    head = [*header_cells(("Utterance", "Words", "Kept", "Score")), *letters]
    rows = [_score_row(*numbered, names) for numbered in enumerate(speech.compactions)]
    table = draw_table(head, rows, "tall")
    box = element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Scores")
    weights = ", ".join(
        f"{getattr(speech.weights, name):g} · {letter}" for name, letter in LETTERS.items()
    )
    about = f"A score is the sum of its weighted parts ({weights}) over the kept words."
    heading = element("h2", "Scores of utterances")
    return element("section", folded(heading, element("p", about), box))


def _score_row(index: int, compaction: Compaction, names: Sequence[str]) -> Html:
    link = element("a", f"{index + 1:,}", href=f"#u{index + 1}")
    cells = [f"{len(compaction.utterance.words):,}", f"{len(compaction.positions):,}"]
    for value in (compaction.score, *(compaction.parts.get(name, nan) for name in names)):
        score = f"{round(value, 2) + 0.0:.2f}" if isfinite(value) else "–"
        cells.append(score.replace("-", "−"))
    return element("tr", *header_cells([link], "row"), *(element("td", text) for text in cells))
