"""CoNLL-U treebanks: reader, heads of function words, and grammars by counting.

Universal Dependencies make function words dependents of content words: in "bloom in Japan", "in"
depends on "Japan". No dependency then joins "bloom" and "in", though the words are adjacent.
``promote_function_words`` therefore makes function words heads: of a word h with a dependent f of
one of the relations

- ``det`` (determiners),
- ``case`` (adpositions, and particles of case in Japanese),
- ``cop`` (copulas),
- ``aux``, ``aux:pass`` (auxiliaries),
- ``mark`` (subordinating conjunctions, "to" before infinitives),
- ``cc`` (coordinating conjunctions),

f becomes the head of h and takes the head of h. The relations are treated in this order, and near
words before far ones: "that he will be in Japan" has the heads that → will → be → in → Japan, and
he → will. So that dependencies do not cross, these dependents of h become dependents of f:

- those farther from h than f, on the side of f;
- on the other side, the nearest function word that is not yet converted, and those farther from h;
- if h is a converted function word itself, and f is on the side of its content word: all those on
  the other side.

A word with the relation ``fixed`` to a converted function word becomes its head if it is on the
side away from the content word, as in Japanese "te i masu"; in "because of rain" it does not.

Subtypes such as ``case:loc`` are treated as their relation, and ``auxpass``, as in older
annotations, as ``aux``. All other relations are left as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, compress
from typing import NamedTuple

import numpy as np

from earwitness.core import StrPath
from earwitness.errors import Problem, UsageError, file_problem, refuse_problems
from earwitness.io.source import RecordSource
from earwitness.summaries.methods.compaction import Floats
from earwitness.summaries.methods.grammar import UNKNOWN_WORD, Grammar
from earwitness.summaries.methods.grammar_estimation import RuleCounts, normalise_counts
from earwitness.text.words import is_spoken, normalise_word

# --- Dependency trees ----------------------------------------------------------------------------


class DependencyTree(NamedTuple):
    """Words of a sentence with their tags, heads and relations.

    Heads are positions of words, from 1; the root has the head 0.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no two dependencies cross.

    >>> is_projective([2, 0, 2]), is_projective([3, 4, 0, 3])
    (True, False)
    """
    arcs = [(min(word, head), max(word, head)) for word, head in enumerate(heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def select_words(tree: DependencyTree) -> DependencyTree:
    """Return a tree without punctuation (tag PUNCT, and words without a letter or a digit).

    Dependents of punctuation become dependents of its head. If the root is punctuation, its first
    dependent becomes the root, and the head of the others.

    >>> tree = DependencyTree(("Go", "!"), ("VERB", "PUNCT"), (0, 1), ("root", "punct"))
    >>> select_words(tree).words
    ('Go',)
    """
    is_kept = [
        tag != "PUNCT" and is_spoken(word) for word, tag in zip(tree.words, tree.tags, strict=True)
    ]
    numbers, heads, root = [*accumulate(is_kept, initial=0)], list[int](), 0
    for head in compress(tree.heads, is_kept):
        while head and not is_kept[head - 1]:
            head = tree.heads[head - 1]
        heads.append(numbers[head] if head else root)
        root = root if head else root or len(heads)
    texts = (tree.words, tree.tags, tree.relations)
    words, tags, relations = (tuple(compress(text, is_kept)) for text in texts)
    return DependencyTree(words, tags, tuple(heads), relations)


FUNCTION_RELATIONS = ("det", "case", "cop", "aux", "mark", "cc")  # from the innermost head
RELATION_ALIASES = {"auxpass": "aux"}


def promote_function_words(heads: Sequence[int], relations: Sequence[str]) -> tuple[int, ...]:
    """Return heads after function words became heads; see the module for what is converted.

    Parameters
    ----------
    heads
        Heads of the words, from 1; 0 for a root.
    relations
        Relations of the words to their heads.

    Examples
    --------
    >>> words = ["blossoms", "bloom", "in", "Japan"]
    >>> promote_function_words([2, 0, 4, 2], ["nsubj", "root", "case", "obl"])
    (2, 0, 2, 3)
    """
    bases = [relation.partition(":")[0].lower() for relation in relations]
    bases = [RELATION_ALIASES.get(base, base) for base in bases]
    waiting = {
        word: FUNCTION_RELATIONS.index(base)
        for word, (base, head) in enumerate(zip(bases, heads, strict=True), 1)
        if head and base in FUNCTION_RELATIONS
    }
    converted, sides = list(heads), dict[int, int]()

    def order(word: int) -> tuple[int, int]:
        return waiting[word], abs(word - heads[word - 1])

    for word in sorted(waiting, key=order):
        del waiting[word]
        sides[word] = _promote(converted, word, waiting, sides)
    for word, (base, head) in enumerate(zip(bases, heads, strict=True), 1):
        if base == "fixed" and sides.get(head) == (1 if word > head else -1):
            _promote(converted, word, (), sides)
    return tuple(converted)


def _promote(
    heads: list[int], word: int, waiting: Collection[int], sides: Mapping[int, int]
) -> int:
    """Make a word the head of its head, and return its side: 1 if it is right of it, else −1.

    ``waiting`` are function words to be promoted later; ``sides`` are those promoted before.
    """
    head = heads[word - 1]
    side = 1 if word > head else -1
    reaches = {  # positive on the side of the word, negative on the other side of the head
        other: (other - head) * side for other, parent in enumerate(heads, 1) if parent == head
    }
    inner = 0  # dependents on the other side move if they are farther than this
    if sides.get(head) != -side:
        waits = (reach for other, reach in reaches.items() if reach < 0 and other in waiting)
        inner = max(waits, default=-len(heads)) + 1
    for other, reach in reaches.items():
        if reach > reaches[word] or reach < inner:
            heads[other - 1] = word
    heads[word - 1], heads[head - 1] = heads[head - 1], word
    return side


# --- Reader of CoNLL-U ---------------------------------------------------------------------------


COLUMN_COUNT = 10
WORD_ID = re.compile(r"[1-9][0-9]{0,8}")
RANGE_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
EMPTY_NODE_ID = re.compile(r"[0-9]+\.[1-9][0-9]*")


class _Row(NamedTuple):
    line: int
    columns: list[str]


def read_conllu(path: StrPath | RecordSource) -> list[DependencyTree]:
    """Read the trees of a CoNLL-U file.

    Comments and empty nodes (``8.1``) are left out. Words of a multiword token (``1-2``) are merged
    to one word, as it is spoken, with the tag, head and relation of the one closest to the root.
    Words without a tag have the tag X. Files may be compressed and may have CRLF line endings.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        With all problems of the file.
    """
    source = path if isinstance(path, RecordSource) else RecordSource(path)
    problems, trees = list[Problem](), list[DependencyTree]()
    for rows in _split_rows(source, problems):
        faults = list[Problem]()
        tree = _read_tree(rows, source.name, faults)
        problems += faults
        if tree is not None and not faults:
            trees.append(tree)
    if not trees and not problems:
        problems.append(file_problem(source.name, "has no sentences", "give a CoNLL-U file"))
    refuse_problems(problems, "estimated")
    return trees


def decode_lines(source: RecordSource, problems: list[Problem]) -> Iterator[tuple[int, str]]:
    """Yield numbers and texts of lines; those that are not UTF-8 are added to the problems."""
    for block in source.blocks():
        for number, line in enumerate(block.lines, block.line):
            try:
                yield number, line.decode()
            except UnicodeDecodeError:
                remedy = "save the file as UTF-8"
                problems.append(Problem(source.name, number, "", "is not UTF-8", remedy))


def _split_rows(source: RecordSource, problems: list[Problem]) -> Iterator[list[_Row]]:
    """Yield the rows of every sentence."""
    rows = list[_Row]()
    for number, text in decode_lines(source, problems):
        if not text.strip():
            yield rows
            rows = []
        elif not text.startswith("#"):
            rows.append(_Row(number, text.split("\t")))
    yield rows


def _read_tree(rows: list[_Row], source: str, faults: list[Problem]) -> DependencyTree | None:
    """Return the tree of a sentence, or None; problems are added to ``faults``."""

    def report(row: _Row, message: str, remedy: str, field: str = "") -> None:
        faults.append(Problem(source, row.line, field, message, remedy))

    words, ranges = list[_Row](), list[_Row]()
    for row in rows:
        name = row.columns[0]
        if (count := len(row.columns)) != COLUMN_COUNT:
            noun = "column" if count == 1 else "columns"
            report(row, f"has {count} {noun}, expected 10", "separate columns with single tabs")
        elif RANGE_ID.fullmatch(name):
            ranges.append(row)
        elif WORD_ID.fullmatch(name):
            words.append(row)
            if int(name) != len(words) and not faults:
                report(row, f"is {name}, expected {len(words)}", "number words from 1", "ID")
        elif not EMPTY_NODE_ID.fullmatch(name):
            report(row, f'is "{name}"', "write 1, a range 1-2, or an empty node 1.1", "ID")
    if faults or not words:
        if rows and not words and not faults:
            report(rows[0], "the sentence has no words", "add words or remove the sentence")
        return None
    heads = [_read_head(row, len(words), report) for row in words]
    for row in ranges:
        first, last = map(int, row.columns[0].split("-"))
        if not first < last <= len(words):
            remedy = "write the first and the last word of the token"
            report(row, f"the range {row.columns[0]} is not in the sentence", remedy, "ID")
    if faults:
        return None
    if (roots := heads.count(0)) != 1:
        remedy = "give exactly one word the head 0"
        report(words[0], f"the sentence has {roots} roots", remedy, "HEAD")
        return None
    if cycle := _find_cycle(heads):
        report(words[cycle - 1], f"word {cycle} depends on itself", "correct the heads", "HEAD")
        return None
    columns = list(zip(*(row.columns for row in words), strict=True))
    tags = tuple("X" if tag == "_" else tag for tag in columns[3])
    tree = DependencyTree(columns[1], tags, tuple(heads), columns[7])
    return _merge_ranges(tree, ranges)


def _read_head(row: _Row, size: int, report: Callable[[_Row, str, str, str], None]) -> int:
    text = row.columns[6]
    if text == "_":
        message = "is missing"
    elif not re.fullmatch(r"[0-9]{1,9}", text):
        message = f'is "{text}"'
    elif int(text) > size:
        message = f"word {text} is not in the sentence"
    else:
        return int(text)
    report(row, message, "write the ID of the head, or 0 for the root", "HEAD")
    return 0


def _find_cycle(heads: Sequence[int]) -> int:
    """Return a word that depends on itself, directly or indirectly, or 0."""
    for word, head in enumerate(heads, 1):
        for _ in heads:
            if head in (0, word):
                break
            head = heads[head - 1]
        if head == word:
            return word
    return 0


def _merge_ranges(tree: DependencyTree, ranges: Sequence[_Row]) -> DependencyTree:
    """Return a tree with one word per multiword token: that of its word closest to the root."""
    if not ranges:
        return tree
    firsts, forms = list(range(len(tree.heads) + 1)), list(tree.words)
    for row in ranges:
        first, last = map(int, row.columns[0].split("-"))
        top = min(range(first, last + 1), key=partial(_find_depth, tree.heads))
        forms[top - 1] = row.columns[1]
        firsts[first : last + 1] = [top] * (last + 1 - first)
    kept = [word for word, top in enumerate(firsts) if word == top]
    numbers = {word: number for number, word in enumerate(kept)}
    rows_kept = (
        (forms[n - 1], tree.tags[n - 1], numbers[firsts[tree.heads[n - 1]]], tree.relations[n - 1])
        for n in kept[1:]
    )
    return DependencyTree(*zip(*rows_kept, strict=True))


def _find_depth(heads: Sequence[int], word: int) -> int:
    depth = 0
    while word:
        word, depth = heads[word - 1], depth + 1
    return depth


# --- Grammars by counting ------------------------------------------------------------------------


RULE_PSEUDOCOUNT = 0.1  # added to every rule of a class
WORD_PSEUDOCOUNT = 1.0  # words of other classes in every class, shared by their frequencies
UNKNOWN_PSEUDOCOUNT = 0.5  # unknown words in every class


def count_treebank(sentences: Iterable[DependencyTree]) -> Grammar:
    """Count the rules of a grammar in dependency trees.

    Punctuation is left out, trees with crossing dependencies are skipped, and function words become
    heads (see the module). Classes are the tags of words. A head of class α with left dependents of
    classes β and right dependents of classes γ uses the rules α → β α, α → α γ and α → w once each,
    in whichever order its dependents are attached.

    0.1 is added to every rule. P(α → w) is the share of α without a dependent left to attach,
    divided among words: unknown words have the share of words that occur once in this class, and a
    word of other classes has a small share.

    Parameters
    ----------
    sentences
        Trees, as of ``read_conllu``.

    Returns
    -------
    Grammar
        ``details`` has the numbers of sentences, words and skipped sentences.

    Examples
    --------
    >>> tree = DependencyTree(("Dogs", "bark"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    >>> grammar = count_treebank([tree])
    >>> grammar.classes, grammar.words
    (('NOUN', 'VERB'), ('<unk>', 'bark', 'dogs'))
    """
    selected = list(map(select_words, sentences))
    projective = [tree for tree in selected if is_projective(tree.heads)]
    trees = [
        tree._replace(heads=promote_function_words(tree.heads, tree.relations))
        for tree in projective
        if tree.words
    ]
    if not trees:
        raise UsageError("no tree without crossing dependencies — give another treebank")
    classes = sorted({tag for tree in trees for tag in tree.tags})
    number, size = {name: index for index, name in enumerate(classes)}, len(classes)
    start, rules = np.zeros(size), np.zeros((2, size, size))
    counts = Counter[tuple[int, str]]()
    for tree in trees:
        tags = [number[tag] for tag in tree.tags]
        counts.update(zip(tags, map(normalise_word, tree.words), strict=True))
        for place, (tag, head) in enumerate(zip(tags, tree.heads, strict=True), 1):
            if head:
                rules[int(place > head), tags[head - 1], tag] += 1
            else:
                start[tag] += 1
    words = (UNKNOWN_WORD, *sorted({word for _, word in counts} - {UNKNOWN_WORD}))
    emission = _smooth_words(counts, words, size)
    left, right = rules + RULE_PSEUDOCOUNT
    smoothed = RuleCounts(start + RULE_PSEUDOCOUNT, left, right, emission)
    details = {
        "method": "treebank",
        "sentences": len(trees),
        "words": counts.total(),
        "skipped_sentences": len(selected) - len(projective),
        "determiners_as_heads": True,
    }
    empty = Grammar(tuple(classes), words, *smoothed, class_counts=start, details=details)
    return normalise_counts(smoothed, empty)


def _smooth_words(counts: Counter[tuple[int, str]], words: Sequence[str], classes: int) -> Floats:
    """Return the number of words of every class, with shares for unknown words and other words."""
    index = {word: place for place, word in enumerate(words)}
    numbers = np.zeros((classes, len(words)))
    for (tag, word), count in counts.items():
        numbers[tag, index[word]] += count
    totals = numbers.sum(1, keepdims=True)
    once = (numbers == 1).sum(1, keepdims=True)
    unknown = (once + UNKNOWN_PSEUDOCOUNT) / (totals + 2 * UNKNOWN_PSEUDOCOUNT)
    frequencies = numbers.sum(0) / numbers.sum()
    shares = (numbers + WORD_PSEUDOCOUNT * frequencies) / (totals + WORD_PSEUDOCOUNT)
    shares *= 1 - unknown
    shares[:, :1] += unknown
    smoothed: Floats = totals * shares
    return smoothed
