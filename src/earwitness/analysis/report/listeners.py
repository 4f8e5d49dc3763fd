"""Report of single listeners: section, headlines and CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan
from operator import attrgetter
from typing import Any

from earwitness.analysis.report.wording import (
    LISTENER,
    deviation_label,
    yes_or_no,
)
from earwitness.analysis.results import ListenerFigures, Results, ScaleResults
from earwitness.core import Value, count_text
from earwitness.ratings.records import Who
from earwitness.report.columns import (
    Column,
    TableRows,
    column_notes,
    declare_columns,
    draw_rows,
    record_rows,
)
from earwitness.report.numbers import number, value_title
from earwitness.report.parts import Panel, Panels, Section, Table
from earwitness.report.sentences import join_names

# --- Panels and figures of listeners -------------------------------------------------------------


SHARE_VALUE = Value("share", "none", 0, 1, "")
FIGURE_COLUMNS = declare_columns(
    (
        "votes",
        "mean",
        "sd",
        "bias",
        "inconsistency",
        Column("correlation", value=SHARE_VALUE),
        Column("rmse", "RMSE"),
        Column("usual", "most frequent value", SHARE_VALUE, note="share of votes with that value"),
        Column("run", "longest run", note="number of equal votes in a row"),
        Column(
            "alike",
            "same on all scales",
            SHARE_VALUE,
            note="share of trials with the same vote on all scales",
        ),
    )
)
CHOICE_FIGURES = ("votes", "usual", "run")  # shown on a scale of choices, which has no means
FIGURE_CELLS = attrgetter(*(column.key for column in FIGURE_COLUMNS))
PANELS_NOTE = (
    "Dots: the listener's mean per system, in the order of systems; line: the mean over all kept "
    "listeners. Bias is the mean difference from the other listeners on the same stimuli, ± the "
    "standard deviation of these differences (inconsistency)."
)
FIGURES_NOTE = (
    f"{' '.join(column_notes(FIGURE_COLUMNS))} Correlation and RMSE are relative to the mean of "
    "the other listeners."
)

COMMENTS_NOTE = (
    "Listeners are not named, and the comments on a stimulus are sorted by their text. Comments "
    "can still identify people: read them before you publish the report."
)


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on listeners, with panels if they have means, and their comments."""
    scales = [scale for scale in results.scales if scale.listeners]
    if scales:
        parts = tuple(_listener_part(results, scale) for scale in scales)
        has_panels = any(isinstance(part, Panels) for part in parts)
        text = f"{PANELS_NOTE} {FIGURES_NOTE}" if has_panels else FIGURES_NOTE
        yield Section("Listeners", parts, text, place="pictures")
    yield from _comment_sections(results)


def _comment_sections(results: Results) -> Iterator[Section]:
    """Yield the comments beside their stimuli, without listeners."""
    comments = results.comments
    if comments:
        stimuli = count_text(len({comment.key for comment in comments}), "stimulus", "stimuli")
        title = f"{count_text(len(comments), 'comment')} on {stimuli}"
        rows = map(attrgetter("key.item", "key.system", "text"), comments)
        table = draw_rows(title, ("item", "system", "comment"), rows, 3, sortable=True)
        title = f"Comments ({len(comments):,})"
        yield Section(title, (table,), COMMENTS_NOTE, place="pages", folded=True)


def _listener_part(results: Results, scale: ScaleResults) -> Panels | Table:
    table, value = _figure_table(results, scale), scale.value
    if scale.choices or not any(listener.means for listener in scale.listeners):
        return table
    everyone = {name: rated.mean.value for name, rated in scale.systems.items()}
    panels = tuple(
        Panel(
            str(listener.listener),
            listener.means,
            _bias_remark(listener, value),
            listener.listener in results.left,
        )
        for listener in scale.listeners
    )
    return Panels(value_title(value), value, everyone, panels, table)


def _bias_remark(listener: ListenerFigures, value: Value) -> str:
    if isnan(listener.bias):
        return ""
    sign = "+" if listener.bias > 0 else ""
    return f"{sign}{number(listener.bias, value)} ± {number(listener.inconsistency, value)}"


def _figure_table(results: Results, scale: ScaleResults) -> Table:
    """Return one row per listener."""
    columns = [
        replace(
            column,
            heading=deviation_label(scale.value) if column.key == "sd" else column.heading,
            hidden=bool(scale.choices) and column.key not in CHOICE_FIGURES,
        )
        for column in FIGURE_COLUMNS
    ]
    title = f"{value_title(scale.value)}: listeners"
    rows = (_listener_cells(results, scale, listener) for listener in scale.listeners)
    return draw_rows(title, (*LISTENER_COLUMNS, *columns), rows, 2)


LISTENER_COLUMNS = (
    Column("scale", hidden=True),
    LISTENER,
    Column("kept", "status", show=lambda kept: "kept" if kept == "yes" else "excluded"),
)


def _listener_cells(
    results: Results, scale: ScaleResults, listener: ListenerFigures
) -> tuple[Any, ...]:
    kept = yes_or_no(listener.listener not in results.left)
    return scale.value, listener.listener, kept, *FIGURE_CELLS(listener)


# --- Headlines on listeners ----------------------------------------------------------------------


MAX_NAMED_LISTENERS = 10

CONSTANT_VOTE_SHARE = 0.95  # share of one value that counts as not using the scale
MIN_VOTES_FOR_CONSTANT_VOTE = 10  # fewer votes are not judged
LOW_CORRELATION = 0.4  # correlation with the others below which P.808 excludes


def headlines(results: Results) -> Iterator[str]:
    """Yield listeners with nearly constant votes or a low correlation with the others."""
    for scale in results.scales:
        yield from _constant_votes(scale)
    if not results.rules and not results.screened:
        yield from _low_correlations(results)


def name_listeners(who: Sequence[Who]) -> str:
    """Return listeners by name.

    >>> name_listeners((1,)), name_listeners((1, "anna"))
    ('listener 1', 'listeners 1 and anna')
    """
    names = join_names([str(listener) for listener in who], MAX_NAMED_LISTENERS)
    return f"listener{'' if len(who) == 1 else 's'} {names}"


def _constant_votes(scale: ScaleResults) -> Iterator[str]:
    """Yield listeners who nearly always gave the same vote; choices are not judged."""
    names = [
        listener.listener
        for listener in _raters(scale)
        if listener.usual >= CONSTANT_VOTE_SHARE and listener.votes >= MIN_VOTES_FOR_CONSTANT_VOTE
    ]
    if names:
        message = f"gave the same vote in at least {100 * CONSTANT_VOTE_SHARE:.0f} % of trials"
        yield f"{scale.value.name}: {name_listeners(names)} {message}"


def _low_correlations(results: Results) -> Iterator[str]:
    low = [
        (listener.listener, scale.value.name)
        for scale in results.scales
        for listener in _raters(scale)
        if listener.correlation < LOW_CORRELATION
    ]
    if low:
        names, scales = dict.fromkeys(who for who, _ in low), dict.fromkeys(s for _, s in low)
        verb = "correlates" if len(names) == 1 else "correlate"
        where = f" on {join_names([*scales])}" if len(results.scales) > 1 else ""
        yield (
            f"No screening rule was planned; {name_listeners([*names])} {verb} poorly with the "
            f"rest of the panel (correlation below {LOW_CORRELATION:g}{where})"
        )


def _raters(scale: ScaleResults) -> tuple[ListenerFigures, ...]:
    """Return the listeners of a scale to judge; none for choices, penalties and words kept."""
    is_judged = not scale.choices and scale.value.high != 0 and scale.value.best != "none"
    return scale.listeners if is_judged else ()


# --- CSV table of listeners ----------------------------------------------------------------------


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    figures = [(scale, listener) for scale in results.scales for listener in scale.listeners]
    systems = list(dict.fromkeys(name for _, listener in figures for name in listener.means))
    rows = (
        (*_listener_cells(results, scale, listener), *map(listener.means.get, systems))
        for scale, listener in figures
    )
    means = (Column(f"mean of {name}") for name in systems)
    return {"listeners": record_rows((*LISTENER_COLUMNS, *FIGURE_COLUMNS, *means), rows)}
