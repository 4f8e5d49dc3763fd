"""Field checks with located faults, checks derived from structs, and JSON Schema."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, inspect

from earwitness.errors import nearest

# --- Field checks --------------------------------------------------------------------------------
# Each check yields every fault it finds, with the path of the value inside the record.


UNKNOWN_FIELD = "unknown field"
CUSTOM_FIELDS_HINT = " — what is your own goes under meta"
MAX_DURATION_SECONDS = 1e9  # seconds, more than thirty years
MAX_TIME_SECONDS = 1e12  # seconds from the start
MAX_INTEGER_NAME = 2**62  # of whole numbers that name something
NAME_PATTERN = r"\A(?! )[^\x00-\x1f\x7f]+(?<! )\Z"  # no control characters, no blanks around


class Fault(NamedTuple):
    """What is wrong with a value of a record."""

    field: str
    message: str
    remedy: str = ""


Check = Callable[[Any, str], Iterator[Fault]]


class Field(NamedTuple):
    """How a field of a record is checked."""

    check: Check
    required: bool = False


def load_json_line(line: bytes) -> Any:
    """Parse a line, telling a broken one by its column."""
    try:
        value = json.loads(line.decode())
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise BadLine(Fault("", f"not UTF-8 at byte {error.start + 1}", "save as UTF-8")) from None
    except json.JSONDecodeError as error:
        where = f"at column {error.colno}: {error.msg}"
        raise BadLine(Fault("", f"not JSON {where}", "write one JSON object a line")) from None
    except UnicodeEncodeError:
        halves = Fault("", "half a character (a lone surrogate)", "write whole characters")
        raise BadLine(halves) from None
    except RecursionError:
        raise BadLine(Fault("", "not a record: nested too deeply")) from None
    except ValueError:  # Python's limit on digits
        raise BadLine(Fault("", "a number has too many digits")) from None
    return value


class BadLine(Exception):
    """The line is no record at all."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def check_record(
    fields: Mapping[str, Field],
    remedy: str = "",
    misplaced: Mapping[str, str] | None = None,
    custom_hint: str = CUSTOM_FIELDS_HINT,
) -> Check:
    """An object with these fields and no others.

    ``remedy`` is for what is no object; ``misplaced`` names fields that stand here by mistake, with
    where they belong; ``custom_hint`` says where fields of one's own go, if anywhere.
    """

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(path, f"must be an object, got {show(value)}", remedy)
            return
        for name, field in fields.items():
            if name not in value:
                if field.required:
                    yield Fault(_join(path, name), "missing")
            else:
                yield from field.check(value[name], _join(path, name))
        for name in value:
            if name not in fields:
                place = (misplaced or {}).get(name)
                hint = (
                    f"it belongs inside {place}" if place else nearest(name, fields) + custom_hint
                )
                yield Fault(_join(path, _shorten(name)), UNKNOWN_FIELD, hint)

    return check


def check_list(inner: Check, *, least: int = 0) -> Check:
    """A list whose every element passes a check."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield Fault(path, f"must be a list, got {show(value)}")
            return
        if len(value) < least:
            yield Fault(path, "must not be empty")
        for index, element in enumerate(value):
            yield from inner(element, f"{path}[{index}]")

    return check


def check_number(value: Any, path: str) -> Iterator[Fault]:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        remedy = "write seconds" if isinstance(value, str) else ""
        yield Fault(path, f"must be a number, got {show(value)}", remedy)
    elif not abs(value) <= sys.float_info.max:
        yield Fault(path, f"must be finite, got {show(value)}")


def check_name(value: Any, path: str) -> Iterator[Fault]:
    """A name: printable text that is not empty, or a whole number."""
    if not is_name(value):
        remedy = "no control characters, no blanks around it"
        yield Fault(path, f"must be printable text or a whole number, got {show(value)}", remedy)


def check_text(value: Any, path: str) -> Iterator[Fault]:
    """Any text."""
    if not isinstance(value, str):
        yield Fault(path, f"must be text, got {show(value)}")


def is_name(value: Any) -> bool:
    """Whether a value can name something."""
    if isinstance(value, str):
        return re.search(NAME_PATTERN, value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_INTEGER_NAME


def check_mapping(value: Any, path: str) -> Iterator[Fault]:
    """Any object."""
    if not isinstance(value, dict):
        yield Fault(path, f"must be an object, got {show(value)}")


def check_row(
    parts: Sequence[Field], message: str = "must be a list of two", remedy: str = ""
) -> Check:
    """A list with a place for each part, of which the last may be left out if not required."""
    least = sum(part.required for part in parts)

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, list) or not least <= len(value) <= len(parts):
            yield Fault(path, f"{message}, got {show(value)}", remedy)
            return
        for index, (part, field) in enumerate(zip(value, parts, strict=False)):
            yield from field.check(part, f"{path}[{index}]")

    return check


def check_either(kind: type, matching_check: Check, other_check: Check) -> Check:
    """One check for values of a kind, another for all else."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        yield from (matching_check if isinstance(value, kind) else other_check)(value, path)

    return check


def show(value: Any) -> str:
    """A value as JSON, cut to a readable length."""
    return _shorten(json.dumps(value, ensure_ascii=False, default=str))


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# --- Shapes and JSON Schema ----------------------------------------------------------------------


MAX_WHOLE_NUMBER = 1_000_000
Schema = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """What a value must be: a check that finds every fault, and the same as a schema."""

    check: Check
    schema: Schema = dataclasses.field(default_factory=dict)

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


text = Shape(check_text, {"type": "string"})
name = Shape(check_name, {"type": ["string", "integer"]})


def whole_number(least: int, most: int = MAX_WHOLE_NUMBER) -> Shape:
    """A whole number in a range."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or not least <= value <= most:
            message = f"must be a whole number from {least} to {most:,}"
            yield Fault(path, f"{message}, got {show(value)}")

    return Shape(check, {"type": "integer", "minimum": least, "maximum": most})


def number(least: float, most: float = float("inf")) -> Shape:
    """A number in a range."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        faults = list(check_number(value, path))
        yield from faults
        if not faults and not least <= value <= most:
            limits = f"from {least:g} on" if most == float("inf") else f"from {least:g} to {most:g}"
            yield Fault(path, f"must be {limits}, got {show(value)}")

    top = {} if most == float("inf") else {"maximum": most}
    return Shape(check, {"type": "number", "minimum": least, **top})


any_number = Shape(check_number, {"type": "number"})


def either(plain: Shape, whole: Shape) -> Shape:
    """Something plain, or a mapping that says more."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        return (whole if isinstance(value, dict) else plain)(value, path)

    return Shape(check, {"anyOf": [plain.schema, whole.schema]})


def _check_boolean(value: Any, path: str) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield Fault(path, f"must be true or false, got {show(value)}")


yes_or_no = Shape(_check_boolean, {"type": "boolean"})


def one_of(what: str, choices: Iterable[str]) -> Shape:
    """One of several names."""
    names = list(choices)

    def check(value: Any, path: str) -> Iterator[Fault]:
        if value not in names:
            yield Fault(path, f"there is no {what} {show(value)}", nearest(str(value), names))

    return Shape(check, {"enum": names})


def list_of(inner: Shape, *, least: int = 0) -> Shape:
    """A list whose every element is of a shape."""
    schema = {"type": "array", "items": inner.schema, "minItems": least}
    return Shape(check_list(inner.check, least=least), schema)


def pair_of(inner: Shape) -> Shape:
    """A list of two."""
    schema = {"type": "array", "items": inner.schema, "minItems": 2, "maxItems": 2}
    return Shape(check_row([Field(inner.check, required=True)] * 2), schema)


def mapping_of(inner: Shape) -> Shape:
    """Any names, each with a value of a shape."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        faults = list(check_mapping(value, path))
        yield from faults
        if not faults:
            for key, element in value.items():
                yield from inner(element, f"{path}.{key}")

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
    return Shape(check_record(fields, custom_hint=""), schema)


def fill_defaults(value: Mapping[str, Any], entries: Mapping[str, Entry]) -> dict[str, Any]:
    """The same with what holds for keys that are left out."""
    defaults = {key: entry.default for key, entry in entries.items() if entry.default is not None}
    return {**defaults, **value}


# --- Checks of structs ---------------------------------------------------------------------------
# A record is described once, by its struct: names, types and bounds, and in the ``extra`` of a
# type's ``Meta`` the wording of its faults where the usual one does not do: ``message`` says what a
# value must be, ``remedy`` what to do, ``unit`` what the bounds are in.


Wording = Mapping[str, str]
JSON_TYPES: dict[type[inspect.Type], type | tuple[type, ...]] = {
    inspect.StrType: str,
    inspect.IntType: int,
    inspect.FloatType: (int, float),
    inspect.ListType: list,
    inspect.TupleType: list,
    inspect.DictType: dict,
}


def derive_check(struct: type) -> Check:
    """The check that a struct stands for: it accepts what msgspec accepts, and finds every fault.

    >>> from msgspec import Struct
    >>> class Song(Struct, forbid_unknown_fields=True):
    ...     title: str
    ...     seconds: Length
    >>> for fault in derive_check(Song)({"titel": "Dove sei", "seconds": -1}, ""):
    ...     print(*fault[:2])
    title missing
    seconds must not be negative, got -1
    titel unknown field
    """
    return _check_of_type(inspect.type_info(struct))


def _check_of_type(kind: inspect.Type, wording: Wording | None = None) -> Check:
    """The check of a type."""
    wording = wording or {}
    match kind:
        case inspect.Metadata():
            return _check_of_type(kind.type, kind.extra)
        case inspect.StructType(array_like=True):
            return check_row([_derive_field(one) for one in kind.fields], **wording)
        case inspect.StructType():
            fields = {one.name: _derive_field(one) for one in kind.fields}
            return check_record(fields, misplaced=_fields_inside(kind), **wording)
        case inspect.TupleType() if len(kind.item_types) == 2:
            return check_row([Field(_check_of_type(one), required=True) for one in kind.item_types])
        case inspect.ListType():
            return check_list(_check_of_type(kind.item_type), least=kind.min_length or 0)
        case inspect.UnionType():
            return _check_union(kind.types, wording)
        case inspect.FloatType():
            return _check_bounds(kind, wording)
        case inspect.IntType():
            return _check_integer(kind, wording)
        case inspect.StrType():
            return _check_string(kind, wording)
        case inspect.DictType():
            return check_mapping
    raise TypeError(f"no check for {kind}")


def _derive_field(field: inspect.Field) -> Field:
    return Field(_check_of_type(field.type), field.required)


def _without_metadata(kind: inspect.Type) -> inspect.Type:
    return kind.type if isinstance(kind, inspect.Metadata) else kind


def _fields_inside(struct: inspect.StructType) -> dict[str, str]:
    """Fields of the structs inside a struct, with where they are."""
    places: dict[str, str] = {}
    for field in struct.fields:
        kind, place = _without_metadata(field.type), field.name
        if isinstance(kind, inspect.ListType):
            kind, place = _without_metadata(kind.item_type), f"{place}[0]"
        if isinstance(kind, inspect.StructType) and not kind.array_like:
            places |= {one.name: place for one in kind.fields}
    return places


def _check_union(kinds: Sequence[inspect.Type], wording: Wording) -> Check:
    """One of several types; without a wording, what is of none of them is taken for the first."""
    checks = [(_json_type(kind), _check_of_type(kind)) for kind in kinds]

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not wording:
            fitting = (one for json_type, one in checks if isinstance(value, json_type))
            yield from next(fitting, checks[0][1])(value, path)
        elif all(any(one(value, path)) for _, one in checks):
            yield Fault(path, f"{wording['message']}, got {show(value)}", wording["remedy"])

    return check


def _json_type(kind: inspect.Type) -> type | tuple[type, ...]:
    kind = _without_metadata(kind)
    if isinstance(kind, inspect.StructType):
        return list if kind.array_like else dict
    return JSON_TYPES[type(kind)]


def _check_bounds(kind: inspect.FloatType, wording: Wording) -> Check:
    """A number within its bounds."""
    unit, remedy = wording.get("unit", ""), wording.get("remedy", "")

    def check(value: Any, path: str) -> Iterator[Fault]:
        faults = list(check_number(value, path))
        yield from faults
        if faults:
            return
        below, above = _is_below(kind, value), _is_above(kind, value)
        if "message" in wording and (below or above):
            yield Fault(path, f"{wording['message']}, got {show(value)}", remedy)
        elif below and value < 0 and 0 in (kind.ge, kind.gt):
            yield Fault(path, f"must not be negative, got {show(value)}")
        elif below:
            minimum = f"more than {kind.gt:g}" if kind.ge is None else f"at least {kind.ge:g}"
            yield Fault(path, f"must be {minimum}{unit}, got {show(value)}")
        elif above:
            yield Fault(path, f"must be at most {kind.le:g}{unit}, got {show(value)}", remedy)

    return check


def _is_below(kind: inspect.FloatType | inspect.IntType, value: float) -> bool:
    return (kind.ge is not None and value < kind.ge) or (kind.gt is not None and value <= kind.gt)


def _is_above(kind: inspect.FloatType | inspect.IntType, value: float) -> bool:
    return kind.le is not None and value > kind.le


def _check_integer(kind: inspect.IntType, wording: Wording) -> Check:
    """A whole number within its bounds."""
    message = wording.get("message", "must be a whole number")

    def check(value: Any, path: str) -> Iterator[Fault]:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or _is_below(kind, value) or _is_above(kind, value):
            yield Fault(path, f"{message}, got {show(value)}", wording.get("remedy", ""))

    return check


def _check_string(kind: inspect.StrType, wording: Wording) -> Check:
    """Text that is long enough and of a pattern."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        faults = list(check_text(value, path))
        yield from faults
        if not faults and len(value) < (kind.min_length or 0):
            yield Fault(path, "must not be empty", wording.get("remedy", ""))
        elif not faults and kind.pattern and not re.search(kind.pattern, value):
            yield Fault(path, f"must match {kind.pattern}, got {show(value)}")

    return check


# --- Field types ---------------------------------------------------------------------------------


WholeNumber = Annotated[int, Meta(ge=-MAX_INTEGER_NAME, le=MAX_INTEGER_NAME)]
Name = Annotated[
    Annotated[str, Meta(pattern=NAME_PATTERN)] | WholeNumber,
    Meta(
        extra={
            "message": "must be printable text or a whole number",
            "remedy": "no control characters, no blanks around it",
        }
    ),
]
Length = Annotated[
    float,
    Meta(
        ge=0,
        le=MAX_DURATION_SECONDS,
        extra={"unit": " s", "remedy": "are these samples or milliseconds?"},
    ),
]
Moment = Annotated[
    float,
    Meta(
        ge=-MAX_TIME_SECONDS,
        le=MAX_TIME_SECONDS,
        extra={
            "message": f"must be within {MAX_TIME_SECONDS:g} s of the start",
            "remedy": "are these seconds?",
        },
    ),
]
Number = Annotated[float, Meta(ge=-1e300, le=1e300)]
