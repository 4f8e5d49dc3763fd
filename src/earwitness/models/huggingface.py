"""Audio models from a Hugging Face folder: CLAP, classifiers and encoders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.models.base import BlockEmbeddings, unit_vectors

# --- Kinds of audio models -----------------------------------------------------------------------


MULTI_LABEL_PROBLEM = "multi_label_classification"
AUDIOSET_CLASS_COUNTS = (521, 527)  # numbers of classes (multi-label)
UNUSED_WEIGHTS = ("masked_spec_embed", "pooler.", "position_ids")  # weights not needed here


class ModelKind(NamedTuple):
    """A kind of model: name, loader class, piece length, and function for vectors and logits."""

    name: str
    loader: str
    piece: float
    run: Callable[[Any, Any], tuple[Any, Any]]
    classes: bool = False
    weight_prefix: str = ""  # prefix of the weights that are needed


class LoadedModel(NamedTuple):
    """A model with its feature extractor."""

    extractor: Any
    model: Any


def find_model_kind(config: Mapping[str, Any]) -> ModelKind:
    """Return the kind of a model, by its type and head in config.json."""
    if config.get("model_type") == "clap":
        return ModelKind("clap", "ClapModel", 1.0, _run_clap, weight_prefix="audio_")
    heads = ("ForAudioClassification", "ForSequenceClassification")
    if any(str(name).endswith(heads) for name in config.get("architectures") or ()):
        return ModelKind(
            "classifier", "AutoModelForAudioClassification", 8.0, _run_classifier, True
        )
    return ModelKind("audio", "AutoModel", 8.0, _run_encoder)


def load_model(folder: Path, kind: ModelKind) -> LoadedModel:
    """Load a model from its folder only; missing weights are an error."""
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
        raise UsageError(
            f"{folder}: is not an audio model: {type(extractor).__name__} has no sampling rate"
        )
    missing = [
        name
        for name in loading_info["missing_keys"]
        if name.startswith(kind.weight_prefix) and not any(part in name for part in UNUSED_WEIGHTS)
    ]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise UsageError(
            f"{folder}: weights are missing: {', '.join(sorted(missing)[:5])}{more}"
            " — the weights do not match config.json"
        )
    return LoadedModel(extractor, model.eval())


def probabilities(config: Any, logits: Any, rows: int) -> Any:
    """Return probabilities: of each class on its own if multi-label, otherwise of one among all.

    ``problem_type`` decides; if it is missing, AudioSet class sets count as multi-label, others
    as single-label.
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


def _run_clap(model: Any, inputs: Any) -> tuple[Any, None]:
    """Run CLAP; its processor marks pieces as longer at random, although none is."""
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
    """Run only the encoder of a model that also has a decoder."""
    listener = model.get_encoder() if model.config.is_encoder_decoder else model
    return listener(**inputs).last_hidden_state.flatten(1, -2).mean(dim=1), None


# --- Audio model embedder ------------------------------------------------------------------------
# Three kinds, distinguished by ``config.json``. CLAP: pieces of 1 s, prepared by the model's own
# processor; the vector is the mean over pieces (512 numbers for LAION's). A classifier: pieces of
# 8 s, the mean of the last hidden states, and classes by the model's activation function. Other
# models: the mean of the last hidden states, no classes. For longer blocks, vectors are the mean
# and classes the maximum over pieces; the last piece ends with the block.


Floats = NDArray[np.float32]
CONFIG_FILE = "config.json"
EXTRACTOR_FILES = ("preprocessor_config.json", "processor_config.json")
WEIGHT_PATTERNS = ("*.safetensors", "pytorch_model*.bin")
MIN_INPUT_SECONDS = 1.0  # shorter audio is zero-padded
BATCH_PIECES = 8  # pieces per batch


@dataclass(frozen=True)
class AudioModel:
    """An embedder of audio; the model is loaded when first needed."""

    folder: Path
    takes: ClassVar[Literal["sound"]] = "sound"

    @property
    def name(self) -> str:
        """Name, as in the option --embedder."""
        return str(self.folder)

    @cached_property
    def signature(self) -> str:
        """Hash of the model, piece length, and library versions."""
        digest = hashlib.sha256()
        for path in _find_model_files(self.folder):
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        libraries = ",".join(f"{name}={version(name)}" for name in ("torch", "transformers"))
        kind, short = self._kind, digest.hexdigest()[:16]
        return f"{kind.name},sha256={short},piece={kind.piece:g},{libraries}"

    @property
    def rate(self) -> int:
        """Sample rate of the model in Hz."""
        return int(self._loaded.extractor.sampling_rate)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Class names of a classifier; empty for other models."""
        if not self._kind.classes:
            return ()
        labels = self._loaded.model.config.id2label
        return tuple(str(labels[number]) for number in range(len(labels)))

    def embed(self, blocks: Iterable[Floats], /) -> BlockEmbeddings:
        """Return unit vectors, and classes from 0 to 1; one row per block."""
        results = [self._embed_pieces(block) for block in blocks]
        names = self.class_names
        classes = [scores.max(axis=0) for _, scores in results] or [np.zeros((0, len(names)))]
        vectors = [vectors.mean(axis=0) for vectors, _ in results] or [np.zeros((0, 0))]
        scores = np.vstack(classes).astype(np.float32) if names else None
        return BlockEmbeddings(unit_vectors(np.vstack(vectors).astype(np.float32)), scores, names)

    def _embed_pieces(self, block: Floats) -> tuple[Floats, Floats]:
        """Return vectors and classes of a block, one row per piece."""
        parts = cut_pieces(block, self.rate, self._kind.piece)
        starts = range(0, len(parts), BATCH_PIECES)
        results = (self._run(parts[start : start + BATCH_PIECES]) for start in starts)
        vectors, classes = map(np.concatenate, zip(*results, strict=True))
        return vectors, classes

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
                raise MissingExtra(library, "bert", "a Hugging Face model")
        return load_model(self.folder, self._kind)


def cut_pieces(block: Floats, rate: int, seconds: float) -> Floats:
    """Return consecutive pieces, one row each; the last ends with the block."""
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
        raise UsageError(f"{path}: is not valid JSON: {error}") from error
    if not isinstance(config, dict):
        raise UsageError(f"{path}: must contain a JSON object")
    return config


def _find_model_files(folder: Path) -> list[Path]:
    """Return all files of a model, or report which are missing."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: folder does not exist — give a folder with an audio model")
    patterns = {
        CONFIG_FILE: (CONFIG_FILE,),
        EXTRACTOR_FILES[0]: EXTRACTOR_FILES,
        f"weights ({' or '.join(WEIGHT_PATTERNS)})": WEIGHT_PATTERNS,
    }
    found = {
        name: sorted(path for pattern in alternatives for path in folder.glob(pattern))
        for name, alternatives in patterns.items()
    }
    missing = [name for name, paths in found.items() if not paths]
    if missing:
        raise UsageError(f"{folder}: is not an audio model: it has no {', no '.join(missing)}")
    return [*chain.from_iterable(found.values())]
