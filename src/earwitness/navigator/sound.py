"""Exact excerpts of a recording as WAV, with speech played backwards or muted if wanted.

With speech changed, an excerpt is a cut of one changed copy of the recording, whatever its start
and length: the recording is checked in blocks of 8 s, and each block with speech is reversed as a
whole or silent. Excerpts of passages that were not checked yet are refused.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from earwitness.audio.files import Samples
from earwitness.audio.read import Break, read_blocks
from earwitness.audio.signal import to_int16
from earwitness.audio.wav import PCM_TAG, Form, build_wav
from earwitness.models.cache import Cache, hash_text, mark_used, open_sealed, write_sealed
from earwitness.models.frames import sound_digest
from earwitness.recordings.cut import cut_filled
from earwitness.recordings.types import Recording
from earwitness.speech.vad import SpeechDetector

# --- Passages with speech ------------------------------------------------------------------------


SpeechChange = Literal["keep", "reverse", "mute"]
SPEECH_BLOCK_SECONDS = 8.0  # audio that a detector checks at once, and length of reversed pieces
SPEECH_MARGIN_SECONDS = 0.5  # changed before and after blocks with speech
PORTION_SECONDS = 75 * SPEECH_BLOCK_SECONDS  # checked and cached at a time
SPEECH_VERSION = 1  # increase it to check all recordings again


class SpeechPiece(NamedTuple):
    """A piece of a recording with speech: first sample and end, on its clock."""

    first: int
    end: int


class SpeechPieces(NamedTuple):
    """Pieces with speech in order, and the sample up to which the recording was checked."""

    pieces: tuple[SpeechPiece, ...] = ()
    checked: int = 0

    def within(self, first: int, end: int) -> tuple[SpeechPiece, ...]:
        """Return the pieces that overlap a range of samples."""
        low = bisect_right(self.pieces, first, key=lambda piece: piece.end)
        high = bisect_left(self.pieces, end, key=lambda piece: piece.first)
        return self.pieces[low:high]


class SpeechBlock(NamedTuple):
    """About 8 s of a recording on its clock, in samples, and whether there is speech in it."""

    first: int
    end: int
    speaks: bool


def divide_blocks(blocks: Sequence[SpeechBlock], rate: int, end: int | None = None) -> SpeechPieces:
    """Return the pieces with speech of consecutive blocks.

    A block with speech is a piece, and so is what is less than half a second away from it in blocks
    without. Therefore the last half second of the blocks is not checked, unless they reach the
    ``end`` of the recording.
    """
    margin = round(SPEECH_MARGIN_SECONDS * rate)
    pieces: list[SpeechPiece] = []
    spoken = [block for block in blocks if block.speaks]
    spoken_before = 0
    for block in blocks:
        first, last = block.first, block.end
        if block.speaks:
            pieces.append(SpeechPiece(first, last))
            spoken_before += 1
            continue
        head, tail = first, last
        if spoken_before:
            head = min(last, max(first, spoken[spoken_before - 1].end + margin))
        if spoken_before < len(spoken):
            tail = max(head, min(last, spoken[spoken_before].first - margin))
        pieces += [
            SpeechPiece(*span) for span in ((first, head), (tail, last)) if span[1] > span[0]
        ]
    checked = end
    if checked is None:
        checked = max(0, blocks[-1].end - margin) if blocks else 0
    return SpeechPieces(tuple(pieces), checked)


def find_speech_blocks(
    recording: Recording,
    detector: SpeechDetector,
    cache: Cache,
    on_block: Callable[[], None] = lambda: None,
) -> Iterator[list[SpeechBlock]]:
    """Yield the blocks of a recording in order, some minutes at a time; cached by content.

    ``on_block`` is called before each block is checked, and may raise an exception to stop.
    """
    rate = recording.rate
    for stretch in recording.stretches:
        path, at, left = Path(stretch.path), stretch.at, stretch.seconds
        while left > 0:
            seconds = min(left, PORTION_SECONDS)
            key_parts = [SPEECH_VERSION, detector.signature, at, seconds, rate]
            key = hash_text(sound_digest(path, cache) + msgspec.json.encode(key_parts).decode())
            place = cache.folder / "speech-blocks" / f"{key}.sealed"
            sealed = open_sealed(place)
            if sealed is None:
                blocks, breaks = list[list[int]](), list[Break]()
                for chunk in read_blocks(
                    path, at=at, seconds=seconds, size=SPEECH_BLOCK_SECONDS, broken=breaks.append
                ):
                    on_block()
                    first = round(chunk.position * rate)
                    speaks = detector.share(chunk.samples, rate) >= detector.min_share
                    blocks.append([first, first + len(chunk.samples), int(speaks)])
                if not breaks:
                    write_sealed(place, {"blocks": blocks})
            else:
                mark_used(place)
                blocks = [list(block) for block in sealed.facts["blocks"]]
            offset = round(stretch.start * rate) - round(stretch.at * rate)
            filled = _fill_unread(blocks, round(at * rate), round((at + seconds) * rate))
            yield [
                SpeechBlock(low + offset, high + offset, bool(is_speech))
                for low, high, is_speech in filled
            ]
            at, left = at + seconds, left - seconds


def _fill_unread(blocks: list[list[int]], first: int, end: int) -> list[list[int]]:
    """Return blocks with what could not be read as speech, since it may be readable later."""
    filled = list[list[int]]()
    for block in [*blocks, [end, end, 0]]:
        if block[0] > first + 1:  # one sample may be lost by rounding
            filled.append([first, block[0], 1])
        filled.append(block)
        first = block[1]
    return filled[:-1]


# --- Excerpts ------------------------------------------------------------------------------------


MAX_EXCERPT_SECONDS = 10.0
MAX_CHANNELS = 2  # recordings with more are mixed to one


def count_heard_channels(recording: Recording) -> int:
    """Return the number of channels of excerpts."""
    return recording.channels if recording.channels <= MAX_CHANNELS else 1


def read_samples(
    recording: Recording,
    first: int,
    count: int,
    change: SpeechChange = "keep",
    speech: SpeechPieces | None = None,
    channels: int = 0,
) -> Samples:
    """Return samples of a recording, or of its copy with changed speech; gaps are silent.

    ``channels`` is 1 for the mean of all channels, or by default those of excerpts.
    """
    channels = channels or count_heard_channels(recording)
    if change == "keep" or speech is None:
        return cut_filled(recording, first, count, channels)
    end = first + count
    samples = np.zeros((count, channels), np.float32)
    place = first
    for piece in speech.within(first, end):
        low, high = max(place, piece.first), min(end, piece.end)
        if low >= high:  # pieces may overlap by a sample where files meet
            continue
        samples[place - first : low - first] = cut_filled(recording, place, low - place, channels)
        if change == "reverse":
            mirrored = piece.first + piece.end - high
            forward = cut_filled(recording, mirrored, high - low, channels)
            samples[low - first : high - first] = forward[::-1]
        place = high
    samples[place - first :] = cut_filled(recording, place, end - place, channels)
    return samples


def wav_bytes(samples: Samples, rate: int) -> bytes:
    """Return samples as a WAV file with 16 bits per sample."""
    header = Form(PCM_TAG, 16, samples.shape[1], rate).header
    return build_wav(header, to_int16(samples).tobytes())
