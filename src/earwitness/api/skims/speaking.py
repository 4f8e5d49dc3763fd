"""Blocks in which somebody speaks: by the classes of an embedder that knows speech, or by ear."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Progress, Recording, no_progress
from earwitness.models.blocks import Blocks, blocks_of
from earwitness.models.cached import Cache
from earwitness.models.embedded import Embedded
from earwitness.models.speech import (
    HOLDS,
    HOLDS_CLASS,
    Detector,
    find_detector,
    speech_of_classes,
)

Bools = NDArray[np.bool_]


class Spoken(NamedTuple):
    """In which blocks somebody speaks, and what told it."""

    rows: Bools
    signature: str


def spoken_in(
    recording: Recording,
    blocks: Blocks,
    cache: Cache,
    model: Path | None = None,
    progress: Progress = no_progress,
) -> Spoken:
    """Of all blocks of a recording; who listens hears all of it, once, as it is kept."""
    known = None if model else speech_of_classes(blocks.class_names, blocks.classes)
    if known is not None:
        return Spoken(np.asarray(known >= HOLDS_CLASS), "classes")
    detector = find_detector("cues" if model is None else str(model))
    heard, _ = blocks_of(
        recording,
        Listening(detector, recording.rate),
        block=blocks.seconds,
        cache=cache,
        progress=progress,
    )
    shares = dict(zip(heard.starts.tolist(), heard.vectors[:, 0].tolist(), strict=True))
    found = [shares.get(start, 1.0) >= HOLDS for start in blocks.starts.tolist()]
    return Spoken(np.array(found, np.bool_), detector.signature)


@dataclass(frozen=True)
class Listening:
    """A detector as an embedder: its only number is the share of speech in a block."""

    detector: Detector
    rate: int
    takes: ClassVar[Literal["sound"]] = "sound"

    @property
    def name(self) -> str:
        """That of the detector."""
        return self.detector.name

    @property
    def signature(self) -> str:
        """That of the detector."""
        return f"speech:{self.detector.signature}"

    def embed(self, sounds: Iterable[NDArray[np.float32]], /) -> Embedded:
        """A share a block."""
        shares = [[self.detector.share(sound, self.rate)] for sound in sounds]
        found = np.array(shares, np.float32).reshape(-1, 1)
        return Embedded(found, np.clip(found, 0, 1), ("speech",))
