"""Damaged input of every reader is accepted, or refused with words: no traceback, no hang.

Cases follow from the line of a reader and their numbers: ``fuzz("gather {a.srt}", samples, [17])``
repeats one. The smallest inputs that once failed are in ``kept.jsonl``.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from random import Random
from types import FrameType

import pytest

from earwitness.errors import EarwitnessError
from helpers.command_line import run
from helpers.mutations import DIGITS, mutate
from helpers.readers import FUZZ, READERS, STACK, make_samples
from helpers.samples import many

CASES = many(10, 10**9)  # of each reader, at most
SECONDS = 6  # of the processor, for the cases of a reader
HANG_SECONDS = 20  # of the processor, for one case
MEMORY_KIB = 1 << 20  # that all cases of a reader may add
CHOICES = {"ERROR": ("fail", "skip", "empty"), "FORM": ("json", "text", "csv", "html")}

KEPT = [json.loads(line) for line in (FUZZ / "kept.jsonl").read_text().splitlines()]


class Hang(BaseException):
    """A case takes too long."""


def stop(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise Hang


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    signal.signal(signal.SIGPROF, stop)
    with STACK:
        yield make_samples(tmp_path_factory.mktemp("fuzz") / "samples")


def is_accepted(reader: str, folder: Path, rng: Random) -> bool:
    """Run a reader; an error that is not for users is raised."""
    first, *others = re.sub(r"[{}]| #.*", "", reader).split()
    if "." in first:
        module, _, name = first.rpartition(".")
        try:
            return getattr(import_module(module), name)(folder / others[0]) is not False
        except EarwitnessError:
            return False
    finished = run(first, *(rng.choice(CHOICES.get(one, (one,))) for one in others))
    assert finished.returncode in (0, 2), finished.stderr
    return not finished.returncode


def read(reader: str, folder: Path, file: str, data: bytes, rng: Random) -> bool:
    """Return whether a file with these bytes is accepted; everything is as before afterwards."""
    path, before = folder / file, {*folder.iterdir()}
    kept = path.read_bytes()
    path.write_bytes(data)
    signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
    try:
        with chdir(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return is_accepted(reader, folder, rng)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        path.write_bytes(kept)
        for made in {*folder.iterdir()} - before:
            shutil.rmtree(made) if made.is_dir() else made.unlink()


def fuzz(reader: str, folder: Path, numbers: Iterable[int]) -> tuple[Counter[str], dict[str, str]]:
    """Return how many cases are accepted, refused and failed, and one failure of each place."""
    counts, failures = Counter[str](), dict[str, str]()
    files = re.findall(r"\{(.*?)\}", reader)
    originals = {file: (folder / file).read_bytes() for file in files}
    for number in numbers:
        rng = Random(f"{reader} {number}")
        file = rng.choice(files)
        data = mutate(originals[file], rng)
        try:
            done = read(reader, folder, file, data, rng)
            counts["accepted" if done else "refused"] += 1
        except (Exception, Hang) as error:  # noqa: BLE001
            frames = traceback.extract_tb(error.__traceback__)
            own = [one for one in frames if "/src/earwitness/" in one.filename] or frames
            where = f"{own[-1].filename.rpartition('/earwitness/')[2]}:{own[-1].lineno}"
            text = f"case {number}: {str(error)[:200]}: {file} = {data[:300]!r}"
            failures.setdefault(f"{where}: {type(error).__name__}", text)
            counts["failed"] += 1
    return counts, failures


@pytest.mark.parametrize("reader", READERS)
def test_damaged_files_are_refused_with_words(
    reader: str, samples: Path, record_property: Callable[[str, object], None]
) -> None:
    end, memory = time.process_time() + SECONDS, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    numbers = takewhile(lambda _: time.process_time() < end, range(CASES))
    counts, failures = fuzz(reader, samples, numbers)
    told = ", ".join(f"{counts[one]:,} {one}" for one in ("accepted", "refused", "failed"))
    record_property("fuzzed", f"{reader}: {counts.total():,} cases, {told}")
    assert failures == {}
    assert counts.total()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < MEMORY_KIB


@pytest.mark.parametrize(("reader", "file", "old", "new"), KEPT)
def test_inputs_that_once_ended_in_a_traceback_are_refused(
    reader: str, file: str, old: str, new: str, samples: Path
) -> None:
    data = (samples / file).read_bytes()
    assert old.encode() in data
    new = new.replace("DIGITS", DIGITS).replace("LONG", "x" * 300)
    assert not read(reader, samples, file, data.replace(old.encode(), new.encode(), 1), Random(1))
