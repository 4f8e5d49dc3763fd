"""Balance of designs of listening tests, compared with a plain shuffle, and time to create them.

The first design is the example with 220 clips, 32 listeners and the margins of the UDASE listening
test. The others have a thousand clips and a hundred listeners in one, four and twenty-five panels;
creating the design, checking its balance (and that of the shuffle) and writing all files are timed.
`--quick` uses a tenth of both.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.report import study_design, study_render, study_write
from earwitness.studies.study import Clip, Study, StudyBlock

EXAMPLE = Path(__file__).parents[1] / "examples" / "p835" / "study.yaml"
SYSTEMS = ("C0", "C1", "C2", "C3", "C4")


def large(clips: int, listeners: int, panels: int) -> Study:
    """Return a study with clips of twelve strata with an SNR."""
    rng = random.Random(1)
    material = tuple(
        Clip(
            f"clip{n}",
            4.5,
            {"sex": rng.choice("fm"), "place": rng.choice("abcdef"), "snr": rng.gauss(5, 5)},
        )
        for n in range(clips)
    )
    block = StudyBlock("p835", SYSTEMS, clips // panels, sessions=4, heard=len(SYSTEMS))
    return Study(
        title="large",
        seed=1,
        material=material,
        blocks=(block,),
        listeners=listeners,
        panels=panels,
        categories=("sex", "place"),
        numbers=("snr",),
    )


def example() -> None:
    """Print the balance of the example, as in its report."""
    start = time.perf_counter()
    made = study_design(EXAMPLE)
    print(f"{made.study.title}, designed in {time.perf_counter() - start:.1f} s:")
    for claim in check_balance(made):
        print(f"  {claim.what}: {claim.observed} (shuffle {claim.shuffled}), met: {claim.kept}")


def timed(clips: int, listeners: int, panels: int) -> None:
    """Print the time of every step."""
    study = large(clips, listeners, panels)
    start = time.perf_counter()
    made = study_design(study)
    designed = time.perf_counter()
    study_render(made)
    told = time.perf_counter()
    with TemporaryDirectory() as place:
        study_write(made, Path(place) / "design")
    written = time.perf_counter()
    trials = sum(len(session) for plan in made.plans for session in plan.sessions)
    print(
        f"{clips:,} clips, {listeners} listeners, {panels} panels, {trials:,} trials: "
        f"design {designed - start:.1f} s, report {told - designed:.1f} s, "
        f"files with report {written - told:.1f} s"
    )


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    example()
    for panels in (1, 2) if quick else (1, 4, 25):
        timed(*((100, 10) if quick else (1000, 100)), panels)


if __name__ == "__main__":
    main()
