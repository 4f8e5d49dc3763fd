"""Move and rename the modules of ``src/earwitness`` as ``moves.json`` says.

Every new module is put together from old ones: statements under banner comments, imports made anew
from the names that the statements use. References are found by scope analysis (LibCST), so that
local variables of the same name are left alone. Tests, benchmarks, examples and documents follow.

Run from the root of the repository: ``python tools/restructure.py [--check]``.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import libcst as cst
from libcst.metadata import (
    ClassScope,
    GlobalScope,
    ImportAssignment,
    MetadataWrapper,
    ParentNodeProvider,
    Scope,
    ScopeProvider,
)

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "earwitness"
PACKAGE = "earwitness"
OTHER_FOLDERS = ("tests", "browser", "benchmarks", "docs", "examples")
KEEP_EXPORTS = {"__init__.py", "chunkseg/__init__.py"}

KEEP_CLASS_LINES = {"AB", "ABX", "Preference", "BS1116", "WordStrings"}
ROLES = {"reader", "records", "metrics", "report", "results", "settings", "base"}  # many have these

problems: list[str] = []


def dotted(path: str) -> str:
    """The module name of a path below the package: ``a/b.py`` is ``earwitness.a.b``."""
    name = path.removesuffix(".py").replace("/", ".")
    if name == "__init__":
        return PACKAGE
    return f"{PACKAGE}.{name.removesuffix('.__init__')}"


@dataclass
class Plan:
    """What goes where, and under which name."""

    merge: dict[str, list[str]]
    single: dict[tuple[str, str], str]
    renames: dict[str, dict[str, str]]
    docstrings: dict[str, str]
    banners: dict[str, str]
    data: dict[str, str]
    tests: dict[str, str]
    helpers: dict[str, str]
    class_docs: dict[str, list[str]]

    def __post_init__(self) -> None:
        self.target = {old: new for new, olds in self.merge.items() for old in olds}
        for old in {old for old, _ in self.single}:
            assert old in self.target, old


@dataclass
class Imported:
    """One name that an import statement binds."""

    module: str
    name: str | None  # None: the module itself
    alias: str
    checking: bool = False
    explicit: bool = False

    @property
    def internal(self) -> bool:
        return self.module == PACKAGE or self.module.startswith(PACKAGE + ".")


@dataclass
class Old:
    """An old module or another Python file, parsed, with what its names refer to."""

    path: str  # below the package, or below the root for other files
    tree: cst.Module
    wrapper: MetadataWrapper
    scopes: set[Scope]
    parents: dict[cst.CSTNode, cst.CSTNode]
    glob: GlobalScope
    defined: set[str] = field(default_factory=set)
    imports: dict[str, Imported] = field(default_factory=dict)

    @property
    def module(self) -> str:
        return dotted(self.path)


def parse(path: str, text: str) -> Old:
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    found = wrapper.resolve_many([ScopeProvider, ParentNodeProvider])
    scopes = {scope for scope in found[ScopeProvider].values() if scope is not None}
    glob = next((scope.globals for scope in scopes), None)
    if glob is None:
        glob = GlobalScope()
    old = Old(path, wrapper.module, wrapper, scopes, found[ParentNodeProvider], glob)
    for statement in wrapper.module.body:
        if is_checking(statement):
            assert isinstance(statement, cst.If)
            for inner in statement.body.body:
                for one in imports_of(inner):
                    one.checking = True
                    old.imports[one.alias] = one
        else:
            for one in imports_of(statement):
                old.imports[one.alias] = one
    for assignment in glob.assignments:
        if not isinstance(assignment, ImportAssignment) and hasattr(assignment, "node"):
            old.defined.add(assignment.name)
    return old


def is_checking(statement: cst.BaseStatement) -> bool:
    return (
        isinstance(statement, cst.If)
        and isinstance(statement.test, cst.Name)
        and statement.test.value == "TYPE_CHECKING"
    )


def name_of(node: cst.BaseExpression | None) -> str:
    if isinstance(node, cst.Name):
        return node.value
    assert isinstance(node, cst.Attribute), node
    return f"{name_of(node.value)}.{node.attr.value}"


def imports_of(statement: cst.CSTNode) -> Iterator[Imported]:
    """Names bound by the import statements of a line."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return
    for small in statement.body:
        yield from bound_by(small)


def bound_by(small: cst.CSTNode) -> Iterator[Imported]:
    if isinstance(small, cst.ImportFrom):
        assert not small.relative, "relative import"
        module = name_of(small.module)
        assert not isinstance(small.names, cst.ImportStar), module
        for alias in small.names:
            name = name_of(alias.name)
            asname = name_of(alias.asname.name) if alias.asname else name
            yield Imported(module, name, asname, explicit=asname != name)
    elif isinstance(small, cst.Import):
        for alias in small.names:
            module = name_of(alias.name)
            asname = name_of(alias.asname.name) if alias.asname else module
            yield Imported(module, None, asname, explicit=bool(alias.asname))


class Tree:
    """All old modules, and where their names are to be found."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.old: dict[str, Old] = {}
        self.homes: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        for path in sorted(plan.target):
            self.old[dotted(path)] = parse(path, (SOURCE / path).read_text(encoding="utf-8"))
        for path, renames in plan.renames.items():
            for name in renames:
                if name not in self.old[dotted(path)].defined:
                    problems.append(f"rename of unknown {path}:{name}")
        for path, name in plan.single:
            if name not in self.old[dotted(path)].defined:
                problems.append(f"move of unknown {path}:{name}")

    def resolve(self, module: str, name: str) -> tuple[str, str] | str | None:
        """Where a name is defined: (module, name), a module, or None for what is not ours."""
        old = self.old.get(module)
        if old is None:
            return None
        if name in old.defined:
            return module, name
        if name in old.imports:
            one = old.imports[name]
            if not one.internal:
                return None
            if (one.module, one.name) == (module, name):  # a module of this package
                return f"{module}.{name}"
            return self.follow(one)
        if f"{module}.{name}" in self.old:
            return f"{module}.{name}"
        return None

    def follow(self, one: Imported) -> tuple[str, str] | str | None:
        if one.name is None:
            return one.module
        found = self.resolve(one.module, one.name)
        if found is None and not (one.module == PACKAGE and one.name == "__version__"):
            problems.append(f"cannot resolve {one.module}.{one.name}")
        return found

    def home(self, module: str, name: str) -> tuple[str, str]:
        """New module and new name of a definition."""
        path = self.old[module].path
        target = self.plan.single.get((path, name), self.plan.target[path])
        return dotted(target), self.plan.renames.get(path, {}).get(name, name)

    def code(self, module: str, name: str) -> str:
        """The statement that defines a name, as text, to see whether two are the same."""
        old = self.old[module]
        texts = []
        for statement in old.tree.body:
            if name in defined_by(statement):
                bare = statement.with_changes(leading_lines=[])
                texts.append(old.tree.code_for_node(bare).strip())
        return "\n".join(re.sub(r"\s+#.*", "", text) for text in texts)


def defined_by(statement: cst.CSTNode) -> set[str]:
    """Names that a statement at the top of a module defines."""
    names: set[str] = set()
    if isinstance(statement, cst.FunctionDef | cst.ClassDef):
        return {statement.name.value}
    if isinstance(statement, cst.SimpleStatementLine):
        for small in statement.body:
            if isinstance(small, cst.Assign):
                for target in small.targets:
                    names |= target_names(target.target)
            elif isinstance(small, cst.AnnAssign | cst.AugAssign):
                names |= target_names(small.target)
    if isinstance(statement, cst.Try):
        for inner in statement.body.body:
            names |= {one.alias for one in imports_of(inner)} | defined_by(inner)
    return names


def target_names(node: cst.BaseExpression) -> set[str]:
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.Tuple | cst.List):
        return {name for one in node.elements for name in target_names(one.value)}
    return set()


# --- References of one file -------------------------------------------------------------------


@dataclass(frozen=True)
class Need:
    """An import that a piece of code needs; ``name`` None: the module itself."""

    module: str
    name: str | None
    alias: str

    def line(self) -> str:
        if self.name is None:
            if "." in self.module and self.module.startswith(PACKAGE + "."):
                package, _, last = self.module.rpartition(".")
                return f"from {package} import {last}" + (
                    f" as {self.alias}" if self.alias != last else ""
                )
            return f"import {self.module}" + (f" as {self.alias}" * (self.alias != self.module))
        return f"from {self.module} import {self.name}" + (
            f" as {self.alias}" if self.alias != self.name else ""
        )


def is_local(scope: Scope, name: str) -> bool:
    """True if a function around a reference binds the name itself."""
    while not isinstance(scope, GlobalScope):
        if not isinstance(scope, ClassScope) and any(
            a.name == name and a.scope is scope for a in scope.assignments
        ):
            return True
        scope = scope.parent
    return False


class References:
    """What the names of one file become, and which imports its pieces need."""

    def __init__(self, tree: Tree, old: Old) -> None:
        self.tree, self.old = tree, old
        self.source = old.module in tree.old and tree.old[old.module] is old
        self.names: dict[int, str] = {}  # id of a Name node: new text
        self.attributes: dict[int, cst.BaseExpression] = {}  # id of an Attribute node: new node
        self.needs: dict[int, list[tuple[Need, bool]]] = defaultdict(list)  # by top statement
        self.locals: dict[int, list[Need]] = {}  # id of a local import statement: new imports
        self.place: dict[int, int] = {}
        self.renamed: dict[str, str] | None = None
        for index, statement in enumerate(old.tree.body):
            self.place[id(statement)] = index
        for node in old.parents:
            trail = []
            while id(node) not in self.place and node in old.parents:
                trail.append(id(node))
                node = old.parents[node]
            index = self.place.get(id(node), -1)
            for one in trail:
                self.place[one] = index
        self._taken: set[str] = set()
        for scope in old.scopes:
            self._taken |= {assignment.name for assignment in scope.assignments}
        self._global()
        self._local()
        self._patches()

    def here(self, node: cst.CSTNode) -> str:
        """The new module in which a node of this file will stand."""
        if not self.source:
            return "\0other"
        index = self.place[id(node)]
        path = self.old.path
        for name in defined_by(self.old.tree.body[index]):
            if (path, name) in self.tree.plan.single:
                return dotted(self.tree.plan.single[path, name])
        return dotted(self.tree.plan.target[path])

    def _global(self) -> None:
        for assignment in self.old.glob.assignments:
            references = list(assignment.references)
            if isinstance(assignment, ImportAssignment):
                one = self.old.imports.get(assignment.name)
                if one is None:
                    one = self.old.imports.get(assignment.name.split(".")[0])
                if one is None:
                    if assignment.name == "fcntl":
                        continue
                    base = [
                        i for i in self.old.imports.values() if i.alias.startswith(assignment.name)
                    ]
                    if not base:
                        problems.append(f"{self.old.path}: import of {assignment.name}?")
                        continue
                    one = base[0]
                for access in references:
                    if is_local(access.scope, assignment.name):
                        continue
                    self._import_access(one, access.node, access.scope)
            elif self.source and hasattr(assignment, "node"):
                self._definition(assignment.name, assignment.node, references)

    def _definition(self, name: str, node: cst.CSTNode, references: list[object]) -> None:
        module, new = self.tree.home(self.old.module, name)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.names[id(node.name)] = new
        elif isinstance(node, cst.Name):
            self.names[id(node)] = new
        elif isinstance(node, cst.Attribute | cst.Subscript):
            pass
        else:
            problems.append(f"{self.old.path}: definition of {name} by {type(node).__name__}")
        for access in references:
            base = base_name(access.node)  # type: ignore[attr-defined]
            if base is None:
                problems.append(f"{self.old.path}: string reference to {name}")
                continue
            if is_local(access.scope, name):  # type: ignore[attr-defined]
                continue
            self.names[id(base)] = new
            self._check_shadow(new, name, access.scope, base)  # type: ignore[attr-defined]
            if module != self.here(base):
                self._need(base, Need(module, new, new), False)

    def _check_shadow(self, new: str, name: str, scope: Scope, node: cst.CSTNode) -> None:
        if new == name:
            return
        while not isinstance(scope, GlobalScope):
            if any(a.name == new for a in scope.assignments):
                problems.append(f"{self.old.path}: {new} (was {name}) is shadowed by a local")
            scope = scope.parent
        del node

    def _need(self, node: cst.CSTNode, need: Need, checking: bool) -> None:
        self.needs[self.place[id(node)]].append((need, checking))

    def _import_access(self, one: Imported, node: cst.CSTNode, scope: Scope) -> None:
        base = base_name(node)
        if base is None:
            problems.append(f"{self.old.path}: string reference to {one.alias}")
            return
        if not one.internal:
            self._need(base, Need(one.module, one.name, one.alias), one.checking)
            return
        found = self.tree.follow(one)
        if found is None:  # __version__
            self._need(base, Need(one.module, one.name, one.alias), one.checking)
        elif isinstance(found, tuple):
            self._name_access(one, found, base, scope)
        else:
            self._module_access(one, found, base, scope)

    def _name_access(
        self, one: Imported, found: tuple[str, str], base: cst.Name, scope: Scope
    ) -> None:
        module, new = self.tree.home(*found)
        if module == self.here(base):
            self.names[id(base)] = new
            self._check_shadow(new, one.alias, scope, base)
            return
        alias = one.alias if one.explicit else new
        if alias != one.alias:
            self.names[id(base)] = alias
            self._check_shadow(alias, one.alias, scope, base)
        self._need(base, Need(module, new, alias), one.checking)

    def _module_access(self, one: Imported, module: str, base: cst.Name, scope: Scope) -> None:
        parent = self.old.parents.get(base)
        if not (isinstance(parent, cst.Attribute) and parent.value is base):
            if not self._patch(one, module, base):
                problems.append(f"{self.old.path}: module {one.alias} used as a value")
            return
        node: cst.Attribute = parent
        name = node.attr.value
        found = self.tree.resolve(module, name)
        while isinstance(found, str):  # a package, then a module of it
            node = self.old.parents[node]  # type: ignore[assignment]
            module, name = found, node.attr.value
            found = self.tree.resolve(module, name)
        if found is None:  # an external name, seen through a module: for tests
            new_module = dotted(self.tree.plan.target[self.tree.old[module].path])
            alias = self._alias(one, new_module)
            self.names[id(base)] = alias
            self._need(base, Need(new_module, None, alias), one.checking)
            if name not in self.tree.old[module].imports and name != "__name__":
                problems.append(f"{self.old.path}: {one.alias}.{name} is unknown")
            return
        new_module, new = self.tree.home(*found)
        if new_module == self.here(base):
            self.attributes[id(node)] = cst.Name(new)
            self._check_shadow(new, "", scope, base)
            return
        alias = self._alias(one, new_module)
        if self.source and new_module.rpartition(".")[2] in ROLES:
            self.attributes[id(node)] = cst.Name(new)
            self._check_shadow(new, "", scope, base)
            self._need(base, Need(new_module, new, new), one.checking)
            return
        self.attributes[id(node)] = cst.Attribute(cst.Name(alias), cst.Name(new))
        self._need(base, Need(new_module, None, alias), one.checking)

    def _alias(self, one: Imported, new_module: str) -> str:
        last = new_module.rpartition(".")[2]
        if one.explicit and one.alias != one.module.rpartition(".")[2]:
            return one.alias
        if one.alias == last:
            return last
        return f"{last}_module" if last in self._taken else last

    def _patch(self, one: Imported, module: str, base: cst.Name) -> bool:
        """``setattr(module, "NAME", …)`` in a test."""
        arg = self.old.parents[base]
        call = self.old.parents[arg]
        if not (isinstance(call, cst.Call) and len(call.args) >= 2):
            return False
        text = call.args[1].value
        if not isinstance(text, cst.SimpleString):
            return False
        new_module, new = self.patched(module, str(text.evaluated_value))
        alias = self._alias(one, new_module)
        self.names[id(base)] = alias
        self._need(base, Need(new_module, None, alias), False)
        self.attributes[id(text)] = cst.SimpleString(f'"{new}"')
        return True

    def patched(self, module: str, name: str) -> tuple[str, str]:
        """Where a test has to replace what it replaced in an old module."""
        found = self.tree.resolve(module, name)
        if isinstance(found, tuple):
            home, new = self.tree.home(*found)
            if found[0] == module:
                return home, new
            name = new
        return dotted(self.tree.plan.target[self.tree.old[module].path]), name

    def _patches(self) -> None:
        """Dotted names in strings."""
        for node in self.old.parents:
            if isinstance(node, cst.SimpleString) and f"{PACKAGE}." in node.value:
                new = self.text(node.value)
                if new != node.value:
                    self.attributes[id(node)] = node.with_changes(value=new)

    def text(self, text: str) -> str:
        """Dotted names and import statements of the package in any text, made new."""
        return rewrite_text(self.tree, text)

    def _local(self) -> None:
        """Imports inside functions stand where they are."""
        for scope in self.old.scopes:
            if isinstance(scope, GlobalScope):
                continue
            for assignment in scope.assignments:
                if isinstance(assignment, ImportAssignment):
                    self._local_import(assignment)

    def _local_import(self, assignment: ImportAssignment) -> None:
        statement = assignment.node
        for one in bound_by(statement):
            if not one.internal:
                continue
            if one.alias != assignment.name:
                continue
            found = self.tree.follow(one)
            if found is None:
                self.locals.setdefault(id(statement), []).append(
                    Need(one.module, one.name, one.alias)
                )
                continue
            new_needs = self.locals.setdefault(id(statement), [])
            for access in assignment.references:
                base = base_name(access.node)
                assert base is not None
                before = {index: list(needs) for index, needs in self.needs.items()}
                if isinstance(found, tuple):
                    self._name_access(one, found, base, access.scope)
                else:
                    self._module_access(one, found, base, access.scope)
                # what the access needs is imported where the statement stands
                index = self.place[id(base)]
                added = self.needs[index][len(before.get(index, [])) :]
                self.needs[index] = before.get(index, [])
                new_needs += [need for need, _ in added if need not in new_needs]


def base_name(node: cst.CSTNode) -> cst.Name | None:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node if isinstance(node, cst.Name) else None


class Rewrite(cst.CSTTransformer):
    """Put new names in, and rewrite imports that stand inside functions."""

    def __init__(self, references: References) -> None:
        self.references = references

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        new = self.references.names.get(id(original_node))
        return updated_node if new is None else updated_node.with_changes(value=new)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        new = self.references.attributes.get(id(original_node))
        if isinstance(new, cst.Attribute | cst.Name):
            return new.with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)
        return updated_node

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        new = self.references.attributes.get(id(original_node))
        value = (new if isinstance(new, cst.SimpleString) else updated_node).value
        value = doc_renames(self.references, value)
        return updated_node.with_changes(value=value)

    def leave_Comment(self, original_node: cst.Comment, updated_node: cst.Comment) -> cst.Comment:
        del original_node
        return updated_node.with_changes(value=comment_renames(self.references, updated_node.value))

    def leave_NameItem(
        self, original_node: cst.NameItem, updated_node: cst.NameItem
    ) -> cst.NameItem:
        old = self.references.old
        name = original_node.name.value
        if self.references.source and name in old.defined:
            new = self.references.tree.home(old.module, name)[1]
            return updated_node.with_changes(name=cst.Name(new))
        return updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        if len(original_node.body) != 1 or id(original_node.body[0]) not in self.references.locals:
            return updated_node
        needs = self.references.locals[id(original_node.body[0])]
        keep = [
            Need(one.module, one.name, one.alias)
            for one in bound_by(original_node.body[0])
            if not one.internal
        ]
        lines = [cst.parse_statement(need.line() + "\n") for need in dict.fromkeys(keep + needs)]
        if not lines:
            return cst.RemoveFromParent()
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        if isinstance(updated_node.trailing_whitespace.comment, cst.Comment):
            lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)


def renamed_here(references: References) -> dict[str, str]:
    """Old and new names, of definitions and of imports, as this file knows them."""
    if references.renamed is not None:
        return references.renamed
    tree, old = references.tree, references.old
    renamed = {}
    if references.source:
        for name in old.defined:
            renamed[name] = tree.home(old.module, name)[1]
    for alias, one in old.imports.items():
        if one.internal and one.name is not None and not one.explicit:
            found = tree.resolve(one.module, one.name)
            if isinstance(found, tuple):
                renamed[alias] = tree.home(*found)[1]
    references.renamed = {name: new for name, new in renamed.items() if name != new}
    return references.renamed


def doc_renames(references: References, value: str) -> str:
    """Names in docstrings: in doctests, and between double backquotes."""
    renamed = renamed_here(references)
    if not renamed or not ("``" in value or ">>>" in value):
        return value
    for name, new in renamed.items():
        value = re.sub(rf"``{name}\b(?=[^`]*``)", f"``{new}", value)
    lines, inside = [], False
    for line in value.split("\n"):
        bare = line.strip()
        inside = bare.startswith((">>>", "...")) or (inside and bool(bare))
        if inside:
            for name, new in renamed.items():
                line = re.sub(rf"(?<![\w.'\"]){name}\b(?!=[^=])", new, line)
        lines.append(line)
    return "\n".join(lines)


def comment_renames(references: References, value: str) -> str:
    """Constants, and names between backquotes, in comments."""
    for name, new in renamed_here(references).items():
        if name.isupper() and len(name) > 2:
            value = re.sub(rf"(?<![\w.]){name}\b", new, value)
        value = re.sub(rf"``{name}\b", f"``{new}", value)
    return value


def rewrite_text(tree: Tree, text: str) -> str:
    """Dotted module names, import statements and paths of the package in a text."""

    def imports(match: re.Match[str]) -> str:
        module, names = match[1], match[2]
        lines: dict[str, list[str]] = {}
        for part in re.split(r"\s*,\s*", names.strip().strip("()").strip().strip(",")):
            name, _, alias = part.partition(" as ")
            found = tree.resolve(module, name.strip())
            if found is None:
                lines.setdefault(module, []).append(part)
            elif isinstance(found, str):
                new = dotted(tree.plan.target[tree.old[found].path])
                package, _, last = new.rpartition(".")
                alias = alias or name
                lines.setdefault(package, []).append(
                    last + (f" as {alias}" if alias != last else "")
                )
            else:
                new_module, new = tree.home(*found)
                if new != name and not alias:
                    problems.append(f"text: {name} of {module} is {new} now; see its uses")
                lines.setdefault(new_module, []).append(new + (f" as {alias}" if alias else ""))
        return "; ".join(f"from {m} import {', '.join(n)}" for m, n in lines.items())

    def names(match: re.Match[str]) -> str:
        parts = match[0].split(".")
        for size in range(len(parts), 1, -1):
            module = ".".join(parts[:size])
            if module in tree.old:
                path = tree.old[module].path
                rest = parts[size:]
                if not rest:
                    return dotted(tree.plan.target[path])
                found = tree.resolve(module, rest[0])
                if isinstance(found, tuple) and found[0] == module:
                    new_module, new = tree.home(*found)
                    return ".".join([new_module, new, *rest[1:]])
                if isinstance(found, tuple):  # for what is replaced in a test
                    return ".".join(
                        [dotted(tree.plan.target[path]), tree.home(*found)[1], *rest[1:]]
                    )
                return ".".join([dotted(tree.plan.target[path]), *rest])
        return match[0]

    pattern = rf"from ({PACKAGE}[\w.]*) import (\([^)]*\)|[\w, ]+\w)"
    marked = re.sub(pattern, lambda m: "\0" + imports(m).replace(PACKAGE, "\1"), text)
    marked = re.sub(rf"(?<![\w/.]){PACKAGE}(\.\w+)+(?!/)", names, marked)
    marked = marked.replace("\0", "").replace("\1", PACKAGE)

    def paths(match: re.Match[str]) -> str:
        path = match[2]
        if path in tree.plan.target:
            return match[1] + tree.plan.target[path]
        return match[0]

    return re.sub(r"(src/earwitness/|(?<![\w/]))((?:\w+/)*\w+\.py)\b", paths, marked)


# --- Building new modules ---------------------------------------------------------------------


@dataclass
class Unit:
    """Statements of one old module that go to one new one."""

    old: Old
    target: str
    texts: list[tuple[set[str], str]]
    needs: list[tuple[Need, bool]]
    first: bool  # what comes from the file's own target has its comments and docstring
    uses: set[str] = field(default_factory=set)  # old modules whose names are imported on top


def units_of(tree: Tree, old: Old, references: References) -> Iterator[Unit]:
    plan = tree.plan
    own = plan.target[old.path]
    groups: dict[str, list[tuple[int, cst.BaseStatement, cst.BaseStatement]]] = defaultdict(list)
    statements = rewritten(old.tree, references)
    for index, statement in enumerate(old.tree.body):
        if index == 0 and is_docstring(statement):
            continue
        if is_checking(statement) or only_imports(statement):
            continue
        names = defined_by(statement)
        if "__all__" in names and old.path not in KEEP_EXPORTS:
            continue
        targets = {plan.single.get((old.path, name), own) for name in names} or {own}
        assert len(targets) == 1, (old.path, names)
        groups[targets.pop()].append((index, statement, statements[index]))
    for target in dict.fromkeys([own, *groups]):
        found = groups.get(target, [])
        needs = [need for index, _, _ in found for need in references.needs.get(index, [])]
        texts = []
        for _, statement, changed in found:
            names = {
                tree.home(old.module, name)[1] if name in old.defined else name
                for name in defined_by(statement)
            }
            texts.append((names, old.tree.code_for_node(changed)))
        if not texts and target != own:
            continue
        yield Unit(old, target, texts, needs, target == own)


def rewritten(module: cst.Module, references: References) -> list[cst.BaseStatement]:
    out: list[cst.BaseStatement] = []
    classes = references.tree.plan.class_docs.get(references.old.path, [])
    for statement in module.body:
        changed = statement.visit(Rewrite(references))
        if isinstance(changed, cst.ClassDef) and statement.name.value in classes:
            changed = with_docstring(changed, references)
        if isinstance(changed, cst.FlattenSentinel):
            changed = statement
        assert isinstance(changed, cst.BaseStatement | cst.RemovalSentinel), changed
        out.append(statement if isinstance(changed, cst.RemovalSentinel) else changed)
    return out


def with_docstring(node: cst.ClassDef, references: References) -> cst.ClassDef:
    """A class that is documented by what stood on top of its old module."""
    text = rewrite_text(references.tree, docstring_of(references.old)).strip()
    old = cst.ensure_type(node.body.body[0], cst.SimpleStatementLine)
    own = cst.ensure_type(cst.ensure_type(old.body[0], cst.Expr).value, cst.SimpleString)
    if len(own.value) > 50 and node.name.value in KEEP_CLASS_LINES:
        text += "\n\n" + str(own.evaluated_value).strip()
    lines = [line and "    " + line for line in text.split("\n")]
    end = "\n    " if len(lines) > 1 else ""
    value = '"""' + "\n".join(lines).strip() + end + '"""'
    new = old.with_changes(body=[cst.Expr(cst.SimpleString(value))])
    return node.with_changes(body=node.body.with_changes(body=[new, *node.body.body[1:]]))


def is_docstring(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


def only_imports(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(small, cst.Import | cst.ImportFrom) for small in statement.body
    )


def docstring_of(old: Old) -> str:
    import ast

    return ast.get_docstring(ast.parse(old.tree.code)) or ""


def explanation(text: str) -> str:
    """A docstring without its first line, unless its first paragraph goes on."""
    first, _, rest = text.partition("\n\n")
    if "\n" in first:
        return text.strip()
    return rest.strip()


def ordered(tree: Tree, units: list[Unit]) -> list[Unit]:
    """What is imported comes first; otherwise the order of the plan."""
    by_module: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_module[unit.old.module].append(unit)
    done: list[Unit] = []

    def visit(unit: Unit, trail: tuple[int, ...]) -> None:
        if any(unit is one for one in done):
            return
        assert id(unit) not in trail, f"cycle at {unit.old.path}"
        for module in uses(tree, unit.old):
            for other in by_module.get(module, []):
                if other is not unit:
                    visit(other, (*trail, id(unit)))
        done.append(unit)

    for unit in units:
        visit(unit, ())
    return done


def uses(tree: Tree, old: Old) -> set[str]:
    """Old modules from which names come, at run time."""
    found = set()
    for one in old.imports.values():
        if one.internal and not one.checking:
            place = tree.resolve(one.module, one.name) if one.name else one.module
            if isinstance(place, tuple):
                found.add(place[0])
            elif isinstance(place, str):
                found.add(place)
    return found


def banner(title: str) -> str:
    return f"# --- {title} " + "-" * (92 - len(title)) + "\n"


def comment(text: str) -> str:
    lines = []
    for paragraph in text.split("\n\n"):
        if re.search(r"^( |- |\* |>>>)", paragraph, re.MULTILINE):
            lines += paragraph.split("\n")
        else:
            lines += textwrap.wrap(paragraph, 98, break_long_words=False)
        lines.append("")
    return "".join(f"# {line}".rstrip() + "\n" for line in lines[:-1])


def assemble(tree: Tree, target: str, units: list[Unit]) -> str:
    """The text of a new module."""
    plan = tree.plan
    units = ordered(tree, units)
    module = dotted(target)
    seen: dict[str, tuple[Unit, str]] = {}
    kept: list[tuple[Unit, list[str]]] = []
    for unit in units:
        texts = []
        mine: set[str] = set()
        for names, text in unit.texts:
            plain = re.sub(r"\s+#.*", "", text).strip()
            again = [name for name in names if name in seen and seen[name][0] is not unit]
            if again:
                if all(plain == seen[name][1] for name in again):
                    continue
                problems.append(
                    f"{target}: {again} defined twice: {unit.old.path} and "
                    f"{seen[again[0]][0].old.path}"
                )
            mine |= names
            for name in names:
                seen.setdefault(name, (unit, plain))
            texts.append(text)
        kept.append((unit, texts))
    needs: dict[str, tuple[Need, bool, str]] = {}
    for unit in units:
        for need, checking in unit.needs:
            if need.module == module and need.name is not None and need.name in seen:
                continue
            if need.alias in seen:
                if same_code(tree, need, seen[need.alias][1]):
                    continue
                problems.append(
                    f"{target}: import {need.alias} from {need.module} ({unit.old.path}) meets a "
                    f"definition in {seen[need.alias][0].old.path}"
                )
            known = needs.get(need.alias)
            if known is None:
                needs[need.alias] = need, checking, unit.old.path
            elif known[0] == need:
                needs[need.alias] = need, checking and known[1], known[2]
            elif not alike(tree, known[0], need):
                problems.append(
                    f"{target}: {need.alias} is imported from {known[0].module} ({known[2]}) and "
                    f"from {need.module} ({unit.old.path})"
                )
    for need, _, path in needs.values():
        private = need.name and need.name.startswith("_") and need.name != "__version__"
        if private and need.module.startswith(PACKAGE):
            problems.append(f"{target}: imports private {need.module}.{need.name} for {path}")
    several = sum(bool(texts) for _, texts in kept) > 1
    return text_of(plan, target, kept, needs, several, tree)


def same_code(tree: Tree, need: Need, plain: str) -> bool:
    return any(plain == code for code in codes(tree, need))


def codes(tree: Tree, need: Need) -> Iterator[str]:
    if not tree.homes:
        for old in tree.old.values():
            for name in old.defined:
                tree.homes[tree.home(old.module, name)].append((old.module, name))
    for module, name in tree.homes.get((need.module, need.name or ""), []):
        yield tree.code(module, name)


def alike(tree: Tree, one: Need, other: Need) -> bool:
    if one.name == other.name and {one.module, other.module} == {"typing", "collections.abc"}:
        return True
    return bool(set(codes(tree, one)) & set(codes(tree, other)))


def text_of(
    plan: Plan,
    target: str,
    kept: list[tuple[Unit, list[str]]],
    needs: dict[str, tuple[Need, bool, str]],
    several: bool,
    tree: Tree,
) -> str:
    headline = plan.docstrings.get(target)
    if headline is None:
        problems.append(f"no docstring for {target}")
        headline = docstring_of(kept[0][0].old).partition("\n")[0]
    doc = headline
    parts = []
    for unit, texts in kept:
        old_doc = doc_renames(References_of(tree, unit.old), docstring_of(unit.old))
        more = explanation(rewrite_text(tree, old_doc)) if unit.first else ""
        if unit.old.path in plan.class_docs:
            more = ""
        if more and (not several or ">>>" in more):
            doc += "\n\n" + more
            more = ""
        if not texts:
            continue
        text = "".join(texts).strip("\n")
        head = ""
        if several and unit.first:
            title = plan.banners.get(unit.old.path)
            if title is None:
                problems.append(f"no banner for {unit.old.path}")
                title = unit.old.path
            head = banner(title)
            if more:
                head += comment(more)
            head += "\n\n"
        parts.append(head + text)
    lines = sorted({need.line() for need, checking, _ in needs.values() if not checking})
    checked = sorted({need.line() for need, checking, _ in needs.values() if checking})
    if checked:
        lines.append("from typing import TYPE_CHECKING")
    raw = "r" if "\\" in doc else ""
    quoted = f'{raw}"""{doc}' + ("\n" if "\n" in doc else "") + '"""\n'
    out = [quoted]
    if parts or lines:
        out.append("from __future__ import annotations\n")
    if lines:
        out.append("\n".join(lines) + "\n")
    if checked:
        out.append("if TYPE_CHECKING:\n" + "".join(f"    {line}\n" for line in checked))
    return "\n".join(out) + "\n\n" + "\n\n\n".join(parts) + "\n"


_references: dict[int, References] = {}


def References_of(tree: Tree, old: Old) -> References:
    if id(old) not in _references:
        _references[id(old)] = References(tree, old)
    return _references[id(old)]


# --- Files outside of the package -------------------------------------------------------------


class Elsewhere(Rewrite):
    """Rewrite a test, benchmark or example, with its imports in place."""

    def __init__(self, references: References, helpers: dict[str, str]) -> None:
        super().__init__(references)
        self.helpers = helpers
        self.needed = dict.fromkeys(
            need for needs in references.needs.values() for need, _ in needs
        )
        self.first = True

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom:
        module = name_of(original_node.module)
        assert not isinstance(original_node.names, cst.ImportStar)
        for alias in original_node.names:
            name = name_of(alias.name)
            if f"{module}.{name}" in self.helpers:
                assert len(original_node.names) == 1
                package, _, last = self.helpers[f"{module}.{name}"].rpartition(".")
                asname = name_of(alias.asname.name) if alias.asname else name
                line = f"from {package} import {last} as {asname}\n"
                statement = cst.parse_statement(line)
                assert isinstance(statement, cst.SimpleStatementLine)
                imported = statement.body[0]
                assert isinstance(imported, cst.ImportFrom)
                return imported
        if module in self.helpers:
            return updated_node.with_changes(
                module=cst.parse_expression(self.helpers[module])  # type: ignore[arg-type]
            )
        return updated_node


def rewrite_elsewhere(tree: Tree, path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    old = parse(str(path.relative_to(ROOT)), text)
    references = References(tree, old)
    changer = Elsewhere(references, tree.plan.helpers)
    body: list[cst.BaseStatement] = []
    for statement in old.tree.body:
        if only_imports(statement) and any(one.internal for one in imports_of(statement)):
            assert isinstance(statement, cst.SimpleStatementLine)
            needs = []
            for one in imports_of(statement):
                found = tree.follow(one) if one.internal else None
                if not one.internal or found is None:
                    needs.append(Need(one.module, one.name, one.alias))
                else:
                    needs += wanted(tree, references, one, found)
            lines = [cst.parse_statement(need.line() + "\n") for need in dict.fromkeys(needs)]
            if lines:
                lines[0] = lines[0].with_changes(leading_lines=statement.leading_lines)
                lines[-1] = lines[-1].with_changes(
                    trailing_whitespace=statement.trailing_whitespace
                )
            body += lines
            continue
        changed = statement.visit(changer)
        if isinstance(changed, cst.FlattenSentinel):
            body += list(changed)
        elif not isinstance(changed, cst.RemovalSentinel):
            body.append(changed)
    return old.tree.with_changes(body=body).code


def wanted(
    tree: Tree, references: References, one: Imported, found: tuple[str, str] | str
) -> list[Need]:
    """The imports that take the place of one, in a file outside of the package."""
    if isinstance(found, tuple):
        module, new = tree.home(*found)
        return [Need(module, new, one.alias if one.explicit else new)]
    return [
        need
        for needs in references.needs.values()
        for need, _ in needs
        if need.name is None and need.module.startswith(PACKAGE)
    ]


# --- The whole --------------------------------------------------------------------------------


def read_plan() -> Plan:
    data = json.loads((ROOT / "tools" / "moves.json").read_text(encoding="utf-8"))
    return Plan(
        merge=data["merge"],
        single={(old, name): new for old, name, new in data["names"]},
        renames=data["renames"],
        docstrings=data["docstrings"],
        banners=data["banners"],
        data=data["data"],
        tests=data["tests"],
        helpers=data["helpers"],
        class_docs=data["class_docs"],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; print problems")
    parser.add_argument("--source", action="store_true", help="leave tests and the like out")
    arguments = parser.parse_args()
    plan = read_plan()
    tree = Tree(plan)
    units: dict[str, list[Unit]] = defaultdict(list)
    for target, olds in plan.merge.items():
        for path in olds:
            old = tree.old[dotted(path)]
            for unit in units_of(tree, old, References_of(tree, old)):
                units[unit.target].append(unit)
        units[target] = units[target]
    # units of single names come first in modules of their own, otherwise in the order of the plan
    new = {target: assemble(tree, target, found) for target, found in units.items()}
    for target in plan.docstrings:
        if target not in new and target.endswith("__init__.py"):
            new[target] = f'"""{plan.docstrings[target]}"""\n'
    others = {}
    if not arguments.source:
        paths = [p for f in OTHER_FOLDERS for p in sorted((ROOT / f).rglob("*.py"))]
        with get_context("fork").Pool(2, initializer=_share, initargs=(tree,)) as pool:
            for path, text, found in pool.imap_unordered(_elsewhere, paths, chunksize=4):
                others[path] = text
                problems.extend(found)
    texts = {
        path: rewrite_text(tree, path.read_text(encoding="utf-8"))
        for path in [
            *ROOT.glob("*.md"),
            *(ROOT / "docs").rglob("*.md"),
            *(ROOT / "examples").rglob("*.md"),
        ]
        if path.name not in ("CHANGELOG.md", "proof.md")
    }
    for problem in dict.fromkeys(problems):
        print(problem)
    print(f"{len(problems)} problems, {len(new)} modules")
    if arguments.check:
        sys.exit(bool(problems))
    write(plan, new, others, texts)


_shared: list[Tree] = []


def _share(tree: Tree) -> None:
    _shared.append(tree)


def _elsewhere(path: Path) -> tuple[Path, str, list[str]]:
    problems.clear()
    text = rewrite_elsewhere(_shared[0], path)
    return path, text, list(problems)


def write(plan: Plan, new: dict[str, str], others: dict[Path, str], texts: dict[Path, str]) -> None:
    kept = {old: (SOURCE / old).read_bytes() for old in plan.data}
    for path in plan.target:
        (SOURCE / path).unlink()
    for old in plan.data:
        (SOURCE / old).unlink()
    for old, content in kept.items():
        place = SOURCE / plan.data[old]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    for target, text in new.items():
        place = SOURCE / target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    for path, text in {**others, **texts}.items():
        path.write_text(text, encoding="utf-8")
    for old_path, new_path in plan.tests.items():
        place = ROOT / new_path
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", old_path, new_path], cwd=ROOT, check=True)
    for folder in sorted(SOURCE.rglob("*"), reverse=True):
        if folder.name == "__pycache__":
            shutil.rmtree(folder)
        elif folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


if __name__ == "__main__":
    main()
