"""Words about workbooks, in every language: nothing of what is wrong is left in English."""

from __future__ import annotations

import ast
import inspect
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from earwitness.errors import Problem
from earwitness.forms.workbooks.wording import translate_problem
from earwitness.ratings.rubric import LANGUAGES
from earwitness.studies.wording import PLACEHOLDER

OTHERS = [one for one in LANGUAGES if one != "en"]


def forms(language: str) -> dict[str, str]:
    place = files("earwitness.forms.workbooks").joinpath("wordings", f"faults.{language}.json")
    found: dict[str, str] = json.loads(place.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("language", OTHERS)
def test_every_form_fits_itself_and_loses_no_place(language: str) -> None:
    for english, said in forms(language).items():
        assert sorted(PLACEHOLDER.findall(english)) == sorted(PLACEHOLDER.findall(said))
        filled = PLACEHOLDER.sub(lambda place: f"<{place[1]}>", english)
        found = translate_problem(language, Problem("a.xlsx", 0, "", filled)).message
        assert found == PLACEHOLDER.sub(lambda place: f"<{place[1]}>", said)


@pytest.mark.parametrize("language", OTHERS)
def test_all_that_may_be_told_has_words(language: str, root: Path) -> None:
    """Every text in the code that tells of faults, with something in its places."""
    folder = root / "src/earwitness/forms/workbooks"
    names = ("layout", "open", "read", "to_answers", "wording", "write")
    told = {text for name in names for text in _texts(folder / f"{name}.py")}
    assert len(told) > 45
    said = {text: [_said(language, text), _said(language, f"X {text}")] for text in told}
    untold = {text for text, found in said.items() if found == [text, f"X {text}"]}
    assert {one for one in untold if not one.endswith(SHELL)} == set()


def _said(language: str, text: str) -> str:
    return translate_problem(language, Problem("", 0, "", text)).message


TELLS = {"Fault", "Problem", "_refusal", "_add_problem", "problem", "blank_cells"}
ELSE = {"Finding", "_add_finding", "UsageError"}  # what is told of otherwise
KEYS = {"read_key", "_read_key_rows"}  # read a table of captions, not a workbook
NAMES = {"message", "remedy"}
SHELL = ("or use --replace", "left unchanged")  # what only who runs the study is told
RANGE = "1 to 5 in steps of 0.1"


def _texts(path: Path) -> set[str]:
    """Texts in functions that tell of faults, and in constants."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [one.value for one in tree.body if isinstance(one, ast.Assign)]
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        nodes = list(ast.walk(function))
        if function.name not in KEYS and not {_called(one) for one in nodes} & ELSE:
            found += [part for one in nodes for part in _parts(one)]
    texts = map(_text, found)
    return {one for one in texts if " " in one and re.search("[a-z]{3}", one)}


def _called(node: ast.AST) -> str:
    func = node.func if isinstance(node, ast.Call) else None
    return getattr(func, "id", "") or getattr(func, "attr", "")


def _parts(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call) and _called(node) in TELLS:
        return list(node.args)
    if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
        return list(node.value.elts)
    if isinstance(node, ast.Assign) and NAMES & {getattr(one, "id", "") for one in node.targets}:
        return [node.value]
    return []


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_piece(one) for one in node.values)
    return ""


def _piece(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return RANGE if ".range" in ast.unparse(node) else "1"


def test_english_stays_as_it_is() -> None:
    one = Problem("a.xlsx", 1, "A!B2", "is blank", "write a number")
    assert translate_problem("en", one) == one
    assert inspect.getdoc(translate_problem)
