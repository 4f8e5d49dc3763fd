"""Sounds that are no WAV files: decoded by the server, and sent as blind as any other."""

from __future__ import annotations

import asyncio
import io
import struct
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import soundfile

from earwitness.audio import files
from earwitness.errors import MissingExtra
from earwitness.web import media
from earwitness.web.media import MAX_BYTES_WITHOUT_THREAD, plain_wav_bytes
from helpers.http_listener import link, served, take

SYSTEMS, ITEMS = ("Kestrel", "Osprey"), ("bittern", "curlew", "dunlin")
STUDY = """\
title: Birds
systems: [Kestrel, Osprey]
files: "{{system}}/{{item}}.{ending}"
material: clips.csv
listeners: 1
blocks: [{{kind: acr, clips: 2}}]
"""
FORMS = {"flac": ("FLAC", "PCM_16"), "ogg": ("OGG", "VORBIS"), "mp3": ("MP3", "MPEG_LAYER_III")}
RATE = 16_000


def noise(channels: int = 1) -> Any:
    return np.random.default_rng(1).uniform(-0.5, 0.5, (RATE // 4, channels))


def written(path: Path, ending: str) -> None:
    """A sound whose file says what it is."""
    form, subtype = FORMS[ending]
    path.parent.mkdir(exist_ok=True)
    with soundfile.SoundFile(path, "w", RATE, 1, subtype, format=form) as file:
        file.title = file.artist = f"{path.parent.name} {path.stem}"
        file.write(noise())
    assert path.stem.encode() in path.read_bytes()


def birds(folder: Path, ending: str) -> Path:
    """A study file beside its sounds."""
    for system in SYSTEMS:
        for item in ITEMS:
            written(folder / system / f"{item}.{ending}", ending)
    rows = "".join(f"{item},0.25\n" for item in ITEMS)
    (folder / "clips.csv").write_text(f"name,seconds\n{rows}")
    path = folder / "merlin.yaml"
    path.write_text(STUDY.format(ending=ending))
    return path


def chunks(content: bytes) -> Iterator[bytes]:
    """Names of all parts of a WAV file."""
    place = 12
    while place < len(content):
        name, size = struct.unpack_from("<4sI", content, place)
        yield name
        place += 8 + size + size % 2


@pytest.mark.parametrize("ending", FORMS)
def test_other_files_are_sent_as_wav_that_says_nothing(tmp_path: Path, ending: str) -> None:
    path = birds(tmp_path, ending)
    with served(path, str(tmp_path / "store.db")) as client:
        own = link(client)
        state = take(client, own, stop="1.1")
        replies = [client.get(one) for one in [f"{own}/sound/1.1/0", *state["ahead"]]]
    for got in replies:
        assert got.status_code == 200
        assert got.headers["content-type"] == "audio/wav"
        assert [*chunks(got.content)] == [b"fmt ", b"data"]
        told = f"{got.url} {got.headers} {got.content.decode('latin-1')}".lower()
        for name in (*SYSTEMS, *ITEMS, f".{ending}", "merlin"):
            assert name.lower() not in told
    assert len({got.content for got in replies}) == 1  # all have the same samples
    sent, rate = soundfile.read(io.BytesIO(replies[0].content), dtype="float32")
    kept, _ = soundfile.read(tmp_path / "Osprey" / f"curlew.{ending}", dtype="float32")
    assert rate == RATE
    np.testing.assert_allclose(sent, kept, atol=1e-7)  # of MP3, two runs of the decoder differ


@pytest.mark.parametrize("ending", ["wav", *FORMS])
def test_a_sound_comes_whole_whatever_part_is_asked_for(tmp_path: Path, ending: str) -> None:
    path = birds(tmp_path, "flac" if ending == "wav" else ending)
    if ending == "wav":
        path.write_text(STUDY.format(ending="wav"))
        for one in tmp_path.glob("*/*.flac"):
            soundfile.write(one.with_suffix(".wav"), noise(), RATE)
    with served(path, str(tmp_path / "store.db")) as client:
        own = link(client)
        take(client, own, stop="1.1")
        whole = client.get(f"{own}/sound/1.1/0")
        for asked in ("bytes=0-99", "bytes=100-", "bytes=-5", "bytes=999999999-"):
            part = client.get(f"{own}/sound/1.1/0", headers={"range": asked})
            assert (part.status_code, part.content) == (200, whole.content)
            assert part.headers["accept-ranges"] == "none"
            assert part.headers["content-length"] == str(len(whole.content))


@pytest.mark.parametrize(("subtype", "bits"), [("PCM_16", 16), ("PCM_24", 24)])
def test_no_bit_of_a_lossless_file_changes(tmp_path: Path, subtype: str, bits: int) -> None:
    rng, path = np.random.default_rng(1), tmp_path / "any.FLAC"
    loud = rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), (5000, 2)) << (32 - bits)
    soundfile.write(path, loud.astype(np.int32), RATE, subtype=subtype, format="FLAC")
    sent = io.BytesIO(plain_wav_bytes(path))
    assert soundfile.info(sent).subtype == subtype
    sent.seek(0)
    assert np.array_equal(soundfile.read(sent, dtype="int32")[0], loud)


def test_a_file_that_cannot_be_decoded_is_told_without_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = birds(tmp_path, "flac")
    for one in tmp_path.glob("*/*.flac"):
        one.write_bytes(b"Kestrel")
    with served(path, str(tmp_path / "store.db")) as client:
        own = link(client)
        take(client, own, stop="1.1")
        got = client.get(f"{own}/sound/1.1/0")
        assert (got.status_code, got.json()["error"]["code"]) == (503, "no_sound")
        assert not any(name in got.text for name in (*SYSTEMS, *ITEMS))
    assert ".flac: cannot be read" in capsys.readouterr().err


def test_nothing_is_served_that_could_not_be_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = birds(tmp_path, "flac")
    monkeypatch.setattr(files, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="soundfile"), served(path, str(tmp_path / "store.db")):
        pass


@pytest.mark.parametrize(
    ("samples", "frames", "in_thread"),
    [
        (100, 100, False),
        (MAX_BYTES_WITHOUT_THREAD // 2, 0, True),
        (100, MAX_BYTES_WITHOUT_THREAD // 2, True),
    ],
    ids=["short", "long", "padded"],
)
def test_sounds_that_take_long_are_read_off_the_event_loop(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    samples: int,
    frames: int,
    in_thread: bool,
) -> None:
    loop_threads = []

    def read(*arguments: Any) -> bytes:
        loop_threads.append(asyncio._get_running_loop() is not None)
        return plain_wav_bytes(*arguments)

    monkeypatch.setattr(media, "plain_wav_bytes", read)
    soundfile.write(tmp_path / "any.wav", np.zeros(samples), RATE, subtype="PCM_16")
    site: Any = SimpleNamespace(
        folder=tmp_path,
        store=SimpleNamespace(is_local=True),
        served_sounds=SimpleNamespace(sample=None, frames={"any.wav": frames}),
    )
    content = asyncio.run(media._read_content(site, "any.wav"))
    assert soundfile.info(io.BytesIO(content)).frames == max(samples, frames)
    assert loop_threads == [not in_thread]
