"""Time to score chapters, compared with chunkseg 0.4.0 on one core.

Both score the same samples in memory, with chunkseg's own keys and f1 with its 100 draws. Also
printed: the time of scoring a file compared with only parsing it, and the growth of memory up to a
million samples. `--quick` uses few samples, to check that the program runs.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import chunkseg
import msgspec
import numpy as np
import orjson

from earwitness import chunkseg as ours
from earwitness import output_formats
from earwitness.chapters.records import ChunksegSample
from earwitness.registry import METRICS
from earwitness.scoring import score

CHAPTERS = [name for name, kind in METRICS.items() if kind.task == "chapters"]
SCORE = """
import resource, sys, earwitness
earwitness.score(sys.argv[1])
usage = resource.getrusage(resource.RUSAGE_SELF)
status = open("/proc/self/status").read()
print(status.split("VmHWM:")[1].split()[0], usage.ru_utime + usage.ru_stime)
"""  # peak KiB of the process itself (ru_maxrss includes its parent), and CPU seconds
BARS = {  # seconds of audio: fewest and most boundaries, samples, required ratio
    600: (10, 20, 1000, 30),
    3600: (10, 60, 300, 80),
    36000: (15, 60, 100, 3000),  # with fewer boundaries chunkseg's windows of 256 chunks fail
}


def corpus(count: int, seconds: float, fewest: int, most: int) -> list[dict[str, Any]]:
    """Return samples whose outputs find most boundaries, with small errors, and add some."""
    rng = random.Random(0)
    samples = []
    for _ in range(count):
        n = rng.randint(fewest, most)
        reference = sorted(round(rng.uniform(1, seconds - 1), 2) for _ in range(n))
        found = [t + rng.gauss(0, 5) for t in reference if rng.random() < 0.7]
        found += [rng.uniform(1, seconds - 1) for _ in range(n - len(found))]
        hypothesis = sorted(round(t, 2) for t in found)
        samples.append({"hypothesis": hypothesis, "reference": reference, "duration": seconds})
    return samples


def cpu(function: Callable[[], Any], times: int = 1) -> list[float]:
    """Return the CPU seconds of each call."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        function()
        spent.append(time.process_time() - start)
    return spent


def against_chunkseg(quick: bool) -> bool:
    """Print ratios of CPU time; return whether all limits are met."""
    reached = True
    for seconds, (fewest, most, count, bar) in BARS.items():
        samples = corpus(count // 20 if quick else count, float(seconds), fewest, most)
        before = cpu(lambda: ours.evaluate_batch(samples), 9)  # noqa: B023 — called at once
        theirs = cpu(lambda: chunkseg.evaluate_batch(samples))[0]  # noqa: B023
        mine = median(before + cpu(lambda: ours.evaluate_batch(samples), 9))  # noqa: B023
        ratio = theirs / mine
        reached &= quick or ratio >= bar
        print(
            f"{seconds:>6} s audio, {fewest}–{most} boundaries, {len(samples)} samples:"
            f" chunkseg {theirs / len(samples) * 1e6:,.0f} µs, Earwitness"
            f" {mine / len(samples) * 1e6:.1f} µs per sample: {ratio:,.0f} × faster"
            f" (bar {bar:,} ×: {'met' if ratio >= bar else 'missed'})"
        )
    return reached


def single_samples(quick: bool) -> bool:
    """Print ratios of CPU time of `evaluate`; return whether it is at least as fast."""
    reached = True
    for seconds, (fewest, most, *_) in list(BARS.items())[:2]:
        samples = corpus(10 if quick else 100, float(seconds), fewest, most)

        def mine() -> None:
            for sample in samples:  # noqa: B023 — called at once
                ours.evaluate(**sample)

        def theirs() -> None:
            for sample in samples:  # noqa: B023
                chunkseg.evaluate(**sample)

        rounds = [(cpu(theirs)[0], cpu(mine)[0]) for _ in range(3 if quick else 9)]
        ratio = median(slow / fast for slow, fast in rounds)
        reached &= quick or ratio >= 1
        print(
            f"{seconds:>6} s audio, one sample at a time: chunkseg"
            f" {median(s for s, _ in rounds) / len(samples) * 1e6:,.0f} µs, Earwitness"
            f" {median(f for _, f in rounds) / len(samples) * 1e6:,.0f} µs: {ratio:.1f} × faster"
            f" (bar 1 ×: {'met' if ratio >= 1 else 'missed'})"
        )
    return reached


def everything(quick: bool) -> bool:
    """Compare all metrics and an HTML report with chunkseg's own keys and 100 draws."""
    samples = corpus(50 if quick else 1000, 3600.0, 10, 60)
    outputs, references = [], []
    for item, sample in enumerate(samples):
        outputs.append(
            {"item": item, "system": "ours", "output": {"boundaries": sample["hypothesis"]}}
        )
        people = [sample["reference"], *(r["reference"] for r in samples[item - 2 : item])][:3]
        references.append(
            {
                "item": item,
                "duration": 3600.0,
                "references": [{"boundaries": times} for times in people],
                "meta": {"kind": f"kind {item % 4}"},
            }
        )

    def ours_all() -> int:
        scores = score.score(
            outputs,
            references,
            metrics=CHAPTERS,
            collar=[1, 3, 5, 10],
            by=["kind", "annotator"],
            worst=10,
        )
        output_formats.render(scores, "html")
        return len(scores.systems["ours"])

    mine = median(cpu(ours_all, 3))
    theirs = cpu(lambda: chunkseg.evaluate_batch(samples))[0]
    plain = median(cpu(lambda: score.score(samples, metrics=CHAPTERS), 3))
    verdict = "met" if theirs / mine >= 5 else "missed"
    print(
        f"all features ({ours_all()} values over four collars, three references per item, ceiling,"
        f" groups, worst cases, HTML report), {len(samples)} samples of 1 h: Earwitness"
        f" {mine:.2f} s, chunkseg {theirs:.2f} s: {theirs / mine:.1f} × faster"
        f" (bar 5 ×: {verdict});"
        f" all metrics with one reference: {plain:.2f} s, {theirs / plain:.0f} × faster"
    )
    return quick or theirs / mine >= 5


def against_parsing(folder: Path, quick: bool) -> None:
    """Print the time from file to result, compared with only parsing its lines."""
    lines = [json.dumps(s).encode() for s in corpus(500 if quick else 20_000, 3600.0, 10, 60)]
    path = folder / "hours.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    typed = msgspec.json.Decoder(ChunksegSample).decode
    whole = median(cpu(lambda: score.score(path), 3)) / len(lines)
    parsers: dict[str, Callable[[bytes], Any]] = {
        "msgspec, typed": typed,
        "orjson": orjson.loads,
        "json": json.loads,
    }
    print(f"JSONL to result, 1,000 draws: {whole * 1e6:.1f} µs per sample of 1 h")
    for name, parse in parsers.items():
        alone = median(cpu(lambda: [parse(line) for line in lines], 5)) / len(lines)  # noqa: B023
        print(f"  only parsing with {name}: {alone * 1e6:.1f} µs; ratio {whole / alone:.1f} ×")


def lines_of(count: int) -> Iterator[bytes]:
    """Yield lines of ten-minute samples with distinct ids and repeated content."""
    bodies = [json.dumps(s)[1:] for s in corpus(1000, 600.0, 10, 20)]
    for index in range(count):
        yield f'{{"id": "sample {index}", {bodies[index % 1000]}\n'.encode()


def memory(folder: Path, quick: bool) -> None:
    """Print the peak memory for few and for many samples, each in a separate process."""
    sizes = (20_000, 40_000) if quick else (200_000, 1_000_000)
    peaks, spent = [], []
    for size in sizes:
        path = folder / f"{size}.jsonl"
        with path.open("wb") as file:
            file.writelines(lines_of(size))
        command = [sys.executable, "-c", SCORE, str(path)]
        peak, seconds = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.split()
        peaks.append(int(peak) * 1024)
        spent.append(float(seconds))
        path.unlink()
    slope = (peaks[1] - peaks[0]) / (sizes[1] - sizes[0])
    for size, peak_bytes, seconds_ in zip(sizes, peaks, spent, strict=True):
        print(
            f"{size:,} samples: peak {peak_bytes / 2**20:.0f} MiB,"
            f" {seconds_:.1f} s CPU ({seconds_ / size * 1e6:.1f} µs per sample)"
        )
    print(f"memory: {slope:.1f} bytes per sample above {sizes[0]:,}")


def dense(folder: Path, quick: bool) -> bool:
    """Print time and memory of samples with very many boundaries; return whether limits are met."""
    rng = random.Random(0)
    reached = True
    for count, seconds, bar in ((5_000, 50.0, 2.0), (10_000 if quick else 1_000_000, 1e8, 120.0)):
        hypothesis, reference = (
            sorted(rng.uniform(1, seconds) for _ in range(count)) for _ in range(2)
        )
        sample = {"hypothesis": hypothesis, "reference": reference, "duration": seconds}
        path = folder / "dense.jsonl"
        path.write_text(json.dumps(sample) + "\n")
        for matching in ("greedy", "optimal"):
            code = SCORE.replace(
                "[1])", f'[1], metrics="collar", collar=60, boundary_matching="{matching}")'
            )
            command = [sys.executable, "-c", code, str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            peak, cpu_seconds = int(done.split()[0]) / 1024, float(done.split()[1])
            met = cpu_seconds < bar and (count > 5_000 or peak < 300)
            reached &= met
            print(
                f"{count:,} × {count:,} boundaries in {seconds:,.0f} s, collar 60 s, {matching}:"
                f" {cpu_seconds:.1f} s CPU, peak {peak:.0f} MiB ({'met' if met else 'missed'})"
            )
    return reached


def main() -> None:
    """Print all comparisons; exit with 1 if a limit is not met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    print(f"chunkseg {chunkseg.__version__}, numpy {np.__version__}, CPU time, one core")
    reached = against_chunkseg(arguments.quick)
    reached &= single_samples(arguments.quick)
    reached &= everything(arguments.quick)
    with tempfile.TemporaryDirectory() as folder:
        against_parsing(Path(folder), arguments.quick)
        memory(Path(folder), arguments.quick)
        reached &= dense(Path(folder), arguments.quick)
    if not reached:
        sys.exit("a limit is not met")


if __name__ == "__main__":
    main()
