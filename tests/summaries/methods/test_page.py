"""The page of a summary shows what is kept, needs nothing from outside, and escapes texts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earwitness.summaries.methods import page as page_module
from earwitness.summaries.methods.compaction import SummarizedSpeech
from earwitness.summaries.methods.page import describe_summary, encode_page_audio, summary_page
from earwitness.summaries.methods.passages import (
    SpokenPassage,
    SpokenSummary,
    place_words,
    render_summary,
)
from helpers.summarized_speech import JAPANESE, speak_tones, summarize_marked

TEXTS = (
    "the weather was *cold* and *very* *wet*",
    "that is all",
    "*listeners* heard *it*",
)


class Marked(HTMLParser):
    """Texts of the transcript, with marks as asterisks."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines = list[str]()
        self.inside = False
        self.feed(page[page.index('<ol class="transcript"') : page.index("</ol>")])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "p":
            self.inside = True
            self.lines.append("")
        elif tag == "mark":
            self.lines[-1] += "["

    def handle_endtag(self, tag: str) -> None:
        if tag == "p":
            self.inside = False
        elif tag == "mark":
            self.lines[-1] += "]"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.lines[-1] += data


@pytest.fixture(scope="module")
def speech() -> SummarizedSpeech:
    return summarize_marked(TEXTS, oov_rate=0.031, perplexity=231.4)


@pytest.fixture(scope="module")
def sound(speech: SummarizedSpeech, tmp_path_factory: pytest.TempPathFactory) -> SpokenSummary:
    return speak_tones(speech, tmp_path_factory.mktemp("sound") / "tones.wav")


def test_runs_of_kept_words_are_marked(speech: SummarizedSpeech) -> None:
    assert Marked(summary_page(speech)).lines == [
        "the weather was [cold] and [very wet]",
        "that is all",
        "[listeners] heard [it]",
    ]


def test_words_of_japanese_have_no_spaces_and_a_language() -> None:
    page = summary_page(summarize_marked(JAPANESE), language="ja")
    assert Marked(page).lines == [
        "[今日]はとても[天気がいい]ですね",
        "[明日]は東京で[雨が降る]でしょう",
    ]
    assert page.count('lang="ja"') == 3  # both utterances and the summary
    assert ">今日天気がいい</p>" in page


def test_facts_are_shown(speech: SummarizedSpeech, sound: SpokenSummary) -> None:
    page = summary_page(speech, sound)
    assert describe_summary(speech) == (
        "Summary with 5 of 13 words (38.5 %) of 3 utterances; 1 of them dropped completely"
    )
    for text in ("38.5 %", "target: 50 % of the whole speech", "3.1 %", "231", "4 passages"):
        assert f">{text}<" in page
    assert "0:00 / 0:02" in page  # 5 words of 0.4 s, and a pause of 0.3 s
    assert (
        "<wbr/>".join(["ratio=0.5|scope=speech|L=pocketsphinx-", "5.0|version=1.0|name=talk"])
        in page
    )


def test_without_a_language_model_its_facts_are_dashes() -> None:
    page = summary_page(summarize_marked(TEXTS))
    assert page.count("<b>–</b><small>no language model</small>") == 2


def test_parts_of_scores_are_in_a_table(speech: SummarizedSpeech) -> None:
    page = summary_page(speech)
    row = re.search(r'<tr><th scope="row"><a href="#u1">1</a></th>(.*?)</tr>', page)
    assert row is not None
    # 3 words: 3 · (−4.5 + 7.25 − 0.1) = 7.95
    cells = ["7", "3", "7.95", "−13.50", "21.75", "−0.30", "0.00"]
    assert re.findall("<td>(.*?)</td>", row[1]) == cells
    assert "weighted parts (1 · L, 1 · I, 1 · C, 2 · T)" in page
    assert "−0.00" not in page
    bare = replace(speech, compactions=tuple(replace(o, parts={}) for o in speech.compactions))
    assert "Scores of utterances" not in summary_page(bare)


def test_the_script_gets_the_times_of_words(speech: SummarizedSpeech, sound: SpokenSummary) -> None:
    page = summary_page(speech, sound)
    [text] = re.findall(r'id="times">(.*?)</script>', page)
    times = json.loads(text)
    # cold 0.03 s after its passage; no gap at other words inside the utterance
    assert times["words"][0] == [0.005, 0.405]
    assert times["words"] == [
        [pytest.approx(w.start, abs=1e-3), pytest.approx(w.end, abs=1e-3)]
        for w in place_words(speech, sound)
    ]
    assert times["firsts"] == [0, 1, 3, 4, 5]
    assert len(times["passages"]) == 4
    assert re.findall(r'data-word="(\d+)">(\w+)<', page) == [
        ("0", "cold"),
        ("1", "very"),
        ("2", "wet"),
        ("3", "listeners"),
        ("4", "it"),
    ]


def test_a_page_without_sound_is_a_document(speech: SummarizedSpeech) -> None:
    page = summary_page(speech)
    for tag in ("<script", "<audio", "<button", "data-word"):
        assert tag not in page
    empty = summary_page(summarize_marked(["no word is kept"]))
    assert "No words are kept." in empty
    assert "<h1>Summary</h1>" in summary_page(
        SummarizedSpeech("", (), 0.5, "utterance", speech.weights, "")
    )


def test_a_page_needs_nothing_from_outside(speech: SummarizedSpeech, sound: SpokenSummary) -> None:
    page = summary_page(speech, sound)
    assert 'src="data:audio/flac;base64,' in page
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page) == []
    assert "default-src &#x27;none&#x27;" in page
    assert "url(" not in page


def test_texts_cannot_become_markup(tmp_path: Path) -> None:
    bad = "</script><script>alert(1)</script>\"'"
    speech = summarize_marked([f"*{bad}* {bad} & *<b>*"], name=bad)
    speech = replace(speech, notes=(bad,), scope=bad)
    parts = replace(speech.compactions[0], parts={bad: 1.0})
    speech = replace(speech, compactions=(parts,))
    page = summary_page(speech, speak_tones(speech, tmp_path / "a.wav"), title=bad)
    assert "<script>alert" not in page
    assert ">&lt;b&gt;</a>" in page
    assert page.count("</script>") == 2


def test_audio_of_a_page_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "stereo.wav"
    soundfile.write(path, np.full((48_000, 2), (0.5, 0.1)), 48_000)
    sound = render_summary(path, [SpokenPassage(0.2, 0.7, 0, (1,))])
    encoded = encode_page_audio(sound)
    assert encoded.mime == "audio/flac"
    decoded, rate = soundfile.read(BytesIO(encoded.content))
    assert (decoded.shape, rate) == ((12_240,), 24_000)
    assert decoded[400:-400] == pytest.approx(0.3, abs=1e-3)
    monkeypatch.setattr(page_module, "LONG_ABOVE_SECONDS", 0.1)
    assert soundfile.info(BytesIO(encode_page_audio(sound).content)).samplerate == 16_000
