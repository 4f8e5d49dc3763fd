"""Training of dependency grammars from texts and treebanks."""

from __future__ import annotations

from pathlib import Path

import pytest

from earwitness.errors import InputError, UsageError
from earwitness.io.source import RecordSource
from earwitness.summaries.methods.dependencies import (
    read_sentences,
    train_grammar,
)
from earwitness.summaries.methods.grammar import load_grammar

CONLLU = "1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a text and a treebank."""
    (tmp_path / "a.txt").write_text("Dogs bark.\nCats sleep. Dogs sleep!\n", encoding="utf-8")
    (tmp_path / "a.conllu").write_text(CONLLU, encoding="utf-8")
    return tmp_path


def test_a_trained_grammar_can_be_saved(files: Path) -> None:
    grammar = train_grammar(files / "a.txt", classes=2, iterations=3, seed=4)
    assert grammar.words == ("<unk>", "dogs", "sleep")
    assert (grammar.details["sentences"], grammar.details["seed"]) == (3, 4)
    assert [one["name"] for one in grammar.details["inputs"]] == ["a.txt"]
    grammar.save(files / "grammar.json")
    assert load_grammar(files / "grammar.json").signature == grammar.signature


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
