"""A result as text, in any form."""

from __future__ import annotations

import os
from dataclasses import replace
from os import PathLike
from pathlib import Path

from earwitness.data import Comparison, Concordance, PowerPlan, Results, Scores, is_address
from earwitness.errors import UsageError, nearest
from earwitness.report import FORMS, Result, report_of, text, written


def render(
    result: Result,
    to: str = "text",
    *,
    width: int = 100,
    folder: str | PathLike[str] | None = None,
) -> str:
    """A result as ``text`` (tables for a terminal of this width), ``json``, ``csv``, ``md``,
    ``html`` (one page with pictures, to be put into this folder if it links sound) or ``latex``."""
    if to not in FORMS:
        raise UsageError(f'there is no form "{to}" — {nearest(to, FORMS)}')
    if to == "text":
        return text(report_of(result), width)
    return written(_seen_from(result, folder) if to == "html" else result, to)


def _seen_from(result: Result, folder: str | PathLike[str] | None) -> Result:
    """The same result, with paths of sound as they are seen from a folder, or from anywhere."""
    if isinstance(result, Results | PowerPlan | Concordance):
        return result  # without sound
    if isinstance(result, Comparison):
        scores = _seen_from(result.scores, folder)
        assert isinstance(scores, Scores)
        return replace(result, scores=scores)
    shown = [replace(one, audio=_path(one.audio, folder)) for one in result.shown]
    return replace(result, shown=tuple(shown))


def _path(audio: str, folder: str | PathLike[str] | None) -> str:
    if not audio or is_address(audio):
        return audio
    if folder is None:
        return Path(audio).absolute().as_posix()
    return Path(os.path.relpath(audio, folder)).as_posix()
