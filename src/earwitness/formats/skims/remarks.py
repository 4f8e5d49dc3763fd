"""What is odd about skims and recordings but allowed, in the words of notes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from earwitness.data import Recording
from earwitness.formats.parsed import given
from earwitness.formats.skims.layouts import Output
from earwitness.metrics import Metric
from earwitness.metrics.skims import SkimMeasures

MADE = "made with "  # before what a line says, in a remark
NAMES = ("embedder", "block", "period")
SPARSE = "made with --sparse, which score does not know: numbers differ from those of skim"


def few_blocks(recordings: Sequence[Recording], embedder: str, block: float) -> Iterator[str]:
    """About recordings with few classes of sound, which follow from the number of blocks."""
    from earwitness.models.embedders import EMBEDDERS
    from earwitness.models.grid import grid
    from earwitness.models.prototypes import few

    if embedder in EMBEDDERS:  # others may bring classes of their own
        yield from (told for one in recordings if (told := few(len(grid(one, block)))))


def made_with(records: Sequence[Output]) -> Counter[str]:
    """How outputs were made, where ``meta.made`` says it."""
    found = Counter[str]()
    for record in records:
        made = given(record.meta).get("made")
        if isinstance(made, dict):
            kept = {name: made[name] for name in (*NAMES, "sparse") if name in made}
            found[MADE + json.dumps(kept, sort_keys=True)] += 1
    return found


def made_otherwise(remark: str, number: int, metrics: Sequence[Metric]) -> Iterator[str]:
    """A note for outputs that were made with other parameters than those of every metric."""
    made = json.loads(remark.removeprefix(MADE))
    outputs = "1 output was" if number == 1 else f"{number:,} outputs were"
    if made.get("sparse") is True:
        yield f"{outputs} {SPARSE}"
    measures = [one for one in metrics if isinstance(one, SkimMeasures)]
    for name in NAMES:
        used = [getattr(one, name) for one in measures]
        if name in made and used and not any(_same(made[name], one) for one in used):
            told = f"{outputs} made with {name} {_shown(made[name])}, scored with"
            others = " and ".join(map(_shown, used))
            yield f"{told} {others} — give --{name} {_shown(made[name])}"


def _same(made: Any, used: Any) -> bool:
    """Models are the same if their files are called so, wherever they lie."""
    if isinstance(made, str) and isinstance(used, str):
        return Path(made).name == Path(used).name
    return bool(made == used)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
