"""Field checks with located faults, checks derived from structs, and JSON Schema."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

from msgspec import NODEFAULT, Meta, inspect, to_builtins

from earwitness.core import load_json
from earwitness.errors import nearest, whole_characters

# --- Faults and lines ----------------------------------------------------------------------------


UNKNOWN_FIELD = "unknown field"
REPEATED_KEY = "appears twice in one object"
JSON_TOKEN = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"(\s*:)?|[{}]')
CUSTOM_FIELDS_HINT = ' Put your own fields under "meta"'
MAX_DURATION_SECONDS = 1e9  # more than thirty years
MAX_TIME_SECONDS = 1e12  # largest time from the start
MAX_INTEGER_NAME = 2**62  # largest whole number used as a name
MAX_NUMBER_DIGITS = 300  # of a whole number in a text; no database stores more
MAX_WHOLE_NUMBER = 1_000_000  # largest whole number used as a count
# no control characters or surrounding spaces; the same in Python and in editors with JSON Schema
NAME_PATTERN = r"^(?! )[^\x00-\x1f\x7f]+(?<! )(?![\s\S])"


class Fault(NamedTuple):
    """A fault of a value of a record: its path, what is wrong, and what to do."""

    field: str
    message: str
    remedy: str = ""


Check = Callable[[Any, str], Iterator[Fault]]


class Field(NamedTuple):
    """Check of a field of a record."""

    check: Check
    required: bool = False


def load_json_line(line: bytes) -> Any:
    """Parse a line of JSON; raise BadLine with the column of a syntax error, or a repeated key."""
    try:
        text = line.decode()
        value = load_json(text)
    except UnicodeDecodeError as error:
        raise BadLine(Fault("", f"not UTF-8 at byte {error.start + 1}", "save as UTF-8")) from None
    except json.JSONDecodeError as error:
        where = f"at column {error.colno}: {error.msg}"
        raise BadLine(Fault("", f"not JSON {where}", "write one JSON object per line")) from None
    except ValueError as error:
        raise BadLine(Fault("", str(error))) from None
    if (repeated := find_repeated_key(text)) is not None:
        raise BadLine(Fault(repeated.path, REPEATED_KEY, "keep one"))
    return value


class RepeatedKey(NamedTuple):
    """The path of a key that appears twice in one object, and where it appears again."""

    path: str
    place: int


def find_repeated_key(text: str) -> RepeatedKey | None:
    """Return the first key that appears twice in one object of a valid JSON text, or None.

    >>> find_repeated_key('{"a": 1, "b": {"c": 2, "c": 3}}')
    RepeatedKey(path='b.c', place=23)
    """
    objects: list[tuple[set[str], str]] = []  # keys and path of the objects that are open
    path = ""
    for match in JSON_TOKEN.finditer(text):
        token = match[0]
        if token == "{":
            objects.append((set(), path))
        elif token == "}":
            objects.pop()
        elif match[2] is not None:  # followed by a colon
            keys, parent = objects[-1]
            name = json.loads(f'"{match[1]}"') if "\\" in match[1] else match[1]
            path = _join(parent, _shorten(name))
            if name in keys:
                return RepeatedKey(path, match.start())
            keys.add(name)
    return None


class BadLine(Exception):
    """The line is not a JSON record."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def is_name(value: Any) -> bool:
    """Whether a value is a valid name."""
    if isinstance(value, str):
        return re.search(NAME_PATTERN, value) is not None and whole_characters(value) == value
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_INTEGER_NAME


def whole_number(text: str) -> int:
    """Return the number that digits write; -1 for other text, and for more than 300 digits.

    >>> whole_number("017"), whole_number("1.5"), whole_number("9" * 5000)
    (17, -1, -1)
    """
    return int(text) if text.isdecimal() and len(text) <= MAX_NUMBER_DIGITS else -1


def show(value: Any) -> str:
    """Return a value as JSON, shortened to a readable length."""
    return _shorten(json.dumps(value, ensure_ascii=False, default=str))


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# --- Checks of structs ---------------------------------------------------------------------------
# Each check yields every fault it finds, with the path of the value inside the record.
# A record or a YAML file is described by its struct: names, types and bounds. The ``extra`` of a
# type's ``Meta`` may have the wording of its faults: ``message`` says what a value must be,
# ``remedy`` what to do, ``unit`` is the unit of bounds, ``noun`` and ``options`` are the choices.


Wording = Mapping[str, Any]
JSON_TYPES: dict[type[inspect.Type], type | tuple[type, ...]] = {
    inspect.StrType: str,
    inspect.IntType: int,
    inspect.FloatType: (int, float),
    inspect.BoolType: bool,
    inspect.ListType: list,
    inspect.TupleType: list,
    inspect.DictType: dict,
}


def derive_check(struct: type, *, hints: bool = True) -> Check:
    """Return the check of a struct, which accepts what msgspec accepts and finds every fault.

    With ``hints``, the remedy for an unknown field says where it, or custom fields, belong.

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
    return _derive(inspect.type_info(struct), {}, hints)


def derive_null_removal(struct: type) -> Callable[[Any], int]:
    """Return a function that removes optional fields that are null, and returns their number.

    >>> from msgspec import Struct
    >>> class Song(Struct):
    ...     title: str
    ...     composer: str = ""
    >>> song = {"title": None, "composer": None}
    >>> derive_null_removal(Song)(song), song
    (1, {'title': None})
    """
    return _null_removal(inspect.type_info(struct))


def _null_removal(kind: inspect.Type) -> Callable[[Any], int]:
    """Return the same for a type; lists and objects of unknown content are left as they are."""
    kind = _without_metadata(kind)
    if isinstance(kind, inspect.ListType):
        remove = _null_removal(kind.item_type)
        if remove is _remove_no_nulls:
            return remove
        return lambda value: sum(map(remove, value)) if isinstance(value, list) else 0
    if not isinstance(kind, inspect.StructType):
        return _remove_no_nulls
    if kind.array_like:
        return partial(_remove_last_nulls, sum(field.required for field in kind.fields))
    optional = [field.name for field in kind.fields if not field.required]
    inner = {field.name: _null_removal(field.type) for field in kind.fields}

    def remove_nulls(value: Any) -> int:
        if not isinstance(value, dict):
            return 0
        nulls = [name for name in optional if name in value and value[name] is None]
        for name in nulls:
            del value[name]
        return len(nulls) + sum(inner[name](value[name]) for name in value if name in inner)

    return remove_nulls


def _remove_last_nulls(least: int, value: Any) -> int:
    count = 0
    while isinstance(value, list) and len(value) > least and value[-1] is None:
        value.pop()
        count += 1
    return count


def _remove_no_nulls(_value: Any) -> int:
    return 0


def _derive(kind: inspect.Type, wording: Wording, hints: bool) -> Check:
    """Return the check of a type."""
    match kind:
        case inspect.Metadata():
            return _derive(kind.type, {**wording, **(kind.extra or {})}, hints)
        case inspect.StructType(array_like=True):
            return _check_row([_field(field, hints) for field in kind.fields], **wording)
        case inspect.StructType():
            return _check_record(kind, hints, **wording)
        case inspect.TupleType() if len(kind.item_types) == 2:
            return _check_row([Field(_derive(item, {}, hints), True) for item in kind.item_types])
        case inspect.ListType():
            return _check_list(kind, wording, _derive(kind.item_type, {}, hints))
        case inspect.DictType():
            key_check = _derive(kind.key_type, {}, hints)
            return _check_mapping(key_check, _derive(kind.value_type, {}, hints))
        case inspect.UnionType():
            checks = [(_json_types(inner), _derive(inner, {}, hints)) for inner in kind.types]
            return _check_union(checks, wording)
        case inspect.FloatType():
            return _check_bounds(kind, wording)
        case inspect.IntType():
            return _check_integer(kind, wording)
        case inspect.StrType() if "options" in wording:
            return _check_choice(wording["noun"], wording["options"])
        case inspect.StrType():
            return _check_string(kind, wording)
        case inspect.BoolType():
            return _check_boolean
        case inspect.AnyType():
            return lambda value, path: iter(())  # noqa: ARG005
    raise TypeError(f"no check for {kind}")


def _field(field: inspect.Field, hints: bool) -> Field:
    return Field(_derive(field.type, {}, hints), field.required)


def _without_metadata(kind: inspect.Type) -> inspect.Type:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    return kind


def _fields_inside(struct: inspect.StructType) -> dict[str, str]:
    """Return the fields of nested structs, with their paths."""
    places: dict[str, str] = {}
    for field in struct.fields:
        kind, place = _without_metadata(field.type), field.name
        if isinstance(kind, inspect.ListType):
            kind, place = _without_metadata(kind.item_type), f"{place}[0]"
        if isinstance(kind, inspect.StructType) and not kind.array_like:
            places |= {inner.name: place for inner in kind.fields}
    return places


def _check_record(kind: inspect.StructType, hints: bool, remedy: str = "") -> Check:
    """Return a check for an object with these fields and no others.

    ``remedy`` is for values that are not objects.
    """
    fields = {field.name: _field(field, hints) for field in kind.fields}
    misplaced = _fields_inside(kind) if hints else {}

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(path, f"must be an object, got {show(value)}", remedy)
            return
        for name, field in fields.items():
            if name in value:
                yield from field.check(value[name], _join(path, name))
            elif field.required:
                yield Fault(_join(path, name), "missing")
        for name in value:
            if name in fields:
                continue
            if name in misplaced:
                remedy_text = f"it belongs inside {misplaced[name]}"
            else:
                remedy_text = nearest(name, fields)
                stop = "" if remedy_text.endswith("?") else "."
                remedy_text += f"{stop}{CUSTOM_FIELDS_HINT}" if hints else ""
            yield Fault(_join(path, _shorten(name)), UNKNOWN_FIELD, remedy_text)

    return check


def _check_row(
    parts: Sequence[Field], message: str = "must be a list of two", remedy: str = ""
) -> Check:
    """Return a check for a list with one element per part; optional parts at the end may lack."""
    least = sum(part.required for part in parts)

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, list) or not least <= len(value) <= len(parts):
            yield Fault(path, f"{message}, got {show(value)}", remedy)
            return
        for index, (part, field) in enumerate(zip(value, parts, strict=False)):
            yield from field.check(part, f"{path}[{index}]")

    return check


def _check_list(kind: inspect.ListType, wording: Wording, item_check: Check) -> Check:
    """Return a check for a list; a wording replaces the message about its length."""
    least, most = kind.min_length or 0, kind.max_length or sys.maxsize
    message = wording.get("message")

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield Fault(path, f"must be a list, got {show(value)}")
            return
        if not message and len(value) < least:
            yield Fault(path, "must not be empty")
        for index, element in enumerate(value):
            yield from item_check(element, f"{path}[{index}]")
        if message and not least <= len(value) <= most:
            yield Fault(path, f"{message}, got {len(value)}")

    return check


def _check_mapping(key_check: Check, value_check: Check) -> Check:
    """Return a check for an object whose keys and values pass these checks."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(path, f"must be an object, got {show(value)}")
            return
        for key, inner in value.items():
            yield from key_check(key, f"{path}.{key}")
            yield from value_check(inner, f"{path}.{key}")

    return check


def _check_union(checks: Sequence[tuple[tuple[type, ...], Check]], wording: Wording) -> Check:
    """Return a check for one of several types; without a wording, others fail the first check."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not wording:
            fitting = (inner for types, inner in checks if isinstance(value, types))
            yield from next(fitting, checks[0][1])(value, path)
        elif all(any(inner(value, path)) for _, inner in checks):
            yield Fault(path, f"{wording['message']}, got {show(value)}", wording["remedy"])

    return check


def _json_types(kind: inspect.Type) -> tuple[type, ...]:
    """Return the Python types of the JSON values of a type."""
    kind = _without_metadata(kind)
    if isinstance(kind, inspect.UnionType):
        return tuple(json_type for inner in kind.types for json_type in _json_types(inner))
    if isinstance(kind, inspect.StructType):
        return (list if kind.array_like else dict,)
    types = JSON_TYPES[type(kind)]
    return types if isinstance(types, tuple) else (types,)


def _check_bounds(kind: inspect.FloatType, wording: Wording) -> Check:
    """Return a check for a number within its bounds."""
    unit, remedy = wording.get("unit", ""), wording.get("remedy", "")

    def check(value: Any, path: str) -> Iterator[Fault]:
        if isinstance(value, bool) or not isinstance(value, int | float):
            unit_remedy = "write seconds" if isinstance(value, str) else ""
            yield Fault(path, f"must be a number, got {show(value)}", unit_remedy)
            return
        below, above = _is_below(kind, value), _is_above(kind, value)
        if not abs(value) <= sys.float_info.max:
            yield Fault(path, f"must be finite, got {show(value)}")
        elif "message" in wording and (below or above):
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
    """Return a check for a whole number within its bounds."""
    message = wording.get("message", "must be a whole number")

    def check(value: Any, path: str) -> Iterator[Fault]:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or _is_below(kind, value) or _is_above(kind, value):
            yield Fault(path, f"{message}, got {show(value)}", wording.get("remedy", ""))

    return check


def _check_string(kind: inspect.StrType, wording: Wording) -> Check:
    """Return a check for text with a minimum length and a pattern."""
    message = wording.get("message", f"must match {kind.pattern}")

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield Fault(path, f"must be text, got {show(value)}")
        elif len(value) < (kind.min_length or 0):
            yield Fault(path, "must not be empty", wording.get("remedy", ""))
        elif kind.pattern and not re.search(kind.pattern, value):
            yield Fault(path, f"{message}, got {show(value)}")

    return check


def _check_choice(noun: str, options: Sequence[str]) -> Check:
    """Return a check for one of several names."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        if value not in options:
            yield Fault(path, f"unknown {noun} {show(value)}", nearest(str(value), options))

    return check


def _check_boolean(value: Any, path: str) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield Fault(path, f"must be true or false, got {show(value)}")


# --- Defaults of structs -------------------------------------------------------------------------


def fill_defaults(value: Mapping[str, Any], struct: type) -> dict[str, Any]:
    """Return a checked value with the defaults of missing fields, also in nested structs.

    Names that are whole numbers become text.

    >>> from msgspec import defstruct
    >>> hall = defstruct("Hall", [("seats", int), ("name", str, "hall")])
    >>> house = defstruct("House", [("halls", list[hall])])
    >>> fill_defaults({"halls": [{"seats": 80}]}, house)
    {'halls': [{'seats': 80, 'name': 'hall'}]}
    """
    filled: dict[str, Any] = _fill(value, inspect.type_info(struct))
    return filled


def _fill(value: Any, kind: inspect.Type) -> Any:
    kind = _without_metadata(kind)
    if isinstance(kind, inspect.ListType):
        return [_fill(inner, kind.item_type) for inner in value]
    if isinstance(kind, inspect.TupleType):
        return [
            _fill(inner, inner_type)
            for inner, inner_type in zip(value, kind.item_types, strict=True)
        ]
    if isinstance(kind, inspect.UnionType) and type(value) is int:
        parts = map(_without_metadata, kind.types)
        is_name = any(getattr(part, "pattern", None) == NAME_PATTERN for part in parts)
        return str(value) if is_name else value
    if not isinstance(kind, inspect.StructType):
        return value
    filled = {}
    for field in kind.fields:
        if field.name in value:
            filled[field.name] = _fill(value[field.name], field.type)
        elif field.default is not NODEFAULT:
            filled[field.name] = field.default
        elif field.default_factory is not NODEFAULT:
            filled[field.name] = to_builtins(field.default_factory())
    return filled


# --- Field types ---------------------------------------------------------------------------------


WholeNumber = Annotated[int, Meta(ge=-MAX_INTEGER_NAME, le=MAX_INTEGER_NAME)]
Name = Annotated[
    Annotated[str, Meta(pattern=NAME_PATTERN)] | WholeNumber,
    Meta(
        extra={
            "message": "must be printable text or a whole number",
            "remedy": "remove control characters and surrounding spaces",
        }
    ),
]
Length = Annotated[
    float,
    Meta(
        ge=0,
        le=MAX_DURATION_SECONDS,
        extra={"unit": " s", "remedy": "check that durations are in seconds"},
    ),
]
Moment = Annotated[
    float,
    Meta(
        ge=-MAX_TIME_SECONDS,
        le=MAX_TIME_SECONDS,
        extra={
            "message": f"must be within {MAX_TIME_SECONDS:g} s of the start",
            "remedy": "check that times are in seconds",
        },
    ),
]
Number = Annotated[float, Meta(ge=-1e300, le=1e300)]


def whole_range(least: int, most: int = MAX_WHOLE_NUMBER) -> Meta:
    """Return the metadata of a whole number in a range."""
    message = f"must be a whole number from {least} to {most:,}"
    return Meta(ge=least, le=most, extra={"message": message})


def number_range(least: float, most: float | None = None) -> Meta:
    """Return the metadata of a number in a range."""
    limits = f"at least {least:g}" if most is None else f"from {least:g} to {most:g}"
    return Meta(ge=least, le=most, extra={"message": f"must be {limits}"})


def choice_of(noun: str, options: Iterable[str]) -> Meta:
    """Return the metadata of one of several names."""
    names = list(options)
    extra = {"noun": noun, "options": names}
    return Meta(extra=extra, extra_json_schema={"enum": names})
