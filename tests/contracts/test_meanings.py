"""One name, one meaning, one default: on the command line, in Python, and in study files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from inspect import Parameter, signature
from typing import Any

import click
import pytest

import earwitness
from earwitness.analysis.plan import AnalysisBlock
from earwitness.analysis.rating_set import TableOptions
from earwitness.analysis.settings import AnalysisSettings
from earwitness.cli.main import COMMANDS, group
from earwitness.cli.old_options import OLD_NAMES
from earwitness.cli.options import metric_parameters
from earwitness.material.clips import ClipSettings
from earwitness.material.normalize import LevelSettings
from earwitness.metaeval.agree import ScoreOptions
from earwitness.metaeval.settings import AgreementSettings
from earwitness.scoring.settings import ComparisonSettings, ScoringSettings, SystemSettings
from earwitness.skims.options import SkimOptions
from earwitness.studies.file.schema import AnalysisKeys
from helpers.command_line import run

DEFAULT = re.compile(r"\s*\[default: (.*)\]$")
SETTINGS: dict[str, tuple[type, ...]] = {  # of functions that take them as **options
    "score": (SystemSettings,),
    "compare": (ComparisonSettings,),
    "people": (ScoringSettings,),
    "audio clips": (ClipSettings,),
    "audio normalize": (LevelSettings,),
    "study analyse": (AnalysisSettings, TableOptions, AnalysisBlock),
    "study power": (TableOptions,),
    "study plane": (SkimOptions,),
    "agree": (AgreementSettings, ScoreOptions, TableOptions),
    "skim": (SkimOptions,),
}
# options that say what they apply to: the subject differs, the meaning does not
SUBJECTS = {
    *("--anchor", "--baseline", "--by", "--cache", "--coefficient", "--count", "--db"),
    *("--detector", "--files", "--generalize", "--language", "--listeners", "--low-is-good"),
    *("--method", "--metric", "--on-error", "--output", "--outputs", "--pattern"),
    *("--practice", "--preset", "--rate", "--ratio"),
    *(
        "--reference",
        "--rename",
        "--rubric",
        "--scale",
        "--seed",
        "--speech",
        "--system",
        "--to",
        "--value",
    ),
    *("--layout", "--web", "--weight", "--where"),
}
DEFAULTS = {
    "--coefficient": "metrics are ranked by Kendall's τ; correlations of scores are Pearson's r",
    "--db": "studies have one; ratings may be in files only",
    "--listeners": "experts, and listeners of a crowd",
    "--permutations": "max-T needs fewer than Holm's correction, and takes longer",
    "--port": "a study is served beside a browsed recording",
    "--to": "the first format",
    "--z": "a study compares values of z",
}
JOBS = "one per core from 50 MB of input on, else one"  # in Python 1, since scripts need a guard


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Every command without subcommands, by what a user types."""
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        if not isinstance(command, click.Group):
            yield name, command
            continue
        for verb in command.list_commands(context):
            found = command.get_command(context, verb)
            assert found is not None
            yield f"{name} {verb}", found


LEAVES = {name: one for name, one in leaves() if name != "chunkseg"}  # as the package chunkseg


def options_of(name: str) -> Iterator[tuple[str, click.Option]]:
    """The options of a command by flag."""
    for option in LEAVES[name].params:
        if isinstance(option, click.Option):
            yield next(flag for flag in option.opts if flag.startswith("--")), option


def default_of(option: click.Option) -> str:
    """The default that help shows."""
    found = DEFAULT.search(option.help or "")
    if found:
        return found[1]
    has_one = isinstance(option.default, str | int | float) and not option.is_flag
    return str(option.default) if has_one else ""


def shared_options() -> dict[str, list[click.Option]]:
    """Options of several commands, by flag."""
    found = defaultdict(list)
    for name in LEAVES:
        for flag, option in options_of(name):
            found[flag].append(option)
    return {flag: own for flag, own in found.items() if len(own) > 1}


def test_shared_options_say_the_same() -> None:
    texts = {
        flag: {DEFAULT.sub("", option.help or "") for option in own}
        for flag, own in shared_options().items()
    }
    assert {flag for flag, own in texts.items() if len(own) > 1} == SUBJECTS


def test_shared_options_have_one_default() -> None:
    shown = {
        flag: {default_of(option) for option in own} - {""}
        for flag, own in shared_options().items()
    }
    assert {flag for flag, own in shown.items() if len(own) > 1} == set(DEFAULTS)


def python_defaults(name: str) -> dict[str, Any]:
    """Defaults of the function of a command, and of the settings that it takes."""
    verb = name.replace("experiment references", "references_experiment").replace(" ", "_")
    source = getattr(earwitness, verb.replace("-", "_"), None)
    found = dict[str, Any]()
    for one in filter(None, (*SETTINGS.get(name, ()), source)):
        parameters = signature(one).parameters.values()
        found |= {
            one.name: one.default
            for one in parameters
            if one.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
            and one.default is not Parameter.empty
        }
    return found


def shown(default: Any) -> str:
    """A default of Python as help shows it."""
    if isinstance(default, float):
        return f"{default:g}"
    if isinstance(default, tuple | list):
        return ",".join(map(shown, default))
    return "" if default is None or isinstance(default, bool) else str(default)


def test_options_have_the_defaults_of_python() -> None:
    equal, other = 0, []
    for name in LEAVES:
        known = python_defaults(name)
        for flag, option in options_of(name):
            told, own = default_of(option), shown(known.get(option.name or ""))
            if flag == "--jobs":
                assert (told, known["jobs"]) == (JOBS, 1)
            elif told and own and told != own:
                other.append((name, flag, told, own))
            else:
                equal += bool(told and own)
    assert not other
    assert equal >= 95


def test_keys_of_a_planned_analysis_are_options_with_the_same_defaults() -> None:
    options = {option.name: option for _, option in options_of("study analyse")}
    plan, known = AnalysisBlock(), python_defaults("study analyse")
    keys = set(AnalysisKeys.__struct_fields__)
    assert keys == {field.name for field in fields(plan)}
    assert keys - {"scales"} <= options.keys()
    assert keys <= known.keys()
    for name in sorted(keys - {"scales"}):
        told = default_of(options[name])
        assert told in ("", shown(getattr(plan, name))), name


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_an_old_name_fails_with_what_took_its_place(old: str, new: str) -> None:
    *words, name = old.split()
    done = run(*(words or ["agree"]), name, "x")
    assert done.returncode == 2
    kind = "an option" if name.startswith("--") else "a command"
    assert f"{name} is not {kind} any more — {new}" in done.stderr
    replaced = re.match(r"use (--[\w-]+)", new)
    every = {flag for command in LEAVES for flag, _ in options_of(command)}
    assert replaced is None or replaced[1] in every | metric_parameters().keys()
    named = re.match(r"use earwitness ([a-z ]+)\b", new)
    assert named is None or named[1] in LEAVES
