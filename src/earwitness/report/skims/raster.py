"""A spectrogram as a PNG file, with colours that grow lighter as sound grows louder.

Lightness rises evenly from night blue over teal to pale yellow, so that the picture says the same
in grey, on paper and to people who see few colours. Missing time is transparent: what lies below
shows through.
"""

from __future__ import annotations

import base64
import struct
import zlib
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.report.skims.shown import Spectrogram

SOFTEST, LOUDEST = 5.0, 99.7  # percentiles of what was recorded that get the ends of the colours
LEAST = 24  # steps between the ends: silence shall not look like a storm
LIGHT = (0.17, 0.97)  # lightness in OKLab
HUE = (285.0, 100.0)  # degrees
STRONG = 0.125  # chroma in the middle
OKLAB = np.array(
    [
        [1, 0.3963377774, 0.2158037573],
        [1, -0.1055613458, -0.0638541728],
        [1, -0.0894841775, -1.2914855480],
    ]
)
LINEAR = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def data_address(spectrogram: Spectrogram) -> str:
    """The picture as an address that holds all of it."""
    return f"data:image/png;base64,{base64.b64encode(spectrogram_png(spectrogram)).decode()}"


def spectrogram_png(spectrogram: Spectrogram) -> bytes:
    """The picture, with the highest band on top."""
    shown = shades(spectrogram)[::-1]
    colours = np.vstack([np.zeros((1, 3), np.uint8), colour_map(255)])
    return png(shown, colours, clear=0)


def shades(spectrogram: Spectrogram) -> NDArray[np.uint8]:
    """From 1, the softest, to 255; 0 is missing."""
    levels, there = spectrogram.levels, ~spectrogram.missing
    if not there.any():
        return np.zeros(levels.shape, np.uint8)
    low, high = np.percentile(levels[:, there], (SOFTEST, LOUDEST))
    share = (levels - low) / max(LEAST, high - low)
    shown: NDArray[Any] = 1 + np.round(254 * np.clip(share, 0, 1))
    return np.where(there[None, :], shown, 0).astype(np.uint8)


@cache
def colour_map(count: int) -> NDArray[np.uint8]:
    """Red, green and blue of so many colours from soft to loud."""
    share = np.linspace(0, 1, count)
    light = LIGHT[0] + (LIGHT[1] - LIGHT[0]) * share
    angle = np.radians(HUE[0] + (HUE[1] - HUE[0]) * share)
    chroma = STRONG * np.sin(np.pi * (0.12 + 0.76 * share)) ** 0.8
    lab = np.stack([light, chroma * np.cos(angle), chroma * np.sin(angle)])
    linear = np.clip(LINEAR @ (OKLAB @ lab) ** 3, 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.round(255 * curved.T).astype(np.uint8)


def png(places: NDArray[np.uint8], colours: NDArray[np.uint8], clear: int | None = None) -> bytes:
    """A PNG file of places in a table of colours; one of them may be transparent."""
    height, width = places.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row starts with its filter: none
    rows[:, 1:] = places
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", colours.astype(np.uint8).tobytes()),
    ]
    if clear is not None:
        chunks.append((b"tRNS", bytes([255] * clear + [0])))
    chunks += [(b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)
