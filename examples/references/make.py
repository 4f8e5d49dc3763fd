"""Write a simulated study on the number of references: outputs, references and judgements.

The default sizes are those of the study in which SumACCY and WSumACCY were proposed.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

from earwitness.experiments.simulate import simulate_references_study

SIZES = {"items": 50, "people": 25, "systems": 9, "judges": 10, "isolated": 0, "seed": 0}


def main(folder: Path, **sizes: Any) -> None:
    """Write outputs.jsonl, references.jsonl and judgements.csv into a new folder."""
    study = simulate_references_study(**sizes)
    folder.mkdir(parents=True)
    for name, records in (("outputs", study.outputs), ("references", study.references)):
        lines = [f"{json.dumps(record)}\n" for record in records]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    with (folder / "judgements.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["item", "system", "listener", "score"])
        writer.writeheader()
        writer.writerows(study.judgements)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    main(**vars(parser.parse_args()))
