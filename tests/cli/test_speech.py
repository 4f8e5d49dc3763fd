"""The commands align and transcribe: files, folders, formats, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.cli.speech import pair_files, read_text
from earwitness.errors import EarwitnessError, InputError, UsageError
from helpers.flite import SpokenText, speak_chapters, write_speech

SENTENCES = ["The boat left the harbour in the morning.", "Nobody was there to see it."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audio files and texts: one of speech, one silent."""
    place = tmp_path_factory.mktemp("talks")
    (place / "audio").mkdir()
    (place / "texts").mkdir()
    write_speech(place / "audio" / "boat.wav", speak_chapters([SENTENCES]))
    silent = SpokenText(np.zeros(16_000, np.int16), 16_000, (), ())
    write_speech(place / "audio" / "silent.wav", silent)
    for name in ("boat", "silent"):
        (place / "texts" / f"{name}.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    return place


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(group, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_align_prints_a_transcript_with_times(folder: Path) -> None:
    cache = ["--cache", folder / "cache"]
    audio, text = folder / "audio" / "boat.wav", folder / "texts" / "boat.txt"
    status, printed, notes = run("align", audio, text, *cache)
    assert status == 0
    assert "14 of 14 words were recognized" in notes
    segments = json.loads(printed)["segments"]
    assert [segment["text"].strip() for segment in segments] == SENTENCES
    assert segments[0]["words"][1]["word"].strip() == "boat"
    status, _, _ = run("align", audio, text, *cache, "-o", folder / "boat.vtt")
    assert status == 0
    assert (folder / "boat.vtt").read_text(encoding="utf-8").startswith("WEBVTT")


def test_folders_are_paired_by_name_and_failures_are_listed(folder: Path) -> None:
    arguments = [folder / "audio", folder / "texts", "-o", folder / "aligned", "--to", "ctm"]
    arguments += ["--cache", folder / "cache"]
    status, _, notes = run("align", *arguments, "--on-error", "skip")
    assert status == 0
    assert "skipped:" in notes
    assert "is silent" in notes
    assert [path.name for path in (folder / "aligned").iterdir()] == ["boat.ctm"]
    with pytest.raises(Exception, match="is silent"):
        run("align", *arguments)


def test_transcribe_writes_words_and_alternatives(folder: Path) -> None:
    audio = folder / "audio" / "boat.wav"
    options = ["--cache", folder / "cache", "--n-best", 3, "--detector", "none"]
    status, printed, _ = run("transcribe", audio, *options)
    assert status == 0
    document = json.loads(printed)
    words = [word["word"].strip() for part in document["segments"] for word in part["words"]]
    assert {"nobody", "morning"} <= {*words}
    assert document["language"] == "en"
    assert 1 <= len(document["windows"][0]["alternatives"]) <= 3


def test_options_that_cannot_work_are_refused(folder: Path) -> None:
    audio, texts = folder / "audio", folder / "texts"
    with pytest.raises(UsageError, match="both be files or both be folders"):
        run("align", audio, texts / "boat.txt")
    with pytest.raises(UsageError, match="-o FOLDER"):
        run("align", audio, texts)
    with pytest.raises(UsageError, match="unknown output format"):
        run("transcribe", audio / "boat.wav", "-o", folder / "boat.doc")
    with pytest.raises(UsageError, match="is not a folder"):
        run("transcribe", audio / "boat.wav", "--recognizer", "whisper")
    french = [audio / "boat.wav", texts / "boat.txt", "--language", "fra"]
    with pytest.raises(UsageError, match="English model only"):
        run("align", *french, "--aligner", "pocketsphinx")
    with pytest.raises(EarwitnessError, match="mms_fa"):  # without its weights
        run("align", *french)


def test_texts_are_not_replaced(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "boat.srt"
    text.write_text("1\n00:00:01,000 --> 00:00:02,000\nHello.\n", encoding="utf-8")
    with pytest.raises(UsageError, match="is named twice"):
        run("align", folder / "audio" / "boat.wav", text, "-o", text)
    arguments = [folder / "audio", tmp_path, "-o", tmp_path, "--to", "srt", "--on-error", "skip"]
    with pytest.raises(UsageError, match="is named twice"):
        run("align", *arguments)


def test_missing_texts_are_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "boat.txt").write_text("words", encoding="utf-8")
    with pytest.raises(InputError, match=r"silent\.txt"):
        list(pair_files(folder / "audio", tmp_path, skips=False))
    assert len(list(pair_files(folder / "audio", tmp_path, skips=True))) == 1


def test_headings_are_not_spoken(tmp_path: Path) -> None:
    path = tmp_path / "talk.md"
    path.write_text("# Start\nHello there.\n# End\nBye.\n", encoding="utf-8")
    assert read_text(path, "markdown").split() == ["Hello", "there.", "Bye."]
    with pytest.raises(UsageError, match="unknown preset"):
        read_text(path, "word")


SPOKEN = "Hello there. Bye now"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "Hello there.\n\nBye now"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello there.\nBye now\n"),
        ("a.ctm", "".join(f"a 1 {n} 1 {word}\n" for n, word in enumerate(SPOKEN.split()))),
        ("a.tsv", f"start\tend\ttext\n0\t900\t{SPOKEN}\n"),
        ("a.json", json.dumps({"chunks": [{"timestamp": [0, 9], "text": SPOKEN}]})),
        ("text", f"b Good day\na {SPOKEN}\n"),  # Kaldi
    ],
)
def test_transcripts_of_other_tools_are_texts(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_text(tmp_path / name, None, "a").split() == SPOKEN.split()


def test_texts_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Bye --> now")  # not subtitles
    assert read_text(path) == "Bye --> now"
    other = tmp_path / "a.json"
    other.write_text('{"results": [{"transcript": "hello"}]}')  # of a tool that is not known
    with pytest.raises(InputError, match=r"a\.json:1: unknown transcript format"):
        read_text(other)
    path.write_text("Café", encoding="latin-1")
    with pytest.raises(InputError, match=r"a\.txt: not UTF-8 at byte 4 — save as UTF-8"):
        read_text(path)
    path.write_text(" \n")
    with pytest.raises(InputError, match=r"a\.txt: has no words"):
        read_text(path)
    (tmp_path / "text").write_text("b Good day\nc Good night\n")
    with pytest.raises(InputError, match='2 recordings, none of them named "a"'):
        read_text(tmp_path / "text", None, "a")


def test_plain_texts_are_preferred_in_folders(folder: Path, tmp_path: Path) -> None:
    for name in ("boat.txt", "boat.srt", "boat.json", "silent.vtt"):
        (tmp_path / name).touch()
    pairs = list(pair_files(folder / "audio", tmp_path, skips=False))
    assert [text.name for _, text in pairs] == ["boat.txt", "silent.vtt"]


def test_problems_of_texts_are_skipped(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "boat.txt").write_text("Café", encoding="latin-1")
    (tmp_path / "silent.txt").write_text("")
    arguments = [folder / "audio", tmp_path, "-o", tmp_path / "aligned", "--on-error", "skip"]
    with pytest.raises(InputError, match=r"(?s)not UTF-8.*has no words.*2 problems"):
        run("align", *arguments, "--cache", folder / "cache")
