"""Cost of importing completed workbooks, compared with openpyxl, and of rejecting a hostile one.

Every task runs in a separate process, so that its memory can be measured.
"""

from __future__ import annotations

import io
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import openpyxl

from earwitness.audio.files import Sound, write_wav
from earwitness.errors import InputError
from earwitness.forms.workbooks.export import study_export_xlsx
from earwitness.forms.workbooks.open import MAX_UPLOAD_UNPACKED_BYTES, MIN_BYTES_PER_CELL
from earwitness.forms.workbooks.read import read_workbook
from earwitness.forms.workbooks.to_answers import enter_workbooks

BAR = 1.0  # seconds to import 120 rows, or a workbook with merges out to column XFD
SLOWEST, LARGEST = 5.0, 300  # limits of a hostile upload in CPU seconds and megabytes
CLIPS, MERGED = 60, 20  # clips with two captions each; rows merged out to column XFD
SHEET = "xl/worksheets/sheet2.xml"
STUDY = """\
title: Captions
systems: [person, model]
files: "clips/{item}.wav"
captions: captions.csv
listeners: 1
blocks: [{kind: rubric}]
"""


def changed(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return the workbook with its table changed."""
    held = io.BytesIO()
    with ZipFile(io.BytesIO(data)) as old, ZipFile(held, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, change(part) if name == SHEET else part)
    return held.getvalue()


def returned(folder: Path) -> bytes:
    """Return the completed workbook of a study of 60 clips with two captions each."""
    rng, rows, clips = random.Random(1), ["item,system,caption"], folder / "clips"
    clips.mkdir()
    for n in range(CLIPS):
        with (clips / f"c{n}.wav").open("wb") as file:
            write_wav(file, Sound(np.zeros((100, 1)), 8000, "PCM_16"))
        for system in ("person", "model"):
            rows.append(f"c{n},{system},{' '.join(rng.choices(system, k=120))}")
    (folder / "captions.csv").write_text("\n".join(rows) + "\n")
    (folder / "study.yaml").write_text(STUDY)
    [path] = study_export_xlsx(folder / "study.yaml", folder / "out")
    made = openpyxl.load_workbook(path)
    for row in range(2, 2 * CLIPS + 2):
        for column, value in zip("EFGHI", (4, 3.5, -0.1, 0, -0.3), strict=True):
            made["Assessment"][f"{column}{row}"] = value
    made.save(path)
    return path.read_bytes()


def wide(data: bytes) -> bytes:
    """Return the workbook with empty rows below the table, merged out to column XFD."""
    first = 2 * CLIPS + 5
    merge = f'<mergeCell ref="A{first}:XFD{first + MERGED - 1}"/></mergeCells>'.encode()
    return changed(data, lambda part: part.replace(b"</mergeCells>", merge))


def hostile(data: bytes) -> bytes:
    """Return a workbook with as many empty cells and rows as an upload may have."""
    rng = random.Random(1)
    noise = b"".join(b"<!--%d-->" % rng.randrange(10**14) for _ in range(1500))
    cells = b"<c/>" * (MAX_UPLOAD_UNPACKED_BYTES * 9 // 10 // MIN_BYTES_PER_CELL)
    rows = b"<row/>" * ((MAX_UPLOAD_UNPACKED_BYTES * 9 // 10 - len(noise) - len(cells)) // 6)
    rows = b"<sheetData>" + noise + b"<row>" + cells + b"</row>" + rows + b"</sheetData>"
    return changed(data, lambda part: b"".join([part.partition(b"<sheetData>")[0], rows,
                                                part.partition(b"</sheetData>")[2]]))  # fmt: skip


def done(work: str, path: Path, told: multiprocessing.Queue[tuple[float, float]]) -> None:
    """Run a task; report its seconds (CPU time for uploads) and peak megabytes."""
    clock = time.process_time if work == "upload" else time.perf_counter
    start = clock()
    if work == "openpyxl":
        openpyxl.load_workbook(path)
    elif work == "upload":
        with suppress(InputError):
            read_workbook(path, unpacked=MAX_UPLOAD_UNPACKED_BYTES)
    else:
        enter_workbooks(path.parent / "study.yaml", [path], path.parent / f"{path.stem}.db")
    took = clock() - start
    told.put((took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def cost(work: str, path: Path) -> tuple[float, float]:
    """Return the seconds and megabytes of a task."""
    fresh = multiprocessing.get_context("spawn")
    told = fresh.Queue()
    process = fresh.Process(target=done, args=(work, path, told))
    process.start()
    found: tuple[float, float] = told.get()
    process.join()
    return found


def main() -> int:
    """Print times, memory and ratios; return 1 if a limit is not met."""
    missed = False
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = returned(folder)
        for name, book in (("120 rows", data), (f"{MERGED} rows out to XFD", wide(data))):
            path = folder / f"P1_{len(book)}.xlsx"
            path.write_bytes(book)
            (ours, memory), (theirs, more) = (cost(work, path) for work in ("enter", "openpyxl"))
            print(f"{name:<22} import into database {ours:5.2f} s {memory:5.0f} MB")
            beside = f"{theirs / ours:.1f} × as long"
            print(f"{'  opened by openpyxl':<22} {theirs:26.2f} s {more:5.0f} MB, {beside}")
            missed |= ours > BAR
        path = folder / "hostile.xlsx"
        path.write_bytes(hostile(data))
        seconds, memory = cost("upload", path)
    missed |= seconds > SLOWEST or memory > LARGEST
    print(f"{'hostile upload':<22} rejected after {seconds:.2f} s of CPU time, {memory:.0f} MB")
    print(f"bars: {BAR:g} s, {SLOWEST:g} s and {LARGEST} MB: {'MISSED' if missed else 'met'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
