"""Speech recognition: windows of audio, recognizers behind one seam, and words with times.

Audio is read as a stream, converted to 16 kHz, and cut into windows of at most half a minute at the
quietest moment, so memory does not grow with the duration. Every window is recognized on its own:
windows can be distributed over processes, and the results of finished windows are kept in the
cache, so that an interrupted run can be resumed.
"""

from __future__ import annotations

import json
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import facts_of
from earwitness.audio.read import Break, ignore_break, stream_mono
from earwitness.audio.signal import to_int16
from earwitness.core import Jobs, Map, Progress, StrPath, no_progress
from earwitness.engines.local import choose_map, in_process
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.models.cache import Cache, find_cache, hash_file, hash_text
from earwitness.models.frames import sound_digest
from earwitness.speech import ENGLISH_CODES
from earwitness.speech.pronunciation import (
    DICTIONARY_FILE,
    LANGUAGE_MODEL_FILE,
    find_model_folder,
)
from earwitness.speech.vad import SpeechSegment, find_silero_file, find_speech
from earwitness.text.timed_transcripts import TimedSegment, TimedTranscript
from earwitness.text.times import format_clock
from earwitness.text.transcripts import TimedWord

Floats = NDArray[np.float32]
SPEECH_RATE = 16_000

# --- Windows -------------------------------------------------------------------------------------


MIN_WINDOW_SECONDS, MAX_WINDOW_SECONDS = 8.0, 30.0
LEVEL_STEP_SAMPLES = 160  # 10 ms
QUIET_STEPS = 30  # the quietest moment is the lowest mean power of 0.3 s
SILENCE_RMS = 10 ** (-70 / 20)  # windows below this level contain no speech


class AudioWindow(NamedTuple):
    """Consecutive samples at 16 kHz, and the place of the first one."""

    first: int
    samples: Floats

    @property
    def start(self) -> float:
        """Start in seconds."""
        return self.first / SPEECH_RATE

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return len(self.samples) / SPEECH_RATE


def iterate_windows(
    path: Path, broken: Callable[[Break], object] = ignore_break
) -> Iterator[AudioWindow]:
    """Yield the windows of an audio file, cut at quiet moments; damaged passages are silent."""
    pending, first = np.zeros(0, np.float32), 0
    longest = round(MAX_WINDOW_SECONDS * SPEECH_RATE)
    for samples in stream_mono(path, SPEECH_RATE, broken=broken):
        pending = np.concatenate([pending, samples])
        while len(pending) >= longest:
            cut = find_quiet_moment(pending[:longest])
            yield AudioWindow(first, pending[:cut])
            pending, first = pending[cut:], first + cut
    if len(pending):
        yield AudioWindow(first, pending)


def find_quiet_moment(samples: Floats) -> int:
    """Return the sample in the middle of the quietest moment after the shortest window."""
    steps = len(samples) // LEVEL_STEP_SAMPLES
    frames = samples[: steps * LEVEL_STEP_SAMPLES].reshape(steps, LEVEL_STEP_SAMPLES)
    sums = np.concatenate([[0.0], np.cumsum(np.square(frames, dtype=np.float64).sum(axis=1))])
    powers = sums[QUIET_STEPS:] - sums[:-QUIET_STEPS]
    begin = round(MIN_WINDOW_SECONDS * SPEECH_RATE) // LEVEL_STEP_SAMPLES
    # of equally quiet moments, the last
    quietest = len(powers) - 1 - int(np.argmin(powers[begin:][::-1]))
    return (quietest + QUIET_STEPS // 2) * LEVEL_STEP_SAMPLES


def is_silent(samples: Floats) -> bool:
    """Whether audio is below the level of speech."""
    return not len(samples) or float(np.sqrt(np.mean(np.square(samples)))) < SILENCE_RMS


# --- Recognizers ---------------------------------------------------------------------------------


class HeardWord(NamedTuple):
    """A word, its times in seconds from the start of the window, and its posterior probability."""

    word: str
    start: float
    end: float
    confidence: float | None = None


class WindowHypothesis(NamedTuple):
    """Words of a window, and the texts of its best hypotheses, if they were requested."""

    words: tuple[HeardWord, ...] = ()
    alternatives: tuple[str, ...] = ()


class Recognizer(Protocol):
    """Recognizes the words of a window of audio (one channel, 16 kHz).

    Implementations are sent to worker processes, so their models are loaded when first used.
    ``signature`` identifies everything that affects the result.
    """

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str: ...

    def recognize(self, samples: Floats) -> WindowHypothesis: ...


class ModelHolder:
    """Base class of what opens a model when it is needed, and again in every process."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}


@dataclass(frozen=True)
class PocketsphinxRecognizer(ModelHolder):
    """The recognizer of the package pocketsphinx, with its English model.

    ``language_model`` and ``dictionary`` are files; by default those of the package. Without
    ``rescores``, the second pass over the words that the first one found is left out.
    """

    language_model: Path | None = None
    dictionary: Path | None = None
    n_best: int = 0
    rescores: bool = True
    name: str = field(default="pocketsphinx", init=False)

    @cached_property
    def signature(self) -> str:
        """Version, settings, and the contents of the user's files."""
        files = "+".join(_hash_file(path) for path in (self.language_model, self.dictionary))
        settings = f"n_best={self.n_best},rescores={self.rescores}"
        return f"pocketsphinx={version('pocketsphinx')},{settings},files={files}"

    def recognize(self, samples: Floats) -> WindowHypothesis:
        """Return words with times and posteriors, and the n best hypotheses."""
        decoder = self._decoder
        decode_utterance(decoder, samples)
        if decoder.hyp() is None:
            return WindowHypothesis()
        words = tuple(
            HeardWord(
                segment.word.partition("(")[0],
                segment.start_frame / FRAMES_PER_SECOND,
                (segment.end_frame + 1) / FRAMES_PER_SECOND,
                min(1.0, float(segment.prob)),
            )
            for segment in decoder.seg()
            if not segment.word.startswith(("<", "[", "+"))
        )
        texts = self._find_texts(decoder, " ".join(word.word for word in words))
        return WindowHypothesis(words, texts)

    def _find_texts(self, decoder: Any, best: str) -> tuple[str, ...]:
        """Return the texts of the best hypotheses, each once; the first is that of the words."""
        if not self.n_best:
            return ()
        texts = dict.fromkeys([best] if best else [])
        for hypothesis in decoder.nbest():
            if hypothesis is None or len(texts) >= self.n_best:
                break
            texts[hypothesis.hypstr] = None
        return tuple(texts)

    @cached_property
    def _decoder(self) -> Any:
        folder = find_model_folder()
        return make_decoder(
            lm=str(self.language_model or folder / LANGUAGE_MODEL_FILE),
            dict=str(self.dictionary or folder / DICTIONARY_FILE),
            fwdflat=self.rescores,
        )


FRAMES_PER_SECOND = 100  # of pocketsphinx


def make_decoder(**settings: Any) -> Any:
    """Return a decoder of pocketsphinx; every utterance is normalized on its own."""
    folder = find_model_folder()
    module = import_module("pocketsphinx")
    return module.Decoder(hmm=str(folder / "en-us"), cmn="batch", loglevel="FATAL", **settings)


def decode_utterance(decoder: Any, samples: Floats) -> None:
    """Decode audio as one utterance; the result does not depend on utterances before it."""
    decoder.reinit_feat()  # otherwise the noise estimate of the last utterance is used
    decoder.start_utt()
    decoder.process_raw(to_int16(samples).tobytes(), full_utt=True)
    decoder.end_utt()


def _hash_file(path: Path | None) -> str:
    """Return a hash of the content of a file, which may be binary."""
    if path is None:
        return ""
    try:
        return hash_file(path)[:16]
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error


def load_whisper(folder: Path) -> Any:
    """Load a model of faster-whisper."""
    library = _import_library("faster_whisper", "faster-whisper")
    try:
        return library.WhisperModel(str(folder), compute_type="default")
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{folder}: is not a model of faster-whisper: {error}") from error


@dataclass(frozen=True)
class FolderRecognizer(ModelHolder):
    """Base class of recognizers with a model in a folder of the user."""

    folder: Path
    language: str = ""
    n_best: int = 0

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name


@dataclass(frozen=True)
class WhisperRecognizer(FolderRecognizer):
    """A model of faster-whisper (CTranslate2) in a folder of the user."""

    load: Callable[[Path], Any] = field(default=load_whisper, repr=False, compare=False)

    @cached_property
    def signature(self) -> str:
        """Name and hash of the model."""
        return f"faster-whisper={_hash_folder(self.folder)},language={self.language}"

    def recognize(self, samples: Floats) -> WindowHypothesis:
        """Return words with times and probabilities."""
        refuse_n_best(self.n_best, "faster-whisper")
        segments, _ = self._model.transcribe(
            samples, language=self.language or None, word_timestamps=True
        )
        words = (word for segment in segments for word in segment.words or ())
        return WindowHypothesis(
            tuple(
                HeardWord(text, *map(float, (word.start, word.end, word.probability)))
                for word in words
                if (text := word.word.strip())
            )
        )

    @cached_property
    def _model(self) -> Any:
        return self.load(self.folder)


@dataclass(frozen=True)
class TransformersRecognizer(FolderRecognizer):
    """A speech-recognition model of Hugging Face (Whisper, wav2vec2, …) in a folder of the user."""

    @cached_property
    def signature(self) -> str:
        """Name and hash of the model, and the version of the library."""
        return f"transformers={_hash_folder(self.folder)},language={self.language}"

    def recognize(self, samples: Floats) -> WindowHypothesis:
        """Return words with times; these models return no probabilities of words."""
        refuse_n_best(self.n_best, "Hugging Face models")
        pipeline = self._pipeline
        if self.language and pipeline.type != "seq2seq_whisper":
            message = f'{self.folder}: the language "{self.language}" cannot be selected'
            raise UsageError(
                f"{message}, since this is not a Whisper model — leave out the language"
            )
        options = {"generate_kwargs": {"language": self.language}} if self.language else {}
        audio = {"raw": samples, "sampling_rate": SPEECH_RATE}
        try:
            result = pipeline(audio, return_timestamps="word", **options)
        except ValueError as error:
            raise UsageError(f"{self.folder}: cannot be used: {error}") from error
        seconds = len(samples) / SPEECH_RATE
        chunks = (
            (chunk["text"].strip(), *chunk["timestamp"]) for chunk in result.get("chunks", ())
        )
        return WindowHypothesis(
            tuple(
                HeardWord(text, float(start or 0.0), float(seconds if end is None else end))
                for text, start, end in chunks
                if text
            )
        )

    @cached_property
    def _pipeline(self) -> Any:
        library = _import_library("transformers", "transformers")
        try:
            return library.pipeline("automatic-speech-recognition", model=str(self.folder))
        except (OSError, ValueError, KeyError) as error:
            raise UsageError(f"{self.folder}: is not a recognition model: {error}") from error


def find_recognizer(
    name: str = "pocketsphinx", *, language: str = "", n_best: int = 0
) -> Recognizer:
    """Return a recognizer: ``pocketsphinx``, or the model in a folder.

    A folder with ``model.bin`` has a model of faster-whisper, one with ``config.json`` a model of
    Hugging Face.
    """
    if name == "pocketsphinx":
        find_model_folder()
        refuse_language(language, "pocketsphinx")
        return PocketsphinxRecognizer(n_best=n_best)
    folder = Path(name)
    if (folder / "model.bin").is_file():
        return WhisperRecognizer(folder, language, n_best)
    if (folder / "config.json").is_file():
        return TransformersRecognizer(folder, language, n_best)
    remedy = "use pocketsphinx, or the folder of a faster-whisper or Hugging Face model"
    what = "has no model.bin or config.json" if folder.is_dir() else "is not a folder"
    raise UsageError(f'recognizer "{name}": {what} — {remedy}')


def refuse_language(language: str, name: str) -> None:
    """Refuse languages other than English."""
    if language.lower() not in ENGLISH_CODES:
        message = f'{name} has an English model only, not "{language}"'
        raise UsageError(f"{message} — use mms_fa, or another recognizer")


def refuse_n_best(n_best: int, name: str) -> None:
    """Refuse n-best lists of recognizers that have none."""
    if n_best:
        raise UsageError(f"{name}: n-best lists are not supported — use pocketsphinx")


def _import_library(module: str, package: str) -> Any:
    if find_spec(module) is None:
        raise UsageError(f"{package} is not installed — install it to use this model")
    return import_module(module)


def _hash_folder(folder: Path) -> str:
    """Return a hash of the names, sizes and modification times of the files of a model."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    facts = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return f"{folder.name}-{hash_text(repr(facts))[:16]}"


# --- Journal of finished windows -----------------------------------------------------------------


class Journal:
    """Results of finished work on an audio file, one JSON line each, in the cache.

    A line that was only partly written is ignored, so a run can be interrupted at any time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results = dict[str, Any]()
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                    self.results[entry["key"]] = entry["result"]
                except (ValueError, TypeError, KeyError):
                    continue

    def add(self, key: str, result: Any) -> None:
        """Append a result."""
        self.results[key] = result
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps({'key': key, 'result': result})}")
        except OSError as error:
            raise UsageError(f"{self.path}: cannot write to the cache: {error}") from error


def open_journal(audio: Path, cache: Cache, signature: str) -> Journal:
    """Return the journal of an audio file and everything that affects the results."""
    name = f"{sound_digest(audio, cache)}-{hash_text(signature)[:16]}.jsonl"
    return Journal(cache.folder / "speech" / name)


# --- Transcription -------------------------------------------------------------------------------


MIN_PAUSE_SECONDS = 0.5  # between segments of a transcript
SPEECH_MARGIN_SECONDS = 0.2  # around segments of speech
NO_DETECTOR = "none"


class WindowResult(NamedTuple):
    """The recognized words of a window, with times in seconds from the start of the file."""

    start: float
    end: float
    words: tuple[HeardWord, ...]
    alternatives: tuple[str, ...] = ()


class Transcription(NamedTuple):
    """A transcript, its windows with n-best lists, and notes about the audio."""

    transcript: TimedTranscript
    windows: tuple[WindowResult, ...]
    notes: tuple[str, ...] = ()


def transcribe(
    audio: Path | str,
    *,
    recognizer: Annotated[Recognizer | str, "NAME|FOLDER"] = "pocketsphinx",
    language: Annotated[str, "CODE"] = "",
    n_best: int = 0,
    detector: Annotated[str | None, "NAME|FILE"] = None,
    cache: Annotated[StrPath | None, "FOLDER"] = None,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
) -> Transcription:
    """Recognize the words of an audio file.

    Parameters
    ----------
    audio
        Audio file in any format that libsndfile or PyAV reads.
    recognizer
        Recognizer: ``pocketsphinx`` (English, offline), or the folder of a faster-whisper or
        Hugging Face model.
    language
        Language, such as en, for models of several languages. By default detected.
    n_best
        Number of hypotheses per window (pocketsphinx).
    detector
        Speech detector, so that music and noise are not taken for words: webrtc, a Silero ONNX
        file, or none. By default the file of silero-vad if that package and onnxruntime are
        installed, else none.
    cache
        Folder for finished parts. By default the cache folder of the user.
    jobs
    progress
        Callback for progress reports, in seconds of audio.

    Returns
    -------
    Transcription
        Words with times and confidences, and the n-best lists of windows.

    Raises
    ------
    UsageError
        If the file is empty, silent or cannot be read, or the recognizer cannot be used.
    """
    path = Path(audio)
    if isinstance(recognizer, str):
        recognizer = find_recognizer(recognizer, language=language, n_best=n_best)
    breaks = list[Break]()
    is_used = detector != NO_DETECTOR if detector else find_silero_file() is not None
    margin = SPEECH_MARGIN_SECONDS
    speech = find_speech(path, detector=detector, pad=margin) if is_used else None
    windows = recognize_windows(
        path,
        recognizer,
        find_cache(cache),
        choose_map(jobs),
        progress,
        speech=speech,
        broken=breaks.append,
    )
    words = [word for window in windows for word in window.words]
    if isinstance(recognizer, PocketsphinxRecognizer):
        language = "en"
    timed = [TimedWord(path.stem, *word) for word in words]
    segments = tuple(
        TimedSegment(" ".join(word.word for word in run), run[0].start, run[-1].end, tuple(run))
        for run in split_at_pauses(timed)
    )
    notes = [*describe_damage(breaks)]
    if not words:
        notes.append(f"{path}: no words were recognized")
    transcript = TimedTranscript(segments, path.stem, round(windows[-1].end, 3), language)
    return Transcription(transcript, tuple(windows), tuple(notes))


def recognize_windows(
    path: Path,
    recognizer: Recognizer,
    cache: Cache,
    map_: Map = in_process,
    progress: Progress = no_progress,
    *,
    speech: Sequence[SpeechSegment] | None = None,
    broken: Callable[[Break], object] = ignore_break,
) -> list[WindowResult]:
    """Return the words of every window of a file; finished windows are taken from the cache.

    ``speech`` are the segments in which words are accepted; windows without any are not recognized.
    """
    journal = open_journal(path, cache, recognizer.signature)
    work = _WindowWork(recognizer, frozenset(journal.results), speech)
    results = list[WindowResult]()
    is_heard = False
    total = facts_of(path).seconds
    for first, count, silent, recognition in map_(work, iterate_windows(path, broken)):
        key = _window_key(first, count)
        start, end = first / SPEECH_RATE, (first + count) / SPEECH_RATE
        if recognition is None:
            recognition = WindowHypothesis(*journal.results[key])
        elif is_accepted(speech, start, end):
            journal.add(key, recognition)
        is_heard = is_heard or not silent
        words = tuple(
            HeardWord(word, round(start + begin, 3), round(start + stop, 3), confidence)
            for word, begin, stop, confidence in recognition.words
            if is_accepted(speech, start + begin, start + stop)
        )
        results.append(WindowResult(start, end, words, tuple(recognition.alternatives)))
        progress(int(end), max(int(total), int(end)), len(results))
    if not results:
        raise UsageError(f"{path}: is empty")
    if not is_heard:
        raise UsageError(f"{path}: is silent")
    return results


def describe_damage(breaks: Sequence[Break]) -> Iterator[str]:
    """Yield where a file is damaged.

    >>> list(describe_damage([Break("a.mp3", 61.5, 0.8, "cannot be read for 0.8 s")]))
    ['a.mp3: at 00:01:01.500: cannot be read for 0.8 s']
    """
    for gap in breaks:
        if gap.message:
            yield f"{gap.path}: at {format_clock(round(1000 * gap.at), '.')}: {gap.message}"


def warn_of_damage(breaks: Sequence[Break]) -> None:
    """Warn of damaged passages of a file, which count as silence."""
    for text in describe_damage(breaks):
        warnings.warn(text, EarwitnessWarning, stacklevel=3)


class _WindowReport(NamedTuple):
    """The place and size of a window in samples, and its words; None if finished before."""

    first: int
    size: int
    silent: bool
    hypothesis: WindowHypothesis | None


@dataclass(frozen=True)
class _WindowWork:
    """Recognizes windows that are not finished; sent to workers."""

    recognizer: Recognizer
    finished: frozenset[str]
    speech: Sequence[SpeechSegment] | None = None

    def __call__(self, window: AudioWindow) -> _WindowReport:
        first, size = window.first, len(window.samples)
        silent, hypothesis = is_silent(window.samples), None
        if _window_key(first, size) not in self.finished:
            hypothesis = WindowHypothesis()
            end = window.start + window.seconds
            if not silent and is_accepted(self.speech, window.start, end):
                hypothesis = self.recognizer.recognize(window.samples)
        return _WindowReport(first, size, silent, hypothesis)


def is_accepted(speech: Sequence[SpeechSegment] | None, start: float, end: float) -> bool:
    """Whether a passage overlaps a segment of speech; True if the segments are not known.

    >>> is_accepted([SpeechSegment(1.0, 2.0)], 1.5, 3.0), is_accepted([], 1.5, 3.0)
    (True, False)
    """
    if speech is None:
        return True
    place = bisect_right(speech, start, key=lambda segment: segment.end)
    return place < len(speech) and speech[place].start < end


def _window_key(first: int, count: int) -> str:
    return f"{first}+{count}"


def split_at_pauses(words: Sequence[TimedWord]) -> Iterator[Sequence[TimedWord]]:
    """Yield runs of words without a longer pause between them."""
    first = 0
    for place, (before, word) in enumerate(pairwise(words), 1):
        if word.start - before.end >= MIN_PAUSE_SECONDS:
            yield words[first:place]
            first = place
    if words:
        yield words[first:]
