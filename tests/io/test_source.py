"""Bytes from anywhere."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from earwitness.errors import InputError, MissingExtra, UsageError
from earwitness.io import source as source_module
from earwitness.io.source import RecordSource
from earwitness.scoring.score import score
from helpers.samples import corpus, write_lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "in.jsonl", corpus(30, 600.0, 2, 9))


def test_lines_are_numbered_across_blocks_of_any_size(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = path.read_bytes().splitlines()
    for size in (16, 100, 1000, 10**6):
        monkeypatch.setattr(source_module, "READ_BLOCK_BYTES", size)
        got = [
            (number, line)
            for block in RecordSource(path).blocks()
            for number, line in enumerate(block.lines, block.line)
        ]
        assert got == list(enumerate(want, 1))


def test_a_last_line_without_end_is_a_line(path: Path) -> None:
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert score(path).provenance.cases == 30


def test_compressed_files_give_the_same_estimates_and_their_own_hash(path: Path) -> None:
    plain, data = score(path), path.read_bytes()
    zipped, packed = path.with_suffix(".jsonl.gz"), path.with_suffix(".jsonl.zst")
    zipped.write_bytes(gzip.compress(data[:999]) + gzip.compress(data[999:]))  # two members
    compress = zstandard.ZstdCompressor().compress
    packed.write_bytes(compress(data[:999]) + compress(data[999:]))  # two frames
    for other in (zipped, packed):
        scores = score(other)
        assert scores.systems == plain.systems
        digest = hashlib.sha256(other.read_bytes()).hexdigest()
        assert scores.provenance.inputs[0].sha256 == digest
        assert scores.provenance.inputs[0].bytes == other.stat().st_size


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_damaged_compressed_file_is_refused(path: Path, ending: str) -> None:
    data = path.read_bytes()
    packed = gzip.compress(data) if ending == ".gz" else zstandard.ZstdCompressor().compress(data)
    for name, damaged in {"cut": packed[: len(packed) // 2], "none": b"not compressed"}.items():
        broken = path.with_name(f"{name}.jsonl{ending}")
        broken.write_bytes(damaged)
        with pytest.raises(InputError, match=f"{name}.jsonl{ending}: cannot be read"):
            score(broken)


def test_a_missing_library_names_the_extra(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = path.with_suffix(".zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r'pip install .*\[zstd\]"'):
        score(packed)


def test_standard_input_is_a_file_named_stdin(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = path.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    scores = score("-")
    assert scores.provenance.inputs[0].name == "stdin"
    assert scores.provenance.inputs[0].sha256 == hashlib.sha256(data).hexdigest()
    assert scores.systems["stdin"] == score(path).systems["in"]


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compressed_standard_input_is_recognised(
    compress: Callable[[bytes], bytes], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = compress(path.read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert score("-").systems["stdin"] == score(path).systems["in"]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.jsonl: cannot be read: No such file"):
        score(tmp_path / "nowhere.jsonl")
    with pytest.raises(UsageError, match="no files found"):
        score(tmp_path)


def test_records_from_python_may_hold_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    record = {"hypothesis": numpy.array([5.0]), "reference": (5,), "duration": numpy.float64(60)}
    assert score([record]).systems["outputs"]["collar_f1"].value == 1


def test_a_line_longer_than_a_block_is_read(tmp_path: Path) -> None:
    record = {"hypothesis": [1.5] * 300_000, "reference": [1], "duration": 60}
    path = write_lines(tmp_path / "long.jsonl", [record, {**record, "hypothesis": []}])
    assert len(json.dumps(record)) > source_module.READ_BLOCK_BYTES
    assert score(path, metrics=["chunks"]).provenance.cases == 2
