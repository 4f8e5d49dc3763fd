"""The commands align and transcribe."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from earwitness.chapters.gather import (
    KALDI_FILE,
    SUBTITLE_SUFFIXES,
    TRANSCRIPT_SUFFIXES,
    text_of,
    transcripts_in,
)
from earwitness.chapters.presets import PRESETS, PresetOptions, read
from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    EXISTING_PATH,
    FILE_PATH,
    JOBS_OPTION,
    QUIET_OPTION,
    SOUND_UNIT,
    TextTarget,
    add_options,
    check_results,
    choice_option,
    format_option,
    note_on_interruption,
    option,
    output_format,
    output_option,
    print_notes,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.core import Progress
from earwitness.engines.local import choose_jobs, choose_map
from earwitness.errors import (
    EarwitnessError,
    InputError,
    Problem,
    UsageError,
    file_problem,
    nearest,
    refuse_problems,
)
from earwitness.speech.align import align, find_aligner
from earwitness.speech.recognize import find_recognizer, transcribe
from earwitness.text.timed_transcripts import (
    TRANSCRIPT_FORMATS,
    TimedTranscript,
    guess_transcript_form,
    write_transcript,
)
from earwitness.text.transcripts import normalise_lines

# --- Options and files ---------------------------------------------------------------------------


FORMATS = tuple(TRANSCRIPT_FORMATS)
DEFAULT_FORMAT = "json"
FORMAT_OF_ENDING = {"vtt": "webvtt"}  # endings other than the name of the format
ENDING_OF_FORMAT = {"webvtt": "vtt", "textgrid": "TextGrid"}
INTERRUPTED_NOTE = "finished parts are kept — run it again to resume"
PLAIN_ENDINGS = (".txt", ".text", ".md")
# of files with the same name, the first is used
TEXT_ENDINGS = (*PLAIN_ENDINGS, *SUBTITLE_SUFFIXES, *TRANSCRIPT_SUFFIXES)


# of all commands of speech
speech_options = add_options(
    output_option(
        "Output file, or a folder for several files.  [default: standard output]", type=FILE_PATH
    ),
    format_option(FORMATS, DEFAULT_FORMAT),
    choice_option(
        "--on-error",
        choices=["fail", "skip"],
        help="Files that cannot be used: fail, or skip and list them.",
    ),
    JOBS_OPTION,
    QUIET_OPTION,
)


class SpeechOutputs:
    """Where transcripts are written; invalid paths are refused before any work.

    Neither ``audio`` nor ``texts`` are replaced.
    """

    def __init__(
        self,
        output: Path | None,
        to: str | None,
        audio: Sequence[Path],
        texts: Sequence[Path] = (),
        *,
        several: bool,
    ) -> None:
        self._folder = output if output is not None and (several or output.is_dir()) else None
        if several and output is None:
            raise UsageError("several audio files need a folder for the output — set -o FOLDER")
        if self._folder is not None and self._folder.exists() and not self._folder.is_dir():
            raise UsageError(f"{self._folder} is a file — give a folder for several files")
        file = None if self._folder is not None else output
        self._form = to or (
            DEFAULT_FORMAT if file is None else output_format(file, FORMATS, FORMAT_OF_ENDING)
        )
        names = (*audio, *texts)
        self._target = TextTarget(file, names) if self._folder is None else None
        if self._folder is not None:
            written = [self._path(path) for path in audio]
            if len({*written}) < len(written):
                raise UsageError("several audio files have the same name — use separate folders")
            check_results(names, written)
            self._folder.mkdir(parents=True, exist_ok=True)

    def write(self, audio: Path, transcript: TimedTranscript, more: dict[str, Any]) -> None:
        """Write a transcript; JSON also has the fields of ``more``."""
        text = write_transcript(transcript, self._form)
        if more and self._form == "json":
            text = f"{json.dumps(json.loads(text) | more, ensure_ascii=False, indent=2)}\n"
        (self._target or TextTarget(self._path(audio))).write(text)

    def _path(self, audio: Path) -> Path:
        assert self._folder is not None
        return self._folder / f"{audio.stem}.{ENDING_OF_FORMAT.get(self._form, self._form)}"


class SpeechResult(NamedTuple):
    """A transcript, fields for JSON output, and notes."""

    transcript: TimedTranscript
    more: dict[str, Any]
    notes: Sequence[str] = ()


def process_files(
    paths: Sequence[Path],
    work: Callable[[Path, Progress], SpeechResult],
    texts: Sequence[Path] = (),
    *,
    several: bool,
    output: Path | None,
    to: str | None,
    on_error: str,
) -> None:
    """Process audio files one after another; write each result when it is finished."""
    outputs = SpeechOutputs(output, to, paths, texts, several=several)
    skipped, failed = list[Problem](), 0
    for path in paths:
        try:
            with (
                warnings_as_notes(),
                note_on_interruption(INTERRUPTED_NOTE),
                progress_bar(unit=SOUND_UNIT) as progress,
            ):
                result = work(path, progress)
            outputs.write(path, result.transcript, result.more)
        except EarwitnessError as error:
            if on_error != "skip":
                raise
            if isinstance(error, InputError):
                skipped += error.problems
            else:
                skipped.append(file_problem(path, error))
            failed += 1
            continue
        print_notes(result.notes)
    if failed and failed == len(paths):
        raise InputError(skipped, done="written")
    print_notes(skipped, "skipped")


def list_audio(paths: Sequence[Path]) -> list[Path]:
    """Return audio files; a folder stands for the audio files in it."""
    from earwitness.recordings.recording import sound_files

    files: list[Path] = []
    for path in paths:
        found = sound_files([path])[0] if path.is_dir() else [path]
        if not found:
            raise UsageError(f"{path}: contains no audio files")
        files += found
    return files


# --- Command align -------------------------------------------------------------------------------


@click.command("align")
@click.argument("audio", type=EXISTING_PATH)
@click.argument("text", type=EXISTING_PATH)
@signature_options(align)
@option(
    "--preset",
    metavar="NAME",
    help="Chapter format of the text, whose headings are not spoken, such as markdown or cstart.",
)
@speech_options
def align_command(
    audio: Path,
    text: Path,
    aligner: str | None,
    language: str | None,
    preset: str | None,
    cache: Path | None,
    jobs: int | None,
    **how: Any,
) -> None:
    """Find when the words of a text are spoken (forced alignment).

    AUDIO is an audio file. TEXT is a text file without times (.txt, .md), or a transcript of
    another tool (.srt, .vtt, .json …), whose times are not used. If both are folders, files with
    the same name are aligned, and the results are written into the folder -o.

    \b
    earwitness align talk.mp3 talk.txt -o talk.srt
    earwitness align talk.mp3 youtube.vtt -o talk.vtt
    earwitness align talks/ texts/ -o aligned/ --to ctm --on-error skip
    """
    settings, map_ = drop_unset({"language": language}), choose_map(choose_jobs(jobs, audio))
    chosen = find_aligner(aligner or "", **settings, cache=cache, map_=map_)
    pairs = dict(pair_files(audio, text, skips=how["on_error"] == "skip"))

    def work(path: Path, progress: Progress) -> SpeechResult:
        spoken = read_text(pairs[path], preset, path.stem)
        transcript = align(path, spoken, aligner=chosen, **settings, progress=progress)
        unsure = sum(not word.confidence for word in transcript.words)
        total = len(transcript.words)
        note = f"{path}: {total - unsure:,} of {total:,} words were recognized at their place"
        return SpeechResult(transcript, {}, [note])

    process_files([*pairs], work, [*pairs.values()], several=audio.is_dir(), **how)


def pair_files(audio: Path, text: Path, *, skips: bool) -> Iterator[tuple[Path, Path]]:
    """Yield audio files with their texts; in folders, those with the same name."""
    if audio.is_dir() != text.is_dir():
        raise UsageError("AUDIO and TEXT must both be files or both be folders")
    if not audio.is_dir():
        yield audio, text
        return
    files = [path for path in sorted(text.iterdir()) if path.suffix.lower() in TEXT_ENDINGS]
    files.sort(key=lambda path: TEXT_ENDINGS.index(path.suffix.lower()), reverse=True)
    texts = {path.stem: path for path in files}
    sounds = list_audio([audio])
    missing = [path for path in sounds if path.stem not in texts]
    problems = [
        file_problem(path, f"no text in {text}", f"name it {path.stem}.txt") for path in missing
    ]
    if problems and (not skips or len(missing) == len(sounds)):
        raise InputError(problems, done="written")
    print_notes(problems, "skipped")
    yield from ((path, texts[path.stem]) for path in sounds if path.stem in texts)


def read_text(path: Path, preset: str | None = None, recording: str = "") -> str:
    """Return the spoken text of a file.

    Without a preset, it is a plain text or a transcript of another tool. Of several recordings in a
    transcript, that with the name ``recording`` is used.
    """
    if preset is not None and preset not in PRESETS:
        raise UsageError(f'unknown preset "{preset}" — {nearest(preset, PRESETS)}')
    problems: list[Problem] = []
    text = normalise_lines(text_of(path, problems) or "")
    if preset is not None:
        transcript = read(text, preset, PresetOptions())
        problems += [flaw.problem(path) for flaw in transcript.flaws]
        text = "\n\n".join(section.text for section in transcript.sections)
    elif text and _is_transcript(path, text):
        found = {timed.recording: timed for timed in transcripts_in(path, problems)}
        if len(found) > 1 and recording not in found:
            message = f'contains {len(found):,} recordings, none of them named "{recording}"'
            problems.append(file_problem(path, message, "rename the audio file"))
        else:
            chosen = found.get(recording) or next(iter(found.values()), TimedTranscript(()))
            text = "\n".join(segment.text for segment in chosen.segments)
    if not problems and not text.split():
        problems.append(file_problem(path, "has no words"))
    refuse_problems(problems, "aligned")
    return text


def _is_transcript(path: Path, text: str) -> bool:
    if path.suffix.lower() in PLAIN_ENDINGS:
        return False
    has_times = path.suffix.lower() in TEXT_ENDINGS or path.name == KALDI_FILE
    return has_times or bool(guess_transcript_form(text))


# --- Command transcribe --------------------------------------------------------------------------


@click.command("transcribe")
@click.argument("audio", nargs=-1, required=True, type=EXISTING_PATH, metavar="AUDIO…")
@signature_options(transcribe)
@speech_options
def transcribe_command(
    audio: tuple[Path, ...],
    recognizer: str | None,
    language: str | None,
    n_best: int | None,
    detector: str | None,
    cache: Path | None,
    jobs: int | None,
    **how: Any,
) -> None:
    """Recognize speech: words with times and confidences.

    AUDIO is an audio file in any format, or a folder of audio files.

    \b
    earwitness transcribe talk.mp3 -o talk.ctm
    earwitness transcribe talks/ -o transcripts/ --to json --n-best 10
    """
    settings = drop_unset({"language": language, "n_best": n_best})
    chosen = find_recognizer(*filter(None, [recognizer]), **settings)
    paths = list_audio(audio)
    several = len(audio) > 1 or audio[0].is_dir()

    def work(path: Path, progress: Progress) -> SpeechResult:
        found = transcribe(
            path,
            recognizer=chosen,
            **settings,
            detector=detector,
            cache=cache,
            jobs=choose_jobs(jobs, *audio) if recognizer in (None, "pocketsphinx") else jobs or 1,
            progress=progress,
        )
        windows = [
            {"start": window.start, "end": window.end, "alternatives": list(window.alternatives)}
            for window in found.windows
        ]
        return SpeechResult(found.transcript, {"windows": windows} if n_best else {}, found.notes)

    process_files(paths, work, several=several, **how)
