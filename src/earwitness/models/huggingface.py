"""Audio models from a Hugging Face folder: CLAP, classifiers and encoders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.models.base import BlockEmbeddings, unit_vectors

# --- Kinds of audio models -----------------------------------------------------------------------


MULTI_LABEL_PROBLEM = "multi_label_classification"
AUDIOSET_CLASS_COUNTS = (521, 527)  # sizes of its sets of classes, of which several sound at a time
UNUSED_WEIGHTS = ("masked_spec_embed", "pooler.", "position_ids")  # weights that nothing here needs


class ModelKind(NamedTuple):
    """Its name, the class that loads it, seconds of a piece, and what makes vectors and logits."""

    name: str
    loader: str
    piece: float
    run: Callable[[Any, Any], tuple[Any, Any]]
    classes: bool = False
    weight_prefix: str = ""  # how names of weights that matter begin


class LoadedModel(NamedTuple):
    """A model with what makes its input."""

    extractor: Any
    model: Any


def find_model_kind(config: Mapping[str, Any]) -> ModelKind:
    """By the type that a model says it has, and by its head."""
    if config.get("model_type") == "clap":
        return ModelKind("clap", "ClapModel", 1.0, _run_clap, weight_prefix="audio_")
    heads = ("ForAudioClassification", "ForSequenceClassification")
    if any(str(name).endswith(heads) for name in config.get("architectures") or ()):
        return ModelKind(
            "classifier", "AutoModelForAudioClassification", 8.0, _run_classifier, True
        )
    return ModelKind("audio", "AutoModel", 8.0, _run_encoder)


def load_model(folder: Path, kind: ModelKind) -> LoadedModel:
    """From the folder alone; weights that are missing are named, never drawn at random."""
    import transformers

    library: Any = transformers
    library.utils.logging.set_verbosity_error()
    library.utils.logging.disable_progress_bar()
    try:
        extractor = library.AutoFeatureExtractor.from_pretrained(folder, local_files_only=True)
        model, loading_info = getattr(library, kind.loader).from_pretrained(
            folder, local_files_only=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise UsageError(f"{folder}: cannot be loaded as an audio model: {error}") from error
    if not hasattr(extractor, "sampling_rate"):
        raise UsageError(f"{folder}: takes no sound: {type(extractor).__name__} has no rate")
    _refuse_missing_weights(
        folder, [name for name in loading_info["missing_keys"] if _is_needed_weight(name, kind)]
    )
    return LoadedModel(extractor, model.eval())


def probabilities(config: Any, logits: Any, rows: int) -> Any:
    """Of each class by itself where several may sound at a time, else of one among all.

    That is what ``problem_type`` says; where it says nothing, sets of classes of AudioSet are taken
    for the former, and others for the latter.
    """
    import torch

    if logits is None:
        return torch.zeros((rows, 0))
    problem_type = getattr(config, "problem_type", None)
    if problem_type == MULTI_LABEL_PROBLEM or (
        problem_type is None and logits.shape[-1] in AUDIOSET_CLASS_COUNTS
    ):
        return logits.sigmoid()
    return logits.softmax(dim=-1)


def _is_needed_weight(name: str, kind: ModelKind) -> bool:
    return name.startswith(kind.weight_prefix) and not any(part in name for part in UNUSED_WEIGHTS)


def _refuse_missing_weights(folder: Path, missing: list[str]) -> None:
    if missing:
        more = f" and {len(missing) - 5} more" * (len(missing) > 5)
        message = f"{folder}: weights are missing: {', '.join(sorted(missing)[:5])}{more}"
        raise UsageError(f"{message} — they do not belong to this config.json")


def _run_clap(model: Any, inputs: Any) -> tuple[Any, None]:
    """No piece is longer than the model hears, though its processor calls one so by lot."""
    features = inputs["input_features"]
    if "is_longer" in inputs:
        inputs["is_longer"] = inputs["is_longer"].new_zeros(inputs["is_longer"].shape)
    output = model.get_audio_features(features, is_longer=inputs.get("is_longer"))
    vectors = getattr(output, "pooler_output", output)
    return vectors / vectors.norm(dim=-1, keepdim=True), None


def _run_classifier(model: Any, inputs: Any) -> tuple[Any, Any]:
    output = model(**inputs, output_hidden_states=True)
    states = output.hidden_states[-1]
    return states.flatten(1, -2).mean(dim=1), output.logits


def _run_encoder(model: Any, inputs: Any) -> tuple[Any, None]:
    """Of a model that also writes, only what listens."""
    listener = model.get_encoder() if model.config.is_encoder_decoder else model
    return listener(**inputs).last_hidden_state.flatten(1, -2).mean(dim=1), None


# --- Audio model embedder ------------------------------------------------------------------------
# Three kinds, told apart by ``config.json``. CLAP: pieces of 1 s, each as the model's own processor
# makes it, mean of their vectors (512 numbers for LAION's). A classifier: pieces of 8 s, mean of
# the last hidden states, and classes by the function that the model was trained with. Any other:
# mean of the last hidden states, no classes. Longer blocks are the mean, and for classes the
# maximum, over pieces; the last piece ends with the block.


Floats = NDArray[np.float32]
CONFIG_FILE = "config.json"
EXTRACTOR_FILES = ("preprocessor_config.json", "processor_config.json")
WEIGHT_PATTERNS = ("*.safetensors", "pytorch_model*.bin")
MIN_INPUT_SECONDS = 1.0  # seconds; zeros behind what is shorter
BATCH_PIECES = 8  # pieces that the model sees at a time


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
        for path in _find_model_files(self.folder):
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

    def embed(self, blocks: Iterable[Floats], /) -> BlockEmbeddings:
        """Vectors of length 1, and classes from 0 to 1; a row a block."""
        results = [self._embed_pieces(block) for block in blocks]
        names = self.class_names
        classes = [scores.max(axis=0) for _, scores in results] or [np.zeros((0, len(names)))]
        vectors = [vectors.mean(axis=0) for vectors, _ in results] or [np.zeros((0, 0))]
        class_scores = np.vstack(classes).astype(np.float32) if names else None
        return BlockEmbeddings(
            unit_vectors(np.vstack(vectors).astype(np.float32)), class_scores, names
        )

    def _embed_pieces(self, block: Floats) -> tuple[Floats, Floats]:
        """Vectors and classes of a block, a row a piece."""
        parts = cut_pieces(block, self.rate, self._kind.piece)
        results = [
            self._run(parts[start : start + BATCH_PIECES])
            for start in range(0, len(parts), BATCH_PIECES)
        ]
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
    def _kind(self) -> ModelKind:
        _find_model_files(self.folder)
        return find_model_kind(_read_config(self.folder))

    @cached_property
    def _loaded(self) -> LoadedModel:
        for library in ("torch", "transformers"):
            if find_spec(library) is None:
                raise MissingExtra(library, "bert", "a model of Hugging Face")
        return load_model(self.folder, self._kind)


def cut_pieces(block: Floats, rate: int, seconds: float) -> Floats:
    """A row a piece: one after another, and the last ends with the block."""
    missing = max(0, round(MIN_INPUT_SECONDS * rate) - len(block))
    samples = np.pad(block, (0, missing)).astype(np.float32, copy=False)
    size = min(len(samples), round(seconds * rate))
    last = len(samples) - size
    return np.stack([samples[at : at + size] for at in sorted({*range(0, last + 1, size), last})])


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG_FILE
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(f"{path}: is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise UsageError(f"{path}: must be an object")
    return config


def _find_model_files(folder: Path) -> list[Path]:
    """All files that make a model; says which are missing."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder — name one with an audio model")
    weights = sorted(path for pattern in WEIGHT_PATTERNS for path in folder.glob(pattern))
    config = [folder / CONFIG_FILE] * (folder / CONFIG_FILE).is_file()
    extractors = [folder / name for name in EXTRACTOR_FILES if (folder / name).is_file()]
    found_by_name = {
        CONFIG_FILE: config,
        EXTRACTOR_FILES[0]: extractors,
        f"weights ({' or '.join(WEIGHT_PATTERNS)})": weights,
    }
    missing = [name for name, paths in found_by_name.items() if not paths]
    if missing:
        raise UsageError(f"{folder}: is not an audio model: it has no {', no '.join(missing)}")
    return [*config, *extractors, *weights]
