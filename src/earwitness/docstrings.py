"""Descriptions of parameters, read from NumPy docstrings."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc, isclass
from typing import Any

SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", re.M | re.S)
ENTRY = re.compile(r"^(\w[\w, ]*)\n((?:\n| .*\n?)+)", re.M)


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


def parameter_phrases(source: Callable[..., Any]) -> dict[str, str]:
    """Return the same as phrases, without a capital and a full stop.

    >>> class Dot:
    ...     '''A dot.
    ...
    ...     Parameters
    ...     ----------
    ...     x, y
    ...         Position in metres.
    ...     '''
    >>> parameter_phrases(Dot)["y"]
    'position in metres'
    """
    texts = describe_parameters(source)
    return {name: f"{text[0].lower()}{text[1:].rstrip('.')}" for name, text in texts.items()}
