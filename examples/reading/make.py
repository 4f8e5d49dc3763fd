"""Write two small studies about transcripts: FOLDER/words and FOLDER/reading.

In the first, people keep words of transcripts while they hear them; the audio is speech-like (a
vowel per syllable), with known times of words. In the second, people read the originals and rate
four summaries of each.
"""

from __future__ import annotations

import argparse
import json
import re
import wave
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE, SYLLABLE_SECONDS, GAP_SECONDS = 16_000, 0.16, 0.07
VOWELS = {"a": (730, 1090), "e": (530, 1840), "i": (270, 2290), "o": (570, 840), "u": (300, 870)}
# Each transcript, and the words that a careful person keeps of it.
TEXTS = {
    "ferry": (
        "well the ferry to the northern island will not leave this morning because the wind is "
        "still very strong so passengers should wait in the hall until at least noon",
        "ferry to the northern island will not leave because wind is strong passengers wait until "
        "noon",
    ),
    "library": (
        "the city library which was closed for two years after the flood opens again on Monday "
        "with a new reading room and as the director told us twice as many seats as before",
        "city library closed for two years opens again on Monday with twice as many seats",
    ),
    "bees": (
        "what we found and that surprised all of us is that bees which live in the middle of the "
        "town collect more honey than bees in the fields nearby",
        "we found bees in the town collect more honey than bees in the fields",
    ),
    "bridge": (
        "engineers looked at the old bridge last week and they say it can carry cars again but "
        "lorries I am afraid will have to take the long way round until spring",
        "old bridge can carry cars but lorries have to take the long way until spring",
    ),
    "train": (
        "please note that the night train does not stop in the village any more so if you want to "
        "get off there you need to change to the bus at the station before",
        "night train does not stop in the village change to the bus at the station before",
    ),
    "rain": (
        "after a dry month the rain that fell on Tuesday was good for the gardens but it came so "
        "fast that cellars in the lower part of the town stood under water",
        "rain on Tuesday was good for the gardens but cellars in the lower town stood under water",
    ),
}
SYSTEMS = ("lead", "last", "long", "careful")
COMMON = """\
seed: 1
listeners: 6
rest_minutes: 1
"""
WORDS_STUDY = f"""\
title: Words that make a summary
{COMMON}systems: [original]
transcripts: transcripts.jsonl
files: "audio/{{item}}.wav"
training: 1
instructions: |
  You will see what was said, word by word, and hear it. Keep the words that together give the best
  summary. Words keep their order, and none is added; the summary should read as a sentence.
blocks:
  - kind: words
    clips: 5
    rating_seconds: 40
    parameters: {{audio: true, ratio: 0.5, tolerance: 0.1, enforce: true}}
"""
READING_STUDY = f"""\
title: Which summary says it best?
{COMMON}systems: [{", ".join(SYSTEMS)}]
transcripts: transcripts.jsonl
summaries: outputs.jsonl
instructions: |
  Read what was said, then rate each summary: does it keep what matters, and can it be understood?
blocks:
  - kind: reading
    rating_seconds: 10
"""


def spoken(text: str) -> tuple[NDArray[np.float64], list[list[Any]]]:
    """Return syllables for the words of a text, and each word with its times."""
    parts, words, at = [np.zeros(int(0.2 * RATE))], list[list[Any]](), 0.2
    for word in text.split():
        vowels = re.findall(r"[aeiou]", re.sub(r"[aeiouy]+", lambda m: m[0][0], word)) or ["e"]
        seconds = SYLLABLE_SECONDS * len(vowels)
        words.append([word, round(at, 3), round(at + seconds, 3)])
        parts += [syllable(vowel) for vowel in vowels] + [np.zeros(int(GAP_SECONDS * RATE))]
        at = sum(map(len, parts)) / RATE
    return np.concatenate([*parts, np.zeros(int(0.3 * RATE))]), words


def syllable(vowel: str) -> NDArray[np.float64]:
    """Return harmonics of a pitch, louder near the formants of a vowel."""
    time = np.arange(int(SYLLABLE_SECONDS * RATE)) / RATE
    found = np.zeros_like(time)
    for n in range(1, 25):
        near = sum(np.exp(-(((n * 120 - f) / 160) ** 2)) for f in VOWELS[vowel])
        found += (0.05 / n + near / 4) * np.sin(2 * np.pi * n * 120 * time)
    return np.asarray(0.5 * np.sin(np.pi * time / SYLLABLE_SECONDS) * found)


def positions(words: list[str], kept: list[str]) -> list[int]:
    """Return where the kept words are, the first word being 1."""
    found, at = list[int](), 0
    for word in kept:
        at = words.index(word, at) + 1
        found.append(at)
    return found


def summaries(words: list[str], careful: list[int]) -> dict[str, list[int]]:
    """Return the positions that each system keeps, as many as the careful person."""
    count, size = len(careful), len(words)
    longest = sorted(range(size), key=lambda place: (-len(words[place]), place))[:count]
    return {
        "lead": list(range(1, count + 1)),
        "last": list(range(size - count + 1, size + 1)),
        "long": sorted(place + 1 for place in longest),
        "careful": careful,
    }


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    """Write JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def write_wav(path: Path, sound: NDArray[np.float64]) -> None:
    """Write a 16-bit WAV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(30_000 * sound / np.abs(sound).max()).astype("<i2").tobytes())


def main(folder: Path) -> None:
    """Write all files."""
    transcripts, outputs = list[dict[str, Any]](), list[dict[str, Any]]()
    for item, (text, kept) in TEXTS.items():
        sound, words = spoken(text)
        write_wav(folder / "words" / "audio" / f"{item}.wav", sound)
        transcripts.append({"item": item, "words": words})
        own = summaries(text.split(), positions(text.split(), kept.split()))
        outputs += [
            {"item": item, "system": system, "output": {"positions": own[system]}}
            for system in SYSTEMS
        ]
    for name, study in (("words", WORDS_STUDY), ("reading", READING_STUDY)):
        write_lines(folder / name / "transcripts.jsonl", transcripts)
        (folder / name / "study.yaml").write_text(study, encoding="utf-8")
    write_lines(folder / "reading" / "outputs.jsonl", outputs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="output folder")
    main(parser.parse_args().folder)
