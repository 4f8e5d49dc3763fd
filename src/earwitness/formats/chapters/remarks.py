"""What is odd about chapters, though it is allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from earwitness.formats.latin import NOT_LATIN, UNSPACED, not_latin, unspaced
from earwitness.timeline import ChapterCases

WRITTEN = {"titles": "titles", "wer": "transcripts"}  # what metrics of texts are made of


SINGLE, TIMED = "a single sentence", "sentences"
UNDEFINED = {  # metrics of texts without any, and what they need
    "wer": ("wer", "no case has both a transcript of the item and an output with text"),
    "sentences": (TIMED, "no item has sentences, subtitles or words with times"),
}


def boundary_remarks(cases: ChapterCases, *, references: bool) -> Counter[str]:
    """Boundaries that look like another unit or a slip, of the references or of the outputs."""
    side, duration = cases.output, cases.duration
    if references:
        side, duration = cases.reference, np.repeat(cases.duration, cases.counts)
    past = int((side.values > duration[side.rows]).sum())
    return Counter({"past the duration": past, "before 0": int((side.values < 0).sum())})


def text_remarks(cases: ChapterCases) -> Counter[str]:
    """Texts that could be scored."""
    if cases.texts is None:
        return Counter()
    given = [titles for titles in cases.texts.reference_titles if titles is not None]
    foreign = sum(not_latin(" ".join(text for text, _ in titles)) for titles in given)
    both = zip(cases.texts.said, cases.texts.transcripts, strict=True)
    said = [text for own, text in both if own is not None and text is not None]
    timed = [starts for starts in cases.texts.sentences if starts is not None]
    return Counter(
        {
            "titles": len(given),
            "wer": len(said),
            NOT_LATIN: foreign,
            UNSPACED: sum(map(unspaced, said)),
            TIMED: len(timed),
            SINGLE: sum(len(starts) == 1 for starts in timed),
        }
    )


def chapter_notes(remarks: Counter[str], metrics: set[str]) -> Iterator[str]:
    """Sentences about all that."""
    if loose := remarks["loose"]:
        what = "line lies" if loose == 1 else "lines lie"
        yield f"{loose:,} {what} outside of all chapters of their transcripts"
    for name in sorted(UNDEFINED.keys() & metrics):
        given, why = UNDEFINED[name]
        if not remarks[given]:
            yield f"{name} is undefined for all: {why}"
    if remarks[UNSPACED] and "wer" in metrics:
        told = "transcripts in a script without blanks between words"
        yield f"{told} ({remarks[UNSPACED]:,}): wer takes what stands between blanks for one word"
    for name in sorted(WRITTEN.keys() & (+remarks).keys() - metrics):
        yield f"{WRITTEN[name]} are given ({remarks[name]:,}): --metric {name} scores them"
    if remarks[SINGLE] and "sentences" in metrics:
        why = "words without punctuation cannot be cut into sentences"
        told = f"cases with a single sentence, where no boundary can lie: {remarks[SINGLE]:,}"
        yield f"{told} — {why}"
    for where in ("before 0", "past the duration"):
        if count := remarks[where]:
            what = "boundary lies" if count == 1 else "boundaries lie"
            yield f"{count:,} {what} {where} — are all times in seconds?"
