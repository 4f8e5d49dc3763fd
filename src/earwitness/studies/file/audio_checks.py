"""Measurements of the audio files of a study, and their problems, for study check."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, isnan, nan
from pathlib import Path
from statistics import fmean

import numpy as np

from earwitness.audio.conditions import anchor_loss
from earwitness.audio.decode import open_sound
from earwitness.audio.files import Decoder, DecodingError, Sound, sound_library
from earwitness.audio.loudness import (
    ABSOLUTE_GATE_LUFS,
    MIN_CLIPPED_SAMPLES,
    MIN_LOUDNESS_RATE_HZ,
    ClippingCounter,
    LoudnessMeter,
)
from earwitness.audio.read import early_end, read_portions
from earwitness.audio.wav import PcmDecoder, riff_of
from earwitness.core import Jobs, Progress, count_text, group_values, no_progress
from earwitness.engines.local import MIN_PARALLEL_BYTES, choose_map
from earwitness.errors import UsageError, file_problem, refuse_problems
from earwitness.io.source import is_present
from earwitness.report.numbers import MINUS
from earwitness.report.parts import Lines, Section, Table
from earwitness.report.sentences import join_names
from earwitness.studies.study import Names, Study, check_system
from earwitness.studies.trials import anchor_folders, study_kinds
from earwitness.studies.trials.mushra import AnchorLoss, weak_anchor_notes

# --- Measurement of a file -----------------------------------------------------------------------


CHUNK_FRAMES = 1 << 18
SILENT_FAULT = f"is silent (below {ABSOLUTE_GATE_LUFS:g} LUFS)".replace("-", MINUS)


@dataclass(frozen=True, slots=True)
class AudioMeasurement:
    """Format, duration, loudness and peak of an audio file.

    ``loudness`` is the integrated loudness in LUFS (BS.1770-4), NaN for silence and for sampling
    rates below 4 kHz. ``peak`` is the largest sample, 1 at full scale. ``clipped`` is the number of
    runs of at least three samples at full scale. ``digest`` identifies the samples. If the file
    cannot be used, ``fault`` is the reason.
    """

    path: str
    rate: int = 0
    channels: int = 0
    frames: int = 0
    loudness: float = nan
    peak: float = 0.0
    clipped: int = 0
    digest: str = ""
    fault: str = ""

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.frames / self.rate if self.rate else 0.0


def measure_audio(path: str) -> AudioMeasurement:
    """Measure an audio file of any supported format; memory does not grow with the duration.

    Parameters
    ----------
    path
        Path of the file.

    Returns
    -------
    AudioMeasurement
        The measurement, with ``fault`` if the file cannot be read, contains no audio, is silent or
        contains invalid samples.
    """
    try:
        decoder = _open_audio(Path(path))
    except UsageError as error:
        return AudioMeasurement(path, fault=str(error).removeprefix(f"{path}: "))
    except (OSError, DecodingError) as error:
        reason = getattr(error, "strerror", None) or error
        return AudioMeasurement(path, fault=f"cannot be read: {reason}")
    try:
        return _measure(path, decoder)
    except DecodingError as error:
        return AudioMeasurement(path, fault=f"cannot be read: {error}")
    finally:
        decoder.close()


def _open_audio(path: Path) -> Decoder:
    riff = riff_of(path)
    return PcmDecoder(path, riff) if riff is not None and riff.is_plain else open_sound(path)


def needs_library(path: str) -> bool:
    """Return whether a file is not an uncompressed WAV file, so that soundfile is needed."""
    try:
        riff = riff_of(Path(path))
    except (OSError, DecodingError):
        return False
    return riff is None or not riff.is_plain


def _measure(path: str, decoder: Decoder) -> AudioMeasurement:
    rate, channels = decoder.facts.rate, decoder.facts.channels
    meter = LoudnessMeter(rate, channels) if rate >= MIN_LOUDNESS_RATE_HZ else None
    content = hashlib.sha256(f"{rate} {channels} ".encode())
    frames, peak, clipping = 0, 0.0, ClippingCounter(channels)
    while len(samples := decoder.read(CHUNK_FRAMES)):
        frames += len(samples)
        levels = np.abs(samples)
        largest = float(levels.max())  # NaN if any sample is
        if not largest < inf:
            return AudioMeasurement(path, fault="contains samples that are not numbers")
        peak = max(peak, largest)
        content.update((samples + np.float32(0)).data)  # no negative zeros
        clipping.add(levels)
        if meter is not None:
            meter.add(samples)
    if not frames:
        return AudioMeasurement(path, fault="contains no audio")
    if fault := early_end(decoder.facts, frames):
        return AudioMeasurement(path, fault=fault)
    loudness = nan if meter is None else meter.loudness()
    is_silent = not peak or (meter is not None and not loudness >= ABSOLUTE_GATE_LUFS)
    return AudioMeasurement(
        path,
        rate,
        channels,
        frames,
        loudness,
        peak,
        clipping.runs,
        content.hexdigest(),
        SILENT_FAULT if is_silent else "",
    )


# --- Audio files of a study ----------------------------------------------------------------------


SHARED_LABEL = "clips"  # of files that all captions share


@dataclass(frozen=True, slots=True)
class StudySound:
    """An audio file of a study: its clip or anchor, and its system or the name of its folder."""

    item: str
    system: str
    audio: AudioMeasurement


@dataclass(frozen=True, slots=True)
class StudyAudio:
    """The audio files of a study, and notes on what weakens the study.

    ``unlevelled`` are systems whose loudness differs by design.
    """

    sounds: tuple[StudySound, ...]
    notes: tuple[str, ...]
    unlevelled: frozenset[str] = frozenset()


def check_audio(
    study: Study,
    folder: Path,
    *,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
) -> StudyAudio | None:
    """Measure all audio files of a study and return notes on them.

    Parameters
    ----------
    study
        The study.
    folder
        Folder that its paths are relative to.
    jobs
        Number of worker processes, or a function that distributes work as ``map`` does. Less than
        50 MB of audio is measured in this process.
    progress
        Called with the number of files measured, and their total.

    Returns
    -------
    StudyAudio or None
        Measurements and notes; None if the study has no audio files yet.

    Raises
    ------
    InputError
        If a file cannot be read, is silent or contains invalid samples; lists all of them.
    MissingExtra
        If soundfile is not installed and a file is not an uncompressed WAV file.
    """
    named = _list_sounds(study, folder)
    if not named:
        return None
    paths = list(dict.fromkeys(str(path) for _, _, path in named))
    if any(map(needs_library, paths)):
        sound_library()
    is_much = sum(Path(path).stat().st_size for path in paths) >= MIN_PARALLEL_BYTES
    map_ = choose_map(jobs if is_much else 1)
    measured = dict[str, AudioMeasurement]()
    for audio in map_(measure_audio, paths):
        measured[audio.path] = audio
        progress(len(measured), len(paths), len(measured))
    sounds = tuple(StudySound(item, system, measured[str(path)]) for item, system, path in named)
    problems = [
        file_problem(
            sound.audio.path,
            sound.audio.fault,
            "replace the file, or use --no-audio" if sound.audio.fault == SILENT_FAULT else "",
            sound.item,
        )
        for sound in sounds
        if sound.audio.fault
    ]
    refuse_problems(problems, "done")
    # the loudness of these differs by design: anchors are filtered or noisy
    unlevelled = frozenset(
        [
            *anchor_folders(study),
            *([study.anchor_system] if study.anchors else []),
            *(check_system(clip.role) for clip in study.quality.clips),
        ]
    )
    return StudyAudio(sounds, tuple(_find_notes(study, sounds, unlevelled)), unlevelled)


def _list_sounds(study: Study, folder: Path) -> list[tuple[str, str, Path]]:
    """Return item, system and path of all audio files that exist."""
    kinds = study_kinds(study)
    systems = [*study.systems, *(name for kind in kinds for name in kind.extra(study.reference))]
    labels = {name: name for name in systems}
    if any(kind.captioned or kind.transcribed for kind in kinds):  # all systems share one file
        labels = {systems[0]: SHARED_LABEL}
    keys = [(clip.name, system) for clip in study.material for system in labels]
    keys += [(clip.name, study.anchor_system) for clip in study.anchors]
    keys += [(clip.name, check_system(clip.role)) for clip in study.quality.clips]
    found = [
        (item, labels.get(system, system), folder / study.file(item, system))
        for item, system in keys
    ]
    return [(item, system, path) for item, system, path in found if is_present(path)]


# --- Notes ---------------------------------------------------------------------------------------


LENGTH_TOLERANCE_FRAMES = 1  # between the conditions of a clip
LARGE_LENGTH_DIFFERENCE_SECONDS = 0.1  # the default tolerance of audio normalize
LOUDNESS_TOLERANCE_LU = 1.0  # between the conditions of a clip, and between clips
SHOWN_EXAMPLES = 3
NORMALIZE_REMEDY = "use earwitness audio normalize"
SoundSequence = Sequence[StudySound]
SoundsByClip = dict[str, list[StudySound]]


def _find_notes(study: Study, sounds: SoundSequence, unlevelled: frozenset[str]) -> Iterator[str]:
    anchor_keys = {(clip.name, study.anchor_system) for clip in study.anchors}
    clips: SoundsByClip = {}
    anchors: list[StudySound] = []
    for sound in sounds:
        is_anchor = (sound.item, sound.system) in anchor_keys
        (anchors if is_anchor else clips.setdefault(sound.item, [])).append(sound)
    kinds = study_kinds(study)
    yield from _format_notes(sounds)
    if not any(kind.is_levelled for kind in kinds):
        yield from _clipping_notes(sounds)
        yield from _duplicate_notes(
            sounds, "both picked the same blocks; consider other values of z"
        )
        return
    yield from _length_notes(clips)
    levelled = {
        item: [s for s in same if s.system not in unlevelled and not isnan(s.audio.loudness)]
        for item, same in clips.items()
    }
    captioned = any(kind.captioned or kind.transcribed for kind in kinds)
    yield from _loudness_notes({item: same for item, same in levelled.items() if same}, captioned)
    yield from _anchor_notes(anchors, [sound for same in levelled.values() for sound in same])
    yield from weak_anchor_notes(_anchor_losses(study, clips))
    yield from _clipping_notes(sounds)
    yield from _duplicate_notes(sounds)


def _anchor_losses(study: Study, clips: SoundsByClip) -> Iterator[AnchorLoss]:
    """Yield what each MUSHRA anchor lacks; other notes tell of files with different rates."""
    names = {*anchor_folders(study)}
    for item, same in clips.items():
        paths = {s.system: (s.audio.path, s.audio.rate) for s in same}
        reference, rate = paths.get(study.reference, ("", 0))
        for name in sorted(names & paths.keys()):
            if paths[name][1] == rate:
                heard = (
                    list(read_portions(Path(path), _open_audio(Path(path))))
                    for path in (reference, paths[name][0])
                )
                sounds = (Sound(np.concatenate(portions), rate, "") for portions in heard)
                yield AnchorLoss(name, item, rate, anchor_loss(*sounds))


def _format_notes(sounds: SoundSequence) -> Iterator[str]:
    """Yield notes if sampling rates or channels differ."""
    rates = [format_rate(sound.audio.rate) for sound in sounds]
    channels = [format_channels(sound.audio.channels) for sound in sounds]
    for what, option, forms in (
        ("sampling rates", "--rate HZ", rates),
        ("numbers of channels", "--channels mono", channels),
    ):
        counts = Counter(forms).most_common()
        if len(counts) > 1:
            parts = []
            for name, count in counts:
                own = (s.system for s, form in zip(sounds, forms, strict=True) if form == name)
                systems = join_names(list(dict.fromkeys(own)))
                parts.append(f"{name} ({count_text(count, 'file')} of {systems})")
            yield f"{what} differ: {'; '.join(parts)} — {NORMALIZE_REMEDY} {option}"


def _length_notes(clips: SoundsByClip) -> Iterator[str]:
    """Yield a note per system whose files are longer or shorter than the usual one of the clip."""
    deviations: dict[str, list[tuple[float, float, str]]] = {}
    for item, same in clips.items():
        seconds = [sound.audio.seconds for sound in same]
        tolerance = (LENGTH_TOLERANCE_FRAMES + 0.5) / min(sound.audio.rate for sound in same)
        if max(seconds) - min(seconds) <= tolerance:
            continue
        [(usual, _)] = Counter(round(s, 6) for s in seconds).most_common(1)
        for sound, length in zip(same, seconds, strict=True):
            if abs(length - usual) > tolerance:
                difference = length - usual
                deviations.setdefault(sound.system, []).append((abs(difference), difference, item))
    for system, deviation in deviations.items():
        _, difference, item = max(deviation)
        how, apart = "longer" if difference > 0 else "shorter", abs(difference)
        option = f" --tolerance {ceil(apart * 10) / 10:g} if it is the right file"
        option *= apart > LARGE_LENGTH_DIFFERENCE_SECONDS
        yield (
            f"lengths differ: {system} in {len(deviation):,} of {count_text(len(clips), 'clip')}, "
            f"at most {apart:.3g} s {how} than other conditions ({item}) — {NORMALIZE_REMEDY} "
            f"--length pad{option}"
        )


def _loudness_notes(clips: SoundsByClip, captioned: bool) -> Iterator[str]:
    """Yield notes on differences between the conditions of a clip, and between clips."""
    if not clips:
        return
    ranges = {item: _loudness_range(same) for item, same in clips.items()}
    wide = {item: high - low for item, (low, high) in ranges.items() if _is_wide(low, high)}
    if wide:
        item = max(wide, key=lambda name: wide[name])
        ordered = sorted(clips[item], key=lambda sound: sound.audio.loudness)
        softest, loudest = (
            f"{sound.system} {_number(sound.audio.loudness)}" for sound in (ordered[0], ordered[-1])
        )
        yield (
            f"loudness differs by more than {LOUDNESS_TOLERANCE_LU:g} LU between the conditions "
            f"of {len(wide):,} of {count_text(len(clips), 'clip')}, at most "
            f"{wide[item]:.1f} LU ({item}: {softest}, {loudest} LUFS) — {NORMALIZE_REMEDY}"
        )
    means = {item: fmean(s.audio.loudness for s in same) for item, same in clips.items()}
    low, high = (choose(means, key=lambda name: means[name]) for choose in (min, max))
    if _is_wide(means[low], means[high]) and not captioned:  # scenes differ in level
        yield (
            f"loudness differs by {means[high] - means[low]:.1f} LU between clips ({low} "
            f"{_number(means[low])}, {high} {_number(means[high])} LUFS) — {NORMALIZE_REMEDY}"
        )


def _anchor_notes(anchors: SoundSequence, levelled: SoundSequence) -> Iterator[str]:
    """Yield a note if all anchors are louder, or all are softer, than the clips."""
    anchors = [sound for sound in anchors if not isnan(sound.audio.loudness)]
    if not anchors or not levelled:
        return
    low, high = _loudness_range(anchors)
    mean = fmean(sound.audio.loudness for sound in levelled)
    if not low - LOUDNESS_TOLERANCE_LU <= mean <= high + LOUDNESS_TOLERANCE_LU:
        how = "louder" if low > mean else "softer"
        yield (
            f"loudness: all anchors are {how} than the clips ({anchors[0].system} "
            f"{_range([low, high])}, clips {_number(mean)} LUFS on average) — normalize the clips "
            "that anchors are created from"
        )


def _loudness_range(sounds: SoundSequence) -> tuple[float, float]:
    values = [sound.audio.loudness for sound in sounds]
    return min(values), max(values)


def _is_wide(low: float, high: float) -> bool:
    return high - low > LOUDNESS_TOLERANCE_LU


def _clipping_notes(sounds: SoundSequence) -> Iterator[str]:
    for system, clipped in _by_system([sound for sound in sounds if sound.audio.clipped]).items():
        clipped.sort(key=lambda sound: -sound.audio.clipped)
        of_system = sum(sound.system == system for sound in sounds)
        shown = [f"{s.item} {count_text(s.audio.clipped, 'time')}" for s in clipped]
        yield (
            f"clipping: {len(clipped):,} of {count_text(of_system, 'file')} of {system} reach full "
            f"scale for {MIN_CLIPPED_SAMPLES} samples or more ({_list_examples(shown)}) — "
            "create the files again at a lower level"
        )


def _by_system(sounds: SoundSequence) -> SoundsByClip:
    return group_values((sound.system, sound) for sound in sounds)


def _duplicate_notes(
    sounds: SoundSequence, remedy: str = "was a file copied to the wrong folder?"
) -> Iterator[str]:
    """Yield notes on identical audio: a note per group of systems, and one on all clips."""
    same_audio = group_values((sound.audio.digest, sound) for sound in sounds)
    clips_of: dict[Names, list[str]] = {}  # clips by systems with the same audio
    systems_of: dict[Names, list[str]] = {}  # systems by clips with the same audio
    for same in same_audio.values():
        systems_by_clip = group_values((sound.item, sound.system) for sound in same)
        for item, systems in systems_by_clip.items():
            if len(systems) > 1:
                clips_of.setdefault(tuple(systems), []).append(item)
        if len(systems_by_clip) > 1:
            systems_of.setdefault(tuple(systems_by_clip), []).extend(s.system for s in same)
    for group, items in clips_of.items():
        count = sum(sound.system == group[0] for sound in sounds)
        yield (
            f"identical audio: {join_names(group)} in {len(items):,} of "
            f"{count_text(count, 'clip')} ({_list_examples(items)}) — {remedy}"
        )
    if systems_of:
        groups = [
            f"{join_names(items)} ({join_names(list(dict.fromkeys(systems)))})"
            for items, systems in systems_of.items()
        ]
        listed = _list_examples(groups, "; ")
        yield f"identical audio under different names: {listed} — keep one clip of each group"


def _list_examples(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first names, and how many more there are.

    >>> _list_examples(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    shown = separator.join(names[:SHOWN_EXAMPLES])
    more = len(names) - SHOWN_EXAMPLES
    return f"{shown} and {more:,} more" if more > 0 else shown


# --- Section of a report -------------------------------------------------------------------------


CHANNEL_NAMES = {1: "mono", 2: "stereo"}
AUDIO_COLUMNS = (
    "system",
    "files",
    "sampling rate",
    "channels",
    "duration (s)",
    "loudness (LUFS)",
    "peak (dBFS)",
)


def audio_section(audio: StudyAudio) -> Section:
    """Return the section of a report on the audio files of a study."""
    rows = [_table_row(system, same) for system, same in _by_system(audio.sounds).items()]
    if len(rows) > 1:
        rows.append(_table_row("all", audio.sounds))
    parts: list[Table | Lines] = [Table("audio files", AUDIO_COLUMNS, tuple(rows))]
    if audio.notes:
        parts.append(Lines("notes on the audio files", audio.notes, shown=len(audio.notes)))
    left_out = sorted(audio.unlevelled & {sound.system for sound in audio.sounds})
    sentences = [] if audio.notes else ["No problems were found."]
    if left_out:
        sentences.append(f"Loudness is not compared for anchors: {join_names(left_out)}.")
    return Section("Audio files", tuple(parts), " ".join(sentences))


def _table_row(system: str, sounds: SoundSequence) -> tuple[str, ...]:
    audio = [sound.audio for sound in sounds]
    loudness = [measured.loudness for measured in audio if not isnan(measured.loudness)]
    return (
        system,
        f"{len(audio):,}",
        ", ".join(map(format_rate, sorted({measured.rate for measured in audio}))),
        ", ".join(map(format_channels, sorted({measured.channels for measured in audio}))),
        _range([measured.seconds for measured in audio]),
        _range(loudness) if loudness else "–",
        _number(max(20 * float(np.log10(measured.peak)) for measured in audio)),
    )


def format_rate(rate: int) -> str:
    """Return a sampling rate with its unit.

    >>> format_rate(44100), format_rate(8000)
    ('44.1 kHz', '8 kHz')
    """
    return f"{rate / 1000:g} kHz"


def format_channels(channels: int) -> str:
    """Return the usual name of a number of channels.

    >>> format_channels(1), format_channels(6)
    ('mono', '6 channels')
    """
    return CHANNEL_NAMES.get(channels, f"{channels} channels")


def _range(values: Sequence[float]) -> str:
    ends = dict.fromkeys((_number(min(values)), _number(max(values))))
    return " to ".join(ends)


def _number(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}".replace("-", MINUS)
