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
from earwitness.report.html.elements import (
    SCRIPT_POLICY,
    Html,
    breakable,
    data_element,
    element,
    format_minutes,
    html_document,
    join_elements,
    page_style,
    provenance_section,
    script_element,
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


POLICY = f"{SCRIPT_POLICY}; media-src data:"
KEYS_HINT = (
    "Space: play or pause. ← and →: previous and next passage. "
    "Click a kept word, or press Enter on it, to play from there."
)
SCOPE_TEXTS = {"utterance": "of every utterance", "speech": "of the whole speech"}
# number and place of every word that is heard, by utterance and position
HeardWords = Mapping[tuple[int, int], tuple[int, SpokenWordPlace]]
LETTERS = {name: letter for letter, name in SCORE_LETTERS.items()}
MAX_OPEN_UTTERANCES = 12  # texts of more utterances scroll in a box
AUDIO_ELEMENT = element("audio", controls=True, preload="auto")
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
    header = element(
        "header", element("h1", breakable(title)), element("p", describe_summary(speech))
    )
    main = element(
        "main",
        _facts_list(speech, sound),
        _player_section(sound) if sound else None,
        element("p", KEYS_HINT, class_="hint keys") if sound else None,
        _summary_section(speech, language),
        _transcript_section(speech, heard, language),
        _scores_section(speech),
        provenance_section(map(breakable, filter(None, notes))),
        id="summary",
    )
    scripts = [] if sound is None else _player_scripts(sound, heard)
    style = page_style("summaries", "summary.css")
    page = html_document(f"{title}: summary", header, main, *scripts, policy=POLICY, style=style)
    return page if encoded is None else _insert_audio(page, encoded)


def describe_summary(speech: SummarizedSpeech) -> str:
    """Return how much of a speech is kept, in one sentence."""
    share = format_share(speech.kept_count, speech.word_count)
    count = len(speech.compactions)
    utterances = f"{count:,} utterance{'s' * (count != 1)}"
    dropped = sum(not one.positions for one in speech.compactions)
    tail = f"; {dropped:,} of them dropped completely" if dropped else ""
    words = f"{speech.kept_count:,} of {speech.word_count:,} words"
    return f"Summary with {words} ({share}) of {utterances}{tail}"


def format_share(part: float, whole: float) -> str:
    """Return a share in percent, or a dash if there is nothing to share.

    >>> format_share(2, 3), format_share(0, 0)
    ('66.7 %', '–')
    """
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _facts_list(speech: SummarizedSpeech, sound: SpokenSummary | None) -> Html:
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
        passages = f"{count:,} passage{'s' * (count != 1)}"
        facts.insert(1, ("Spoken summary", format_minutes(sound.seconds), passages))
    cards = [
        element(
            "div", element("dt", name), element("dd", element("b", value), element("small", note))
        )
        for name, value, note in facts
    ]
    return element("dl", *cards, class_="facts")


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


def _player_section(sound: SpokenSummary) -> Html:
    sign = element("span", aria_hidden="true")
    slider = element(
        "input",
        type="range",
        min="0",
        max=f"{sound.seconds:.3f}",
        step="0.01",
        value="0",
        aria_label="Position in the spoken summary",
    )
    clock = element("span", f"0:00 / {format_minutes(sound.seconds)}", class_="clock")
    return element(
        "section",
        element("button", sign, class_="play", aria_label="Play", type="button"),
        element("div", slider, element("p", clock, element("span", class_="which")), class_="way"),
        AUDIO_ELEMENT,
        class_="player",
        aria_label="Spoken summary",
    )


def _insert_audio(page: str, encoded: EncodedSound) -> str:
    """Return a page with its audio, which is inserted last, since it may be large."""
    before, after = page.split(AUDIO_ELEMENT)  # texts of users are escaped and cannot contain it
    start = AUDIO_ELEMENT.removesuffix("></audio>")
    audio = base64.b64encode(encoded.content).decode()
    return f'{before}{start} src="data:{encoded.mime};base64,{audio}"></audio>{after}'


def _player_scripts(sound: SpokenSummary, heard: HeardWords) -> list[Html]:
    """Return the times for the script, and the script; ``<`` cannot end the element."""
    times = {
        "seconds": round(sound.seconds, 3),
        "words": [[round(word.start, 3), round(word.end, 3)] for _, word in heard.values()],
        "passages": [round(one.start, 3) for one in sound.passages],
        "firsts": [*accumulate((len(one.passage.positions) for one in sound.passages), initial=0)],
    }
    return [
        data_element("times", times, separators=(",", ":")),
        script_element("summaries", "summary.js"),
    ]


# --- Texts ---------------------------------------------------------------------------------------


def _summary_section(speech: SummarizedSpeech, language: str) -> Html:
    lines = [
        element("p", join_words(one.words), dir="auto") for one in speech.compactions if one.words
    ]
    if not lines:
        return element("section", element("h2", "Summary"), element("p", "No words are kept."))
    is_long = len(lines) > MAX_OPEN_UTTERANCES
    box = element(
        "div",
        *lines,
        class_=f"text{' long' * is_long}",
        lang=language,
        tabindex=0 if is_long else None,
        role="region" if is_long else None,
        aria_label="Text of the summary" if is_long else None,
    )
    return element("section", element("h2", "Summary"), box)


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


def _transcript_section(speech: SummarizedSpeech, heard: HeardWords, language: str) -> Html:
    rows = [
        element(
            "li",
            _utterance_label(one, index),
            element("p", _mark_words(one, index, heard), lang=language, dir="auto"),
            id=f"u{index + 1}",
            class_=None if one.positions else "empty",
        )
        for index, one in enumerate(speech.compactions)
    ]
    kept, dropped = element("mark", "Kept words"), element("span", "other words are dropped")
    legend = element("p", kept, " are bold and underlined; ", dropped, ".", class_="hint legend")
    return element(
        "section",
        element("h2", "Transcript"),
        legend,
        element("ol", *rows, class_="transcript"),
    )


def _utterance_label(one: Compaction, index: int) -> Html:
    times = [time for span in one.utterance.times or () for time in span if isfinite(time)]
    time = element("span", format_minutes(max(0.0, min(times))), class_="time") if times else None
    number = element("b", element("span", "Utterance ", class_="hidden"), f"{index + 1:,}")
    return element("div", number, time, class_="label", title=one.utterance.item or None)


def _mark_words(one: Compaction, index: int, heard: HeardWords) -> Html:
    """Return the words of an utterance; each run of kept words is a ``mark``."""
    kept = {*one.positions}
    spaced = list(_space_words(one.utterance.words))
    # a space between two kept words belongs to their run
    sides = [word.position in kept for word in spaced]
    for place, word in enumerate(spaced):
        if not word.position:
            sides[place] = sides[place - 1] and sides[place + 1]
    parts = list[Html]()
    for is_kept, run in groupby(zip(sides, spaced, strict=True), key=lambda pair: pair[0]):
        links = list[str]()
        for _, (text, position) in run:
            if is_kept and (found := heard.get((index, position))):
                number, placed = found
                address = f"#t={placed.start:.2f}"
                text = element("a", text, href=address, tabindex=-1, data_word=number)
            links.append(text)
        parts.append(element("mark", *links) if is_kept else element("span", "".join(links)))
    return join_elements(parts)


# --- Scores and provenance -----------------------------------------------------------------------


def _scores_section(speech: SummarizedSpeech) -> Html | None:
    """Return a table of the scores of all utterances and their weighted parts."""
    names = [name for name in LETTERS if any(name in one.parts for one in speech.compactions)]
    names += sorted({name for one in speech.compactions for name in one.parts} - {*LETTERS})
    if not names:
        return None
    titles = [(LETTERS.get(name, name), name) for name in names]
    head = element(
        "tr",
        *(element("th", text, scope="col") for text in ("Utterance", "Words", "Kept", "Score")),
        *(
            element(
                "th", letter, element("small", f" {name}") if name != letter else None, scope="col"
            )
            for letter, name in titles
        ),
    )
    rows = [_score_row(one, index, names) for index, one in enumerate(speech.compactions)]
    table = element("table", element("thead", head), element("tbody", *rows), class_="tall")
    box = element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Scores")
    weights = ", ".join(
        f"{getattr(speech.weights, name):g} · {letter}" for name, letter in LETTERS.items()
    )
    about = f"A score is the sum of its weighted parts ({weights}) over the kept words."
    summary = element("summary", element("h2", "Scores of utterances"))
    return element("section", element("details", summary, element("p", about), box))


def _score_row(one: Compaction, index: int, names: Sequence[str]) -> Html:
    link = element("a", f"{index + 1:,}", href=f"#u{index + 1}")
    cells = [f"{len(one.utterance.words):,}", f"{len(one.positions):,}"]
    for value in (one.score, *(one.parts.get(name, nan) for name in names)):
        score = f"{round(value, 2) + 0.0:.2f}" if isfinite(value) else "–"
        cells.append(score.replace("-", "−"))
    return element("tr", element("th", link, scope="row"), *(element("td", one) for one in cells))
