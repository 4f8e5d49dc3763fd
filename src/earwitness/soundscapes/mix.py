"""Audio of a scene, mixed from a bank of clips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.soundscapes.scene import Scene, SoundEvent, place_clips
from earwitness.soundscapes.sources import BACKGROUND, SoundSource
from earwitness.soundscapes.synthesis import Sound
from earwitness.soundscapes.timetable import named_generator, read_clip

# --- Bank of clips -------------------------------------------------------------------------------


LOUDNESS_WINDOW_SECONDS = 0.05  # window in which loudness is measured


class ClipBank:
    """Clips of every source at a sample rate, synthesized or read when first used."""

    def __init__(self, sources: Mapping[str, SoundSource], rate: int, seed: int = 0) -> None:
        self.rate = rate
        self._sources, self._seed = sources, seed
        self._clips: dict[tuple[str, int], Sound] = {}

    def clip(self, name: str, number: int) -> Sound:
        """Return a clip of a source; its loudest moment has a mean square of 1."""
        if (name, number) not in self._clips:
            self._clips[name, number] = self._clip(name, number)
        return self._clips[name, number]

    def _clip(self, name: str, number: int) -> Sound:
        source, rng = self._sources[name], named_generator(self._seed, name, number)
        if source.make is None:
            return normalise_level(read_clip(source.files[number], self.rate), self.rate)
        return normalise_level(source.make(rng, source.lengths[number], self.rate), self.rate)


def normalise_level(clip: Sound, rate: int) -> Sound:
    """Scale a clip to a mean square of 1 at its loudest moment; silence stays silence."""
    size = max(1, round(LOUDNESS_WINDOW_SECONDS * rate))
    samples = clip[: len(clip) // size * size] if len(clip) >= size else clip
    powers = np.mean(samples.reshape(-1, min(size, len(samples))) ** 2, axis=1, dtype=np.float64)
    loudest = float(np.sqrt(powers.max(initial=0.0)))
    return clip if loudest == 0 else clip / np.float32(loudest)


# --- Mixing of clips -----------------------------------------------------------------------------
# A day is never held in memory, and a passage has the same samples whether it is rendered alone or
# as part of the day.


MAX_AMPLITUDE = np.float32(0.98)  # relative to full scale
BACKGROUND_NAME = "background"
CUT_FADE_SECONDS = 0.5  # fade-out of events that are cut off


class Paste(NamedTuple):
    """A clip with its position, gain and fade length (in frames)."""

    first: int
    last: int
    clip: Sound
    gain: np.float32
    rise: int
    fall: int


class Mixer:
    """All clips of a scene in chronological order; renders the audio of any passage."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.frames = scene, round(scene.seconds * scene.rate)
        sources = {**scene.sources, BACKGROUND_NAME: BACKGROUND}
        bank = ClipBank(sources, scene.rate, scene.seed)
        clips = place_clips(BACKGROUND, scene.seconds, named_generator(scene.seed, BACKGROUND_NAME))
        background = SoundEvent(0.0, scene.seconds, BACKGROUND_NAME, scene.background, clips)
        pastes = [
            paste
            for event in (background, *scene.events)
            for paste in _make_pastes(event, sources[event.source], bank)
        ]
        self._pastes = sorted(pastes, key=lambda paste: paste.first)
        self._firsts = np.array([paste.first for paste in self._pastes])
        self._longest = max((paste.last - paste.first for paste in self._pastes), default=0)

    def sound(self, start: float, seconds: float) -> Sound:
        """Return the audio from ``start``, for ``seconds``, within the scene."""
        rate = self.scene.rate
        first = min(self.frames, max(0, round(start * rate)))
        return self.mix_frames(first, min(self.frames, first + round(seconds * rate)))

    def mix_frames(self, first: int, last: int) -> Sound:
        """Return the audio from the first frame up to the last."""
        sound = np.zeros(max(0, last - first), np.float32)
        low = int(np.searchsorted(self._firsts, first - self._longest))
        high = int(np.searchsorted(self._firsts, last))
        for paste in self._pastes[low:high]:
            if paste.last > first:
                _add_paste(sound, first, paste)
        return np.clip(sound, -MAX_AMPLITUDE, MAX_AMPLITUDE, out=sound)


def _make_pastes(event: SoundEvent, source: SoundSource, bank: ClipBank) -> Iterator[Paste]:
    """Yield the clips of an event; none extends beyond its end."""
    rate = bank.rate
    fade, end = round(source.fade * rate), round(event.end * rate)
    for placement in event.clips:
        clip = bank.clip(event.source, placement.number)
        first = round((event.start + placement.at) * rate)
        last = min(end, first + len(clip))
        fall = fade if last - first == len(clip) else round(CUT_FADE_SECONDS * rate)
        gain = np.float32(10 ** ((event.level + placement.gain) / 20))
        if last > first:
            yield Paste(first, last, clip, gain, fade, fall)


def _add_paste(target: Sound, first: int, paste: Paste) -> None:
    """Add the part of a clip that lies in a buffer starting at frame ``first``."""
    low, high = max(first, paste.first), min(first + len(target), paste.last)
    start, stop, length = low - paste.first, high - paste.first, paste.last - paste.first
    piece = paste.clip[start:stop] * paste.gain
    if start < paste.rise:
        rise_end = min(stop, paste.rise)
        piece[: rise_end - start] *= _fade_curve(np.arange(start, rise_end), paste.rise)
    if stop > length - paste.fall:
        fall_start = max(start, length - paste.fall)
        piece[fall_start - start :] *= _fade_curve(
            length - 1 - np.arange(fall_start, stop), paste.fall
        )
    target[low - first : high - first] += piece


def _fade_curve(frames: NDArray[np.int64], length: int) -> Sound:
    """Return an equal-power fade, which keeps the loudness of a cross-fade constant."""
    return np.sin(0.5 * np.pi * np.clip((frames + 0.5) / length, 0, 1)).astype(np.float32)
