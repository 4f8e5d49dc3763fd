"""Options of commands from the signatures and docstrings of functions and of settings.

Name, type, default and description of an option are those of the parameter. A command line differs
from Python where it must: a flag for what is true or false, and an option in the singular that may
be given several times for a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, cleandoc, isclass, signature
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from earwitness.cli.output import FILE, CommandOption, add_options, check_seed, option
from earwitness.cli.types import FloatList, IntegerList

SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", re.M | re.S)
ENTRY = re.compile(r"^(\w[\w, ]*)\n((?:\n| .*\n?)+)", re.M)
NO_OPTIONS = {"map", "progress"}


def describe_parameters(source: Callable[..., Any]) -> dict[str, str]:
    """Return the description of every parameter in NumPy docstrings, those of base classes too.

    >>> def listen(seconds):
    ...     '''Listen.
    ...
    ...     Parameters
    ...     ----------
    ...     seconds
    ...         Duration, at most
    ...         ``10``.
    ...     '''
    >>> describe_parameters(listen)
    {'seconds': 'Duration, at most ``10``.'}
    """
    documented = reversed(source.__mro__) if isclass(source) else [source]
    found = (SECTION.search(cleandoc(one.__doc__ or "") + "\n") for one in documented)
    return {
        name: " ".join(text.split())
        for section in filter(None, found)
        for names, text in ENTRY.findall(section[1])
        for name in names.split(", ")
    }


def signature_options(source: Callable[..., Any], *left_out: str, **changes: str) -> CommandOption:
    """Return a decorator that adds an option for every keyword parameter of a function or class.

    Options that are not given are None or empty; the default of the parameter then applies.
    ``changes`` are descriptions by parameter, where that of Python does not fit.
    """
    hints, parameters = get_type_hints(source), signature(source).parameters.values()
    named = [one for one in parameters if one.kind is Parameter.KEYWORD_ONLY]
    unknown = {*left_out, *changes} - {one.name for one in named}
    assert not unknown, unknown
    flags = {one.name: _flag(one, hints[one.name]) for one in named}
    texts = {
        name: re.sub(r"``(\w+)``", lambda found: flags.get(found[1], found[1]), text)
        for name, text in (describe_parameters(source) | changes).items()
    }
    return add_options(
        *(
            _option(one, flags[one.name], hints[one.name], texts[one.name].replace("``", ""))
            for one in named
            if one.name not in NO_OPTIONS and one.name not in left_out
        )
    )


def _flag(parameter: Parameter, hint: Any) -> str:
    """Return the name of an option on the command line."""
    flag = parameter.name.replace("_", "-")
    if parameter.default is True:
        return f"--no-{flag}"
    return f"--{flag.removesuffix('s') if _is_list(hint, str) else flag}"


def _option(parameter: Parameter, flag: str, hint: Any, text: str) -> CommandOption:
    """Return the option of a parameter."""
    name, default = parameter.name, parameter.default
    if isinstance(default, bool):
        given: dict[str, Any] = {"is_flag": True, "flag_value": not default, "default": default}
        return option(flag, name, show_default=False, help=text, **given)
    kinds = set(_kinds(hint))
    settings: dict[str, Any] = {"help": text, "type": str}
    if _is_list(hint, str):
        return option(flag, name, multiple=True, **settings)
    if default not in (None, "", ()):
        settings["help"] = f"{text}  [default: {default}]"
    if name == "seed":
        settings["callback"] = check_seed
    if choices := [one for one in kinds if get_origin(one) is Literal]:
        settings["type"] = click.Choice(get_args(choices[0]))
    elif kinds & {Path, PathLike[str]}:
        settings["type"] = FILE
    elif int in kinds:
        settings["type"] = IntegerList() if _is_list(hint, int) else int
    elif float in kinds:
        settings["type"] = FloatList() if _is_list(hint, float) else float
    return option(flag, name, **settings)


def _kinds(hint: Any) -> Iterator[Any]:
    """Yield the types of a union and of the elements of lists in it, without that of None."""
    if get_origin(hint) in (Union, UnionType, Sequence, tuple, list):
        for one in get_args(hint):
            yield from _kinds(one)
    elif hint not in (NoneType, Ellipsis):
        yield hint


def _is_list(hint: Any, kind: type) -> bool:
    """Whether values may be lists of this type."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else [hint]
    lists = [one for one in kinds if get_origin(one) in (Sequence, tuple, list)]
    return any(kind in _kinds(one) for one in lists)
