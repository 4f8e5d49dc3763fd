"""Fields of a file that people write by hand: checked, and published as a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from earwitness.errors import nearest
from earwitness.formats import check as checks
from earwitness.formats.check import Check, Fault, Field, show

MOST = 1_000_000
Schema = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """What a value must be: a check that finds every fault, and the same as a schema."""

    check: Check
    schema: Schema = field(default_factory=dict)

    def __call__(self, value: Any, path: str) -> Iterator[Fault]:
        return self.check(value, path)


@dataclass(frozen=True)
class Entry:
    """A key: what its value must be, what it means, and what holds if it is left out."""

    shape: Shape
    doc: str
    required: bool = False
    default: Any = None

    @property
    def schema(self) -> Schema:
        """Its part of a schema."""
        default = {} if self.default is None else {"default": self.default}
        return {"description": self.doc, **self.shape.schema, **default}


text = Shape(checks.text, {"type": "string"})
name = Shape(checks.name, {"type": ["string", "integer"]})


def whole(least: int, most: int = MOST) -> Shape:
    """A whole number in a range."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        right = isinstance(value, int) and not isinstance(value, bool)
        if not right or not least <= value <= most:
            told = f"must be a whole number from {least} to {most:,}"
            yield Fault(path, f"{told}, got {show(value)}")

    return Shape(check, {"type": "integer", "minimum": least, "maximum": most})


def number(least: float, most: float = float("inf")) -> Shape:
    """A number in a range."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        found = list(checks.number(value, path))
        yield from found
        if not found and not least <= value <= most:
            told = f"from {least:g} on" if most == float("inf") else f"from {least:g} to {most:g}"
            yield Fault(path, f"must be {told}, got {show(value)}")

    top = {} if most == float("inf") else {"maximum": most}
    return Shape(check, {"type": "number", "minimum": least, **top})


any_number = Shape(checks.number, {"type": "number"})


def either(plain: Shape, whole: Shape) -> Shape:
    """Something plain, or a mapping that says more."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        return (whole if isinstance(value, dict) else plain)(value, path)

    return Shape(check, {"anyOf": [plain.schema, whole.schema]})


def _yes_or_no(value: Any, path: str) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield Fault(path, f"must be true or false, got {show(value)}")


yes_or_no = Shape(_yes_or_no, {"type": "boolean"})


def one_of(what: str, known: Iterable[str]) -> Shape:
    """One of several names."""
    names = list(known)

    def check(value: Any, path: str) -> Iterator[Fault]:
        if value not in names:
            yield Fault(path, f"there is no {what} {show(value)}", nearest(str(value), names))

    return Shape(check, {"enum": names})


def list_of(inner: Shape, *, least: int = 0) -> Shape:
    """A list whose every element is of a shape."""
    schema = {"type": "array", "items": inner.schema, "minItems": least}
    return Shape(checks.listed(inner.check, least=least), schema)


def pair_of(inner: Shape) -> Shape:
    """A list of two."""
    schema = {"type": "array", "items": inner.schema, "minItems": 2, "maxItems": 2}
    return Shape(checks.pair(inner.check, inner.check), schema)


def mapping_of(inner: Shape) -> Shape:
    """Any names, each with a value of a shape."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        found = list(checks.mapping(value, path))
        yield from found
        if not found:
            for key, one in value.items():
                yield from inner(one, f"{path}.{key}")

    return Shape(check, {"type": "object", "additionalProperties": inner.schema})


anything = Shape(lambda value, path: iter(()), {})  # noqa: ARG005


def record(entries: Mapping[str, Entry]) -> Shape:
    """These keys and no others."""
    fields = {key: Field(entry.shape.check, entry.required) for key, entry in entries.items()}
    schema = {
        "type": "object",
        "properties": {key: entry.schema for key, entry in entries.items()},
        "required": [key for key, entry in entries.items() if entry.required],
        "additionalProperties": False,
    }
    return Shape(checks.record(fields, own=""), schema)


def filled(value: Mapping[str, Any], entries: Mapping[str, Entry]) -> dict[str, Any]:
    """The same with what holds for keys that are left out."""
    known = {key: entry.default for key, entry in entries.items() if entry.default is not None}
    return {**known, **value}
