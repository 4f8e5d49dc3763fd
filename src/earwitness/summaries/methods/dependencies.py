"""Dependency grammars estimated from text files and treebanks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from earwitness.core import Progress, StrPath, no_progress
from earwitness.errors import InputError, Problem, UsageError, refuse_problems
from earwitness.io.source import RecordSource
from earwitness.summaries.methods.grammar import Grammar
from earwitness.summaries.methods.grammar_estimation import estimate_grammar
from earwitness.summaries.methods.treebank import (
    DependencyTree,
    count_treebank,
    decode_lines,
    read_conllu,
)
from earwitness.text.sentences import is_ended, split_sentences
from earwitness.text.words import split_at_blanks

# Shares of lines with an end mark up to which, and from which, every line is a sentence of its own
MAX_UNMARKED_SHARE, MIN_MARKED_SHARE = 0.02, 0.9
Paths = StrPath | Iterable[StrPath]


def train_grammar(
    paths: Paths,
    *,
    classes: int = 10,
    iterations: int = 10,
    seed: int = 0,
    treebank: Paths = (),
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
        Number of word classes, for texts without a treebank.
    iterations
        Number of iterations over the text.
    seed
        Random seed.
    treebank
        More treebanks, with any extension.
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
    problems = list[Problem]()
    files = [(path, ".conllu" in Path(path).suffixes) for path in _list_paths(paths)]
    files += [(path, True) for path in _list_paths(treebank)]
    for path, is_treebank in files:
        source = RecordSource(path)
        try:
            if is_treebank:
                trees += read_conllu(source)
            else:
                sentences += map(split, read_sentences(source))
        except InputError as error:
            problems += error.problems
        read = source.read()
        inputs.append({"name": Path(read.name).name, "sha256": read.sha256})
    refuse_problems(problems, "estimated")
    if not inputs:
        raise UsageError("no files to estimate a grammar from — give text files or treebanks")
    counted = count_treebank(trees) if any(is_treebank for _, is_treebank in files) else None
    if counted is not None and not sentences:
        return replace(counted, details={**counted.details, "inputs": inputs})
    grammar = estimate_grammar(
        sentences,
        classes=classes,
        iterations=iterations,
        seed=seed,
        start=counted,
        weight=float(counted is not None),
        progress=progress,
    )
    own = {} if counted is None else {"treebank": dict(counted.details)}
    return replace(grammar, details={**grammar.details, "inputs": inputs, **own})


def read_sentences(source: RecordSource) -> list[str]:
    """Return the sentences of a text file.

    If nearly no line ends with an end mark, or nearly all lines do, no sentence continues on the
    next line; otherwise sentences may. Lines that start with ``#`` are comments.
    """
    problems = list[Problem]()
    lines = [line for _, line in decode_lines(source, problems) if not line.startswith("#")]
    refuse_problems(problems, "estimated")
    filled = [line for line in lines if line.strip()]
    share = sum(is_ended(line.rstrip()) for line in filled) / max(len(filled), 1)
    if share <= MAX_UNMARKED_SHARE or share >= MIN_MARKED_SHARE:
        return [sentence for line in filled for sentence in split_sentences(line)]
    return split_sentences("\n".join(lines))


def _list_paths(values: Paths) -> list[StrPath]:
    return [values] if isinstance(values, str | os.PathLike) else list(values)
