"""Recognition: windows, files of all kinds, resumed runs, and every recognizer behind the seam."""

from __future__ import annotations

import json
import pickle
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.audio.signal import resample
from earwitness.engines.local import processes
from earwitness.errors import UsageError
from earwitness.models.cache import Cache
from earwitness.speech import recognize
from earwitness.speech.pronunciation import pronounce, spoken_words
from earwitness.speech.recognize import (
    MAX_WINDOW_SECONDS,
    MIN_WINDOW_SECONDS,
    SPEECH_RATE,
    HeardWord,
    PocketsphinxRecognizer,
    TransformersRecognizer,
    WhisperRecognizer,
    WindowHypothesis,
    find_quiet_moment,
    find_recognizer,
    iterate_windows,
    recognize_windows,
    transcribe,
)
from earwitness.text.ngrams import estimate_model, write_arpa
from helpers.flite import SpokenText, read_lecture, speak_chapters
from helpers.recorder_files import encode_aac, write

Floats = NDArray[np.float32]
SENTENCE = "Far away a dog barks at a passing car."


def hiss(seconds: float, seed: int = 0) -> Floats:
    """Noise at 16 kHz, as a column."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.1, (round(seconds * SPEECH_RATE), 1)).astype(np.float32)


def column(speech: SpokenText) -> Floats:
    return (speech.samples / 32768).astype(np.float32)[:, None]


# --- Windows -------------------------------------------------------------------------------------


def test_windows_join_to_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", sound := hiss(95), SPEECH_RATE)
    windows = list(iterate_windows(path))
    ends = np.cumsum([len(window.samples) for window in windows])
    assert [window.first for window in windows] == [0, *ends[:-1]]
    assert [window.start for window in windows] == [window.first / 16_000 for window in windows]
    assert all(window.seconds <= MAX_WINDOW_SECONDS for window in windows)
    assert all(window.seconds >= MIN_WINDOW_SECONDS for window in windows[:-1])
    joined = np.concatenate([window.samples for window in windows])
    np.testing.assert_allclose(joined, sound[:, 0], atol=1 / 2**15)


@pytest.mark.parametrize("pause", [9.0, 17.3, 29.0])
def test_a_window_ends_in_a_pause(pause: float) -> None:
    sound = hiss(30)[:, 0]
    sound[round((pause - 0.2) * SPEECH_RATE) : round((pause + 0.2) * SPEECH_RATE)] *= 0.01
    assert find_quiet_moment(sound) / SPEECH_RATE == pytest.approx(pause, abs=0.06)


def test_pauses_at_the_start_of_a_window_do_not_end_it() -> None:
    sound = hiss(30)[:, 0]
    sound[: 7 * SPEECH_RATE] = 0
    assert find_quiet_moment(sound) >= MIN_WINDOW_SECONDS * SPEECH_RATE
    assert find_quiet_moment(0 * sound) / SPEECH_RATE > 29  # of equal moments, the last


# --- Files that cannot be transcribed ------------------------------------------------------------


@dataclass
class CountingRecognizer:
    """Says where it was called; can be interrupted at a call."""

    interrupted_at: int = 0
    calls: list[int] = field(default_factory=list)
    name: str = "counting"
    signature: str = "counting=1"

    def recognize(self, samples: Floats) -> WindowHypothesis:
        if len(self.calls) + 1 == self.interrupted_at:
            raise KeyboardInterrupt
        self.calls.append(len(samples))
        return WindowHypothesis((HeardWord("word", 0.5, 1.0, 0.75),), ("word", "other"))


@pytest.mark.parametrize(("seconds", "what"), [(0.0, "is empty"), (1.0, "is silent")])
def test_files_without_sound_are_named(tmp_path: Path, seconds: float, what: str) -> None:
    path = write(tmp_path / "a.wav", 0 * hiss(seconds), SPEECH_RATE)
    recognizer = CountingRecognizer()
    with pytest.raises(UsageError, match=rf"a\.wav: {what}"):
        transcribe(path, recognizer=recognizer, cache=tmp_path / "cache")
    assert recognizer.calls == []


def test_a_file_of_no_bytes_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.wav").touch()
    with pytest.raises(UsageError, match=r"a\.wav: is empty$"):
        transcribe(tmp_path / "a.wav", recognizer=CountingRecognizer(), cache=tmp_path / "cache")


@pytest.mark.parametrize("name", ["a.wav", "a.mp3", "a.txt", "none.wav", "folder"])
def test_files_that_are_not_audio_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    for one in ("a.wav", "a.mp3", "a.txt"):
        (tmp_path / one).write_text("This is text, not audio.")
    with pytest.raises(UsageError, match=rf"{name}: cannot be read"):
        transcribe(tmp_path / name, recognizer=CountingRecognizer(), cache=tmp_path / "cache")


def test_audio_without_words_has_a_note(tmp_path: Path) -> None:
    @dataclass
    class Deaf(CountingRecognizer):
        def recognize(self, _: Floats) -> WindowHypothesis:
            return WindowHypothesis()

    path = write(tmp_path / "a.wav", hiss(1), SPEECH_RATE)
    found = transcribe(path, recognizer=Deaf(), cache=tmp_path / "cache")
    assert found.transcript.segments == ()
    assert found.transcript.duration == 1.0
    assert found.notes == (f"{path}: no words were recognized",)


# --- Finished windows ----------------------------------------------------------------------------


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """Noise of four windows, cut at pauses."""
    sound = hiss(100)
    for pause in (25, 50, 75):
        sound[pause * SPEECH_RATE : pause * SPEECH_RATE + 8000] = 0
    return write(tmp_path / "long.wav", sound, SPEECH_RATE)


def test_words_have_times_in_the_file(tmp_path: Path, long_file: Path) -> None:
    reports: list[tuple[int, int | None, int]] = []
    windows = recognize_windows(
        long_file,
        CountingRecognizer(),
        Cache(tmp_path / "cache"),
        progress=lambda *report: reports.append(report),
    )
    assert len(windows) == 4
    starts = [window.start for window in windows]
    assert starts == pytest.approx([0, 25.25, 50.25, 75.25], abs=0.11)
    assert [window.end for window in windows] == [*starts[1:], 100]
    assert [w.words[0].start - w.start for w in windows] == pytest.approx([0.5] * 4, abs=1e-3)
    assert [w.words[0].confidence for w in windows] == [0.75] * 4
    assert reports[-1] == (100, 100, 4)


def test_a_second_run_takes_windows_from_the_cache(tmp_path: Path, long_file: Path) -> None:
    cache = Cache(tmp_path / "cache")
    first = recognize_windows(long_file, CountingRecognizer(), cache)
    again = CountingRecognizer()
    assert recognize_windows(long_file, again, cache) == first
    assert again.calls == []
    other = CountingRecognizer(signature="counting=2")
    assert recognize_windows(long_file, other, cache) == first
    assert len(other.calls) == 4


def test_an_interrupted_run_is_resumed(tmp_path: Path, long_file: Path) -> None:
    cache = Cache(tmp_path / "cache")
    interrupted = CountingRecognizer(interrupted_at=3)
    with pytest.raises(KeyboardInterrupt):
        recognize_windows(long_file, interrupted, cache)
    rest = CountingRecognizer()
    found = recognize_windows(long_file, rest, cache)
    assert len(interrupted.calls) == len(rest.calls) == 2
    assert found == recognize_windows(long_file, CountingRecognizer(), Cache(tmp_path / "other"))


@pytest.mark.parametrize("damage", ["truncated", "no entry"])
def test_a_damaged_line_of_the_journal_is_ignored(
    tmp_path: Path, long_file: Path, damage: str
) -> None:
    cache = Cache(tmp_path / "cache")
    first = recognize_windows(long_file, CountingRecognizer(), cache)
    (journal,) = (cache.folder / "speech").iterdir()
    lines = journal.read_text().split("\n")
    lines[-1] = lines[-1][:30] if damage == "truncated" else "[]"
    journal.write_text("\n".join(lines))
    for calls in (1, 0):  # the second run finds the line that the first one added
        again = CountingRecognizer()
        assert recognize_windows(long_file, again, cache) == first
        assert len(again.calls) == calls


# --- pocketsphinx --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def speech() -> SpokenText:
    return speak_chapters([[SENTENCE]])


@pytest.fixture(scope="module")
def recognized(
    speech: SpokenText, tmp_path_factory: pytest.TempPathFactory
) -> recognize.Transcription:
    """What pocketsphinx recognizes with its own model."""
    folder = tmp_path_factory.mktemp("recognized")
    path = write(folder / "dog.wav", column(speech), speech.rate)
    return transcribe(path, n_best=4, cache=folder / "cache")


def test_pocketsphinx_recognizes_words_with_times(
    speech: SpokenText, recognized: recognize.Transcription
) -> None:
    words = recognized.transcript.words
    assert {"away", "passing", "car"} <= {word.word for word in words}
    (car,) = [word for word in words if word.word == "car"]
    assert (car.start, car.end) == pytest.approx(speech.words[-1][1:], abs=0.1)
    assert all(word.confidence is not None and 0 <= word.confidence <= 1 for word in words)
    assert all(word.start < word.end for word in words)
    assert recognized.transcript.recording == "dog"
    assert recognized.transcript.duration == pytest.approx(speech.seconds, abs=1e-3)
    assert recognized.notes == ()


def test_n_best_has_several_texts(recognized: recognize.Transcription) -> None:
    (window,) = recognized.windows
    assert 2 <= len(window.alternatives) <= 4
    assert len({*window.alternatives}) == len(window.alternatives)
    assert not any("<" in text for text in window.alternatives)
    assert window.alternatives[0] == " ".join(word.word for word in window.words)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PocketsphinxRecognizer:
    """A recognizer of the words of the first chapter, which is fast."""
    folder = tmp_path_factory.mktemp("small")
    sentences = [
        [spoken for word in sentence.split() for spoken in spoken_words(word)]
        for sentence in read_lecture()[0]
    ]
    words = sorted({word for sentence in sentences for word in sentence})
    (folder / "small.arpa").write_text("".join(write_arpa(estimate_model(sentences))))
    (folder / "small.dict").write_text("".join(f"{word} {pronounce(word)[0]}\n" for word in words))
    return PocketsphinxRecognizer(folder / "small.arpa", folder / "small.dict")


def words_of(path: Path, recognizer: PocketsphinxRecognizer) -> list[str]:
    found = transcribe(path, recognizer=recognizer, cache=path.parent / "cache")
    return [word.word for word in found.transcript.words]


@pytest.mark.parametrize("kind", ["8 kHz stereo.wav", "48 kHz.flac", "mp3.mp3", "aac.m4a"])
def test_any_audio_gives_the_same_words(
    tmp_path: Path, speech: SpokenText, small: PocketsphinxRecognizer, kind: str
) -> None:
    sound, path = column(speech), tmp_path / kind
    if kind.startswith("8"):
        write(path, np.repeat(resample(sound, 16_000, 8_000), 2, axis=1), 8_000)
    elif kind.startswith("48"):
        write(path, resample(sound, 16_000, 48_000), 48_000)
    elif path.suffix == ".mp3":
        write(path, sound, 16_000)
    else:
        encode_aac(path, sound, 16_000)
    want = [word for token in SENTENCE.split() for word in spoken_words(token)]
    found = words_of(path, small)
    assert len([word for word in found if word in want]) >= len(want) - 1
    assert len(found) <= len(want) + 1


def test_worker_processes_recognize_the_same(
    tmp_path: Path, speech: SpokenText, small: PocketsphinxRecognizer
) -> None:
    sound = column(speech)
    pause = np.zeros((26 * SPEECH_RATE, 1), np.float32)
    path = write(tmp_path / "a.wav", np.concatenate([sound, pause, sound]), SPEECH_RATE)
    one = recognize_windows(path, small, Cache(tmp_path / "one"))
    two = recognize_windows(path, small, Cache(tmp_path / "two"), processes(2))
    assert one == two
    assert [bool(window.words) for window in one] == [True, True]


def test_a_window_does_not_depend_on_windows_before_it(
    speech: SpokenText, small: PocketsphinxRecognizer
) -> None:
    """The decoder keeps an estimate of the noise unless it is told not to."""
    sound = column(speech)[:, 0]
    first = pickle.loads(pickle.dumps(small)).recognize(sound)
    small.recognize(np.concatenate([np.zeros(40_000, np.float32), 0.3 * sound[:30_000]]))
    assert small.recognize(sound) == first


def test_signatures_of_pocketsphinx_name_what_affects_results(tmp_path: Path) -> None:
    model = tmp_path / "model.lm.bin"
    signatures = {PocketsphinxRecognizer().signature}
    for content in (b"\xff\x00binary", b"other"):
        model.write_bytes(content)
        signatures.add(PocketsphinxRecognizer(model).signature)
    signatures.add(PocketsphinxRecognizer(n_best=3).signature)
    signatures.add(PocketsphinxRecognizer(rescores=False).signature)
    assert len(signatures) == 5
    with pytest.raises(UsageError, match=r"none\.lm: cannot be read"):
        _ = PocketsphinxRecognizer(tmp_path / "none.lm").signature


# --- Recognizers of the user ---------------------------------------------------------------------


def test_recognizers_are_found_by_name_or_folder(tmp_path: Path) -> None:
    assert find_recognizer(n_best=2) == PocketsphinxRecognizer(n_best=2)
    with pytest.raises(UsageError, match='recognizer "sphinx": is not a folder — use pocketsphinx'):
        find_recognizer("sphinx")
    with pytest.raises(UsageError, match=r"has no model\.bin or config\.json — use pocketsphinx"):
        find_recognizer(str(tmp_path))
    with pytest.raises(UsageError, match='English model only, not "de"'):
        find_recognizer(language="de")
    (tmp_path / "config.json").write_text("{}")
    assert find_recognizer(str(tmp_path), language="de") == TransformersRecognizer(tmp_path, "de")
    (tmp_path / "model.bin").write_bytes(b"")
    assert find_recognizer(str(tmp_path)) == WhisperRecognizer(tmp_path)


class FakeWhisper:
    """Returns words as faster-whisper does: with blanks before them."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}

    def transcribe(self, _: Floats, **options: Any) -> tuple[Iterator[Any], None]:
        self.options = options
        words = [
            SimpleNamespace(
                word=" Far", start=np.float64(0.1), end=np.float64(0.4), probability=0.9
            ),
            SimpleNamespace(word=" ", start=0.4, end=0.5, probability=0.1),
            SimpleNamespace(word=" away.", start=0.5, end=0.9, probability=0.8),
        ]
        segments = [SimpleNamespace(words=words), SimpleNamespace(words=None)]
        return iter(segments), None


def load_fake_whisper(_: Path) -> FakeWhisper:
    return FakeWhisper()


def test_whisper_words_have_probabilities(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"model")
    recognizer = WhisperRecognizer(tmp_path, "en", load=load_fake_whisper)
    found = recognizer.recognize(hiss(1)[:, 0])
    far, away = HeardWord("Far", 0.1, 0.4, 0.9), HeardWord("away.", 0.5, 0.9, 0.8)
    assert found == WindowHypothesis((far, away))
    assert recognizer._model.options == {"language": "en", "word_timestamps": True}
    json.dumps(found)  # as the journal does
    copy = pickle.loads(pickle.dumps(recognizer))
    assert copy == recognizer
    assert copy.recognize(hiss(1)[:, 0]) == found
    with pytest.raises(UsageError, match="n-best lists are not supported"):
        WhisperRecognizer(tmp_path, n_best=2, load=load_fake_whisper).recognize(hiss(1)[:, 0])


def test_whisper_detects_the_language_if_none_is_given(tmp_path: Path) -> None:
    recognizer = WhisperRecognizer(tmp_path, load=load_fake_whisper)
    recognizer.recognize(hiss(1)[:, 0])
    assert recognizer._model.options["language"] is None


def test_whisper_errors_name_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recognizer = pickle.loads(pickle.dumps(WhisperRecognizer(tmp_path)))
    monkeypatch.setattr(recognize, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="faster-whisper is not installed"):
        recognizer.recognize(hiss(1)[:, 0])

    def fail(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError("Unsupported model binary version")

    library = SimpleNamespace(WhisperModel=fail)
    monkeypatch.setattr(recognize, "_import_library", lambda *_: library)
    with pytest.raises(UsageError, match="is not a model of faster-whisper: Unsupported"):
        recognizer.recognize(hiss(1)[:, 0])


def test_signatures_of_models_change_with_their_files(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"model")
    before = WhisperRecognizer(tmp_path).signature
    assert before == WhisperRecognizer(tmp_path).signature
    assert before != WhisperRecognizer(tmp_path, "en").signature
    (tmp_path / "model.bin").write_bytes(b"larger model")
    assert before != WhisperRecognizer(tmp_path).signature


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wav2vec2 model with random weights."""
    torch: Any = import_module("torch")
    library: Any = import_module("transformers")
    folder = tmp_path_factory.mktemp("tiny")
    letters = ["<pad>", "<s>", "</s>", "<unk>", "|", *"abcdefghijklmnopqrstuvwxyz"]
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({letter: place for place, letter in enumerate(letters)}))
    library.Wav2Vec2CTCTokenizer(str(vocabulary)).save_pretrained(folder)
    library.Wav2Vec2FeatureExtractor().save_pretrained(folder)
    config = library.Wav2Vec2Config(
        vocab_size=len(letters),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        conv_dim=(8,) * 7,
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        pad_token_id=0,
    )
    torch.manual_seed(1)
    library.Wav2Vec2ForCTC(config).save_pretrained(folder)
    return folder


def test_transformers_models_are_loaded_from_their_folder(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    recognizer = find_recognizer(str(tiny_model))
    found = recognizer.recognize(hiss(2)[:, 0])
    assert found.words  # nonsense
    assert all(0 <= word.start <= word.end <= 2 for word in found.words)
    assert all(word.word == word.word.strip() != "" for word in found.words)
    json.dumps(found)
    assert pickle.loads(pickle.dumps(recognizer)) == recognizer


def test_options_that_a_ctc_model_lacks_are_refused(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="n-best lists are not supported"):
        find_recognizer(str(tiny_model), n_best=3).recognize(hiss(1)[:, 0])
    with pytest.raises(UsageError, match=r"\"en\" cannot be selected.* leave out the language"):
        find_recognizer(str(tiny_model), language="en").recognize(hiss(1)[:, 0])


def test_folders_that_are_no_models_are_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="is not a recognition model"):
        find_recognizer(str(tmp_path)).recognize(hiss(1)[:, 0])
