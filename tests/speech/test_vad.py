"""Speech: formant voices beside noises, cues beside plain loops, segments beside true words."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from earwitness.errors import MissingExtra, UsageError
from earwitness.speech import vad
from earwitness.speech.vad import (
    CUE_NAMES,
    SPEECH_CLASSES,
    CueDetector,
    Silero,
    SpeechSegment,
    WebRtcDetector,
    cut_frames,
    find_detector,
    find_frame_detector,
    find_silero_file,
    find_speech,
    measure_cues,
    resample_quickly,
    speech_class_scores,
    speech_scores,
    speech_share,
)
from helpers.flite import SpokenText, read_lecture, speak_chapters
from helpers.recorder_files import write
from helpers.samples import many

Floats = NDArray[np.float32]
RATE = 16_000
VOWELS = [(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480)]


def single(values: Any) -> Floats:
    return np.asarray(values, np.float32)


def resonated(sound: Any, hertz: float, width: float) -> Any:
    radius = math.exp(-math.pi * width / RATE)
    turn = 2 * math.pi * hertz / RATE
    return lfilter([1 - radius], [1, -2 * radius * math.cos(turn), radius**2], sound)


def syllable(rng: np.random.Generator, pitch: float) -> Any:
    """A hiss, then a vowel with a falling pitch."""
    size = round(rng.uniform(0.14, 0.24) * RATE)
    phase = np.cumsum(pitch * np.linspace(1.1, 0.9, size) / RATE)
    pulses = np.diff(np.floor(phase), prepend=0) + rng.normal(0, 0.003, size)
    for hertz, width in zip(VOWELS[rng.integers(len(VOWELS))], (80, 100, 140), strict=True):
        pulses = resonated(pulses, hertz, width)
    vowel = pulses / np.abs(pulses).max() * np.hanning(size)
    hiss = np.diff(rng.normal(0, 0.02, round(rng.uniform(0.03, 0.09) * RATE)), prepend=0)
    return np.concatenate([hiss, vowel])


def voice(seconds: float, seed: int = 0) -> Floats:
    """Syllables in words in phrases, about four a second."""
    rng = np.random.default_rng(seed)
    pitch, parts, size = rng.uniform(95, 220), [np.zeros(1)], 0
    while size < seconds * RATE:
        parts.append(syllable(rng, pitch * rng.uniform(0.85, 1.2)))
        if rng.random() < 0.2:
            parts.append(np.zeros(round(rng.uniform(0.05, 0.25) * RATE)))
        size = sum(map(len, parts))
    sound = np.concatenate(parts)[: round(seconds * RATE)]
    return single(0.2 * sound + rng.normal(0, 1e-4, len(sound)))


def noise(seconds: float, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return single(rng.normal(0, 0.05, round(seconds * RATE)))


def clock(seconds: float) -> Any:
    return np.arange(round(seconds * RATE)) / RATE


def rumble(seed: int) -> Floats:
    """As wind: louder and softer over seconds, and mostly low."""
    low = lfilter([0.05], [1, -0.95], noise(8, seed))
    return single(low * (1 + 0.6 * np.sin(2 * np.pi * 0.3 * clock(8))))


def tone(seed: int) -> Floats:
    return single(0.1 * np.sin(2 * np.pi * (150 + 170 * seed) * clock(8)))


def engine(seed: int) -> Floats:
    """Harmonics of a steady pitch."""
    pitch = 60 + 10 * seed
    parts = [np.sin(2 * np.pi * pitch * n * clock(8) + n * n) / n for n in range(1, 20)]
    return single(0.05 * np.sum(parts, axis=0) + 0.1 * noise(8, seed))


def chirps(seed: int) -> Floats:
    """As small birds: five short rises a second, from 2,500 Hz up."""
    at = clock(8) * 5 % 1
    rise = np.sin(2 * np.pi * (2500 + 100 * seed + 500 * at) * at / 5)
    calls = rise * np.sin(np.pi * np.minimum(1, 2 * at))
    return single(0.1 * calls + 0.02 * noise(8, seed))


def sweep(seed: int) -> Floats:
    """Once through all pitches."""
    return single(0.1 * np.sin(2 * np.pi * (60 + 20 * seed + 150 * clock(8)) * clock(8)))


def silence(seed: int) -> Floats:
    return np.zeros((seed + 1) * RATE, np.float32)


@pytest.mark.parametrize("seed", range(many(4, 40)))
def test_a_voice_is_speech(seed: int) -> None:
    assert speech_share(voice(8, seed), RATE) > 0.5


@pytest.mark.parametrize("seed", range(many(4, 40)))
def test_a_voice_in_as_much_noise_is_still_caught(seed: int) -> None:
    sound, other = voice(8, seed), noise(8, seed)
    mixed = single(sound + other * np.sqrt(np.mean(sound**2) / np.mean(other**2)))
    assert speech_share(mixed, RATE) >= CueDetector.min_share


@pytest.mark.parametrize(
    "make",
    [lambda seed: noise(8, seed), rumble, tone, engine, chirps, sweep, silence],
    ids=["noise", "rumble", "tone", "engine", "chirps", "sweep", "silence"],
)
def test_other_sounds_are_not(make: Callable[[int], Floats]) -> None:
    shares = [speech_share(make(seed), RATE) for seed in range(many(3, 9))]
    assert np.mean(shares) < CueDetector.min_share


def test_two_seconds_of_speech_among_eight_are_caught_where_they_are() -> None:
    sound = 0.05 * noise(8)
    sound[3 * RATE : 5 * RATE] += voice(2, 1)
    found = np.flatnonzero(speech_scores(sound, RATE) > 0) / 2
    assert found.min() >= 2.0  # of seconds every half second; those that begin at 2.5 have half
    assert found.max() <= 4.5
    assert speech_share(sound, RATE) >= CueDetector.min_share


@pytest.mark.parametrize("gain", [1e-3, 0.1, 30])
def test_loudness_does_not_matter(gain: float) -> None:
    sound = voice(8, 3)
    assert speech_scores(sound * np.float32(gain), RATE) == pytest.approx(
        speech_scores(sound, RATE), abs=0.02
    )


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 48_000])
def test_the_rate_does_not_matter(rate: int) -> None:
    sound = voice(4, 4)
    other = resample_quickly(sound, RATE, rate)
    assert speech_scores(other, rate) == pytest.approx(speech_scores(sound, RATE), abs=0.7)


@pytest.mark.parametrize("size", [0, 1, 100, 5_000])
def test_short_sound_has_a_share_too(size: int) -> None:
    assert 0 <= speech_share(voice(1)[:size], RATE) <= 1


def plain_cues(samples: Floats) -> list[float]:
    """The definition for one second at 8 kHz, a step at a time; only transforms are numpy's."""
    hann = [0.5 - 0.5 * math.cos(2 * math.pi * n / 320) for n in range(320)]
    power = []
    for start in range(0, len(samples) - 319, 80):
        frame = [float(samples[start + n]) * hann[n] for n in range(320)]
        power.append([abs(x) ** 2 for x in np.fft.rfft(frame, 512)])
    floor = 1e-5 * sum(map(sum, power)) / (257 * len(power))
    power = [[x + floor for x in row] for row in power]
    periods = [plain_period(row) for row in power]
    edges = [20, 26, 36, 48, 65, 88, 119, 161, 218]
    levels = [[10 * math.log10(sum(row[a:b])) for a, b in pairwise(edges)] for row in power]
    shapes = [[x - sum(row) / 8 for x in row] for row in levels]
    goes_on = [
        one[0] > 0.14 and two[0] > 0.14 and abs(two[1] - one[1]) < 0.06
        for one, two in pairwise(periods)
    ]
    beat, _ = plain_modulation(levels)
    formant_beat, depth = plain_modulation(shapes)
    first = [sum(row[13:65]) / sum(row[7:256]) for row in power]
    weights = [math.sqrt(sum(row[7:256])) for row in power]
    mean = sum(f * w for f, w in zip(first, weights, strict=True)) / sum(weights)
    middle = sum(first) / len(first)
    moves = math.sqrt(sum((f - middle) ** 2 for f in first) / len(first))
    return [math.log10(0.02 + sum(goes_on) / 100), beat, formant_beat, depth, mean, moves]


COSINES = [math.cos(2 * math.pi * n / 512) for n in range(512)]


def plain_period(row: list[float]) -> tuple[float, float]:
    size = [x ** (1 / 3) for x in row[:176]]
    white = {}
    for k in range(6, 160):
        near = [size[min(max(j, 0), 175)] for j in range(k - 16, k + 17)]
        white[k] = size[k] / (sum(near) / 33) - 1
    alike = {
        lag: sum(x * COSINES[k * lag % 512] for k, x in white.items()) / 154
        for lag in range(20, 101)
    }
    best = max(alike, key=lambda lag: alike[lag])
    return alike[best], math.log2(8000 / best)


def plain_modulation(rows: list[list[float]]) -> tuple[float, float]:
    """The share of 2–8 Hz over all bands, and log10(1 + the median band)."""
    taper = [0.5 - 0.5 * math.cos(2 * math.pi * n / 99) for n in range(100)]
    slow, moves = [], []
    for band in zip(*rows, strict=True):
        mean = sum(band) / 100
        spectrum = np.fft.rfft([(x - mean) * t for x, t in zip(band, taper, strict=True)])
        power = [abs(x) ** 2 / (sum(t * t for t in taper) * 50) for x in spectrum]
        slow.append(sum(power[2:9]))
        moves.append(sum(power[1:26]))
    return sum(slow) / sum(moves), math.log10(1 + float(np.median(slow)))


@pytest.mark.parametrize("seed", range(many(1, 6)))
def test_cues_are_those_of_the_definition(seed: int) -> None:
    size = 320 + 99 * 80
    for sound in (voice(2, seed)[::2], noise(2, seed)[::2]):
        got = measure_cues(sound[:size], 8_000)
        assert got.shape == (1, len(CUE_NAMES))
        assert got[0] == pytest.approx(plain_cues(sound[:size]), rel=2e-3, abs=2e-3)


def test_the_last_window_ends_with_the_sound() -> None:
    sound = voice(3, 5)[::2][: 320 + 170 * 80]  # 171 frames: windows at 0, 50 and 71
    got = measure_cues(sound, 8_000)
    assert len(got) == 3
    alone = measure_cues(sound[71 * 80 :], 8_000)
    assert got[2] == pytest.approx(alone[0], abs=0.05)  # silence is relative to the whole


def test_classes_of_speech_are_found_by_their_names() -> None:
    classes = np.array([[0.1, 0.7, 0.2], [0.9, 0.0, 0.3]], np.float32)
    found = speech_class_scores(("Speech", "Bird", "Conversation"), classes)
    assert found is not None
    assert found.tolist() == pytest.approx([0.2, 0.9])
    assert speech_class_scores(("Bird", "0", "1"), classes) is None
    assert "Speech" in SPEECH_CLASSES


class FakeSession:
    """Says that a frame is speech if it is loud; keeps what it was given."""

    def __init__(
        self, names: tuple[str, ...] = ("input", "state", "sr"), limit: float = 0.5
    ) -> None:
        self.names, self.limit, self.given = names, limit, list[dict[str, Any]]()

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name=name) for name in self.names]

    def run(self, _: None, given: dict[str, Any]) -> list[Any]:
        self.given.append(given)
        loud = np.abs(given["input"][0, 64:]).max() > self.limit
        return [np.array([[0.9 if loud else 0.1]], np.float32), given["state"] + 1]


def silero(tmp_path: Path, session: FakeSession) -> Silero:
    (tmp_path / "vad.onnx").write_bytes(b"")
    return Silero(tmp_path / "vad.onnx", lambda _: session)


def test_silero_sees_frames_with_what_was_before_and_its_own_state(tmp_path: Path) -> None:
    session = FakeSession()
    sound = np.linspace(0, 1, 512 * 3 + 100, dtype=np.float32)
    found = silero(tmp_path, session).probabilities(sound, 16_000)
    assert found.tolist() == pytest.approx([0.1, 0.9, 0.9, 0.9])
    shapes = {given["input"].shape for given in session.given}
    assert shapes == {(1, 576)}
    assert np.array_equal(session.given[1]["input"][0], sound[512 - 64 : 1024])
    assert [given["state"].max() for given in session.given] == [0, 1, 2, 3]
    assert all(given["sr"] == 16_000 for given in session.given)


def test_the_share_of_silero_is_that_of_its_frames(tmp_path: Path) -> None:
    sound = np.zeros(16_000 * 2, np.float32)
    sound[:16_000] = 0.9
    detector = silero(tmp_path, FakeSession(limit=0.05))
    assert detector.share(sound, 16_000) == pytest.approx(32 / 63)  # 31.25 frames of 62.5 are loud
    assert detector.share(sound[:0], 16_000) == detector.share(0 * sound, 16_000) == 0
    assert detector.share(np.repeat(sound, 3), 48_000) == pytest.approx(0.5, abs=0.03)


def test_silero_gets_every_block_at_the_same_level(tmp_path: Path) -> None:
    session = FakeSession()
    for gain in (1e-4, 0.1, 1):
        silero(tmp_path, session).share(np.float32(gain) * noise(0.032, 1), 16_000)
    quiet, medium, loud = (given["input"][0, 64:] for given in session.given)
    assert quiet == pytest.approx(loud, rel=1e-3)
    assert medium == pytest.approx(loud, rel=1e-3)
    assert 20 * np.log10(np.sqrt(np.mean(loud**2))) == pytest.approx(-25, abs=0.01)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes h, input"):
        silero(tmp_path, FakeSession(("input", "h"))).share(noise(1), RATE)
    with pytest.raises(UsageError, match="file does not exist"):
        Silero(tmp_path / "none.onnx").share(noise(1), RATE)


def test_without_the_library_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vad.onnx").write_bytes(b"")
    known = find_spec
    monkeypatch.setattr(
        vad, "find_spec", lambda name: None if name == "onnxruntime" else known(name)
    )
    with pytest.raises(MissingExtra, match=r"\[silero\]"):
        Silero(tmp_path / "vad.onnx").share(noise(1), RATE)


@pytest.mark.parametrize("content", [b"no model", b""])
def test_a_file_that_is_no_model_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "vad.onnx").write_bytes(content)
    with pytest.raises(UsageError, match=r"vad\.onnx: is not an ONNX model: "):
        Silero(tmp_path / "vad.onnx").share(noise(1), RATE)


@pytest.mark.parametrize("missing", ["", "silero_vad", "onnxruntime", "file"])
def test_silero_is_the_default_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    path = tmp_path / "silero_vad" / "data" / "silero_vad.onnx"
    path.parent.mkdir(parents=True)
    if missing != "file":
        path.write_bytes(b"network")

    def find_package(name: str) -> Any:
        return None if name == missing else SimpleNamespace(origin=str(path.parents[1] / "i.py"))

    monkeypatch.setattr(vad, "find_spec", find_package)
    assert find_detector() == (CueDetector() if missing else Silero(path))
    assert ("silero" in find_detector().signature) == (not missing)
    assert "silero_vad" not in sys.modules


def test_detectors_are_found_by_name_or_file(tmp_path: Path) -> None:
    sound = voice(2, 1)
    found = find_detector("cues")
    assert found.share(sound, RATE) == CueDetector().share(sound, RATE) > CueDetector.min_share
    assert find_detector(str(tmp_path / "a.onnx")) == Silero(tmp_path / "a.onnx")
    with pytest.raises(UsageError, match='unknown speech detector "ears" — use cues'):
        find_detector("ears")


def test_signatures_say_what_decides(tmp_path: Path) -> None:
    assert CueDetector().signature == "speech=cues,weights=0.9,2.3,3.7,1.6,2.6,2.2,5.8,share=0.06"
    one = silero(tmp_path, FakeSession()).signature
    (tmp_path / "vad.onnx").write_bytes(b"others")
    assert Silero(tmp_path / "vad.onnx").signature != one
    with pytest.raises(UsageError, match="file does not exist"):
        _ = Silero(tmp_path / "none.onnx").signature


# --- Segments ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GivenProbabilities:
    """A detector that returns given probabilities, whatever it reads."""

    probabilities: tuple[float, ...]
    step_samples: int = 1600
    name: str = "given"

    def stream_probabilities(self, pieces: Iterable[Floats]) -> Iterator[Floats]:
        for _ in pieces:
            pass
        yield single(self.probabilities)


def segments_of(tmp_path: Path, *probabilities: float, **rules: float) -> list[SpeechSegment]:
    """Segments of audio with frames of 0.1 s; nothing is left out or added if not told."""
    path = write(tmp_path / "a.wav", np.zeros((1600 * len(probabilities), 1), np.float32), RATE)
    usual = {"min_speech": 0.0, "min_silence": 0.0, "pad": 0.0}
    return find_speech(path, detector=GivenProbabilities(probabilities), **{**usual, **rules})


def test_speech_ends_below_a_lower_threshold_than_it_starts(tmp_path: Path) -> None:
    found = segments_of(tmp_path, 0.4, 0.5, 0.4, 0.36, 0.34, 0.4, 0.9, 0.1)
    assert found == [(0.1, 0.4), (0.6, 0.7)]
    assert segments_of(tmp_path, 0.4, 0.5, 0.34, 0.1, threshold=0.3) == [(0.0, 0.3)]
    assert segments_of(tmp_path, 0.2, 0.02, 0.2, 0.005, threshold=0.1) == [(0.0, 0.3)]  # from 0.01


def test_short_silence_does_not_end_a_segment(tmp_path: Path) -> None:
    probabilities = (0.9, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1)
    found = segments_of(tmp_path, *probabilities, min_silence=0.2)
    assert found == [(0.0, 0.4), (0.7, 0.8)]  # a silence is 0.2 s long at its third frame
    between = (0.9, 0.1, 0.4, 0.1, 0.9, 0.1)  # neither speech nor silence in the middle
    assert segments_of(tmp_path, *between, min_silence=0.2) == [(0.0, 0.1), (0.4, 0.6)]
    assert segments_of(tmp_path, 0.9, 0.1, 0.4, 0.4, 0.4, min_silence=0.2) == [(0.0, 0.5)]


def test_short_segments_are_left_out(tmp_path: Path) -> None:
    probabilities = (0.9, 0.9, 0.1, 0.9, 0.9, 0.9, 0.1, 0.9, 0.9)
    assert segments_of(tmp_path, *probabilities, min_speech=0.2) == [(0.3, 0.6)]
    assert segments_of(tmp_path, *probabilities, min_speech=0.19) == [
        (0, 0.2),
        (0.3, 0.6),
        (0.7, 0.9),
    ]


def test_padding_stays_within_the_audio_and_shares_short_pauses(tmp_path: Path) -> None:
    probabilities = (0.9, 0.1, 0.9, 0.1, 0.1, 0.1, 0.9, 0.1)
    found = segments_of(tmp_path, *probabilities, pad=0.08)
    assert found == [(0.0, 0.15), (0.15, 0.38), (0.52, 0.78)]
    assert segments_of(tmp_path, *probabilities, pad=0.5) == [(0, 0.15), (0.15, 0.45), (0.45, 0.8)]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"threshold": 0.0}, "threshold must be above 0 and at most 1, got 0"),
        ({"threshold": 1.5}, "threshold must be above 0 and at most 1, got 1.5"),
        ({"min_speech": -1.0}, "min_speech must be 0 s or more, got -1"),
        ({"pad": math.nan}, "pad must be 0 s or more, got nan"),
    ],
)
def test_impossible_rules_are_refused(
    tmp_path: Path, rules: dict[str, float], message: str
) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        segments_of(tmp_path, 0.5, **rules)


@pytest.mark.parametrize("sizes", [[0], [100], [100, 412, 1], [511, 1, 512, 3], [3000], [1] * 600])
def test_frames_of_pieces_are_those_of_the_whole(sizes: list[int]) -> None:
    sound = noise(1)[: sum(sizes)]
    pieces = np.split(sound, np.cumsum(sizes)[:-1])
    frames = np.concatenate(list(cut_frames(pieces, 512, 64)))
    assert len(frames) == max(1, math.ceil(len(sound) / 512))
    assert np.array_equal(frames[:, 64:].ravel()[: len(sound)], sound)
    assert not frames[:, 64:].ravel()[len(sound) :].any()
    assert not frames[0, :64].any()
    assert np.array_equal(frames[1:, :64], frames[:-1, -64:])


@pytest.fixture(scope="module")
def speech() -> SpokenText:
    """The first chapter, about half a minute."""
    return speak_chapters(read_lecture()[:1])


def marked(spans: Iterable[tuple[float, float]], seconds: float) -> NDArray[np.bool_]:
    """Whether the middle of each frame of 10 ms is in one of the spans."""
    middles = np.arange(0.005, seconds, 0.01)
    return np.any([(middles >= start) & (middles < end) for start, end in spans], axis=0)


def noisy(speech: SpokenText, ratio: float) -> Floats:
    """Speech in white noise at a ratio in dB, as a column."""
    samples = speech.samples / 32768
    level = np.sqrt(np.mean(samples**2)) * 10 ** (-ratio / 20)
    return single(samples + np.random.default_rng(1).normal(0, level, len(samples)))[:, None]


def share_of_right_frames(path: Path, speech: SpokenText, detector: str | None) -> float:
    found = marked(find_speech(path, detector=detector), speech.seconds)
    true = marked([(word.start, word.end) for word in speech.words], speech.seconds)
    return float(np.mean(found == true))


@pytest.mark.parametrize(
    ("detector", "ratio", "least"),
    [(None, math.inf, 0.94), (None, 10, 0.93), ("webrtc", math.inf, 0.91), ("webrtc", 30, 0.93)],
)
def test_segments_are_where_words_are(
    tmp_path: Path, speech: SpokenText, detector: str | None, ratio: float, least: float
) -> None:
    path = write(tmp_path / "a.wav", noisy(speech, ratio), speech.rate)
    assert share_of_right_frames(path, speech, detector) >= least


def test_segments_do_not_depend_on_pieces(tmp_path: Path, speech: SpokenText) -> None:
    """The file is read in pieces of ten seconds; frames cross their borders."""
    path = write(tmp_path / "a.wav", noisy(speech, 20), speech.rate)
    silero_file = find_silero_file()
    assert silero_file is not None
    given: list[int] = []

    @dataclass(frozen=True)
    class AtOnce(Silero):
        def stream_probabilities(self, pieces: Iterable[Floats]) -> Iterator[Floats]:
            parts = list(pieces)
            given.extend(map(len, parts))
            yield from super().stream_probabilities([np.concatenate(parts)])

    assert find_speech(path) == find_speech(path, detector=AtOnce(silero_file))
    assert len(given) > 2
    assert any(size % 512 for size in given[:-1])


def test_segments_do_not_depend_on_rate_and_channels(tmp_path: Path, speech: SpokenText) -> None:
    loud = noisy(speech, math.inf)
    usual = find_speech(write(tmp_path / "a.wav", loud, RATE))
    stereo = np.repeat(np.repeat(loud, 3, axis=0), 2, axis=1)  # 48 kHz, with images above 8 kHz
    found = find_speech(write(tmp_path / "b.flac", stereo, 48_000))
    same = marked(found, speech.seconds) == marked(usual, speech.seconds)
    assert same.mean() > 0.99


def test_audio_without_speech_has_no_segments(tmp_path: Path) -> None:
    silent = write(tmp_path / "silent.wav", np.zeros((RATE, 1), np.float32), RATE)
    hiss = write(tmp_path / "hiss.wav", 0.1 * noise(3)[:, None], RATE)
    for detector in (None, "webrtc"):
        assert find_speech(silent, detector=detector) == []
    assert find_speech(hiss) == []


def test_empty_and_unreadable_files_are_named(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.wav", np.zeros((0, 1), np.float32), RATE)
    text = tmp_path / "text.wav"
    text.write_text("not audio")
    with pytest.raises(UsageError, match=r"empty\.wav: is empty"):
        find_speech(empty)
    with pytest.raises(UsageError, match=r"text\.wav: cannot be read"):
        find_speech(text)
    with pytest.raises(UsageError, match=r"none\.wav: cannot be read"):
        find_speech(tmp_path / "none.wav")


def test_progress_of_segments_is_in_seconds(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", np.zeros((12 * RATE, 1), np.float32), RATE)
    reports: list[tuple[int, int | None]] = []
    find_speech(
        path, detector="webrtc", progress=lambda done, total, _: reports.append((done, total))
    )
    assert reports[-1] == (12, 12)
    assert len(reports) > 1


@pytest.mark.parametrize("missing", ["", "silero_vad", "onnxruntime"])
def test_webrtc_is_used_where_silero_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    known = find_spec
    monkeypatch.setattr(vad, "find_spec", lambda name: None if name == missing else known(name))
    detector = find_frame_detector()
    assert isinstance(detector, WebRtcDetector) == bool(missing)


def test_without_any_detector_both_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vad, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"extra speech.*extra silero.*\[speech\]"):
        find_frame_detector()
    with pytest.raises(MissingExtra, match=r"WebRTC detector needs pocketsphinx.*\[speech\]"):
        list(WebRtcDetector().stream_probabilities([noise(1)]))


def test_segment_detectors_are_found_by_name_or_file(tmp_path: Path) -> None:
    assert find_frame_detector("webrtc") == WebRtcDetector()
    assert find_frame_detector(str(tmp_path / "a.onnx")) == Silero(tmp_path / "a.onnx")
    with pytest.raises(UsageError, match='unknown detector of speech segments "cues" — use webrtc'):
        find_frame_detector("cues")
    with pytest.raises(UsageError, match="must be 0 to 3, got 4"):
        WebRtcDetector(4)
