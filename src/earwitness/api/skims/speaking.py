"""Whether somebody speaks in a block of a recording."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from earwitness.api.skims.asked import SPEECH, Asked
from earwitness.audio.cutting import cut
from earwitness.audio.reading import mono
from earwitness.data import Recording
from earwitness.models.blocks import Blocks
from earwitness.models.speech import HOLDS, HOLDS_CLASS, find_detector, speech_of_classes

Speaks = Callable[[float], bool]


def speaker(recording: Recording, asked: Asked, blocks: Blocks) -> tuple[Speaks, str]:
    """What tells it of the block that begins at a time, and its signature.

    Classes tell it, if the embedder knows speech; else a detector listens to the block. Both miss
    little rather than accuse little.
    """
    if asked.speech == SPEECH[0]:
        return _nobody, ""
    known = speech_of_classes(blocks.class_names, blocks.classes)
    if known is not None and asked.speech_model is None:
        shares = known >= HOLDS_CLASS

        def by_class(start: float) -> bool:
            row = int(np.searchsorted(blocks.starts, start + blocks.seconds / 2)) - 1
            return bool(shares[max(0, row)])

        return by_class, "classes"
    detector = find_detector("cues" if asked.speech_model is None else str(asked.speech_model))

    def by_ear(start: float) -> bool:
        samples = mono(cut(recording, start, blocks.seconds))
        return detector.share(samples, recording.rate) >= HOLDS

    return by_ear, detector.signature


def _nobody(start: float) -> bool:
    del start
    return False
