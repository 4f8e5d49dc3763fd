"""Tokenizers, word comparison and n-grams."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from earwitness.errors import MissingExtra

# --- Tokenizers and word equality ----------------------------------------------------------------


def split_at_blanks(text: str) -> list[str]:
    """Split a text at white space."""
    return text.split()


def split_japanese(text: str) -> list[str]:
    """Split Japanese into words with janome (extra ``ja``), without white space."""
    return [word for word, _ in tag_japanese(text)]


def tag_japanese(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Split Japanese into words as ``split_japanese`` does, each with its parts of speech.

    These are the part of speech, three subdivisions of it, and the base form of the word.
    """
    tokens = ((token.surface.strip(), token) for token in _load_janome().tokenize(text))
    return [
        (word, (*token.part_of_speech.split(","), token.base_form))
        for word, token in tokens
        if word
    ]


UNSPACED_SCRIPTS = (  # scripts without spaces: Han, kana, Thai, Lao, Khmer, Myanmar
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
PUNCTUATION_MARKS = ".,;:!?…·¡¿\"'`–—、。，！？：；।॥،؛؟۔"
# typographic apostrophes: acute accent, modifier letters, quotation marks, primes and others
APOSTROPHES = dict.fromkeys(map(ord, "´ʹʻʼʽˈˊ՚׳‘’‛′ꞌ＇"), "'")
TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "blanks": split_at_blanks,
    "japanese": split_japanese,
}
TOKENIZER_LIBRARIES = {"japanese": "janome"}  # libraries whose dictionaries define words


def tokenizer_signature(name: str) -> str:
    """Return the name of a tokenizer with the version of its library, if installed.

    >>> tokenizer_signature("blanks")
    'blanks'
    """
    library = TOKENIZER_LIBRARIES.get(name)
    if library is None:
        return name
    try:
        return f"{name}({library}={version(library)})"
    except PackageNotFoundError:  # no text was tokenized: words were given
        return name


@cache
def _load_janome() -> Any:
    try:
        from janome.tokenizer import Tokenizer
    except ImportError:
        raise MissingExtra("janome", "ja", "splitting Japanese into words") from None
    return Tokenizer()


@lru_cache(maxsize=65536)
def normalise_word(word: str) -> str:
    """Return a word in lower case, without surrounding punctuation, for comparison.

    Unicode forms of the same characters are equal (NFKC), and all apostrophes are ``'``.

    >>> [normalise_word(word) for word in ("“Café,”", "CAFE\\u0301", "...", "C++", "It’s")]
    ['café', 'café', '...', 'c++', "it's"]
    """
    plain = unicodedata.normalize("NFKC", word.translate(APOSTROPHES)).casefold()
    plain = unicodedata.normalize("NFKC", plain)  # lower case may be decomposed
    inside = [place for place, letter in enumerate(plain) if not _is_outer_punctuation(letter)]
    return plain[inside[0] : inside[-1] + 1] if inside else plain


def _is_outer_punctuation(letter: str) -> bool:
    """Whether a character is punctuation that may surround a word: quotes, brackets, dashes."""
    return letter in PUNCTUATION_MARKS or unicodedata.category(letter) in ("Ps", "Pe", "Pi", "Pf")


def is_spoken(word: str) -> bool:
    """Whether a word has a letter or a digit; others are punctuation marks, such as commas.

    >>> is_spoken("isn't"), is_spoken("、")
    (True, False)
    """
    return any(map(str.isalnum, word))


# --- Word n-grams --------------------------------------------------------------------------------


Word = TypeVar("Word")


def word_ngrams(words: Sequence[Word], n: int) -> list[tuple[Word, ...]]:
    """Return all n-grams of words, in order.

    >>> word_ngrams("abc", 2)
    [('a', 'b'), ('b', 'c')]
    """
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
