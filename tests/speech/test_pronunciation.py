"""How text is spoken: numbers, symbols and names in words, and phones that the dictionary has."""

from __future__ import annotations

import pytest

from earwitness.errors import MissingExtra
from earwitness.speech import pronunciation
from earwitness.speech.pronunciation import (
    cardinal,
    find_model_folder,
    load_dictionary,
    ordinal,
    pronounce,
    spoken_words,
)

SPOKEN = {
    "numbers": {
        "0": "zero",
        "12": "twelve",
        "100": "one hundred",
        "1,234": "one thousand two hundred thirty four",
        "1000000": "one million",
        "3.14": "three point one four",
        "007": "zero zero seven",
        "1234567890123456": "one two three four five six seven eight nine zero one two three four "
        "five six",
        "10,": "ten",
    },
    "years": {
        "1905": "nineteen oh five",
        "1984": "nineteen eighty four",
        "1900": "one thousand nine hundred",
        "2005": "two thousand five",
        "2024": "twenty twenty four",
        "1,984": "one thousand nine hundred eighty four",
        "1990s": "nineteen nineties",
        "’60s": "sixties",
        "6s": "sixes",
    },
    "ordinals": {
        "1st": "first",
        "21st": "twenty first",
        "12th": "twelfth",
        "1000th": "one thousandth",
    },
    "currency": {
        "$5": "five dollars",
        "£3.50": "three point five zero pounds",
        "€1,000": "one thousand euros",
        "¥20,": "twenty yen",
    },
    "clock": {
        "10:30": "ten thirty",
        "9:05": "nine oh five",
        "12:00": "twelve o'clock",
        "(7:45)": "seven forty five",
    },
    "initials": {"U.S.": "u s", "e.g.,": "e g", "J.R.R.": "j r r"},
    "accents": {
        "café": "cafe",
        "Zoë": "zoe",
        "cafe\u0301": "cafe",
        "Straße": "strasse",
        "Øresund": "oresund",
        "Ærø": "aero",
    },
    "apostrophes": {
        "don't": "don't",
        "don’t": "don't",
        "DONʼT": "don't",
        "‘quoted’": "quoted",
        "cats’": "cats",
        "l'eau": "l eau",
    },
    "possessives": {
        "harbour's": "harbour's",
        "Zorblax’s": "zorblax's",
        "mother-in-law's": "mother in law's",
        "d'Zorblax's": "d zorblax's",
    },
    "hyphens": {
        "well-known,": "well known",
        "state–of–the–art": "state of the art",
        "3-4": "three four",
    },
    "symbols": {
        "50%": "fifty percent",
        "R&B": "r and b",
        "20°C": "twenty degrees c",
        "#5": "number five",
        "C++": "c plus plus",
    },
    "nothing": dict.fromkeys(["—", "-", "…", "😀", "'", "’", "?!", "$", "日本", ""], ""),
}


@pytest.mark.parametrize("kind", SPOKEN)
def test_tokens_are_spoken_as_words(kind: str) -> None:
    assert {token: " ".join(spoken_words(token)) for token in SPOKEN[kind]} == SPOKEN[kind]


@pytest.mark.parametrize("kind", SPOKEN)
def test_pronunciations_consist_of_phones_of_the_dictionary(kind: str) -> None:
    known = {
        phone for entry in load_dictionary().values() for one in entry for phone in one.split()
    }
    assert len(known) == 39
    for token in SPOKEN[kind]:
        for word in spoken_words(token):
            for phones in pronounce(word):
                assert phones, word
                assert {*phones.split()} <= known, word


def test_every_number_has_words() -> None:
    assert " ".join(cardinal(10**12 + 10**9 + 17)) == "one trillion one billion seventeen"
    words = {word for number in range(1000) for word in cardinal(number)}
    assert len(words) == 29  # 0 to 19, eight tens, and hundred
    assert words <= load_dictionary().keys()
    ordinals = {ordinal(number)[-1] for number in range(1000)}
    assert {word for word in ordinals if word not in load_dictionary()} <= {"zeroth"}


def test_words_of_the_dictionary_keep_their_pronunciations() -> None:
    assert pronounce("the") == ("DH AH", "DH IY")
    assert pronounce("read") == load_dictionary()["read"]
    assert len(pronounce("read")) == 2


@pytest.mark.parametrize(
    ("word", "phones"),
    [
        ("zorblax", "Z AO R B L AE K S"),
        ("earwitness", "IY R W IH T N AH S"),  # ear + witness
        ("qat's", "K AE T S"),  # s after voiceless consonants
        ("grobba's", "G R OW B AE Z"),
        ("zorblax's", "Z AO R B L AE K S IH Z"),
        ("snabbe", "S N AE B"),  # doubled letters once, final e silent
        ("vlightion", "V L AY SH AH N"),
    ],
)
def test_unknown_words_are_composed_or_read_by_letters(word: str, phones: str) -> None:
    assert word not in load_dictionary()
    assert pronounce(word)[0] == phones


def test_all_letters_have_phones() -> None:
    alphabet = "qzjxvkwyfbghmpucldrhsnioate"
    assert len(pronounce(alphabet)[0].split()) >= 20


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pronunciation, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"needs pocketsphinx.*\[speech\]"):
        find_model_folder()
