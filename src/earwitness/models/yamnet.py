"""YAMNet embedder from a tflite file, and its log-mel patches."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.io.tables import open_csv
from earwitness.models.base import BlockEmbeddings, hann_window, unit_vectors
from earwitness.models.cache import hash_file

# --- Log-mel patches -----------------------------------------------------------------------------
# A frame is 400 samples at 16 kHz in a periodic Hann window, every 160 samples; its magnitudes (FFT
# of 512) are summed in 64 triangular bands from 125 to 7,500 Hz, evenly spaced and linear on the
# HTK mel scale; the feature is ln(sum + 0.001). Patches start every 48 frames.
#
# Reference: Plakal and Ellis (2020), YAMNet, in the TensorFlow model garden.


Floats = NDArray[np.float32]
SAMPLE_RATE = 16_000
WINDOW_SAMPLES, STEP_SAMPLES, FFT_SAMPLES = 400, 160, 512
MEL_BANDS, LOWEST_HZ, HIGHEST_HZ = 64, 125.0, 7500.0
LOG_OFFSET = 0.001
Shape = tuple[int, ...]
Names = tuple[str, ...]
PATCH_FRAMES, PATCH_HOP_FRAMES = 96, 48  # length, hop
PATCH_SAMPLES = WINDOW_SAMPLES + (PATCH_FRAMES - 1) * STEP_SAMPLES


def cut_patches(samples: Floats) -> Floats:
    """Return all patches of audio: patches × 96 × 64."""
    frames = log_mel(pad_to_patch(samples))
    return np.stack([frames[start : start + PATCH_FRAMES] for start in _patch_starts(len(frames))])


def cut_sample_windows(samples: Floats) -> Floats:
    """Return the samples of each patch, for models with their own front end."""
    padded = pad_to_patch(samples)
    frames = 1 + (len(padded) - WINDOW_SAMPLES) // STEP_SAMPLES
    return np.stack(
        [
            padded[at * STEP_SAMPLES : at * STEP_SAMPLES + PATCH_SAMPLES]
            for at in _patch_starts(frames)
        ]
    )


def pad_to_patch(samples: Floats) -> Floats:
    """Zero-pad audio that is shorter than a patch."""
    return np.pad(samples, (0, max(0, PATCH_SAMPLES - len(samples)))).astype(np.float32, copy=False)


def _patch_starts(frames: int) -> list[int]:
    """Return patch starts: every 48 frames, and one patch that ends with the audio."""
    last = frames - PATCH_FRAMES
    return sorted({*range(0, last + 1, PATCH_HOP_FRAMES), last})


def log_mel(samples: Floats) -> Floats:
    """Return one row per frame; samples that do not fill a frame are left out."""
    from scipy.fft import rfft

    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW_SAMPLES)[::STEP_SAMPLES]
    magnitudes = np.abs(rfft(frames * hann_window(WINDOW_SAMPLES), FFT_SAMPLES, axis=1))
    return np.asarray(np.log(magnitudes @ _mel_filters() + np.float32(LOG_OFFSET)), np.float32)


@cache
def _mel_filters() -> Floats:
    """Return weights, one row per bin and one column per band; the bin at 0 Hz has weight 0."""
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
# There are two kinds of files, distinguished by their input shape: log-mel patches (96 × 64) or
# samples (15,600). Outputs are distinguished by width: 1,024 is an embedding, 521 or 527 are class
# scores. The vector of a block is the mean embedding of its patches (or mean scores, if the file
# has no embedding), and its classes are the maximum scores over its patches.


CLASS_COUNTS = (521, 527)  # YAMNet and AudioSet
EMBEDDING_SIZE = 1024
OPEN_SIZE = -1  # dynamic dimension
CLASS_MAP_FILE = "yamnet_class_map.csv"
CLASS_NAME_COLUMN = "display_name"  # in the class map
LABEL_FILES = ("yamnet_label_list.txt", "labels.txt")  # one name per line


def open_litert_interpreter(path: Path) -> Any:
    """Open a TensorFlow Lite file on one thread."""
    if find_spec("ai_edge_litert") is None:
        raise MissingExtra("ai-edge-litert", "yamnet", "YAMNet")
    from ai_edge_litert.interpreter import Interpreter

    try:
        return Interpreter(model_path=str(path), num_threads=1)
    except ValueError as error:
        raise UsageError(f"{path}: is not a TensorFlow Lite model: {error}") from error


class Wiring(NamedTuple):
    """Input and output tensors of a network, and the input shape."""

    taken: int
    shape: Shape
    scores: int
    embedding: int | None
    classes: int

    @property
    def takes_samples(self) -> bool:
        """Whether the network has its own front end."""
        return PATCH_SAMPLES in self.shape


@dataclass(frozen=True)
class YamNet:
    """An embedder of audio; the file is opened when first needed."""

    path: Path
    interpreter: Callable[[Path], Any] = field(
        default=open_litert_interpreter, repr=False, compare=False
    )
    takes: ClassVar[Literal["sound"]] = "sound"
    rate: ClassVar[int] = SAMPLE_RATE

    @property
    def name(self) -> str:
        """Name of the embedder with the path of its file."""
        return f"yamnet:{self.path}"

    @cached_property
    def signature(self) -> str:
        """Hash of the file, and how patches are combined."""
        digest = hash_file(_check_tflite_file(self.path))[:16]
        names = hashlib.sha256("\n".join(self.class_names).encode()).hexdigest()[:8]
        return f"yamnet,sha256={digest},names={names},hop=48,vectors=mean,classes=max"

    @cached_property
    def class_names(self) -> Names:
        """Class names, from labels inside the file or next to it; else class 0, class 1, …

        Labels inside the file are text files in its metadata, a zip archive at its end. Next to it,
        they are a table of the same name, ``yamnet_class_map.csv``, or a list with one name per
        line: ``yamnet_label_list.txt`` or ``labels.txt``.
        """
        count = self._network[1].classes
        packed = _unpack_class_names(self.path, count)
        if packed is not None:
            return packed
        tables = (self.path.with_suffix(".csv"), self.path.with_name(CLASS_MAP_FILE))
        lists = (self.path.with_name(name) for name in LABEL_FILES)
        source = next((path for path in (*tables, *lists) if path.is_file()), None)
        if source is None:
            return tuple(f"class {number}" for number in range(count))
        return _read_class_names(source, count)

    def embed(self, blocks: Iterable[Floats], /) -> BlockEmbeddings:
        """Return unit vectors, and classes from 0 to 1; one row per block."""
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
        """Return scores and embeddings of a block, one row per patch."""
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
        raise UsageError(f"{path}: file does not exist — give a YAMNet .tflite file")
    return path


def _fix_input_shape(network: Any, path: Path) -> Shape:
    """Return the input shape; a dynamic shape is set to one patch."""
    inputs = network.get_input_details()
    if len(inputs) != 1 or inputs[0]["dtype"] != np.float32:
        raise UsageError(
            f"{path}: input is {_describe_tensors(inputs)} — YAMNet takes one float32 array"
        )
    sizes = inputs[0].get("shape_signature", inputs[0]["shape"])
    shape = tuple(int(size) for size in sizes)
    fixed_shape = _match_shape(shape)
    if fixed_shape is None:
        raise UsageError(
            f"{path}: input is {_describe_tensors(inputs)}"
            f" — YAMNet takes {PATCH_FRAMES} × {MEL_BANDS} or {PATCH_SAMPLES} numbers"
        )
    if fixed_shape != tuple(inputs[0]["shape"]):
        network.resize_tensor_input(inputs[0]["index"], list(fixed_shape))
    return fixed_shape


def _match_shape(shape: Shape) -> Shape | None:
    """Return a shape for one patch or its samples with as many axes, if it fits."""
    patch_shapes: tuple[Shape, ...] = ((PATCH_FRAMES, MEL_BANDS), (PATCH_SAMPLES,))
    for patch_shape in patch_shapes:
        for tail in (patch_shape, (*patch_shape, 1)):
            candidate = (1,) * (len(shape) - len(tail)) + tail
            if len(candidate) == len(shape) and all(
                size in (wanted, OPEN_SIZE) for wanted, size in zip(candidate, shape, strict=True)
            ):
                return candidate
    return None


def _find_wiring(network: Any, shape: Shape, path: Path) -> Wiring:
    inputs, outputs = network.get_input_details(), network.get_output_details()
    by_width = {int(out["shape"][-1]): out["index"] for out in outputs if len(out["shape"])}
    classes = next((width for width in CLASS_COUNTS if width in by_width), None)
    if classes is None:
        message = f"{path}: output is {_describe_tensors(outputs)}"
        raise UsageError(
            f"{message} — YAMNet returns scores of {CLASS_COUNTS[0]} or {CLASS_COUNTS[1]} classes"
        )
    embedding = by_width.get(EMBEDDING_SIZE)
    return Wiring(inputs[0]["index"], shape, by_width[classes], embedding, classes)


def _describe_tensors(details: Sequence[Any]) -> str:
    shapes = [" × ".join(str(int(size)) for size in tensor["shape"]) for tensor in details]
    types = [np.dtype(tensor["dtype"]) for tensor in details]
    return " and ".join(f"{shape} {dtype}" for shape, dtype in zip(shapes, types, strict=True))


def _unpack_class_names(path: Path, count: int) -> Names | None:
    """Return the names in the metadata of a model file, or None if it has no list of that length.

    A model with several lists of labels has one per language; the first is in English.
    """
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if member.endswith(".txt"):
                names = _split_names(archive.read(member).decode("utf-8-sig", "replace"))
                if len(names) == count:
                    return names
    return None


def _read_class_names(path: Path, count: int) -> Names:
    """Return the class names of a class map (CSV) or of a list of labels."""
    place = "one per line"
    if path.suffix == ".csv":
        place = f"in the column {CLASS_NAME_COLUMN}"
        with open_csv(path) as (_, rows):
            names = tuple(row.get(CLASS_NAME_COLUMN) or "" for _, row in rows)
    else:
        names = _split_names(path.read_text(encoding="utf-8-sig"))
    if len(names) != count or not all(names):
        raise UsageError(
            f"{path}: must have {count} names {place}, has {sum(map(bool, names))}"
            " — correct, rename or delete the file"
        )
    return names


def _split_names(text: str) -> Names:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
