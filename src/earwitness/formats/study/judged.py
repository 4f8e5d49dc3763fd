"""What only studies of captions have: a rubric, captions, juries; and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from earwitness.data import Clip
from earwitness.errors import Problem, nearest
from earwitness.formats.check import Fault
from earwitness.listening.kinds import KINDS, Kind
from earwitness.listening.kinds.rubric import RubricKind

Value = Mapping[str, Any]


def captioned(value: Any) -> bool:
    """Whether a study is about captions, all of whose systems share the sound of a clip."""
    blocks = value.get("blocks") if isinstance(value, dict) else None
    known = [one.get("kind") for one in blocks if isinstance(one, dict)] if blocks else []
    return any(KINDS[kind].captioned for kind in known if kind in KINDS)


def with_rubric(block: Value, rubric: Any) -> dict[str, Any]:
    """A block with the rubric of the study, if it judges captions."""
    if block["kind"] != RubricKind.name or rubric is None:
        return dict(block)
    return {**block, "parameters": {"rubric": rubric, **block["parameters"]}}


def missing_sounds(folder: Path, value: Value) -> list[Problem]:
    """Sounds of examples that are not there."""
    rubric = value.get("rubric")
    examples = rubric.get("examples", ()) if isinstance(rubric, dict) else ()
    names = dict.fromkeys(one["sound"] for one in examples if one.get("sound"))
    return [
        Problem(str(folder / name), 0, "", "is missing: an example of the rubric names it")
        for name in names
        if not (folder / name).is_file()
    ]


def judged_faults(value: Value, kinds: Sequence[Kind], clips: Sequence[Clip]) -> Iterator[Fault]:
    """Faults of a study file that are about captions."""
    about = captioned(value)
    for key in ("captions", "rubric"):
        if key in value and not about:
            yield Fault(key, "no block judges captions", "write kind: rubric")
    if about:
        yield from _alone(value, kinds)
        if "captions" not in value:
            yield Fault("captions", "missing", "a table with item, system and caption")
    for number, kind in enumerate(kinds):
        known = list(clips[0].covariates) if clips else []
        if kind.within and clips and kind.within not in known:
            told = f'the material has no column "{kind.within}"'
            yield Fault(f"blocks[{number}].parameters.group", told, nearest(kind.within, known))


def _alone(value: Value, kinds: Sequence[Kind]) -> Iterator[Fault]:
    if not all(kind.captioned for kind in kinds):
        yield Fault("blocks", "captions and sounds are judged in studies of their own")
    for key in ("rows", "feedback"):
        if value.get(key):
            yield Fault(key, "a study of captions cannot have this", "leave it out")


def jury_faults(value: Value) -> Iterator[Fault]:
    """Juries must be all listeners."""
    count = sum(value["juries"].values())
    if value["juries"] and count != value.get("listeners", count):
        told = f"juries have {count} listeners, the study {value['listeners']}"
        yield Fault("juries", told, "leave listeners out")
    if value["juries"] and value.get("rows"):
        yield Fault("juries", "rows say who listens", "leave it out")
