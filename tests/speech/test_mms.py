"""The aligner mms_fa: chunks, romanization, languages, weights, and words at their true times."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from earwitness.errors import EarwitnessWarning, MissingExtra, UsageError
from earwitness.speech import mms
from earwitness.speech.ctc import AlignmentFailure
from earwitness.speech.mms import (
    LETTERS,
    MmsAligner,
    find_language_code,
    load_mms,
    load_uroman,
    measure_chunks,
)
from helpers.recorder_files import recorded, write

Floats = NDArray[np.float32]
RATE = 16_000
STEP, SPAN = 320, 400


# --- A recording whose letters can be heard ------------------------------------------------------
# Each letter is a tone of its own frequency for one frame; the model below recognizes it.


def tone(letter: str) -> float:
    """The frequency of a letter, a whole number of periods per frame."""
    return 200.0 + 100.0 * LETTERS.index(letter)


def speak(words: Sequence[str], gap: int = 4, start: int = 30) -> tuple[Floats, list[float]]:
    """Audio of words, with one tone of 20 ms per letter, and the time of each word in seconds."""
    frame, places, times = start, [], []
    for word in words:
        times.append(frame * STEP / RATE)
        for letter in word:
            places.append((frame, letter))
            frame += gap
        frame += gap
    audio = np.zeros((frame + 30) * STEP, np.float32)
    for place, letter in places:
        phases = 2 * np.pi * tone(letter) / RATE * np.arange(STEP)
        audio[place * STEP : (place + 1) * STEP] = 0.5 * np.sin(phases)
    return audio, times


def hear(samples: Floats) -> Floats:
    """A model of such recordings, with the frames of MMS_FA."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, SPAN)[::STEP, :STEP]
    waves = np.exp(-2j * np.pi * np.outer(np.arange(STEP), [tone(one) for one in LETTERS]) / RATE)
    logits = 60 * np.abs(frames @ waves) / STEP
    logits[:, 0] = 6
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), np.float32)


def romanize(text: str, language: str) -> str:
    """Two words as uroman has them, of which one depends on the language."""
    words = {("привет", "rus"): "privet", ("привет", "ukr"): "pryvet", ("Straße", "deu"): "Strasse"}
    return words[text, language]


def aligner(**fields: Any) -> MmsAligner:
    return MmsAligner(open_model=lambda _: hear, open_romanizer=lambda: romanize, **fields)


TEXT = "every recording has a beginning but words between were said only once".split()  # noqa: SIM905


# --- Alignment -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "channels"), [(16_000, 1), (48_000, 2)])
def test_words_are_where_they_were_said(tmp_path: Path, rate: int, channels: int) -> None:
    audio, times = speak(TEXT)
    columns = np.repeat(np.repeat(audio, rate // RATE)[:, None], channels, axis=1)
    path = write(tmp_path / "a.wav", columns, rate)
    found = aligner().align(path, TEXT, "eng")
    np.testing.assert_allclose([one.start for one in found], times, atol=0.021)
    ends = np.array(times) + [(4 * len(word) - 3) * 0.02 for word in TEXT]
    np.testing.assert_allclose([one.end for one in found], ends, atol=0.021)
    assert min(one.confidence for one in found) > 0.5


def test_a_recording_of_minutes_is_aligned_over_all_chunks(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice([*LETTERS[1:]], int(n))) for n in rng.integers(2, 9, 250)]
    audio, times = speak(words, gap=6)
    path = write(tmp_path / "a.flac", audio[:, None], RATE)
    seconds: list[tuple[int, int | None]] = []
    found = aligner().align(
        path, words, "eng", progress=lambda done, total, _: seconds.append((done, total))
    )
    assert len(audio) / RATE > 120
    np.testing.assert_allclose([one.start for one in found], times, atol=0.021)
    total = round(len(audio) / RATE)
    assert seconds[-1] == (total, total)
    assert len(seconds) > 10


def test_numbers_and_signs_get_the_time_between_their_neighbours(tmp_path: Path) -> None:
    audio, times = speak(["in", "we", "met"])
    path = write(tmp_path / "a.wav", audio[:, None], RATE)
    found = aligner().align(path, ["In", "1984,", "—", "we", "met!"], "eng")
    assert found[0].start == pytest.approx(times[0], abs=0.021)
    assert found[0].end == found[1].start
    assert found[1].end == found[2].start
    assert found[2].end == found[3].start == pytest.approx(times[1], abs=0.021)
    assert found[1].confidence == found[2].confidence == 0


def test_the_language_selects_the_romanization(tmp_path: Path) -> None:
    audio, times = speak(["oni", "pryvet", "ona"])
    path = write(tmp_path / "a.wav", audio[:, None], RATE)
    words = ["oni", "привет", "ona"]
    ukrainian, russian = (aligner().align(path, words, one)[1] for one in ("ukr", "rus"))
    assert ukrainian.start == pytest.approx(times[1], abs=0.021)
    assert ukrainian.confidence > 0.5 > russian.confidence


def test_words_are_spelled_by_the_letters_of_the_model() -> None:
    spelled = aligner().spell(["Don’t", "Straße", "x-ray", "42", "..."], "deu")
    assert ["".join(LETTERS[label] for label in word) for word in spelled] == [
        "don't",
        "strasse",
        "xray",
        "",
        "",
    ]


def test_latin_text_does_not_load_uroman() -> None:
    def refuse() -> Any:
        raise AssertionError("uroman was loaded")

    MmsAligner(open_romanizer=refuse).spell(["It’s", "—", "plain"], "eng")
    with pytest.raises(AssertionError):
        MmsAligner(open_romanizer=refuse).spell(["привет"], "rus")


def test_damage_is_reported_and_the_rest_is_aligned(tmp_path: Path) -> None:
    audio, times = speak(TEXT * 4, gap=6)
    path = write(tmp_path / "a.flac", audio[:, None] + 1e-3, RATE)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 2000] = bytes(2000)
    path.write_bytes(data)
    with pytest.warns(EarwitnessWarning, match="a.flac: at 00:00.*: cannot be read") as caught:
        found = aligner().align(path, TEXT * 4, "eng")
    assert len(caught) == 1
    damaged_at = len(audio) / RATE / 2
    far = [n for n, time in enumerate(times) if abs(time - damaged_at) > 12]
    assert len(far) > 10
    np.testing.assert_allclose([found[n].start for n in far], [times[n] for n in far], atol=0.021)


# --- Failures ------------------------------------------------------------------------------------


def test_audio_that_cannot_be_aligned_is_refused_with_its_reason(tmp_path: Path) -> None:
    silent = write(tmp_path / "silent.wav", np.zeros((RATE * 3, 1), np.float32), RATE)
    with pytest.raises(AlignmentFailure, match=r"silent\.wav: the recording is silent"):
        aligner().align(silent, TEXT, "eng")
    empty = write(tmp_path / "empty.wav", np.zeros((0, 1), np.float32), RATE)
    with pytest.raises(AlignmentFailure, match=r"empty\.wav: there is no audio"):
        aligner().align(empty, TEXT, "eng")
    (tmp_path / "bad.wav").write_bytes(b"no audio")
    with pytest.raises(AlignmentFailure, match=r"bad\.wav: cannot be read"):
        aligner().align(tmp_path / "bad.wav", TEXT, "eng")
    with pytest.raises(AlignmentFailure, match=r"missing\.wav: cannot be read"):
        aligner().align(tmp_path / "missing.wav", TEXT, "eng")
    short = recorded(tmp_path / "short.wav", 0.5, RATE)
    with pytest.raises(AlignmentFailure, match=r"short\.wav: the audio is too short for the tran"):
        aligner().align(short, TEXT, "eng")


def test_another_transcript_is_refused(tmp_path: Path) -> None:
    audio, _ = speak(TEXT)
    path = write(tmp_path / "a.wav", audio[:, None], RATE)
    other = ["quick", "brown", "foxes", "jump", "over", "lazy", "dogs", "while", "nobody", "pays"]
    with pytest.raises(AlignmentFailure, match=r"a\.wav: the transcript does not match the audio"):
        aligner().align(path, other, "eng")


def test_a_transcript_without_letters_is_refused_before_the_model_is_loaded() -> None:
    def refuse(_: Path | None) -> Any:
        raise AssertionError("the model was loaded")

    one = MmsAligner(open_model=refuse)
    with pytest.raises(AlignmentFailure, match="there are no words"):
        one.align(Path("a.wav"), [], "eng")
    with pytest.raises(AlignmentFailure, match="no word has letters"):
        one.align(Path("a.wav"), ["1", "2"], "eng")
    with pytest.raises(UsageError, match='"ger" is not a language of ISO 639-3 — use "deu"'):
        one.align(Path("a.wav"), TEXT, "ger")


# --- Languages -----------------------------------------------------------------------------------


def test_languages_are_codes_of_iso_639_3() -> None:
    for code in ("eng", "deu", "zho", "cmn", "abi", "ukr"):
        assert find_language_code(code) == code
    assert find_language_code("de") == "deu"


@pytest.mark.parametrize(
    ("language", "remedy"),
    [
        ("ger", 'use "deu"'),
        ("en-US", 'use "eng"'),
        ("eng_Latn", 'use "eng"'),
        ("ENG", 'use "eng"'),
        ("english", "did you mean eng"),
        ("", "use a code such as en, eng"),
        ("und", "did you mean "),
        ("xqz", "did you mean "),
    ],
)
def test_other_codes_are_refused_with_a_remedy(language: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=f'"{language}" is not a language of ISO 639-3 — {remedy}'):
        find_language_code(language)


# --- Chunks --------------------------------------------------------------------------------------


def convolve(samples: Floats) -> Floats:
    """A model with the frames of MMS_FA, each of which depends on 1.5 s on both sides."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, SPAN)[::STEP]
    levels = np.abs(frames).mean(axis=1)
    kernel = np.random.default_rng(0).normal(size=151)
    context = np.convolve(levels, kernel, mode="full")[75:-75]
    return np.stack([levels, context], axis=1).astype(np.float32)


@pytest.mark.parametrize("samples", [399, 400, 719, 720, 480_000, 512_000, 512_400, 1_700_123])
def test_chunks_equal_one_pass(samples: int) -> None:
    rng = np.random.default_rng(samples)
    audio = rng.normal(size=samples).astype(np.float32)
    pieces = np.split(audio, np.sort(rng.integers(0, samples, 12)))
    sizes: list[int] = []

    def measure(part: Floats) -> Floats:
        sizes.append(len(part))
        return convolve(part)

    found = [*measure_chunks(pieces, measure), np.zeros((0, 2), np.float32)]
    whole = convolve(audio) if samples >= SPAN else np.zeros((0, 2), np.float32)
    np.testing.assert_allclose(np.concatenate(found), whole, atol=2e-5)
    assert max(sizes, default=0) <= 34 * RATE + SPAN


# --- Loading -------------------------------------------------------------------------------------


def tiny_model() -> Any:
    """A model with the frames and labels of MMS_FA."""
    torch.manual_seed(1)
    return torch.nn.Conv1d(1, len(LETTERS), SPAN, STEP)


class TinyBundle:
    """A pipeline like torchaudio's, with a model of one convolution."""

    def get_model(self, *, with_star: bool, dl_kwargs: dict[str, Any]) -> Any:
        assert not with_star
        state = torch.hub.load_state_dict_from_url("https://invalid/model.pt", **dl_kwargs)
        convolution = tiny_model()
        convolution.load_state_dict(state)

        class Model(torch.nn.Module):  # type: ignore[misc]
            def forward(self, waves: Any) -> tuple[Any, None]:
                return convolution(waves[:, None]).transpose(1, 2).log_softmax(-1), None

        return Model()


@pytest.fixture
def tiny_torchaudio(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Installs a torchaudio whose model is tiny; returns its folder of downloads."""
    module = ModuleType("torchaudio")
    module.__spec__ = ModuleSpec("torchaudio", None)
    module.__dict__["pipelines"] = SimpleNamespace(MMS_FA=TinyBundle())
    monkeypatch.setitem(sys.modules, "torchaudio", module)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    monkeypatch.delenv("EARWITNESS_MMS", raising=False)
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    return tmp_path / "hub" / "checkpoints"


@pytest.mark.parametrize("how", ["downloads", "variable", "argument"])
def test_weights_are_loaded_from_where_the_user_has_them(
    tiny_torchaudio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    path = tiny_torchaudio / "model.pt" if how == "downloads" else tmp_path / "mine.pt"
    torch.save(tiny_model().state_dict(), path)
    if how == "variable":
        monkeypatch.setenv("EARWITNESS_MMS", str(path))
    emissions = load_mms(path if how == "argument" else None)
    log_probs = emissions(np.random.default_rng(1).normal(size=RATE).astype(np.float32))
    assert log_probs.shape == (49, 28)
    np.testing.assert_allclose(np.exp(log_probs).sum(axis=1), 1, atol=1e-5)


def test_missing_weights_are_named_with_where_to_get_them(tiny_torchaudio: Path) -> None:
    wanted = re.escape(f"{tiny_torchaudio / 'model.pt'}: file does not exist — download")
    with pytest.raises(UsageError, match=f"{wanted}.* https://.*/model.pt, and save"):
        load_mms()
    with pytest.raises(UsageError, match=r"^other\.pt: file does not exist"):
        load_mms(Path("other.pt"))


def test_other_weights_are_refused(tiny_torchaudio: Path) -> None:
    path = tiny_torchaudio / "model.pt"
    path.write_bytes(b"no model")
    with pytest.raises(UsageError, match=r"model\.pt: does not contain the weights of mms_fa"):
        load_mms()
    torch.save({"weight": torch.zeros(3)}, path)
    with pytest.raises(UsageError, match=r"model\.pt: does not contain the weights .*Error.* — "):
        load_mms()


def test_missing_libraries_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mms, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"mms_fa needs torchaudio.*\[mms\]"):
        load_mms()
    with pytest.raises(MissingExtra, match=r"needs uroman.*\[mms\]"):
        load_uroman()


def test_a_torchaudio_that_does_not_match_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> Any:
        raise OSError("libc10_cuda.so: cannot open shared object file")

    monkeypatch.setattr(mms, "find_spec", lambda _: True)
    monkeypatch.setattr(mms, "import_module", refuse)
    with pytest.raises(UsageError, match=r"torchaudio cannot be loaded: libc10_cuda.* — install"):
        load_mms()


def test_uroman_gets_text_and_language(monkeypatch: pytest.MonkeyPatch) -> None:
    class Uroman:
        def romanize_string(self, text: str, lcode: str) -> str:
            return f"{text} in {lcode}"

    module = ModuleType("uroman")
    module.__spec__ = ModuleSpec("uroman", None)
    module.__dict__["Uroman"] = Uroman
    monkeypatch.setitem(sys.modules, "uroman", module)
    assert load_uroman()("мир", "rus") == "мир in rus"
