"""Pieces of files are what reading through gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earwitness.audio.decode import LibsndfileDecoder
from earwitness.audio.files import Decoder, DecodingError, Samples
from earwitness.audio.read import Break, read_blocks
from earwitness.errors import UsageError
from earwitness.recordings.cut import FilePiece, read_pieces
from helpers.recorder_files import RATE, recorded

PIECES = [
    FilePiece(0.5, 1.0),
    FilePiece(3.25, 0.5),
    FilePiece(9.5, 1.0),
    FilePiece(10.5, 1.0),
    FilePiece(1.0, 1.0),
]


@pytest.mark.parametrize("ending", ["wav", "flac", "mp3", "ogg"])
@pytest.mark.parametrize("channels", [1, 2])
def test_pieces_are_those_of_the_whole_up_to_the_end(
    tmp_path: Path, ending: str, channels: int
) -> None:
    path = recorded(tmp_path / f"x.{ending}", 10, channels=channels)
    whole = np.concatenate([chunk.samples for chunk in read_blocks(path)])
    found = list(read_pieces(path, iter(PIECES)))
    # the fourth begins behind the end: nothing is read from there on
    assert [chunk.position for chunk in found] == [0.5, 3.25, 9.5]
    assert [len(chunk.samples) / RATE for chunk in found[:2]] == [1.0, 0.5]
    for chunk in found:
        at = round(chunk.position * RATE)
        assert chunk.samples == pytest.approx(whole[at : at + len(chunk.samples)], abs=1e-4)


def test_pieces_that_cannot_be_read_are_one_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Holed(LibsndfileDecoder):
        """Nothing can be read from 2 to 6 s, nor from 9 s on."""

        def seek(self, frame: int) -> None:
            self.frame = frame
            super().seek(frame)

        def read(self, frames: int) -> Samples:
            if 2 * RATE <= getattr(self, "frame", 0) < 6 * RATE:
                raise DecodingError("lost")
            if getattr(self, "frame", 0) >= 9 * RATE:
                return np.zeros((0, 1), np.float32)
            return super().read(frames)

    def holed(path: Path) -> Decoder:
        return Holed(path)

    monkeypatch.setattr("earwitness.recordings.cut.open_decoder", holed)
    path = recorded(tmp_path / "x.wav", 10)
    breaks: list[Break] = []
    pieces = iter([FilePiece(float(at), 0.5) for at in range(20)])
    found = list(read_pieces(path, pieces, broken=breaks.append))
    assert [chunk.position for chunk in found] == [0, 1, 6, 7, 8]
    assert breaks == [
        Break(str(path), 2, 4, "cannot be read for 4.0 s: lost"),
        Break(str(path), 9, 1, "cannot be read for 1.0 s: unexpected end of file"),
    ]


def test_a_file_that_is_no_sound_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_bytes(b"no sound")
    with pytest.raises(UsageError, match=r"x\.wav: cannot be read"):
        list(read_pieces(tmp_path / "x.wav", iter(PIECES)))
