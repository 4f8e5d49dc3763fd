"""Audio files of a study: what is measured, what is refused, and what is noted."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from earwitness.audio.loudness import FULL_SCALE, ClippingCounter, measure_loudness
from earwitness.audio.signal import low_pass
from earwitness.errors import EarwitnessWarning, InputError, MissingExtra
from earwitness.studies.design.report import study_check, study_render
from earwitness.studies.file import audio_checks
from earwitness.studies.file.audio_checks import (
    StudyAudio,
    measure_audio,
)
from earwitness.studies.prepare import study_anchors
from helpers.command_line import run

Floats = NDArray[np.float64]
RATE = 16_000
SYSTEMS = ("C0", "C1", "C2")
ITEMS = ("a", "b", "c", "d")
STUDY = """\
title: Test
seed: 1
systems: [C0, C1, C2]
files: "{system}/{item}.wav"
listeners: 2
blocks:
  - {kind: acr, clips: 4}
"""


def noise(seed: int, seconds: float = 0.5, lufs: float = -30.0, rate: int = RATE) -> Floats:
    samples = np.random.default_rng(seed).normal(size=round(seconds * rate))
    return np.asarray(samples * 10 ** ((lufs - measure_loudness(samples, rate)) / 20))


def write(path: Path, samples: Floats, rate: int = RATE, subtype: str = "PCM_16") -> None:
    path.parent.mkdir(exist_ok=True)
    soundfile.write(path, samples, rate, subtype=subtype)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study whose files are all different, equally long and equally loud."""
    for number, system in enumerate(SYSTEMS):
        for place, item in enumerate(ITEMS):
            write(tmp_path / system / f"{item}.wav", noise(10 * number + place))
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


def checked(study: Path) -> StudyAudio:
    audio = study_check(study).audio
    assert audio is not None
    return audio


def notes(study: Path) -> list[str]:
    return list(checked(study).notes)


# --- Measurement ---------------------------------------------------------------------------------


def count_runs(levels: Floats) -> int:
    """The definition, sample by sample."""
    runs = 0
    for channel in levels.T:
        length = 0
        for level in channel:
            length = length + 1 if level >= FULL_SCALE else 0
            runs += length == 3
    return runs


@pytest.mark.parametrize("seed", range(20))
def test_runs_at_full_scale_are_counted_over_chunks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.choice([0.5, FULL_SCALE, 1.2], (60, 2), p=[0.4, 0.3, 0.3])
    counter = ClippingCounter(2)
    for part in np.split(levels, np.sort(rng.integers(0, 61, 8))):
        counter.add(part)
    assert counter.runs == count_runs(levels)


def test_a_file_is_measured_in_chunks_as_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = np.stack([noise(1, 1.3), noise(2, 1.3, -20)], 1)
    samples[5000:5003, 1] = 1
    write(tmp_path / "a.wav", samples, subtype="FLOAT")
    whole = measure_audio(str(tmp_path / "a.wav"))
    monkeypatch.setattr(audio_checks, "CHUNK_FRAMES", 1001)
    assert measure_audio(str(tmp_path / "a.wav")) == whole
    stored, _ = soundfile.read(tmp_path / "a.wav", dtype="float32")
    assert (whole.rate, whole.channels, whole.frames) == (RATE, 2, 20_800)
    assert whole.loudness == pytest.approx(measure_loudness(stored, RATE), abs=1e-9)
    assert (whole.peak, whole.clipped) == (1.0, 1)


def test_the_same_samples_have_the_same_digest_in_any_format(tmp_path: Path) -> None:
    samples = np.round(noise(1) * 2**15) / 2**15
    for name, subtype in (("a.wav", "PCM_16"), ("b.wav", "FLOAT"), ("c.flac", "PCM_24")):
        write(tmp_path / name, samples, subtype=subtype)
    write(tmp_path / "d.wav", samples, 8000)
    digests = [
        measure_audio(str(tmp_path / f"{name}")).digest
        for name in ("a.wav", "b.wav", "c.flac", "d.wav")
    ]
    assert len({*digests[:3]}) == 1
    assert digests[3] != digests[0]


# --- Errors --------------------------------------------------------------------------------------


def invalid(samples: Floats, value: float) -> Floats:
    return np.concatenate([samples, [value], samples])


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        (np.zeros(8000), "is silent (below −70 LUFS)"),
        (noise(1, lufs=-75), "is silent (below −70 LUFS)"),
        (noise(1, 0.3, lufs=-75), "is silent (below −70 LUFS)"),
        (invalid(noise(1), np.nan), "contains samples that are not numbers"),
        (invalid(noise(1), -np.inf), "contains samples that are not numbers"),
    ],
)
def test_what_cannot_be_heard_is_refused_and_all_of_it_is_listed(
    study: Path, samples: Floats, told: str
) -> None:
    for system in ("C1", "C2"):
        write(study.parent / system / "b.wav", samples, subtype="FLOAT")
    with pytest.raises(InputError) as caught:
        study_check(study)
    assert [problem.message for problem in caught.value.problems] == [told, told]
    assert caught.value.problems[0].source == str(study.parent / "C1" / "b.wav")
    assert study_check(study, audio=False).audio is None
    done = run("study", "check", study)
    assert done.returncode == 2
    assert "2 problems; nothing was done" in done.stderr


def with_flac(study: Path, content: bytes) -> None:
    """Let all files be FLAC."""
    study.write_text(STUDY.replace(".wav", ".flac") + "material: clips.csv\n")
    (study.parent / "clips.csv").write_text("name,seconds\n" + "".join(f"{i},0.5\n" for i in ITEMS))
    for system in SYSTEMS:
        for item in ITEMS:
            (study.parent / system / f"{item}.flac").write_bytes(content)


def test_files_of_other_formats_must_be_readable_too(study: Path) -> None:
    with_flac(study, b"fLaC, but not really")
    with pytest.raises(InputError, match="cannot be read") as caught:
        study_check(study)
    assert caught.value.count == 12


def test_without_the_library_for_other_formats_the_plan_is_shown_with_a_note(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise MissingExtra("soundfile", "audio", "reading audio")

    monkeypatch.setattr(audio_checks, "sound_library", missing)
    assert len(checked(study).sounds) == 12  # WAV files need no library
    with_flac(study, b"fLaC")
    with pytest.warns(EarwitnessWarning, match="audio files were not checked: .* needs soundfile"):
        assert study_check(study).audio is None


# --- Notes ---------------------------------------------------------------------------------------


def test_good_material_has_no_notes(study: Path) -> None:
    audio = checked(study)
    assert audio.notes == ()
    assert len(audio.sounds) == 12
    assert "No problems were found." in study_render(study_check(study))


def longer(frames: int) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        for item in "ab":
            write(folder / "C1" / f"{item}.wav", noise(90 + ord(item), 0.5 + frames / RATE))

    return change


def low_rate(folder: Path) -> None:
    for item in ITEMS:
        write(folder / "C2" / f"{item}.wav", noise(50 + ord(item), rate=8000), 8000)


def stereo(folder: Path) -> None:
    write(folder / "C0" / "d.wav", np.stack([noise(1, lufs=-33), noise(2, lufs=-33)], 1))


def loud(lufs: float) -> Callable[[Path], None]:
    return lambda folder: write(folder / "C2" / "c.wav", noise(99, lufs=lufs))


def loud_clip(folder: Path) -> None:
    for number, system in enumerate(SYSTEMS):
        write(folder / system / "c.wav", noise(99 + number, lufs=-27))


def clipped(folder: Path) -> None:
    for item, runs in (("a", 1), ("b", 12)):
        samples = noise(70 + runs, lufs=-30)
        for run_ in range(runs):
            samples[100 * run_ : 100 * run_ + 3] = 1
        write(folder / "C1" / f"{item}.wav", samples * (FULL_SCALE / samples.max()))


def same_systems(folder: Path) -> None:
    for item in ITEMS:
        (folder / "C2" / f"{item}.wav").write_bytes((folder / "C1" / f"{item}.wav").read_bytes())


def same_clips(folder: Path) -> None:
    for system in SYSTEMS:
        (folder / system / "d.wav").write_bytes((folder / system / "a.wav").read_bytes())


def same_elsewhere(folder: Path) -> None:
    (folder / "C2" / "d.wav").write_bytes((folder / "C0" / "a.wav").read_bytes())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (longer(1), []),
        (longer(2), ["lengths differ: C1 in 2 of 4 clips, at most 0.000125 s longer"]),
        (longer(-800), ["lengths differ: C1 in 2 of 4 clips, at most 0.05 s shorter than other"]),
        (longer(-2400), ["--length pad --tolerance 0.2 if it is the right file"]),
        (
            low_rate,
            ["sampling rates differ: 16 kHz (8 files of C0 and C1); 8 kHz (4 files of C2) — use"],
        ),
        (
            stereo,
            ["numbers of channels differ: mono (11 files of C0, C1 and C2); stereo (1 file of C0)"],
        ),
        (loud(-29.1), []),
        (
            loud(-28.8),
            [
                "loudness differs by more than 1 LU between the conditions of 1 of 4 clips, at "
                "most 1.2 LU (c: C"
            ],
        ),
        (loud_clip, ["loudness differs by 3.0 LU between clips (", "c −27.0 LUFS) — use"]),
        (
            clipped,
            [
                "clipping: 2 of 4 files of C1 reach full scale for 3 samples or more (b 12 times, "
                "a 1 time) — create",
            ],
        ),
        (same_systems, ["identical audio: C1 and C2 in 4 of 4 clips (a, b, c and 1 more) — was"]),
        (same_clips, ["identical audio under different names: a and d (C0, C1 and C2) — keep"]),
        (same_elsewhere, ["identical audio under different names: a and d (C0 and C2) — keep"]),
    ],
)
def test_what_weakens_a_study_is_noted_once(
    study: Path, change: Callable[[Path], None], told: list[str]
) -> None:
    change(study.parent)
    found = notes(study)
    told_notes = [note for note in found if not note.startswith("loudness") or "loud" in str(told)]
    assert len(told_notes) == bool(told), found
    assert all(text in told_notes[0] for text in told), found


def test_anchors_may_differ_in_length_and_loudness_but_not_in_format(study: Path) -> None:
    study.write_text(STUDY + "anchors: ref\n")
    write(study.parent / "ref" / "i01_f1.wav", noise(1, 0.7, -20))
    write(study.parent / "ref" / "i02_f1.wav", noise(2, 0.6, -35))
    audio = checked(study)
    assert audio.notes == ()
    assert audio.unlevelled == {"ref"}
    assert "Loudness is not compared for anchors: ref." in study_render(study_check(study))
    write(study.parent / "ref" / "i02_f1.wav", noise(2, 0.6, -35, 8000), 8000)
    [note] = notes(study)
    assert note.startswith("sampling rates differ: 16 kHz (13 files of C0, C1, C2 and ref); 8 kHz")


@pytest.mark.parametrize(("lufs", "how"), [(-27.5, "louder"), (-32.5, "softer")])
def test_anchors_at_another_level_than_the_clips_are_noted(
    study: Path, lufs: float, how: str
) -> None:
    study.write_text(STUDY + "anchors: ref\n")
    for number in (1, 2):
        write(study.parent / "ref" / f"i0{number}.wav", noise(number, 1.0, lufs + number / 2))
    [note] = notes(study)
    assert f"all anchors are {how} than the clips (ref −" in note
    assert "clips −30.0 LUFS on average)" in note


def test_low_pass_anchors_of_mushra_may_be_softer_than_the_systems(study: Path) -> None:
    text = STUDY.replace("acr", "mushra").replace("systems: [C0, C1, C2]", "systems: [C0, C1]")
    study.write_text(text + "reference: C2\n")
    for number, name in enumerate(("anchor35", "anchor70")):
        for place, item in enumerate(ITEMS):
            write(study.parent / name / f"{item}.wav", noise(40 + 10 * number + place, lufs=-33))
    assert notes(study) == []
    write(study.parent / "C2" / "a.wav", noise(3, lufs=-33))  # the reference must be as loud
    assert "LUFS" in " ".join(notes(study))


@pytest.mark.parametrize(
    ("rate", "highest", "lost"),
    [(16_000, 8_000, 28), (48_000, 7_000, 46), (48_000, 24_000, 0)],
    ids=["rate", "content", "enough"],
)
def test_anchors_that_hardly_differ_from_the_reference_are_noted(
    tmp_path: Path, rate: int, highest: int, lost: int
) -> None:
    text = STUDY.replace("acr", "mushra").replace("systems: [C0, C1, C2]", "systems: [C0, C1]")
    (tmp_path / "study.yaml").write_text(text + "reference: C2\n")
    for place, item in enumerate(ITEMS):
        speech = low_pass(noise(place, lufs=-30, rate=rate), rate, 2_000)  # like vowels
        hiss = noise(4 + place, lufs=-52, rate=rate)
        hiss = low_pass(hiss, rate, highest) if 2 * highest < rate else hiss
        for system, gain in (("C0", 0.9), ("C1", 0.8), ("C2", 1)):
            write(tmp_path / system / f"{item}.wav", gain * (speech + hiss), rate)
    message = (
        r"anchor70 hardly differs from the reference in 4 of 4 clips: what it lacks is (\d+) dB "
        rf"below the reference \(\w, {rate // 1000} kHz\) — leave anchor70 out of anchors, or use "
        "references with more bandwidth"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study_anchors(tmp_path / "study.yaml")
    noted = [note for note in notes(tmp_path / "study.yaml") if "anchor" in note]
    assert noted == [str(one.message) for one in caught]
    assert len(noted) == bool(lost)
    for note in noted:
        found = re.fullmatch(message, note)
        assert found, note
        assert int(found[1]) == pytest.approx(lost, abs=3)


def test_notes_are_in_the_report_and_beside_a_file(study: Path, tmp_path: Path) -> None:
    same_systems(study.parent)
    shown = run("study", "check", study, width=100)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.count("identical audio: C1 and C2 in 4 of 4 clips") == 1
    assert "  C1          4         16 kHz      mono           0.5" in shown.stdout
    assert shown.stderr == f"preview: earwitness serve {study} --preview\n"
    page = run("study", "check", study, "-o", tmp_path / "plan.html")
    assert page.returncode == 0, page.stderr
    assert page.stderr.startswith(f"wrote {tmp_path / 'plan.html'}\nnote: identical audio: C1 and")
    assert "identical audio: C1 and C2" in (tmp_path / "plan.html").read_text()
    without = run("study", "check", study, "--no-audio").stdout
    assert "audio files" not in without
