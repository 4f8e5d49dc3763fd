"""How much of a block of sound is speech: three ways to tell, none of which understands a word.

- ``speech_share``: no network, no weights to fetch. Six cues a second (``speech_cues``), weighed by
  logistic regression on synthetic voices in and out of noise against animals, weather, traffic and
  tools; a second is speech if the sum is above 0.
- ``Silero``: the network of silero-vad, from an ONNX file that the user has.
- ``speech_of_classes``: what an embedder with classes, such as YAMNet, says about speech.

A block holds speech from ``HOLDS`` on, a second of eight (from ``HOLDS_CLASS`` on by classes). That
is chosen to miss little rather than to accuse little: who asks for no speech wants nobody
overheard, and a day has blocks enough. On voices that were not used to weigh them, the cues found
all speech at 10 dB above other sounds and 95 % or more at 0 dB, and took a quarter of blocks
without speech for it: what calls, sings or knocks at the pace of syllables, and most music.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.models.speech_cues import cues, quickly_resampled

Floats = NDArray[np.float32]
WEIGHTS = np.array([0.9, 2.3, 3.7, 1.6, 2.6, 2.2], np.float32)  # of the cues, in their order
NEEDED = 5.8  # sum from which a second is speech
HOLDS = 0.12  # share of a block
HOLDS_CLASS = 0.2  # score of a class
LIKELY = 0.5  # probability from which Silero's frames are speech
SPOKEN = (  # classes of AudioSet in which people can be understood
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
SILERO_RATE, SILERO_STEP, SILERO_BEFORE = 16_000, 512, 64
SILERO_STATE = (2, 1, 128)


class Detector(Protocol):
    """Something that tells how much of a sound is speech, from 0 to 1."""

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str: ...

    def share(self, samples: Floats, rate: int) -> float: ...


def find_detector(name: str = "cues") -> Detector:
    """``cues``, or the path of an ONNX file of Silero."""
    if name == "cues":
        return Cues()
    if Path(name).suffix == ".onnx":
        return Silero(Path(name))
    raise UsageError(f'there is no detector of speech "{name}" — use cues, or a file .onnx')


@dataclass(frozen=True)
class Cues:
    """The detector that needs no file."""

    name: ClassVar[str] = "cues"

    @property
    def signature(self) -> str:
        """The weights, which are all there is."""
        return f"speech=cues,weights={','.join(f'{one:g}' for one in (*WEIGHTS, NEEDED))}"

    def share(self, samples: Floats, rate: int) -> float:
        """See ``speech_share``."""
        return speech_share(samples, rate)


def speech_share(samples: Floats, rate: int) -> float:
    """Of the seconds of a sound (one channel), the share that is speech: from 0 to 1."""
    return float(np.mean(speech_scores(samples, rate) > 0))


def speech_scores(samples: Floats, rate: int) -> Floats:
    """How much each second, one every half second, speaks for speech; above 0 it is."""
    return np.asarray(cues(samples, rate) @ WEIGHTS - np.float32(NEEDED))


def speech_of_classes(names: Sequence[str], classes: Floats) -> Floats | None:
    """The highest of the classes that are speech, a number a block; None where there are none."""
    columns = [number for number, name in enumerate(names) if name in SPOKEN]
    return np.asarray(classes[:, columns].max(axis=1)) if columns else None


def onnx(path: Path) -> Any:
    """A session of an ONNX file, on one thread."""
    if find_spec("onnxruntime") is None:
        raise MissingExtra("onnxruntime", "silero", "Silero's detector of speech")
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    try:
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except RuntimeError as error:  # every error of the library is one
        raise UsageError(f"{path}: is not an ONNX model: {error}") from error


@dataclass(frozen=True)
class Silero:
    """Silero's network from version 5 on: 32 ms at a time, each with the 4 ms before it."""

    path: Path
    session: Callable[[Path], Any] = field(default=onnx, repr=False, compare=False)

    @property
    def name(self) -> str:
        """As one asks for it."""
        return str(self.path)

    @cached_property
    def signature(self) -> str:
        """The file by its content."""
        with _there(self.path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        return f"speech=silero,sha256={digest},likely={LIKELY:g}"

    def share(self, samples: Floats, rate: int) -> float:
        """The share of frames that are likely speech."""
        return float(np.mean(self.probabilities(samples, rate) > LIKELY))

    def probabilities(self, samples: Floats, rate: int) -> Floats:
        """Of speech, every 32 ms; at least one."""
        state, found = np.zeros(SILERO_STATE, np.float32), []
        for frame in _silero_frames(quickly_resampled(samples, rate, SILERO_RATE)):
            given = {"input": frame[None], "state": state, "sr": np.array(SILERO_RATE, np.int64)}
            probability, state = self._network.run(None, given)
            found.append(float(np.ravel(probability)[0]))
        return np.array(found, np.float32)

    @cached_property
    def _network(self) -> Any:
        network = self.session(_there(self.path))
        names = {one.name for one in network.get_inputs()}
        if names != {"input", "state", "sr"}:
            told = f"{self.path}: takes {', '.join(sorted(names))}"
            raise UsageError(f"{told} — Silero's file (from version 5 on) takes input, sr, state")
        return network


def _there(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file — name Silero's ONNX file")
    return path


def _silero_frames(samples: Floats) -> Floats:
    """A row a frame, with zeros before the first and behind the last."""
    count = max(1, -(-len(samples) // SILERO_STEP))
    behind = count * SILERO_STEP - len(samples)
    whole = np.pad(samples, (SILERO_BEFORE, behind)).astype(np.float32, copy=False)
    size = SILERO_BEFORE + SILERO_STEP
    return np.lib.stride_tricks.sliding_window_view(whole, size)[::SILERO_STEP]
