"""Write a small study on the TC/SD plane: FOLDER/study.yaml, with short synthetic days.

Two days of 8 minutes, in which an hour lasts 20 seconds, have eight skims of 48 s each. Practice
uses a day of 12 minutes, with seven examples and eight other skims.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from earwitness.soundscapes.timetable import Timetable, TimetableRow, spread_over_hours
from earwitness.soundscapes.write import practice_write, soundscape, soundscape_write
from earwitness.studies.plane_study import study_plane

RATE = 16_000  # Hz
HOUR, PRACTICE_HOUR = 20.0, 30.0  # seconds
SKIM_SECONDS = 48.0
SEEDS = {"meadow": 1, "garden": 3}
PRACTICE_SEED = 0
# share of each hour, and events per hour
SHARES: dict[str, dict[str, float]] = {
    "crickets": {"22-4": 0.97},
    "chorus": {"4-6": 0.6},
    "birds": {"6-10": 0.5, "17-21": 0.25},
}
EVENTS: dict[str, dict[str, float]] = {
    "cuckoo": {"6-9": 0.5},
    "bells": {"8": 1, "12": 1, "18": 1},
    "crow": {"9-18": 0.2},
    "dog": {"7-21": 0.2},
    "bicycle": {"7-20": 0.2},
    "footsteps": {"7-20": 0.2},
    "voice": {"8-21": 0.2},
    "owl": {"18-21": 0.5},
}


def main(folder: Path) -> None:
    """Write the study into a folder."""
    (folder / "days").mkdir(parents=True)
    shares = [TimetableRow(name, shares=spread_over_hours(one)) for name, one in SHARES.items()]
    events = [TimetableRow(name, events=spread_over_hours(one)) for name, one in EVENTS.items()]
    timetable = Timetable("A short day", (*shares, *events), hour=HOUR)
    paths = [folder / "days" / f"{name}_20250722_000000.flac" for name in SEEDS]
    for path, seed in zip(paths, SEEDS.values(), strict=True):
        soundscape_write(soundscape(timetable, seed=seed, rate=RATE), path)
    practice_day = replace(timetable, hour=PRACTICE_HOUR)
    practice_write(soundscape(practice_day, seed=PRACTICE_SEED, rate=RATE), folder / "practice")
    study_plane(
        paths,
        folder,
        practice=folder / "practice",
        title="Skims of short days",
        listeners=4,
        length=SKIM_SECONDS,
        period=HOUR,
        parameters={"explore_minutes": 1, "point_seconds": 1, "hours": 6},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    main(parser.parse_args().folder)
