"""Result: the base class of all results; their data frames, JSON and CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any

from earwitness.errors import MissingExtra, UsageError, nearest
from earwitness.report import apply_renderer
from earwitness.report.columns import TableRows, table_csv

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure

SHOWN_LINES = 26  # of a report in an interactive session
DISPLAY_WIDTH = 88


class Result:
    """Base class of results, which hold data; a ``Renderer`` renders them.

    In an interactive session a result shows the start of its report, and in a notebook its tables
    and figures. ``to_records``, ``to_pandas`` and ``to_polars`` give its tables.
    """

    __slots__ = ()

    def to_records(self, table: str | None = None) -> list[dict[str, Any]]:
        """Return a table of the result as a list of records.

        Parameters
        ----------
        table
            Name of the table; see ``table_names``. By default the main table.

        Returns
        -------
        list of dict
            One record per row. Undefined numbers are NaN.

        Raises
        ------
        UsageError
            If the result has no such table.
        """
        tables = apply_renderer(self, "tables")
        name = next(iter(tables)) if table is None else table
        if name not in tables:
            raise UsageError(f'unknown table "{name}" — {nearest(name, tables)}')
        columns, rows, signature = TableRows(*tables[name])
        facts = {"signature": signature} if signature else {}
        return [dict(zip(columns, row, strict=True)) | facts for row in rows]

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the tables of the result, the main table first."""
        return tuple(apply_renderer(self, "tables"))

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """Return a table of the result as a pandas data frame; see ``to_records``."""
        frame: pandas.DataFrame = _import_library("pandas").DataFrame(self.to_records(table))
        return frame

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        """Return a table of the result as a polars data frame; see ``to_records``."""
        frame: polars.DataFrame = _import_library("polars").DataFrame(
            self.to_records(table), infer_schema_length=None, strict=False
        )
        return frame

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Names of the figures of the report; they need matplotlib (extra ``figures``)."""
        from earwitness.report.figures import list_drawings

        return tuple(name for name, *_ in list_drawings(apply_renderer(self, "report")))

    def plot(self, figure: str | None = None) -> Figure:
        """Return a figure of the report.

        Parameters
        ----------
        figure
            Name of the figure; see ``figure_names``. By default the first one.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        UsageError
            If the result has no such figure.
        """
        from earwitness.report.figures import draw_figure, list_drawings

        drawings = {name: draw for name, _, draw in list_drawings(apply_renderer(self, "report"))}
        if not drawings:
            raise UsageError("the result has no figure")
        name = next(iter(drawings)) if figure is None else figure
        if name not in drawings:
            raise UsageError(f'unknown figure "{name}" — {nearest(name, drawings)}')
        return draw_figure(drawings[name])

    def __repr__(self) -> str:
        from earwitness.report.text import render_text

        lines = render_text(apply_renderer(self, "report"), DISPLAY_WIDTH).strip().splitlines()
        shown = [f"{type(self).__name__}:", *lines[:SHOWN_LINES]]
        if len(lines) > SHOWN_LINES:
            shown.append(f"… {len(lines) - SHOWN_LINES:,} more lines: print(earwitness.render(…))")
        return "\n".join(shown)

    def _repr_html_(self) -> str:
        from earwitness.report.html.page import render_frame

        return render_frame(apply_renderer(self, "report"))


def _import_library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(name, name, f"to_{name}()") from None


# --- Default renderers --------------------------------------------------------------------------


def refuse_paper_table(result: Result) -> None:
    """Raise UsageError, since the result has no table for a paper."""
    raise UsageError(f"{type(result).__name__} has no table for a paper — choose the full table")


def tables_json(result: Result) -> str:
    """Return all tables of a result as JSON."""
    return json_text({name: result.to_records(name) for name in result.table_names})


def main_table_csv(result: Result) -> str:
    """Return the main table of a result as CSV."""
    return table_csv(next(iter(apply_renderer(result, "tables").values())))


def record_table(records: Sequence[Mapping[str, Any]]) -> TableRows:
    """Return records as a table; missing values are empty."""
    columns = list(dict.fromkeys(name for record in records for name in record))
    return TableRows(columns, [[record.get(name, "") for name in columns] for record in records])


# --- JSON ---------------------------------------------------------------------------------------


def json_text(record: Any, names: type | tuple[()] = ()) -> str:
    """Return a record as JSON: dataclasses as objects, and undefined numbers as null.

    Values and keys of the type ``names`` are written as text.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, float) and not isfinite(value):
            return None
        if isinstance(value, names):
            return str(value)
        if is_dataclass(value):
            return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        if isinstance(value, Mapping):
            pairs = value.items()
            return {str(k) if isinstance(k, names) else k: plain(inner) for k, inner in pairs}
        return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value

    return json.dumps(plain(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
