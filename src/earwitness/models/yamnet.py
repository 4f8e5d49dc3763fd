"""YAMNet embedder from a tflite file, and its log-mel patches."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.models.base import BlockEmbeddings, unit_vectors

# --- Log-mel patches -----------------------------------------------------------------------------
# A frame is 400 samples at 16 kHz in a periodic Hann window, every 160 samples; its magnitudes (FFT
# of 512) are summed by 64 triangles from 125 to 7,500 Hz, which are evenly spaced and straight on
# the mel scale of HTK, and ln(sum + 0.001) is taken. Patches begin every 48 frames.
#
# Reference: Plakal and Ellis (2020), YAMNet, in the TensorFlow model garden.


Floats = NDArray[np.float32]
SAMPLE_RATE = 16_000
WINDOW_SAMPLES, STEP_SAMPLES, FFT_SAMPLES = 400, 160, 512
MEL_BANDS, LOWEST_HZ, HIGHEST_HZ = 64, 125.0, 7500.0
LOG_OFFSET = 0.001
PATCH_FRAMES, PATCH_HOP_FRAMES = 96, 48  # of a patch, between patches
PATCH_SAMPLES = WINDOW_SAMPLES + (PATCH_FRAMES - 1) * STEP_SAMPLES


def cut_patches(samples: Floats) -> Floats:
    """All patches of a sound: patches × 96 × 64."""
    frames = log_mel(pad_to_patch(samples))
    return np.stack([frames[start : start + PATCH_FRAMES] for start in _patch_starts(len(frames))])


def cut_sample_windows(samples: Floats) -> Floats:
    """The samples behind the patches, for models that have their own front end."""
    padded = pad_to_patch(samples)
    frames = 1 + (len(padded) - WINDOW_SAMPLES) // STEP_SAMPLES
    return np.stack(
        [
            padded[at * STEP_SAMPLES : at * STEP_SAMPLES + PATCH_SAMPLES]
            for at in _patch_starts(frames)
        ]
    )


def pad_to_patch(samples: Floats) -> Floats:
    """Zeros behind a sound that is shorter than a patch."""
    return np.pad(samples, (0, max(0, PATCH_SAMPLES - len(samples)))).astype(np.float32, copy=False)


def _patch_starts(frames: int) -> list[int]:
    """Every 48 frames, and once more so that the last patch ends with the sound."""
    last = frames - PATCH_FRAMES
    return sorted({*range(0, last + 1, PATCH_HOP_FRAMES), last})


def log_mel(samples: Floats) -> Floats:
    """A row a frame; samples that do not fill a frame are left out."""
    from scipy.fft import rfft

    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW_SAMPLES)[::STEP_SAMPLES]
    magnitudes = np.abs(rfft(frames * _hann_window(), FFT_SAMPLES, axis=1))
    return np.asarray(np.log(magnitudes @ _mel_filters() + np.float32(LOG_OFFSET)), np.float32)


@cache
def _hann_window() -> Floats:
    places = np.arange(WINDOW_SAMPLES) / WINDOW_SAMPLES
    return (0.5 - 0.5 * np.cos(2 * np.pi * places)).astype(np.float32)


@cache
def _mel_filters() -> Floats:
    """A row a bin of the transform, a column a band; what is at 0 Hz counts for nothing."""
    bins = _hertz_to_mel(np.arange(FFT_SAMPLES // 2 + 1) * SAMPLE_RATE / FFT_SAMPLES)[:, None]
    edges = np.linspace(_hertz_to_mel(LOWEST_HZ), _hertz_to_mel(HIGHEST_HZ), MEL_BANDS + 2)
    lower, middle, upper = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (bins - lower) / (middle - lower), (upper - bins) / (upper - middle)
    weights = np.maximum(0, np.minimum(rising, falling))
    weights[0] = 0
    return np.asarray(weights, np.float32)


def _hertz_to_mel(hertz: Any) -> Any:
    return 1127 * np.log1p(np.asarray(hertz) / 700)


# --- YAMNet embedder -----------------------------------------------------------------------------
# Files come in two kinds, told apart by the shape of what they take: log-mel patches (96 × 64) or
# samples (15,600). What they give is told apart by its width: 1,024 is an embedding, 521 or 527 are
# scores of classes. A block's vector is the mean over its patches of the embedding (of the scores
# where a file has no embedding), its classes are the highest scores of any patch.


CLASS_COUNTS = (521, 527)  # classes of YAMNet and of all AudioSet
EMBEDDING_SIZE = 1024
OPEN_SIZE = -1  # a size that a file leaves open
CLASS_MAP_FILE = "yamnet_class_map.csv"
CLASS_NAME_COLUMN = "display_name"  # the column of a class map that has names


def open_litert_interpreter(path: Path) -> Any:
    """The interpreter of TensorFlow Lite files, on one thread."""
    if find_spec("ai_edge_litert") is None:
        raise MissingExtra("ai-edge-litert", "yamnet", "YAMNet")
    from ai_edge_litert.interpreter import Interpreter

    try:
        return Interpreter(model_path=str(path), num_threads=1)
    except ValueError as error:
        raise UsageError(f"{path}: is not a model of TensorFlow Lite: {error}") from error


class Wiring(NamedTuple):
    """Where a network takes its input, in which shape, and where it gives what."""

    taken: int
    shape: tuple[int, ...]
    scores: int
    embedding: int | None
    classes: int

    @property
    def takes_samples(self) -> bool:
        """Whether it has a front end of its own."""
        return PATCH_SAMPLES in self.shape


@dataclass(frozen=True)
class YamNet:
    """An embedder of sound; the file is opened when first needed."""

    path: Path
    interpreter: Callable[[Path], Any] = field(
        default=open_litert_interpreter, repr=False, compare=False
    )
    takes: ClassVar[Literal["sound"]] = "sound"
    rate: ClassVar[int] = SAMPLE_RATE

    @property
    def name(self) -> str:
        """As one asks for it."""
        return f"yamnet:{self.path}"

    @cached_property
    def signature(self) -> str:
        """The file by its content, and how patches become a block."""
        with _check_tflite_file(self.path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        names = hashlib.sha256("\n".join(self.class_names).encode()).hexdigest()[:8]
        return f"yamnet,sha256={digest},names={names},hop=48,vectors=mean,classes=max"

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """From a table beside the file; numbers where there is none."""
        count = self._network[1].classes
        candidates = (self.path.with_suffix(".csv"), self.path.with_name(CLASS_MAP_FILE))
        table = next((path for path in candidates if path.is_file()), None)
        if table is None:
            return tuple(str(number) for number in range(count))
        return _read_class_names(table, count)

    def embed(self, blocks: Iterable[Floats], /) -> BlockEmbeddings:
        """Vectors of length 1, and classes from 0 to 1; a row a block."""
        _, wiring = self._network
        results = [self._run_patches(block) for block in blocks]
        width = wiring.classes if wiring.embedding is None else EMBEDDING_SIZE
        vectors = [
            (scores if embeddings is None else embeddings).mean(axis=0)
            for scores, embeddings in results
        ]
        classes = [scores.max(axis=0) for scores, _ in results]
        return BlockEmbeddings(
            unit_vectors(np.array(vectors, np.float32).reshape(-1, width)),
            np.clip(np.array(classes, np.float32).reshape(-1, wiring.classes), 0, 1),
            self.class_names,
        )

    def _run_patches(self, block: Floats) -> tuple[Floats, Floats | None]:
        """Scores and embeddings of a block, a row a patch."""
        network, wiring = self._network
        scores, embeddings = [], []
        for network_input in (cut_sample_windows if wiring.takes_samples else cut_patches)(block):
            network.set_tensor(wiring.taken, network_input.reshape(wiring.shape))
            network.invoke()
            scores.append(network.get_tensor(wiring.scores).reshape(-1, wiring.classes).mean(0))
            if wiring.embedding is not None:
                embedding = network.get_tensor(wiring.embedding)
                embeddings.append(embedding.reshape(-1, EMBEDDING_SIZE).mean(axis=0))
        return np.array(scores), np.array(embeddings) if embeddings else None

    @cached_property
    def _network(self) -> tuple[Any, Wiring]:
        network = self.interpreter(_check_tflite_file(self.path))
        shape = _fix_input_shape(network, self.path)
        network.allocate_tensors()
        return network, _find_wiring(network, shape, self.path)


def _check_tflite_file(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file — name a .tflite file of YAMNet")
    return path


def _fix_input_shape(network: Any, path: Path) -> tuple[int, ...]:
    """The shape of the input; one that is left open is set to a patch."""
    inputs = network.get_input_details()
    if len(inputs) != 1 or inputs[0]["dtype"] != np.float32:
        raise UsageError(
            f"{path}: takes {_describe_tensors(inputs)} — YAMNet takes one array of float32"
        )
    sizes = inputs[0].get("shape_signature", inputs[0]["shape"])
    shape = tuple(int(size) for size in sizes)
    fixed_shape = _match_shape(shape)
    if fixed_shape is None:
        raise UsageError(
            f"{path}: takes {_describe_tensors(inputs)}"
            f" — YAMNet takes {PATCH_FRAMES} × {MEL_BANDS} or {PATCH_SAMPLES} numbers"
        )
    if fixed_shape != tuple(inputs[0]["shape"]):
        network.resize_tensor_input(inputs[0]["index"], list(fixed_shape))
    return fixed_shape


def _match_shape(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """One patch or its samples in a shape with as many axes, if that fits."""
    patch_shapes: tuple[tuple[int, ...], ...] = ((PATCH_FRAMES, MEL_BANDS), (PATCH_SAMPLES,))
    for patch_shape in patch_shapes:
        for tail in (patch_shape, (*patch_shape, 1)):
            candidate = (1,) * (len(shape) - len(tail)) + tail
            if len(candidate) == len(shape) and all(
                size in (wanted, OPEN_SIZE) for wanted, size in zip(candidate, shape, strict=True)
            ):
                return candidate
    return None


def _find_wiring(network: Any, shape: tuple[int, ...], path: Path) -> Wiring:
    inputs, outputs = network.get_input_details(), network.get_output_details()
    by_width = {int(out["shape"][-1]): out["index"] for out in outputs if len(out["shape"])}
    classes = next((width for width in CLASS_COUNTS if width in by_width), None)
    if classes is None:
        message = f"{path}: gives {_describe_tensors(outputs)}"
        raise UsageError(
            f"{message} — YAMNet gives scores of {CLASS_COUNTS[0]} or {CLASS_COUNTS[1]} classes"
        )
    embedding = by_width.get(EMBEDDING_SIZE)
    return Wiring(inputs[0]["index"], shape, by_width[classes], embedding, classes)


def _describe_tensors(details: Sequence[Any]) -> str:
    shapes = [" × ".join(str(int(size)) for size in tensor["shape"]) for tensor in details]
    types = [np.dtype(tensor["dtype"]) for tensor in details]
    return " and ".join(f"{shape} {dtype}" for shape, dtype in zip(shapes, types, strict=True))


def _read_class_names(table: Path, count: int) -> tuple[str, ...]:
    """The column of a class map that has names."""
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    names = tuple(row.get(CLASS_NAME_COLUMN) or "" for row in rows)
    if len(names) != count or not all(names):
        message = f"{table}: must have a column {CLASS_NAME_COLUMN} with {count} names"
        raise UsageError(f"{message}, has {sum(map(bool, names))} — mend it, or take it away")
    return names
