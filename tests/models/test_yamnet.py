"""YAMNet: the front end beside plain loops, and both kinds of files by a made-up interpreter."""

from __future__ import annotations

import cmath
import math
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError
from earwitness.models import yamnet
from earwitness.models.yamnet import PATCH_SAMPLES, YamNet, cut_patches, cut_sample_windows, log_mel
from helpers.samples import many

Floats = NDArray[np.float32]


def noise(seconds: float, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.1, round(16_000 * seconds)).astype(np.float32)


def plain_mel(hertz: float) -> float:
    return 2595 * math.log10(1 + hertz / 700)


def plain_frame(samples: Sequence[float]) -> list[float]:
    """The definition: one frame, bin by bin and band by band."""
    windowed = [
        x * (0.5 - 0.5 * math.cos(2 * math.pi * n / 400)) for n, x in enumerate(samples[:400])
    ]
    step = (plain_mel(7500) - plain_mel(125)) / 65
    sums = [0.0] * 64
    for bin_ in range(1, 257):
        at = -2j * math.pi * bin_ / 512
        size = abs(sum(x * cmath.exp(at * n) for n, x in enumerate(windowed)))
        place = (plain_mel(bin_ * 16_000 / 512) - plain_mel(125)) / step  # in steps from 125 Hz
        for band in range(64):
            sums[band] += size * max(0.0, 1 - abs(place - (band + 1)))
    return [math.log(total + 0.001) for total in sums]


def test_frames_are_those_of_the_definition() -> None:
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(800) / 16_000)
    for samples in (noise(0.05), tone.astype(np.float32), np.zeros(800, np.float32)):
        got = log_mel(samples)
        assert got.shape == (3, 64)
        for row in range(many(1, 3)):
            want = plain_frame(samples[row * 160 :].tolist())
            assert np.exp(got[row]) == pytest.approx(np.exp(want), rel=1e-4, abs=5e-6)


def test_patches_begin_every_48_frames_and_the_last_ends_with_the_sound() -> None:
    sound = noise(3)  # 298 frames: patches at 0, 48, 96, 144, 192, and 202, which is the last
    frames, got = log_mel(sound), cut_patches(sound)
    assert len(frames) == 298
    for patch, start in zip(got, (0, 48, 96, 144, 192, 202), strict=True):
        assert np.array_equal(patch, frames[start : start + 96])


def test_windows_are_the_samples_of_the_patches() -> None:
    sound = noise(2.5)
    found = np.stack([log_mel(window) for window in cut_sample_windows(sound)])
    assert found == pytest.approx(cut_patches(sound), abs=1e-5)


@pytest.mark.parametrize("size", [0, 1, 399, PATCH_SAMPLES - 1])
def test_sound_shorter_than_a_patch_is_filled_with_zeros(size: int) -> None:
    sound = noise(1)[:size]
    whole = np.concatenate([sound, np.zeros(PATCH_SAMPLES - size, np.float32)])
    assert np.array_equal(cut_patches(sound), cut_patches(whole))
    assert cut_sample_windows(sound).shape == (1, PATCH_SAMPLES)


class Fake:
    """An interpreter that gives easy functions of what it took."""

    def __init__(
        self, given: Sequence[int], outputs: Sequence[int], kind: Any = np.float32
    ) -> None:
        self.given, self.kind = list(given), kind
        self.outputs = [np.zeros((1, width), np.float32) for width in outputs]
        self.ready = False

    def get_input_details(self) -> list[dict[str, Any]]:
        shape = [max(1, size) for size in self.given]
        return [{"index": 7, "shape": shape, "shape_signature": self.given, "dtype": self.kind}]

    def get_output_details(self) -> list[dict[str, Any]]:
        return [
            {"index": 10 + n, "shape": one.shape, "dtype": np.float32}
            for n, one in enumerate(self.outputs)
        ]

    def resize_tensor_input(self, index: int, shape: list[int]) -> None:
        assert index == 7
        self.given = shape

    def allocate_tensors(self) -> None:
        self.ready = True

    def set_tensor(self, index: int, values: Floats) -> None:
        assert index == 7
        assert self.ready
        assert list(values.shape) == [max(1, size) for size in self.given]
        self.mean = float(values.mean())

    def invoke(self) -> None:
        for one in self.outputs:
            one[:] = 0
            one[0, :2] = self.mean, 1

    def get_tensor(self, index: int) -> Floats:
        return self.outputs[index - 10].copy()


def network(tmp_path: Path, fake: Fake) -> YamNet:
    path = tmp_path / "model.tflite"
    path.write_bytes(b"weights")
    return YamNet(path, lambda _: fake)


@pytest.mark.parametrize("shape", [(1, 96, 64), (96, 64), (-1, 96, 64), (1, 96, 64, 1)])
def test_a_file_that_takes_patches_gets_them(tmp_path: Path, shape: tuple[int, ...]) -> None:
    sound = noise(2)
    means = cut_patches(sound * 100).mean(axis=(1, 2))  # loud, or logarithms are negative
    vectors, classes, _ = network(tmp_path, Fake(shape, [521])).embed([sound * 100])
    assert classes is not None
    want = np.array([means.mean(), 1]) / np.hypot(means.mean(), 1)
    assert vectors.shape == classes.shape == (1, 521)
    assert vectors[0, :2] == pytest.approx(want, abs=1e-5)
    assert classes[0, :2] == pytest.approx([min(1, means.max()), 1])


@pytest.mark.parametrize("shape", [(15_600,), (1, 15_600), (-1,), (15_600, 1)])
def test_a_file_that_takes_samples_gets_them(tmp_path: Path, shape: tuple[int, ...]) -> None:
    sound = noise(2) + np.float32(0.5)
    means = cut_sample_windows(sound).mean(axis=1)
    model = network(tmp_path, Fake(shape, [521, 1024, 64]))
    vectors, classes, _ = model.embed([sound, sound[:9000]])
    assert classes is not None
    assert vectors.shape == (2, 1024)
    assert vectors[0, 0] / vectors[0, 1] == pytest.approx(means.mean(), abs=1e-5)
    assert classes[0, 0] == pytest.approx(means.max(), abs=1e-5)


def test_outputs_are_told_apart_by_their_width_in_any_order(tmp_path: Path) -> None:
    for order in ([1024, 527], [527, 1024]):
        vectors, classes, _ = network(tmp_path, Fake((1, 96, 64), order)).embed([noise(1)])
        assert classes is not None
        assert (vectors.shape, classes.shape) == ((1, 1024), (1, 527))
        assert np.linalg.norm(vectors) == pytest.approx(1)


def test_no_blocks_are_no_rows(tmp_path: Path) -> None:
    vectors, classes, _ = network(tmp_path, Fake((1, 96, 64), [521, 1024])).embed([])
    assert classes is not None
    assert (vectors.shape, classes.shape) == ((0, 1024), (0, 521))


@pytest.mark.parametrize("table", ["model.csv", "yamnet_class_map.csv"])
def test_classes_have_the_names_of_a_table_beside_the_file(tmp_path: Path, table: str) -> None:
    rows = "".join(f'{n},/m/{n},"Sound, number {n}"\n' for n in range(521))
    (tmp_path / table).write_text("index,mid,display_name\n" + rows, encoding="utf-8")
    names = network(tmp_path, Fake((1, 96, 64), [521])).class_names
    assert (names[3], len(names)) == ("Sound, number 3", 521)


def test_classes_have_numbers_where_there_is_no_table(tmp_path: Path) -> None:
    assert network(tmp_path, Fake((1, 96, 64), [521])).class_names[:2] == ("class 0", "class 1")


@pytest.mark.parametrize("name", ["yamnet_label_list.txt", "labels.txt"])
def test_classes_have_the_names_of_a_list_beside_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("".join(f"Sound, number {n}\n" for n in range(521)))
    names = network(tmp_path, Fake((1, 96, 64), [521])).class_names
    assert (names[3], len(names)) == ("Sound, number 3", 521)


def test_names_inside_the_file_come_before_those_beside_it(tmp_path: Path) -> None:
    model = network(tmp_path, Fake((1, 96, 64), [521]))
    (tmp_path / "labels.txt").write_text("".join(f"other {n}\n" for n in range(521)))
    with zipfile.ZipFile(model.path, "a") as archive:  # appended to the weights
        archive.writestr("about.txt", "not a list of classes")
        archive.writestr("yamnet_label_list.txt", "\n".join(f"inner {n}" for n in range(521)))
    assert model.path.read_bytes().startswith(b"weights")
    assert model.class_names[520] == "inner 520"


def test_a_list_of_another_length_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("Speech\nMusic\n")
    with pytest.raises(UsageError, match=r"labels\.txt: must have 521 names one per line, has 2"):
        _ = network(tmp_path, Fake((1, 96, 64), [521])).class_names


@pytest.mark.parametrize("text", ["index,mid,display_name\n0,a,Speech\n", "a\n1\n", ""])
def test_a_table_that_does_not_fit_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.csv").write_text(text, encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"model\.csv: must have 521 names in the column display_name"
    ):
        _ = network(tmp_path, Fake((1, 96, 64), [521])).class_names


@pytest.mark.parametrize(
    ("fake", "told"),
    [
        (Fake((1, 224, 224, 3), [521]), "input is 1 × 224 × 224 × 3 float32"),
        (Fake((1, 96, 64), [521], np.uint8), "input is 1 × 96 × 64 uint8"),
        (Fake((1, 96, 64), [1000]), "output is 1 × 1000 float32"),
    ],
)
def test_other_networks_are_refused_by_what_they_take_and_give(
    tmp_path: Path, fake: Fake, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        network(tmp_path, fake).embed([noise(1)])


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    model = YamNet(tmp_path / "none.tflite")
    with pytest.raises(UsageError, match="file does not exist"):
        model.embed([])
    with pytest.raises(UsageError, match="file does not exist"):
        _ = model.signature


def test_a_file_that_is_no_model_is_said(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_text("no model")
    with pytest.raises(UsageError, match="is not a TensorFlow Lite model"):
        YamNet(path).embed([noise(1)])


def test_without_the_interpreter_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.tflite").write_bytes(b"")
    known = find_spec
    monkeypatch.setattr(
        yamnet, "find_spec", lambda name: None if name == "ai_edge_litert" else known(name)
    )
    with pytest.raises(MissingExtra, match=r"\[yamnet\]"):
        YamNet(tmp_path / "model.tflite").embed([noise(1)])


def test_the_signature_follows_the_weights_and_not_the_place(tmp_path: Path) -> None:
    first = network(tmp_path, Fake((1, 96, 64), [521]))
    other = tmp_path / "other.tflite"
    other.write_bytes(b"weights")
    assert replace(first, path=other).signature == first.signature
    other.write_bytes(b"others")
    assert replace(first, path=other).signature != first.signature
    assert (first.takes, first.rate, first.name) == ("sound", 16_000, f"yamnet:{first.path}")
