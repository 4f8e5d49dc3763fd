"""BERTScore with a model that needs no download, beside the package bert-score."""

from __future__ import annotations

import os
import random
import tempfile
import warnings
from pathlib import Path

import bert_score
import numpy as np
import pytest

from earwitness.errors import UsageError
from earwitness.models import text_encoder
from earwitness.models import text_encoder as module
from earwitness.models.text_encoder import (
    BERTSCORE_LAYERS,
    EncodedText,
    bertscore,
    find_encoder,
    is_available,
)
from helpers.samples import many

SENTENCE = "the rain introduction to machine learning results of 東京 naïve questions and answers"
WORDS = SENTENCE.split()


def texts(rng: random.Random, count: int) -> list[str]:
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, 9))) for _ in range(count)]


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("layer", [2, 6])
def test_numbers_are_those_of_bert_score(layer: int) -> None:
    rng = random.Random(layer)
    output, reference = texts(rng, many(5, 60)), texts(rng, many(5, 60))
    output += ["one\ntwo", "x" * 3000, " ".join(WORDS * 60)]
    reference += ["two", "y", " ".join(WORDS * 70)]
    encoder = find_encoder("minilm", layer)
    scorer = bert_score.BERTScorer(model_type=str(encoder.folder), num_layers=layer, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = scorer.score(output, reference, batch_size=1)
    want = np.stack([part.numpy() for part in theirs], axis=1)
    assert bertscore(output, reference, encoder) == pytest.approx(want, abs=1e-5)


def test_numbers_do_not_depend_on_the_company() -> None:
    encoder = find_encoder("minilm")
    output, reference = texts(random.Random(1), 10), texts(random.Random(2), 10)
    together = bertscore(output, reference, encoder)
    encoder._store = text_encoder.EncodedTextStore()
    alone = np.concatenate(
        [bertscore([o], [r], encoder) for o, r in zip(output, reference, strict=True)]
    )
    assert together == pytest.approx(alone, abs=1e-5)


def test_every_distinct_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = module.Encoder("minilm", 6)
    seen: list[str] = []
    run = module.Encoder._run

    def counted(self: module.Encoder, batch: list[str]) -> object:
        seen.extend(batch)
        return run(self, batch)

    monkeypatch.setattr(module.Encoder, "_run", counted)
    bertscore(["a b", "c", "a b"], ["c", "a b", "d"], encoder)
    bertscore(["d"], ["c"], encoder)
    assert sorted(seen) == ["a b", "c", "d"]


def random_vectors(rng: np.random.Generator) -> EncodedText:
    rows = int(rng.integers(0, 9))
    return EncodedText(
        rng.standard_normal((rows, 5)).astype(np.float32),
        rng.integers(0, 2, rows).astype(np.float32),
    )


def test_what_is_kept_in_memory_is_bounded_and_the_rest_comes_back_bit_by_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_encoder, "VECTOR_BYTES_IN_MEMORY", 1000)
    rng, store = np.random.default_rng(0), text_encoder.EncodedTextStore()
    given = {f"text {n} \ud800": random_vectors(rng) for n in range(many(50, 500))}
    for text, encoded in given.items():
        assert text not in store
        store.add(text, encoded)
        assert (store._file.name is not None) == (store._end > 1000)
    for text in [*given, *reversed(given)]:
        assert text in store
        assert store[text].vectors.shape == given[text].vectors.shape
        assert store[text].vectors.tobytes() == given[text].vectors.tobytes()
        assert store[text].weights.tobytes() == given[text].weights.tobytes()


def test_numbers_do_not_depend_on_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    output, reference = texts(random.Random(4), 12), texts(random.Random(5), 12)
    output += reference[:6]  # a text may be compared with itself
    reference += reference[:6]
    held = bertscore(output, reference, module.Encoder("minilm", 6))
    monkeypatch.setattr(text_encoder, "VECTOR_BYTES_IN_MEMORY", 20_000)
    assert (bertscore(output, reference, module.Encoder("minilm", 6)) == held).all()


def test_a_forked_process_writes_to_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_encoder, "VECTOR_BYTES_IN_MEMORY", 10)
    spool = text_encoder.EncodedTextStore()
    spool.add("a", random_vectors(np.random.default_rng(1)))
    first = spool._file
    assert "a" in spool
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert "a" not in spool
    spool.add("b", random_vectors(np.random.default_rng(1)))
    assert spool._file is not first


def test_a_folder_without_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    monkeypatch.setattr(text_encoder, "VECTOR_BYTES_IN_MEMORY", 10)
    with pytest.raises(UsageError, match="No space left on device — set TMPDIR to a folder with"):
        text_encoder.EncodedTextStore().add("a", random_vectors(np.random.default_rng(1)))


def test_batches_hold_all_texts_and_few_tokens() -> None:
    encoder = module.Encoder("minilm", 6)
    given = [*texts(random.Random(6), 300), "", " ".join(WORDS * 60), " ".join(WORDS * 70)]
    batches = list(encoder._batches(given))
    assert sorted(text for batch in batches for text in batch) == sorted(given)
    for batch in batches:
        cut = encoder._tokenize(batch)["input_ids"]
        assert len(batch) == 1 or len(batch) * max(map(len, cut)) <= module.BATCH_TOKENS


def test_texts_without_tokens_score_0() -> None:
    found = bertscore(["", "a", " "], ["a", "", ""], find_encoder("minilm"))
    assert (found == 0).all()


def test_models_that_are_not_there_and_layers_that_do_not_exist_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="neither a folder nor in the Hugging Face cache"):
        find_encoder("nobody/nothing", 3)
    with pytest.raises(UsageError, match='no default layer is known for "some/model"'):
        find_encoder("some/model")
    with pytest.raises(UsageError, match="layer must be from 1 to 6"):
        find_encoder("minilm", 7)
    with pytest.raises(UsageError, match="is not a model folder"):
        find_encoder(str(tmp_path), 1)
    assert is_available("minilm")
    assert not is_available("roberta-large")
    assert BERTSCORE_LAYERS["roberta-large"] == 17


def test_a_folder_with_a_model_is_a_model() -> None:
    folder = str(find_encoder("minilm").folder)
    there = find_encoder(folder, 6)
    found = bertscore(["a b"], ["b c"], there)
    assert found == pytest.approx(bertscore(["a b"], ["b c"], find_encoder("minilm")), abs=1e-6)
    assert there.signature.startswith(f"model={folder},layer=6,sha256=53aa51172d142c89,torch=")
