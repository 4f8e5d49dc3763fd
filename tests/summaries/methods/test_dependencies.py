"""Dependency models: grammar files, spaCy pipelines (a stand-in), and the training of grammars."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from earwitness.errors import InputError, UsageError
from earwitness.io.source import RecordSource
from earwitness.summaries.methods.dependencies import (
    UNJOINED_SCORE,
    SpacyDependencies,
    open_dependency_model,
    read_sentences,
    train_grammar,
)
from earwitness.summaries.methods.grammar import Grammar, load_grammar

BLOOM = ["Blossoms", "bloom", "in", "Japan", ",", "yes"]
BLOOM_HEADS = [1, 1, 3, 1, 3, 5]  # "yes" is a sentence of its own
BLOOM_LABELS = ["nsubj", "ROOT", "case", "obl", "punct", "ROOT"]
CONLLU = "1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"


# --- spaCy ---------------------------------------------------------------------------------------


@dataclass
class StandInToken:
    i: int
    text: str
    dep_: str = ""
    head: Any = None


class StandInDoc(list[StandInToken]):
    def __init__(self, vocab: object, words: Sequence[str]) -> None:
        super().__init__(StandInToken(place, word) for place, word in enumerate(words))
        self.vocab = vocab


@dataclass
class StandInPipeline:
    """Attributes of a spaCy pipeline that are used; it knows one tree."""

    pipe_names: list[str] = field(default_factory=lambda: ["tagger", "parser"])
    vocab: object = None
    meta: dict[str, str] = field(
        default_factory=lambda: {"lang": "en", "name": "standin", "version": "1.2"}
    )

    def __call__(self, document: StandInDoc) -> StandInDoc:
        if [token.text for token in document] != BLOOM:
            return StandInDoc(self.vocab, ["merged"])
        for token, head, label in zip(document, BLOOM_HEADS, BLOOM_LABELS, strict=True):
            token.head, token.dep_ = document[head], label
        return document


@pytest.fixture
def pipelines(monkeypatch: pytest.MonkeyPatch) -> dict[str, StandInPipeline]:
    """Replace spaCy by a stand-in with these pipelines."""
    known = {"en_standin": StandInPipeline(), "en_tagger": StandInPipeline(["tagger"])}

    def load(name: str) -> StandInPipeline:
        if name not in known:
            raise OSError(f"[E050] Can't find model '{name}'.\nIt is not a package.")
        return known[name]

    spacy, tokens = ModuleType("spacy"), ModuleType("spacy.tokens")
    vars(spacy).update(load=load, __version__="3.8", tokens=tokens)
    vars(tokens).update(Doc=StandInDoc)
    monkeypatch.setitem(sys.modules, "spacy", spacy)
    monkeypatch.setitem(sys.modules, "spacy.tokens", tokens)
    return known


@pytest.mark.usefixtures("pipelines")
def test_a_pipeline_scores_joined_words_zero_and_others_the_floor() -> None:
    model = open_dependency_model("en-standin")
    scores = model.score_dependencies(BLOOM)
    joined = {(1, 2), (2, 3), (3, 4)}  # "in" is the head of "Japan"
    expected = np.zeros((8, 8))
    for m in range(1, 7):
        for n in range(m + 1, 7):
            expected[m, n] = 0.0 if (m, n) in joined else UNJOINED_SCORE
    expected[[4, 5], [5, 6]] = 0.0  # the comma: all other adjacent words are joined
    assert scores == pytest.approx(expected)
    assert model.signature == "spacy=3.8,en_standin=1.2,floor=-4.60517,determiners=heads"
    assert model.score_dependencies([]).shape == (2, 2)
    strict = SpacyDependencies("en_standin", floor=-9.0)
    assert strict.score_dependencies(BLOOM).min() == -9


@pytest.mark.usefixtures("pipelines")
def test_pipelines_that_cannot_be_used_are_errors() -> None:
    with pytest.raises(UsageError, match=r"Can't find model 'de_x'\. It is not a package"):
        open_dependency_model("de_x")
    with pytest.raises(UsageError, match="has no parser — choose another pipeline"):
        open_dependency_model("en_tagger")
    with pytest.raises(UsageError, match="merges or splits words"):
        open_dependency_model("en_standin").score_dependencies(["new", "york"])


def test_spacy_that_is_not_installed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(
        UsageError, match=r"spaCy is not installed — give a grammar file \(.json\), or"
    ):
        open_dependency_model("fr_core_news_sm")


# --- Grammar files and training ------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a text and a treebank."""
    (tmp_path / "a.txt").write_text("Dogs bark.\nCats sleep. Dogs sleep!\n", encoding="utf-8")
    (tmp_path / "a.conllu").write_text(CONLLU, encoding="utf-8")
    return tmp_path


def test_a_trained_grammar_is_opened_by_its_path(files: Path) -> None:
    grammar = train_grammar(files / "a.txt", classes=2, iterations=3, seed=4)
    assert grammar.words == ("<unk>", "dogs", "sleep")
    assert (grammar.details["sentences"], grammar.details["seed"]) == (3, 4)
    assert [one["name"] for one in grammar.details["inputs"]] == ["a.txt"]
    grammar.save(files / "grammar.json")
    model = open_dependency_model(str(files / "grammar.json"))
    assert isinstance(model, Grammar)
    assert model.signature == grammar.signature == load_grammar(files / "grammar.json").signature
    with pytest.raises(UsageError, match="cannot be read"):
        open_dependency_model("absent.json")


def test_a_treebank_alone_is_counted(files: Path) -> None:
    grammar = train_grammar([files / "a.conllu"])
    assert grammar.classes == ("NOUN", "VERB")
    assert grammar.details["method"] == "treebank"
    assert len(grammar.details["inputs"]) == 1


def test_a_treebank_is_the_start_for_a_text(files: Path) -> None:
    grammar = train_grammar(files / "a.txt", treebank=files / "a.conllu", iterations=5)
    assert grammar.classes == ("NOUN", "VERB")
    assert set(grammar.words) == {"<unk>", "bark", "dogs", "sleep"}
    assert grammar.details["treebank"]["sentences"] == 1
    assert grammar.emission[0].argmax() == grammar.word_index["dogs"]
    logs = grammar.details["log_likelihood"]
    assert logs == sorted(logs)


def test_problems_of_all_files_are_reported_at_once(files: Path) -> None:
    (files / "b.txt").write_bytes(b"caf\xe9\n")
    (files / "b.conllu").write_text("1\n", encoding="utf-8")
    with pytest.raises(InputError, match="2 problems; nothing was estimated"):
        train_grammar([files / "a.txt", files / "b.txt", files / "b.conllu"])
    with pytest.raises(UsageError, match="no files to estimate a grammar from"):
        train_grammar([])


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("# A comment.\nit rains now\nit snows\n", ["it rains now", "it snows"]),  # no end marks
        ("it rains.\nit snows.\n", ["it rains.", "it snows."]),  # all lines are ended
        (
            "It rains\nnow. It snows.\n\nHail\nfalls.\n",
            ["It rains now.", "It snows.", "Hail falls."],
        ),
        ("", []),
    ],
)
def test_sentences_are_lines_or_continue_on_the_next_line(
    tmp_path: Path, text: str, sentences: list[str]
) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert read_sentences(RecordSource(tmp_path / "a.txt")) == sentences
