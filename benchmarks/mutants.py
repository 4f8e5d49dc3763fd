"""Small faults put into the source one at a time, to see which tests notice them.

``python benchmarks/mutants.py web/static`` runs the tests of scripts in Node for each fault, or
those of ``--tests``. For Python, ``MUTANTS=FILE pytest -p mutants`` (``benchmarks`` on
``PYTHONPATH``) writes which test runs which files, and ``--contexts FILE`` chooses by that.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SOURCE = "src/earwitness"
PAIRS = ("< <=", "> >=", "== !=", "=== !==", "+ -", "* /", "&& ||", "and or")
SWAPS = {one: other for pair in PAIRS for one, other in (pair.split(), pair.split()[::-1])}
TOKEN = re.compile(
    r"(?<= )(?:<=?|>=?|[!=]==?|[-+*/]|&&|\|\||and|or)(?= )"
    r"|(?<![\w.#])\d+(?:\.\d+)?(?![\w.])|\((?P<one>\w[\w.]*), (?P<other>\w[\w.]*)\)"
)
STATEMENT = re.compile(r"\s+(?:(?:await |void )?[\w.#?]+\([^{]*\)|return [^{(]+);?$")
HIDDEN = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'|`[^`]*`|(?://|#).*$|^\s*(?:/?\*|import|from).*$')
UNUSED = shutil.ignore_patterns(".git", ".venv", "out", "*_cache")
Mutant = tuple[str, int, str]  # a file, a line and its faulty version


def changes(line: str) -> Iterator[str]:
    """All faulty versions of a line: other operators, constants, arguments, or no statement."""
    code = HIDDEN.sub(lambda found: "\0" * len(found[0]), line)
    if STATEMENT.fullmatch(code):
        nothing = "return" if "return" in code else ";" if code.endswith(";") else "pass"
        yield line[: len(line) - len(line.lstrip())] + nothing
    for found in TOKEN.finditer(code):
        new = f"({found['other']}, {found['one']})" if found["one"] else SWAPS.get(found[0])
        yield line[: found.start()] + (new or f"({found[0]} + 1)") + line[found.end() :]


def draw(places: list[str], count: int, seed: int) -> list[Mutant]:
    """Mutants of files and folders of the package, at most one per line."""
    found = {}
    for place in (Path(SOURCE, one) for one in places):
        for path in sorted(place.rglob("*.[pj][ys]")) or [place]:
            texts = [text.splitlines() for text in path.read_text().split('"""')]
            lines = [line for text in texts[::2] for line in text]  # without docstrings
            for number, line in enumerate(path.read_text().splitlines()):
                if line in lines and (options := list(changes(line))):
                    found[str(path), number] = options
    rng = random.Random(seed)
    return [(*at, rng.choice(found[at])) for at in rng.sample(sorted(found), count)]


def killer(mutant: Mutant, tests: list[str]) -> str:
    """The first test, or file of tests in Node, that notices a mutant."""
    path, number, after = mutant
    commands = [[sys.executable, "-m", "pytest", "-qxp", "no:cacheprovider", *tests]]
    if not tests:
        node = ["node", "--experimental-vm-modules", "--no-warnings"]
        commands = [[*node, str(one)] for one in sorted(Path("tests/scripts").glob("*.mjs"))]
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(".", place, dirs_exist_ok=True, ignore=UNUSED)
        lines = Path(path).read_text().splitlines()
        lines[number] = after
        Path(place, path).write_text("\n".join([*lines, ""]))
        own = {**os.environ, "PYTHONPATH": f"{place}/src"}
        for command in commands:
            done = subprocess.run(command, cwd=place, env=own, capture_output=True, text=True)
            if done.returncode:
                return (re.findall(r"^FAILED (\S+)", done.stdout, re.M) or command)[-1]
    return "SURVIVED"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note which files of the package run in a test."""
    seen = set[str]()
    sys.setprofile(lambda frame, *_: seen.add(frame.f_code.co_filename))
    yield
    sys.setprofile(None)
    found = [one[one.index(SOURCE) :] for one in sorted(seen) if SOURCE in one]
    with Path(os.environ["MUTANTS"]).open("a") as file:
        file.write(json.dumps([item.nodeid, found]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="+", help="files or folders of the package")
    parser.add_argument("--tests", nargs="*", default=[], help="instead of those in Node")
    parser.add_argument("--contexts", type=Path, help="what the plug-in wrote")
    for name, value in (("--count", 40), ("--seed", 1), ("--jobs", 2)):
        parser.add_argument(name, type=int, default=value)
    given = parser.parse_args()
    known = given.contexts.read_text().splitlines() if given.contexts else []
    ran = [*map(json.loads, known)]

    def look(mutant: Mutant) -> str:
        path, number, after = mutant
        own = [test for test, paths in ran if path in paths]
        before = Path(path).read_text().splitlines()[number].strip()
        found = killer(mutant, given.tests or own) if own or not ran else "SURVIVED"
        return f"{found} | {path}:{number + 1} | {before} => {after.strip()}"

    with ThreadPoolExecutor(given.jobs) as pool:
        for line in pool.map(look, draw(given.places, given.count, given.seed)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
