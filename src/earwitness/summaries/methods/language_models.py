"""Trigram language models of compaction: pocketsphinx, ARPA files, their fit, and training.

Words are looked up in lower case and without punctuation. A word that the model does not know has
one constant probability (10⁻⁷ by default) in every context, and as context it is skipped: a shorter
context is used. Scores are natural logarithms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import version
from itertools import chain
from math import exp, log, nan
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from earwitness.core import StrPath
from earwitness.errors import InputError, MissingExtra, Problem, UsageError, nearest
from earwitness.io.source import RecordSource
from earwitness.models.cache import hash_file
from earwitness.speech.pronunciation import LANGUAGE_MODEL_FILE, LOG_BASE, find_model_folder
from earwitness.summaries.methods.compaction import Floats, Ints, SpokenUtterance, TrigramScores
from earwitness.text.ngrams import (
    NO_PROBABILITY_LOG10,
    SENTENCE_END,
    SENTENCE_START,
    UNKNOWN,
    NGramModel,
    PackedNGrams,
    estimate_model,
    read_arpa,
)
from earwitness.text.sentences import split_sentences
from earwitness.text.words import TOKENIZERS, is_spoken, normalise_word

LN_10 = log(10)
UNKNOWN_WORD_LOG10 = -7.0  # probability of a word that a language model does not know
UNKNOWN_WORD_SCORE = UNKNOWN_WORD_LOG10 * LN_10
RESERVED_WORDS = (SENTENCE_START, SENTENCE_END, UNKNOWN)

# --- Language models -----------------------------------------------------------------------------


class LanguageModel(Protocol):
    """A trigram language model."""

    @property
    def signature(self) -> str:
        """Kind, content and settings of the model."""
        ...

    def knows(self, word: str) -> bool:
        """Whether the model has a word."""
        ...

    def score_places(self, words: Sequence[str]) -> TrigramScores:
        """Return the scores of any three places of an utterance."""
        ...


def open_language_model(name: str) -> LanguageModel:
    """Open a language model.

    Parameters
    ----------
    name
        ``"pocketsphinx"`` (the English model inside that package), or the path of an ARPA file,
        which may be compressed by gzip.

    Raises
    ------
    UsageError
        If the model does not exist.
    InputError
        If the file is not a complete ARPA file.

    Examples
    --------
    >>> model = open_language_model("pocketsphinx")
    >>> model.knows("Rain!"), model.knows("zorblax")
    (True, False)
    """
    if name == "pocketsphinx":
        return PocketsphinxModel()
    if not Path(name).is_file():
        raise UsageError(f"{name}: does not exist — use pocketsphinx, or the path of an ARPA file")
    try:
        digest = hash_file(Path(name))[:16]
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from None
    return ArpaModel(read_arpa(name), f"arpa,sha256={digest}")


@dataclass(frozen=True)
class _PlaceTypes:
    """Different words of an utterance, and the one of each place.

    Word 0 is any word that the model does not know, or no word.
    """

    keys: tuple[str, ...]
    by_place: Ints

    @classmethod
    def from_words(cls, words: Sequence[str], find_key: Callable[[str], str | None]) -> _PlaceTypes:
        """Number words by the keys under which the model has them."""
        numbers = {"": 0, SENTENCE_START: 1, SENTENCE_END: 2}
        types = [numbers.setdefault(find_key(word) or "", len(numbers)) for word in words]
        return cls(tuple(numbers), np.array([1, *types, 2], np.int64))

    def look_up(self, before: Ints, last: Ints, following: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the words at places; 0 for words before an unknown one or before the start."""
        lasts = self.by_place[last]
        befores = np.where((before == last) | (lasts == 0), 0, self.by_place[before])
        return befores, lasts, self.by_place[following]


# --- The model of pocketsphinx


POCKETSPHINX_UNKNOWN = -(1 << 28)  # logarithms of unknown words are below it


class PocketsphinxModel:
    """The English trigram model inside the package pocketsphinx."""

    def __init__(self) -> None:
        self._prob: Callable[[Sequence[str]], int] = _load_pocketsphinx().prob
        self._known = dict.fromkeys(RESERVED_WORDS, False)

    @property
    def signature(self) -> str:
        """Version of the package, and the probability of unknown words."""
        return f"pocketsphinx={version('pocketsphinx')},unknown={UNKNOWN_WORD_LOG10:g}"

    def knows(self, word: str) -> bool:
        """Whether the model has a word."""
        return self._find_key(word) is not None

    def _find_key(self, word: str) -> str | None:
        key = normalise_word(word)
        if key not in self._known:
            self._known[key] = "\0" not in key and self._prob([key]) > POCKETSPHINX_UNKNOWN
        return key if self._known[key] else None

    def score_places(self, words: Sequence[str]) -> TrigramScores:
        """Return the scores of any three places of an utterance; each is computed once."""
        return _PocketsphinxScores(_PlaceTypes.from_words(words, self._find_key), self._prob)


@cache
def _load_pocketsphinx() -> Any:
    try:
        folder = find_model_folder()
    except MissingExtra:
        raise MissingExtra("pocketsphinx", "summarizer", "the English language model") from None
    return import_module("pocketsphinx").NGramModel.readfile(str(folder / LANGUAGE_MODEL_FILE))


class _PocketsphinxScores:
    """Scores of the places of an utterance, computed once for equal words."""

    def __init__(self, types: _PlaceTypes, prob: Callable[[Sequence[str]], int]) -> None:
        self._types, self._prob = types, prob

    def __call__(self, before: Ints, last: Ints, following: Ints) -> Floats:
        befores, lasts, words = self._types.look_up(before, last, following)
        size = len(self._types.keys)
        different, inverse = np.unique((befores * size + lasts) * size + words, return_inverse=True)
        values = self._query(different)[inverse].reshape(words.shape)
        return np.where(words == 0, UNKNOWN_WORD_SCORE, values * log(LOG_BASE))

    def _query(self, codes: Ints) -> Ints:
        """Return the scores of different triples of words in the log base of pocketsphinx."""
        keys, prob, size = self._types.keys, self._prob, len(self._types.keys)
        pairs, words = np.divmod(codes, size)
        befores, lasts = np.divmod(pairs, size)
        triples = zip(words.tolist(), lasts.tolist(), befores.tolist(), strict=True)
        # an unknown word as context, such as "", is skipped
        found = [prob((keys[c], keys[b], keys[a])) if c else -1 for c, b, a in triples]
        return np.array(found, np.int64)


# --- ARPA models


class ArpaModel:
    """A language model of n-grams, of which those of up to three words are used."""

    def __init__(self, ngrams: PackedNGrams, name: str = "arpa") -> None:
        self._name, self._ngrams = name, ngrams
        self._has_probability = self._ngrams.levels[0].logs > NO_PROBABILITY_LOG10 + 1

    @property
    def signature(self) -> str:
        """Content of the file, and the probability of unknown words."""
        return f"{self._name},unknown={UNKNOWN_WORD_LOG10:g}"

    def knows(self, word: str) -> bool:
        """Whether the model has a word, in any case of letters, with a probability."""
        return self._find_key(word) is not None

    def _find_key(self, word: str) -> str | None:
        """Return the word as the model has it: in lower case, or the most probable form."""
        key = normalise_word(word)
        if key not in self._ngrams.numbers:
            key = self._forms.get(key, "")
        number = self._ngrams.numbers.get(key)
        is_known = number is not None and self._has_probability[number]
        return key if is_known and key not in RESERVED_WORDS else None

    @cached_property
    def _forms(self) -> Mapping[str, str]:
        """The most probable word with upper-case or compatible characters, by its plain form."""
        order = np.argsort(self._ngrams.levels[0].logs, kind="stable").tolist()
        words, plain = map(self._ngrams.words.__getitem__, order), normalise_word.__wrapped__
        return {
            plain(word): word
            for word in words
            if not (word.isascii() and word.islower() and word.isalnum())
        }

    def score_places(self, words: Sequence[str]) -> TrigramScores:
        """Return the scores of any three places of an utterance."""
        return _ArpaScores(_PlaceTypes.from_words(words, self._find_key), self._ngrams)


class _ArpaScores:
    """Scores of the places of an utterance, from tables of the pairs of its different words."""

    def __init__(self, types: _PlaceTypes, ngrams: PackedNGrams) -> None:
        self._types, self._ngrams = types, ngrams
        numbers = np.array([ngrams.numbers.get(key, -1) for key in types.keys], np.int64)
        numbers[0] = -1
        self._numbers = numbers
        singles = _take(ngrams, 1, "logs", numbers, UNKNOWN_WORD_LOG10)
        backoffs = _take(ngrams, 1, "backoffs", numbers, 0.0)
        self._rows = ngrams.find_rows(2, numbers[:, None], numbers)
        self._pairs = _take(ngrams, 2, "logs", self._rows, backoffs[:, None] + singles)
        self._backoffs = _take(ngrams, 2, "backoffs", self._rows, 0.0)

    def __call__(self, before: Ints, last: Ints, following: Ints) -> Floats:
        befores, lasts, words = self._types.look_up(before, last, following)
        scores = self._backoffs[befores, lasts] + self._pairs[lasts, words]
        contexts = self._rows[befores, lasts]
        places = np.nonzero(contexts >= 0)
        rows = self._ngrams.find_rows(3, contexts[places], self._numbers[words[places]])
        scores[places] = _take(self._ngrams, 3, "logs", rows, scores[places])
        return np.where(words == 0, UNKNOWN_WORD_SCORE, scores * LN_10)


def _take(
    ngrams: PackedNGrams, size: int, column: str, rows: Ints, default: float | Floats
) -> Floats:
    """Return the logarithms of n-grams or of their back-off weights; a default without any."""
    if size > len(ngrams.levels) or not len(ngrams.levels[size - 1].codes):
        return np.full(rows.shape, default)
    values: Floats = getattr(ngrams.levels[size - 1], column)[rows]
    return np.where((rows >= 0) & ~np.isnan(values), values, default)


# --- Fit of a language model ---------------------------------------------------------------------


MAX_LISTED_UNKNOWN_WORDS = 20


@dataclass(frozen=True)
class LanguageModelFit:
    """How well a language model fits to utterances.

    ``oov_rate`` is the share of words that the model does not know. ``perplexity`` is that of the
    known words and of the ends of the utterances; unknown words are left out of it. Both are NaN if
    there is no word. ``unknown_words`` are the most frequent ones in lower case, up to twenty.
    """

    oov_rate: float
    perplexity: float
    words: int
    unknown_words: tuple[str, ...]


def measure_fit(model: LanguageModel, utterances: Iterable[SpokenUtterance]) -> LanguageModelFit:
    """Measure the out-of-vocabulary rate and the perplexity of a language model.

    Every utterance is a sentence. Utterances without words are left out, and punctuation marks that
    the model does not know are not counted.

    Examples
    --------
    >>> model = open_language_model("pocketsphinx")
    >>> fit = measure_fit(model, [SpokenUtterance(("it", "rained", "in", "zorblax"))])
    >>> fit.oov_rate, round(fit.perplexity), fit.unknown_words
    (0.25, 88, ('zorblax',))
    """
    total, places, words = 0.0, 0, 0
    unknown = Counter[str]()
    for utterance in utterances:
        if not utterance.words:
            continue
        following = np.arange(1, len(utterance.words) + 2)
        last = following - 1
        scores = model.score_places(utterance.words)(np.maximum(last - 1, 0), last, following)
        is_known = np.array([*map(model.knows, utterance.words), True])
        total += float(scores[is_known].sum())
        places += int(is_known.sum())
        pairs = zip(utterance.words, is_known[:-1], strict=True)
        missing = [word for word, known in pairs if not known]
        spoken = list(filter(is_spoken, missing))
        words += len(utterance.words) - len(missing) + len(spoken)
        unknown.update(map(normalise_word, spoken))
    if not words:
        return LanguageModelFit(nan, nan, 0, ())
    listed = sorted(unknown, key=lambda word: (-unknown[word], word))[:MAX_LISTED_UNKNOWN_WORDS]
    return LanguageModelFit(unknown.total() / words, exp(-total / places), words, tuple(listed))


# --- Training ------------------------------------------------------------------------------------


MAX_TRAINED_ORDER = 5


def train_language_model(
    sources: Iterable[StrPath], order: int = 3, tokenize: str = "blanks"
) -> NGramModel:
    """Estimate a language model by Kneser–Ney smoothing from plain text.

    Parameters
    ----------
    sources
        Paths of text files in UTF-8 (``Path`` objects, may be compressed by gzip), or lines
        (strings). A line has one or more sentences.
    order
        Length of the longest n-grams, 1 to 5.
    tokenize
        ``"blanks"`` or ``"japanese"`` (janome, extra ``ja``).

    Returns
    -------
    NGramModel
        A model of words in lower case without punctuation; ``write_arpa`` writes it.

    Raises
    ------
    InputError
        If a file cannot be read.
    UsageError
        If the text has no words, or an argument is invalid.

    Examples
    --------
    >>> model = train_language_model(["It rains. It snows!"])
    >>> round(10 ** model.log_probability("rains", ["it"]), 2)
    0.28
    """
    if not 1 <= order <= MAX_TRAINED_ORDER:
        raise UsageError(f"order is {order} — use 1 to {MAX_TRAINED_ORDER}")
    if tokenize not in TOKENIZERS:
        raise UsageError(f'unknown tokenizer "{tokenize}" — {nearest(tokenize, TOKENIZERS)}')
    sentences = _split_text(sources, TOKENIZERS[tokenize])
    first = next(sentences, None)
    if first is None:
        raise UsageError("the text has no words — give text files with sentences")
    return estimate_model(chain([first], sentences), order)


def _split_text(
    sources: Iterable[StrPath], tokenize: Callable[[str], list[str]]
) -> Iterator[list[str]]:
    """Yield the words of every sentence that has words; marks such as ``<s>`` are left out."""
    for source in sources:
        for line in [source] if isinstance(source, str) else _read_lines(Path(source)):
            for sentence in split_sentences(line):
                words = (
                    part for word in tokenize(sentence) for part in normalise_word(word).split()
                )
                if kept := [
                    word for word in words if is_spoken(word) and word not in RESERVED_WORDS
                ]:
                    yield kept


def _read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file."""
    try:
        for block in RecordSource(path).blocks():
            for number, line in enumerate(block.lines, block.line):
                try:
                    yield line.decode()
                except UnicodeDecodeError:
                    remedy = "convert the file to UTF-8"
                    problem = Problem(str(path), number, "", "is not UTF-8", remedy)
                    raise InputError([problem]) from None
    except InputError as error:
        raise InputError(error.problems, error.count, done="trained") from None
