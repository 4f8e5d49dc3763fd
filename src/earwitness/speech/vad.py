"""Speech detectors: share of speech in a block, and segments of speech in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from math import gcd, inf
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import facts_of
from earwitness.audio.read import stream_mono
from earwitness.audio.signal import to_int16
from earwitness.core import Progress, no_progress
from earwitness.errors import MissingExtra, UsageError
from earwitness.models.base import hann_window
from earwitness.models.cache import hash_file

# --- Speech cues ---------------------------------------------------------------------------------
# Audio is resampled to 8 kHz and cut into frames of 40 ms every 10 ms. Each frame has its
# periodicity at a pitch of 80 to 400 Hz (autocorrelation of the whitened spectrum up to 2,500 Hz),
# the levels of eight bands from 300 to 3,400 Hz, and the share of power in the range of first
# formants. Windows of 1 s every 0.5 s have six cues each, listed in ``CUE_NAMES``. All cues are
# independent of the level.


Floats = NDArray[np.float32]
CUE_SAMPLE_RATE = 8_000
FRAME_SAMPLES, STEP_SAMPLES, FFT_SAMPLES = 320, 80, 512
WINDOW_FRAMES, HOP_FRAMES = 100, 50
MIN_LAG_SAMPLES, MAX_LAG_SAMPLES = 20, 100  # 400 and 80 Hz
PITCH_BINS = slice(6, 160)  # 94 to 2,484 Hz
WHITENING_BINS = 33  # bandwidth of whitening
BAND_EDGE_BINS = (20, 26, 36, 48, 65, 88, 119, 161, 218)  # 300 to 3,400 Hz
FIRST_FORMANT_BINS, AUDIBLE_BINS = slice(13, 65), slice(7, 256)  # 200 to 1,000 Hz; from 100 Hz
RELATIVE_POWER_FLOOR = 1e-5  # 50 dB below the mean power is silence
MIN_VOICED_PERIODICITY = 0.14  # from which a frame counts as voiced
VOICED_SHARE_FLOOR = 0.02  # offset of the logarithm of the voiced share
MAX_GLIDE_OCTAVES = 0.06  # largest pitch change of a voice in 10 ms
SYLLABLE_RATES_HZ, MOVEMENT_RATES_HZ = slice(2, 9), slice(1, 26)
CUE_NAMES = (
    "voiced",  # log10(0.02 + share of frames with a continuous pitch)
    "beat",  # share of level modulation at 2–8 Hz
    "formant beat",  # the same for the spectral shape, independent of level
    "formant depth",  # modulation depth of that shape at 2–8 Hz: log10(1 + dB²)
    "first formant",  # share of the power at 200–1,000 Hz
    "first formant moves",  # variation of that share
)


class SpeechFrames(NamedTuple):
    """Measurements of each frame."""

    periodicity: Floats
    pitch: Floats  # octaves
    levels: Floats  # dB, one column per band
    first: Floats  # share of power in the range of first formants
    weight: Floats


def measure_cues(samples: Floats, rate: int) -> Floats:
    """Return cues, one row per window; audio shorter than a window is padded with silence."""
    resampled = resample_quickly(samples, rate, CUE_SAMPLE_RATE)
    missing = max(0, FRAME_SAMPLES + (WINDOW_FRAMES - 1) * STEP_SAMPLES - len(resampled))
    frames = _measure_frames(np.pad(resampled, (0, missing)).astype(np.float32, copy=False))
    return np.stack(
        [_voiced_share(frames), *_measure_movement(frames), *_measure_first_formant(frames)], axis=1
    )


def resample_quickly(samples: Floats, rate: int, target_rate: int) -> Floats:
    """Resample with a short filter, which is sufficient for the cues."""
    if rate == target_rate:
        return samples
    from scipy.signal import resample_poly

    up, down = target_rate // gcd(target_rate, rate), rate // gcd(target_rate, rate)
    return np.asarray(
        resample_poly(samples, up, down, window=_lowpass_filter(max(up, down))), np.float32
    )


def _measure_frames(samples: Floats) -> SpeechFrames:
    from scipy.fft import rfft

    windows = np.lib.stride_tricks.sliding_window_view(samples, FRAME_SAMPLES)[::STEP_SAMPLES]
    spectra = rfft(windows * hann_window(FRAME_SAMPLES), FFT_SAMPLES, axis=1)
    power = spectra.real**2 + spectra.imag**2
    power += RELATIVE_POWER_FLOOR * power.mean() + np.finfo(np.float32).tiny
    bands = np.add.reduceat(power[:, : BAND_EDGE_BINS[-1]], BAND_EDGE_BINS[:-1], axis=1)
    audible = power[:, AUDIBLE_BINS].sum(axis=1)
    first = power[:, FIRST_FORMANT_BINS].sum(axis=1) / audible
    return SpeechFrames(*_measure_periodicity(power), 10 * np.log10(bands), first, np.sqrt(audible))


def _measure_periodicity(power: Floats) -> tuple[Floats, Floats]:
    """Return the periodicity of each frame, about 0 to 1, and its pitch."""
    from scipy.ndimage import uniform_filter1d

    magnitudes = np.cbrt(power[:, : PITCH_BINS.stop + WHITENING_BINS // 2])
    envelope = uniform_filter1d(magnitudes, WHITENING_BINS, axis=1, mode="nearest")
    whitened = magnitudes[:, PITCH_BINS] / envelope[:, PITCH_BINS] - 1
    autocorrelations = whitened @ _autocorrelation_cosines()
    best_lags = autocorrelations.argmax(axis=1)
    pitch = np.log2(CUE_SAMPLE_RATE / (MIN_LAG_SAMPLES + best_lags)).astype(np.float32)
    return autocorrelations[np.arange(len(autocorrelations)), best_lags], pitch


def _voiced_share(frames: SpeechFrames) -> Floats:
    """Return the share of frames with a continuous pitch."""
    voiced = frames.periodicity > MIN_VOICED_PERIODICITY
    glides = np.abs(np.diff(frames.pitch)) < MAX_GLIDE_OCTAVES
    goes_on = np.append(False, voiced[1:] & voiced[:-1] & glides)
    return np.asarray(
        np.log10(VOICED_SHARE_FLOOR + _cut_windows(goes_on.astype(np.float32)).mean(axis=-1))
    )


def _measure_movement(frames: SpeechFrames) -> tuple[Floats, Floats, Floats]:
    """Return level modulation, and modulation share and depth of the spectral shape."""
    shape = frames.levels - frames.levels.mean(axis=1, keepdims=True)
    (syllables, all_levels), (formants, all_shape) = map(_modulation_power, (frames.levels, shape))
    depth = np.log10(1 + np.median(formants, axis=1))
    return _power_share(syllables, all_levels), _power_share(formants, all_shape), depth


def _modulation_power(levels: Floats) -> tuple[Floats, Floats]:
    """Return modulation power at syllable rates and in total, in dB², per window and band."""
    from scipy.fft import rfft

    taper = np.hanning(WINDOW_FRAMES).astype(np.float32)
    windows = _cut_windows(levels)
    centred = windows - windows.mean(axis=-1, keepdims=True)
    spectra = rfft(centred * taper, axis=-1)
    power = (spectra.real**2 + spectra.imag**2) / ((taper**2).sum() * WINDOW_FRAMES / 2)
    return power[..., SYLLABLE_RATES_HZ].sum(axis=-1), power[..., MOVEMENT_RATES_HZ].sum(axis=-1)


def _power_share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part.sum(axis=1) / np.maximum(whole.sum(axis=1), 1e-6))


def _measure_first_formant(frames: SpeechFrames) -> tuple[Floats, Floats]:
    """Return the share of power at first formants (weighted by level), and its variation."""
    first, weight = _cut_windows(frames.first), _cut_windows(frames.weight)
    mean = (first * weight).sum(axis=-1) / weight.sum(axis=-1)
    return mean, first.std(axis=-1)


def _cut_windows(values: Floats) -> Any:
    """Return values by window and frame; the last window ends with the audio."""
    last = len(values) - WINDOW_FRAMES
    starts = sorted({*range(0, last + 1, HOP_FRAMES), last})
    return np.lib.stride_tricks.sliding_window_view(values, WINDOW_FRAMES, axis=0)[starts]


@cache
def _autocorrelation_cosines() -> Floats:
    """Return cosines for autocorrelation from spectra: one row per bin, one column per lag."""
    bins = np.arange(PITCH_BINS.start, PITCH_BINS.stop)[:, None]
    lags = np.arange(MIN_LAG_SAMPLES, MAX_LAG_SAMPLES + 1)
    return np.asarray(np.cos(2 * np.pi * bins * lags / FFT_SAMPLES) / len(bins), np.float32)


@cache
def _lowpass_filter(factor: int) -> Floats:
    """Return a low-pass filter for resampling, half as long as usual for speed."""
    from scipy.signal import firwin

    return np.asarray(firwin(10 * factor + 1, 1 / factor, window=("kaiser", 5.0)), np.float32)


# --- Speech detectors ----------------------------------------------------------------------------
# Three ways to estimate how much of a block is speech, none of which recognizes words:
#
# - ``speech_share``: no neural network and no model file. Six cues per second (see above), weighted
#   by logistic regression on synthetic voices with and without noise against animals, weather,
#   traffic and tools; a second is speech if the weighted sum is above 0.
# - ``Silero``: the network of silero-vad, from the ONNX file of that package or of the user. Blocks
#   are brought to the same level before.
# - ``speech_class_scores``: speech classes of an embedder such as YAMNet.
#
# A block contains speech if its share is at least the ``min_share`` of the detector (by classes, at
# least ``MIN_SPEECH_CLASS_SCORE``). The thresholds favour false alarms over misses: the purpose is
# to protect privacy, and a day has enough other blocks. They were chosen on one half of the sounds
# and voices of ``benchmarks/speech_blocks.py``; docs/skims.md has the rates of the other half.


CUE_WEIGHTS = np.array([0.9, 2.3, 3.7, 1.6, 2.6, 2.2], np.float32)  # in the order of the cues
MIN_SPEECH_SUM = 5.8  # weighted sum from which a second is speech
MIN_SPEECH_CLASS_SCORE = 0.1
MIN_SPEECH_PROBABILITY = 0.2  # per Silero frame
SILERO_LEVEL_DB = -25.0  # of blocks, relative to full scale
SPEECH_CLASSES = (  # AudioSet classes with intelligible speech
    "Speech",
    "Male speech, man speaking",
    "Female speech, woman speaking",
    "Child speech, kid speaking",
    "Conversation",
    "Narration, monologue",
    "Speech synthesizer",
    "Shout",
    "Whispering",
)
SILERO_RATE, SILERO_STEP_SAMPLES, SILERO_CONTEXT_SAMPLES = 16_000, 512, 64
SILERO_STATE_SHAPE = (2, 1, 128)
SILERO_RATE_INPUT = np.array(SILERO_RATE, np.int64)


class SpeechDetector(Protocol):
    """A detector that returns the share of speech in audio, from 0 to 1."""

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str: ...

    @property
    def min_share(self) -> float: ...  # of a block with speech

    def share(self, samples: Floats, rate: int) -> float: ...


def find_detector(name: str | None = None) -> SpeechDetector:
    """Return a detector: ``cues``, or a Silero ONNX file.

    Without a name, it is Silero if its file and onnxruntime are installed, and otherwise the cues.
    """
    if silero := _find_silero(name):
        return silero
    if name in (None, CueDetector.name):
        return CueDetector()
    raise UsageError(f'unknown speech detector "{name}" — use cues, or an .onnx file')


def _find_silero(name: str | None) -> Silero | None:
    """Return Silero if its file is named or, without a name, if it is installed."""
    path = find_silero_file() if name is None else Path(name)
    return Silero(path) if path is not None and path.suffix == ".onnx" else None


def find_silero_file() -> Path | None:
    """Return the ONNX file of the installed package silero-vad, if onnxruntime can run it.

    The package itself is not imported, since it loads PyTorch.
    """
    package = find_spec("silero_vad")
    if package is None or package.origin is None or find_spec("onnxruntime") is None:
        return None
    path = Path(package.origin).parent / "data" / "silero_vad.onnx"
    return path if path.is_file() else None


@dataclass(frozen=True)
class CueDetector:
    """The built-in detector, which needs no model file."""

    name: ClassVar[str] = "cues"
    min_share: ClassVar[float] = 0.06  # one second of eight

    @property
    def signature(self) -> str:
        """Weights of the cues, and the share of a block with speech."""
        weights = ",".join(f"{weight:g}" for weight in (*CUE_WEIGHTS, MIN_SPEECH_SUM))
        return f"speech=cues,weights={weights},share={self.min_share:g}"

    def share(self, samples: Floats, rate: int) -> float:
        """Return the share of speech; see ``speech_share``."""
        return speech_share(samples, rate)


def speech_share(samples: Floats, rate: int) -> float:
    """Return the share of speech in one-channel audio, from 0 to 1."""
    return float(np.mean(speech_scores(samples, rate) > 0))


def speech_scores(samples: Floats, rate: int) -> Floats:
    """Return a score for each second, every half second; above 0 is speech."""
    return np.asarray(measure_cues(samples, rate) @ CUE_WEIGHTS - np.float32(MIN_SPEECH_SUM))


def speech_class_scores(names: Sequence[str], classes: Floats) -> Floats | None:
    """Return the highest speech class of each block; None if there are no speech classes."""
    columns = [number for number, name in enumerate(names) if name in SPEECH_CLASSES]
    return np.asarray(classes[:, columns].max(axis=1)) if columns else None


def open_onnx_session(path: Path) -> Any:
    """Open an ONNX file on one thread."""
    if find_spec("onnxruntime") is None:
        raise MissingExtra("onnxruntime", "silero", "Silero's speech detector")
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    try:
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # errors of onnxruntime have no common base class
        raise UsageError(f"{path}: is not an ONNX model: {error}") from error


@dataclass(frozen=True)
class Silero:
    """Silero's network, version 5 or later: frames of 32 ms with the 4 ms before each."""

    path: Path
    session: Callable[[Path], Any] = field(default=open_onnx_session, repr=False, compare=False)
    step_samples: ClassVar[int] = SILERO_STEP_SAMPLES
    min_share: ClassVar[float] = 0.03  # a quarter of a second of eight

    @property
    def name(self) -> str:
        """Name, as in the option --detector."""
        return str(self.path)

    @cached_property
    def signature(self) -> str:
        """Hash of the file, level of blocks, and thresholds."""
        digest = hash_file(_check_onnx_file(self.path))[:16]
        thresholds = f"likely={MIN_SPEECH_PROBABILITY:g},share={self.min_share:g}"
        return f"speech=silero,sha256={digest},level={SILERO_LEVEL_DB:g},{thresholds}"

    def share(self, samples: Floats, rate: int) -> float:
        """Return the share of frames that are likely speech, independent of the level."""
        level = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0
        gain = 10 ** (SILERO_LEVEL_DB / 20) / level if level else 1.0
        probabilities = self.probabilities(samples * np.float32(gain), rate)
        return float(np.mean(probabilities > MIN_SPEECH_PROBABILITY))

    def probabilities(self, samples: Floats, rate: int) -> Floats:
        """Return the probability of speech every 32 ms, at least one."""
        pieces = [resample_quickly(samples, rate, SILERO_RATE)]
        return np.concatenate(list(self.stream_probabilities(pieces)))

    def stream_probabilities(self, pieces: Iterable[Floats]) -> Iterator[Floats]:
        """Yield the probabilities of consecutive pieces at 16 kHz, as of one long piece."""
        state = np.zeros(SILERO_STATE_SHAPE, np.float32)
        for frames in cut_frames(pieces, SILERO_STEP_SAMPLES, SILERO_CONTEXT_SAMPLES):
            probabilities = []
            for frame in frames:
                inputs = {"input": frame[None], "state": state, "sr": SILERO_RATE_INPUT}
                probability, state = self._network.run(None, inputs)
                probabilities.append(float(np.ravel(probability)[0]))
            yield np.array(probabilities, np.float32)

    @cached_property
    def _network(self) -> Any:
        network = self.session(_check_onnx_file(self.path))
        names = {input.name for input in network.get_inputs()}
        if names != {"input", "state", "sr"}:
            raise UsageError(
                f"{self.path}: takes {', '.join(sorted(names))}"
                " — Silero (version 5 or later) takes input, sr and state"
            )
        return network


def _check_onnx_file(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path}: file does not exist — give Silero's ONNX file")
    return path


def cut_frames(pieces: Iterable[Floats], step: int, context: int = 0) -> Iterator[Floats]:
    """Yield the frames of consecutive pieces, one row each; at least one frame in all.

    Every frame has ``step`` samples of its own, and ``context`` samples before them. The first and
    the last frame are zero-padded.
    """
    pending = np.zeros(context, np.float32)
    is_first = True
    for piece in pieces:
        pending = np.concatenate([pending, piece], dtype=np.float32)
        count = (len(pending) - context) // step
        if count:
            is_first = False
            yield _frame_rows(pending, step, context)
            pending = pending[count * step :]
    if is_first or len(pending) > context:
        yield _frame_rows(np.pad(pending, (0, context + step - len(pending))), step, context)


def _frame_rows(samples: Floats, step: int, context: int) -> Floats:
    return np.lib.stride_tricks.sliding_window_view(samples, context + step)[::step]


# --- Segments of speech --------------------------------------------------------------------------
# A detector returns the probability of speech of consecutive frames. Segments follow from them by
# the rules of ``get_speech_timestamps`` in silero-vad: speech starts at a frame above the threshold
# and ends at the first frame of a silence, which is below a lower threshold.


SEGMENT_RATE = 16_000
HYSTERESIS = 0.15  # by which the threshold of silence is below that of speech
MIN_SILENCE_THRESHOLD = 0.01
WEBRTC_STEP_SAMPLES = 480
WEBRTC_MODES = range(4)


class SpeechSegment(NamedTuple):
    """A passage with speech, in seconds."""

    start: float
    end: float


class FrameDetector(Protocol):
    """A detector that returns the probability of speech of consecutive frames.

    ``step_samples`` is the length of a frame at 16 kHz.
    """

    @property
    def name(self) -> str: ...

    @property
    def step_samples(self) -> int: ...

    def stream_probabilities(self, pieces: Iterable[Floats]) -> Iterator[Floats]: ...


@dataclass(frozen=True)
class WebRtcDetector:
    """The detector of WebRTC inside the package pocketsphinx: 0 or 1 for every 30 ms.

    ``mode`` is from 0, which detects most speech, to 3, which has the fewest false alarms.
    """

    mode: int = 3
    name: ClassVar[str] = "webrtc"
    step_samples: ClassVar[int] = WEBRTC_STEP_SAMPLES

    def __post_init__(self) -> None:
        if self.mode not in WEBRTC_MODES:
            raise UsageError(f"mode of the WebRTC detector must be 0 to 3, got {self.mode}")

    def stream_probabilities(self, pieces: Iterable[Floats]) -> Iterator[Floats]:
        """Yield 1 for frames with speech and 0 for others."""
        if find_spec("pocketsphinx") is None:
            raise MissingExtra("pocketsphinx", "speech", "the WebRTC detector")
        frame_seconds = self.step_samples / SEGMENT_RATE
        detector = import_module("pocketsphinx").Vad(self.mode, SEGMENT_RATE, frame_seconds)
        for frames in cut_frames(pieces, self.step_samples):
            rows = to_int16(frames)
            yield np.array([detector.is_speech(row.tobytes()) for row in rows], np.float32)


def find_frame_detector(name: str | None = None) -> FrameDetector:
    """Return a detector of segments: ``webrtc``, or a Silero ONNX file.

    Without a name, it is Silero if its file and onnxruntime are installed, and otherwise WebRTC.
    """
    if silero := _find_silero(name):
        return silero
    if name is None and find_spec("pocketsphinx") is None:
        libraries = "pocketsphinx (extra speech), or silero-vad and onnxruntime (extra silero)"
        raise MissingExtra(libraries, "speech", "finding speech segments")
    if name in (None, WebRtcDetector.name):
        return WebRtcDetector()
    raise UsageError(f'unknown detector of speech segments "{name}" — use webrtc, or an .onnx file')


def find_speech(
    audio: Path | str,
    *,
    detector: FrameDetector | str | None = None,
    threshold: float = 0.5,
    min_speech: float = 0.25,
    min_silence: float = 0.1,
    pad: float = 0.03,
    progress: Progress = no_progress,
) -> list[SpeechSegment]:
    """Return the segments of an audio file with speech.

    The file is read as a stream, so memory does not grow with its duration.

    Parameters
    ----------
    audio
        Audio file in any format that libsndfile or PyAV reads.
    detector
        ``webrtc``, a Silero ONNX file, or a detector. By default Silero if its file and onnxruntime
        are installed, and otherwise WebRTC.
    threshold
        Probability from which a frame starts a segment. Frames below ``threshold`` − 0.15
        are silence.
    min_speech
        Segments that are not longer are left out, in seconds.
    min_silence
        Duration of silence that ends a segment, in seconds.
    pad
        Time added before and after each segment, in seconds; at most half of the pause between two.
    progress
        Callback for progress reports, in seconds of audio.

    Returns
    -------
    list of SpeechSegment
        Start and end of each segment in seconds, in order; empty if there is no speech.

    Raises
    ------
    UsageError
        If the file is empty or cannot be read, or an argument is invalid.
    """
    path = Path(audio)
    if not 0 < threshold <= 1:
        raise UsageError(f"threshold must be above 0 and at most 1, got {threshold:g}")
    for name, seconds in (("min_speech", min_speech), ("min_silence", min_silence), ("pad", pad)):
        if not 0 <= seconds < inf:
            raise UsageError(f"{name} must be 0 s or more, got {seconds:g}")
    if detector is None or isinstance(detector, str):
        detector = find_frame_detector(detector)
    stream = _CountedPieces(path, progress)
    probabilities = (
        float(probability) for part in detector.stream_probabilities(stream) for probability in part
    )
    spans = list(
        _iterate_spans(probabilities, detector.step_samples, threshold, min_silence * SEGMENT_RATE)
    )
    if not stream.count:
        raise UsageError(f"{path}: is empty")
    ended = [(start, stream.count if end is None else end) for start, end in spans]
    long = [(start, end) for start, end in ended if end - start > min_speech * SEGMENT_RATE]
    return list(_pad_spans(long, round(pad * SEGMENT_RATE), stream.count))


class _CountedPieces:
    """The samples of a file as consecutive pieces; ``count`` is the number of those read."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self.path, self.progress, self.count = path, progress, 0

    def __iter__(self) -> Iterator[Floats]:
        total = None
        for piece in stream_mono(self.path, SEGMENT_RATE):
            if total is None:
                facts = facts_of(self.path)
                total = facts.frames // facts.rate
            self.count += len(piece)
            done = self.count // SEGMENT_RATE
            self.progress(done, max(total, done), 1)
            yield piece


def _iterate_spans(
    probabilities: Iterable[float], step: int, threshold: float, min_silence_samples: float
) -> Iterator[tuple[int, int | None]]:
    """Yield the first sample of each passage with speech, and the end; None if it has not ended.

    A silence starts at a frame below the lower threshold, and lasts until one above the upper one.
    It is long enough if another frame below the lower threshold is far enough from its start.
    """
    silence_threshold = max(threshold - HYSTERESIS, MIN_SILENCE_THRESHOLD)
    start = silence = None
    for number, probability in enumerate(probabilities):
        sample = number * step
        if probability >= threshold:
            silence = None
            start = sample if start is None else start
        elif probability < silence_threshold and start is not None:
            silence = sample if silence is None else silence
            if sample - silence >= min_silence_samples:
                yield start, silence
                start = silence = None
    if start is not None:
        yield start, None


def _pad_spans(
    spans: Sequence[tuple[int, int]], padding: int, count: int
) -> Iterator[SpeechSegment]:
    """Yield segments with time before and after them; short pauses are divided between two."""
    for number, (start, end) in enumerate(spans):
        before = (start - spans[number - 1][1]) // 2 if number else start
        after = (spans[number + 1][0] - end) // 2 if number + 1 < len(spans) else count - end
        before, after = min(padding, before), min(padding, after)
        yield SpeechSegment(
            round((start - before) / SEGMENT_RATE, 3), round((end + after) / SEGMENT_RATE, 3)
        )
