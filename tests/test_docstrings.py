"""Each parameter is described once, and help shows the description everywhere."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path

import pytest

import earwitness
from earwitness.docstrings import ENTRY, SECTION, SHARED_TEXTS, describe_parameters
from earwitness.metric import Metric
from earwitness.registry import METRICS

MOST_REPETITIONS = 4
# descriptions of a few words that are clearer where they stand, in functions of all packages
REPEATED = {"Random seed.", "Sample rate in Hz."}
DOCUMENTED = ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef
PUBLIC = list(earwitness.FUNCTION_MODULES)


def entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Names and descriptions of parameters in the docstrings of all modules of a folder."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            section = SECTION.search(f"{text or ''}\n")
            for names, description in ENTRY.findall(section[1]) if section else ():
                yield names, " ".join(description.split())


def test_no_description_is_repeated(root: Path) -> None:
    texts = Counter(text for _, text in entries(root / "src" / "earwitness") if text)
    repeated = {text for text, count in texts.items() if count > MOST_REPETITIONS}
    assert repeated == REPEATED


def test_a_parameter_without_a_description_has_a_shared_one(root: Path) -> None:
    named = {
        name
        for names, text in entries(root / "src" / "earwitness")
        if not text
        for name in names.split(", ")
    }
    assert named == set(SHARED_TEXTS)


@pytest.mark.parametrize("name", PUBLIC)
def test_help_describes_every_parameter_of_a_function(name: str) -> None:
    function = getattr(earwitness, name)
    described = describe_parameters(function)
    for parameter in signature(function).parameters.values():
        stars = "**" if parameter.kind is Parameter.VAR_KEYWORD else ""
        text = described[f"{stars}{parameter.name}"]
        assert text
        assert " ".join(text.split()) in " ".join(function.__doc__.split())


@pytest.mark.parametrize("kind", METRICS.values(), ids=list(METRICS))
def test_help_describes_every_parameter_of_a_metric(kind: type[Metric]) -> None:
    for name in kind.parameters():
        text = kind.help(name)
        assert text.endswith(".")
        assert text in " ".join((kind.__doc__ or "").split())
