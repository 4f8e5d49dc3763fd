"""Reference conditions as files: measured again from what was written."""

from __future__ import annotations

import csv
import hashlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from earwitness.audio.conditions import P835_CONDITIONS, measure_si_sdr, measure_snr_a
from earwitness.audio.loudness import measure_speech_level
from earwitness.audio.read import MonoSound, read_mono
from earwitness.errors import EarwitnessError, InputError, UsageError
from earwitness.material import reference_conditions
from earwitness.material.reference_conditions import (
    ReferenceConditions,
    audio_conditions,
)
from earwitness.studies.prepare import write_anchor
from helpers.flite import speak_chapters

Floats = NDArray[np.float64]
RATE = 16_000
VOICES = {"f1": "slt", "m1": "rms"}


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    for name, voice in VOICES.items():
        spoken = speak_chapters([["The birch canoe slid on the planks."]], voice)
        soundfile.write(folder / f"{name}.wav", spoken.samples // 2, RATE)
    return folder


@pytest.fixture(scope="module")
def made(clips: Path) -> tuple[Path, ReferenceConditions]:
    return clips.parent / "made", audio_conditions([clips], clips.parent / "made")


def read(path: Path) -> Floats:
    samples, rate = soundfile.read(path)
    assert rate == RATE
    return np.asarray(samples)


def files_in(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


# --- P.835 ---------------------------------------------------------------------------------------


def test_twelve_conditions_of_each_talker_are_named_like_those_of_udase(
    made: tuple[Path, ReferenceConditions],
) -> None:
    folder, found = made
    names = [f"ref/i{n:02}_{talker}.wav" for n in range(1, 13) for talker in ("f1", "m1")]
    assert [file.file for file in found.files] == names
    assert [*files_in(folder)] == ["conditions.csv", *names]
    assert found.notes == ()


def test_the_clean_condition_has_the_samples_of_its_clip(
    made: tuple[Path, ReferenceConditions], clips: Path
) -> None:
    for talker in VOICES:
        clean = soundfile.read(made[0] / f"ref/i01_{talker}.wav", dtype="int16")[0]
        np.testing.assert_array_equal(
            clean, soundfile.read(clips / f"{talker}.wav", dtype="int16")[0]
        )


@pytest.mark.parametrize("talker", VOICES)
def test_files_have_the_snr_of_their_condition(
    made: tuple[Path, ReferenceConditions], talker: str
) -> None:
    speech_of = dict.fromkeys(("i02", "i03", "i04", "i05"), "i01")
    speech_of |= {"i10": "i08", "i11": "i07", "i12": "i06"}
    activity = measure_speech_level(read(made[0] / f"ref/i01_{talker}.wav"), RATE).activity
    for name, speech_name in speech_of.items():
        speech = read(made[0] / f"ref/{speech_name}_{talker}.wav")
        noise = read(made[0] / f"ref/{name}_{talker}.wav") - speech
        wanted = P835_CONDITIONS[name].snr_a
        assert measure_snr_a(speech, noise, RATE, activity) == pytest.approx(wanted, abs=0.05)


@pytest.mark.parametrize("talker", VOICES)
def test_distortion_goes_from_strongest_to_mildest(
    made: tuple[Path, ReferenceConditions], talker: str
) -> None:
    clean = read(made[0] / f"ref/i01_{talker}.wav")
    ratios = [
        measure_si_sdr(clean, read(made[0] / f"ref/i{n:02}_{talker}.wav")) for n in range(6, 10)
    ]
    assert all(b - a > 3 for a, b in pairwise(ratios))
    told = {file.file: file.si_sdr for file in made[1].files}
    assert [told[f"ref/i{n:02}_{talker}.wav"] for n in range(6, 10)] == pytest.approx(
        ratios, abs=0.1
    )


def test_the_table_has_measured_values_and_hashes(made: tuple[Path, ReferenceConditions]) -> None:
    rows = list(csv.DictReader((made[0] / "conditions.csv").read_text().splitlines()))
    assert [*rows[0]] == [
        *("file", "condition", "talker", "distortion", "snr_a", "snr_a_measured", "si_sdr"),
        *("gain_db", "peak_db", "sha256"),
    ]
    row = next(row for row in rows if row["file"] == "ref/i11_m1.wav")
    assert (row["distortion"], row["snr_a"], row["snr_a_measured"]) == ("2", "12.00", "12.00")
    for row in rows:
        path = made[0] / row["file"]
        assert row["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        peak = np.abs(read(path)).max()
        assert float(row["peak_db"]) == pytest.approx(20 * np.log10(peak), abs=0.006)


def test_the_same_seed_gives_the_same_files(
    made: tuple[Path, ReferenceConditions], clips: Path, tmp_path: Path
) -> None:
    audio_conditions({"f1": clips / "f1.wav", "m1": clips / "m1.wav"}, tmp_path / "a")
    assert files_in(tmp_path / "a") == files_in(made[0])
    audio_conditions([clips], tmp_path / "b", seed=2)
    assert files_in(tmp_path / "b")["ref/i02_f1.wav"] != files_in(made[0])["ref/i02_f1.wav"]
    assert files_in(tmp_path / "b")["ref/i01_f1.wav"] == files_in(made[0])["ref/i01_f1.wav"]


def test_all_conditions_of_a_loud_clip_are_reduced_together(clips: Path, tmp_path: Path) -> None:
    loud = read(clips / "f1.wav")
    loud *= 0.999 / np.abs(loud).max()
    soundfile.write(tmp_path / "f1.wav", loud, RATE, subtype="PCM_24")
    found = audio_conditions([tmp_path / "f1.wav", clips / "m1.wav"], tmp_path / "out")
    gains = {(file.talker, file.gain_db) for file in found.files}
    [(_, gain), (_, other)] = sorted(gains)
    assert other == 0
    assert gain < -0.5
    assert found.notes == (f"f1: all conditions reduced by {-gain:.1f} dB, since one would clip",)
    assert max(file.peak_db for file in found.files if file.talker == "f1") == pytest.approx(
        -1, abs=0.01
    )
    clean = read(tmp_path / "out/ref/i01_f1.wav")
    np.testing.assert_allclose(clean, loud * 10 ** (gain / 20), atol=2**-22)
    assert soundfile.info(tmp_path / "out/ref/i01_f1.wav").subtype == "PCM_24"


def test_a_given_noise_is_resampled_and_mixed(clips: Path, tmp_path: Path) -> None:
    time = np.arange(3 * 48_000) / 48_000
    soundfile.write(tmp_path / "hum.wav", 0.1 * np.sin(2 * np.pi * 1000 * time), 48_000)
    audio_conditions([clips], tmp_path / "out", noise=tmp_path / "hum.wav")
    noise = read(tmp_path / "out/ref/i03_m1.wav") - read(tmp_path / "out/ref/i01_m1.wav")
    powers = np.abs(np.fft.rfft(noise * np.hanning(len(noise)))) ** 2
    hertz = np.fft.rfftfreq(len(noise), 1 / RATE)
    assert powers[np.abs(hertz - 1000) < 20].sum() > 0.99 * powers.sum()


def test_a_given_noise_is_read_once(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_files = list[Path]()

    def read_counted(path: Path) -> MonoSound:
        read_files.append(path)
        return read_mono(path)

    monkeypatch.setattr(reference_conditions, "read_mono", read_counted)
    audio_conditions([clips], tmp_path / "out", noise=clips / "f1.wav", kind="p835")
    assert read_files.count(clips / "f1.wav") == 3  # as a clip that is measured and processed


def test_a_noise_with_silent_passages_or_without_numbers_is_refused(
    clips: Path, tmp_path: Path
) -> None:
    hiss = 0.1 * np.random.default_rng(0).standard_normal(RATE)
    for name, noise, told in (
        ("gap.wav", np.concatenate([hiss, np.zeros(600 * RATE)]), r"gap.wav: is silent .* for \d"),
        ("nan.wav", np.where(hiss > 0.3, np.nan, hiss), "nan.wav: has samples that are not num"),
    ):
        soundfile.write(tmp_path / name, noise, RATE, subtype="FLOAT")
        with pytest.raises(EarwitnessError, match=told):
            audio_conditions([clips], tmp_path / "out", noise=tmp_path / name)
        assert not (tmp_path / "out").exists()


def test_channels_are_mixed_and_told(clips: Path, tmp_path: Path) -> None:
    speech = read(clips / "f1.wav")
    soundfile.write(tmp_path / "Zoë 1.flac", np.stack([speech, 0 * speech], axis=1), RATE)
    found = audio_conditions([tmp_path / "Zoë 1.flac"], tmp_path / "out")
    assert found.notes == (f"{tmp_path / 'Zoë 1.flac'}: 2 channels were mixed to one",)
    np.testing.assert_allclose(read(tmp_path / "out/ref/i01_Zoë 1.wav"), speech / 2, atol=2**-15)


def test_a_clip_that_is_not_clean_is_told(clips: Path, tmp_path: Path) -> None:
    speech = np.concatenate([np.zeros(RATE // 2), read(clips / "f1.wav")])
    hiss = np.random.default_rng(0).standard_normal(len(speech))
    hiss *= 10 ** ((measure_speech_level(speech, RATE).level - 30) / 20)
    soundfile.write(tmp_path / "f1.wav", speech + hiss, RATE)
    found = audio_conditions([tmp_path / "f1.wav"], tmp_path / "out")
    assert "f1.wav: the quietest parts are only 30 dB below the speech" in found.notes[0]


def test_all_problems_of_clips_are_told_at_once(clips: Path, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "silent.wav", np.zeros(2 * RATE), RATE)
    soundfile.write(tmp_path / "short.wav", read(clips / "f1.wav")[: RATE // 2], RATE)
    soundfile.write(tmp_path / "slow.wav", read(clips / "f1.wav"), 8_000)
    (tmp_path / "broken.wav").write_bytes(b"RIFF")
    (tmp_path / "noise.wav").write_bytes(b"")
    with pytest.raises(InputError) as error:
        audio_conditions(
            [clips, *sorted(tmp_path.glob("[bs]*.wav"))],
            tmp_path / "out",
            noise=tmp_path / "noise.wav",
        )
    told = str(error.value)
    for expected in (
        "silent.wav: is silent",
        "short.wav: lasts 0.50 s, but must last at least 1 s",
        "slow.wav: the sampling rate is 8000 Hz, that of other clips 16000 Hz",
        "broken.wav: cannot be read",
        "noise.wav: is empty",
        "5 problems; nothing was written",
    ):
        assert expected in told
    assert not (tmp_path / "out").exists()


def test_missing_and_doubled_names_are_told_at_once(clips: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "F1.wav").write_bytes((clips / "f1.wav").read_bytes())
    with pytest.raises(InputError) as error:
        audio_conditions([clips, tmp_path / "other", tmp_path / "none.wav"], tmp_path / "out")
    assert 'F1.wav: the name "F1" is used twice — rename a file' in str(error.value)
    assert "none.wav: file does not exist" in str(error.value)
    with pytest.raises(InputError, match='the talker "f/1" cannot be part of a file name'):
        audio_conditions({"f/1": clips / "f1.wav"}, tmp_path / "out")
    with pytest.raises(InputError, match="cannot be part of a file name"):
        audio_conditions({"f\0": clips / "f1.wav"}, tmp_path / "out")


def test_a_folder_that_exists_is_refused_and_an_error_leaves_none(
    clips: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="already exists"):
        audio_conditions([clips], clips)
    with pytest.raises(UsageError, match="is inside the source folder"):
        audio_conditions(iter([clips]), clips / "out")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audio_conditions([clips], tmp_path / "out", kind="mnru", progress=stop)
    assert list(tmp_path.iterdir()) == []


# --- MUSHRA and MNRU -----------------------------------------------------------------------------


def test_mushra_anchors_are_those_of_study_anchors(clips: Path, tmp_path: Path) -> None:
    (tmp_path / "refs" / "deep").mkdir(parents=True)
    speech = read(clips / "f1.wav")
    stereo = np.stack([speech, -speech], axis=1)
    soundfile.write(tmp_path / "refs" / "deep" / "two.wav", stereo, 44_100)
    (tmp_path / "refs" / "f1.wav").write_bytes((clips / "f1.wav").read_bytes())
    audio_conditions([tmp_path / "refs"], tmp_path / "out", kind="mushra")
    for name, cutoff in (("anchor35", 3500), ("anchor70", 7000)):
        for clip in ("f1.wav", "deep/two.wav"):
            write_anchor(tmp_path / "refs" / clip, tmp_path / "plain" / name / clip, cutoff)
    written = files_in(tmp_path / "out")
    table = written.pop("conditions.csv").decode().splitlines()
    assert table[0] == "file,condition,clip,cutoff_hz,gain_db,peak_db,sha256"
    assert written == files_in(tmp_path / "plain")
    soundfile.write(tmp_path / "low.wav", speech, 8_000)
    with pytest.raises(InputError, match="of 8000 Hz is too low for a low-pass at 7000 Hz"):
        audio_conditions([tmp_path / "low.wav"], tmp_path / "more", kind="mushra")


def test_notes_on_anchors_depend_on_the_sample_format(tmp_path: Path) -> None:
    square = 0.999 * np.sign(np.sin(2 * np.pi * 500 * np.arange(RATE) / RATE + 0.1))
    for subtype in ("PCM_16", "FLOAT", "PCM_32", "DOUBLE"):
        soundfile.write(tmp_path / f"{subtype}.wav", square, RATE, subtype=subtype)
    found = audio_conditions(sorted(tmp_path.glob("*.wav")), tmp_path / "out", kind="mushra")
    what = "anchors that exceed full scale after filtering were"
    assert found.notes == (
        "32-bit clips are written with 16 bits: PCM_32",
        "64-bit float clips are written with 16 bits: DOUBLE",
        f"{what} limited to it: DOUBLE, PCM_16, PCM_32 — reduce the level of these clips",
        f"{what} not limited: FLOAT — reduce the level of these clips",
    )
    assert soundfile.read(tmp_path / "out/anchor35/FLOAT.wav")[0].max() > 1


def test_mnru_has_a_folder_per_q_also_in_processes(clips: Path, tmp_path: Path) -> None:
    found = audio_conditions([clips], tmp_path / "out", kind="mnru", q=[5, 12.5, 40])
    assert {file.file.split("/")[0] for file in found.files} == {"q05", "q12.5", "q40"}
    gain = next(file.gain_db for file in found.files if file.talker == "m1")
    clean = read(clips / "m1.wav") * 10 ** (gain / 20)
    audio_conditions([clips], tmp_path / "again", kind="mnru", q=[5, 12.5, 40], jobs=2)
    assert files_in(tmp_path / "again") == files_in(tmp_path / "out")
    for q in (5, 12.5, 40):
        noisy = read(tmp_path / "out" / f"q{q:02g}" / "m1.wav")
        ratio = 10 * np.log10(np.mean(clean**2) / np.mean((noisy - clean) ** 2))
        assert ratio == pytest.approx(q, abs=0.05)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kind": "mnur"}, 'unknown kind of conditions "mnur" — did you mean "mnru"?'),
        ({"kind": "mnru", "q": [5, 99]}, "values of Q must be from 0 to 60 dB, got 99"),
        ({"kind": "mnru", "q": [5, 5.01]}, "values of Q must differ"),
        ({"kind": "mnru", "band": "middle"}, 'unknown band "middle"'),
        ({"kind": "mushra", "noise": "x.wav"}, "a noise applies to p835, not to mushra"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_wrong_options_are_refused(
    clips: Path, tmp_path: Path, options: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told.replace("?", r"\?")):
        audio_conditions([clips], tmp_path / "out", **options)  # type: ignore[arg-type]
