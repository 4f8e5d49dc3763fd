"""Clips for listening tests, cut from long recordings by voice activity or an annotation."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from math import inf
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal, NamedTuple
from warnings import warn

import numpy as np

from earwitness.audio.files import Sound, sound_library, write_new_wav
from earwitness.core import Jobs, Map, Progress, StrPath, count_text, no_progress
from earwitness.engines.local import choose_map, in_process
from earwitness.errors import (
    EarwitnessError,
    EarwitnessWarning,
    InputError,
    Problem,
    UsageError,
    file_problem,
)
from earwitness.io.atomic import AtomicFolder
from earwitness.io.tables import records_csv
from earwitness.material.annotations import (
    FIELD_PLACEHOLDER,
    SpokenInterval,
    covariate_tables,
    read_annotations,
    read_covariates,
)
from earwitness.material.candidates import (
    ClipRule,
    Span,
    TimeIndex,
    choose_candidates,
    find_candidates,
    merge_spans,
    spread_choice,
    sum_speech,
    widen_spans,
)
from earwitness.material.clip_audio import (
    FULL_SCALE_INT32,
    ClipReader,
    estimate_snr,
    find_peaks,
    measure_level,
)
from earwitness.material.files import check_outside
from earwitness.material.review import ReviewClip, review_page
from earwitness.material.selection import ClipSelection, check_balance_columns, select_clips
from earwitness.material.sources import (
    SourceRecording,
    describe_recordings,
    list_recordings,
    unique_name,
)
from earwitness.recordings.recording import list_paths
from earwitness.report.parts import Lines, Part, Report, Section, Table
from earwitness.speech.vad import FrameDetector, WebRtcDetector, find_frame_detector, find_speech

# --- Settings ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ClipSettings(ClipRule):
    """How clips are found, cut and selected.

    Parameters
    ----------
    annotation
        Files or folders with the times of speech: CHiME transcripts (JSON), RTTM, CTM, TextGrid,
        SRT, WebVTT, or CSV with recording, start, end and perhaps speaker. By default, speech
        is detected.
    detector
        Speech detector: ``webrtc``, or a Silero ONNX file. By default the file of silero-vad if
        that package and onnxruntime are installed, else webrtc.
    threshold
        Probability of speech from which the detector starts a passage.
    guard
        Time before and after a detected passage in which a clip neither starts nor ends, in
        addition to ``silence``: detectors miss the first and last parts of words.
    max_per_recording
        Largest number of clips per recording, spread evenly over it. By default all.
    pattern
        Pattern of file names that gives covariates, such as ``{session}_{location}``.
    covariates
        CSV files of covariates, with a column recording, or a column speaker for those of annotated
        speakers. Clips with several speakers have all their values, as in F+M.
    count
        Number of clips to select from all that were found. By default all.
    balance
        Categorical columns in which the selection resembles all clips.
    numbers
        Numeric columns whose means the selection keeps, such as snr.
    on_error
        Files that cannot be used: ``fail``, or ``skip`` and list them.
    seed
        Random seed.
    """

    annotation: StrPath | Sequence[StrPath] | None = None
    detector: Annotated[FrameDetector | str | None, "NAME|FILE"] = None
    threshold: float = 0.5
    guard: float = 0.1  # seconds by which detectors miss the start and the end of speech
    max_per_recording: int | None = None
    pattern: str | None = None
    covariates: StrPath | Sequence[StrPath] | None = None
    count: int | None = None
    balance: Annotated[Sequence[str], "COLUMN"] = ()
    numbers: Annotated[Sequence[str], "COLUMN"] = ()
    on_error: Literal["fail", "skip"] = "fail"
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.guard < inf:
            raise UsageError(f"guard must be 0 s or more, got {self.guard:g}")
        for name in ("max_per_recording", "count"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UsageError(f"{name} must be 1 or more, got {number}")
        if self.count is None and (self.balance or self.numbers):
            raise UsageError("balance and numbers need the number of clips — set count")
        if self.pattern is not None:
            _check_pattern(self.pattern)

    @property
    def signature(self) -> str:
        """All settings in one line, without those that are not set."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["min_speech"] = self.speech_seconds
        set_values = {name: value for name, value in values.items() if value not in (None, ())}
        return f"clips({','.join(f'{name}={_show(value)}' for name, value in set_values.items())})"


def _show(value: Any) -> str:
    """Return a setting as a signature has it: of a file and of a detector the name.

    >>> _show((4.0, 5.0)), _show([Path("data/speech.csv")]), _show("webrtc")
    ('4+5', 'speech.csv', 'webrtc')
    """
    if isinstance(value, str | int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return "+".join(map(_show, value)) if isinstance(value, Sequence) else str(value.name)


# --- Cutting -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CutClip:
    """A clip: position in its recording, measurements and covariates.

    Attributes
    ----------
    name
        Name of its file without the ending.
    recording
        Name of the recording.
    start, end
        Position in the recording in seconds.
    speech
        Seconds of speech.
    level
        Level in dB relative to full scale (RMS).
    snr
        Rough signal-to-noise ratio in dB: speech against the time without speech.
    covariates
        Fields of the recording and of its annotation.
    spans
        Speech in the clip, in seconds from its start.
    peaks
        Waveform for the review: 160 magnitudes from 0 to 100.
    """

    name: str
    recording: str
    start: float
    end: float
    speech: float
    level: float
    snr: float
    covariates: Mapping[str, str]
    spans: tuple[Span, ...] = ()
    peaks: tuple[int, ...] = ()

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.end - self.start

    @property
    def row(self) -> dict[str, str]:
        """The clip as a row of the clip table."""
        measured = {"name": self.name, "seconds": _decimal(self.seconds)}
        measured |= {"recording": self.recording}
        measured |= {name: _decimal(getattr(self, name)) for name in MEASURED_COLUMNS}
        return measured | dict(self.covariates)


MEASURED_COLUMNS = ("start", "end", "speech", "level", "snr")
OWN_COLUMNS = frozenset(("name", "seconds", "recording", "files", *MEASURED_COLUMNS))


def _decimal(number: float) -> str:
    """Return a number with up to six decimals.

    >>> _decimal(4.25), _decimal(12.0)
    ('4.25', '12')
    """
    return f"{number:.6f}".rstrip("0").rstrip(".")


class ClipCutter(NamedTuple):
    """What worker processes know of all recordings; without a detector, annotations are used."""

    folder: Path
    settings: ClipSettings
    detector: FrameDetector | None
    speakers: Mapping[str, Mapping[str, str]] = {}


class CutResult(NamedTuple):
    """Clips of a recording and its seconds of speech, or the problem with it."""

    clips: tuple[CutClip, ...] = ()
    speech: float = 0.0
    problem: Problem | None = None


def cut_recording(
    cutter: ClipCutter, recording: SourceRecording, progress: Progress = no_progress
) -> CutResult:
    """Find the clips of a recording and write them; errors become a problem."""
    try:
        return _cut_recording(cutter, recording, progress)
    except EarwitnessError as error:
        return CutResult(problem=file_problem(recording.path, error))


def _cut_recording(cutter: ClipCutter, recording: SourceRecording, progress: Progress) -> CutResult:
    settings = cutter.settings
    if recording.speech is None:
        found = find_speech(
            recording.path,
            detector=cutter.detector,
            threshold=settings.threshold,
            pad=0.0,
            progress=progress,
        )
        intervals = tuple(SpokenInterval(segment.start, segment.end) for segment in found)
    else:
        intervals = recording.speech
    spans = merge_spans((interval.start, interval.end) for interval in intervals)
    guard = settings.guard if recording.speech is None else 0.0
    parts = widen_spans(spans, guard, recording.seconds)
    amounts = sum_speech(spans, parts)
    candidates = find_candidates(parts, recording.seconds, settings, amounts)
    chosen = choose_candidates(candidates, settings.gap)
    chosen = [chosen[n] for n in spread_choice(len(chosen), settings.max_per_recording)]
    clips, taken = list[CutClip](), set[str]()
    speech, heard = (
        TimeIndex(spans),
        TimeIndex([(interval.start, interval.end) for interval in intervals]),
    )
    with closing(ClipReader(recording.path)) as reader:
        rate = reader.facts.rate
        for candidate in chosen:
            frames = min(round((candidate.end - candidate.start) * rate), reader.facts.frames)
            first = min(round(max(candidate.start, 0.0) * rate), reader.facts.frames - frames)
            samples = reader.read(first, frames)
            start, end = first / rate, (first + frames) / rate
            inner = [(spans[n][0] - start, spans[n][1] - start) for n in speech.find(start, end)]
            name = unique_name(f"{recording.prefix}_{start:07.2f}", taken)
            sound = Sound(samples, rate, reader.subtype)
            write_new_wav(cutter.folder / f"{name}.wav", sound)
            values = samples / FULL_SCALE_INT32 if samples.dtype == np.int32 else samples
            spoken = [intervals[n] for n in heard.find(start, end)]
            clips.append(
                CutClip(
                    name,
                    recording.name,
                    start,
                    end,
                    round(candidate.speech, 3),
                    measure_level(values),
                    estimate_snr(values, rate, inner),
                    {**recording.covariates, **_spoken_covariates(spoken, cutter.speakers)},
                    tuple(inner),
                    find_peaks(values),
                )
            )
    return CutResult(tuple(clips), sum(b - a for a, b in spans))


def _spoken_covariates(
    heard: Sequence[SpokenInterval], speakers: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Return the speakers of a clip, their covariates, and the fields of its annotation."""
    names = sorted({interval.speaker for interval in heard if interval.speaker})
    values: dict[str, set[str]] = {}
    for key, value in (pair for interval in heard for pair in interval.fields):
        values.setdefault(key, set()).add(value)
    for key, value in (pair for name in names for pair in speakers.get(name, {}).items()):
        values.setdefault(key, set()).add(value)
    joined = {key: "+".join(sorted(filter(None, value))) for key, value in values.items()}
    return ({"speaker": "+".join(names)} if names else {}) | joined


# --- Folder of clips -----------------------------------------------------------------------------


AUDIO_FOLDER, TABLE_FILE, REVIEW_FILE = "audio", "clips.csv", "review.html"


@dataclass(frozen=True)
class ClipRun:
    """Clips that were cut, and where they are.

    Attributes
    ----------
    folder
        Folder with ``audio``, ``clips.csv`` and ``review.html``.
    clips
        The clips, in the order of recordings and time.
    found
        Number of clips before a selection.
    recordings
        Names of the recordings that were used.
    seconds, speech
        Duration of these recordings, and of the speech in them.
    signature
        Settings in one line; see ``ClipSettings``.
    skipped
        Problems of recordings that were skipped.
    selection
        Balance of the selection, if there was one.
    """

    folder: Path
    clips: tuple[CutClip, ...]
    found: int
    recordings: tuple[str, ...]
    seconds: float
    speech: float
    signature: str
    skipped: tuple[Problem, ...] = ()
    selection: ClipSelection | None = None


def audio_clips(
    recordings: StrPath | Sequence[StrPath],
    output: StrPath,
    *,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
    **options: Any,
) -> ClipRun:
    """Cut clips for a listening test out of long recordings.

    A clip contains whole passages of speech, and pauses at both ends. As many clips are cut as
    possible without overlap. The samples of a clip are those of the recording, without conversion.

    Parameters
    ----------
    recordings
        Audio files in any format that libsndfile or PyAV reads, and folders of them.
    output
        Folder to create: ``audio`` with a WAV file per clip, ``clips.csv``, the clip table of a
        study, and ``review.html``, a page that plays the clips and records which ones to keep.
    jobs
    progress
        Callback for progress reports, in seconds of audio.
    **options
        Settings (see ``ClipSettings``), such as ``seconds``, ``annotation`` or ``count``. The
        detector may also be an object; see ``earwitness.speech.vad.find_speech``.

    Returns
    -------
    ClipRun
        The clips and their covariates.

    Raises
    ------
    InputError
        If files have problems; it has all of them.
    UsageError
        If an argument is invalid, or no clip was found.

    Examples
    --------
    >>> run = audio_clips(["talk.wav"], "clips", annotation=["speech.csv"])
    >>> [clip.name for clip in run.clips]
    ['talk_0000.60', 'talk_0005.65']
    """
    settings, map_ = ClipSettings(**options), choose_map(jobs)
    atomic, problems = AtomicFolder(Path(output)), list[Problem]()
    check_outside(Path(output), list_paths(recordings))
    sound_library()  # fails without soundfile
    listed = list_recordings(list_paths(recordings))
    annotated, skips = None, settings.on_error == "skip"
    if settings.annotation is not None:
        annotated, faults = read_annotations(list_paths(settings.annotation))
        problems += faults
    tables = covariate_tables(() if settings.covariates is None else settings.covariates)
    speakers: Mapping[str, Mapping[str, str]] = {}
    if (speaker_table := tables.get("speaker")) is not None:
        if annotated is None:
            raise UsageError("speakers are known from an annotation only — set annotation")
        speakers = read_covariates(speaker_table, "speaker", problems)
    if problems:  # of tables, which are not skipped
        raise InputError(problems, done="written")
    used = describe_recordings(
        listed,
        problems,
        pattern=settings.pattern,
        covariates=tables.get("recording"),
        annotation=annotated,
    )
    if speaker_table is not None:
        names = {interval.speaker for recording in used for interval in recording.speech or ()}
        problems += [
            Problem(str(speaker_table), 0, "speaker", f'no row for "{name}"', "add one")
            for name in sorted(names - speakers.keys() - {""})
        ]
    if problems and not (skips and used):
        raise InputError(problems, done="written")
    balance, numbers = settings.balance, settings.numbers
    _check_columns(used, speakers, balance, numbers)
    detector = settings.detector
    if detector is None or isinstance(detector, str):
        detector = None if annotated is not None else find_frame_detector(detector)
    settings = replace(settings, detector=detector)
    with atomic as folder:
        (folder / AUDIO_FOLDER).mkdir()
        cutter = ClipCutter(folder / AUDIO_FOLDER, settings, detector, speakers)
        results = _cut_all(cutter, used, map_, progress)
        wrong = [result.problem for result in results if result.problem]
        problems += wrong
        if wrong and not (skips and len(wrong) < len(results)):
            raise InputError(problems, done="written")
        cut = [clip for result in results for clip in result.clips]
        columns = dict.fromkeys(key for clip in cut for key in clip.covariates)
        clips = tuple(  # missing covariates are empty
            replace(clip, covariates={key: clip.covariates.get(key, "") for key in columns})
            for clip in cut
        )
        heard = [
            recording for recording, result in zip(used, results, strict=True) if not result.problem
        ]
        run = ClipRun(
            Path(output),
            clips,
            len(clips),
            tuple(recording.name for recording in heard),
            sum(recording.seconds for recording in heard),
            sum(result.speech for result in results),
            settings.signature,
            tuple(problems),
        )
        if not run.clips:
            raise UsageError(_no_clip_message(run, settings, detector))
        count = settings.count
        if count is not None and count > run.found:
            message = f"{count:,} clips were requested, but {run.found:,} were found; all are kept"
            warn(message, EarwitnessWarning, stacklevel=2)
        elif count is not None:
            rows = [clip.row for clip in run.clips]
            values = check_balance_columns(rows, balance, numbers)
            selection = select_clips(
                values, count, balance=balance, numbers=numbers, seed=settings.seed
            )
            chosen = tuple(run.clips[index] for index in selection.chosen)
            run = replace(run, clips=chosen, selection=selection)
        kept = {f"{clip.name}.wav" for clip in run.clips}
        for file in (folder / AUDIO_FOLDER).iterdir():
            if file.name not in kept:  # not selected, or of a recording with a problem
                file.unlink()
        (folder / TABLE_FILE).write_text(
            records_csv([clip.row for clip in run.clips]), encoding="utf-8", newline=""
        )
        page = review_page([_review_clip(clip) for clip in run.clips], Path(output).name)
        (folder / REVIEW_FILE).write_text(page, encoding="utf-8")
    return run


def _check_pattern(pattern: str) -> None:
    names = FIELD_PLACEHOLDER.findall(pattern)
    wrong = "" if names else "has no placeholder"
    for name in names:
        if not name.isidentifier():
            wrong = f'has a placeholder "{name}" that does not start with a letter'
        elif names.count(name) > 1:
            wrong = f'has the placeholder "{name}" twice'
    if wrong:
        remedy = "write a pattern such as {session}_{location}"
        raise UsageError(f'pattern: "{pattern}" {wrong} — {remedy}')


def _cut_all(
    cutter: ClipCutter, recordings: Sequence[SourceRecording], map_: Map, progress: Progress
) -> list[CutResult]:
    """Cut all recordings; progress is that of each recording, or after each of several at once."""
    total, done = round(sum(recording.seconds for recording in recordings)), 0.0
    results, cut = list[CutResult](), 0

    def report(inner: int, _total: int | None, _cases: int) -> None:
        progress(round(done) + inner, total, cut)

    if map_ is not in_process and len(recordings) > 1:
        outcomes = map_(partial(_cut_in_worker, cutter), recordings)
    else:
        outcomes = (cut_recording(cutter, recording, report) for recording in recordings)
    with _file_on_interruption(cutter.folder / STOP_FILE):
        for recording, result in zip(recordings, outcomes, strict=True):
            results.append(result)
            done += recording.seconds
            cut += len(result.clips)
            progress(round(done), total, cut)
    return results


STOP_FILE = ".stop"  # tells workers that this process was interrupted


def _cut_in_worker(cutter: ClipCutter, recording: SourceRecording) -> CutResult:
    def stop(_done: int, _total: int | None, _cases: int) -> None:
        if (cutter.folder / STOP_FILE).exists():
            raise UsageError(f"{recording.path}: interrupted")

    return cut_recording(cutter, recording, stop)


@contextmanager
def _file_on_interruption(path: Path) -> Iterator[None]:
    """Create a file as soon as this process is interrupted; its workers ignore Ctrl-C.

    Otherwise it would wait until workers have finished their recordings, perhaps of hours.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}

    def interrupt(number: int, _frame: FrameType | None) -> None:
        path.touch()
        signal.signal(number, before[number])
        signal.raise_signal(number)

    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, handler)


def _check_columns(
    recordings: Sequence[SourceRecording],
    speakers: Mapping[str, Mapping[str, str]],
    balance: Sequence[str],
    numbers: Sequence[str],
) -> None:
    """Refuse covariates that would overwrite others, and unknown columns to balance."""
    names = {key for recording in recordings for key in recording.covariates}
    intervals = [interval for recording in recordings for interval in recording.speech or ()]
    spoken = {key for row in speakers.values() for key in row}
    spoken |= {key for interval in intervals for key, _ in interval.fields}
    spoken |= {"speaker"} if any(interval.speaker for interval in intervals) else set()
    for taken, what in (
        ((names | spoken) & OWN_COLUMNS, "columns of the clip table"),
        (names & spoken, "known of speakers, too"),
    ):
        if taken:
            message = f"covariates must not be named {', '.join(sorted(taken))}"
            raise UsageError(f"{message}, which are {what} — rename them")
    known = OWN_COLUMNS - {"files"} | names | spoken
    check_balance_columns([dict.fromkeys(known, "0")], balance, numbers)


def _no_clip_message(run: ClipRun, rule: ClipRule, detector: FrameDetector | None) -> str:
    where = count_text(len(run.recordings), "recording")
    wanted = (
        f"{rule.seconds[0]:g} to {rule.seconds[1]:g} s with {rule.speech_seconds:g} s of speech "
        f"and {rule.silence:g} s without speech at both ends"
    )
    other = ""
    if isinstance(detector, WebRtcDetector):
        other = ", or install silero-vad and onnxruntime: WebRTC takes noise for speech"
    return (
        f"no part of {where} with {run.speech:.0f} s of speech lasts {wanted} — decrease "
        f"min_speech or silence, or increase seconds{other}"
    )


def _review_clip(clip: CutClip) -> ReviewClip:
    facts = {
        "recording": clip.recording,
        "position": f"{clip.start:.2f}–{clip.end:.2f} s",
        "speech": f"{clip.speech:.2f} of {clip.seconds:.2f} s",
        "level": f"{clip.level:.1f} dBFS".replace("-", "−"),
        "SNR (rough)": f"{clip.snr:.1f} dB".replace("-", "−"),
    }
    shown = {key: value for key, value in clip.covariates.items() if value}
    return ReviewClip(clip.name, clip.seconds, clip.spans, clip.peaks, facts | shown)


def clips_report(run: ClipRun) -> Report:
    """Return the report on clips that were cut: recordings, counts and balance."""
    clips = Counter(clip.recording for clip in run.clips)
    selected = f"{len(run.clips):,} of " if run.selection is not None else ""
    about = (
        f"{selected}{run.found:,} clips from {count_text(len(run.recordings), 'recording')} of "
        f"{run.seconds / 60:,.1f} min, of which {100 * run.speech / run.seconds:.0f} % is speech."
    )
    rows = [(name, str(clips[name])) for name in run.recordings]
    without = tuple(name for name in run.recordings if not clips[name])
    parts: list[Part] = []
    if len(rows) <= MAX_LISTED_RECORDINGS:
        parts.append(Table("clips per recording", ("recording", "clips"), tuple(rows)))
    elif without:
        parts.append(Lines("recordings without clips", without, more=f"see {TABLE_FILE}"))
    measured = []
    titles = {"speech": "speech (s)", "level": "level (dBFS)", "snr": "SNR (dB, rough)"}
    for name in ("seconds", *titles):
        quantiles = np.percentile([getattr(clip, name) for clip in run.clips], (0, 50, 100))
        measured.append((titles.get(name, name), *(f"{value:.2f}" for value in quantiles)))
    header = ("measurement", "minimum", "median", "maximum")
    parts.append(Table("measurements", header, tuple(measured)))
    sections = [Section("Clips", tuple(parts), about)]
    if run.selection is not None and run.selection.margins:
        sections.append(Section("Balance", (run.selection.table(),)))
    return Report("Clips", about, (), tuple(sections), (f"signature: {run.signature}",))


MAX_LISTED_RECORDINGS = 20
