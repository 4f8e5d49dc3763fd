"""Conditions of a clip stay equally loud below the true-peak limit, and nothing is lost."""

from __future__ import annotations

import csv
import hashlib
import math
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from earwitness.audio.loudness import measure_loudness, measure_speech_level, measure_true_peak
from earwitness.audio.wav import FLOAT_TAG, Form, complete_riff
from earwitness.errors import InputError, UsageError
from earwitness.material import normalize
from earwitness.material.normalize import audio_normalize

Floats = NDArray[np.float64]
RATE = 16_000


def noise(seconds: float = 0.8, level: float = 0.05, channels: int = 1, seed: int = 0) -> Floats:
    samples = np.random.default_rng(seed).normal(0, level, (round(seconds * RATE), channels))
    return samples.clip(-1, 1)


def write(folder: Path, sounds: dict[str, Floats], rate: int = RATE) -> Path:
    """A folder of files with exact samples."""
    for name, samples in sounds.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(folder / name, samples, rate, subtype="FLOAT", format="WAV")
    return folder


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "levels.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- Levels and peaks ----------------------------------------------------------------------------


def test_files_reach_the_target_and_the_report_describes_them(tmp_path: Path) -> None:
    sounds = {
        f"C{n}/été {k}.wav": noise(level=0.02 * (n + 1), seed=k) for n in (0, 1) for k in (1,)
    }
    source = write(tmp_path / "data", sounds)
    before = {path: path.read_bytes() for path in source.rglob("*.wav")}
    material = audio_normalize(source, tmp_path / "out")
    rows = table(tmp_path / "out")
    assert [(row["item"], row["system"]) for row in rows] == [("été 1", "C0"), ("été 1", "C1")]
    for row, own in zip(rows, material.files, strict=True):
        path = tmp_path / "out" / row["file"]
        samples, rate = soundfile.read(path)
        assert measure_loudness(samples, rate) == pytest.approx(-30, abs=0.005)
        assert own.level_after == pytest.approx(measure_loudness(samples, rate), abs=1e-9)
        assert own.peak_after == pytest.approx(measure_true_peak(samples, rate), abs=1e-9)
        assert row["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert float(row["gain"]) == pytest.approx(-30 - float(row["level_before"]), abs=2e-4)
        assert soundfile.info(path).subtype == "PCM_16"
        assert (row["note"], row["back_off"], row["seconds"]) == ("", "0.0000", "0.8000")
    assert {path: path.read_bytes() for path in source.rglob("*.wav")} == before


def test_all_conditions_of_a_clip_back_off_together(tmp_path: Path) -> None:
    click = noise(level=0.01, seed=1)
    click[5_000] = 0.9
    sounds = {"C0/a.wav": noise(), "C1/a.wav": click, "C0/b.wav": noise(), "C1/b.wav": noise()}
    source = write(tmp_path / "data", sounds)
    material = audio_normalize(source, tmp_path / "out", target=-20, peak=-3)
    rows = {(row.item, row.system): row for row in material.files}
    reduced = rows["a", "C1"]
    assert reduced.back_off > 5
    assert reduced.peak_after == pytest.approx(-3, abs=0.01)
    assert rows["a", "C0"].back_off == reduced.back_off
    for system in ("C0", "C1"):
        assert rows["a", system].level_after == pytest.approx(-20 - reduced.back_off, abs=0.01)
        assert rows["b", system].level_after == pytest.approx(-20, abs=0.01)
    assert (rows["b", "C0"].back_off, "reduced by" in rows["a", "C0"].note) == (0, True)
    assert "1 of 2, by up to" in material.summary()[1]


def test_full_scale_is_reached_without_clipping(tmp_path: Path) -> None:
    clicks = noise(level=1e-4)
    clicks[[2_000, 9_000], 0] = 0.5, -0.5
    source = write(tmp_path / "data", {"a.wav": clicks})
    for bits in (16, 24):
        audio_normalize(source, tmp_path / f"{bits}", target=0, peak=0, bits=bits)
        samples, _ = soundfile.read(tmp_path / f"{bits}" / "a.wav", dtype="int32")
        highest = 2**31 - 2 ** (32 - bits)
        assert samples[[2_000, 9_000]].tolist() == [highest, -(2**31)]
    beyond = np.array([[1.0000005], [-1.0000005]])  # by the rounding of a gain
    stored, values = normalize._quantize(beyond, 24)
    assert stored == b"\xff\xff\x7f" + b"\x00\x00\x80"
    assert values.tolist() == [[1 - 2.0**-23], [-1.0]]


def test_clipping_in_a_source_is_noted_since_its_level_then_hides_it(tmp_path: Path) -> None:
    loud = np.clip(noise(level=0.5) * 2, -1, 1)
    material = audio_normalize(write(tmp_path / "data", {"a.wav": loud}), tmp_path / "out")
    assert "the source is clipped: " in material.files[0].note
    assert material.summary()[-1] == "files of clipped sources: 1"


def test_active_speech_level_is_an_alternative(tmp_path: Path) -> None:
    speech = np.concatenate([noise(1), np.zeros((2 * RATE, 1)), noise(1)])
    source = write(tmp_path / "data", {"a.wav": speech})
    material = audio_normalize(source, tmp_path / "out", target=-26, measure="active")
    samples, rate = soundfile.read(tmp_path / "out" / "a.wav")
    assert measure_speech_level(samples, rate).level == pytest.approx(-26, abs=0.01)
    assert material.files[0].level_after == pytest.approx(-26, abs=0.01)
    assert material.summary()[0] == "1 file at -26 dBov, true peak at most -1 dBTP"


def test_silence_and_short_clips_are_named(tmp_path: Path) -> None:
    sounds = {"a.wav": np.zeros((RATE, 1)), "b.wav": noise(0.39), "c.wav": noise()}
    material = audio_normalize(write(tmp_path / "data", sounds), tmp_path / "out")
    silent, short, normal = material.files
    assert (silent.gain, silent.note, math.isnan(silent.level_after)) == (
        0,
        "silent: no gain to the target",
        True,
    )
    assert table(tmp_path / "out")[0]["level_before"] == ""
    assert short.note == "below 0.4 s: one block without a gate"
    assert short.level_after == pytest.approx(-30, abs=0.01)
    assert normal.note == ""
    assert material.summary()[2:] == [
        "silent files: 1",
        "files below 0.4 s: 1",
        "files of clipped sources: 0",
    ]
    assert any("there is no gain to the target: a.wav" in note for note in material.notes)


def test_a_silent_condition_is_reduced_with_its_clip(tmp_path: Path) -> None:
    click = noise(level=0.01)
    click[5_000] = 0.9
    source = write(tmp_path / "data", {"C0/a.wav": click, "C1/a.wav": np.zeros(click.shape)})
    material = audio_normalize(source, tmp_path / "out", target=-20)
    silent = material.files[1]
    reduced = f"reduced by {silent.back_off:.2f} dB with all conditions of the clip"
    assert silent.note == f"silent: no gain to the target; {reduced}"
    assert (silent.gain, silent.back_off > 0) == (-silent.back_off, True)


def test_reference_conditions_of_a_talker_back_off_together(tmp_path: Path) -> None:
    click = noise(level=0.01)
    click[5_000] = 0.9
    source = write(tmp_path / "ref", {"i01_f1.wav": noise(), "i02_f1.wav": click})
    clean, noisy = audio_normalize(source, tmp_path / "out", target=-20).files
    assert clean.back_off == noisy.back_off > 0
    assert (noisy.item, noisy.system, noisy.file) == ("f1", "i02", "i02_f1.wav")


# --- Lengths, channels and sample rates ----------------------------------------------------------


@pytest.mark.parametrize(("length", "seconds"), [("pad", 0.8), ("trim", 0.75)])
def test_conditions_get_the_same_length(tmp_path: Path, length: Any, seconds: float) -> None:
    loud_end = noise()
    loud_end[12_100:] *= 8
    sounds = {"C0/a.wav": loud_end, "C1/a.wav": noise()[:12_000]}
    material = audio_normalize(write(tmp_path / "data", sounds), tmp_path / "out", fit=length)
    for row in material.files:
        samples, rate = soundfile.read(tmp_path / "out" / row.file)
        assert len(samples) == seconds * rate
        assert measure_loudness(samples, rate) == pytest.approx(-30, abs=0.005)
    padded = length == "pad"
    verb = "padded" if padded else "trimmed"
    assert material.files[padded].note == f"{verb} by 0.0500 s"
    assert material.files[not padded].note == ""


def test_lengths_are_kept_with_a_note_and_large_differences_are_errors(tmp_path: Path) -> None:
    sounds = {
        "C0/a.wav": noise(),
        "C1/a.wav": noise(0.75),
        "C0/b.wav": noise(),
        "C1/b.wav": noise(),
    }
    source = write(tmp_path / "data", sounds)
    material = audio_normalize(source, tmp_path / "kept")
    assert [row.seconds for row in material.files] == [0.8, 0.75, 0.8, 0.8]
    assert "different lengths in 1 of 2 clips" in material.notes[0]
    with pytest.raises(
        InputError, match=r"a.wav: 0.750 s, but C0 has 0.800 s — check that"
    ) as error:
        audio_normalize(source, tmp_path / "out", fit="pad", tolerance=0.01)
    assert error.value.count == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "kept"]


def test_channels_are_kept_mixed_or_doubled(tmp_path: Path) -> None:
    mono, stereo = noise(), noise(channels=2)
    source = write(tmp_path / "data", {"C0/a.wav": mono, "C1/a.wav": stereo})
    with pytest.raises(InputError, match="2 channels, but C0 has 1 — set --channels"):
        audio_normalize(source, tmp_path / "out")
    material = audio_normalize(source, tmp_path / "mono", channels="mono", bits="float")
    mixed, _ = soundfile.read(tmp_path / "mono" / "C1/a.wav")
    factor = 10 ** (material.files[1].gain / 20)
    assert mixed == pytest.approx(stereo.astype(np.float32).mean(axis=1) * factor, abs=1e-7)
    material = audio_normalize(source, tmp_path / "stereo", channels="stereo", bits="float")
    doubled, _ = soundfile.read(tmp_path / "stereo" / "C0/a.wav")
    assert (doubled[:, 0] == doubled[:, 1]).all()
    assert material.files[0].note == "channels changed from 1 to 2"
    surround = write(tmp_path / "more", {"a.wav": noise(channels=6)})
    with pytest.raises(InputError, match="6 channels cannot become stereo"):
        audio_normalize(surround, tmp_path / "out", channels="stereo")


def test_rates_are_kept_or_converted_by_soxr(tmp_path: Path) -> None:
    soxr = import_module("soxr")
    source = write(tmp_path / "data", {"C0/a.wav": noise(channels=2)})
    write(source, {"C1/a.wav": np.repeat(noise(channels=2), 2, axis=0)}, 2 * RATE)
    with pytest.raises(InputError, match="32,000 Hz, but C0 has 16,000 Hz — set --rate"):
        audio_normalize(source, tmp_path / "out")
    material = audio_normalize(source, tmp_path / "out", rate=44_100, bits="float")
    for row, rate in zip(material.files, (RATE, 2 * RATE), strict=True):
        samples, _ = soundfile.read(source / row.system / "a.wav")
        expected = soxr.resample(samples, rate, 44_100, "VHQ") * 10 ** (row.gain / 20)
        written, rate_written = soundfile.read(tmp_path / "out" / row.file)
        assert (rate_written, written.shape) == (44_100, expected.shape)
        assert written == pytest.approx(expected, abs=1e-6)
        assert row.note == f"resampled from {rate} Hz"


def test_files_do_not_depend_on_the_pieces_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sounds = {"C0/a.wav": noise(channels=2), "C1/a.wav": noise(0.77, 0.2, 2)}
    source = write(tmp_path / "data", sounds)
    options: dict[str, Any] = {"rate": 24_000, "fit": "pad", "bits": 24, "target": -3}
    whole = audio_normalize(source, tmp_path / "whole", **options)
    monkeypatch.setattr(normalize, "PIECE_SECONDS", 0.013)
    pieces = audio_normalize(source, tmp_path / "pieces", **options)
    assert [row.sha256 for row in pieces.files] == [row.sha256 for row in whole.files]
    assert whole.files[0].back_off > 0


# --- Sample formats ------------------------------------------------------------------------------


def test_bit_depths_are_written_exactly(tmp_path: Path) -> None:
    source = write(tmp_path / "data", {"a.wav": noise(0.81234)})
    samples, _ = soundfile.read(source / "a.wav")
    for bits, subtype in ((16, "PCM_16"), (24, "PCM_24"), ("float", "FLOAT")):
        folder = tmp_path / str(bits)
        (row,) = audio_normalize(source, folder, bits=bits).files
        written, _ = soundfile.read(folder / "a.wav")
        error = np.abs(written - samples * 10 ** (row.gain / 20)).max()
        assert error < 1e-7 if bits == "float" else error <= 0.51 * 2.0 ** (1 - int(bits))
        assert soundfile.info(folder / "a.wav").subtype == subtype
        assert (folder / "a.wav").stat().st_size % 2 == 0


def test_files_above_4_gib_have_a_header_with_long_sizes(tmp_path: Path) -> None:
    form = Form(FLOAT_TAG, 32, 2, 48_000)
    for frames in (1_000, 2**30):
        start = normalize._wav_start(form, frames)
        with (tmp_path / "a.wav").open("wb") as file:
            file.write(start)
            file.truncate(len(start) + 8 * frames)  # a sparse file
        assert complete_riff(tmp_path / "a.wav").real == 8 * frames
        assert start[:4] == (b"RIFF" if frames == 1_000 else b"RF64")


# --- Invalid input -------------------------------------------------------------------------------


def test_invalid_files_are_listed_or_skipped_with_their_clips(tmp_path: Path) -> None:
    broken = noise()
    broken[7] = np.nan
    sounds = {"C0/a.wav": noise(), "C1/a.wav": noise(), "C0/b.wav": noise(), "C1/b.wav": broken}
    source = write(tmp_path / "data", sounds | {"C0/c.wav": noise(), "C0/d.wav": noise()})
    (source / "C1" / "d.wav").write_bytes(b"RIFF")
    with pytest.raises(InputError, match=r"C1/d\.wav: .*") as error:
        audio_normalize(source, tmp_path / "out")
    assert {problem.item for problem in error.value.problems} == {"c", "d"}
    assert "missing in C1" in str(error.value)
    material = audio_normalize(source, tmp_path / "out", on_error="skip")
    assert {row.item for row in material.files} == {"a"}
    assert {problem.item for problem in material.skipped} == {"b", "c", "d"}
    assert "has samples that are not numbers" in str(material.skipped[-1])
    assert {path.name for path in (tmp_path / "out").rglob("*.wav")} == {"a.wav"}


def test_a_file_that_ends_early_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    soundfile.write(tmp_path / "data" / "a.mp3", noise(2), RATE)
    content = (tmp_path / "data" / "a.mp3").read_bytes()
    (tmp_path / "data" / "a.mp3").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="earlier than its header says"):
        audio_normalize(tmp_path / "data", tmp_path / "out")


def test_after_an_error_nothing_remains(tmp_path: Path) -> None:
    broken = noise()
    broken[-1] = np.inf
    source = write(tmp_path / "data", {"a.wav": noise(), "b.wav": broken})
    with pytest.raises(InputError, match=r"b\.wav: has samples that are not numbers"):
        audio_normalize(source, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 3}, "target must be from -70 to 0 LUFS, got 3"),
        ({"target": math.nan}, "target must be"),
        ({"peak": 0.1}, "peak must be from -70 to 0 dBTP, got 0.1"),
        ({"peak": -math.inf}, "peak must be from -70 to 0 dBTP, got -inf"),
        ({"rate": 100}, "rate must be from 4,000 to 384,000 Hz, got 100"),
        ({"bits": 8}, "bits must be one of 16, 24, float, got 8"),
        ({"measure": "rms"}, "measure must be one of lufs, active, got 'rms'"),
        ({"tolerance": -1}, "tolerance must be 0 s or more"),
        ({"on_error": "empty"}, "on_error must be one of fail, skip"),
        ({"jobs": 0}, "jobs must be 1 or more"),
    ],
)
def test_invalid_options_are_refused(tmp_path: Path, options: Any, message: str) -> None:
    source = write(tmp_path / "data", {"a.wav": noise()})
    with pytest.raises(UsageError, match=message):
        audio_normalize(source, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_sources_are_never_replaced(tmp_path: Path) -> None:
    source = write(tmp_path / "data", {"C0/a.wav": noise()})
    (tmp_path / "link").symlink_to(source)
    for output in (source, tmp_path / "link"):
        with pytest.raises(UsageError, match="already exists"):
            audio_normalize(source, output)
    with pytest.raises(UsageError, match="is inside the source folder"):
        audio_normalize(source, tmp_path / "link" / "out")
