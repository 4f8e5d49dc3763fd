"""Write the table of clips: 220 clips with the category counts of the UDASE test."""

from __future__ import annotations

import csv
import random
from pathlib import Path

SESSIONS = ["S01"] * 112 + ["S21"] * 108
LOCATIONS = ["dining"] * 77 + ["living"] * 70 + ["kitchen"] * 73
SEXES = ["FM"] * 169 + ["F"] * 25 + ["M"] * 26


def main() -> None:
    """Shuffle the three columns; draw signal-to-noise ratios and durations at random."""
    rng = random.Random(7)
    columns = [list(column) for column in (SESSIONS, LOCATIONS, SEXES)]
    for column in columns:
        rng.shuffle(column)
    with (Path(__file__).parent / "clips.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "seconds", "session", "location", "sex", "snr"])
        for number, labels in enumerate(zip(*columns, strict=True), 1):
            seconds, snr = round(rng.uniform(4, 5), 2), round(rng.gauss(5, 5), 1)
            writer.writerow([f"clip{number:03}", seconds, *labels, snr])


if __name__ == "__main__":
    main()
