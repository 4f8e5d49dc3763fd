"""Speech with known times, made by Debian's flite: words from its phones, chapters from a text."""

from __future__ import annotations

import re
import subprocess
import wave
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.speech.pronunciation import pronounce, spoken_words

LECTURE = Path(__file__).parent / "lecture.txt"
PAUSE_SECONDS = 0.3  # after each sentence
CHAPTER_PAUSE_SECONDS = 0.9
# phones of flite that cmudict writes differently
SAME_PHONES = {"ax": "ah", "el": "l", "en": "n", "em": "m", "dx": "t", "nx": "n", "axr": "er"}


class SpokenWord(NamedTuple):
    """A word with its true times in seconds."""

    word: str
    start: float
    end: float


class SpokenText(NamedTuple):
    """Audio (16 bit), its words, and the places of the first word of every chapter."""

    samples: NDArray[np.int16]
    rate: int
    words: tuple[SpokenWord, ...]
    chapters: tuple[int, ...]

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    @property
    def text(self) -> str:
        return " ".join(word.word for word in self.words)


def read_lecture() -> list[list[str]]:
    """Return the sentences of every chapter of the lecture."""
    chapters = re.split(r"^# .*$", LECTURE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [re.split(r"(?<=[.?!])\s+", chapter.strip()) for chapter in chapters]


def speak_chapters(chapters: Sequence[Sequence[str]], voice: str = "slt") -> SpokenText:
    """Return the speech of chapters, given as sentences, with pauses between them."""
    parts: list[NDArray[np.int16]] = []
    words: list[SpokenWord] = []
    firsts = []
    at = 0
    for sentences in chapters:
        firsts.append(len(words))
        for number, sentence in enumerate(sentences, 1):
            samples, rate, spoken = _speak_sentence(sentence, voice)
            words += [SpokenWord(w, s + at / rate, e + at / rate) for w, s, e in spoken]
            pause = CHAPTER_PAUSE_SECONDS if number == len(sentences) else PAUSE_SECONDS
            parts += [samples, np.zeros(round(pause * rate), np.int16)]
            at += len(samples) + len(parts[-1])
    return SpokenText(np.concatenate(parts), rate, tuple(words), tuple(firsts))


def write_speech(path: Path, speech: SpokenText) -> None:
    """Write the audio as a WAV file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(speech.rate)
        file.writeframes(speech.samples.tobytes())


@cache
def _speak_sentence(
    sentence: str, voice: str
) -> tuple[NDArray[np.int16], int, tuple[SpokenWord, ...]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sentence.wav"
        command = ["flite", "-voice", voice, "-psdur", "-t", sentence, "-o", str(path)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        with wave.open(str(path)) as file:
            rate = file.getframerate()
            samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    phones, start = [], 0.0
    for token in printed.split():
        phone, _, end = token.partition(":")
        phones.append((SAME_PHONES.get(phone, phone), start, float(end)))
        start = float(end)
    return samples, rate, tuple(_divide_phones(sentence.split(), phones))


def _divide_phones(
    words: Sequence[str], phones: Sequence[tuple[str, float, float]]
) -> list[SpokenWord]:
    """Return the times of words: their pronunciations are aligned with the phones of flite.

    The alignment has the fewest insertions, deletions and substitutions of phones; pauses are
    skipped for free.
    """
    expected, owners = list[str](), list[int]()
    for number, word in enumerate(words):
        spoken = [
            phone.lower() for part in spoken_words(word) for phone in pronounce(part)[0].split()
        ]
        expected += spoken
        owners += [number] * len(spoken)
    costs = np.zeros((len(expected) + 1, len(phones) + 1))
    steps = np.zeros(costs.shape, int)  # 0: both, 1: only expected, 2: only spoken
    free = np.array([0.01 if phone == "pau" else 1.0 for phone, _, _ in phones])
    costs[:, 0], costs[0, 1:] = np.arange(len(expected) + 1), np.cumsum(free)
    steps[1:, 0], steps[0, 1:] = 1, 2
    for i, one in enumerate(expected, 1):
        for j, (phone, _, _) in enumerate(phones, 1):
            change = 0.0 if one == phone else 3.0 if phone == "pau" else 1.2
            choices = (
                costs[i - 1, j - 1] + change,
                costs[i - 1, j] + 1,
                costs[i, j - 1] + free[j - 1],
            )
            steps[i, j] = int(np.argmin(choices))
            costs[i, j] = choices[steps[i, j]]
    spans: dict[int, tuple[float, float]] = {}
    i, j = len(expected), len(phones)
    while i or j:
        step = steps[i, j]
        i, j = i - (step != 2), j - (step != 1)
        if step == 0:
            _, start, end = phones[j]
            number = owners[i]
            spans[number] = start, spans.get(number, (start, end))[1]
    return [SpokenWord(word.strip(".,?!"), *spans[number]) for number, word in enumerate(words)]
