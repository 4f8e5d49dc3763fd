"""Nothing that reaches a browser says which system it hears, or which clip."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from earwitness.audio.wav import widen_wav
from earwitness.studies.file.reader import read_study
from earwitness.studies.trials import KINDS
from earwitness.web.media import plain_wav_bytes
from earwitness.web.site import profile_sounds
from helpers.http_listener import link, served, site_of, take
from helpers.study_files import sound
from helpers.study_listener import Anyone, about_captions, about_transcripts

SYSTEMS, ITEMS, REFERENCE = ("Kestrel", "Osprey"), ("bittern", "curlew", "dunlin", "eider"), "Knot"
ANCHORS = ("anchor35", "anchor70")
STUDY = """\
title: Birds
systems: [Kestrel, Osprey]
files: "{{system}}/{{item}}.wav"
reference: Knot
listeners: 1
training: 1
feedback: true
device: [level, sides, huggins, antiphase]
rest_minutes: 0
blocks:
  - kind: {kind}
    clips: 2
"""


def tagged(path: Path, text: bytes) -> None:
    """A sound whose file says what it is, before and after its samples."""
    sound(path)
    content = path.read_bytes()
    chunk = b"LIST" + struct.pack("<I", len(text)) + text
    content = content[:12] + chunk + content[12:] + chunk
    path.write_bytes(content[:4] + struct.pack("<I", len(content) - 8) + content[8:])


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    folder = tmp_path / "aviary"
    for system in (*SYSTEMS, REFERENCE, *ANCHORS):
        for item in ITEMS:
            tagged(folder / system / f"{item}.wav", f"{system} {item} ".encode() * 8)
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_no_response_of_a_whole_study_gives_anything_away(birds: Path, kind: str) -> None:
    path = birds / "merlin.yaml"
    text = STUDY.format(kind=kind)
    if KINDS[kind].transcribed:
        text = about_transcripts(text, birds, SYSTEMS, ITEMS)
    path.write_text(about_captions(text, birds, SYSTEMS) if KINDS[kind].captioned else text)
    seen: list[str] = []

    def record(response: Any) -> None:
        body = response.read().decode("latin-1")
        seen.append(f"{response.url} {response.headers} {body}")

    with served(path, str(birds / "store.db")) as client:
        client.event_hooks = {"response": [record]}
        own = link(client)
        client.get(own)
        sounds = _hear_everything(client, own)
        client.get(f"{own}/sound/1.1/0")
        client.get(f"{own}/sound/9.9/0")
        client.post(f"{own}/answers", json={"id": "x", "page": "1.1"})
        client.post(f"{own}/withdraw", json={"confirm": True})
    assert len(seen) > 15
    hidden = (*SYSTEMS, *ITEMS, REFERENCE, *ANCHORS, "aviary", "merlin", ".wav", str(birds))
    for text in seen:
        for name in hidden:
            assert name.lower() not in text.lower().replace("filename", ""), text[:300]
    assert len(set(sounds)) == (
        0 if KINDS[kind].transcribed else 1
    )  # all are as long, and have no header of their own


def _hear_everything(client: Any, own: str) -> list[str]:
    """All sounds of a study, as they are reached; their headers and bodies."""
    found, anyone = [], Anyone()

    def hear(view: Any) -> dict[str, Any]:
        state = client.get(f"{own}/state").json()
        for address in [one["address"] for one in view.get("sounds", ())] + state["ahead"]:
            got = client.get(address)
            assert got.status_code == 200
            found.append(f"{sorted(got.headers.items())} {got.content!r}")
        return anyone(view)

    take(client, own, hear)
    return found


def test_a_sound_is_sent_with_its_format_and_samples_alone(tmp_path: Path) -> None:
    plain, other = tmp_path / "plain.wav", tmp_path / "other.wav"
    sound(plain)
    tagged(other, b"made by Kestrel ")
    sent = [widen_wav(path.read_bytes(), None) for path in (plain, other)]
    assert sent == [plain.read_bytes()] * 2


DEPTHS = {"Kestrel": "PCM_16", "Osprey": "PCM_24", "Knot": "PCM_U8", "anchor35": "FLOAT"}


def test_sounds_of_other_depths_are_sent_in_one_form(birds: Path) -> None:
    path = birds / "merlin.yaml"
    path.write_text(STUDY.format(kind="dcr"))
    rng = np.random.default_rng(1)
    for system, subtype in DEPTHS.items():
        for item in ITEMS:
            file = birds / system / f"{item}.wav"
            soundfile.write(file, rng.uniform(-1, 1, 800), 8000, subtype=subtype)
    with served(path, str(birds / "store.db")) as client:
        site, got = site_of(client), dict[str, bytes]()
        assert (site.served_sounds.sample, site.served_sounds.warning) == ((1, 24), "")
        course = site.page_sequence(1)

        def hear(view: Any) -> dict[str, Any]:
            for number, one in enumerate(view.get("sounds", ())):
                file = course.files(view["name"])[number]
                got[file] = client.get(one["address"]).content
            return Anyone()(view)

        take(client, link(client), hear)
    assert len({name.partition("/")[0] for name in got}) == 3
    assert len({len(content) for content in got.values()}) == 1
    assert len({content[:44] for content in got.values()}) == 1
    for name, content in got.items():
        heard, _ = soundfile.read(io.BytesIO(content))
        assert np.array_equal(heard, soundfile.read(birds / name)[0])


@pytest.mark.parametrize(
    ("rate", "channels", "subtype"),
    [(16_000, 1, "PCM_16"), (8000, 2, "PCM_16"), (8000, 1, "ALAW"), (8000, 1, "DOUBLE")],
)
def test_whoever_serves_sounds_that_can_be_told_apart_is_told(
    birds: Path, rate: int, channels: int, subtype: str
) -> None:
    path = birds / "merlin.yaml"
    path.write_text(STUDY.format(kind="acr"))
    for system in SYSTEMS:
        for item in ITEMS:
            soundfile.write(birds / system / f"{item}.wav", np.zeros(800), 8000)
    same = profile_sounds(read_study(path), birds)
    assert (same.warning, same.rate) == ("", 8000)
    file = birds / SYSTEMS[0] / "dunlin.wav"
    soundfile.write(file, np.zeros((800, channels)), rate, subtype=subtype)
    told = profile_sounds(read_study(path), birds)
    assert told.distinguishable == ("dunlin",)
    assert told.rate == (8000 if rate == 8000 else 0)
    assert "for 1 clip (dunlin) — convert all files to one sample rate" in told.warning


@pytest.mark.parametrize(("policy", "sizes"), [("pad", 1), ("allow", 3)])
def test_silence_is_appended_to_sounds_that_are_shorter(
    birds: Path, policy: str, sizes: int
) -> None:
    path, systems = birds / "merlin.yaml", (*SYSTEMS, REFERENCE)
    path.write_text(STUDY.format(kind="dcr") + f"lengths: {policy}\n")
    for number, system in enumerate(systems):
        for item in ITEMS:
            samples = np.full(800 + 100 * number, 0.5)
            soundfile.write(birds / system / f"{item}.wav", samples, 8000, subtype=DEPTHS[system])
    served_sounds = profile_sounds(read_study(path), birds)
    sent = [
        plain_wav_bytes(birds / name, served_sounds.sample, served_sounds.frames.get(name, 0))
        for name in (f"{system}/{ITEMS[0]}.wav" for system in systems)
    ]
    assert len({len(content) for content in sent}) == sizes
    for number, content in enumerate(sent):
        heard, _ = soundfile.read(io.BytesIO(content))
        assert np.all(heard[: 800 + 100 * number] > 0.4)
        assert not heard[800 + 100 * number :].any()


def test_sounds_of_the_page_and_the_next_trial_alone_are_heard(birds: Path) -> None:
    path = birds / "merlin.yaml"
    path.write_text(STUDY.format(kind="acr"))
    with served(path, str(birds / "store.db")) as client:
        own = link(client)
        take(client, own, stop="1.1")
        for page, status in (("1.1", 200), ("1.2", 200), ("1.3", 403), ("training.1", 403)):
            assert client.get(f"{own}/sound/{page}/0").status_code == status
        assert client.get(f"{own}/sound/1.1/1").status_code == 403
        take(client, own, stop="1.2")
        assert client.get(f"{own}/sound/1.1/0").status_code == 403


def test_a_sound_that_is_gone_is_told_without_its_name(
    birds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = birds / "merlin.yaml"
    path.write_text(STUDY.format(kind="acr"))
    with served(path, str(birds / "store.db")) as client:
        own = link(client)
        take(client, own, stop="1.1")
        for system in SYSTEMS:
            for item in ITEMS:
                (birds / system / f"{item}.wav").unlink()
        got = client.get(f"{own}/sound/1.1/0")
        assert (got.status_code, got.json()["error"]["code"]) == (503, "no_sound")
        assert not any(name in got.text for name in (*SYSTEMS, *ITEMS))
    assert ".wav" in capsys.readouterr().err
