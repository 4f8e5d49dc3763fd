"""Write the table of ratings: twelve simulated listeners, one of them careless."""

from __future__ import annotations

from pathlib import Path

from earwitness.io.tables import records_csv
from earwitness.studies.file.reader import with_digest
from earwitness.studies.from_answers import rating_records, ratings_from_answers
from earwitness.studies.population import Population
from earwitness.studies.simulate import study_simulate
from earwitness.studies.study import Clip, Study, StudyBlock

SYSTEMS = ("noisy", "gentle", "strong", "mixed")
QUALITIES = {
    ("noisy", "SIG"): 0.85,
    ("noisy", "BAK"): 0.15,
    ("noisy", "OVRL"): 0.35,
    ("gentle", "SIG"): 0.75,
    ("gentle", "BAK"): 0.45,
    ("gentle", "OVRL"): 0.55,
    ("strong", "SIG"): 0.45,
    ("strong", "BAK"): 0.85,
    ("strong", "OVRL"): 0.5,
    ("mixed", "SIG"): 0.7,
    ("mixed", "BAK"): 0.7,
    ("mixed", "OVRL"): 0.68,
}


def main() -> None:
    """Simulate the study and write its ratings."""
    study = Study(
        title="Four ways to enhance speech",
        seed=1,
        material=tuple(Clip(f"clip{n}", 4.0) for n in range(1, 11)),
        blocks=(StudyBlock("p835", SYSTEMS, clips=10, sessions=2, heard=len(SYSTEMS)),),
        listeners=12,
    )
    found = study_simulate(with_digest(study), Population(careless=1, qualities=QUALITIES), seed=3)
    ratings = ratings_from_answers(
        found.design.study, dict(enumerate(found.answers, 1)), "simulated"
    )
    columns = ("item", "system", "listener", "scale", "value", "session", "trial", "asked")
    rows = [{name: one[name] for name in columns} for one in rating_records(ratings)]
    path = Path(__file__).parent / "ratings.csv"
    path.write_text(records_csv(rows), encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
