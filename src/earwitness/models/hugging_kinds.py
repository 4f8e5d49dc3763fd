"""What kinds of audio models of Hugging Face there are: how each is loaded and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from earwitness.errors import UsageError

MANY_LABELS = "multi_label_classification"
AUDIOSET = (521, 527)  # sizes of its sets of classes, of which several sound at a time
UNUSED = ("masked_spec_embed", "pooler.", "position_ids")  # weights that nothing here needs


class Kind(NamedTuple):
    """Its name, the class that loads it, seconds of a piece, and what makes vectors and logits."""

    name: str
    loader: str
    piece: float
    run: Callable[[Any, Any], tuple[Any, Any]]
    classes: bool = False
    used: str = ""  # how names of weights that matter begin


class Loaded(NamedTuple):
    """A model with what makes its input."""

    extractor: Any
    model: Any


def kind_of(config: Mapping[str, Any]) -> Kind:
    """By the type that a model says it has, and by its head."""
    if config.get("model_type") == "clap":
        return Kind("clap", "ClapModel", 1.0, _clap, used="audio_")
    heads = ("ForAudioClassification", "ForSequenceClassification")
    if any(str(name).endswith(heads) for name in config.get("architectures") or ()):
        return Kind("classifier", "AutoModelForAudioClassification", 8.0, _classified, True)
    return Kind("audio", "AutoModel", 8.0, _plain)


def load(folder: Path, kind: Kind) -> Loaded:
    """From the folder alone; weights that are missing are named, never drawn at random."""
    import transformers

    library: Any = transformers
    library.utils.logging.set_verbosity_error()
    library.utils.logging.disable_progress_bar()
    try:
        extractor = library.AutoFeatureExtractor.from_pretrained(folder, local_files_only=True)
        model, told = getattr(library, kind.loader).from_pretrained(
            folder, local_files_only=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise UsageError(f"{folder}: cannot be loaded as an audio model: {error}") from error
    if not hasattr(extractor, "sampling_rate"):
        raise UsageError(f"{folder}: takes no sound: {type(extractor).__name__} has no rate")
    _refuse(folder, [name for name in told["missing_keys"] if _matters(name, kind)])
    return Loaded(extractor, model.eval())


def probabilities(config: Any, logits: Any, rows: int) -> Any:
    """Of each class by itself where several may sound at a time, else of one among all.

    That is what ``problem_type`` says; where it says nothing, sets of classes of AudioSet are taken
    for the former, and others for the latter.
    """
    import torch

    if logits is None:
        return torch.zeros((rows, 0))
    told = getattr(config, "problem_type", None)
    if told == MANY_LABELS or (told is None and logits.shape[-1] in AUDIOSET):
        return logits.sigmoid()
    return logits.softmax(dim=-1)


def _matters(name: str, kind: Kind) -> bool:
    return name.startswith(kind.used) and not any(part in name for part in UNUSED)


def _refuse(folder: Path, missing: list[str]) -> None:
    if missing:
        more = f" and {len(missing) - 5} more" * (len(missing) > 5)
        told = f"{folder}: weights are missing: {', '.join(sorted(missing)[:5])}{more}"
        raise UsageError(f"{told} — they do not belong to this config.json")


def _clap(model: Any, inputs: Any) -> tuple[Any, None]:
    """No piece is longer than the model hears, though its processor calls one so by lot."""
    features = inputs["input_features"]
    if "is_longer" in inputs:
        inputs["is_longer"] = inputs["is_longer"].new_zeros(inputs["is_longer"].shape)
    found = model.get_audio_features(features, is_longer=inputs.get("is_longer"))
    vectors = getattr(found, "pooler_output", found)
    return vectors / vectors.norm(dim=-1, keepdim=True), None


def _classified(model: Any, inputs: Any) -> tuple[Any, Any]:
    found = model(**inputs, output_hidden_states=True)
    states = found.hidden_states[-1]
    return states.flatten(1, -2).mean(dim=1), found.logits


def _plain(model: Any, inputs: Any) -> tuple[Any, None]:
    """Of a model that also writes, only what listens."""
    listener = model.get_encoder() if model.config.is_encoder_decoder else model
    return listener(**inputs).last_hidden_state.flatten(1, -2).mean(dim=1), None
