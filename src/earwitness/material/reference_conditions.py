"""Reference conditions of clips, for audio conditions: P.835, MUSHRA anchors and MNRU."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from earwitness.analysis.plan import ANCHOR_CUTOFFS_HZ
from earwitness.audio.conditions import (
    CONTROL_SNRS_DB,
    MIN_NOISE_SECONDS,
    MNRU_BANDS_HZ,
    P835_CONDITIONS,
    P835Condition,
    anchor_loss,
    apply_mnru,
    cut_noise,
    make_anchor,
    make_noise,
    measure_background,
    measure_si_sdr,
    measure_snr_a,
    measure_spectrum,
    scale_noise,
    suppress_speech,
)
from earwitness.audio.decode import facts_of
from earwitness.audio.files import Samples, Sound, sound_subtype, write_sound
from earwitness.audio.loudness import measure_speech_level
from earwitness.audio.read import read_mono, read_sound
from earwitness.audio.signal import PEAK_LIMIT_DB, can_pass, resample
from earwitness.core import Jobs, Progress, StrPath, group_values, no_progress
from earwitness.engines.local import choose_map
from earwitness.errors import (
    EarwitnessError,
    Problem,
    UsageError,
    file_problem,
    nearest,
    refuse_problems,
)
from earwitness.io.atomic import AtomicFolder
from earwitness.io.tables import records_csv
from earwitness.material.files import check_outside
from earwitness.recordings.recording import sound_files
from earwitness.report.parts import Report, Section, Table
from earwitness.studies.trials.mushra import AnchorLoss, weak_anchor_notes

Floats = NDArray[np.float64]

# --- Conditions and their files ------------------------------------------------------------------


P835_FOLDER, CONDITIONS_FILE = "ref", "conditions.csv"
DEFAULT_QS_DB = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0)
MAX_Q_DB = 60.0
CONDITION_KINDS = ("p835", "mushra", "mnru")
MIN_CLIP_SECONDS = 1.0
MAX_BACKGROUND_DB = -36.0  # of clean clips, relative to speech: the level of the mildest noise
MAX_CLIP_NOTES = 8  # notes on single clips
SILENCE_POWER_DB = -70.0  # relative to full scale; quieter clips are silent
SILENT_MESSAGE = f"is silent (below {SILENCE_POWER_DB:g} dB)"
FORBIDDEN_CHARACTERS = frozenset('/\\:*?"<>|\x7f') | {*map(chr, range(32))}  # in talkers' names
KEPT_SUBTYPES = ("PCM_16", "PCM_24", "FLOAT")  # other sample formats become 16-bit PCM
WIDER_SUBTYPES = {"PCM_32": "32-bit", "DOUBLE": "64-bit float"}  # those that lose precision
ConditionKind = Literal["p835", "mushra", "mnru"]


@dataclass(frozen=True)
class ReferenceConditionFile:
    """A file of a reference condition; values that do not apply are None.

    ``file`` is relative to the output folder. ``snr_a``, ``q`` and ``cutoff_hz`` are the nominal
    values; the measured ones come from the file as it is stored. ``si_sdr`` is the distortion of
    the speech without noise, ``gain_db`` the change of level of all conditions of a clip.
    """

    file: str
    condition: str
    talker: str
    distortion: int | None = None
    snr_a: float | None = None
    snr_a_measured: float | None = None
    si_sdr: float | None = None
    q: float | None = None
    q_measured: float | None = None
    cutoff_hz: float | None = None
    gain_db: float = 0.0
    peak_db: float = 0.0
    sha256: str = ""


class ReferenceConditions(NamedTuple):
    """Files of reference conditions, and notes on changes to clips."""

    files: tuple[ReferenceConditionFile, ...]
    notes: tuple[str, ...]


def audio_conditions(
    clips: Mapping[str, StrPath] | Iterable[StrPath],
    output: StrPath,
    *,
    kind: ConditionKind = "p835",
    noise: StrPath | None = None,
    seed: int = 0,
    q: Sequence[float] = DEFAULT_QS_DB,
    band: Literal["full", "narrow", "wide"] = "full",
    jobs: Jobs = 1,
    progress: Progress = no_progress,
) -> ReferenceConditions:
    """Create reference conditions from clean clips in a new folder.

    For P.835 there are twelve conditions of each clip (``ref/i01_f1.wav`` to ``ref/i12_m2.wav``):
    clean, with noise, distorted as by noise suppression, and both. For MUSHRA there are the
    low-pass anchors ``anchor35`` and ``anchor70`` of each clip, for MNRU (ITU-T P.810) a folder
    such as ``q05`` per Q. The table ``conditions.csv`` has one row per file, with measured values.
    If a file would clip, all conditions of its clip are reduced in level together.

    Parameters
    ----------
    clips
        Audio files or folders, or a mapping from names of talkers to files. Without names, a
        talker is the name of a file without its ending.
    output
        Folder to create; must not exist.
    kind
        Conditions to create: the twelve of P.835, low-pass anchors of MUSHRA, or MNRU.
    noise
        Audio file of the noise of P.835. By default Gaussian noise with the mean spectrum of
        the clips.
    seed
    q
        Values of Q of MNRU, in dB.
    band
        Band of MNRU: ``narrow`` (100–3400 Hz), ``wide`` (100–7000 Hz), or all frequencies.
    jobs
    progress
        Called with the number of clips done and the number of all clips.

    Returns
    -------
    ReferenceConditions
        Files, and notes.

    Raises
    ------
    InputError
        If clips cannot be used; lists all problems.
    UsageError
        If an option is invalid, the folder exists or is inside a folder of clips, or the noise has
        a silent passage as long as a clip.

    Examples
    --------
    >>> made = audio_conditions(["talk.wav"], "conditions")
    >>> made.files[1].file, round(made.files[1].snr_a_measured, 1)
    ('ref/i02_talk.wav', 0.0)
    """
    settings = _Settings(kind, seed, tuple(q), band, str(noise or ""))
    settings.check()
    folder = AtomicFolder(Path(output))
    found = _name_clips(clips, kind, Path(output))
    map_ = choose_map(jobs)
    inspected, recorded = _inspect_clips(found, settings, map_)
    spectra = [clip.spectrum for clip in inspected if clip.spectrum is not None]
    spectrum = np.mean(spectra, axis=0) if spectra else settings.spectrum
    settings = settings._replace(spectrum=spectrum, recorded=recorded)
    work = partial(_write_conditions, settings=settings)
    files, notes = list[ReferenceConditionFile](), _clip_notes(inspected)
    with folder as place:
        results = map_(partial(work, folder=place), inspected)
        try:
            for number, result in enumerate(results, 1):
                files += result
                progress(number, len(inspected), number)
        finally:  # workers end before the folder is removed
            if isinstance(results, Iterator) and hasattr(results, "close"):
                results.close()
        files.sort(key=lambda file: (file.condition, file.talker))
        (place / CONDITIONS_FILE).write_text(_conditions_csv(files), encoding="utf-8", newline="")
    floats = {clip.name for clip in inspected if clip.subtype == "FLOAT"}
    return ReferenceConditions(tuple(files), (*notes, *_level_notes(files, floats)))


def _conditions_csv(files: Sequence[ReferenceConditionFile]) -> str:
    """Return the table of files, without columns that do not apply."""
    rows = [asdict(file) for file in files]
    names = {name: name for name in rows[0] if any(row[name] is not None for row in rows)}
    if not files[0].file.startswith(f"{P835_FOLDER}/"):
        names["talker"] = "clip"
    return records_csv(
        [{title: _shown(row[name]) for name, title in names.items()} for row in rows]
    )


def conditions_report(made: ReferenceConditions) -> Report:
    """Return the report on reference conditions: nominal values and ranges of measured ones."""
    measured = ("snr_a_measured", "q_measured", "si_sdr")
    rows = []
    for name, files in group_values((file.condition, file) for file in made.files).items():
        ranges = (_range_text([getattr(file, value) for file in files]) for value in measured)
        rows.append((name, _describe_condition(files[0]), str(len(files)), *ranges))
    header = ("condition", "content", "files", "SNR(A) (dB)", "Q (dB)", "SI-SDR (dB)")
    table = Table("reference conditions, as measured in the files", header, tuple(rows), names=2)
    table = table.columns([n for n in range(len(header)) if any(row[n] for row in rows)])
    about = f"{len(made.files):,} files of {len(rows)} conditions"
    return Report("Reference conditions", about, (), (Section("Conditions", (table,)),), ())


def _describe_condition(file: ReferenceConditionFile) -> str:
    if file.q is not None:
        return f"modulated noise at Q = {file.q:g} dB"
    if file.cutoff_hz is not None:
        return f"low-pass at {file.cutoff_hz:g} Hz"
    return str(P835Condition(file.distortion, file.snr_a))


def _range_text(values: Sequence[float | None]) -> str:
    """Return the range of measured values; empty if there are none.

    >>> _range_text([-0.01, 12.0]), _range_text([None])
    ('0.0 to 12.0', '')
    """
    rounded = sorted(round(value, 1) + 0.0 for value in values if value is not None)
    texts = [f"{value:.1f}" for value in rounded]
    return " to ".join(dict.fromkeys((texts[0], texts[-1]))) if texts else ""


def _shown(value: object) -> object:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else value


def _level_notes(files: Sequence[ReferenceConditionFile], floats: set[str]) -> list[str]:
    gains = {file.talker: -file.gain_db for file in files if file.gain_db < 0}
    what = "all conditions reduced by {} dB, since one would clip"
    notes = [f"{talker}: {what.format(f'{gain:.1f}')}" for talker, gain in gains.items()]
    if len(notes) > MAX_CLIP_NOTES:
        least, most = min(gains.values()), max(gains.values())
        notes = [f"{len(gains):,} clips: {what.format(f'{least:.1f} to {most:.1f}')}"]
    loud = {file.talker: file.peak_db for file in files if file.cutoff_hz and file.peak_db >= -1e-3}
    limited, over = loud.keys() - floats, {name for name in floats if loud.get(name, 0) > 0}
    what = "anchors that exceed full scale after filtering were"
    for clips, done in ((limited, "limited to it"), (over, "not limited")):
        if clips:
            names = _list_names(sorted(clips))
            notes.append(f"{what} {done}: {names} — reduce the level of these clips")
    return notes


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MAX_CLIP_NOTES else f"{len(names):,}"


# --- Clips and their problems --------------------------------------------------------------------


class _Settings(NamedTuple):
    kind: str
    seed: int
    q: tuple[float, ...]
    band: str
    noise: str
    spectrum: Floats = np.zeros(0)
    recorded: Samples | None = None  # the noise at the rate of the clips

    def check(self) -> None:
        """Raise UsageError if an option is invalid."""
        choices = (
            ("kind of conditions", self.kind, CONDITION_KINDS),
            ("band", self.band, MNRU_BANDS_HZ),
        )
        for name, value, known in choices:
            if value not in known:
                raise UsageError(f'unknown {name} "{value}" — {nearest(value, known)}')
        if not 0 <= self.seed < 2**64:
            raise UsageError(f"seed must be a whole number from 0 to 2^64 - 1, got {self.seed}")
        if self.kind != "mnru" and self.q != DEFAULT_QS_DB:
            raise UsageError(f"Q applies to mnru, not to {self.kind} — omit it")
        if self.kind != "p835" and self.noise:
            raise UsageError(f"a noise applies to p835, not to {self.kind} — omit it")
        wrong = [q for q in self.q if not 0 <= q <= MAX_Q_DB]
        if wrong or not self.q:
            shown = ", ".join(f"{q:g}" for q in wrong) or "none"
            raise UsageError(f"values of Q must be from 0 to {MAX_Q_DB:g} dB, got {shown}")
        if len({*map(_q_folder, self.q)}) < len(self.q):
            raise UsageError("values of Q must differ by at least 0.1 dB")

    @property
    def highest_hertz(self) -> float:
        """Frequency in Hz that clips must contain."""
        if self.kind == "mnru" and (limits := MNRU_BANDS_HZ[self.band]):
            return limits[1]
        return 0.0


class _Clip(NamedTuple):
    """A clip to process; for P.835 with its long-term spectrum and its share of speech."""

    name: str
    path: Path
    rate: int = 0
    channels: int = 1
    subtype: str = KEPT_SUBTYPES[0]
    spectrum: Floats | None = None
    activity: float = 1.0
    background_db: float = -np.inf
    losses: tuple[AnchorLoss, ...] = ()
    problem: str = ""

    @property
    def kept_subtype(self) -> str:
        """Sample format of the files to write."""
        return self.subtype if self.subtype in KEPT_SUBTYPES else KEPT_SUBTYPES[0]


def _name_clips(
    clips: Mapping[str, StrPath] | Iterable[StrPath], kind: str, output: Path
) -> list[_Clip]:
    """Return all clips with the names of their talkers; raises an error if a file is missing."""
    problems = list[Problem]()
    named = list[_Clip]()
    if isinstance(clips, Mapping):
        named = [_Clip(str(name), Path(path)) for name, path in clips.items()]
        message, remedy = "cannot be part of a file name", "use letters and digits"
        problems += [
            file_problem(clip.path, f'the talker "{clip.name}" {message}', remedy)
            for clip in named
            if not clip.name or {*clip.name} & FORBIDDEN_CHARACTERS
        ]
        missing = [clip.path for clip in named if not clip.path.is_file()]
    else:
        paths = [Path(path) for path in clips]
        check_outside(output, paths)
        missing = [path for path in paths if not path.exists()]
        for path in paths:
            for file in sound_files([path])[0] if path not in missing else ():
                is_inside = path.is_dir() and kind != "p835"
                inner = file.relative_to(path) if is_inside else Path(file.name)
                named.append(_Clip(inner.with_suffix("").as_posix(), file))
    problems += [file_problem(path, "file does not exist") for path in missing]
    counts = Counter(clip.name.casefold() for clip in named)
    problems += [
        file_problem(clip.path, f'the name "{clip.name}" is used twice', "rename a file")
        for clip in named
        if counts[clip.name.casefold()] > 1
    ]
    refuse_problems(problems, "written")
    if not named:
        raise UsageError("no audio files found — give audio files, or folders that contain them")
    return named


def _inspect_clips(
    clips: Sequence[_Clip], settings: _Settings, map_: Callable[..., Iterator[_Clip]]
) -> tuple[list[_Clip], Samples | None]:
    """Return clips with their properties and the noise, or raise an error with all problems."""
    inspected = list(map_(partial(_inspect_clip, settings=settings), clips))
    problems = [file_problem(c.path, c.problem) for c in inspected if c.problem]
    rates = Counter(clip.rate for clip in inspected if not clip.problem)
    if settings.kind == "p835" and len(rates) > 1:
        common = rates.most_common(1)[0][0]
        problems += [
            file_problem(
                clip.path,
                f"the sampling rate is {clip.rate} Hz, that of other clips {common} Hz",
                "resample it",
            )
            for clip in inspected
            if not clip.problem and clip.rate != common
        ]
    recorded = None
    if settings.noise:
        try:
            recorded = _read_noise(Path(settings.noise), next(iter(rates), 0))
        except EarwitnessError as error:
            problems.append(file_problem(settings.noise, error))
    refuse_problems(problems, "written")
    return inspected, recorded


def _inspect_clip(clip: _Clip, settings: _Settings) -> _Clip:
    """Return a clip with its properties, or with what is wrong with it."""
    try:
        facts = facts_of(clip.path)
        samples = read_mono(clip.path).samples.astype(np.float64)
    except EarwitnessError as error:
        return clip._replace(problem=str(error))
    clip = clip._replace(rate=facts.rate, channels=facts.channels, subtype=sound_subtype(clip.path))
    if problem := _sound_problem(samples, facts.rate, settings):
        return clip._replace(problem=problem)
    if settings.kind == "mushra":
        whole = Sound(samples[:, None], facts.rate, "DOUBLE")
        losses = (
            AnchorLoss(name, clip.name, facts.rate, anchor_loss(whole, make_anchor(whole, cutoff)))
            for name, cutoff in ANCHOR_CUTOFFS_HZ.items()
        )
        return clip._replace(losses=tuple(losses))
    if settings.kind != "p835":
        return clip
    activity = measure_speech_level(samples, facts.rate).activity
    if not activity > 0:
        return clip._replace(problem="contains no active speech (ITU-T P.56)")
    return clip._replace(
        spectrum=measure_spectrum(samples, facts.rate),
        activity=activity,
        background_db=measure_background(samples, facts.rate, activity),
    )


def _sound_problem(samples: Floats, rate: int, settings: _Settings) -> str:
    if not len(samples):
        return "contains no audio"
    if not np.isfinite(samples).all():
        return "has samples that are not numbers"
    if settings.kind == "mushra":
        high = max(ANCHOR_CUTOFFS_HZ.values())
        fits = can_pass(rate, high)
        rate_text = f"the sampling rate of {rate} Hz"
        return "" if fits else f"{rate_text} is too low for a low-pass at {high:g} Hz"
    if len(samples) < MIN_CLIP_SECONDS * rate:
        seconds = f"{len(samples) / rate:.2f} s"
        return f"lasts {seconds}, but must last at least {MIN_CLIP_SECONDS:g} s"
    if _is_silent(samples):
        return SILENT_MESSAGE
    if rate < 2 * settings.highest_hertz:
        highest = f"{settings.highest_hertz:g} Hz"
        return f"the sampling rate of {rate} Hz is too low for the band up to {highest}"
    return ""


def _read_noise(path: Path, rate: int) -> Samples:
    """Return a noise at the sampling rate of the clips (0: its own)."""
    if not path.is_file():
        raise UsageError("file does not exist")
    samples, own_rate = read_mono(path)
    if not np.isfinite(samples).all():
        raise UsageError("has samples that are not numbers")
    if len(samples) < MIN_NOISE_SECONDS * own_rate:
        raise UsageError(f"a noise must last at least {MIN_NOISE_SECONDS:g} s")
    if _is_silent(samples):
        raise UsageError(SILENT_MESSAGE)
    return resample(samples.astype(np.float64), own_rate, rate or own_rate).astype(np.float32)


def _is_silent(samples: NDArray[Any]) -> bool:
    return bool(np.mean(samples.astype(np.float64) ** 2) < 10 ** (SILENCE_POWER_DB / 10))


def _clip_notes(clips: Sequence[_Clip]) -> list[str]:
    """Return notes on clips of several channels or wide formats, and on those not clean."""
    losses = [loss for clip in clips for loss in clip.losses]
    mixed = [clip for clip in clips if clip.spectrum is not None and clip.channels > 1]
    notes = [f"{clip.path}: {clip.channels} channels were mixed to one" for clip in mixed]
    notes += weak_anchor_notes(losses)
    for subtype, form in WIDER_SUBTYPES.items():
        if names := [clip.name for clip in clips if clip.subtype == subtype]:
            notes.append(f"{form} clips are written with 16 bits: {_list_names(names)}")
    return notes + [
        f"{clip.path}: the quietest parts are only {-clip.background_db:.0f} dB below the speech "
        "— use a clip with pauses and less background noise, or the mildest noise is not heard"
        for clip in clips
        if clip.background_db > MAX_BACKGROUND_DB
    ]


# --- Files of one clip ---------------------------------------------------------------------------


class _Version(NamedTuple):
    """A condition of a clip: its speech and the noise that is added, before a change of level."""

    file: str
    condition: str
    speech: Floats
    noise: Floats
    distortion: int | None = None
    snr_a: float | None = None
    q: float | None = None


def _write_conditions(
    clip: _Clip, settings: _Settings, folder: Path
) -> list[ReferenceConditionFile]:
    """Write all conditions of a clip."""
    if settings.kind == "mushra":
        return [_write_anchor(clip, name, folder) for name in ANCHOR_CUTOFFS_HZ]
    speech = read_mono(clip.path).samples.astype(np.float64)
    rng = np.random.default_rng([settings.seed, *clip.name.encode()])
    if settings.kind == "mnru":
        versions = list(_mnru_versions(clip, speech, settings, rng))
    else:
        versions = list(_p835_versions(clip, speech, settings, rng))
    peak = max(float(np.abs(version.speech + version.noise).max()) for version in versions)
    gain = min(1.0, 10 ** (PEAK_LIMIT_DB / 20) / peak) if peak > 1 else 1.0
    write = partial(_write_version, clip, speech, gain=gain, folder=folder)
    return [write(version) for version in versions]


def _p835_versions(
    clip: _Clip, speech: Floats, settings: _Settings, rng: Generator
) -> Iterator[_Version]:
    """Yield the twelve conditions of a clip."""
    activity, rate = clip.activity, clip.rate
    control = make_noise(measure_spectrum(speech, rate), len(speech), rng)
    versions: dict[int | None, Floats] = {None: speech}
    for degree, snr in CONTROL_SNRS_DB.items():
        mixed_noise = scale_noise(speech, control, rate, activity, snr)
        versions[degree] = suppress_speech(speech, mixed_noise, rate)
    added = _added_noise(settings, rate, len(speech), rng)
    for name, condition in P835_CONDITIONS.items():
        heard, noise = versions[condition.distortion], np.zeros(len(speech))
        if condition.snr_a is not None:
            noise = scale_noise(heard, added, rate, activity, condition.snr_a)
        file = f"{P835_FOLDER}/{name}_{clip.name}.wav"
        yield _Version(file, name, heard, noise, condition.distortion, condition.snr_a)


def _added_noise(settings: _Settings, rate: int, frames: int, rng: Generator) -> Floats:
    """Return the given noise, or noise with the mean spectrum of all clips."""
    if settings.recorded is None:
        return make_noise(settings.spectrum, frames, rng)
    noise = cut_noise(settings.recorded, rate, frames, rng)
    if _is_silent(noise):
        where = f"{SILENT_MESSAGE} for {frames / rate:.1f} s, as long as a clip"
        raise UsageError(f"{settings.noise}: {where} — use a noise without silent passages")
    return noise


def _mnru_versions(
    clip: _Clip, speech: Floats, settings: _Settings, rng: Generator
) -> Iterator[_Version]:
    """Yield a clip with modulated noise at each Q."""
    clean = apply_mnru(speech, clip.rate, np.inf, rng, band=settings.band)
    for q in settings.q:
        noise = apply_mnru(speech, clip.rate, q, rng, band=settings.band) - clean
        folder = _q_folder(q)
        yield _Version(f"{folder}/{clip.name}.wav", folder, clean, noise, q=q)


def _q_folder(q: float) -> str:
    """Return the name of the folder of a Q.

    >>> _q_folder(5), _q_folder(12.5)
    ('q05', 'q12.5')
    """
    return f"q{q:02.0f}" if round(q, 1) == round(q) else f"q{q:04.1f}"


def _write_version(
    clip: _Clip, original: Floats, version: _Version, *, gain: float, folder: Path
) -> ReferenceConditionFile:
    """Write a file, and measure it as it is stored."""
    speech, path = gain * version.speech, folder / version.file
    sound = Sound(speech + gain * version.noise, clip.rate, clip.kept_subtype)
    stored, peak, digest = _write_and_read(path, sound)
    noise = stored[:, 0] - speech
    noisy, modulated = version.snr_a is not None, version.q is not None
    powers = float(np.mean(speech**2)), float(np.mean(noise**2))
    return ReferenceConditionFile(
        version.file,
        version.condition,
        clip.name,
        version.distortion,
        version.snr_a,
        measure_snr_a(speech, noise, clip.rate, clip.activity) if noisy else None,
        measure_si_sdr(original, speech) if version.distortion else None,
        version.q,
        10 * np.log10(powers[0] / powers[1]) if modulated else None,
        gain_db=20 * np.log10(gain),
        peak_db=peak,
        sha256=digest,
    )


def _write_anchor(clip: _Clip, name: str, folder: Path) -> ReferenceConditionFile:
    """Write a low-pass anchor, with all channels of its clip."""
    file = f"{name}/{clip.name}.wav"
    sound = read_sound(clip.path)._replace(subtype=clip.kept_subtype)
    sound = make_anchor(sound, ANCHOR_CUTOFFS_HZ[name])
    _, peak, digest = _write_and_read(folder / file, sound)
    cutoff = ANCHOR_CUTOFFS_HZ[name]
    return ReferenceConditionFile(
        file, name, clip.name, cutoff_hz=cutoff, peak_db=peak, sha256=digest
    )


def _write_and_read(path: Path, sound: Sound) -> tuple[Floats, float, str]:
    """Write a file; return its samples, their peak in dB, and the hash of the file."""
    write_sound(path, sound)
    samples = read_sound(path).samples
    peak = float(np.abs(samples).max(initial=0.0))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return samples, float(20 * np.log10(peak)) if peak else -np.inf, digest
