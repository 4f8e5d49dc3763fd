"""The source tree can be found one's way in: names, sizes, layers of tests, start-up."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import earwitness

SOURCE = Path(earwitness.__file__).parent
TESTS = Path(__file__).parent
# Tokens of each package, without comments and docstrings. A budget is raised in a commit of its own
# that says why; a module is split when it has two subjects, not when it has many lines.
BUDGETS = {
    "(top)": 17_000,
    "analysis": 53_800,
    "audio": 22_500,
    "chapters": 33_400,
    "chunkseg": 10_300,
    "cli": 24_600,
    "engines": 800,
    "experiments": 18_500,
    "forms": 40_300,
    "io": 16_400,
    "material": 23_300,
    "metaeval": 54_400,
    "models": 20_100,
    "navigator": 10_100,
    "ratings": 26_000,
    "recordings": 7_900,
    "report": 43_200,
    "scoring": 28_200,
    "skims": 45_300,
    "soundscapes": 22_200,
    "speech": 16_800,
    "stats": 35_900,
    "store": 20_100,
    "studies": 109_100,
    "summaries": 58_300,
    "text": 18_700,
    "web": 25_000,
}
RETIRED_PACKAGES = {
    "data",
    "formats",
    "timeline",
    "networks",
    "listening",
    "concordance",
    "summarizers",
    "metrics",
}
# Participles, adverbs, prepositions, pronouns and quantifiers do not say what is in a module.
WORDS_OF_NO_MODULE = {
    *(TESTS / "helpers" / "words_for_no_module.txt").read_text(encoding="utf-8").split()
}
ALLOWED_MODULES = {"incomplete", "from_answers", "to_answers", "to_ratings", "closest_path"}
VAGUE_CONSTANTS = {*(TESTS / "helpers" / "vague_constants.txt").read_text(encoding="utf-8").split()}
NOT_MIRRORS = {
    "contracts",
    "docs",
    "golden",
    "helpers",
    "oracles",
    "properties",
    "simulations",
    "verdicts",
}
NOT_MIRRORS |= {"fuzz", "snapshot"}
WHOLE_PROJECT = {"test_project.py", "test_architecture.py"}


def modules() -> dict[str, ast.Module]:
    """Every module of the package by its path."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {str(p.relative_to(SOURCE)): ast.parse(p.read_text(encoding="utf-8")) for p in paths}


MODULES = modules()


def assigned(tree: ast.Module) -> Iterator[str]:
    """Names that are assigned on top of a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path, tree in MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert len(places) > 500
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_modules_are_named_by_what_is_in_them() -> None:
    folders = {part for path in MODULES for part in Path(path).parts[:-1]}
    names = {Path(path).stem for path in MODULES} | folders
    odd = {name for name in names - ALLOWED_MODULES if {*name.split("_")} & WORDS_OF_NO_MODULE}
    assert odd == {"mixed_model", "paired_choices"}  # names of methods in statistics


def test_constants_say_what_they_are_about() -> None:
    found = {
        f"{path}: {name}"
        for path, tree in MODULES.items()
        for name in assigned(tree)
        if name.lstrip("_") in VAGUE_CONSTANTS
    }
    assert found == set()


def docstring_lines(tree: ast.Module) -> set[int]:
    """Lines of docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = (node.body[0] for node in ast.walk(tree) if isinstance(node, documented) and node.body)
    texts = (
        one
        for one in first
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if isinstance(one.value.value, str)
    )
    return {line for one in texts for line in range(one.lineno, (one.end_lineno or 0) + 1)}


def count_tokens(text: str) -> int:
    """Tokens of a module without comments, docstrings and layout."""
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE}
    layout |= {tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    left_out = docstring_lines(ast.parse(text))
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(one.type not in layout and one.start[0] not in left_out for one in found)


def test_tokens_are_counted_without_comments_docstrings_and_layout() -> None:
    assert count_tokens('"""Text of\na module."""\n\nx = {  # comment\n    1: "a"\n}\n') == 7
    assert count_tokens('def f():\n    """Text."""\n    return """a\nb"""\n') == 7


def test_every_package_keeps_its_budget() -> None:
    weights: dict[str, int] = defaultdict(int)
    for path in MODULES:
        package = path.partition("/")[0] if "/" in path else "(top)"
        weights[package] += count_tokens((SOURCE / path).read_text(encoding="utf-8"))
    assert weights.keys() == BUDGETS.keys()
    assert {name: tokens for name, tokens in weights.items() if tokens > BUDGETS[name]} == {}


def test_every_module_says_in_a_line_what_it_holds() -> None:
    for path, tree in MODULES.items():
        first = (ast.get_docstring(tree) or "").split("\n")[0]
        assert first.endswith("."), path
        assert 10 < len(first) <= 100, path


def test_old_packages_are_gone_and_no_module_hides_a_verb() -> None:
    top = {Path(path).parts[0].removesuffix(".py") for path in MODULES}
    assert not top & RETIRED_PACKAGES
    assert not (SOURCE / "api").exists()
    packages = {"chapters", "summaries", "skims"}  # which export functions of their metrics
    assert not top & ({*earwitness.__all__} - packages)


def test_no_module_but_the_public_ones_exports_names_for_others() -> None:
    exporting = {path for path, tree in MODULES.items() if "__all__" in assigned(tree)}
    packages = ("chapters", "chunkseg", "skims", "summaries")
    assert exporting == {"__init__.py", "__main__.py", *(f"{one}/__init__.py" for one in packages)}


def imports(tree: ast.Module) -> Iterator[str]:
    """Names that a module imports, also in functions, but not those for type checkers alone."""
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            nodes += ast.iter_child_nodes(node)


def test_no_modules_import_each_other_in_a_cycle() -> None:
    trees = {
        f"earwitness/{path}".removesuffix(".py").removesuffix("/__init__").replace("/", "."): tree
        for path, tree in MODULES.items()
    }
    graph = {
        name: {one if one in trees else one.rpartition(".")[0] for one in imports(tree)} - {name}
        for name, tree in trees.items()
    }
    assert graph["earwitness.skims.report"] >= {"earwitness.skims.types", "earwitness.core"}
    TopologicalSorter(graph).prepare()  # CycleError names the modules of a cycle


def test_tests_mirror_the_source() -> None:
    odd = []
    for path in TESTS.rglob("test_*.py"):
        folder = path.relative_to(TESTS).parent
        if {*folder.parts} & NOT_MIRRORS or path.name in (
            "test_project.py",
            "test_architecture.py",
            "test_proof.py",
        ):
            continue
        stems = {one.stem for one in (SOURCE / folder).glob("*.py")} - {"__init__"}
        stems |= {one.name for one in (SOURCE / folder).iterdir() if one.is_dir()}
        name = path.stem.removeprefix("test_")
        if not any(name == stem or name.startswith(f"{stem}_") for stem in stems):
            odd.append(str(path.relative_to(TESTS)))
    assert odd == []


def test_helpers_of_tests_are_in_one_folder() -> None:
    others = [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if not path.name.startswith("test_") and path.name != "conftest.py"
        if not {"helpers", "snapshot"} & {*path.relative_to(TESTS).parts}
    ]
    assert others == []


@pytest.mark.parametrize(
    ("arguments", "allowed"), [(["--help"], set()), (["score", "--help"], {"numpy"})]
)
def test_help_needs_no_heavy_library_and_no_other_domain(
    arguments: list[str], allowed: set[str]
) -> None:
    code = f"""
import json, sys
from earwitness.__main__ import main
try:
    main({arguments!r})
except SystemExit as stop:
    assert not stop.code
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    domains = ("studies", "web", "metaeval", "soundscapes", "store")
    heavy = (
        "numpy",
        "scipy",
        "torch",
        "nltk",
        "rapidfuzz",
        "yaml",
        "regex",
        "sqlalchemy",
        "starlette",
    )
    wanted = tuple({*(f"earwitness.{name}" for name in domains), *heavy} - allowed)
    assert [name for name in loaded if name.startswith(wanted)] == []


def test_commands_load_without_the_libraries_of_extras() -> None:
    optional = ["av", "soundfile", "janome", "torch", "transformers", "psycopg", "jinja2"]
    optional += ["sqlalchemy", "starlette", "uvicorn", "onnxruntime", "openpyxl", "xlsxwriter"]
    optional += ["ai_edge_litert", "zstandard", "matplotlib", "torchaudio", "uroman"]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({optional!r}))  # as if they were not installed
from importlib import import_module
from earwitness.cli.main import COMMANDS
for module in sorted({{verb.module for verb in COMMANDS.values()}} - {{"serve"}}):
    import_module(f"earwitness.cli.{{module}}")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.stderr == ""


def test_all_modules_can_be_imported_without_what_only_posix_has() -> None:
    code = """
import os, pkgutil, signal, sys
sys.modules.update(dict.fromkeys(("fcntl", "resource", "termios", "grp", "pwd", "uvloop")))
del signal.pthread_sigmask, os.fork, os.geteuid, os.getuid
if hasattr(os, "sched_getaffinity"):
    del os.sched_getaffinity
import earwitness
for module in pkgutil.walk_packages(earwitness.__path__, "earwitness."):
    if not module.name.endswith("__main__"):
        __import__(module.name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
