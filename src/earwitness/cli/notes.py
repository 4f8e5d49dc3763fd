"""Warnings as notes on standard error, told at once."""

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
