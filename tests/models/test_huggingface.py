"""Audio models of Hugging Face: tiny ones with weights drawn at random, saved to a folder."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.models import huggingface
from earwitness.models.huggingface import AudioModel, cut_pieces

Floats = NDArray[np.float32]
hf: Any = transformers
SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}


def noise(seconds: float, rate: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.1, round(rate * seconds)).astype(np.float32)


def saved(folder: Path, model: Any, extractor: Any) -> AudioModel:
    model.save_pretrained(folder)
    extractor.save_pretrained(folder)
    return AudioModel(folder)


def clap(folder: Path, fusion: bool = False) -> AudioModel:
    torch.manual_seed(0)
    text = {**SMALL, "intermediate_size": 16, "vocab_size": 20, "projection_dim": 12}
    audio = {
        "patch_embeds_hidden_size": 8,
        "hidden_size": 16,
        "depths": [1, 1],
        "num_attention_heads": [1, 2],
        "projection_dim": 12,
        "enable_fusion": fusion,
        "fusion_type": "aff_2d" if fusion else None,
        "num_mel_bins": 64,
    }
    config = hf.ClapConfig(text_config=text, audio_config=audio, projection_dim=12)
    kind = "fusion" if fusion else "rand_trunc"
    return saved(
        folder, hf.ClapModel(config), hf.ClapFeatureExtractor(truncation=kind, max_length_s=2)
    )


def spectrogram_transformer(folder: Path, labels: int, kind: str | None) -> AudioModel:
    torch.manual_seed(0)
    config = hf.ASTConfig(
        **SMALL,
        intermediate_size=16,
        num_labels=labels,
        problem_type=kind,
        max_length=256,
        num_mel_bins=32,
        frequency_stride=16,
        time_stride=16,
    )
    model = hf.ASTForAudioClassification(config)
    model.classifier.dense.bias.data.normal_()  # or all classes are as likely
    return saved(folder, model, hf.ASTFeatureExtractor(max_length=256, num_mel_bins=32))


def listener(folder: Path) -> AudioModel:
    torch.manual_seed(0)
    config = hf.Wav2Vec2Config(
        **SMALL,
        intermediate_size=16,
        conv_dim=[8, 8],
        conv_kernel=[10, 3],
        conv_stride=[160, 2],
        num_feat_extract_layers=2,
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
    )
    return saved(folder, hf.Wav2Vec2Model(config), hf.Wav2Vec2FeatureExtractor())


def writer(folder: Path) -> AudioModel:
    torch.manual_seed(0)
    config = hf.WhisperConfig(
        vocab_size=20, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, pad_token_id=0,
        bos_token_id=0, eos_token_id=0, decoder_start_token_id=0,
    )  # fmt: skip
    return saved(folder, hf.WhisperModel(config), hf.WhisperFeatureExtractor())


@pytest.mark.parametrize("fusion", [False, True])
def test_clap_is_the_mean_of_its_seconds(tmp_path: Path, fusion: bool) -> None:
    embedder, sound = clap(tmp_path, fusion), noise(2, 48_000)
    model = hf.ClapModel.from_pretrained(tmp_path).eval()
    extractor = hf.ClapFeatureExtractor.from_pretrained(tmp_path)
    seconds = []
    for second in np.split(sound, 2):
        inputs = extractor(second, sampling_rate=48_000, return_tensors="pt")
        with torch.inference_mode():
            longer = torch.zeros(1, 1, dtype=torch.bool)
            found = model.get_audio_features(inputs["input_features"], is_longer=longer)
        vector = getattr(found, "pooler_output", found)[0].numpy()
        seconds.append(vector / np.linalg.norm(vector))
    want = np.mean(seconds, axis=0)
    vectors, classes, _ = embedder.embed([sound, noise(1, 48_000)])
    assert vectors.shape == (2, 12)
    assert vectors[0] == pytest.approx(want / np.linalg.norm(want), abs=1e-5)
    assert (classes, embedder.class_names, embedder.rate) == (None, (), 48_000)


def test_the_lot_that_a_processor_draws_changes_nothing(tmp_path: Path) -> None:
    embedder, sound = clap(tmp_path, fusion=True), noise(2, 48_000)
    first = [embedder.embed([sound])[0] for _ in range(3)]
    assert all(np.array_equal(first[0], other) for other in first[1:])


@pytest.mark.parametrize(
    ("labels", "kind", "alone"),
    [
        (5, "multi_label_classification", True),
        (5, "single_label_classification", False),
        (5, None, False),
        (527, None, True),
    ],
)
def test_a_classifier_gives_classes_as_it_was_trained(
    tmp_path: Path, labels: int, kind: str | None, alone: bool
) -> None:
    embedder, sound = spectrogram_transformer(tmp_path, labels, kind), noise(2, 16_000)
    model = hf.ASTForAudioClassification.from_pretrained(tmp_path).eval()
    extractor = hf.ASTFeatureExtractor.from_pretrained(tmp_path)
    inputs = extractor(sound, sampling_rate=16_000, return_tensors="pt")
    with torch.inference_mode():
        found = model(**inputs, output_hidden_states=True)
    logits = found.logits[0].double().numpy()
    want = 1 / (1 + np.exp(-logits)) if alone else np.exp(logits) / np.exp(logits).sum()
    vectors, classes, _ = embedder.embed([sound])
    assert classes is not None
    assert classes[0] == pytest.approx(want, abs=1e-5)
    states = found.hidden_states[-1][0].mean(dim=0).numpy()
    assert vectors[0] == pytest.approx(states / np.linalg.norm(states), abs=1e-5)
    assert embedder.class_names[:2] == ("LABEL_0", "LABEL_1")
    assert len(embedder.class_names) == labels


def test_classes_of_a_long_block_are_the_highest_of_its_pieces(tmp_path: Path) -> None:
    embedder = spectrogram_transformer(tmp_path, 5, "multi_label_classification")
    sound = np.concatenate([noise(8, 16_000), np.zeros(8 * 16_000, np.float32)])
    halves = embedder.embed(np.split(sound, 2))[1]
    assert halves is not None
    whole = embedder.embed([sound])[1]
    assert whole is not None
    assert whole[0] == pytest.approx(halves.max(axis=0), abs=1e-6)


def test_any_other_model_gives_the_mean_of_its_last_states(tmp_path: Path) -> None:
    embedder, sound = listener(tmp_path), noise(2, 16_000)
    model = hf.Wav2Vec2Model.from_pretrained(tmp_path).eval()
    inputs = hf.Wav2Vec2FeatureExtractor()(sound, sampling_rate=16_000, return_tensors="pt")
    with torch.inference_mode():
        want = model(**inputs).last_hidden_state[0].mean(dim=0).numpy()
    vectors, classes, _ = embedder.embed([sound])
    assert vectors[0] == pytest.approx(want / np.linalg.norm(want), abs=1e-5)
    assert classes is None


def test_of_a_model_that_writes_only_the_listener_is_used(tmp_path: Path) -> None:
    vectors, *_ = writer(tmp_path).embed([noise(2, 16_000), noise(2, 16_000, 1)])
    assert vectors.shape == (2, 16)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1])


def test_no_blocks_are_no_rows(tmp_path: Path) -> None:
    vectors, classes, _ = spectrogram_transformer(tmp_path, 5, None).embed([])
    assert classes is not None
    assert (len(vectors), classes.shape) == (0, (0, 5))


def test_pieces_follow_one_another_and_the_last_ends_with_the_block() -> None:
    block = np.arange(25, dtype=np.float32)
    assert cut_pieces(block, 10, 1)[:, 0].tolist() == [0, 10, 15]
    assert cut_pieces(block, 10, 8).tolist() == [block.tolist()]
    assert cut_pieces(block[:4], 10, 1).tolist() == [[0, 1, 2, 3, 0, 0, 0, 0, 0, 0]]


def test_a_folder_without_a_model_says_all_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no config\.json, no preprocessor_config\.json, no weights \(\*\.safe"
    ):
        AudioModel(tmp_path).embed([])
    with pytest.raises(UsageError, match="folder does not exist"):
        _ = AudioModel(tmp_path / "none").signature


def test_a_folder_without_weights_says_so(tmp_path: Path) -> None:
    listener(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(UsageError, match="not an audio model: it has no weights"):
        AudioModel(tmp_path).embed([noise(1, 16_000)])


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("{", "is not valid JSON"),
        ("[]", "must contain a JSON object"),
        ('{"model_type": "wonder"}', "cannot be loaded as an audio model"),
    ],
)
def test_a_config_that_makes_no_sense_is_said(tmp_path: Path, config: str, told: str) -> None:
    listener(tmp_path)
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(UsageError, match=told):
        AudioModel(tmp_path).embed([noise(1, 16_000)])


def test_weights_that_are_missing_are_named_and_not_drawn_at_random(tmp_path: Path) -> None:
    listener(tmp_path)
    path = tmp_path / "config.json"
    config = {**json.loads(path.read_text()), "num_hidden_layers": 2}
    path.write_text(json.dumps(config))
    with pytest.raises(UsageError, match=r"weights are missing: encoder\.layers\.1.* and \d+ more"):
        AudioModel(tmp_path).embed([noise(1, 16_000)])


def test_a_model_of_pictures_takes_no_sound(tmp_path: Path) -> None:
    config = hf.ViTConfig(**SMALL, intermediate_size=16, image_size=32, patch_size=16)
    hf.ViTModel(config).save_pretrained(tmp_path)
    hf.ViTImageProcessor().save_pretrained(tmp_path)
    with pytest.raises(
        UsageError, match=r"is not an audio model|cannot be loaded as an audio model"
    ):
        AudioModel(tmp_path).embed([noise(1, 16_000)])


def test_the_signature_follows_the_weights_and_not_the_place(tmp_path: Path) -> None:
    one, same = listener(tmp_path / "a"), listener(tmp_path / "b")
    assert one.signature == same.signature
    assert one.signature.startswith("audio,sha256=")
    other = hf.Wav2Vec2Model.from_pretrained(tmp_path / "b")
    with torch.no_grad():
        next(iter(other.parameters())).add_(1)
    other.save_pretrained(tmp_path / "b")
    assert AudioModel(tmp_path / "b").signature != one.signature


@pytest.mark.parametrize("library", ["torch", "transformers"])
def test_without_the_libraries_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    listener(tmp_path)
    known = find_spec
    monkeypatch.setattr(
        huggingface, "find_spec", lambda name: None if name == library else known(name)
    )
    with pytest.raises(MissingExtra, match=r"\[bert\]"):
        AudioModel(tmp_path).embed([noise(1, 16_000)])
