"""Studies: check a plan, design it, write what each listener hears."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path

from earwitness.data import Clip, Design, Study
from earwitness.errors import UsageError
from earwitness.formats.study import read_study
from earwitness.formats.study.rows import rows_of
from earwitness.formats.whole import WholeFolder
from earwitness.listening.design.plan import design
from earwitness.report.balance import design_report
from earwitness.report.html import html
from earwitness.report.text import text

Record = Mapping[str, object]


def study_design(study: str | PathLike[str] | Study) -> Design:
    """The design of a study, given as a file or ready made."""
    return design(study if isinstance(study, Study) else read_study(Path(study)))


def study_render(made: Design, to: str = "text", *, width: int = 100) -> str:
    """The plan, the minutes and the proof of balance, as ``text`` or ``html``."""
    if to not in ("text", "html"):
        raise UsageError(f'there is no form "{to}" — known: html, text')
    report = design_report(made)
    return html(report) if to == "html" else text(report, width)


def study_write(made: Design, folder: str | PathLike[str]) -> list[str]:
    """Write all files of a design into a new folder; their names are returned.

    A table of all clips, one of every subset, for every listener a table and a list of what is
    heard (subset, session, file, scale), and the report. The folder appears whole or not at all.
    """
    with WholeFolder(Path(folder)) as place:
        files = _files(made)
        for name, content in files.items():
            path = place / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="")
    return list(files)


def _files(made: Design) -> dict[str, str]:
    study = made.study
    known = {clip.name: clip for clip in study.material}
    tables = {"samples_all.csv": list(known)}
    for number, subsets in enumerate(made.subsets, 1):
        block = f"block_{number}/" * (len(made.subsets) > 1)
        tables |= {
            f"{block}samples_subset_{place}.csv": list(subset)
            for place, subset in enumerate(subsets, 1)
        }
    files = {name: records_csv([_row(known[one]) for one in own]) for name, own in tables.items()}
    for plan in made.plans:
        own = rows_of(study, plan)
        files[f"csv/subject_{plan.listener}.csv"] = records_csv(own)
        files[f"json/subject_{plan.listener}.json"] = _json(own)
    return files | {"balance.html": study_render(made, "html"), "balance.txt": study_render(made)}


def _row(clip: Clip) -> dict[str, object]:
    files = {f"file.{system}": path for system, path in clip.files.items()}
    return {"name": clip.name, "seconds": clip.seconds, **clip.covariates, **files}


def _json(records: Sequence[Record]) -> str:
    """A list, a line a record."""
    lines = ",\n".join(map(json.dumps, records))
    return f"[\n{lines}\n]\n"


def records_csv(records: Sequence[Record]) -> str:
    """Records as a table; a column each key that any of them has."""
    written = io.StringIO()
    columns = list(dict.fromkeys(chain.from_iterable(records)))
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([record.get(column, "") for column in columns] for record in records)
    return written.getvalue()
