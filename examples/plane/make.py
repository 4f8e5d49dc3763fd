"""Write a small study on the TC/SD plane: FOLDER/study.yaml, with short synthetic days.

Two days of 12 minutes, in which an hour lasts 30 seconds, have eight skims each. Practice uses a
day of 48 minutes, with seven examples and eight other skims.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from earwitness.soundscapes.timetable import find_timetable
from earwitness.soundscapes.write import practice_write, soundscape, soundscape_write
from earwitness.studies.plane_study import study_plane

RATE = 16_000  # Hz
DAYS = {"village": 1, "city": 2}  # timetables and seeds
HOUR, PRACTICE_HOUR, PRACTICE_SEED = 30.0, 120.0, 5  # seconds of an hour


def main() -> None:
    """Write the study into the folder of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    (folder / "days").mkdir(parents=True)
    paths = [folder / "days" / f"{name}_20250722_000000.flac" for name in DAYS]
    for path, (name, seed) in zip(paths, DAYS.items(), strict=True):
        timetable = replace(find_timetable(name), hour=HOUR)
        soundscape_write(soundscape(timetable, seed=seed, rate=RATE), path)
    timetable = replace(find_timetable("village"), hour=PRACTICE_HOUR)
    scene = soundscape(timetable, seed=PRACTICE_SEED, rate=RATE)
    practice_write(scene, folder / "practice")
    study_plane(
        paths,
        folder,
        practice=folder / "practice",
        title="Skims of short days",
        listeners=4,
        period=HOUR,
        parameters={"explore_minutes": 1, "point_seconds": 1, "hours": 6},
    )


if __name__ == "__main__":
    main()
