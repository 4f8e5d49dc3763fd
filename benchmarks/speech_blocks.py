"""Missed speech and false alarms of the speech detectors, in blocks of 8 s of recorded sounds.

    python benchmarks/speech_blocks.py FOLDER TABLE.csv [--silero FILE] [--yamnet FILE]

The table has the columns `class` and `path`, one row per sound file, with paths relative to the
folder. Classes that contain voices are named with `--voices` (default: crowd/people); their false
alarms are reported separately, and no speech is mixed into them.

Each other sound is used once without speech and once per signal-to-noise ratio with a sentence of a
`flite` voice (Debian package `flite`). The ratio is that of the level of the sentence while it is
spoken and the level of the sound in the block. Sounds shorter than a block are repeated with random
pauses. Blocks have levels from -45 to -20 dB relative to full scale.

The sounds are divided in two halves. Thresholds were chosen on the first half with the voices
kal16 and slt; the second half, with the voices awb and rms, chose nothing. `--half` selects one.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from earwitness.audio.read import read_sound
from earwitness.errors import UsageError
from earwitness.models.yamnet import YamNet
from earwitness.soundscapes.timetable import named_generator
from earwitness.speech.vad import (
    MIN_SPEECH_CLASS_SCORE,
    CueDetector,
    Silero,
    SpeechDetector,
    find_silero_file,
    resample_quickly,
    speech_class_scores,
)

Floats = NDArray[np.float32]
Judgement = dict[str, bool]  # by detector
RATE, SECONDS, SEED = 16_000, 8, 29
RATIOS_DB = (-5, 0, 5, 10)
VOICES = {"development": ("kal16", "slt"), "held out": ("awb", "rms")}
LEVELS_DB = (-45.0, -20.0)
TRIED_PARTS = 5  # of a sound longer than a block, since parts may be silent
MAX_PAUSE_SECONDS = 1.0  # between repetitions of a shorter one
NOISE_BELOW_DB = 40.0  # level of recorder noise below that of the block
MIN_SOUND_LEVEL = 1e-4  # quieter files are refused as silent
STRETCHES = (0.85, 1.25)  # duration of sentences
SENTENCES = (
    "The bus to the station leaves in five minutes.",
    "Have you seen my keys? I left them on the kitchen table.",
    "Good morning.",
    "Please close the gate behind you, or the sheep will get out.",
    "We should meet again on Thursday afternoon.",
    "No, I do not think so.",
    "Her daughter has just started school in the next village.",
    "Look over there, is that a woodpecker?",
    "I have paid the bill twice already, and they still send reminders.",
    "Turn left at the bridge and follow the river.",
    "Come here!",
    "My phone number has changed since last year.",
    "They say it is going to rain again tonight.",
    "Could you hold this ladder for a moment?",
    "The doctor told him to stay in bed until Monday.",
    "What time does the bakery open on Sundays?",
    "He borrowed forty euros from his brother and never gave them back.",
    "Wait for me, I am nearly there.",
    "We parked the car behind the church.",
    "Thank you very much, that is kind of you.",
    "Every spring the storks come back to the same roof.",
    "I cannot hear you, the engine is too loud.",
    "Shall we go home now?",
    "She works at the hospital three nights a week.",
)


class MixedBlock(NamedTuple):
    """A block of sound; without speech, the voice is empty and the ratio is NaN."""

    kind: str
    path: str
    voice: str
    ratio: float
    samples: Floats


# --- Sounds, voices and blocks -------------------------------------------------------------------


def read_table(folder: Path, table: Path) -> list[tuple[str, str]]:
    """Return the class and path of every sound; all missing files are reported at once."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [(row["class"], row["path"]) for row in csv.DictReader(file)]
    missing = [path for _, path in rows if not (folder / path).is_file()]
    if missing or not rows:
        raise UsageError(f"{table}: files not found in {folder}: {', '.join(missing) or 'all'}")
    return rows


def halve(rows: Sequence[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Divide the sounds of each class at random."""
    halves: dict[str, list[tuple[str, str]]] = {name: [] for name in VOICES}
    for kind in sorted({kind for kind, _ in rows}):
        own = sorted(row for row in rows if row[0] == kind)
        order = named_generator(SEED, "half", kind).permutation(len(own))
        for place, number in enumerate(order):
            halves[tuple(VOICES)[place % 2]].append(own[number])
    return halves


def read_mono(path: Path) -> Floats:
    """Return one channel at the sample rate of the benchmark."""
    sound = read_sound(path)
    return resample_quickly(sound.samples.mean(axis=1).astype(np.float32), sound.rate, RATE)


def fill_block(sound: Floats, rng: np.random.Generator) -> Floats:
    """Return a block of a sound: the loudest of some random parts, or repetitions with pauses."""
    size = SECONDS * RATE
    if len(sound) >= size:
        starts = rng.integers(len(sound) - size + 1, size=TRIED_PARTS)
        return max((sound[at : at + size] for at in starts), key=level)
    block, at = np.zeros(size, np.float32), 0
    while at < size:
        part = sound[: size - at]
        block[at : at + len(part)] = part
        at += len(part) + int(rng.uniform(0, MAX_PAUSE_SECONDS) * RATE)
    return block


def speak(voice: str, sentence: str, stretch: float, folder: Path) -> Floats:
    """Return a sentence spoken by a voice, without silence at its ends."""
    path = folder / "sentence.wav"
    command = ["flite", "-voice", voice, "--setf", f"duration_stretch={stretch:.2f}"]
    subprocess.run([*command, "-t", sentence, "-o", str(path)], check=True, capture_output=True)
    sound = read_mono(path)
    loud = np.flatnonzero(np.abs(sound) > 0.02 * np.abs(sound).max())
    return sound[loud[0] : loud[-1] + 1][: SECONDS * RATE]


def level(sound: Floats) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(sound, dtype=np.float64))))


def make_blocks(
    folder: Path, rows: Sequence[tuple[str, str]], voices: Sequence[str], with_voices: set[str]
) -> Iterator[MixedBlock]:
    """Yield the blocks of each sound: without speech, and with speech at each ratio."""
    with TemporaryDirectory() as temporary:
        for kind, path in rows:
            rng = named_generator(SEED, "blocks", path)
            sound = fill_block(read_mono(folder / path), rng)
            if level(sound) < MIN_SOUND_LEVEL:
                raise UsageError(f"{path}: is silent — remove it from the table")
            gain = 10 ** (rng.uniform(*LEVELS_DB) / 20) / level(sound)
            noise = rng.standard_normal(len(sound)) * level(sound) * 10 ** (-NOISE_BELOW_DB / 20)
            background = ((sound + noise) * gain).astype(np.float32)
            yield MixedBlock(kind, path, "", float("nan"), background)
            if kind in with_voices:
                continue
            for ratio in RATIOS_DB:
                voice = voices[int(rng.integers(len(voices)))]
                sentence = SENTENCES[int(rng.integers(len(SENTENCES)))]
                said = speak(voice, sentence, rng.uniform(*STRETCHES), Path(temporary))
                at = int(rng.integers(len(background) - len(said) + 1))
                mixed = background.copy()
                louder = level(background) * 10 ** (ratio / 20) / level(said)
                mixed[at : at + len(said)] += said * np.float32(louder)
                peak = np.abs(mixed).max()
                yield MixedBlock(kind, path, voice, ratio, mixed / max(1.0, float(peak)))


# --- Detectors and rates -------------------------------------------------------------------------


def find_judges(silero: Path | None, yamnet: Path | None) -> dict[str, Callable[[Floats], bool]]:
    """Return what decides whether a block contains speech, by name of the detector."""
    detectors: dict[str, SpeechDetector] = {"cues": CueDetector()}
    if silero is not None:
        detectors["Silero"] = Silero(silero)
    judges: dict[str, Callable[[Floats], bool]] = {
        name: lambda samples, one=one: one.share(samples, RATE) >= one.min_share  # type: ignore[misc]
        for name, one in detectors.items()
    }
    if yamnet is not None:
        network = YamNet(yamnet)

        def has_speech_class(samples: Floats) -> bool:
            classes = network.embed([samples]).classes
            scores = None
            if classes is not None:
                scores = speech_class_scores(network.class_names, classes)
            if scores is None:
                raise UsageError(f"{yamnet}: has no class names — put its class map next to it")
            return bool(scores[0] >= MIN_SPEECH_CLASS_SCORE)

        judges["YAMNet"] = has_speech_class
    return judges


def write_rate(wrong: Sequence[bool], *, is_pooled: bool) -> str:
    """Return a rate in percent and the number of blocks, with Wilson's 95 % interval.

    Pooled rates have several blocks of each sound, which are not independent, and no interval.
    """
    if not wrong:
        return "– (n 0)"
    rate = f"{100 * sum(wrong) / len(wrong):.1f}"
    if is_pooled:
        return f"{rate} (n {len(wrong)})"
    low, high = binomtest(sum(wrong), len(wrong)).proportion_ci(method="wilson")
    return f"{rate} [{100 * low:.1f}, {100 * high:.1f}] (n {len(wrong)})"


def judge_blocks(
    blocks: Iterable[MixedBlock], judges: dict[str, Callable[[Floats], bool]]
) -> list[tuple[MixedBlock, Judgement]]:
    """Return all blocks without their samples, with what each detector decided."""
    judged = []
    for number, block in enumerate(blocks, 1):
        found = {name: judge(block.samples) for name, judge in judges.items()}
        judged.append((block._replace(samples=block.samples[:0]), found))
        print(f"\r{number} blocks", end="", file=sys.stderr)
    print(file=sys.stderr)
    return judged


def write_report(
    judged: Sequence[tuple[MixedBlock, Judgement]], with_voices: set[str]
) -> Iterator[str]:
    """Yield Markdown tables of missed speech and false alarms, in percent of blocks."""
    names = list(judged[0][1])
    missed: dict[str, list[Judgement]] = {f"{ratio} dB": [] for ratio in RATIOS_DB}
    false: dict[str, list[Judgement]] = {}
    pooled, all_others = "all ratios", f"all except {', '.join(sorted(with_voices))}"
    for block, found in sorted(judged, key=lambda one: (one[0].voice, one[0].kind)):
        if block.voice:
            wrong = {name: not spoken for name, spoken in found.items()}
            for group in (f"{block.ratio:g} dB", f"{pooled}, voice {block.voice}", pooled):
                missed.setdefault(group, []).append(wrong)
        else:
            for group in (block.kind, *([] if block.kind in with_voices else [all_others])):
                false.setdefault(group, []).append(found)
    for title, groups in (("missed speech", missed), ("false alarms", false)):
        yield f"| {title} | {' | '.join(names)} |"
        yield f"| :-- |{' :-- |' * len(names)}"
        for group, wrongs in sorted(groups.items(), key=lambda one: one[0] in (pooled, all_others)):
            is_pooled = group.startswith(pooled)
            rates = [
                write_rate([one[name] for one in wrongs], is_pooled=is_pooled) for name in names
            ]
            yield f"| {group} | {' | '.join(rates)} |"
        yield ""


def main() -> None:
    """Measure one half and print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--silero", type=Path, default=find_silero_file())
    parser.add_argument("--yamnet", type=Path)
    parser.add_argument("--voices", nargs="*", default=["crowd/people"])
    parser.add_argument("--half", choices=VOICES, default="held out")
    given = parser.parse_args()
    if shutil.which("flite") is None:
        raise UsageError("flite is not installed — install the Debian package flite")
    rows, with_voices = halve(read_table(given.folder, given.table))[given.half], set(given.voices)
    blocks = make_blocks(given.folder, rows, VOICES[given.half], with_voices)
    judged = judge_blocks(blocks, find_judges(given.silero, given.yamnet))
    print("\n".join(write_report(judged, with_voices)))


if __name__ == "__main__":
    main()
