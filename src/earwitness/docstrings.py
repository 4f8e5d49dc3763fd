"""Descriptions of parameters, read from NumPy docstrings."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc, isclass
from itertools import groupby
from textwrap import fill, indent
from typing import Any

SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", re.M | re.S)
ENTRY = re.compile(r"^([\w*][\w*, ]*)\n((?:\n| .*\n?)*)", re.M)
# the section, or where it would be: before the next one, or at the end
PLACE = re.compile(r"(?:^Parameters\n-+\n.*?)?(?=^\w[\w ]*\n-{3,}$|\Z)", re.M | re.S)
SHARED_TEXTS = {  # of parameters that many functions have, and docstrings name only
    "draws": "Number of bootstrap samples.",
    "jobs": "Number of worker processes, or a function that distributes work as ``map`` does.",
    "progress": "Callback for progress reports.",
    "seed": "Random seed.",
    "study": "Study, or path of its file.",
}


def describe_parameters(source: Callable[..., Any]) -> dict[str, str]:
    """Return the description of every parameter in NumPy docstrings, those of base classes too.

    A parameter without a description has the one in ``SHARED_TEXTS``.

    >>> def listen(seconds):
    ...     '''Listen.
    ...
    ...     Parameters
    ...     ----------
    ...     seconds
    ...         Duration, at most
    ...         ``10``.
    ...     seed
    ...     '''
    >>> describe_parameters(listen)
    {'seconds': 'Duration, at most ``10``.', 'seed': 'Random seed.'}
    """
    documented = reversed(source.__mro__) if isclass(source) else [source]
    sections = (SECTION.search(cleandoc(owner.__doc__ or "") + "\n") for owner in documented)
    return {
        name: " ".join(text.split()) or SHARED_TEXTS.get(name, "")
        for section in filter(None, sections)
        for names, text in ENTRY.findall(section[1])
        for name in names.split(", ")
    }


def complete_docstring(source: Callable[..., Any]) -> str | None:
    """Return a docstring with the descriptions of base classes and of ``SHARED_TEXTS``.

    >>> class Dot:
    ...     '''A dot.
    ...
    ...     Parameters
    ...     ----------
    ...     x, y
    ...         Position in metres.
    ...     '''
    >>> class Star(Dot):
    ...     '''A star.'''
    >>> print(complete_docstring(Star))
    A star.
    <BLANKLINE>
    Parameters
    ----------
    x, y
        Position in metres.
    """
    described = describe_parameters(source)
    if not described:
        return source.__doc__
    lines = ["Parameters", "----------"]
    for description, names in groupby(described, described.__getitem__):
        wrapped = fill(description, 92, break_on_hyphens=False)
        lines += [", ".join(names), indent(wrapped, "    ")]
    before, after = PLACE.split(cleandoc(source.__doc__ or ""), 1)
    return "\n\n".join(filter(None, (before.rstrip(), "\n".join(lines), after)))


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
