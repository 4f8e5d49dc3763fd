"""Forced alignment: the times at which the words of a known text are spoken.

With pocketsphinx, long audio is aligned in three steps, so memory does not grow with the duration:

1. The audio is recognized in windows, with a language model of the text. Frequent words of English
   are added, so that audio which does not belong to the text is not forced into its words.
2. Runs of words that were recognized as in the text are anchors (see ``anchors``). They tolerate
   words that are wrong, missing or extra, and passages that the text does not contain.
   Their times are those of the recognizer.
3. Words between two anchors are aligned with the audio between them by the Viterbi algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from earwitness.audio.decode import facts_of
from earwitness.audio.read import Break, stream_mono
from earwitness.core import Jobs, Map, Progress, StrPath, no_progress
from earwitness.engines.local import choose_map, in_process
from earwitness.errors import UsageError, nearest
from earwitness.models.cache import Cache, find_cache
from earwitness.speech import ALIGNERS, choose_aligner
from earwitness.speech.anchors import Anchor, fill_gaps, find_anchors
from earwitness.speech.ctc import AlignmentFailure, WordTimes
from earwitness.speech.pronunciation import (
    find_model_folder,
    load_frequent_words,
    pronounce,
    spoken_words,
)
from earwitness.speech.recognize import (
    FRAMES_PER_SECOND,
    SPEECH_RATE,
    AudioWindow,
    HeardWord,
    ModelHolder,
    PocketsphinxRecognizer,
    decode_utterance,
    make_decoder,
    open_journal,
    recognize_windows,
    refuse_language,
    warn_of_damage,
)
from earwitness.text.ngrams import estimate_model, write_arpa
from earwitness.text.sentences import sentence_spans
from earwitness.text.timed_transcripts import TimedSegment, TimedTranscript
from earwitness.text.transcripts import TimedWord

# --- Entry points --------------------------------------------------------------------------------


class Aligner(Protocol):
    """Finds the times of words in an audio file, in a language such as ``en`` or ``eng``."""

    def align(
        self, path: Path, words: Sequence[str], language: str, *, progress: Progress = no_progress
    ) -> list[WordTimes]: ...


def find_aligner(
    name: str = "",
    language: str = "en",
    *,
    cache: StrPath | None = None,
    map_: Map = in_process,
) -> Aligner:
    """Return an aligner by name; without a name, pocketsphinx for English and mms_fa for others."""
    name = name or choose_aligner(language)
    if name == "pocketsphinx":
        find_model_folder()
        return PocketsphinxAligner(find_cache(cache), map_)
    if name == "mms_fa":
        from earwitness.speech.mms import MmsAligner

        return MmsAligner()
    raise UsageError(f'unknown aligner "{name}" — {nearest(name, ALIGNERS)}')


def align(
    audio: Path | str,
    text: str,
    *,
    aligner: Annotated[Aligner | str, ALIGNERS] = "",
    language: Annotated[str, "CODE"] = "en",
    cache: Annotated[StrPath | None, "FOLDER"] = None,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
) -> TimedTranscript:
    """Return the sentences and words of a text with the times at which they are spoken.

    Parameters
    ----------
    text
        What is said, without times. Sentences become segments.
    aligner
        ``pocketsphinx`` (English, offline), or ``mms_fa`` (many languages, with its weights on
        disk). By default by ``language``.
    language
        Language of the text, such as en or eng.
    cache
        Folder for finished parts. By default the cache folder of the user.
    audio, jobs, progress
        As in ``earwitness.speech.recognize.transcribe``.

    Returns
    -------
    TimedTranscript
        One segment per sentence. The confidence of a word is the posterior probability with which
        it was recognized at its place, 0 if another word or none was recognized.

    Raises
    ------
    AlignmentFailure
        If the audio cannot be read or does not contain the text.
    UsageError
        If the aligner cannot be used.
    """
    path = Path(audio)
    sentences = [text[start:end].split() for start, end in sentence_spans(text)]
    words = [word for sentence in sentences for word in sentence]
    if isinstance(aligner, str):
        aligner = find_aligner(aligner, language, cache=cache, map_=choose_map(jobs))
    times = iter(align_words(path, words, aligner, language, progress=progress))
    segments = []
    for sentence in sentences:
        timed = tuple(TimedWord(path.stem, word, *next(times)) for word in sentence)
        segments.append(TimedSegment(" ".join(sentence), timed[0].start, timed[-1].end, timed))
    return TimedTranscript(tuple(segments), path.stem, round(facts_of(path).seconds, 3), language)


def align_words(
    path: Path,
    words: Sequence[str],
    aligner: Aligner,
    language: str = "en",
    *,
    progress: Progress = no_progress,
) -> list[WordTimes]:
    """Return the times of words in their order; failures of all kinds have a reason."""
    if not words:
        raise AlignmentFailure(f"{path}: the text has no words")
    if not path.is_file():
        raise AlignmentFailure(f"{path}: does not exist")
    return aligner.align(path, words, language, progress=progress)


# --- Pocketsphinx --------------------------------------------------------------------------------


Span = tuple[float, float]  # start and end in seconds
ANCHOR_WORDS = (5, 4, 3)  # lengths of runs that occur once
MIN_RUN_WORDS = 2  # length of the shortest other runs
MIN_ANCHORED_SHARE = 0.3  # of the words of the text
BACKGROUND_WORDS = 500  # frequent words that are recognized where the text does not fit
MAX_PASSAGE_SECONDS = 90.0  # words of longer passages without anchors are interpolated
EDGE_SECONDS = 0.3  # of audio before the first word and after the last one
SECONDS_PER_WORD = 0.7  # at most, for words before the first anchor and after the last one
MAX_WORDS_PER_SECOND = 9.0  # faster speech between two anchors is a wrong anchor
RECOGNIZING_SHARE = 0.7  # of the time, for progress
END_MARKS = (".", "?", "!", "…", ":", ";")


@dataclass(frozen=True)
class PocketsphinxAligner:
    """Aligns English with the acoustic model inside the package pocketsphinx."""

    cache: Cache = field(default_factory=find_cache)
    map_: Map = in_process

    def align(
        self, path: Path, words: Sequence[str], language: str, *, progress: Progress = no_progress
    ) -> list[WordTimes]:
        """Return the times of words."""
        refuse_language(language, "pocketsphinx")
        parts = [(part, n) for n, word in enumerate(words) for part in spoken_words(word)]
        spoken, owners = [part for part, _ in parts], [owner for _, owner in parts]
        if not spoken:
            raise AlignmentFailure(f"{path}: the text has no English words")
        with _write_models(words, spoken) as (language_model, dictionary):
            recognizer = PocketsphinxRecognizer(language_model, dictionary, rescores=False)
            shares, breaks = _TwoSteps(progress), list[Break]()
            try:
                windows = recognize_windows(
                    path, recognizer, self.cache, self.map_, shares.first, broken=breaks.append
                )
            except UsageError as error:
                raise AlignmentFailure(str(error)) from error
            warn_of_damage(breaks)
            heard = [word for window in windows for word in window.words]
            said = [word.word for word in heard]
            anchors = find_anchors(spoken, said, ANCHOR_WORDS)
            anchors = _drop_implausible(fill_gaps(spoken, said, anchors, MIN_RUN_WORDS), heard)
            if len(anchors) / len(spoken) < MIN_ANCHORED_SHARE:
                found = f"only {len(anchors):,} of {len(spoken):,} words were recognized"
                raise AlignmentFailure(f"{path}: {found} — is it the text of this audio?")
            anchored = {word: heard[place] for word, place in anchors}
            times = [anchored.get(number) for number in range(len(spoken))]
            passages = find_passages(anchors, heard, len(spoken), windows[-1].end)
            spans = self._align_passages(path, passages, spoken, recognizer, shares)
        known = [(word.start, word.end) if word else spans.get(n) for n, word in enumerate(times)]
        filled = interpolate_times(known, spoken, windows[-1].end)
        confidences = [word.confidence or 0.0 if word else 0.0 for word in times]
        return _join_parts(filled, confidences, owners, len(words))

    def _align_passages(
        self,
        path: Path,
        passages: Sequence[Passage],
        spoken: Sequence[str],
        recognizer: PocketsphinxRecognizer,
        shares: _TwoSteps,
    ) -> dict[int, Span]:
        """Return the times of words in passages, without those that could not be aligned."""
        journal = open_journal(path, self.cache, f"align,{recognizer.signature}")
        short = [passage for passage in passages if passage.seconds <= MAX_PASSAGE_SECONDS]
        todo = [passage for passage in short if passage.key not in journal.results]
        assert recognizer.dictionary is not None
        work = _PassageWork(recognizer.dictionary)
        tasks = (
            _PassageTask(window, tuple(spoken[passage.words]))
            for passage, window in zip(todo, _cut_audio(path, todo), strict=True)
        )
        for done, (passage, times) in enumerate(zip(todo, self.map_(work, tasks), strict=True), 1):
            journal.add(passage.key, times)
            shares.second(done / len(todo))
        shares.second(1.0)
        spans = dict[int, Span]()
        for passage in short:
            spans |= passage.locate(journal.results[passage.key])
        return spans


class _TwoSteps:
    """Progress of recognition and then of alignment, in seconds of audio."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._total, self._cases = progress, 0, 0

    def first(self, done: int, total: int | None, cases: int, /) -> None:
        self._total, self._cases = total or done, cases
        self._progress(int(RECOGNIZING_SHARE * done), self._total, cases)

    def second(self, share: float) -> None:
        done = RECOGNIZING_SHARE + (1 - RECOGNIZING_SHARE) * share
        self._progress(int(done * self._total), self._total, self._cases)


@contextmanager
def _write_models(words: Sequence[str], spoken: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """Write a language model of the text and its dictionary into a temporary folder."""
    with TemporaryDirectory(prefix="earwitness-") as folder:
        language_model, dictionary = Path(folder) / "text.arpa", Path(folder) / "text.dict"
        frequent = load_frequent_words(BACKGROUND_WORDS)
        model = estimate_model(_split_sentences(words), background=frequent)
        with language_model.open("w", encoding="utf-8") as file:
            file.writelines(write_arpa(model))
        with dictionary.open("w", encoding="utf-8") as file:
            for word in sorted({*spoken, *frequent}):
                for number, phones in enumerate(pronounce(word), 1):
                    file.write(f"{word}{'' if number == 1 else f'({number})'} {phones}\n")
        yield language_model, dictionary


def _split_sentences(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the spoken words of every sentence, which ends with a punctuation mark."""
    sentence = list[str]()
    for word in words:
        sentence += spoken_words(word)
        if word.rstrip("\"'”’)]»").endswith(END_MARKS) and sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _drop_implausible(anchors: Sequence[Anchor], heard: Sequence[HeardWord]) -> list[Anchor]:
    """Return anchors without short runs that would need impossibly fast speech."""
    runs = list[list[Anchor]]()
    for anchor in anchors:
        if runs and anchor == (runs[-1][-1][0] + 1, runs[-1][-1][1] + 1):
            runs[-1].append(anchor)
        else:
            runs.append([anchor])
    kept = list[list[Anchor]]()
    for run in runs:
        while kept and _is_too_fast(kept[-1][-1], run[0], heard):
            if len(kept[-1]) >= len(run):
                break
            kept.pop()
        else:
            kept.append(run)
    return [anchor for run in kept for anchor in run]


def _is_too_fast(before: Anchor, after: Anchor, heard: Sequence[HeardWord]) -> bool:
    seconds = heard[after[1]].start - heard[before[1]].end
    return after[0] - before[0] - 1 > 1 + MAX_WORDS_PER_SECOND * max(seconds, 0.0)


# --- Passages between anchors --------------------------------------------------------------------


class Passage(NamedTuple):
    """Words from ``first`` up to ``last`` that were not recognized, and the audio around them.

    The audio includes the anchored word before, which ends at ``low``, and that after, which
    starts at ``high``; None if no word is anchored there.
    """

    first: int
    last: int
    start: float
    end: float
    low: float | None
    high: float | None

    @property
    def words(self) -> slice:
        """The words to align, including the anchored ones."""
        return slice(self.first - (self.low is not None), self.last + (self.high is not None))

    def locate(self, spans: Sequence[Span | None]) -> Iterator[tuple[int, Span]]:
        """Yield the words that were not recognized, and their times between the anchored words."""
        low = self.start if self.low is None else self.low
        high = self.end if self.high is None else self.high
        for place, span in enumerate(spans, self.words.start):
            if span is not None and self.first <= place < self.last:
                start, end = (min(max(self.start + time, low), high) for time in span)
                yield place, (start, end)

    @property
    def key(self) -> str:
        """Name of the passage in a journal."""
        return f"{self.first}-{self.last}@{self.start:.3f}-{self.end:.3f}"

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.end - self.start


def find_passages(
    anchors: Sequence[Anchor], heard: Sequence[HeardWord], count: int, seconds: float
) -> list[Passage]:
    """Return the passages between anchors of a text of ``count`` words.

    The neighbouring anchored words belong to a passage, so that words cannot move into them. At the
    start and at the end of the text, the audio of a passage is limited by the number of words,
    since the recording may begin earlier and end later.
    """
    first, last = anchors[0], anchors[-1]
    begin = heard[first[1]].start - SECONDS_PER_WORD * first[0] - EDGE_SECONDS
    end = heard[last[1]].end + SECONDS_PER_WORD * (count - 1 - last[0]) + EDGE_SECONDS
    passages = []
    if first[0]:
        after = heard[first[1]]
        passages.append(Passage(0, first[0], max(0.0, begin), after.end, None, after.start))
    for (word, place), (next_word, next_place) in pairwise(anchors):
        if next_word > word + 1:
            before, after = heard[place], heard[next_place]
            passages.append(
                Passage(word + 1, next_word, before.start, after.end, before.end, after.start)
            )
    if last[0] + 1 < count:
        before = heard[last[1]]
        passages.append(
            Passage(last[0] + 1, count, before.start, min(seconds, end), before.end, None)
        )
    return passages


def _cut_audio(path: Path, passages: Sequence[Passage]) -> Iterator[AudioWindow]:
    """Yield the audio of passages in the order of their starts; the file is read once."""
    stream = stream_mono(path, SPEECH_RATE)
    pending, first = np.zeros(0, np.float32), 0
    for passage in passages:
        begin, end = (round(time * SPEECH_RATE) for time in (passage.start, passage.end))
        while first + len(pending) < end:
            samples = next(stream, None)
            if samples is None:
                break
            pending = np.concatenate([pending, samples])
            unused = min(len(pending), max(0, begin - first))
            pending, first = pending[unused:], first + unused
        yield AudioWindow(begin, pending[max(0, begin - first) : max(0, end - first)])


class _PassageTask(NamedTuple):
    """The audio and the words of a passage."""

    window: AudioWindow
    words: tuple[str, ...]


@dataclass(frozen=True)
class _PassageWork(ModelHolder):
    """Aligns passages by the Viterbi algorithm; sent to workers."""

    dictionary: Path

    def __call__(self, task: _PassageTask) -> list[Span | None]:
        """Return the times of the words of a passage from its start."""
        nothing: list[Span | None] = [None] * len(task.words)
        if not task.words or not len(task.window.samples):
            return nothing
        decoder = self._decoder
        decoder.set_align_text(" ".join(task.words))
        decode_utterance(decoder, task.window.samples)
        if decoder.hyp() is None:
            return nothing
        spans = [
            (segment.start_frame / FRAMES_PER_SECOND, (segment.end_frame + 1) / FRAMES_PER_SECOND)
            for segment in decoder.seg()
            if not segment.word.startswith(("<", "[", "+", "("))
        ]
        return list(spans) if len(spans) == len(task.words) else nothing

    @cached_property
    def _decoder(self) -> Any:
        return make_decoder(lm=None, dict=str(self.dictionary))


# --- Words without times -------------------------------------------------------------------------


def interpolate_times(
    times: Sequence[Span | None], spoken: Sequence[str], seconds: float
) -> list[Span]:
    """Return times for all words: those without share the time between their neighbours.

    Shares are proportional to the number of phones.
    """
    filled = list[Span]()
    for _, run in groupby(range(len(times)), key=lambda place: times[place] is None):
        places = [*run]
        if known := [span for place in places if (span := times[place])]:
            filled += known
            continue
        following = times[places[-1] + 1] if places[-1] + 1 < len(times) else None
        begin, end = filled[-1][1] if filled else 0.0, following[0] if following else seconds
        sizes = [len(pronounce(spoken[place])[0].split()) + 1 for place in places]
        sums = np.concatenate([[0], np.cumsum(sizes)]) / sum(sizes)
        filled += pairwise((begin + max(0.0, end - begin) * sums).tolist())
    return filled


def _join_parts(
    times: Sequence[Span],
    confidences: Sequence[float],
    owners: Sequence[int],
    count: int,
) -> list[WordTimes]:
    """Return the times of the words of the text, some of which are spoken as several words.

    Words that are not spoken, such as dashes, are between their neighbours.
    """
    places: list[list[int]] = [[] for _ in range(count)]
    for place, owner in enumerate(owners):
        places[owner].append(place)
    joined, end = list[WordTimes](), times[0][0]
    for parts in places:
        if parts:
            start, end = times[parts[0]][0], times[parts[-1]][1]
            confidence = float(np.mean([confidences[place] for place in parts]))
            joined.append(WordTimes(round(start, 3), round(end, 3), round(confidence, 4)))
        else:
            joined.append(WordTimes(round(end, 3), round(end, 3), 0.0))
    return joined
