"""Accuracy, speed and memory of recognition and alignment, on speech with known times.

    python benchmarks/speech.py                 twenty minutes of speech
    python benchmarks/speech.py --memory 120    peak memory from one minute to this many minutes

Debian's flite speaks the lecture of the tests with three voices, about twenty minutes, and prints
when each phone is spoken. Reported are the share of word boundaries within 0.1 s and of chapter
boundaries within 0.5 s, for the text as spoken and with 10 % of its words wrong, missing or extra;
the word error rate of recognition; and the time relative to the duration of the audio, compared
with pocketsphinx itself, which decodes or aligns a chapter in one window. The recording for
``--memory`` has sentences of random words.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import jiwer
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from earwitness.models.cache import Cache
from earwitness.speech.align import PocketsphinxAligner, align_words
from earwitness.speech.ctc import WordTimes
from earwitness.speech.pronunciation import DICTIONARY_FILE, find_model_folder
from earwitness.speech.recognize import make_decoder, transcribe
from helpers.flite import SpokenText, read_lecture, speak_chapters, write_speech

VOICES = ("slt", "rms", "awb")
WORDS_WITHIN, CHAPTERS_WITHIN = 0.1, 0.5  # seconds
WORDS_BAR, CHAPTERS_BAR, DAMAGED_BAR = 0.90, 0.95, 0.90
DAMAGE = 0.1
MEMORY_BAR = 1.5  # relative to one minute
MEASURE = """
import json, sys
from pathlib import Path
from earwitness.models.cache import Cache
from earwitness.speech.align import PocketsphinxAligner, align_words
align_words(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()),
            PocketsphinxAligner(Cache(Path(sys.argv[3]))))
lines = Path("/proc/self/status").read_text().splitlines()  # getrusage includes the parent
print(next(float(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")))
"""


def bar(value: float, limit: float, *, most: bool = False) -> str:
    """Return the limit and whether it is met, as text."""
    met = value <= limit if most else value >= limit
    return f"(bar {limit:g}: {'met' if met else 'MISSED'})"


class Errors(NamedTuple):
    """Distances from true times in seconds: of word boundaries, and of chapter starts."""

    words: list[float]
    chapters: list[float]


def damage(speech: SpokenText, share: float, seed: int) -> tuple[list[str], list[int | None]]:
    """Return words with a share of errors of three kinds, and the place of each true word."""
    rng, words, origins = random.Random(seed), list[str](), list[int | None]()
    vocabulary = [word.word for word in speech.words]
    for place, word in enumerate(speech.words):
        draw = rng.random()
        if draw >= share / 3:  # else missing
            is_wrong = draw < 2 * share / 3
            words.append(rng.choice(vocabulary) if is_wrong else word.word)
            origins.append(None if is_wrong else place)
        if draw > 1 - share / 3:
            words.append(rng.choice(vocabulary))
            origins.append(None)
    return words, origins


def measure_errors(
    times: Sequence[WordTimes], origins: Sequence[int | None], speech: SpokenText
) -> Errors:
    """Return the errors of word boundaries, and of chapters by their first word in the text."""
    words = [
        abs(found - true)
        for time, origin in zip(times, origins, strict=True)
        if origin is not None
        for found, true in zip(time[:2], speech.words[origin][1:], strict=True)
    ]
    chapters = []
    for first in speech.chapters[1:]:
        place = next(n for n, origin in enumerate(origins) if (origin or 0) >= first)
        chapters.append(abs(times[place].start - speech.words[first].start))
    return Errors(words, chapters)


def share_within(errors: Sequence[float], limit: float) -> float:
    """Return the share of errors up to a limit."""
    return float(np.mean(np.array(errors) <= limit))


def plain_seconds(speech: SpokenText, text: str | None) -> float:
    """Return the CPU time of pocketsphinx in one window: of recognition, or of alignment."""
    folder = find_model_folder()
    decoder = make_decoder(
        lm=None if text else str(folder / "en-us.lm.bin"), dict=str(folder / DICTIONARY_FILE)
    )
    if text:
        decoder.set_align_text(text)
    start = time.process_time()
    decoder.start_utt()
    decoder.process_raw(speech.samples.tobytes(), full_utt=True)
    decoder.end_utt()
    return time.process_time() - start


def prove_accuracy(folder: Path) -> None:
    """Print accuracy and speed for all voices."""
    clean, damaged = Errors([], []), Errors([], [])
    seconds = aligned = recognized = plain = plain_aligned = plain_duration = 0.0
    references, outputs = list[str](), list[str]()
    for number, voice in enumerate(VOICES):
        speech = speak_chapters(read_lecture(), voice)
        path, cache = folder / f"{voice}.wav", Cache(folder / "cache")
        write_speech(path, speech)
        seconds += speech.seconds
        words = [word.word for word in speech.words]
        start = time.process_time()
        times = align_words(path, words, PocketsphinxAligner(cache))
        aligned += time.process_time() - start
        found = measure_errors(times, range(len(words)), speech)
        clean.words.extend(found.words)
        clean.chapters.extend(found.chapters)
        wrong, origins = damage(speech, DAMAGE, number)
        times = align_words(path, wrong, PocketsphinxAligner(cache))
        found = measure_errors(times, origins, speech)
        damaged.words.extend(found.words)
        damaged.chapters.extend(found.chapters)
        start = time.process_time()
        transcript = transcribe(path, cache=folder / "cache").transcript
        recognized += time.process_time() - start
        outputs.append(" ".join(word.word for word in transcript.words))
        references.append(speech.text.lower())
        chapter = speak_chapters(read_lecture()[:1], voice)
        plain_duration += chapter.seconds
        plain += plain_seconds(chapter, None)
        plain_aligned += plain_seconds(chapter, chapter.text.lower())
        print(f"{voice}: {speech.seconds / 60:.1f} minutes, {len(words):,} words", flush=True)
    for name, errors, limit in (
        ("as spoken", clean, CHAPTERS_BAR),
        ("damaged", damaged, DAMAGED_BAR),
    ):
        near, chapters = (
            share_within(errors.words, WORDS_WITHIN),
            share_within(errors.chapters, CHAPTERS_WITHIN),
        )
        verdict = bar(near, WORDS_BAR) if errors is clean else ""
        print(
            f"text {name}: word boundaries within {WORDS_WITHIN} s {near:.3f} {verdict} "
            f"(n = {len(errors.words):,}), median {np.median(errors.words) * 1000:.0f} ms"
        )
        print(
            f"text {name}: chapters within {CHAPTERS_WITHIN} s {chapters:.3f} "
            f"{bar(chapters, limit)} (n = {len(errors.chapters)})"
        )
    print(f"recognition: word error rate {jiwer.wer(references, outputs):.3f}")
    for name, ours, peer in (
        ("recognition", recognized, plain),
        ("alignment", aligned, plain_aligned),
    ):
        own, other = ours / seconds, peer / plain_duration
        print(
            f"{name}: CPU time per second of audio {own:.3f}, pocketsphinx in one window "
            f"{other:.3f}, ratio {other / own:.2f}"
        )


def random_speech(minutes: float, seed: int = 0) -> SpokenText:
    """Return speech of random words of the lecture, in sentences of ten words."""
    rng = random.Random(seed)
    vocabulary = sorted(
        {word for chapter in read_lecture() for line in chapter for word in line.split()}
    )
    plain = [word for word in vocabulary if word.isalpha()]
    sentences = [
        " ".join(rng.choice(plain) for _ in range(10)) for _ in range(round(minutes * 60 / 4.2))
    ]
    return speak_chapters([sentences], "kal16")


def prove_memory(folder: Path, minutes: float) -> None:
    """Print the peak memory of alignment for a minute and for a long recording."""
    peaks = []
    for length in (1.0, minutes):
        speech = random_speech(length)
        path, text = folder / f"{length:g}.wav", folder / f"{length:g}.json"
        write_speech(path, speech)
        text.write_text(json.dumps([word.word for word in speech.words]))
        command = [sys.executable, "-c", MEASURE, str(path), str(text), str(folder / "cache")]
        start = time.perf_counter()
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        took = time.perf_counter() - start
        peaks.append(float(printed))
        print(
            f"alignment of {speech.seconds / 60:.0f} minutes ({len(speech.words):,} words): peak "
            f"memory {peaks[-1]:.0f} MB, {took / speech.seconds:.3f} s per second of audio",
            flush=True,
        )
    ratio = peaks[1] / peaks[0]
    print(f"memory relative to one minute: {ratio:.2f} × {bar(ratio, MEMORY_BAR, most=True)}")


def main() -> None:
    """Print the chosen figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", type=float, help="minutes of the long recording")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        if options.memory:
            prove_memory(Path(folder), options.memory)
        else:
            prove_accuracy(Path(folder))


if __name__ == "__main__":
    main()
