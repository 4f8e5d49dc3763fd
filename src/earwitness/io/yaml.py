"""YAML documents with the line number of every value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from earwitness.errors import InputError, Problem, refuse_problems, whole_characters
from earwitness.io.schema import MAX_NUMBER_DIGITS, Fault

MAX_VALUES = 200_000  # largest number of values of a file


class _Loader(yaml.SafeLoader):
    """Loader in which plain words are text unless they are true, false, null or a number.

    So `yes`, `010`, `12:30` and dates are text.
    """


_Loader.yaml_implicit_resolvers = {}
WHOLE_NUMBER_PATTERN = r"(?:0|[1-9][0-9]*)"
SCALAR_PATTERNS = {
    "bool": (r"(?:true|True|TRUE|false|False|FALSE)", [*"tTfF"]),
    "null": (r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    "int": (rf"[-+]?{WHOLE_NUMBER_PATTERN}", [*"-+0123456789"]),
    "float": (
        rf"[-+]?(?:{WHOLE_NUMBER_PATTERN}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?",
        [*"-+.0123456789"],
    ),
}
for _kind, (_shape, _first) in SCALAR_PATTERNS.items():
    _tag = f"tag:yaml.org,2002:{_kind}"
    _Loader.add_implicit_resolver(_tag, re.compile(f"^{_shape}$"), _first)


@dataclass
class YamlDocument:
    """Value of a file, line number of each value, and problems of keys and characters."""

    source: str
    value: Any = None
    lines: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, fault: Fault) -> Problem:
        """Return the problem of a fault, with its line."""
        where = fault.field
        while where and where not in self.lines:
            where = where.rpartition("." if "." in where else "[")[0]
        return Problem(self.source, self.lines.get(where, 1), *fault)

    def take(self, node: yaml.Node, path: str = "") -> Any:
        """Return the value of a node, and store its line numbers."""
        if len(self.lines) > MAX_VALUES:
            raise ValueError(f"more than {MAX_VALUES:,} values (aliases of aliases?)")
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            return [self.take(inner, f"{path}[{n}]") for n, inner in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            return self._construct_scalar(node, path)
        mapping: dict[str, Any] = {}
        for key, inner in node.value:
            name = str(key.value)
            key_path = f"{path}.{name}" if path else name
            self.lines[key_path] = key.start_mark.line + 1
            if name in mapping:
                self._add_problem(key, key_path, "duplicate key", "keep one")
            self._check_characters(key, key_path)
            mapping[name] = self.take(inner, key_path)
        return mapping

    def _construct_scalar(self, node: yaml.Node, path: str) -> Any:
        self._check_characters(node, path)
        kind = node.tag.rpartition(":")[2]
        if kind == "float":
            return float(node.value)
        if kind == "int" and len(node.value) > MAX_NUMBER_DIGITS:
            self._add_problem(node, path, "has too many digits", "write a smaller number")
        elif kind in ("bool", "null", "int"):
            return _Loader("").construct_object(node)
        return node.value

    def _check_characters(self, node: yaml.Node, path: str) -> None:
        """Add a problem for text that no file or page can have."""
        text = str(node.value)
        if "\0" in text or whole_characters(text) != text:
            message = "contains NUL or an incomplete character"
            self._add_problem(node, path, message, "write complete characters, without NUL")

    def _add_problem(self, node: yaml.Node, path: str, message: str, remedy: str) -> None:
        line = node.start_mark.line + 1
        self.problems.append(Problem(self.source, line, path, message, remedy))


def read_yaml(path: Path) -> YamlDocument:
    """Read a YAML file; raise InputError if it is invalid."""
    try:
        node = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=_Loader)
        document = YamlDocument(str(path))
        if node is not None:
            document.value = document.take(node)
    except OSError as error:
        raise _unreadable_error(path, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise _unreadable_error(path, f"not UTF-8 at byte {error.start + 1}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise _unreadable_error(path, f"not YAML: {error.problem}", line) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _unreadable_error(path, f"not YAML: {error}") from error
    if node is None:
        raise _unreadable_error(path, "is empty")
    refuse_problems(document.problems, "done")
    return document


def _unreadable_error(path: Path, message: str, line: int = 0) -> InputError:
    return InputError([Problem(str(path), line, "", message)], done="done")
