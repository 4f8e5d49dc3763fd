"""Slow, thorough checks of one record, run only on lines that the fast decoder refused.

Each check yields every fault it finds, with the path of the value inside the record.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from earwitness.errors import nearest

UNKNOWN = "unknown field"
OWN = " — what is your own goes under meta"
LONGEST = 1e9  # seconds, more than thirty years
FARTHEST = 1e12  # seconds from the start
LARGEST = 2**62  # of whole numbers that name something
INSIDE = ("boundaries", "titles", "preset", "positions")  # fields of contents, not of records
NAME = r"\A(?! )[^\x00-\x1f\x7f]+(?<! )\Z"  # no control characters, no blanks around


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


def load(line: bytes) -> Any:
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


def record(fields: Mapping[str, Field], like: str = "", inner: str = "", own: str = OWN) -> Check:
    """An object with these fields and no others.

    ``like`` shows what one looks like; ``inner`` names the field that holds the content, for fields
    that stand beside it by mistake; ``own`` says where fields of one's own go, if anywhere.
    """

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(path, f"must be an object, got {show(value)}", like and f"write {like}")
            return
        for name, field in fields.items():
            if name not in value:
                if field.required:
                    yield Fault(_join(path, name), "missing")
            else:
                yield from field.check(value[name], _join(path, name))
        for name in value:
            if name not in fields:
                remedy = nearest(name, fields) + own
                if inner and name in INSIDE:
                    remedy = f"it belongs inside {inner}"
                yield Fault(_join(path, _cut(name)), UNKNOWN, remedy)

    return check


def listed(inner: Check, *, least: int = 0) -> Check:
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


def number(value: Any, path: str) -> Iterator[Fault]:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        remedy = "write seconds" if isinstance(value, str) else ""
        yield Fault(path, f"must be a number, got {show(value)}", remedy)
    elif not abs(value) <= sys.float_info.max:
        yield Fault(path, f"must be finite, got {show(value)}")


def moment(value: Any, path: str) -> Iterator[Fault]:
    """A point in time, in seconds; it may lie before the start or behind the end."""
    found = list(number(value, path))
    yield from found
    if not found and abs(value) > FARTHEST:
        remedy = "are these seconds?"
        yield Fault(path, f"must be within {FARTHEST:g} s of the start, got {show(value)}", remedy)


def length(value: Any, path: str) -> Iterator[Fault]:
    """A number of seconds that is not negative."""
    found = list(number(value, path))
    yield from found
    if not found and value < 0:
        yield Fault(path, f"must not be negative, got {show(value)}")
    if not found and value > LONGEST:
        remedy = "are these samples or milliseconds?"
        yield Fault(path, f"must be at most {LONGEST:g} s, got {show(value)}", remedy)


def name(value: Any, path: str) -> Iterator[Fault]:
    """A name: printable text that is not empty, or a whole number."""
    if not is_name(value):
        remedy = "no control characters, no blanks around it"
        yield Fault(path, f"must be printable text or a whole number, got {show(value)}", remedy)


def text(value: Any, path: str) -> Iterator[Fault]:
    """Any text."""
    if not isinstance(value, str):
        yield Fault(path, f"must be text, got {show(value)}")


def is_name(value: Any) -> bool:
    """Whether a value can name something."""
    if isinstance(value, str):
        return re.search(NAME, value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


def mapping(value: Any, path: str) -> Iterator[Fault]:
    """Any object."""
    if not isinstance(value, dict):
        yield Fault(path, f"must be an object, got {show(value)}")


def pair(first: Check, second: Check) -> Check:
    """A list of two."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        if not isinstance(value, list) or len(value) != 2:
            yield Fault(path, f"must be a list of two, got {show(value)}")
            return
        yield from first(value[0], f"{path}[0]")
        yield from second(value[1], f"{path}[1]")

    return check


def either(kind: type, one: Check, other: Check) -> Check:
    """One check for values of a kind, another for all else."""

    def check(value: Any, path: str) -> Iterator[Fault]:
        yield from (one if isinstance(value, kind) else other)(value, path)

    return check


def show(value: Any) -> str:
    """A value as JSON, cut to a readable length."""
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
