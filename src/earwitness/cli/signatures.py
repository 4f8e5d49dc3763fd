"""Options of commands from the signatures and docstrings of functions and of settings.

Name, type, default and description of an option are those of the parameter. A command line differs
from Python where it must: a flag for what is true or false, an option in the singular that may be
given several times for a list, and ``NAME=VALUE`` several times for a mapping. ``Annotated`` adds
what a type cannot say: a text is the word that help shows for the value, and any other collection
has the values that are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import click

from earwitness.cli.output import FILE, FOLDER, CommandOption, add_options, check_seed, option
from earwitness.cli.types import NumberList, Pair, collect_pairs
from earwitness.docstrings import describe_parameters

NO_OPTIONS = {"jobs", "progress"}


def signature_options(
    source: Callable[..., Any], *left_out: str, only: Sequence[str] = (), **changes: str
) -> CommandOption:
    """Return a decorator that adds an option for every keyword parameter of a function or class.

    Parameters that are left out have none; with ``only``, these alone have one. Options that are
    not given are None or empty; the default of the parameter then applies. ``changes`` are
    descriptions by parameter, where that of Python does not fit.
    """
    annotations = get_type_hints(source, include_extras=True)
    parameters = signature(source).parameters.values()
    named = [parameter for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY]
    hints = {parameter.name: _read_hint(annotations[parameter.name]) for parameter in named}
    unknown = {*left_out, *changes} - {parameter.name for parameter in named}
    assert not unknown, unknown
    flags = {parameter.name: _flag(parameter, hints[parameter.name]) for parameter in named}
    texts = {
        name: re.sub(r"``(\w+)``", lambda found: flags.get(found[1], found[1]), text)
        for name, text in (describe_parameters(source) | changes).items()
    }
    return add_options(
        *(
            _option(
                parameter,
                flags[parameter.name],
                hints[parameter.name],
                texts[parameter.name].replace("``", ""),
            )
            for parameter in named
            if parameter.name not in (*NO_OPTIONS, *left_out)
            and (parameter.name in only or not only)
        )
    )


class _Hint(NamedTuple):
    """What the type of a parameter says: types of values, and whether there may be several."""

    kinds: frozenset[Any] = frozenset()
    outer: Any = None  # Sequence or Mapping
    word: str | None = None
    choices: tuple[Any, ...] = ()

    @property
    def is_repeated(self) -> bool:
        """Whether the option may be given several times; numbers are separated by commas."""
        return self.outer is Mapping or (self.outer is Sequence and not self.kinds & {int, float})

    @property
    def type(self) -> Any:
        """The type of the option."""
        if self.choices:
            one: Any = click.Choice(self.choices)
        elif self.kinds & {Path, PathLike[str]}:
            one = FOLDER if self.word == "FOLDER" else FILE
        elif self.kinds & {int, float}:
            kind = float if float in self.kinds else int
            one = NumberList(kind) if self.outer is Sequence else kind
        else:
            one = str
        return Pair(one) if self.outer is Mapping else one


def _read_hint(hint: Any) -> _Hint:
    """Return what a type says."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        found = _read_hint(arguments[0])
        words = [argument for argument in arguments[1:] if isinstance(argument, str)]
        tables = [argument for argument in arguments[1:] if not isinstance(argument, str)]
        return found._replace(
            word=words[0] if words else found.word,
            choices=tuple(tables[0]) if tables else found.choices,
        )
    if origin is Literal:
        return _Hint(frozenset({str}), choices=arguments)
    if origin in (Union, UnionType, Sequence, tuple, list, Mapping):
        parts = [
            _read_hint(argument)
            for argument in arguments[origin is Mapping :]
            if argument is not Ellipsis
        ]
        outer = {Mapping: Mapping, Union: None, UnionType: None}.get(origin, Sequence)
        return _Hint(
            frozenset().union(*(part.kinds for part in parts)),
            outer or next((part.outer for part in parts if part.outer), None),
            next((part.word for part in parts if part.word), None),
            next((part.choices for part in parts if part.choices), ()),
        )
    return _Hint(frozenset({hint} - {NoneType}))


def _flag(parameter: Parameter, hint: _Hint) -> str:
    """Return the name of an option on the command line."""
    flag = parameter.name.replace("_", "-")
    if parameter.default is True:
        return f"--no-{flag}"
    return f"--{flag.removesuffix('s') if hint.is_repeated else flag}"


def _option(parameter: Parameter, flag: str, hint: _Hint, text: str) -> CommandOption:
    """Return the option of a parameter."""
    name, default = parameter.name, parameter.default
    if isinstance(default, bool):
        given: dict[str, Any] = {"is_flag": True, "flag_value": not default, "default": default}
        return option(flag, name, show_default=False, help=text, **given)
    settings: dict[str, Any] = {"type": hint.type, "metavar": hint.word}
    if hint.is_repeated:
        settings |= {"multiple": True, "callback": collect_pairs if hint.outer is Mapping else None}
        text = f"{text.removesuffix('.')} (repeatable)."
    elif name == "seed":
        settings["callback"] = check_seed
    if shown := _shown(default):
        text = f"{text}  [default: {shown}]"
    return option(flag, name, help=text, **settings)


def _shown(default: Any) -> str:
    """Return a default as help shows it; nothing for None, mappings and what is empty.

    >>> _shown(0.25), _shown((1.0, 3.0)), _shown(()), _shown(None)
    ('0.25', '1,3', '', '')
    """
    if isinstance(default, float):
        return f"{default:g}"
    if isinstance(default, str | int):
        return str(default)
    return ",".join(map(_shown, default)) if isinstance(default, Sequence) else ""
