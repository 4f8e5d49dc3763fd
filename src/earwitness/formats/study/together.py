"""What only shows when a whole study file is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from earwitness.data import Clip
from earwitness.errors import UsageError, nearest
from earwitness.formats.check import Fault
from earwitness.listening.kinds import KINDS, Kind
from earwitness.listening.kinds.base import LETTERS
from earwitness.listening.kinds.single import SingleKind
from earwitness.listening.screening import SCREENS
from earwitness.listening.wordings import wording

Value = Mapping[str, Any]


def contradictions(value: Value, clips: Sequence[Clip]) -> Iterator[Fault]:
    """Faults of a file whose every key is right by itself."""
    systems = [str(one) for one in value["systems"]]
    yield from _twice(systems, "systems")
    for key in ("reference", "anchors"):
        if PurePosixPath(str(value.get(key, ""))).name in systems:
            yield Fault(key, "is also a system", "name it in one place")
    for number, block in enumerate(value["blocks"]):
        yield from _block(value, block, f"blocks[{number}]", systems, len(clips))
    yield from _listeners(value)
    yield from _first(value, clips)
    yield from _covariates(value["balance"], clips)
    yield from _words(value)
    yield from _forms(value["forms"])
    yield from _planned(value, systems)


def _twice(names: Sequence[str], path: str) -> Iterator[Fault]:
    for index, one in enumerate(names):
        if one in names[:index]:
            yield Fault(f"{path}[{index}]", f'"{one}" comes twice')


def kind_of(block: Value) -> Kind | UsageError:
    """The kind with its parameters, or what is wrong with them."""
    kind, given = KINDS[block["kind"]], block.get("parameters", {})
    for name in given:
        if name not in kind.parameters():
            told = f'{kind.name} has no parameter "{name}"'
            return UsageError(f"{told} — {nearest(name, kind.parameters())}")
    try:
        return kind(**given)
    except UsageError as error:
        return error


def _block(
    value: Value, block: Value, path: str, systems: Sequence[str], clips: int
) -> Iterator[Fault]:
    own = [str(one) for one in block.get("systems", systems)]
    yield from _twice(own, f"{path}.systems")
    for index, one in enumerate(own):
        if one not in systems:
            yield Fault(f"{path}.systems[{index}]", f'no system "{one}"', nearest(one, systems))
    heard = block.get("heard", len(own))
    if heard > len(own):
        yield Fault(f"{path}.heard", f"{heard} of {len(own)} systems cannot be heard")
    panels = value["panels"]
    size = block.get("clips", clips // panels)
    if size * panels > clips:
        told = f"{panels} panels of {size} clips need {size * panels}, the material has {clips}"
        yield Fault(f"{path}.clips", told, "fewer clips or panels")
    elif size < 1:
        yield Fault("panels", f"{panels} panels, but {clips} clips")
    elif block["sessions"] > size:
        yield Fault(f"{path}.sessions", "more sessions than clips: some would lack a system")
    kind = kind_of(block)
    if isinstance(kind, UsageError):
        yield Fault(f"{path}.parameters", str(kind))
    else:
        yield from _fits(value, kind, heard, path)


def _fits(value: Value, kind: Kind, heard: int, path: str) -> Iterator[Fault]:
    """Whether a kind finds what it needs."""
    if kind.needs_reference and not value.get("reference"):
        yield Fault("reference", f"missing: {kind.name} needs it", "name a folder, such as ref")
    if not kind.treatments(["x"] * heard, ""):
        yield Fault(f"{path}.systems", f"{kind.name} needs two systems or more")
    elif kind.switching and len(kind.treatments(["x"] * heard, "")[0]) > len(LETTERS):
        yield Fault(f"{path}.systems", f"more than {len(LETTERS)} sounds on one page")
    if not isinstance(kind, SingleKind) or kind.open_reference:
        what = "anchors" if value.get("anchors") else "rows" if value.get("rows") else ""
        if what:
            yield Fault(what, f"{kind.name} does not rate clips one by one")


def _listeners(value: Value) -> Iterator[Fault]:
    if value.get("rows"):
        if "listeners" in value:
            yield Fault("listeners", "rows say who listens", "leave it out")
        if len(value["blocks"]) > 1:
            yield Fault("rows", "rows are one block", "keep one block")
        return
    if "listeners" not in value:
        yield Fault("listeners", "missing")
    elif value["listeners"] < value["panels"]:
        told = f"{value['listeners']} listeners cannot fill {value['panels']} panels"
        yield Fault("listeners", told)


def _first(value: Value, clips: Sequence[Clip]) -> Iterator[Fault]:
    """Practice needs clips that are not heard later."""
    most = max(block.get("clips", len(clips) // value["panels"]) for block in value["blocks"])
    if value["training"] and len(value["blocks"]) * most >= len(clips):
        told = "practice needs clips that are not heard later"
        yield Fault("training", told, "fewer clips a listener, or more material")


def _covariates(balance: Value, clips: Sequence[Clip]) -> Iterator[Fault]:
    known = set(clips[0].covariates) if clips else set()
    for kind, names in balance.items():
        for index, one in enumerate(map(str, names)):
            path = f"balance.{kind}[{index}]"
            if one not in known:
                yield Fault(path, f'the material has no column "{one}"', nearest(one, known))
            elif kind == "numbers":
                odd = [c.name for c in clips if not isinstance(c.covariates[one], float)]
                if odd:
                    yield Fault(path, f'"{one}" of {odd[0]} is no number', "name it a category")


def _words(value: Value) -> Iterator[Fault]:
    """Own wordings must be of pages and scales that there are, with as many labels."""
    known, own = wording(value["language"]), value["wordings"]
    for kind, names in (("pages", known.pages), ("scales", known.scales)):
        for name in own.get(kind, {}):
            if name not in names:
                yield Fault(f"wordings.{kind}.{name}", "unknown", nearest(name, names))
    for name, words in own.get("scales", {}).items():
        if name in known.scales and "labels" in words:
            wanted, got = len(known.labels(name)), len(words["labels"])
            if wanted != got:
                told = f"{name} has {wanted} labels, got {got}"
                yield Fault(f"wordings.scales.{name}.labels", told)


def _forms(forms: Value) -> Iterator[Fault]:
    for when, questions in forms.items():
        yield from _twice([str(one["name"]) for one in questions], f"forms.{when}")
        for index, one in enumerate(questions):
            path, choice = f"forms.{when}[{index}].options", one.get("answer") == "choice"
            if choice and "options" not in one:
                yield Fault(path, "missing: a choice needs them")
            if "options" in one and not choice:
                yield Fault(path, "only a choice has options", "write answer: choice")


def _planned(value: Value, systems: Sequence[str]) -> Iterator[Fault]:
    """Screening and analysis speak of what there is."""
    for index, rule in enumerate(value["screening"]):
        known = SCREENS[rule["rule"]].limits
        for name in rule.get("limits", {}):
            if name not in known:
                path = f"screening[{index}].limits.{name}"
                yield Fault(path, "unknown limit", nearest(name, known))
    scales = {scale.name for block in value["blocks"] for scale in KINDS[block["kind"]].scales}
    for index, name in enumerate(value["analysis"].get("scales", [])):
        if name not in scales:
            yield Fault(f"analysis.scales[{index}]", f'no scale "{name}"', nearest(name, scales))
    for index, pair in enumerate(value["analysis"].get("contrasts", [])):
        for place, name in enumerate(map(str, pair)):
            if name not in systems:
                path = f"analysis.contrasts[{index}][{place}]"
                yield Fault(path, f'no system "{name}"', nearest(name, systems))
