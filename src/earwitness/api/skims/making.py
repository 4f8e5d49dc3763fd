"""Skims of one recording: blocks to picks, and picks to numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from earwitness import __version__
from earwitness.api.skims.archived import kept_archive
from earwitness.api.skims.asked import MANUAL, Asked
from earwitness.api.skims.speaking import Spoken
from earwitness.data import Course, Estimate, Pick, Recording, Skim, Skimmed
from earwitness.errors import UsageError
from earwitness.formats.times import read_times
from earwitness.models.blocks import Blocks
from earwitness.models.cached import Cache
from earwitness.stats.skims.curve import FEWEST, along_z
from earwitness.stats.skims.day import Day, Ints, heard
from earwitness.stats.skims.measures import Measured, calibration_sd, calibration_tc
from earwitness.stats.student import column_moments, interval
from earwitness.summarizers.skims import Picker

DRAWS = 20  # of each baseline
MEASURES = ("tc", "sd", "coverage")
BASELINES = ("downsampling", "random")
CALIBRATIONS = {"calibration of tc": calibration_tc, "calibration of sd": calibration_sd}


@dataclass(frozen=True)
class Maker:
    """Makes all skims of a recording; what does not depend on method and z is done once.

    ``spoken`` are the blocks in which somebody speaks, if that matters; ``sound`` is a name for
    what is heard in the recording. With a ``cache``, what does not depend on z is kept there.
    """

    recording: Recording
    blocks: Blocks
    asked: Asked
    sound: str
    spoken: Spoken | None = None
    cache: Cache | None = None

    def skims(self) -> Iterator[Skimmed]:
        """All that were asked for."""
        for method, z in self.asked.wanted:
            yield self.skim(method, z)

    def skim(self, method: str, z: float | None) -> Skimmed:
        """One of them."""
        picks, terms, notes = self._manual() if method == MANUAL else self._picked(method, z)
        by = self.spoken.signature if self.spoken else ""
        signature = self.asked.signature(self.blocks.signature, by, method, z)
        return Skimmed(
            self.recording,
            method,
            z,
            Skim(picks, self.asked.plan.overlap),
            {**self.measures(picks), **terms},
            f"earwitness={__version__}|{signature}|sound={self.sound[:16]}",
            notes,
        )

    def measures(self, picks: tuple[Pick, ...]) -> dict[str, float]:
        """TC, SD and coverage."""
        found = heard(self._day, [(pick.start, pick.seconds) for pick in picks])
        if found is None:
            return dict.fromkeys(MEASURES, float("nan"))
        return {name: float(getattr(self._measured, name)(found)) for name in MEASURES}

    def baselines(self, picks: int) -> dict[str, dict[str, Estimate]]:
        """What picks without a thought are worth, over so many draws; and the calibrations.

        They have as many picks as the skims beside which they stand.
        """
        drawn = {name: self._baseline(name, picks) for name in BASELINES}
        known = {name: find(self._day, picks) for name, find in CALIBRATIONS.items()}
        return drawn | {name: _estimates([self._worth(rows)]) for name, rows in known.items()}

    @cached_property
    def _day(self) -> Day:
        blocks = self.blocks
        if not len(blocks):
            raise UsageError(f"{self.recording.name}: not one block of {blocks.seconds:g} s in it")
        length = self.recording.seconds
        day = Day.of(blocks.starts, blocks.seconds, blocks.vectors, blocks.classes, length)
        if self.spoken is None or self.asked.speech != "avoid":
            return day
        if self.spoken.rows.all():
            told = f"{self.recording.name}: somebody seems to speak in all of it"
            raise UsageError(f"{told} — take --speech reverse, or a better --speech-model")
        return replace(day, allowed=~self.spoken.rows)

    @cached_property
    def _measured(self) -> Measured:
        return Measured(self._day, self.asked.plan.period)

    @cached_property
    def _picker(self) -> Picker:
        if self.cache is None:
            return Picker(self._day, self.asked.plan)
        return Picker(self._day, self.asked.plan, partial(kept_archive, cache=self.cache))

    def _manual(self) -> tuple[tuple[Pick, ...], dict[str, float], tuple[str, ...]]:
        assert self.asked.times is not None
        picks = read_times(self.asked.times, self.recording, block=self.asked.plan.block)
        return tuple(self._turned(pick) for pick in picks), {}, ()

    def _picked(
        self, method: str, z: float | None
    ) -> tuple[tuple[Pick, ...], dict[str, float], tuple[str, ...]]:
        found = self._picker.pick(method, 0.5 if z is None else z)
        picks = [
            Pick(float(self._day.starts[row]), self._day.seconds, why=why)
            for row, why in zip(found.rows, found.why, strict=True)
        ]
        terms = {"tc_term": found.tc_term, "sd_term": found.sd_term}
        return tuple(self._turned(pick) for pick in picks), terms, found.notes

    def _turned(self, pick: Pick) -> Pick:
        """Played backwards, if somebody speaks in it and that was asked for."""
        if self.spoken is None or self.asked.speech != "reverse":
            return pick
        starts = self._day.starts
        over = (starts < pick.start + pick.seconds) & (starts + self._day.seconds > pick.start)
        return replace(pick, turned=True) if (over & self.spoken.rows).any() else pick

    def _baseline(self, name: str, picks: int) -> dict[str, Estimate]:
        rows = []
        for seed in range(DRAWS):
            plan = replace(self.asked.plan, picks=picks, seed=self.asked.plan.seed + seed)
            rows.append(self._worth(Picker(self._day, plan).baseline(name)))
        return _estimates(rows)

    def _worth(self, rows: Ints) -> dict[str, float]:
        starts = self._day.starts[rows].tolist()
        return self.measures(tuple(Pick(start, self._day.seconds) for start in starts))


def _estimates(rows: list[dict[str, float]], level: float = 0.95) -> dict[str, Estimate]:
    """Means over draws, with t intervals."""
    moments = column_moments(np.array([[row[name] for name in MEASURES] for row in rows]))
    low, high = interval(moments, level)
    return {
        name: Estimate(
            float(moments.mean[i]),
            float(low[i]),
            float(high[i]),
            level,
            int(moments.n[i]),
            len(rows) - int(moments.n[i]),
            "t",
        )
        for i, name in enumerate(MEASURES)
    }


def courses(skims: tuple[Skimmed, ...]) -> Iterator[Course]:
    """Curves over z, where a method has three z and more."""
    groups: dict[tuple[str, str], list[tuple[float, Skimmed]]] = {}
    for one in skims:
        if one.z is not None:
            groups.setdefault((one.recording.name, one.method), []).append((one.z, one))
    for (recording, method), group in groups.items():
        if len(group) >= FEWEST:
            tc, sd = ([one.measures[name] for _, one in group] for name in ("tc", "sd"))
            found = along_z([z for z, _ in group], tc, sd)
            yield Course(recording, method, *found, len(group))
