"""Good cases of a block, and how records are named."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from earwitness.data import Cases, Dial
from earwitness.formats.check import is_name
from earwitness.formats.records import Findings
from earwitness.formats.slices import Labels

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]


@dataclass
class Parsed:
    """The good cases of a block, the hashes of their items, and what was found wrong.

    ``remarks`` count what is odd but allowed. ``answered`` has, for a join, the systems and rows of
    references that lines spoke of, good or bad; ``audio`` is where an item's sound is, if its line
    says so. ``dials`` say how each output was made, where a task has such; else there are none.
    """

    cases: Cases
    lines: Ints
    hashes: Hashes
    findings: Findings
    remarks: Counter[str] = field(default_factory=Counter)
    answered: list[tuple[str, int]] = field(default_factory=list)
    labels: Labels = field(default_factory=Labels)
    audio: dict[str, str] = field(default_factory=dict)
    dials: list[Dial | None] = field(default_factory=list)


def given(value: Any) -> Any:
    """An object that may have been left out."""
    return {} if value is UNSET else value


def item_name(named: Any, line: int) -> str:
    """An item's own name, or its line where it has none that is good."""
    return str(named) if is_name(named) else f"line {line}"
