"""How English text is spoken: words of numbers and symbols, and phones of words.

Phones are those of the CMU dictionary inside the package pocketsphinx. A word that is not in it is
composed of parts that are, or pronounced by a short table of letter groups, which is sufficient to
align it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from earwitness.errors import MissingExtra
from earwitness.text.words import APOSTROPHES

# --- Model files ---------------------------------------------------------------------------------


DICTIONARY_FILE, LANGUAGE_MODEL_FILE = "cmudict-en-us.dict", "en-us.lm.bin"
LOG_BASE = 1.0001  # of the logarithms of pocketsphinx


def find_model_folder() -> Path:
    """Return the folder of the English model inside the package pocketsphinx."""
    package = find_spec("pocketsphinx")
    if package is None or package.origin is None:
        raise MissingExtra("pocketsphinx", "speech", "recognition and alignment of English speech")
    return Path(package.origin).parent / "model" / "en-us"


@cache
def load_dictionary() -> Mapping[str, tuple[str, ...]]:
    """Return the pronunciations of every word of the dictionary, the most usual first."""
    found = dict[str, tuple[str, ...]]()
    with (find_model_folder() / DICTIONARY_FILE).open(encoding="utf-8") as file:
        for line in file:
            word, _, phones = line.strip().partition(" ")
            base = word.partition("(")[0]
            found[base] = (*found.get(base, ()), phones.strip())
    return found


@cache
def load_frequent_words(count: int) -> Mapping[str, float]:
    """Return the most frequent words of the language model with their probabilities."""
    model = import_module("pocketsphinx").NGramModel.readfile(
        str(find_model_folder() / LANGUAGE_MODEL_FILE)
    )
    scores = sorted(((model.prob([word]), word) for word in load_dictionary()), reverse=True)
    return {word: LOG_BASE**score for score, word in scores[:count]}


# --- Words of a token ----------------------------------------------------------------------------


NUMBER_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
UNITS = NUMBER_WORDS.split()
TEN_WORDS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
TENS = TEN_WORDS.split()
SCALES = (
    (10**12, "trillion"),
    (10**9, "billion"),
    (10**6, "million"),
    (1000, "thousand"),
    (100, "hundred"),
)
IRREGULAR_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
SYMBOL_WORDS = {
    "%": "percent",
    "&": "and",
    "+": "plus",
    "=": "equals",
    "@": "at",
    "°": "degrees",
    "#": "number",
}
CURRENCY_WORDS = {"$": "dollars", "€": "euros", "£": "pounds", "¥": "yen"}
MAX_DIGITS = 15  # longer numbers are read digit by digit
TOKEN_PART = re.compile(
    r"(?P<clock>\d{1,2}:\d{2})(?!\d)"
    r"|(?P<currency>[$€£¥])(?P<amount>\d[\d,]*(?:\.\d+)?)"
    r"|(?P<ordinal>\d[\d,]*)(?:st|nd|rd|th)\b"
    r"|(?P<plural>\d+)'?s\b"
    r"|(?P<number>\d[\d,]*(?:\.\d+)?)"
    r"|(?P<initials>(?:[a-z]\.){2,})"
    r"|(?P<word>[a-z]+(?:'[a-z]+)*)"
    r"|(?P<symbol>[%&+=@°#])"
)

UNDECOMPOSED_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "th"}
)


def spoken_words(token: str) -> list[str]:
    """Return the English words by which a token of a text is spoken, in lower case.

    >>> spoken_words("well-known,"), spoken_words("$3.50")
    (['well', 'known'], ['three', 'point', 'five', 'zero', 'dollars'])
    """
    words = list[str]()
    for match in TOKEN_PART.finditer(_plain_letters(token)):
        kind = match.lastgroup or ""
        words += PART_READERS[kind](match[kind])
        words += [CURRENCY_WORDS[match["currency"]]] if match["currency"] else []
    return words


def _plain_letters(token: str) -> str:
    """Return a token in lower case, without accents and with plain apostrophes."""
    decomposed = unicodedata.normalize("NFKD", token.translate(APOSTROPHES).replace("°", "\0"))
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return plain.replace("\0", "°").casefold().translate(UNDECOMPOSED_LETTERS)


def _known_parts(word: str) -> list[str]:
    """Return a word, or its parts at apostrophes if it is neither known nor a possessive."""
    if word in load_dictionary():
        return [word]
    *parts, ending = word.split("'")
    if parts and ending == "s":
        return [*parts[:-1], f"{parts[-1]}'s"]
    return [*parts, ending]


def cardinal(number: int) -> list[str]:
    """Return a number in words.

    >>> " ".join(cardinal(12_345))
    'twelve thousand three hundred forty five'
    """
    if number < 20:
        return [UNITS[number]]
    if number < 100:
        words, rest = [TENS[number // 10]], number % 10
    else:
        scale, name = next(pair for pair in SCALES if number >= pair[0])
        words, rest = [*cardinal(number // scale), name], number % scale
    return [*words, *(cardinal(rest) if rest else [])]


def ordinal(number: int) -> list[str]:
    """Return an ordinal number in words.

    >>> ordinal(21), ordinal(30)
    (['twenty', 'first'], ['thirtieth'])
    """
    *before, last = cardinal(number)
    if last in IRREGULAR_ORDINALS:
        return [*before, IRREGULAR_ORDINALS[last]]
    return [*before, f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"]


def _decimal(text: str) -> list[str]:
    """Return a number with an optional fraction in words; four digits may be a year."""
    whole, _, fraction = text.rstrip(",").partition(".")
    digits = whole.replace(",", "")
    if len(digits) > MAX_DIGITS or (len(digits) > 1 and digits.startswith("0")):
        words = [UNITS[int(digit)] for digit in digits]
    elif "," not in whole and not fraction and _is_year(int(digits)):
        words = [*cardinal(int(digits[:2])), *_minutes(digits[2:])]
    else:
        words = cardinal(int(digits))
    return [*words, "point", *(UNITS[int(digit)] for digit in fraction)] if fraction else words


def _plural(digits: str) -> list[str]:
    """Return several of a number in words, such as "nineteen nineties"."""
    *before, last = _decimal(digits)
    if last.endswith("y"):
        return [*before, f"{last[:-1]}ies"]
    return [*before, f"{last}es" if last.endswith("x") else f"{last}s"]


def _is_year(number: int) -> bool:
    """Whether a number is read in two halves."""
    return (1100 <= number <= 1999 or 2010 <= number <= 2099) and number % 100 != 0


def _minutes(digits: str) -> list[str]:
    """Return two digits as in a time or a year, such as "oh five"."""
    value = int(digits)
    return ["oh", UNITS[value]] if value < 10 else cardinal(value)


def _clock(time: str) -> list[str]:
    hours, minutes = time.split(":")
    return cardinal(int(hours)) + (["o'clock"] if minutes == "00" else _minutes(minutes))


PART_READERS: Mapping[str, Callable[[str], list[str]]] = {
    "clock": _clock,
    "amount": _decimal,
    "ordinal": lambda text: ordinal(int(text.replace(",", ""))),
    "plural": _plural,
    "number": _decimal,
    "initials": lambda text: text.replace(".", " ").split(),
    "word": _known_parts,
    "symbol": lambda text: [SYMBOL_WORDS[text]],
}


# --- Phones of a word ----------------------------------------------------------------------------


# letter groups with their phones; of several groups that fit, the longest is used
LETTER_PHONES = """
tion=SH-AH-N sion=ZH-AH-N ough=AO igh=AY tch=CH sch=SH dge=JH eau=OW ch=CH sh=SH th=TH ph=F gh=G
kn=N wr=R wh=W ck=K qu=K-W ng=NG ee=IY ea=IY ie=IY ei=EY ey=IY ai=EY ay=EY oo=UW ou=AW ow=OW
oa=OW oi=OY oy=OY au=AO aw=AO ew=Y-UW er=ER ir=ER ur=ER ar=AA-R or=AO-R ce=S-EH ci=S-IH cy=S-IY
ge=JH-EH gi=JH-IH a=AE b=B c=K d=D e=EH f=F g=G h=HH i=IH j=JH k=K l=L m=M n=N o=OW p=P q=K r=R
s=S t=T u=AH v=V w=W x=K-S y=IY z=Z
"""
LETTER_GROUPS = {
    group: phones.split("-")
    for group, _, phones in (entry.partition("=") for entry in LETTER_PHONES.split())
} | {"'": []}
MAX_GROUP_LETTERS = max(map(len, LETTER_GROUPS))
MIN_PART_LETTERS = 3  # of the parts of a compound
VOICED_ENDINGS = ("B", "D", "G", "V", "DH", "Z", "M", "N", "NG", "L", "R")


@lru_cache(100_000)
def pronounce(word: str) -> tuple[str, ...]:
    """Return the pronunciations of a word in lower case, as phones separated by spaces.

    >>> pronounce("harbour's"), pronounce("zorblax")
    (('HH AA R B ER Z',), ('Z AO R B L AE K S',))
    """
    dictionary = load_dictionary()
    if word in dictionary:
        return dictionary[word]
    if word.endswith("'s"):
        return tuple(f"{phones} {_plural_phone(phones)}" for phones in pronounce(word[:-2]))
    for place in range(len(word) - MIN_PART_LETTERS, MIN_PART_LETTERS - 1, -1):
        first, second = word[:place], word[place:]
        if first in dictionary and second in dictionary:
            return (f"{dictionary[first][0]} {dictionary[second][0]}",)
    return (_pronounce_letters(word),)


def _plural_phone(phones: str) -> str:
    last = phones.split()[-1]
    if last in ("S", "Z", "SH", "ZH", "CH", "JH"):
        return "IH Z"
    return "Z" if last in VOICED_ENDINGS or last[0] in "AEIOU" else "S"


def _pronounce_letters(word: str) -> str:
    """Return phones by letter groups; doubled consonants and a final e are silent."""
    letters = re.sub(r"([b-df-hj-np-tv-z])\1", r"\1", word)
    if len(letters) > MIN_PART_LETTERS and letters.endswith("e") and letters[-2] not in "aeiou":
        letters = letters[:-1]
    phones, place = list[str](), 0
    while place < len(letters):
        for size in range(MAX_GROUP_LETTERS, 0, -1):
            group = letters[place : place + size]
            if group in LETTER_GROUPS:
                phones += LETTER_GROUPS[group]
                break
        place += len(group)
    return " ".join(phones)
