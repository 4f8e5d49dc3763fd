"""Passages of kept words, and the audio that is cut from a recording and joined."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness.audio.encode import encode
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.summaries.methods.compaction import (
    Compaction,
    ScoreWeights,
    SpokenUtterance,
    SummarizedSpeech,
)
from earwitness.summaries.methods.passages import (
    SpokenPassage,
    find_passages,
    place_words,
    render_summary,
    write_spoken_summary,
)
from helpers.flite import speak_chapters, write_speech

Times = Sequence[tuple[float, float]]
NAN = float("nan")


def speech(*utterances: tuple[Times | None, Sequence[int]]) -> SummarizedSpeech:
    """A summary of utterances, given as times of words and kept positions."""
    made = []
    for times, positions in utterances:
        words = tuple(f"w{n}" for n in range(1, len(times or "123") + 1))
        spoken = SpokenUtterance(words, None if times is None else tuple(times))
        made.append(Compaction(spoken, tuple(positions), 0.0, {}))
    return SummarizedSpeech("talk", tuple(made), 0.5, "utterance", ScoreWeights(), "")


def spans(passages: Sequence[SpokenPassage]) -> list[tuple[Any, ...]]:
    return [(round(one.start, 4), round(one.end, 4), one.positions) for one in passages]


def written(path: Path, samples: NDArray[Any], rate: int) -> Path:
    soundfile.write(path, samples, rate, subtype="FLOAT")
    return path


# --- Passages ------------------------------------------------------------------------------------


def test_neighbours_form_a_passage_and_margins_are_at_most_half_a_gap() -> None:
    times = [(1.0, 1.4), (1.42, 1.6), (1.7, 1.8), (1.8, 2.0), (2.3, 2.5)]
    # 1.42 − 0.02/2; 1.6 + 0.03; nothing between the third and the fourth word; 2.5 + 0.03
    found = find_passages(speech((times, [2, 4, 5])), 9.0)
    assert spans(found) == [(1.41, 1.63, (2,)), (1.8, 2.53, (4, 5))]
    assert spans(find_passages(speech((times, [2])), 9.0, margin=0.0)) == [(1.42, 1.6, (2,))]


def test_margins_stay_in_the_recording_and_out_of_other_utterances() -> None:
    first, second = [(0.01, 0.5), (0.5, 1.0)], [(1.02, 1.5), (1.5, 2.0)]
    found = find_passages(speech((first, [1, 2]), (second, [1, 2])), 2.01)
    assert spans(found) == [(0.0, 1.01, (1, 2)), (1.01, 2.01, (1, 2))]
    assert [one.utterance_index for one in found] == [0, 1]


def test_an_utterance_without_kept_words_needs_no_times() -> None:
    found = find_passages(speech(([(0.0, 1.0)], [1]), (None, []), ([(2.0, 3.0)], [1])), 5.0)
    assert [one.utterance_index for one in found] == [0, 2]


def test_words_that_overlap_are_neither_shortened_nor_repeated() -> None:
    times = [(1.0, 1.5), (1.4, 1.8), (1.7, 2.0)]
    assert spans(find_passages(speech((times, [1, 3])), 9.0)) == [
        (0.97, 1.5, (1,)),
        (1.7, 2.03, (3,)),
    ]
    assert spans(find_passages(speech((times, [1, 2])), 9.0)) == [(0.97, 1.8, (1, 2))]
    nested = [(1.0, 2.0), (1.2, 1.3), (1.8, 2.2)]
    assert spans(find_passages(speech((nested, [1, 3])), 9.0)) == [(0.97, 2.23, (1, 3))]
    assert spans(find_passages(speech((nested, [2])), 9.0)) == [(1.2, 1.3, (2,))]


def test_words_in_another_order_than_their_times_are_cut_one_by_one() -> None:
    times = [(5.0, 6.0), (2.0, 3.0)]
    assert spans(find_passages(speech((times, [1, 2])), 9.0)) == [
        (4.97, 6.03, (1,)),
        (1.97, 3.03, (2,)),
    ]


def test_speech_of_two_speakers_keeps_margins_out_of_the_words_of_the_other() -> None:
    found = find_passages(speech(([(1.0, 2.0)], [1]), ([(1.5, 2.02)], []), ([(2.04, 3)], [])), 9.0)
    assert spans(found) == [(0.97, 2.0, (1,))]


def test_words_of_no_duration_get_their_margins_or_a_warning() -> None:
    assert spans(find_passages(speech(([(1.0, 1.0)], [1])), 9.0)) == [(0.97, 1.03, (1,))]
    tight = [(0.5, 1.0), (1.0, 1.0), (1.0, 1.5)]
    with pytest.warns(EarwitnessWarning, match="talk: 1 kept word has no duration"):
        assert find_passages(speech((tight, [2])), 9.0) == []
    # nothing is cut out where a dropped word has no duration
    assert spans(find_passages(speech((tight, [1, 3])), 9.0)) == [(0.47, 1.53, (1, 3))]


def test_words_that_exceed_the_recording_are_clipped() -> None:
    found = find_passages(speech(([(-0.05, 0.5), (0.9, 1.4)], [1, 2])), 1.0)
    assert spans(found) == [(0.0, 1.0, (1, 2))]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([(NAN, 1.0)], r'utterance 1, word 1 \("w1"\) has a time that is not a number'),
        ([(1.0, float("inf"))], "has a time that is not a number"),
        ([(1.0, 0.5)], "ends at 0.5 s, before it starts at 1 s"),
        ([(4.2, 5.0)], "starts at 4.2 s, after the end of the recording at 4 s — use times"),
        ([(-2.0, -1.0)], "ends at -1 s, before the start of the recording"),
        (None, "utterance 1 has no times of words"),
        ([(1.0, 0.5)] * 9, "word 5 .* and 4 more"),
    ],
)
def test_kept_words_without_usable_times_are_named(times: Times | None, message: str) -> None:
    kept = range(1, len(times or "1") + 1)
    with pytest.raises(UsageError, match=message):
        find_passages(speech((times, kept)), 4.0)


def test_unusable_times_of_dropped_words_do_not_matter() -> None:
    times = [(1.0, 2.0), (NAN, NAN), (9.0, 2.0), (3.0, 4.0)]
    assert spans(find_passages(speech((times, [1])), 20.0)) == [(0.97, 2.03, (1,))]


@pytest.mark.parametrize("duration", [0.0, -1.0, NAN])
def test_a_recording_has_a_duration(duration: float) -> None:
    with pytest.raises(UsageError, match="duration of a recording cannot be"):
        find_passages(speech(([(0.0, 1.0)], [1])), duration)


def widen(word: tuple[float, float], others: Times, margin: float, duration: float) -> Any:
    """The margins of a word by their definition, one other word after the other."""
    start, end = word
    left = right = margin
    for low, high in others:
        if low < start < high:
            left = 0.0
        elif high <= start:
            left = min(left, (start - high) / 2)
        if low < end < high:
            right = 0.0
        elif low >= end:
            right = min(right, (low - end) / 2)
    return max(0.0, start - left), min(duration, end + right)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6)), min_size=1, max_size=8))
def test_margins_follow_their_definition(words: list[tuple[int, int]]) -> None:
    times = [(start / 20, (start + length) / 20) for start, length in words]
    for place, word in enumerate(times):
        others = times[:place] + times[place + 1 :]
        low, high = widen(word, others, 0.03, 3.0)
        if high > low:
            [found] = find_passages(speech((times, [place + 1])), 3.0)
            assert (found.start, found.end) == pytest.approx((low, high))


# --- Audio ---------------------------------------------------------------------------------------


def ramp(frames: int, channels: int = 1) -> NDArray[np.float32]:
    """Samples that say where they come from, exactly in 32-bit floats."""
    rows = np.arange(frames)[:, None] / 2**20 + np.arange(channels) / 4
    return rows.astype(np.float32)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100])
@pytest.mark.parametrize("channels", [1, 2])
def test_samples_come_from_their_places_and_lengths_are_exact(
    tmp_path: Path, rate: int, channels: int
) -> None:
    source = ramp(5 * rate, channels)
    path = written(tmp_path / "ramp.wav", source, rate)
    passages = [
        SpokenPassage(0.4, 0.91, 0, (1, 2)),
        SpokenPassage(1.503, 1.8, 0, (4,)),
        SpokenPassage(3.0, 4.21, 2, (1,)),
        SpokenPassage(2.0, 2.5, 2, (2,)),
    ]
    summary = render_summary(path, passages)
    edge, frames = (
        round(0.005 * rate),
        [round(p.end * rate) - round(p.start * rate) for p in passages],
    )
    assert summary.samples.shape == (2 * edge + sum(frames) + round(0.3 * rate), channels)
    assert summary.rate == rate
    for (passage, start, end), count in zip(summary.passages, frames, strict=True):
        place, first = round(start * rate), round(passage.start * rate)
        assert round(end * rate) == place + count
        found = summary.samples[place + edge : place + count - edge]
        assert np.array_equal(found, source[first + edge : first + count - edge])
    second, third = summary.passages[1:3]
    silent = summary.samples[round(second.end * rate) + edge : round(third.start * rate) - edge]
    assert len(silent) == round(0.3 * rate) - 2 * edge
    assert not silent.any()
    joint = round(second.start * rate)  # gains sum to 1: between both sources all the way
    low, high = source[round(0.91 * rate) - edge], source[round(1.503 * rate) + edge]
    around = summary.samples[joint - edge : joint + edge]
    assert (around >= low).all()
    assert (around <= high).all()
    assert (np.diff(around, axis=0) > 0).all()


def test_joints_of_a_tone_have_no_jump(tmp_path: Path) -> None:
    rate, hertz = 16_000, 230.0
    tone = np.sin(2 * np.pi * hertz * np.arange(4 * rate) / rate)
    path = written(tmp_path / "tone.wav", tone, rate)
    rng = np.random.default_rng(3)
    starts = rng.uniform(0, 3.5, 40)
    passages = [SpokenPassage(s, s + 0.2, n // 5, (n + 1,)) for n, s in enumerate(starts)]
    summary = render_summary(path, passages)
    # the steepest step of the tone, and of a fade over 10 ms between values 2 apart
    largest = 2 * np.pi * hertz / rate + 2 * np.pi / (2 * 0.01 * rate)
    steps = np.abs(np.diff(summary.samples[:, 0], prepend=0, append=0))
    assert steps.max() <= largest
    hard = np.concatenate([tone[round(s * rate) : round((s + 0.2) * rate)] for s in starts])
    assert np.abs(np.diff(hard)).max() > 5 * largest


def test_short_passages_have_short_fades(tmp_path: Path) -> None:
    rate = 8_000
    path = written(tmp_path / "one.wav", np.ones(rate), rate)
    lengths = [0.2, 0.001, 0.2, 0.0125, 0.00003, 0.2]
    passages = [SpokenPassage(0.1, 0.1 + s, 0, (n + 1,)) for n, s in enumerate(lengths)]
    summary = render_summary(path, passages)
    assert len(summary.samples) == 80 + 1600 * 3 + 8 + 100  # 0.00003 s are no frame
    assert summary.samples[80:-80, 0] == pytest.approx(1.0)  # gains sum to 1 at every joint
    sharp = render_summary(path, passages, fade=0.0)
    assert len(sharp.samples) == 1600 * 3 + 8 + 100
    assert (sharp.samples == 1).all()


def test_at_the_ends_of_a_file_the_edge_is_repeated(tmp_path: Path) -> None:
    rate = 8_000
    path = written(tmp_path / "one.wav", np.full(rate, 0.5), rate)
    summary = render_summary(path, [SpokenPassage(0.0, 1.0, 0, (1,))])
    assert len(summary.samples) == rate + 80
    assert (summary.samples[40:-40] > 0.2).all()
    assert np.abs(np.diff(summary.samples[:, 0], prepend=0, append=0)).max() < 0.05


@pytest.mark.parametrize("pause", [0.0, 0.004, 1.0])
def test_pauses_separate_utterances(tmp_path: Path, pause: float) -> None:
    path = written(tmp_path / "one.wav", np.ones(8_000), 8_000)
    passages = [SpokenPassage(0.1, 0.2, 0, (1,)), SpokenPassage(0.3, 0.4, 5, (1,))]
    summary = render_summary(path, passages, pause=pause)
    assert len(summary.samples) == 80 + 1600 + round(8_000 * pause)
    assert summary.passages[1].start - summary.passages[0].end == pytest.approx(pause)
    steps = np.abs(np.diff(summary.samples[:, 0], prepend=0, append=0))
    assert steps.max() <= 2 * np.pi / (2 * 80)


@pytest.mark.parametrize("ending", [".flac", ".mp3", ".opus"])
def test_other_formats_are_read_at_their_times(tmp_path: Path, ending: str) -> None:
    rate = 48_000
    rng = np.random.default_rng(1)
    noise = np.repeat(rng.normal(size=3 * rate // 24), 24)[: 3 * rate] * 0.1
    source = np.stack([noise, -noise], axis=1)
    path = tmp_path / f"noise{ending}"
    path.write_bytes(encode(source, rate, ending).content)
    passages = [
        SpokenPassage(1.0, 1.5, 0, (1,)),
        SpokenPassage(2.2, 2.6, 0, (3,)),
        SpokenPassage(0.4, 0.7, 0, (5,)),  # back again
    ]
    summary = render_summary(path, passages)
    assert summary.samples.shape[1] == 2
    for passage, start, _ in summary.passages:
        at, place = round(passage.start * rate), round(start * rate)
        found, true = summary.samples[place + 300 :][:9000, 0], source[at + 300 :][:9000, 0]
        assert np.corrcoef(found, true)[0, 1] > 0.9


def test_memory_grows_with_neither_the_recording_nor_the_summary(tmp_path: Path) -> None:
    path, rate = tmp_path / "long.wav", 8_000
    with soundfile.SoundFile(path, "w", rate, 1, subtype="PCM_16") as file:
        for minute in range(30):
            file.write(np.full(60 * rate, minute / 100))
    passages = [SpokenPassage(10.0 * n + 2, 10.0 * n + 9, n, (1,)) for n in range(180)]
    tracemalloc.start()
    summary = render_summary(path, passages)
    write_spoken_summary(tmp_path / "summary.wav", summary)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6  # the recording has 58 MB of 32-bit floats, the summary 42 MB
    samples = soundfile.read(tmp_path / "summary.wav")[0]
    levels = [samples[round(one.start * rate) + 99] for one in summary.passages]
    assert levels == pytest.approx([n // 6 / 100 for n in range(180)], abs=1e-4)


def test_damage_is_silent_and_noted(tmp_path: Path) -> None:
    rate = 44_100
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(8 * rate) / rate)
    content = bytearray(encode(tone, rate, ".mp3").content)
    middle = len(content) // 2
    content[middle : middle + len(content) // 8] = bytes(len(content) // 8)  # one second
    path = tmp_path / "torn.mp3"
    path.write_bytes(content)
    passages = [SpokenPassage(1.0, 2.0, 0, (1,)), SpokenPassage(3.5, 6.5, 1, (1,))]
    summary = render_summary(path, passages)
    notes = list[str]()
    for _ in summary.blocks(notes.append):
        pass
    [note] = notes
    assert re.search(r"torn\.mp3: cannot be read from (3\.9|4\.\d) s for 1\.\d s: MP3 frames", note)
    first, second = (
        np.abs(summary.samples[round(one.start * rate) : round(one.end * rate), 0])
        for one in summary.passages
    )
    assert first.mean() == pytest.approx(1 / np.pi, abs=0.02)
    for sounding in (second[: rate // 4], second[-rate // 4 :]):
        assert sounding.mean() == pytest.approx(1 / np.pi, abs=0.02)
    assert second[int(0.9 * rate) : int(1.2 * rate)].max() == 0


def test_samples_that_are_not_numbers_are_silent(tmp_path: Path) -> None:
    samples = np.ones(8_000)
    samples[4_000] = NAN
    path = written(tmp_path / "nan.wav", samples, 8_000)
    summary = render_summary(path, [SpokenPassage(0.4, 0.6, 0, (1,))])
    assert (summary.samples[80:-80] == 0).sum() == 1


def test_what_cannot_be_rendered_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "one.wav", np.ones(8_000), 8_000)
    with pytest.raises(UsageError, match="without words cannot be spoken — use a larger ratio"):
        render_summary(path, [])
    with pytest.raises(UsageError, match=r"a passage starts at 3\.00 s, after the end at 1\.00 s"):
        render_summary(path, [SpokenPassage(3.0, 4.0, 0, (1,))], fade=0.0)
    with pytest.raises(UsageError, match="a passage must end after its start"):
        render_summary(path, [SpokenPassage(0.5, 0.1, 0, (1,))])
    with pytest.raises(UsageError, match="fade must be 0 or greater, not nan"):
        render_summary(path, [SpokenPassage(0.1, 0.5, 0, (1,))], fade=NAN)
    with pytest.raises(UsageError, match="a passage must have finite times"):
        render_summary(path, [SpokenPassage(0.1, NAN, 0, (1,))])
    with pytest.raises(UsageError, match="cannot be read"):
        render_summary(tmp_path / "none.wav", [SpokenPassage(0.1, 0.5, 0, (1,))])


# --- Files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out/summary.wav", "summary.flac", "summary.mp3"])
def test_a_summary_is_written_in_the_format_of_its_name(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "tone.wav", ramp(16_000, 2), 16_000)
    summary = render_summary(path, [SpokenPassage(0.2, 0.8, 0, (1,))])
    assert write_spoken_summary(tmp_path / name, summary) == ()
    info = soundfile.info(tmp_path / name)
    assert (info.samplerate, info.channels) == (16_000, 2)
    assert info.frames == pytest.approx(len(summary.samples), abs=1152 * (name[-1] == "3"))


def test_a_summary_that_cannot_be_written_leaves_no_file(tmp_path: Path) -> None:
    path = written(tmp_path / "tone.wav", ramp(8_000, 3), 8_000)
    summary = render_summary(path, [SpokenPassage(0.2, 0.8, 0, (1,))])
    with pytest.raises(UsageError, match=r"cannot be written with 3 channels at 8,000 Hz as \.mp3"):
        write_spoken_summary(tmp_path / "summary.mp3", summary)
    with pytest.raises(UsageError, match=r'audio cannot be written as "\.doc"'):
        write_spoken_summary(tmp_path / "summary.doc", summary)
    with pytest.raises(UsageError, match=r"tone\.wav/summary\.wav: cannot be written: "):
        write_spoken_summary(path / "summary.wav", summary)
    assert list(tmp_path.iterdir()) == [path]


def test_changes_of_the_audio_are_noted(tmp_path: Path) -> None:
    path = written(tmp_path / "loud.wav", np.full(8_000, 2.0), 7_000)
    summary = render_summary(path, [SpokenPassage(0.2, 0.8, 0, (1,))])
    resampled, clipped = write_spoken_summary(tmp_path / "loud.mp3", summary)
    assert resampled == "resampled from 7,000 to 8,000 Hz"
    assert re.fullmatch(r"clipped by 6\.\d dB at full scale", clipped)


def test_the_recording_is_never_replaced(tmp_path: Path) -> None:
    path = written(tmp_path / "tone.wav", ramp(8_000), 8_000)
    content = path.read_bytes()
    summary = render_summary(path, [SpokenPassage(0.2, 0.8, 0, (1,))])
    link = tmp_path / "link.wav"
    (tmp_path / "sub").mkdir()
    link.symlink_to(path)
    for place in (path, tmp_path / "sub" / ".." / "tone.wav", link):
        with pytest.raises(UsageError, match="is the recording itself — choose another file"):
            write_spoken_summary(place, summary)
    assert path.read_bytes() == content


# --- Speech --------------------------------------------------------------------------------------


def test_every_kept_word_of_real_speech_is_heard(tmp_path: Path) -> None:
    said = speak_chapters([["The weather was cold.", "Many people stayed at home today."]])
    path = tmp_path / "said.wav"
    write_speech(path, said)
    times = [(word.start, word.end) for word in said.words]
    made = speech((times[:4], [2, 4]), (times[4:], [1, 2, 5]))
    passages = find_passages(made, said.seconds)
    assert [one.positions for one in passages] == [(2,), (4,), (1, 2), (5,)]
    summary = render_summary(path, passages)
    source = said.samples / 2**15
    words = place_words(made, summary)
    assert [(one.utterance_index, one.position) for one in words] == [
        (0, 2),
        (0, 4),
        (1, 1),
        (1, 2),
        (1, 5),
    ]
    for word in words:
        start, end = times[4 * word.utterance_index + word.position - 1]
        assert word.end - word.start == pytest.approx(end - start)
        first, place = round(start * said.rate), round(word.start * said.rate)
        count = round((end - start) * said.rate)
        true = np.square(source[first : first + count]).sum()
        heard = np.square(summary.samples[place : place + count, 0]).sum()
        assert heard == pytest.approx(true, rel=0.08)
    total = sum(one.end - one.start for one in passages) + 0.3 + 0.01
    assert summary.seconds == pytest.approx(total, abs=1e-3)
