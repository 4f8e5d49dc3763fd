"""Warnings as notes on standard error, told at once; and what is left of work that was stopped."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from earwitness.errors import EarwitnessWarning


@contextmanager
def notes() -> Iterator[None]:
    """While it lasts, warnings are notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", EarwitnessWarning)
        warnings.showwarning = lambda told, *_: click.echo(f"note: {told}", err=True)
        yield


@contextmanager
def remarked(remark: str) -> Iterator[None]:
    """While it lasts, whoever stops the work is told this, and not that nothing was written."""
    try:
        yield
    except BaseException as stop:
        if not isinstance(stop, Exception):
            stop.add_note(remark)
        raise
