"""Language models of n-grams: Kneser–Ney estimation from text, arrays, and ARPA files.

Interpolated Kneser–Ney smoothing with one discount D = n1 / (n1 + 2 n2) per order, where n1 and n2
are the numbers of n-grams that occur once and twice. The highest order counts occurrences; lower
orders count in how many different contexts an n-gram occurs (Chen and Goodman 1999). Unigrams are
interpolated with the uniform distribution, which is also the probability of unknown words.

Models that are read from files are kept in arrays (``PackedNGrams``), 24 bytes per n-gram.
"""

from __future__ import annotations

import gzip
import re
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, log10, nan
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.core import StrPath
from earwitness.errors import SHOWN_PROBLEMS, Problem, refuse_problems

SENTENCE_START, SENTENCE_END, UNKNOWN = "<s>", "</s>", "<unk>"
NO_PROBABILITY_LOG10 = -99.0  # of the start of a sentence, which is never predicted
DEFAULT_DISCOUNT = 0.5  # if no n-gram occurs once, or none twice

NGram = tuple[str, ...]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class NGramModel:
    """Base-10 logarithms of probabilities and of back-off weights, by n-gram."""

    order: int
    log_probabilities: Mapping[NGram, float]
    log_backoffs: Mapping[NGram, float]

    def log_probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return the base-10 logarithm of the probability of a word after its context."""
        if (word,) not in self.log_probabilities:
            word = UNKNOWN
        used = tuple(context)[max(0, len(context) - self.order + 1) :]
        total = 0.0
        while (*used, word) not in self.log_probabilities:
            if not used:
                return NO_PROBABILITY_LOG10
            total += self.log_backoffs.get(used, 0.0)
            used = used[1:]
        return total + self.log_probabilities[(*used, word)]


# --- Estimation ----------------------------------------------------------------------------------


def estimate_model(
    sentences: Iterable[Sequence[str]],
    order: int = 3,
    *,
    background: Mapping[str, float] | None = None,
) -> NGramModel:
    """Estimate a model from sentences, each a list of words.

    Parameters
    ----------
    sentences
        Words of every sentence.
    order
        Length of the longest n-grams.
    background
        Probabilities of words from elsewhere; half of the probability of single words.

    Returns
    -------
    NGramModel
        The model; the probabilities of all words in any context sum to 1.

    Examples
    --------
    >>> model = estimate_model([["it", "rains"], ["it", "snows"]])
    >>> round(10 ** model.log_probability("it", ["<s>"]), 2)
    0.73
    """
    counts = _count_ngrams(sentences, order)
    return _interpolate(_kneser_ney_counts(counts, order), order, background or {})


def _count_ngrams(sentences: Iterable[Sequence[str]], order: int) -> list[Counter[NGram]]:
    """Return the counts of n-grams of each order; the start of a sentence is only a context."""
    counts = [Counter[NGram]() for _ in range(order)]
    for sentence in sentences:
        words = (SENTENCE_START, *sentence, SENTENCE_END)
        for size in range(1, order + 1):
            counts[size - 1].update(
                words[place : place + size] for place in range(len(words) - size + 1)
            )
    del counts[0][(SENTENCE_START,)]
    return counts


def _kneser_ney_counts(counts: Sequence[Counter[NGram]], order: int) -> list[Mapping[NGram, int]]:
    """Return occurrences for the highest order, and numbers of preceding words for the others.

    N-grams at the start of a sentence have no word before them; their occurrences count.
    """
    adjusted = list[Mapping[NGram, int]]()
    for size in range(1, order):
        before = Counter(ngram[1:] for ngram in counts[size])
        starts = {n: c for n, c in counts[size - 1].items() if n[0] == SENTENCE_START}
        adjusted.append({**before, **(starts if size > 1 else {})})
    return [*adjusted, counts[-1]]


def _interpolate(
    counts: Sequence[Mapping[NGram, int]], order: int, background: Mapping[str, float]
) -> NGramModel:
    probabilities = dict[NGram, float]()
    backoffs = dict[NGram, float]()
    vocabulary = {ngram[0] for ngram in counts[0]} - {SENTENCE_START} | {SENTENCE_END, UNKNOWN}
    for size in range(1, order + 1):
        found = counts[size - 1]
        discount = _discount(found)
        totals, kinds = defaultdict[NGram, int](int), defaultdict[NGram, int](int)
        for ngram, count in found.items():
            totals[ngram[:-1]] += count
            kinds[ngram[:-1]] += 1
        if size == 1:
            rest = discount * kinds[()] / totals[()] if totals[()] else 1.0
            for word in sorted(vocabulary):
                own = max(found.get((word,), 0) - discount, 0) / totals[()] if totals[()] else 0.0
                probabilities[(word,)] = own + rest / len(vocabulary)
            _mix_background(probabilities, background)
            continue
        for context, total in totals.items():
            backoffs[context] = discount * kinds[context] / total
        for ngram, count in found.items():
            context = ngram[:-1]
            lower = probabilities[ngram[1:]]
            own = (count - discount) / totals[context]
            probabilities[ngram] = own + backoffs[context] * lower
    logs = {ngram: log10(value) for ngram, value in probabilities.items()}
    logs[(SENTENCE_START,)] = NO_PROBABILITY_LOG10
    return NGramModel(order, logs, {context: log10(value) for context, value in backoffs.items()})


def _mix_background(probabilities: dict[NGram, float], background: Mapping[str, float]) -> None:
    """Change the probabilities of single words to the mean with those of the background."""
    total = sum(background.values())
    if total > 0:
        for ngram in probabilities:
            probabilities[ngram] /= 2
        for word, value in background.items():
            probabilities[(word,)] = probabilities.get((word,), 0.0) + value / total / 2


def _discount(counts: Mapping[NGram, int]) -> float:
    once, twice = (list(counts.values()).count(number) for number in (1, 2))
    return once / (once + 2 * twice) if once and twice else DEFAULT_DISCOUNT


# --- Models in arrays ----------------------------------------------------------------------------


class NGramLevel(NamedTuple):
    """N-grams of one length, sorted by ``codes``: row of the context · vocabulary + last word.

    The row of a context is its row in the level below; the row of a single word is its number.
    Values are base-10 logarithms; NaN where an n-gram has none.
    """

    codes: Ints
    logs: Floats
    backoffs: Floats


@dataclass(frozen=True)
class PackedNGrams:
    """N-grams as arrays: the words by number, and one level per length of n-grams."""

    words: tuple[str, ...]
    levels: tuple[NGramLevel, ...]

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Numbers of words."""
        return {word: number for number, word in enumerate(self.words)}

    def find_rows(self, size: int, contexts: Ints, words: Ints) -> Ints:
        """Return the rows of n-grams in their level, or -1.

        Parameters
        ----------
        size
            Length of the n-grams, at least 2.
        contexts
            Rows of their contexts in the level below; negative if unknown.
        words
            Numbers of their last words; negative if unknown.
        """
        codes = self.levels[size - 1].codes if size <= len(self.levels) else np.empty(0, np.int64)
        wanted = contexts * len(self.words) + words
        rows = np.searchsorted(codes, wanted)
        rows[rows == len(codes)] = -1
        is_found = (contexts >= 0) & (words >= 0) & (rows >= 0)
        is_found[is_found] = codes[rows[is_found]] == wanted[is_found]
        return np.where(is_found, rows, -1)


class _Columns(NamedTuple):
    """N-grams of one length in any order: numbers of words (n-grams × length), and values."""

    numbers: NDArray[np.int32]
    logs: Floats
    backoffs: Floats


def _pack_columns(words: Sequence[str], columns: list[_Columns]) -> PackedNGrams:
    """Return sorted levels; the first one has all words in the order of their numbers."""
    packed = PackedNGrams(tuple(words), ())
    for numbers, logs, backoffs in columns:
        contexts = _find_contexts(packed, numbers)
        if (contexts < 0).any():
            return _pack_columns(words, _add_contexts(columns))
        codes = contexts * len(words) + numbers[:, -1]
        order = np.argsort(codes, kind="stable")
        level = NGramLevel(codes[order], logs[order], backoffs[order])
        packed = PackedNGrams(packed.words, (*packed.levels, level))
    return packed


def _find_contexts(packed: PackedNGrams, numbers: NDArray[np.int32]) -> Ints:
    """Return the rows of the contexts of n-grams; 0 for single words, -1 if not found."""
    rows = np.zeros(len(numbers), np.int64)
    for place in range(numbers.shape[1] - 1):
        words = numbers[:, place].astype(np.int64)
        rows = packed.find_rows(place + 1, rows, words) if place else words
    return rows


def _add_contexts(columns: Sequence[_Columns]) -> list[_Columns]:
    """Return n-grams with contexts that were missing in the level below, which have no values."""
    closed = list(columns)
    for size in range(len(columns), 2, -1):
        below = closed[size - 2]
        both = np.concatenate([below.numbers, closed[size - 1].numbers[:, :-1]])
        _, firsts = np.unique(both, axis=0, return_index=True)
        added = both[firsts[firsts >= len(below.numbers)]]
        nothing = np.full(len(added), nan)
        closed[size - 2] = _Columns(
            np.concatenate([below.numbers, added]),
            np.concatenate([below.logs, nothing]),
            np.concatenate([below.backoffs, nothing]),
        )
    return closed


# --- Writer of ARPA files ------------------------------------------------------------------------


def write_arpa(model: NGramModel) -> Iterator[str]:
    """Yield the lines of a model as an ARPA file."""
    sizes = range(1, model.order + 1)
    ngrams = {size: sorted(n for n in model.log_probabilities if len(n) == size) for size in sizes}
    yield "\\data\\\n"
    yield from (f"ngram {size}={len(ngrams[size])}\n" for size in sizes)
    for size in sizes:
        yield f"\n\\{size}-grams:\n"
        for ngram in ngrams[size]:
            backoff = model.log_backoffs.get(ngram)
            weight = "" if backoff is None else f"\t{backoff:.6f}"
            yield f"{model.log_probabilities[ngram]:.6f}\t{' '.join(ngram)}{weight}\n"
    yield "\n\\end\\\n"


# --- Reader of ARPA files ------------------------------------------------------------------------


ARPA_START, ARPA_END = b"\\data\\", b"\\end\\"
ARPA_COUNT = re.compile(rb"ngram\s+(\d{1,18})\s*=\s*(\d{1,18})\b")
ARPA_SECTION = re.compile(rb"\\(\d{1,9})-grams:", re.IGNORECASE)
UNFINISHED_HEADS = (b"iARPA", b"qARPA")  # first lines of intermediate and quantized files of IRSTLM
MAX_ROUNDING_LOG10 = 1e-3  # a probability just above 1 by rounding
MAX_QUOTED_BYTES = 80
GZIP_MAGIC, UTF8_BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
RESERVED_WORDS = {word.encode(): word for word in (SENTENCE_START, SENTENCE_END, UNKNOWN)}


def read_arpa(source: StrPath | Iterable[str], name: str = "model") -> PackedNGrams:
    """Read an ARPA file, as SRILM, KenLM, MITLM, IRSTLM and the CMU tools write them.

    Columns are separated by tabs or blanks, back-off weights may be missing (they are 1 then), and
    text before the data is ignored. ``<UNK>``, ``<S>`` and ``</S>`` become lower case.

    Parameters
    ----------
    source
        Path of the file, which may be compressed by gzip, or its lines.
    name
        Name of the lines in messages.

    Returns
    -------
    PackedNGrams
        The model as arrays.

    Raises
    ------
    InputError
        If the file cannot be read or is not a complete model; has all problems.

    Examples
    --------
    >>> model = read_arpa(write_arpa(estimate_model([["it", "rains"], ["it", "snows"]])))
    >>> len(model.levels), model.words[:3]
    (3, ('</s>', '<s>', '<unk>'))
    """
    if isinstance(source, str | PathLike):
        reader = _ArpaReader(str(source))
        try:
            with Path(source).open("rb") as raw:
                is_compressed = raw.peek(2).startswith(GZIP_MAGIC)
                reader.read(iter(gzip.GzipFile(fileobj=raw) if is_compressed else raw))
        except (OSError, EOFError, zlib.error) as error:
            reader.note(0, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    else:
        reader = _ArpaReader(name)
        reader.read(line for text in source for line in text.encode().splitlines())
    return reader.finish()


class _ArpaReader:
    """The parts of an ARPA file as they are read, and its problems."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems = list[Problem]()
        self.problem_count = 0
        self.announced: dict[int, tuple[int, int]] = {}  # number of n-grams and line, by length
        self.words = list[str]()
        self.numbers = dict[bytes, int]()
        self.sections = list[_ArpaSection]()

    def note(self, line: int, message: str, remedy: str = "") -> None:
        """Add a problem."""
        self.problem_count += 1
        if len(self.problems) < SHOWN_PROBLEMS:
            self.problems.append(Problem(self.name, line, "", message, remedy))

    def read(self, lines: Iterator[bytes]) -> None:
        """Read all lines up to the end mark."""
        numbered = enumerate(lines, 1)
        if not self._find_data(numbered):
            return
        title = self._read_counts(numbered)
        while title is not None and title[1].lower() != ARPA_END:
            title = self._read_section(*title, numbered)
        if title is None:
            self.note(0, "ends without \\end\\", "check whether the file is complete")

    def _find_data(self, numbered: Iterator[tuple[int, bytes]]) -> bool:
        for number, line in numbered:
            text = (line.removeprefix(UTF8_BOM) if number == 1 else line).strip()
            if text == ARPA_START:
                return True
            if text in UNFINISHED_HEADS:
                message = f"is an {text.decode()} file of IRSTLM, which is not a finished model"
                self.note(number, message, "convert it: compile-lm FILE --text=yes OUTPUT")
                return False
        remedy = "use a model in the ARPA text format; binary models cannot be read"
        self.note(0, "is not an ARPA file: no line \\data\\", remedy)
        return False

    def _read_counts(self, numbered: Iterator[tuple[int, bytes]]) -> tuple[int, bytes] | None:
        """Read the counts and return the first title."""
        for number, line in numbered:
            text = line.strip()
            if text.startswith(b"\\"):
                return number, text
            if count := ARPA_COUNT.match(text):
                self.announced[int(count[1])] = int(count[2]), number
            elif text:
                self.note(number, f"{_quote(text)} is not a count", "write, for example: ngram 1=9")
        return None

    def _read_section(
        self, line: int, title: bytes, numbered: Iterator[tuple[int, bytes]]
    ) -> tuple[int, bytes] | None:
        """Read n-grams and return the title of the next section, if there is one."""
        match, size = ARPA_SECTION.fullmatch(title), len(self.sections) + 1
        if match is None or int(match[1]) != size:
            expected = f"expected \\{size}-grams: or \\end\\"
            self.note(line, f"unexpected {_quote(title)}", expected)
            return next(((n, text.strip()) for n, text in numbered if _is_title(text)), None)
        section = _ArpaSection(size)
        self.sections.append(section)
        after, most = size + 1, size + 2
        find = self.numbers.__getitem__ if size > 1 else self._add_word
        add_numbers, add_log = section.numbers.extend, section.logs.append
        add_backoff, add_line = section.backoffs.append, section.lines.append
        for number, text in numbered:
            fields = text.split()
            try:
                log = float(fields[0])
                backoff = float(fields[after]) if len(fields) == most else nan
                found = [find(word) for word in fields[1:after]]
            except (KeyError, ValueError, IndexError):
                if _is_title(text):
                    return number, text.strip()
                if fields:
                    self._explain(number, fields, size)
                    self._explain_words(number, fields[1:after], size)
                continue
            if log <= MAX_ROUNDING_LOG10 and len(found) == size and len(fields) <= most:
                add_numbers(found)
                add_log(log)
                add_backoff(backoff)
                add_line(number)
            else:
                self._explain(number, fields, size)
        return None

    def _add_word(self, code: bytes) -> int:
        """Return the number of a new word; raise KeyError if it is not valid."""
        if code in self.numbers:
            raise KeyError(code)
        reserved = RESERVED_WORDS.get(code.lower())
        is_free = reserved is not None and reserved not in self.words
        self.words.append(reserved if reserved and is_free else code.decode())
        number = self.numbers[code] = len(self.words) - 1
        return number

    def _explain(self, line: int, fields: Sequence[bytes], size: int) -> None:
        """Add the problem of a line that is not an n-gram."""
        words = f"{size} words" if size > 1 else "a word"
        form = f"write a base-10 logarithm, {words}, and optionally a back-off weight"
        if not size < len(fields) <= size + 2:
            self.note(line, f"has {len(fields)} columns, not {size + 1} or {size + 2}", form)
            return
        for text in (fields[0], *fields[size + 1 :]):
            if not _is_number(text):
                self.note(line, f"{_quote(text)} is not a number", form)
        if _is_number(fields[0]) and not float(fields[0]) <= MAX_ROUNDING_LOG10:
            message = f"the logarithm of a probability is {fields[0].decode()}, which is above 0"
            self.note(line, message, "write base-10 logarithms of probabilities")

    def _explain_words(self, line: int, words: Sequence[bytes], size: int) -> None:
        """Add the problems of words that are not valid."""
        for word in words:
            if size > 1:
                if word not in self.numbers:
                    remedy = "add it there, or delete this line"
                    self.note(line, f"{_quote(word)} is not among the 1-grams", remedy)
                continue
            try:
                self._add_word(word)
            except UnicodeDecodeError:
                self.note(line, f"{_quote(word)} is not UTF-8", "convert the file to UTF-8")
            except KeyError:
                self.note(line, f"{_quote(word)} occurs twice among the 1-grams", "delete one")

    def finish(self) -> PackedNGrams:
        """Return the model; raise InputError if there are problems."""
        self._check_counts()
        refuse_problems(self.problems, "read", self.problem_count)
        packed = _pack_columns(self.words, [section.columns() for section in self.sections])
        self._check_repeated(packed)
        refuse_problems(self.problems, "read", self.problem_count)
        return packed

    def _check_counts(self) -> None:
        found = {section.size: len(section.logs) for section in self.sections}
        if self.problems and not found:
            return
        if not found.get(1):
            self.note(0, "has no 1-grams", "check whether the file is complete")
        for size in sorted({*found, *self.announced}):
            (count, line), there = self.announced.get(size, (None, 0)), found.get(size, 0)
            if count is None:
                self.note(0, f"has no count of {size}-grams", f"add the line: ngram {size}={there}")
            elif count != there:
                message = f"announces {count:,} {size}-grams, but there are {there:,}"
                remedy = "correct the number, or check whether the file is complete"
                self.note(line, message, remedy)

    def _check_repeated(self, packed: PackedNGrams) -> None:
        """Add a problem for every n-gram that occurs twice."""
        for section, level in zip(self.sections[1:], packed.levels[1:], strict=True):
            if np.all(level.codes[1:] != level.codes[:-1]):
                continue
            _, firsts = np.unique(section.columns().numbers, axis=0, return_index=True)
            for row in np.setdiff1d(np.arange(len(section.logs)), firsts).tolist():
                numbers = section.numbers[row * section.size : (row + 1) * section.size]
                ngram = " ".join(self.words[number] for number in numbers)
                message = f'"{ngram}" occurs twice among the {section.size}-grams'
                self.note(section.lines[row], message, "delete one of them")


class _ArpaSection:
    """N-grams of one length as they are read."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.numbers, self.lines = array("i"), array("i")
        self.logs, self.backoffs = array("d"), array("d")

    def columns(self) -> _Columns:
        """Return the n-grams as arrays, not copied; a probability of 0 has a finite logarithm."""
        if not self.logs:
            return _Columns(np.empty((0, self.size), np.int32), np.empty(0), np.empty(0))
        logs, backoffs = np.frombuffer(self.logs), np.frombuffer(self.backoffs)
        np.clip(logs, NO_PROBABILITY_LOG10, 0.0, out=logs)
        np.maximum(backoffs, NO_PROBABILITY_LOG10, out=backoffs)
        numbers = np.frombuffer(self.numbers, np.int32).reshape(-1, self.size)
        return _Columns(numbers, logs, backoffs)


def _is_title(line: bytes) -> bool:
    """Whether a line is the title of a section or the end mark."""
    text = line.strip()
    return text.lower() == ARPA_END or ARPA_SECTION.fullmatch(text) is not None


def _is_number(text: bytes) -> bool:
    try:
        return not isnan(float(text))
    except ValueError:
        return False


def _quote(text: bytes) -> str:
    return f'"{text[:MAX_QUOTED_BYTES].decode(errors="backslashreplace")}"'
