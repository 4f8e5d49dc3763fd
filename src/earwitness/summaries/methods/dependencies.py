"""Dependency models for the concatenation score: grammar files, spaCy pipelines and training."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from math import log
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from earwitness.core import Progress, StrPath, no_progress
from earwitness.errors import InputError, Problem, UsageError
from earwitness.io.source import RecordSource
from earwitness.summaries.methods.compaction import Floats
from earwitness.summaries.methods.grammar import (
    Grammar,
    fill_neutral,
    load_grammar,
)
from earwitness.summaries.methods.grammar_estimation import estimate_grammar
from earwitness.summaries.methods.treebank import (
    DependencyTree,
    count_treebank,
    find_joined_words,
    promote_function_words,
    read_conllu,
)
from earwitness.text.sentences import is_ended, split_sentences
from earwitness.text.words import is_spoken, split_at_blanks

# --- Models --------------------------------------------------------------------------------------


class DependencyModel(Protocol):
    """A model of the concatenation score T."""

    @property
    def signature(self) -> str:
        """Name and version or hash of the model."""

    def score_dependencies(self, words: Sequence[str], /) -> Floats:
        """Return T(m, n) by places m < n, shape (N + 2, N + 2); all other entries are 0."""


def open_dependency_model(name: StrPath) -> DependencyModel:
    """Open a grammar file, or an installed spaCy pipeline by its name.

    A name with a folder, the extension ``.json``, or of an existing file is a grammar file.
    """
    text = os.fspath(name)
    if Path(text).is_file() or text.endswith(".json") or len(Path(text).parts) > 1:
        return load_grammar(text)
    return SpacyDependencies(text)


UNJOINED_SCORE = log(0.01)  # of two words that no dependency of the tree joins


class SpacyDependencies:
    """Concatenation scores of an installed spaCy pipeline.

    The pipeline parses the given words, without splitting them. Function words become heads as in
    treebanks (``treebank.promote_function_words``; labels of other annotations are left as they
    are). T is 0 if a dependency of the tree joins two words, and ``floor`` otherwise, also for
    words of different sentences. Pairs with a word without a letter or a digit, such as a comma,
    have the mean score of the other pairs at the same distance.

    Parameters
    ----------
    name
        Name of the pipeline, such as ``fr_core_news_sm`` or ``ja_ginza``.
    floor
        Score of words that no dependency joins.
    determiners
        Whether determiners become heads, too.

    Raises
    ------
    UsageError
        spaCy or the pipeline is not installed, or the pipeline has no parser.
    """

    def __init__(
        self, name: str, *, floor: float = UNJOINED_SCORE, determiners: bool = True
    ) -> None:
        self.floor, self.determiners = floor, determiners
        try:
            spacy = import_module("spacy")
            self._document: Callable[..., Any] = import_module("spacy.tokens").Doc
        except ImportError:
            raise UsageError(
                f'"{name}" is not a grammar file, and spaCy is not installed — give a grammar '
                "file (.json), or install the packages spacy and that of the pipeline"
            ) from None
        try:
            self._pipeline: Any = spacy.load(name.replace("-", "_"))
        except (OSError, ValueError, ImportError) as error:
            reason = " ".join(str(error).split())
            raise UsageError(
                f'the spaCy pipeline "{name}" cannot be loaded: {reason} — install it, or give a '
                "grammar file"
            ) from error
        if "parser" not in self._pipeline.pipe_names:
            raise UsageError(f'the spaCy pipeline "{name}" has no parser — choose another pipeline')
        meta = self._pipeline.meta
        self.signature = (
            f"spacy={spacy.__version__},{meta['lang']}_{meta['name']}={meta['version']},"
            f"floor={floor:.6g},determiners={'heads' if determiners else 'dependents'}"
        )

    def score_dependencies(self, words: Sequence[str], /) -> Floats:
        """Return the concatenation scores of words by places, shape (N + 2, N + 2)."""
        scores = np.zeros((len(words) + 2, len(words) + 2))
        if not words:
            return scores
        document = self._pipeline(self._document(self._pipeline.vocab, words=list(words)))
        if len(document) != len(words):
            raise UsageError("the spaCy pipeline merges or splits words — choose another pipeline")
        heads = [0 if token.head.i == token.i else token.head.i + 1 for token in document]
        relations = [token.dep_ for token in document]
        promoted = promote_function_words(heads, relations, determiners=self.determiners)
        pairs = np.where(find_joined_words(promoted), 0.0, self.floor)
        unspoken = [place for place, word in enumerate(words) if not is_spoken(word)]
        pairs[unspoken] = pairs[:, unspoken] = np.nan
        scores[1:-1, 1:-1] = np.triu(fill_neutral(pairs), 1)
        return scores


# --- Training ------------------------------------------------------------------------------------


# Shares of lines with an end mark up to which, and from which, every line is a sentence of its own
MAX_UNMARKED_SHARE, MIN_MARKED_SHARE = 0.02, 0.9


def train_grammar(
    paths: StrPath | Iterable[StrPath],
    *,
    classes: int = 10,
    iterations: int = 10,
    seed: int = 0,
    treebank: StrPath | Iterable[StrPath] = (),
    weight: float = 1.0,
    determiners: bool = True,
    split: Callable[[str], list[str]] = split_at_blanks,
    progress: Progress = no_progress,
) -> Grammar:
    """Estimate a grammar from text files, CoNLL-U treebanks, or both.

    Text alone: inside–outside from a random start. Treebanks alone: counted rules. Both:
    inside–outside from the counted rules, which are added to the counts of every iteration.

    Parameters
    ----------
    paths
        Text files in UTF-8, and treebanks with the extension ``.conllu``.
    classes
        Number of classes, if there is no treebank.
    iterations
        Number of iterations over the text.
    seed
        Seed of the random start.
    treebank
        More treebanks, with any extension.
    weight
        Weight of the counts of treebanks in every iteration; 0: they are only the start.
    determiners
        Whether determiners of treebanks become heads, too.
    split
        Function that splits a sentence into words.
    progress
        Called with sentences done, sentences of all iterations, and iterations done.

    Returns
    -------
    Grammar
        ``details`` has the numbers of sentences and words, the log likelihoods, and the files.
    """
    inputs, trees, sentences = list[dict[str, str]](), list[DependencyTree](), list[list[str]]()
    problems, has_treebank = list[Problem](), False
    for path, is_treebank in _sort_paths(paths, treebank):
        source = RecordSource(path)
        has_treebank |= is_treebank
        try:
            if is_treebank:
                trees += read_conllu(source)
            else:
                sentences += map(split, read_sentences(source))
        except InputError as error:
            problems += error.problems
        read = source.read()
        inputs.append({"name": Path(read.name).name, "sha256": read.sha256})
    if problems:
        raise InputError(problems, done="estimated")
    if not inputs:
        raise UsageError("no files to estimate a grammar from — give text files or treebanks")
    counted = count_treebank(trees, determiners=determiners) if has_treebank else None
    if counted is not None and not sentences:
        return replace(counted, details={**counted.details, "inputs": inputs})
    grammar = estimate_grammar(
        sentences,
        classes=classes,
        iterations=iterations,
        seed=seed,
        start=counted,
        weight=weight if counted else 0.0,
        progress=progress,
    )
    details = {**grammar.details, "inputs": inputs}
    if counted is not None:
        details["treebank"] = dict(counted.details)
    return replace(grammar, details=details)


def read_sentences(source: RecordSource) -> list[str]:
    """Return the sentences of a text file.

    If nearly no line ends with an end mark, or nearly all lines do, no sentence continues on the
    next line; otherwise sentences may. Lines that start with ``#`` are comments.
    """
    lines, problems = list[str](), list[Problem]()
    for block in source.blocks():
        for number, line in enumerate(block.lines, block.line):
            try:
                lines.append(line.decode())
            except UnicodeDecodeError:
                remedy = "save the file as UTF-8"
                problems.append(Problem(source.name, number, "", "is not UTF-8", remedy))
    if problems:
        raise InputError(problems, done="estimated")
    lines = [line for line in lines if not line.startswith("#")]
    filled = [line for line in lines if line.strip()]
    share = sum(is_ended(line.rstrip()) for line in filled) / max(len(filled), 1)
    if share <= MAX_UNMARKED_SHARE or share >= MIN_MARKED_SHARE:
        return [sentence for line in filled for sentence in split_sentences(line)]
    return split_sentences("\n".join(lines))


def _sort_paths(
    paths: StrPath | Iterable[StrPath], treebank: StrPath | Iterable[StrPath]
) -> list[tuple[StrPath, bool]]:
    """Return all paths, and whether each is a treebank."""

    def as_list(values: StrPath | Iterable[StrPath]) -> list[StrPath]:
        return [values] if isinstance(values, str | os.PathLike) else list(values)

    texts = [(path, ".conllu" in Path(path).suffixes) for path in as_list(paths)]
    return texts + [(path, True) for path in as_list(treebank)]
