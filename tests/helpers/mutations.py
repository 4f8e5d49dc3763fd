"""Random damage to files of any format: bytes, values, and the structure of documents."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import yaml

DIGITS, PLACEHOLDER = "9" * 5000, 987_654_321_123  # a number that Python does not write
NUMBERS = ["-1", "0", "1.5", "1e309", "-1e308", "NaN", "Infinity", "1e-320", str(2**63), "9" * 400]
NUMBERS += [DIGITS, "٣", "²", "1_0", "0x10", "12:30", ""]
TEXTS = ["", " ", "\0", "\ud800", "x" * 300, "=1+1", "'", '"', "\u202eabc", "a/../../b", "~", "{}"]
TEXTS += ["{item.x}", "%s", "\r", "\u2028", "-", "*", "[", "é", "e\u0301", "x" * 70_000]
VALUES: list[Any] = [None, True, -1, 0, 1.5, 2**63, 10**400, PLACEHOLDER, 1e308, float("nan"), "1"]
VALUES += [[], {}, [[]], [None], {"a": 1}, ["mushra"], [1.5], {"": []}, -0.0]
PATTERNS = ((rb"-?\d+(?:\.\d+)?", NUMBERS), (rb"[A-Za-z_]\w+", TEXTS), (rb"[A-Za-z_]\w+", NUMBERS))
ARCHIVE_ERRORS = (BadZipFile, EOFError, IndexError, OSError, RuntimeError, ValueError, zlib.error)


def mutate(data: bytes, rng: Random) -> bytes:
    """Return a damaged copy of a file, now and then damaged several times."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(DAMAGES)(data, rng)
    return data


def damage_bytes(data: bytes, rng: Random) -> bytes:
    """Change single bytes, above all at the start, where headers are."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 8)) if data else 0):
        end = len(changed) if rng.random() < 0.6 else min(len(changed), 64)
        changed[rng.randrange(end)] = rng.choice((0, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(changed)


def damage_chunks(data: bytes, rng: Random) -> bytes:
    """Cut off the end, or remove, double or swap parts, which are lines in some cases."""
    parts = data.splitlines(keepends=True) if rng.random() < 0.5 else []
    if len(parts) < 2:
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(3))
        parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    swapped = [*parts]
    swapped[at], swapped[other] = parts[other], parts[at]
    doubled = [*parts[:other], parts[at], *parts[other:]]
    return b"".join(rng.choice((parts[:at], parts[:at] + parts[at + 1 :], doubled, swapped)))


def damage_values(data: bytes, rng: Random) -> bytes:
    """Write an extreme in place of a number or a word."""
    pattern, values = rng.choice(PATTERNS)
    places = [match.span() for match in re.finditer(pattern, data[:200_000])]
    if not places:
        return data
    (start, end), value = rng.choice(places), rng.choice(values)
    value = json.dumps(value)[1:-1] if rng.random() < 0.5 else value
    return data[:start] + value.encode("utf-8", "surrogatepass") + data[end:]


def damage_structure(data: bytes, rng: Random) -> bytes:
    """Damage a value of a JSON or YAML document, a JSON line, or a part of a ZIP archive."""
    if data.startswith(b"PK"):
        return damage_archive(data, rng)
    lines = data.splitlines(keepends=True)
    number = rng.randrange(len(lines)) if lines else 0
    for first, last in ((0, len(lines)), (number, number + 1)):
        text = b"".join(lines[first:last])
        try:
            value = json.loads(text) if text.lstrip()[:1] in b"{[" else yaml.safe_load(text)
        except (ValueError, yaml.YAMLError, RecursionError, TypeError):
            continue
        if isinstance(value, dict | list):
            changed = json.dumps(replaced(value, rng), default=str, skipkeys=True)
            changed = changed.replace(str(PLACEHOLDER), DIGITS) + "\n"
            return b"".join([*lines[:first], changed.encode(), *lines[last:]])
    return damage_values(data, rng)


def replaced(value: Any, rng: Random) -> Any:
    """Return a document in which one value was replaced, removed, renamed or wrapped."""
    value = inside = deepcopy(value)
    places = places_in(value)
    if not places:
        return rng.choice(VALUES)
    *path, last = rng.choice(places)
    for step in path:
        inside = inside[step]
    old = inside.pop(last) if isinstance(inside, dict) else inside[last]
    new = rng.choice((TEXTS, VALUES, VALUES, ([old], {"x": old}, [old, old])))
    match rng.randrange(6):
        case 0:
            inside[rng.choice(TEXTS) if isinstance(inside, dict) else last] = old
        case 1 if isinstance(inside, dict):
            pass  # it is removed
        case _:
            inside[last] = rng.choice(new)
    return value


def places_in(value: Any, *path: Any) -> list[tuple[Any, ...]]:
    """Return the paths of all values inside a document."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            found += places_in(one, *path, key)
    return found


def damage_archive(data: bytes, rng: Random) -> bytes:
    """Damage one part of a ZIP archive, and pack it again."""
    held = io.BytesIO()
    try:
        with ZipFile(io.BytesIO(data)) as old, ZipFile(held, "w", ZIP_DEFLATED) as new:
            chosen = rng.choice(old.namelist())
            for name in old.namelist():
                part = old.read(name)
                new.writestr(name, rng.choice(DAMAGES[:3])(part, rng) if name == chosen else part)
    except ARCHIVE_ERRORS:
        return damage_bytes(data, rng)
    return held.getvalue()


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...]
DAMAGES = (damage_bytes, damage_chunks, damage_values, damage_structure)
