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
    """Whatever stands between blanks."""
    return text.split()


def split_japanese(text: str) -> list[str]:
    """Words of Japanese, by janome's dictionary (extra ``ja``); blanks are left out."""
    surfaces = (token.surface.strip() for token in _load_janome().tokenize(text))
    return [word for word in surfaces if word]


UNSPACED_SCRIPTS = (  # scripts without blanks: Han, kana, Thai, Lao, Khmer, Myanmar
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
PUNCTUATION_MARKS = ".,;:!?…·¡¿\"'`–—、。，！？：；।॥،؛؟۔"
TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "blanks": split_at_blanks,
    "japanese": split_japanese,
}
TOKENIZER_LIBRARIES = {"japanese": "janome"}  # whose dictionaries decide what a word is


def tokeniser_signature(name: str) -> str:
    """A tokeniser with the version of its library, if it has one and that is installed.

    >>> tokeniser_signature("blanks")
    'blanks'
    """
    library = TOKENIZER_LIBRARIES.get(name)
    if library is None:
        return name
    try:
        return f"{name}({library}={version(library)})"
    except PackageNotFoundError:  # then no text was cut: words were given
        return name


@cache
def _load_janome() -> Any:
    try:
        from janome.tokenizer import Tokenizer
    except ImportError:
        raise MissingExtra("janome", "ja", "cutting Japanese into words") from None
    return Tokenizer()


@lru_cache(maxsize=65536)
def normalise_word(word: str) -> str:
    """What is equal for words that are the same but for case and punctuation around them.

    >>> [normalise_word(word) for word in ("“Café,”", "CAFÉ", "...", "C++")]
    ['café', 'café', '...', 'c++']
    """
    plain = unicodedata.normalize("NFKC", word).casefold()
    inside = [place for place, letter in enumerate(plain) if not _is_outer_punctuation(letter)]
    return plain[inside[0] : inside[-1] + 1] if inside else plain


def _is_outer_punctuation(letter: str) -> bool:
    """Punctuation that may stand before or behind a word: quotes, brackets, stops, dashes."""
    return letter in PUNCTUATION_MARKS or unicodedata.category(letter) in ("Ps", "Pe", "Pi", "Pf")


# --- Word n-grams --------------------------------------------------------------------------------


Word = TypeVar("Word")


def word_ngrams(words: Sequence[Word], n: int) -> list[tuple[Word, ...]]:
    """All strings of n words, in order.

    >>> word_ngrams("abc", 2)
    [('a', 'b'), ('b', 'c')]
    """
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
