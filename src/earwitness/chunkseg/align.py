"""Boundaries from sentences with times, as in chunkseg.align; the alignment itself is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from earwitness.errors import MissingFeature


def align_sentences(
    audio_path: str, sentences: Sequence[Mapping[str, Any]], lang: str, backend: str = "mms_fa"
) -> NoReturn:
    """Raise MissingFeature: aligning text with audio is not supported."""
    del audio_path, sentences, lang, backend
    raise MissingFeature("aligning text with audio is not supported — use a format with timestamps")


def sections_to_boundary_timestamps(
    aligned_sentences: Sequence[Mapping[str, Any]], sections: Sequence[Sequence[str]]
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
    sentences: Sequence[Mapping[str, Any]], segments: Sequence[Mapping[str, Any]]
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
