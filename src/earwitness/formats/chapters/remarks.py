"""What is odd about chapters, though it is allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from earwitness.formats.latin import NOT_LATIN, not_latin
from earwitness.timeline import ChapterCases

WRITTEN = {"titles": "titles", "wer": "transcripts"}  # what metrics of texts are made of


SINGLE = "a single sentence"


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
    said = sum(text is not None for text in cases.texts.transcripts)
    single = sum(starts is not None and len(starts) == 1 for starts in cases.texts.sentences)
    return Counter({"titles": len(given), "wer": said, NOT_LATIN: foreign, SINGLE: single})


def chapter_notes(remarks: Counter[str], metrics: set[str]) -> Iterator[str]:
    """Sentences about all that."""
    if loose := remarks["loose"]:
        what = "line lies" if loose == 1 else "lines lie"
        yield f"{loose:,} {what} outside of all chapters of their transcripts"
    for name in sorted(WRITTEN.keys() & remarks.keys() - metrics):
        yield f"{WRITTEN[name]} are given ({remarks[name]:,}): --metric {name} scores them"
    if remarks[SINGLE] and "sentences" in metrics:
        why = "words without punctuation cannot be cut into sentences"
        told = f"cases with a single sentence, where no boundary can lie: {remarks[SINGLE]:,}"
        yield f"{told} — {why}"
    for where in ("before 0", "past the duration"):
        if count := remarks[where]:
            what = "boundary lies" if count == 1 else "boundaries lie"
            yield f"{count:,} {what} {where} — are all times in seconds?"
