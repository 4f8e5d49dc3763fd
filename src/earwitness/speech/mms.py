"""Forced aligner ``mms_fa``: the multilingual CTC model of torchaudio's pipeline ``MMS_FA``.

The model hears the letters a–z and the apostrophe in any language, so other scripts are romanized
by uroman, which takes the language into account. A recording is read as a stream and processed in
chunks with context on both sides; ``earwitness.speech.ctc`` then aligns the words. Nothing is
downloaded: the user provides the weights.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import facts_of
from earwitness.audio.files import DecodingError
from earwitness.audio.read import Break, stream_mono
from earwitness.core import Progress, no_progress
from earwitness.errors import MissingExtra, UsageError
from earwitness.speech.ctc import AlignmentFailure, WordTimes, align_spelled_words
from earwitness.speech.recognize import warn_of_damage

Floats = NDArray[np.float32]
Emissions = Callable[[Floats], Floats]  # audio at 16 kHz to log-probabilities (frames × labels)
Romanizer = Callable[[str, str], str]  # text and ISO 639-3 code to Latin letters

# --- Languages and letters -----------------------------------------------------------------------
# The languages that the model was trained on are not published as a list. Since it knows only Latin
# letters, it can be used for any language that uroman romanizes; so every language of ISO 639-3 is
# accepted, also by its code of two letters, and nothing else.


LETTERS = "-aienoutsrmkldghybpwcvjzf'qx"  # labels of the model; the first one is the blank
LETTER_LABELS = {letter: label for label, letter in enumerate(LETTERS) if label}
APOSTROPHES = str.maketrans("’‘ʼ`", "''''")
MAX_SUGGESTED_LANGUAGES = 3


def find_language_code(language: str) -> str:
    """Return the ISO 639-3 code of a language, from this code or that of two letters.

    >>> find_language_code("eng"), find_language_code("en")
    ('eng', 'eng')
    """
    codes, aliases = _read_languages()
    if language in codes:
        return language
    if len(language) == 2 and language in aliases:
        return aliases[language]
    short = re.split(r"[-_]", language.lower())[0]  # en-US, eng_Latn
    if short in codes or short in aliases:
        remedy = f'use "{aliases.get(short, short)}"'
    elif close := get_close_matches(
        short, sorted(set(aliases.values())), MAX_SUGGESTED_LANGUAGES
    ) or get_close_matches(short, sorted(codes), MAX_SUGGESTED_LANGUAGES):
        remedy = f"did you mean {' or '.join(close)}?"
    else:
        remedy = "use a code such as en, eng, de or deu"
    raise UsageError(f'"{language}" is not a language of ISO 639-3 — {remedy}')


@cache
def _read_languages() -> tuple[frozenset[str], dict[str, str]]:
    """Return the codes of ISO 639-3, and their code for each other code (``en``, ``ger``)."""
    text = (files("earwitness.speech") / "languages.txt").read_text(encoding="ascii")
    entries = [entry.split("=") for entry in text.split("\n", 1)[1].split()]
    aliases = {alias: code for code, *others in entries for alias in others}
    return frozenset(entry[0] for entry in entries), aliases


def load_uroman() -> Romanizer:
    """Return uroman's romanization; loading its tables takes some seconds."""
    if find_spec("uroman") is None:
        raise MissingExtra("uroman", "mms", "aligning text in other scripts")
    uroman = import_module("uroman").Uroman()

    def romanize(text: str, language: str) -> str:
        return str(uroman.romanize_string(text, lcode=language))

    return romanize


# --- Model ---------------------------------------------------------------------------------------


WEIGHTS_VARIABLE = "EARWITNESS_MMS"
WEIGHTS_ADDRESS = (
    "https://dl.fbaipublicfiles.com/mms/torchaudio/ctc_alignment_mling_uroman/model.pt"
)


def load_mms(weights: Path | None = None) -> Emissions:
    """Return the model with the user's weights, on the GPU if PyTorch can use one.

    Parameters
    ----------
    weights
        File of the weights. Without it, the file that the environment variable EARWITNESS_MMS
        names, or else the file in the folder in which torchaudio keeps its downloads.
    """
    if find_spec("torchaudio") is None:
        raise MissingExtra("torchaudio", "mms", "the aligner mms_fa")
    try:
        torch: Any = import_module("torch")
        bundle: Any = import_module("torchaudio").pipelines.MMS_FA
    except (ImportError, OSError) as error:
        raise UsageError(
            f"torchaudio cannot be loaded: {error} — install the version that belongs to PyTorch"
        ) from error
    path = weights or Path(
        os.environ.get(WEIGHTS_VARIABLE) or Path(torch.hub.get_dir(), "checkpoints", "model.pt")
    )
    if not path.is_file():
        raise UsageError(
            f"{path}: file does not exist — download the weights of mms_fa (1.2 GB) from "
            f"{WEIGHTS_ADDRESS}, and save them there or set {WEIGHTS_VARIABLE} to their path"
        )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    where = {"model_dir": str(path.parent), "file_name": path.name, "map_location": "cpu"}
    try:
        model = bundle.get_model(with_star=False, dl_kwargs=where | {"weights_only": True})
    except Exception as error:
        reason = str(error).partition("\n")[0].rstrip(": ")
        raise UsageError(
            f"{path}: does not contain the weights of mms_fa ({reason}) — "
            f"download them from {WEIGHTS_ADDRESS}"
        ) from error
    model = model.to(device)

    def measure(samples: Floats) -> Floats:
        with torch.inference_mode():
            log_probs, _ = model(torch.from_numpy(samples)[None].to(device))
        return np.asarray(log_probs[0].cpu().numpy(), np.float32)

    return measure


# --- Chunks --------------------------------------------------------------------------------------
# A frame is computed from 400 samples, and starts 320 samples after the one before. Chunks contain
# whole frames; frames of the context on both sides are dropped.


SAMPLE_RATE = 16_000
FRAME_STEP_SAMPLES = 320
FRAME_SPAN_SAMPLES = 400
FRAME_SECONDS = FRAME_STEP_SAMPLES / SAMPLE_RATE
CHUNK_FRAMES = 1_500  # 30 s
CONTEXT_FRAMES = 100  # 2 s on both sides


def measure_chunks(pieces: Iterable[Floats], emissions: Emissions) -> Iterator[Floats]:
    """Yield the log-probabilities of consecutive frames, about 30 s at a time.

    Parameters
    ----------
    pieces
        Consecutive audio at 16 kHz, in pieces of any length.
    emissions
        Model.
    """
    held = np.zeros(0, np.float32)
    context = 0  # frames of context at the start of ``held``
    for piece in pieces:
        held = np.concatenate([held, piece])
        while len(held) >= (size := _span(context + CHUNK_FRAMES + CONTEXT_FRAMES)):
            yield emissions(held[:size])[context : context + CHUNK_FRAMES]
            held = held[(context + CHUNK_FRAMES - CONTEXT_FRAMES) * FRAME_STEP_SAMPLES :]
            context = CONTEXT_FRAMES
    if len(held) >= _span(context + 1):
        yield emissions(held)[context:]


def _span(frames: int) -> int:
    """Return the number of samples from which consecutive frames are computed."""
    return (frames - 1) * FRAME_STEP_SAMPLES + FRAME_SPAN_SAMPLES


# --- Aligner -------------------------------------------------------------------------------------


MIN_PEAK = 1e-4  # largest sample of audio that is not silent, 80 dB below full scale


@dataclass(frozen=True)
class MmsAligner:
    """The aligner ``mms_fa``.

    Parameters
    ----------
    weights
        File of the weights; see ``load_mms``.
    open_model, open_romanizer
        Functions that load the model and uroman; uroman is loaded only for words with letters other
        than a–z.
    """

    weights: Path | None = None
    open_model: Callable[[Path | None], Emissions] = field(
        default=load_mms, repr=False, compare=False
    )
    open_romanizer: Callable[[], Romanizer] = field(default=load_uroman, repr=False, compare=False)
    name: ClassVar[str] = "mms_fa"

    def align(
        self,
        path: Path,
        words: Sequence[str],
        language: str,
        *,
        progress: Progress = no_progress,
    ) -> list[WordTimes]:
        """Return when each word of a transcript was said.

        Parameters
        ----------
        path
            Recording in any supported format.
        words
            Words of the transcript. Words without letters, such as numbers in digits, get the time
            between their neighbours and a confidence of 0.
        language
            Code of the language, such as ``en`` or ``eng``, by which words are romanized.
        progress
            Receives seconds of audio, and of the whole recording.

        Raises
        ------
        UsageError
            The language is unknown, or there are no weights.
        AlignmentFailure
            The recording is unreadable, silent or too short, or does not match the words.
        """
        spelled = self.spell(words, find_language_code(language))
        if not any(spelled):
            reason = "no word has letters" if words else "there are no words"
            raise AlignmentFailure(f"the transcript cannot be aligned: {reason}")
        emissions = self._emissions
        breaks = list[Break]()
        audio = self._read_audio(path, breaks, progress)
        chunks = list(measure_chunks(audio, emissions))
        warn_of_damage(breaks)
        if not chunks:
            raise AlignmentFailure(f"{path}: there is no audio")
        try:
            return align_spelled_words(np.concatenate(chunks), spelled, FRAME_SECONDS)
        except AlignmentFailure as error:
            raise AlignmentFailure(f"{path}: {error}") from error

    def spell(self, words: Sequence[str], language: str) -> list[list[int]]:
        """Return the labels of the letters of each word, romanized."""
        labels = dict[str, list[int]]()
        for word in words:
            if word not in labels:
                is_latin = all(letter.isascii() for letter in word if letter.isalpha())
                latin = word if is_latin else self._romanize(word, language)
                letters = latin.translate(APOSTROPHES).lower()
                labels[word] = [
                    LETTER_LABELS[letter] for letter in letters if letter in LETTER_LABELS
                ]
        return [labels[word] for word in words]

    def _read_audio(self, path: Path, breaks: list[Break], progress: Progress) -> Iterator[Floats]:
        """Yield audio at 16 kHz; raises AlignmentFailure if it is unreadable or silent."""
        done, peak = 0, 0.0
        try:
            total = round(facts_of(path).seconds)
            for piece in stream_mono(path, SAMPLE_RATE, broken=breaks.append):
                yield piece
                done += len(piece)
                peak = max(peak, float(np.abs(piece).max(initial=0.0)))
                progress(round(done / SAMPLE_RATE), total, 0)
        except (UsageError, DecodingError, OSError) as error:
            text = str(error)
            reason = text if text.startswith(str(path)) else f"{path}: cannot be read: {text}"
            raise AlignmentFailure(reason) from error
        if done and peak < MIN_PEAK:
            raise AlignmentFailure(f"{path}: the recording is silent")

    @cached_property
    def _emissions(self) -> Emissions:
        return self.open_model(self.weights)

    @cached_property
    def _romanize(self) -> Romanizer:
        return self.open_romanizer()
