"""Spoken summaries: passages of a recording with the kept words, joined by short cross-fades.

Neighbouring kept words form one passage, with no cut inside. Every edge of a passage is the middle
of a fade, to the next passage or to silence, so that the words keep their timing and nearly all of
their sound. For half of a fade, the sound of the recording next to the passage is heard.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import inf, isfinite
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from earwitness.audio.decode import facts_of, open_decoder, seeks_directly
from earwitness.audio.encode import FileFormat, kind_of
from earwitness.audio.files import DecodingError, Samples, SoundWriter, sound_library
from earwitness.audio.read import CHUNK_SECONDS, END_TOLERANCE_SECONDS
from earwitness.audio.signal import resample_pieces
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.io.atomic import AtomicFiles
from earwitness.summaries.methods.compaction import Compaction, SummarizedSpeech

# --- Passages ------------------------------------------------------------------------------------
# Recognizers set the edges of words with errors of 10 to 30 ms. The edges of a passage lie outside
# its words, in the middle of the gap to the next word at most: a dropped word is never included.


WORD_MARGIN_SECONDS = 0.03  # before and after a passage, at most half of the gap to another word
MIN_CUT_SECONDS = 0.01  # less than this between two passages is not worth a cut
NAMED_FAULTS = 5  # faults that a message lists one by one

Span = tuple[float, float]


@dataclass(frozen=True)
class SpokenPassage:
    """Kept words that are heard without a cut: times in the recording in seconds, and positions.

    ``utterance_index`` counts utterances from 0, and ``positions`` count words from 1.
    """

    start: float
    end: float
    utterance_index: int
    positions: tuple[int, ...]


def find_passages(
    speech: SummarizedSpeech, duration: float, *, margin: float = WORD_MARGIN_SECONDS
) -> list[SpokenPassage]:
    """Return the passages of a recording with the kept words of a summary, in order of the words.

    Kept words that are neighbours in their utterance form one passage, as do words between which
    less than 10 ms would be cut. Words that overlap a dropped word are not shortened.

    Parameters
    ----------
    speech
        Summaries of the utterances, whose words have times in seconds.
    duration
        Duration of the recording in seconds. Words that exceed it are cut there.
    margin
        Seconds before and after a passage that belong to it; at most half of the gap to any
        other word.

    Returns
    -------
    list of SpokenPassage
        Passages of at least some duration. Kept words of no duration without a gap next to them
        are left out, with a warning.

    Raises
    ------
    UsageError
        If a kept word has no time, a time that is not a number, an end before its start, or a start
        after the end of the recording.

    Examples
    --------
    >>> from earwitness.summaries.methods.compaction import ScoreWeights, SpokenUtterance
    >>> times = ((0.5, 0.8), (0.8, 1.0), (1.0, 1.2), (1.2, 2.0))
    >>> one = Compaction(SpokenUtterance(("it", "may", "rain", "soon"), times), (1, 3, 4), 0, {})
    >>> speech = SummarizedSpeech("talk", (one,), 0.75, "utterance", ScoreWeights(), "")
    >>> for passage in find_passages(speech, duration=2.5):
    ...     print(passage.start, passage.end, passage.positions)
    0.47 0.8 (1,)
    1.0 2.03 (3, 4)
    """
    if not (isfinite(duration) and duration > 0):
        raise UsageError(f"the duration of a recording cannot be {duration:g} s")
    if not (isfinite(margin) and margin >= 0):
        raise UsageError(f"margin must be 0 or greater, not {margin:g}")
    spans = [_clip_times(compaction, duration) for compaction in speech.compactions]
    _refuse_faults(speech, spans)
    timed = [times for utterance in spans for times in utterance if not isinstance(times, str)]
    edges = _WordEdges(timed, duration)
    pairs = enumerate(zip(speech.compactions, spans, strict=True))
    passages = [
        passage
        for index, (compaction, utterance) in pairs
        for passage in _join_words(index, compaction, utterance, edges, margin)
    ]
    audible = [passage for passage in passages if passage.end > passage.start]
    lost = sum(len(passage.positions) for passage in passages) - sum(
        len(passage.positions) for passage in audible
    )
    if lost:
        what = "1 kept word has" if lost == 1 else f"{lost:,} kept words have"
        message = f"{speech.name}: {what} no duration and cannot be heard in the spoken summary"
        warnings.warn(message, EarwitnessWarning, stacklevel=2)
    return audible


def _clip_times(one: Compaction, duration: float) -> list[Span | str]:
    """Return times within the recording for each word, or why they are unusable."""
    times, count = one.utterance.times or (), len(one.utterance.words)
    if len(times) != count:
        fault = f"{len(times):,} times for {count:,} words" if times else "no times of words"
        return [fault] * count
    return [
        _find_fault((start, end), duration)
        or (min(max(start, 0.0), duration), min(max(end, 0.0), duration))
        for start, end in times
    ]


def _find_fault(span: Span, duration: float) -> str | None:
    start, end = span
    if not (isfinite(start) and isfinite(end)):
        return "has a time that is not a number"
    if end < start:
        return f"ends at {end:g} s, before it starts at {start:g} s"
    if start > duration + END_TOLERANCE_SECONDS:
        return f"starts at {start:g} s, after the end of the recording at {duration:g} s"
    if end < -END_TOLERANCE_SECONDS:
        return f"ends at {end:g} s, before the start of the recording"
    return None


def _refuse_faults(speech: SummarizedSpeech, spans: Sequence[Sequence[Span | str]]) -> None:
    """Refuse kept words without usable times, and name the first ones."""
    faults = list[str]()
    for index, (compaction, utterance) in enumerate(zip(speech.compactions, spans, strict=True)):
        name = compaction.utterance.item or f"utterance {index + 1}"
        words = compaction.utterance.words
        wrong = [place for place in compaction.positions if isinstance(utterance[place - 1], str)]
        if wrong and len(compaction.utterance.times or ()) != len(words):
            faults.append(f"{name} has {utterance[0]}")
            continue
        faults += [f'{name}, word {n} ("{words[n - 1]}") {utterance[n - 1]}' for n in wrong]
    if faults:
        others = len(faults) - NAMED_FAULTS
        more = [f"and {others:,} more"] if others > 0 else []
        raise UsageError(
            f"{speech.name}: words cannot be cut from the recording: "
            f"{'; '.join([*faults[:NAMED_FAULTS], *more])} — use times of words in this recording"
        )


class _WordEdges:
    """Gaps between the words of a recording, by time: utterances of speakers may overlap."""

    def __init__(self, words: Sequence[Span], duration: float) -> None:
        self.starts = sorted(start for start, _ in words)
        self.ends = sorted(end for _, end in words)
        self.instants = Counter(start for start, end in words if start == end)
        self.duration = duration

    def extend(self, span: Span, margin: float) -> Span:
        """Return a word with margins in the gaps before and after it."""
        start, end = span
        itself = int(start == end)  # a word of no duration is not its own neighbour
        before = bisect_right(self.ends, start) - 1 - itself
        after = bisect_left(self.starts, end) + itself
        last_end = self.ends[before] if before >= 0 else -inf
        next_start = self.starts[after] if after < len(self.starts) else inf
        left = 0.0 if self._is_inside_word(start) else min(margin, (start - last_end) / 2)
        right = 0.0 if self._is_inside_word(end) else min(margin, (next_start - end) / 2)
        return max(0.0, start - left), min(self.duration, end + right)

    def _is_inside_word(self, time: float) -> bool:
        ended = bisect_right(self.ends, time) - self.instants[time]
        return bisect_left(self.starts, time) > ended


def _join_words(
    index: int, one: Compaction, spans: Sequence[Span | str], edges: _WordEdges, margin: float
) -> list[SpokenPassage]:
    passages = list[SpokenPassage]()
    last_start = inf
    for position in one.positions:
        span = spans[position - 1]
        assert not isinstance(span, str), "times of kept words are checked"
        start, end = edges.extend(span, margin)
        last = passages[-1] if passages else None
        if last is not None and (
            (position == last.positions[-1] + 1 and span[0] >= last_start)
            or (start < last.end + MIN_CUT_SECONDS and end > last.start - MIN_CUT_SECONDS)
        ):
            positions = (*last.positions, position)
            joined = (min(last.start, start), max(last.end, end))
            passages[-1] = SpokenPassage(*joined, index, positions)
        else:
            passages.append(SpokenPassage(start, end, index, (position,)))
        last_start = span[0]
    return passages


# --- Rendering -----------------------------------------------------------------------------------


FADE_SECONDS = 0.01
PAUSE_SECONDS = 0.3  # between utterances


class PlacedPassage(NamedTuple):
    """A passage, and its start and end in the spoken summary in seconds."""

    passage: SpokenPassage
    start: float
    end: float


class PassageCut(NamedTuple):
    """A passage in frames: in the file, in the summary, and halves of its fades.

    ``edge`` is half of a complete fade.
    """

    first: int
    frames: int
    place: int
    rise: int
    fall: int
    edge: int


@dataclass(frozen=True, eq=False)
class SpokenSummary:
    """The audio of a summary, which is read when it is needed, and the places of its passages.

    ``frames`` is its exact length.
    """

    source: Path
    rate: int
    channels: int
    frames: int
    passages: tuple[PlacedPassage, ...]
    cuts: tuple[PassageCut, ...]

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.frames / self.rate

    @cached_property
    def samples(self) -> Samples:
        """All samples, one column per channel; damaged passages of the recording are silent."""
        return np.concatenate(list(self.blocks()))

    def blocks(self, note: Callable[[str], object] = lambda _: None) -> Iterator[Samples]:
        """Yield the samples in blocks of about one passage.

        Damaged passages of the recording are silent, and reported to ``note``.
        """
        begins = [cut.place - cut.rise for cut in self.cuts]
        # what is before the start of all later cuts is complete
        complete = [*accumulate(reversed([*begins[1:], self.frames]), min)][::-1]
        position, held = 0, np.zeros((0, self.channels), np.float32)
        with closing(_FrameReader(self.source, note)) as reader:
            for cut, begin, end in zip(self.cuts, begins, complete, strict=True):
                piece = reader.read(cut.first - cut.rise, cut.first + cut.frames + cut.fall)
                size = max(begin + len(piece), position + len(held), end) - position
                mixed = np.zeros((size, self.channels), np.float32)
                mixed[: len(held)] = held
                gains = np.ones((len(piece), 1), np.float32)
                gains[: 2 * cut.rise, 0] = _rising_gains(2 * cut.rise)
                gains[len(gains) - 2 * cut.fall :, 0] *= _rising_gains(2 * cut.fall)[::-1]
                mixed[begin - position :][: len(piece)] += piece * gains
                yield mixed[: end - position]
                position, held = end, mixed[end - position :]


def render_summary(
    audio: Path,
    passages: Sequence[SpokenPassage],
    *,
    fade: float = FADE_SECONDS,
    pause: float = PAUSE_SECONDS,
) -> SpokenSummary:
    """Return passages of an audio file, joined in the given order.

    Audio is read when it is needed, one passage at a time, so memory grows neither with the
    recording nor with the summary. Rate and channels are those of the file.

    With h = round(fade · rate / 2) frames in half of a fade, the summary has exactly
    2 h + Σ (round(end · rate) − round(start · rate)) + (number of pauses) · round(pause · rate)
    frames. Samples of a passage that are h or more frames from its edges equal those of the file.

    Parameters
    ----------
    audio
        File of any supported format.
    passages
        Passages, as returned by ``find_passages``.
    fade
        Duration of cross-fades in seconds. Gains are raised cosines whose sum is 1. Fades are
        shorter at passages that are shorter than a fade.
    pause
        Silence between utterances in seconds.

    Returns
    -------
    SpokenSummary
        Blocks of samples, or all of them, rate, and the place of each passage.

    Raises
    ------
    UsageError
        If there are no passages, or the file cannot be read.
    """
    for name, value in (("fade", fade), ("pause", pause)):
        if not (isfinite(value) and value >= 0):
            raise UsageError(f"{name} must be 0 or greater, not {value:g}")
    if not passages:
        raise UsageError("a summary without words cannot be spoken — use a larger ratio")
    facts = facts_of(audio)
    rate, total = facts.rate, facts.frames
    cuts = _plan_cuts(passages, rate, fade, pause)
    for cut in cuts:
        if cut.first >= total and cut.frames:
            raise UsageError(
                f"{audio}: a passage starts at {cut.first / rate:.2f} s, after the end at "
                f"{total / rate:.2f} s — use words of this recording"
            )
    placed = tuple(
        PlacedPassage(passage, cut.place / rate, (cut.place + cut.frames) / rate)
        for passage, cut in zip(passages, cuts, strict=True)
    )
    frames = cuts[-1].place + cuts[-1].frames + cuts[-1].edge
    return SpokenSummary(audio, rate, facts.channels, frames, placed, tuple(cuts))


def _plan_cuts(
    passages: Sequence[SpokenPassage], rate: int, fade: float, pause: float
) -> list[PassageCut]:
    if not all(isfinite(passage.start) and isfinite(passage.end) for passage in passages):
        raise UsageError("a passage must have finite times")
    edge = round(fade * rate / 2)
    firsts = [round(passage.start * rate) for passage in passages]
    frames = [
        round(passage.end * rate) - first for passage, first in zip(passages, firsts, strict=True)
    ]
    if min(frames) < 0 or min(firsts) < 0:
        raise UsageError("a passage must end after its start, and start in the recording")
    longest = [min(edge, count // 2) for count in frames]
    gaps = [
        round(pause * rate) * (before.utterance_index != after.utterance_index)
        for before, after in pairwise(passages)
    ]
    place, plan = edge, list[PassageCut]()
    for number, (first, count) in enumerate(zip(firsts, frames, strict=True)):
        rise = fall = longest[number]
        if number and not gaps[number - 1]:  # both sides of a cross-fade have the same duration
            rise = min(rise, longest[number - 1])
        if number < len(gaps) and not gaps[number]:
            fall = min(fall, longest[number + 1])
        plan.append(PassageCut(first, count, place, rise, fall, edge))
        place += count + (gaps[number] if number < len(gaps) else 0)
    return plan


def _rising_gains(frames: int) -> Samples:
    """Return gains from 0 to 1 along a raised cosine; with the reversed gains, they sum to 1."""
    phases = np.pi * (np.arange(frames) + 0.5) / max(1, frames)
    return np.asarray(0.5 - 0.5 * np.cos(phases), np.float32)


class _FrameReader:
    """Reads pieces of a file, best in its order; frames that do not exist are padded."""

    def __init__(self, path: Path, note: Callable[[str], object]) -> None:
        self.path, self.decoder = path, open_decoder(path)
        self.rate, self.channels = self.decoder.facts.rate, self.decoder.facts.channels
        self.total = self.decoder.facts.frames
        self.note, self.notes = note, list[str]()
        self.jumps, self.careful = seeks_directly(path), False
        self.position = 0  # of the next frame
        self.resumes = 0  # where the decoder continues after damage
        self.held, self.held_start = self._make_silence(0), 0  # what was read last

    def close(self) -> None:
        """Close the file."""
        self.decoder.close()

    def read(self, first: int, last: int) -> Samples:
        """Return frames of the file; before its start and after its end, the edge is repeated."""
        begin, end = max(0, first), min(last, self.total)
        if last <= first:
            return self._make_silence(0)
        held_end = self.held_start + len(self.held)
        if begin < self.held_start or end > held_end:
            overlaps = self.held_start <= begin < held_end
            known = self.held[begin - self.held_start if overlaps else len(self.held) :]
            self._skip_to(begin + len(known))
            parts = [known, *self._read_parts(end - begin - len(known))]
            self.held, self.held_start = np.concatenate(parts), begin
            for text in self.notes:
                self.note(text)
            self.notes.clear()
        inside = self.held[begin - self.held_start : end - self.held_start]
        samples = np.nan_to_num(inside, posinf=0, neginf=0)
        return np.pad(samples, ((begin - first, last - end), (0, 0)), mode="edge")

    def _skip_to(self, frame: int) -> None:
        """Continue at a frame: by seeking, or ahead by decoding where seeking is inexact."""
        if frame < self.position or (self.jumps and frame != self.position):
            self.position, self.resumes = frame, 0
            try:
                self.decoder.seek(frame)
            except DecodingError as error:
                self._recover(error)
        step = round(CHUNK_SECONDS * self.rate)
        while self.position < frame:
            for _ in self._read_parts(min(step, frame - self.position)):
                pass
        if self.resumes <= self.position:  # damage before this frame is not in the summary
            self.notes.clear()

    def _read_parts(self, count: int) -> Iterator[Samples]:
        """Yield ``count`` frames in parts; damaged passages are silent."""
        last = self.position + count
        while self.position < last:
            if self.position < self.resumes:
                samples = self._make_silence(min(last, self.resumes) - self.position)
            else:
                samples = self._read_frames(last - self.position)
            self.position += len(samples)
            yield samples

    def _read_frames(self, count: int) -> Samples:
        try:
            samples = self.decoder.read(count)
        except DecodingError as error:
            self._recover(error)
            return self._make_silence(0)
        if not len(samples):
            self._note_damage(self.total, "unexpected end of file")
        return samples

    def _recover(self, error: DecodingError) -> None:
        """Use a decoder that can skip damage; a known hole is silent."""
        if error.resumes is not None and error.resumes > self.position:
            self._note_damage(error.resumes, str(error))
        elif self.careful:
            at = self.position / self.rate
            message = f"{self.path}: cannot be read from {at:.1f} s onwards: {error}"
            raise UsageError(message) from error
        else:
            self.careful = True
            self.decoder.close()
            self.decoder = open_decoder(self.path, careful=True)
            try:
                self.decoder.seek(self.position)
            except DecodingError as again:
                self._recover(again)

    def _note_damage(self, resumes: int, fault: str) -> None:
        self.resumes = resumes
        at, seconds = self.position / self.rate, (resumes - self.position) / self.rate
        if resumes < self.total or seconds > END_TOLERANCE_SECONDS:
            damage = f"cannot be read from {at:.1f} s for {seconds:.1f} s: {fault}"
            self.notes.append(f"{self.path}: {damage}; silent in the summary")

    def _make_silence(self, frames: int) -> Samples:
        return np.zeros((frames, self.channels), np.float32)


# --- Places of words -----------------------------------------------------------------------------


class SpokenWordPlace(NamedTuple):
    """A kept word: index of its utterance, position, and times in the spoken summary in seconds."""

    utterance_index: int
    position: int
    start: float
    end: float


def place_words(speech: SummarizedSpeech, summary: SpokenSummary) -> list[SpokenWordPlace]:
    """Return the times of all words of a spoken summary, in the order in which they are heard."""
    words = list[SpokenWordPlace]()
    for passage, start, end in summary.passages:
        index, positions = passage.utterance_index, passage.positions
        times = speech.compactions[index].utterance.times or ()
        for position in positions:
            own = (
                min(max(time - passage.start + start, start), end) for time in times[position - 1]
            )
            words.append(SpokenWordPlace(index, position, *own))
    return words


# --- Files ---------------------------------------------------------------------------------------


LARGEST_SAMPLE = 1 - 2.0**-15  # of 16 bits


def write_spoken_summary(path: Path, summary: SpokenSummary) -> tuple[str, ...]:
    """Write a spoken summary in the format of the file's extension; return notes on the audio.

    The file is written completely or not at all, and never over the recording. Samples beyond full
    scale are clipped.
    """
    if is_same_file(path, summary.source):
        raise UsageError(f"{path}: is the recording itself — choose another file for the summary")
    notes, kind = list[str](), kind_of(path.suffix)
    rate = summary.rate
    if kind.rates and rate not in kind.rates:
        rate = next((allowed for allowed in kind.rates if allowed >= rate), kind.rates[-1])
        notes.append(f"resampled from {summary.rate:,} to {rate:,} Hz")
    blocks = resample_pieces(summary.blocks(notes.append), summary.rate, rate)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with AtomicFiles() as files, files.path(path).open("w+b", buffering=0) as file:
            peak = write_blocks(file, blocks, rate, summary.channels, kind)
    except sound_library().SoundFileError as error:
        what = f"{summary.channels} channels at {rate:,} Hz as {path.suffix}"
        raise UsageError(f"{path}: cannot be written with {what}: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error
    loud = [f"clipped by {20 * np.log10(peak):.1f} dB at full scale"] if peak > 1 else []
    return (*notes, *loud)


def write_blocks(
    file: BinaryIO, blocks: Iterable[Samples], rate: int, channels: int, kind: FileFormat
) -> float:
    """Write blocks of samples, clipped at full scale; return their largest magnitude."""
    peak = 0.0
    with SoundWriter(file, rate, channels, kind.format, kind.subtype) as writer:
        for block in blocks:
            peak = max(peak, float(np.abs(block).max(initial=0.0)))
            writer.write(np.clip(block, -1.0, LARGEST_SAMPLE))
    return peak


def is_same_file(path: Path, other: Path) -> bool:
    """Whether two paths name the same file, also by links."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()
