"""Times of sentences by forced alignment with the audio, as in chunkseg.align."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earwitness.chapters.presets import open_aligner
from earwitness.errors import EarwitnessWarning, MissingExtra, UsageError, nearest
from earwitness.speech import ALIGNERS, ENGLISH_CODES

if TYPE_CHECKING:
    from earwitness.speech.align import Aligner

DEFAULT_BACKEND = "mms_fa"
Fields = Mapping[str, Any]
UNSUPPORTED_BACKEND = "alqalign"


def open_backend(backend: str, language: str) -> Aligner:
    """Return the aligner of a backend; for English, pocketsphinx if mms_fa cannot be used.

    The replacement is named in a warning, since times of other aligners differ.
    """
    if backend == UNSUPPORTED_BACKEND:
        raise UsageError(f"alqalign is not supported — use {' or '.join(reversed(ALIGNERS))}")
    if backend not in ALIGNERS:
        raise UsageError(f'unknown fa_backend "{backend}" — {nearest(backend, ALIGNERS)}')
    if backend != DEFAULT_BACKEND or language not in ENGLISH_CODES:
        return open_aligner(backend)
    try:
        return _open_loaded_mms()
    except (MissingExtra, UsageError) as error:
        aligner = open_aligner("pocketsphinx")
        message = f"text is aligned by pocketsphinx, since mms_fa cannot be used: {error}"
        warnings.warn(message, EarwitnessWarning, stacklevel=3)
        return aligner


@cache
def _open_loaded_mms() -> Aligner:
    """Return the aligner mms_fa with its model loaded; raises an error if that is not possible."""
    from earwitness.speech.mms import MmsAligner, load_mms

    emissions = load_mms()
    return MmsAligner(open_model=lambda _: emissions)


def align_sentences(
    audio_path: str, sentences: Sequence[Fields], lang: str, backend: str = "mms_fa"
) -> list[dict[str, Any]] | None:
    """Return sentences with the times at which they are spoken; None with a warning on failure.

    Parameters
    ----------
    audio_path
        Audio file in any format that libsndfile or PyAV reads.
    sentences
        All sentences in order, with ``"text"``; other keys are kept.
    lang
        ISO 639-3 code of the language.
    backend
        ``"mms_fa"``, which is replaced by pocketsphinx for English if torchaudio or the weights are
        missing, or ``"pocketsphinx"``.

    Returns
    -------
    list
        The sentences with ``"start"`` and ``"end"`` in seconds; None if they cannot be aligned.

    Raises
    ------
    UsageError
        If the backend is unknown or cannot be used for the language.
    """
    from earwitness.speech.ctc import AlignmentFailure

    if not sentences:
        return []
    try:
        return time_sentences(audio_path, sentences, open_backend(backend, lang), lang)
    except AlignmentFailure as failure:
        warnings.warn(f"text cannot be aligned: {failure}", EarwitnessWarning, stacklevel=2)
        return None


def time_sentences(
    audio: str, sentences: Sequence[Fields], aligner: Aligner, language: str
) -> list[dict[str, Any]]:
    """Return sentences with their times; one without words is where the previous one ends.

    Raises AlignmentFailure if the audio cannot be read or does not contain the text.
    """
    from earwitness.speech.align import align_words

    texts = [str(sentence.get("text", "")).split() for sentence in sentences]
    words = [word for text in texts for word in text]
    times = iter(align_words(Path(audio), words, aligner, language))
    segments, end = list[dict[str, float]](), 0.0
    for text in texts:
        own = [next(times) for _ in text]
        start = own[0].start if own else end
        end = own[-1].end if own else end
        segments.append({"start": start, "end": end})
    return update_timestamps_from_alignment(sentences, segments)


def sections_to_boundary_timestamps(
    aligned_sentences: Sequence[Fields], sections: Sequence[Sequence[str]]
) -> list[float]:
    """Return the start of the first sentence of every section but the first.

    Parameters
    ----------
    aligned_sentences
        All sentences in order, with ``"start"`` in seconds.
    sections
        Sentences of each section.

    Returns
    -------
    list
        Boundaries in seconds.

    Examples
    --------
    >>> starts = [{"start": 0.0}, {"start": 4.0}, {"start": 9.0}]
    >>> sections_to_boundary_timestamps(starts, [["a", "b"], ["c"]])
    [9.0]
    """
    boundaries, place = [], 0
    for before, section in zip([None, *sections], sections, strict=False):
        if before is not None and place < len(aligned_sentences):
            boundaries.append(float(aligned_sentences[place]["start"]))
        place += len(section)
    return boundaries


def update_timestamps_from_alignment(
    sentences: Sequence[Fields], segments: Sequence[Fields]
) -> list[dict[str, Any]]:
    """Return the sentences with the starts and ends of the segments.

    >>> update_timestamps_from_alignment([{"text": "a"}], [{"start": 1, "end": 2}])
    [{'text': 'a', 'start': 1.0, 'end': 2.0}]
    """
    updated = []
    for sentence, segment in zip(sentences, segments, strict=False):
        start = float(segment.get("start", sentence.get("start", 0.0)))
        end = float(segment.get("end", sentence.get("end", start)))
        updated.append({**sentence, "start": start, "end": end})
    return updated
