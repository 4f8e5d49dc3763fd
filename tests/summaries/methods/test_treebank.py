"""CoNLL-U treebanks: what is read, what is converted, and the grammars counted in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import InputError, UsageError
from earwitness.summaries.methods.grammar import check_grammar, score_dependencies
from earwitness.summaries.methods.treebank import (
    DependencyTree,
    count_treebank,
    is_projective,
    promote_function_words,
    read_conllu,
    select_words,
)


def conllu(*rows: str) -> str:
    """A sentence of "ID FORM UPOS HEAD DEPREL" rows."""
    lines = list[str]()
    for row in rows:
        name, form, tag, head, relation = row.split()
        lines.append("\t".join([name, form, "_", tag, "_", "_", head, relation, "_", "_"]))
    return "\n".join(lines) + "\n\n"


def tree(text: str) -> DependencyTree:
    """A tree of words "form/TAG/head/relation"."""
    words, tags, heads, relations = zip(*(word.split("/") for word in text.split()), strict=True)
    return DependencyTree(words, tags, tuple(map(int, heads)), relations)


def random_heads(
    generator: np.random.Generator, size: int, top: int = 0, shift: int = 0
) -> list[int]:
    """Heads of a random projective tree."""
    if not size:
        return []
    root = int(generator.integers(size))
    before = _random_dependents(generator, root, shift + root + 1, shift)
    after = _random_dependents(generator, size - root - 1, shift + root + 1, shift + root + 1)
    return [*before, top, *after]


def _random_dependents(
    generator: np.random.Generator, size: int, top: int, shift: int
) -> list[int]:
    heads = list[int]()
    while len(heads) < size:
        part = int(generator.integers(1, size - len(heads) + 1))
        heads += random_heads(generator, part, top, shift + len(heads))
    return heads


# --- Reader --------------------------------------------------------------------------------------


DOGS = conllu("1 Dogs NOUN 2 nsubj", "2 bark VERB 0 root", "3 . PUNCT 2 punct")


def test_comments_empty_nodes_and_crlf_are_read(tmp_path: Path) -> None:
    empty = conllu("1 Dogs NOUN 2 nsubj", "2 bark VERB 0 root", "2.1 bark _ _ _")
    path = tmp_path / "a.conllu"
    path.write_bytes(("# text = Dogs bark.\n" + DOGS + empty).replace("\n", "\r\n").encode())
    first, second = read_conllu(path)
    assert first == tree("Dogs/NOUN/2/nsubj bark/VERB/0/root ./PUNCT/2/punct")
    assert second == select_words(first)


def test_a_last_sentence_without_blank_line_and_a_word_without_tag_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(conllu("1 Oh _ 0 root").rstrip("\n"), encoding="utf-8")
    assert read_conllu(path) == [tree("Oh/X/0/root")]


def test_multiword_tokens_are_one_word(tmp_path: Path) -> None:
    # "du" is "de le": both depend on "pain"; "donne-le" is a verb with its object.
    rows = ("1 donne VERB 0 root", "2 le PRON 1 obj", "3-4 du _ _ _", "3 de ADP 5 case")
    text = conllu("1-2 donne-le _ _ _", *rows, "4 le DET 5 det", "5 pain NOUN 1 obl")
    path = tmp_path / "a.conllu"
    path.write_text(text, encoding="utf-8")
    assert read_conllu(path) == [tree("donne-le/VERB/0/root du/ADP/3/case pain/NOUN/1/obl")]


def test_all_problems_are_reported_with_line_and_remedy(tmp_path: Path) -> None:
    bad = [
        "1 word\n\n",
        conllu("1 a X 2 dep", "3 b X 0 root"),
        conllu("x a X 0 root"),
        conllu("1 a X _ dep", "2 b X 7 dep", "3 c X y dep"),
        conllu("1 a X 0 root", "2 b X 0 root"),
        conllu("1 a X 0 root", "2 b X 3 dep", "3 c X 2 dep"),
        conllu("1-3 ab _ _ _", "1 a X 0 root"),
        conllu("0.1 a X _ _"),
    ]
    path = tmp_path / "bad.conllu"
    path.write_bytes("".join([*bad, DOGS]).encode() + b"# caf\xe9\n")
    with pytest.raises(InputError) as caught:
        read_conllu(path)
    assert str(caught.value).replace(f"{path}:", "").split("\n") == [
        "1: has 1 column, expected 10 — separate columns with single tabs",
        "4: ID: is 3, expected 2 — number words from 1",
        '6: ID: is "x" — write 1, a range 1-2, or an empty node 1.1',
        "8: HEAD: is missing — write the ID of the head, or 0 for the root",
        "9: HEAD: word 7 is not in the sentence — write the ID of the head, or 0 for the root",
        '10: HEAD: is "y" — write the ID of the head, or 0 for the root',
        "12: HEAD: the sentence has 2 roots — give exactly one word the head 0",
        "16: HEAD: word 2 depends on itself — correct the heads",
        "19: ID: the range 1-3 is not in the sentence — "
        "write the first and the last word of the token",
        "22: the sentence has no words — add words or remove the sentence",
        "28: is not UTF-8 — save the file as UTF-8",
        "11 problems; nothing was estimated",
    ]


def test_a_file_without_sentences_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("# nothing\n\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no sentences — give a CoNLL-U file"):
        read_conllu(tmp_path / "a.conllu")


# --- Trees ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        # that → will → be → in → Japan, he → will
        (
            "that/SCONJ/6/mark he/PRON/6/nsubj will/AUX/6/aux be/AUX/6/cop in/ADP/6/case "
            "Japan/PROPN/0/root",
            (0, 3, 1, 3, 4, 5),
        ),
        # wa → ni → Tokyo: Japanese particles are right of their nouns
        ("Tokyo/PROPN/4/obl ni/ADP/1/case wa/ADP/1/case iku/VERB/0/root", (2, 3, 4, 0)),
        # kono → hon under o, which takes what precedes the noun
        (
            "katta/VERB/3/acl kono/DET/3/det hon/NOUN/5/obj o/ADP/3/case yomu/VERB/0/root",
            (4, 4, 2, 5, 0),
        ),
        # dass → ist → gewesen → in → Japan, er → gewesen
        (
            "dass/SCONJ/4/mark er/PRON/4/nsubj in/ADP/4/case Japan/PROPN/0/root "
            "gewesen/AUX/4/cop ist/AUX/4/aux",
            (0, 5, 5, 3, 6, 1),
        ),
        # masu → i → te → yobikake, with the fixed expression "te i"
        ("yobikake/VERB/0/root te/SCONJ/1/mark i/VERB/2/fixed masu/AUX/1/aux", (2, 3, 4, 0)),
        # because → rain, because → of
        ("because/ADP/3/case of/ADP/1/fixed rain/NOUN/0/root", (0, 1, 1)),
        # saw → the → girl → tall
        ("saw/VERB/0/root the/DET/4/det tall/ADJ/4/amod girl/NOUN/1/obj", (0, 1, 4, 2)),
        # tea → and → milk
        ("tea/NOUN/0/root and/CCONJ/3/cc milk/NOUN/1/conj", (0, 1, 2)),
        # was → seen, with the label of older annotations and a subtype
        ("he/PRON/3/nsubj was/AUX/3/auxpass seen/VERB/0/root", (2, 0, 2)),
        ("he/PRON/3/nsubj was/AUX/3/aux:pass seen/VERB/0/root", (2, 0, 2)),
    ],
)
def test_function_words_become_heads(text: str, heads: tuple[int, ...]) -> None:
    given = tree(text)
    assert promote_function_words(given.heads, given.relations) == heads


def test_conversion_leaves_a_projective_tree() -> None:
    generator = np.random.default_rng(0)
    labels = ["det", "case", "cop", "aux", "mark", "cc", "fixed", "nsubj", "conj"]
    for _ in range(300):
        heads = random_heads(generator, int(generator.integers(1, 12)))
        assert is_projective(heads)
        relations = [labels[number] for number in generator.integers(0, len(labels), len(heads))]
        converted = promote_function_words(heads, relations)
        assert is_projective(converted)
        depths = [1] * len(heads)
        for word in range(len(heads)):
            place = converted[word]
            while place:  # ends, since there is no cycle
                depths[word] += 1
                place = converted[place - 1]
        assert depths.count(1) == 1


def test_dependents_of_punctuation_get_its_head() -> None:
    given = tree("(/PUNCT/2/punct so/ADV/3/advmod —/SYM/4/dep go/VERB/0/root")
    assert select_words(given) == tree("so/ADV/2/advmod go/VERB/0/root")
    root = tree("yes/INTJ/2/dep !/PUNCT/0/root go/VERB/2/dep")
    assert select_words(root).heads == (0, 1)


# --- Counting ------------------------------------------------------------------------------------


DOGS_BARK = tree("dogs/NOUN/2/nsubj bark/VERB/0/root")
THE_DOGS = tree("The/DET/2/det dogs/NOUN/3/nsubj bark/VERB/0/root loudly/ADV/3/advmod")


def test_rules_are_counted_with_a_tenth_added() -> None:
    grammar = count_treebank([DOGS_BARK, THE_DOGS])
    check_grammar(grammar)
    assert grammar.classes == ("ADV", "DET", "NOUN", "VERB")
    assert grammar.start == pytest.approx(np.array([0.1, 0.1, 0.1, 2.1]) / 2.4)
    # VERB: 2 words, dependents DET and NOUN left, ADV right, and 8 rules with 0.1 each
    verb = 2 + 3 + 0.8
    assert grammar.left[3] == pytest.approx(np.array([0.1, 1.1, 1.1, 0.1]) / verb)
    assert grammar.right[3] == pytest.approx(np.array([1.1, 0.1, 0.1, 0.1]) / verb)
    assert grammar.emission[3].sum() == pytest.approx(2 / verb)
    assert grammar.class_counts[3] == pytest.approx(verb)
    assert grammar.right[1, 2] == pytest.approx(1.1 / (1 + 1 + 0.8))  # the → dogs


def test_words_share_their_class_with_unknown_words() -> None:
    grammar = count_treebank([DOGS_BARK, THE_DOGS])
    words = grammar.emission / grammar.emission.sum(1, keepdims=True)
    unknown = [0, grammar.word_index["bark"], grammar.word_index["the"]]
    # VERB: "bark" twice and no word once; DET: "the" once
    assert words[3, unknown] == pytest.approx([0.5 / 3, 2.5 / 3 * 7 / 9, 2.5 / 3 / 18])
    assert words[1, unknown] == pytest.approx([1.5 / 2, 0.5 / 2 / 6, 0.5 / 2 * (1 + 1 / 6) / 2])


def test_crossing_trees_are_skipped_and_counted() -> None:
    crossing = tree("a/X/3/dep b/X/4/dep c/X/0/root d/X/3/dep")
    grammar = count_treebank([DOGS_BARK, crossing])
    assert grammar.details == {
        "method": "treebank",
        "sentences": 1,
        "words": 2,
        "skipped_sentences": 1,
        "determiners_as_heads": True,
    }
    with pytest.raises(UsageError, match="no tree without crossing dependencies"):
        count_treebank([crossing])


def test_the_tree_of_the_treebank_is_the_most_probable_one() -> None:
    grammar = count_treebank([DOGS_BARK, THE_DOGS] * 10)
    scores = score_dependencies(grammar, ["The", "dogs", "bark", "loudly"])
    assert np.exp(scores[[1, 3], [2, 4]]) == pytest.approx([1, 1], abs=0.1)
    assert np.exp(scores[1, 3]) > 0.9
    assert np.exp(scores[2, 4]) < 0.1
