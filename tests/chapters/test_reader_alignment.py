"""Transcripts without times are aligned with the audio of their item."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from earwitness.chapters import presets
from earwitness.core import OnError, Progress, no_progress
from earwitness.errors import EarwitnessWarning, InputError
from earwitness.output_formats import render
from earwitness.scoring.compare import compare
from earwitness.scoring.score import people, score
from earwitness.speech.ctc import WordTimes
from helpers.clock_aligner import ClockAligner
from helpers.samples import write_lines

CSTART = "[CSTART] A [CEND] one two three. [CSTART] B [CEND] four five. [CSTART] C [CEND] six"
# one word per second from 0.25 s: "four" starts at 3.25 s, "six" at 5.25 s
STARTS = [3.25, 5.25]


@pytest.fixture(autouse=True)
def aligner(monkeypatch: pytest.MonkeyPatch) -> ClockAligner:
    stub = ClockAligner()
    monkeypatch.setattr(presets, "open_aligner", lambda _: stub)
    return stub


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.wav"
    path.write_bytes(b"")
    return path


def files(talk: Path, output: dict[str, Any], **item: Any) -> tuple[Path, Path]:
    """Write an outputs file and a references file in the folder of the audio."""
    outputs, references = talk.parent / "outputs.jsonl", talk.parent / "references.jsonl"
    write_lines(outputs, [{"item": "a", "system": "s", "output": output}])
    line = {"item": "a", "duration": 9, "references": [{"boundaries": STARTS}], "audio": "talk.wav"}
    write_lines(references, [{**line, **item}])
    return outputs, references


def deviation(*sides: Any, **options: Any) -> float:
    (system,) = score(*sides, metrics="deviation", **options).systems.values()
    return system["deviation_of_output"].value


@pytest.mark.parametrize(
    ("preset", "text", "options"),
    [
        ("cstart", CSTART, {}),
        ("newline", "one two three.\n\nfour five.\n\nsix", {}),
        ("markdown", "# A\none two three.\n# B\nfour five.\n## C\nsix", {}),
        ("custom", "one two three. == four five. == six", {"custom_pattern": "=="}),
    ],
)
def test_chapters_without_times_start_with_their_first_words(
    preset: str, text: str, options: dict[str, str], talk: Path, aligner: ClockAligner
) -> None:
    sides = files(talk, {"transcript": text})
    assert deviation(*sides, preset=preset, **options) == 0
    (call,) = aligner.calls
    assert call == (talk, ("one", "two", "three.", "four", "five.", "six"), "en")


def test_titles_have_the_times_of_their_chapters_and_the_first_one_0(talk: Path) -> None:
    titles = [["A", 0.0], ["B", 3.25], ["C", 5.25]]
    sides = files(
        talk,
        {"transcript": CSTART, "preset": "cstart"},
        references=[{"boundaries": STARTS, "titles": titles}],
    )
    scores = score(*sides, metrics="titles", tolerance=0.01)
    assert scores.systems["s"]["tm_matched"].value == 1


def test_damaged_audio_is_a_note_of_the_result(
    talk: Path, aligner: ClockAligner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def align(*arguments: Any, **options: Any) -> list[WordTimes]:
        warnings.warn("talk.wav: at 00:00:01.000: cannot be read", EarwitnessWarning, stacklevel=1)
        return ClockAligner.align(aligner, *arguments, **options)

    monkeypatch.setattr(aligner, "align", align)
    output = {"transcript": CSTART, "preset": "cstart"}
    scores = score(*files(talk, output))
    assert scores.notes[:2] == (
        "1 transcript was aligned with audio by pocketsphinx (en)",
        "talk.wav: at 00:00:01.000: cannot be read",
    )


def test_the_language_selects_the_aligner(talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[str]()

    def open_aligner(name: str) -> ClockAligner:
        opened.append(name)
        return ClockAligner()

    monkeypatch.setattr(presets, "open_aligner", open_aligner)
    german: dict[str, Any] = {"language": "deu"}
    for options in ({}, german, {**german, "aligner": "pocketsphinx"}):
        score(*files(talk, {"transcript": CSTART}), preset="cstart", **options)
    assert opened == ["pocketsphinx", "mms_fa", "pocketsphinx"]


def test_samples_of_chunkseg_are_aligned_with_the_audio_next_to_their_file(talk: Path) -> None:
    sample = {"hypothesis": CSTART, "reference": STARTS, "duration": 9, "audio": "talk.wav"}
    path = talk.parent / "samples.jsonl"
    write_lines(path, [sample])
    scores = score(path, preset="cstart", metrics="deviation")
    assert scores.systems["samples"]["deviation_of_output"].value == 0
    signature = json.loads(render(scores, "json"))["signature"]
    assert "|preset=cstart|aligner=pocketsphinx|language=en" in signature
    assert "1 transcript was aligned with audio by pocketsphinx (en)" in render(scores, "text")


def test_aligner_and_language_can_be_chosen(
    monkeypatch: pytest.MonkeyPatch, talk: Path, aligner: ClockAligner
) -> None:
    names = []

    def open_named(name: str) -> ClockAligner:
        names.append(name)
        return aligner

    monkeypatch.setattr(presets, "open_aligner", open_named)
    sides = files(talk, {"transcript": CSTART, "preset": "cstart"})
    compare(
        write_two_systems(sides[0]), sides[1], metrics="collar", aligner="mms_fa", language="deu"
    )
    assert names == ["mms_fa", "mms_fa"]
    assert {language for _, _, language in aligner.calls} == {"deu"}


def write_two_systems(outputs: Path) -> Path:
    """Add a second system with the same output."""
    line = json.loads(outputs.read_text())
    write_lines(outputs, [line, {**line, "system": "t"}])
    return outputs


def test_alignment_can_replace_the_times_of_outputs_but_not_of_references(
    talk: Path, aligner: ClockAligner
) -> None:
    timed = "# 0:00 A\none two three.\n# 0:08 B\nfour five.\n# 0:08 C\nsix"
    reference = {"transcript": "# 0:00 A\none\n# 0:04 B\nfour", "preset": "markdown_ts"}
    sides = files(talk, {"transcript": timed, "preset": "markdown_ts"}, references=[reference])
    assert deviation(*sides) == 4  # both boundaries are at 8 s, the reference at 4 s
    assert not aligner.calls
    assert deviation(*sides, force_alignment=True) == 1  # 3.25 and 5.25 s: 0.75 and 1.25 s
    assert len(aligner.calls) == 1


def test_lists_of_chapters_keep_their_times(talk: Path, aligner: ClockAligner) -> None:
    youtube = {"transcript": "0:00 A\n0:03 B", "preset": "youtube"}
    assert deviation(*files(talk, youtube), force_alignment=True) == 0.25
    assert not aligner.calls


def test_references_without_times_are_aligned_too(talk: Path, aligner: ClockAligner) -> None:
    reference = {"transcript": CSTART, "preset": "cstart"}
    sides = files(talk, {"boundaries": STARTS}, references=[reference, {"boundaries": STARTS}])
    assert deviation(*sides) == 0
    aligner.calls.clear()
    assert people(sides[1], metrics="deviation").people is not None
    assert len(aligner.calls) == 1


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"audio": None}, "has no times, and the item has no audio — add audio, use a preset with"),
        ({"audio": "https://example.org/a.wav"}, "the item has audio at an address, which is not"),
        ({"audio": "none.wav"}, "cannot be aligned with its audio: none.wav: does not exist"),
        ({"audio": "other.wav"}, "other.wav: is not the audio of this text"),
    ],
)
def test_text_that_cannot_be_aligned_is_an_error_of_its_line(
    item: dict[str, Any], message: str, talk: Path
) -> None:
    (talk.parent / "other.wav").write_bytes(b"")
    sides = files(talk, {"transcript": CSTART, "preset": "cstart"}, **item)
    with pytest.raises(InputError, match=f"outputs.jsonl:1: output.transcript: .*{message}"):
        score(*sides)


def test_text_that_cannot_be_aligned_is_skipped_or_scored_as_empty_only_on_request(
    talk: Path,
) -> None:
    samples = [
        {"hypothesis": CSTART, "reference": STARTS, "duration": 9, "audio": name}
        for name in ("talk.wav", "other.wav")
    ]
    path = talk.parent / "samples.jsonl"
    (talk.parent / "other.wav").write_bytes(b"")
    write_lines(path, samples)
    with pytest.raises(InputError, match=r"samples.jsonl:2: hypothesis: cannot be aligned"):
        score(path, preset="cstart")
    cases: list[tuple[OnError, float]] = [("skip", 1.0), ("empty", 0.5)]
    for on_error, recall in cases:
        scores = score(path, preset="cstart", metrics="collar", on_error=on_error)
        assert scores.systems["samples"]["collar_recall"].value == recall
        assert scores.provenance.skipped == (on_error == "skip")
        assert scores.provenance.emptied == (on_error == "empty")


def test_progress_of_alignment_has_a_label(talk: Path) -> None:
    class Bars:
        labels: list[str] = []

        def __call__(self, done: int, total: int | None, cases: int, /) -> None: ...

        @contextmanager
        def show_part(self, label: str) -> Iterator[Progress]:
            self.labels.append(label)
            yield no_progress

    score(*files(talk, {"transcript": CSTART, "preset": "cstart"}), progress=Bars())
    assert Bars.labels == ["aligning text"]
