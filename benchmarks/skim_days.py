"""Skims of synthetic days with known truth: quality of the methods and validity of the measures.

Days have random timetables, with a seed that was not used to develop the methods or the codebook.
An hour of such a day, which is also a period, lasts ten minutes, so 50 days take minutes, not
hours; blocks last 8 s as usual. Each day has skims by our method and by the published one for five
values of z, by the two baselines, and the seven examples of the practice folder, which are chosen
with knowledge of the truth.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import FRAMES_PER_SECOND, log_mel
from earwitness.models.base import FrameBlocks, block_places
from earwitness.models.codebook import Codebook
from earwitness.models.frames import SHARD_FRAMES, FrameFile
from earwitness.recordings.types import Recording, Stretch
from earwitness.skims.day import Day, hear_picks
from earwitness.skims.measures import DayMeasures
from earwitness.skims.methods import Picker
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.tradeoff import area_below_curve
from earwitness.skims.types import Pick
from earwitness.soundscapes.practice import make_practice_skims
from earwitness.soundscapes.scene import Scene
from earwitness.soundscapes.truth import Truth

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.random_scenes import iterate_sound, make_random_day

SEED, LENGTH, RATE, BLOCK = 2026, 600.0, 16_000, 8.0
ZS = (0.0, 0.25, 0.5, 0.75, 1.0)
DIALLED = ("pareto", "published")
BASELINES = ("downsampling", "random")
DRAWS = 5  # per baseline
PIECE = 30.0  # seconds rendered at a time
Floats = NDArray[np.float64]
Samples = NDArray[np.float32]


class Row(NamedTuple):
    """One skim: day, method, both terms, measured values and true values."""

    day: int
    method: str
    z: float
    tc_term: float
    sd_term: float
    tc: float
    sd: float
    coverage: float
    true_tc: float
    true_sd: float
    picks: tuple[tuple[float, float], ...] = ()


def blocks_of(scene: Scene, pieces: Iterable[Samples] | None = None) -> Day:
    """Return the day with its blocks, as the methods use it; pieces of audio last 30 s."""
    step = round(PIECE * FRAMES_PER_SECOND)
    sounds = iterate_sound(scene, seconds=PIECE) if pieces is None else pieces
    frames = np.concatenate([log_mel(one, scene.rate)[:step] for one in sounds])
    shards = tuple(frames[at : at + SHARD_FRAMES] for at in range(0, len(frames), SHARD_FRAMES))
    whole = Recording("", (Stretch("", 0, 0, scene.seconds),), scene.seconds, scene.rate, 1)
    found = FrameBlocks(
        block_places(whole, BLOCK), round(BLOCK * FRAMES_PER_SECOND), {"": FrameFile(shards)}
    )
    made = Codebook().embed(found)
    starts = [place.start for place in found.places]
    return Day.of(starts, BLOCK, made.vectors, made.classes, scene.seconds)


class Judge:
    """Measured and true values of skims of one day."""

    def __init__(self, number: int, scene: Scene, day: Day) -> None:
        self.number, self.length = number, scene.hour
        self.scene, self.day = scene, day
        self.truth = Truth(self.scene.events, self.scene.seconds)
        self.measured = DayMeasures(self.day, self.length)

    @classmethod
    def random(cls, number: int, *, seed: int = SEED, length: float = LENGTH) -> Judge:
        """Return the judge of a random synthetic day."""
        scene = make_random_day(number, seed, rate=RATE, hour=length)
        return cls(number, scene, blocks_of(scene))

    def row(self, method: str, z: float, picks: Sequence[Pick], terms: tuple[float, float]) -> Row:
        """Return the row of one skim."""
        spans = tuple((pick.start, pick.seconds) for pick in picks)
        own = hear_picks(self.day, spans)
        assert own is not None
        measured = self.measured.tc(own), self.measured.sd(own), self.measured.coverage(own)
        truth = self.truth.tc(picks, self.length), self.truth.sd(picks)
        return Row(self.number, method, z, *terms, *measured, *truth, spans)

    def again(self, row: Row) -> Row:
        """Return a row of another judge of the same day with the measures of this one."""
        own = hear_picks(self.day, row.picks)
        assert own is not None
        measured = self.measured.tc(own), self.measured.sd(own), self.measured.coverage(own)
        return row._replace(tc=measured[0], sd=measured[1], coverage=measured[2])

    def rows(self) -> list[Row]:
        """Return the rows of all skims of the day."""
        picker = Picker(self.day, SkimPlan(period=self.length))
        found = [self._picked(picker, method, z) for method in DIALLED for z in ZS]
        for seed in range(DRAWS):
            other = Picker(self.day, SkimPlan(period=self.length, seed=seed))
            found += [self._picked(other, method, np.nan) for method in BASELINES]
        none = (np.nan, np.nan)
        for number, one in enumerate(make_practice_skims(self.scene)):
            found.append(self.row(f"example {number + 1}", np.nan, one.skim.picks, none))
        return found

    def _picked(self, picker: Picker, method: str, z: float) -> Row:
        got = picker.pick(method, 0.5 if np.isnan(z) else z)
        picks = [Pick(float(self.day.starts[row]), BLOCK) for row in got.rows]
        return self.row(method, z, picks, (got.tc_term, got.sd_term))


def made(count: int, *, length: float = LENGTH, seed: int = SEED) -> list[Row]:
    """Return the rows of the given number of days."""
    found: list[Row] = []
    for number in range(count):
        found += Judge.random(number, seed=seed, length=length).rows()
        print(f"\rday {number + 1} of {count}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return found


def by_day(rows: Iterable[Row], method: str, z: float, name: str) -> Floats:
    """Return a value of one kind of skim per day; the mean if there are several."""
    found: dict[int, list[float]] = {}
    for row in rows:
        if row.method == method and (row.z == z or (np.isnan(z) and np.isnan(row.z))):
            found.setdefault(row.day, []).append(getattr(row, name))
    return np.array([np.mean(values) for _, values in sorted(found.items())])


def areas(rows: Iterable[Row], method: str) -> Floats:
    """Return the area below the curve of true SD over true TC, per day."""
    own = [row for row in rows if row.method == method]
    days = sorted({row.day for row in own})
    points = [[(row.true_tc, row.true_sd) for row in own if row.day == one] for one in days]
    return np.array([area_below_curve(*zip(*every, strict=True)) for every in points])


def worth(rows: Sequence[Row], measure: str, truth: str) -> Floats:
    """Return Spearman's correlation of a measure with the truth over skims, per day."""
    from scipy.stats import spearmanr

    found = []
    for number in sorted({row.day for row in rows}):
        own = [row for row in rows if row.day == number]
        pairs = [[getattr(row, name) for row in own] for name in (measure, truth)]
        found.append(float(spearmanr(*pairs).statistic))
    return np.array(found)


def interval(values: Floats, draws: int = 10_000) -> tuple[float, float, float]:
    """Return the mean over days and its percentile bootstrap interval."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(len(values), size=(draws, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(values.mean()), float(low), float(high)


def swapped(differences: Floats, draws: int = 10_000) -> float:
    """Return the two-sided p of the paired permutation test that differences are 0."""
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], size=(draws, len(differences)))
    extreme = abs((signs * differences).mean(axis=1)) >= abs(differences.mean()) - 1e-12
    return float((extreme.sum() + 1) / (draws + 1))


def told(name: str, values: Floats) -> str:
    """Return a mean with its interval as text."""
    mean, low, high = interval(values)
    return f"{name}: {mean:.3f} [{low:.3f}, {high:.3f}], n {len(values)} days"


def main() -> None:
    """Print the table of means, the correlations and the comparisons."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    rows = made(count)
    names = ("tc", "sd", "coverage", "true_tc", "true_sd")
    print(f"{count} days with seed {SEED}, one hour lasts {LENGTH:g} s; means over days")
    print(f"{'':20}" + "".join(f"{name:>10}" for name in names))
    kinds = [(method, z) for method in DIALLED for z in ZS] + [(m, np.nan) for m in BASELINES]
    kinds += [(f"example {number}", np.nan) for number in range(1, 8)]
    for method, z in kinds:
        label = method if np.isnan(z) else f"{method} z={z:g}"
        means = (by_day(rows, method, z, name).mean() for name in names)
        print(f"{label:20}" + "".join(f"{mean:10.3f}" for mean in means))
    print(
        told(
            "Spearman correlation within a day, measured TC and true TC",
            worth(rows, "tc", "true_tc"),
        )
    )
    print(
        told(
            "Spearman correlation within a day, measured SD and true SD",
            worth(rows, "sd", "true_sd"),
        )
    )
    print(
        told(
            "Spearman correlation within a day, coverage and true SD",
            worth(rows, "coverage", "true_sd"),
        )
    )
    ahead = {
        "true TC, pareto z=0 minus downsampling": by_day(rows, "pareto", 0.0, "true_tc")
        - by_day(rows, "downsampling", np.nan, "true_tc"),
        "true SD, pareto z=1 minus published z=1": by_day(rows, "pareto", 1.0, "true_sd")
        - by_day(rows, "published", 1.0, "true_sd"),
        "area, pareto minus published": areas(rows, "pareto") - areas(rows, "published"),
    }
    for name, differences in ahead.items():
        better = int((differences > 0).sum())
        print(f"{told(name, differences)}; better on {better} days; p {swapped(differences):.4f}")


if __name__ == "__main__":
    main()
