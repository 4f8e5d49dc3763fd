"""Audio models in the form of Hugging Face, from a folder on disk; nothing is ever downloaded.

Three kinds, told apart by ``config.json``. CLAP: pieces of 1 s, each as the model's own processor
makes it, mean of their vectors (512 numbers for LAION's). A classifier: pieces of 8 s, mean of the
last hidden states, and classes by the function that the model was trained with. Any other: mean of
the last hidden states, no classes. Longer blocks are the mean, and for classes the maximum, over
pieces; the last piece ends with the block.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.models.embedded import Embedded
from earwitness.models.hugging_kinds import Kind, Loaded, kind_of, load, probabilities
from earwitness.models.unit import unit

Floats = NDArray[np.float32]
CONFIG = "config.json"
EXTRACTORS = ("preprocessor_config.json", "processor_config.json")
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
SHORTEST = 1.0  # seconds; zeros behind what is shorter
BATCH = 8  # pieces that the model sees at a time


@dataclass(frozen=True)
class AudioModel:
    """An embedder of sound; the model is loaded when first needed."""

    folder: Path
    takes: ClassVar[Literal["sound"]] = "sound"

    @property
    def name(self) -> str:
        """As one asks for it."""
        return str(self.folder)

    @cached_property
    def signature(self) -> str:
        """The model by its content, how pieces become a block, and the libraries."""
        digest = hashlib.sha256()
        for path in _files(self.folder):
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        libraries = [f"{name}={version(name)}" for name in ("torch", "transformers")]
        piece = f"piece={self._kind.piece:g}"
        return ",".join([self._kind.name, f"sha256={digest.hexdigest()[:16]}", piece, *libraries])

    @property
    def rate(self) -> int:
        """Samples a second that the model wants."""
        return int(self._loaded.extractor.sampling_rate)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Of a classifier; others have none."""
        if not self._kind.classes:
            return ()
        labels = self._loaded.model.config.id2label
        return tuple(str(labels[number]) for number in range(len(labels)))

    def embed(self, blocks: Iterable[Floats], /) -> Embedded:
        """Vectors of length 1, and classes from 0 to 1; a row a block."""
        seen = [self._seen(block) for block in blocks]
        names = self.class_names
        classes = [scores.max(axis=0) for _, scores in seen] or [np.zeros((0, len(names)))]
        vectors = [vectors.mean(axis=0) for vectors, _ in seen] or [np.zeros((0, 0))]
        known = np.vstack(classes).astype(np.float32) if names else None
        return Embedded(unit(np.vstack(vectors).astype(np.float32)), known, names)

    def _seen(self, block: Floats) -> tuple[Floats, Floats]:
        """Vectors and classes of a block, a row a piece."""
        parts = pieces(block, self.rate, self._kind.piece)
        results = [self._run(parts[start : start + BATCH]) for start in range(0, len(parts), BATCH)]
        vectors, classes = zip(*results, strict=True)
        return np.concatenate(vectors), np.concatenate(classes)

    def _run(self, parts: Floats) -> tuple[Floats, Floats]:
        import torch

        extractor, model = self._loaded
        inputs = extractor(list(parts), sampling_rate=self.rate, return_tensors="pt")
        with torch.inference_mode():
            vectors, logits = self._kind.run(model, inputs)
            classes = probabilities(model.config, logits, len(parts))
        return vectors.float().numpy(), classes.float().numpy()

    @cached_property
    def _kind(self) -> Kind:
        _files(self.folder)
        return kind_of(_config(self.folder))

    @cached_property
    def _loaded(self) -> Loaded:
        for library in ("torch", "transformers"):
            if find_spec(library) is None:
                raise MissingExtra(library, "bert", "a model of Hugging Face")
        return load(self.folder, self._kind)


def pieces(block: Floats, rate: int, seconds: float) -> Floats:
    """A row a piece: one after another, and the last ends with the block."""
    short = max(0, round(SHORTEST * rate) - len(block))
    whole = np.pad(block, (0, short)).astype(np.float32, copy=False)
    size = min(len(whole), round(seconds * rate))
    last = len(whole) - size
    return np.stack([whole[at : at + size] for at in sorted({*range(0, last + 1, size), last})])


def _config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(f"{path}: is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path}: must be an object")
    return found


def _files(folder: Path) -> list[Path]:
    """All files that make a model; says which are missing."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder — name one with an audio model")
    weights = sorted(path for pattern in WEIGHTS for path in folder.glob(pattern))
    config = [folder / CONFIG] * (folder / CONFIG).is_file()
    extractors = [folder / name for name in EXTRACTORS if (folder / name).is_file()]
    told = {
        CONFIG: config,
        EXTRACTORS[0]: extractors,
        f"weights ({' or '.join(WEIGHTS)})": weights,
    }
    missing = [name for name, found in told.items() if not found]
    if missing:
        raise UsageError(f"{folder}: is not an audio model: it has no {', no '.join(missing)}")
    return [*config, *extractors, *weights]
