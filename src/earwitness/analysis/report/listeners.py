"""Report of single listeners: section, headlines and CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from earwitness.analysis.report.wording import (
    TableContent,
    count_text,
    deviation_label,
    yes_or_no,
)
from earwitness.analysis.results import ListenerFigures, Results, ScaleResults
from earwitness.core import Value
from earwitness.ratings.records import Who
from earwitness.report.numbers import number, value_title
from earwitness.report.parts import Panel, Panels, Section, Table
from earwitness.report.sentences import join_names

# --- Panels and figures of listeners -------------------------------------------------------------


LISTENER_COLUMNS = (
    "votes",
    "mean",
    "sd",
    "bias",
    "inconsistency",
    "correlation",
    "rmse",
    "usual",
    "run",
    "alike",
)
LISTENER_LABELS = {
    "rmse": "RMSE",
    "usual": "most frequent value",
    "run": "longest run",
    "alike": "same on all scales",
}
COUNT_COLUMNS, SHARE_COLUMNS = ("votes", "run"), ("correlation", "usual", "alike")
SHARE_VALUE = Value("share", "none", 0, 1, "")
PANELS_NOTE = (
    "Dots: the listener's mean per system, in the order of systems; line: the mean over all kept "
    "listeners. Bias is the mean difference from the other listeners on the same stimuli, ± the "
    "standard deviation of these differences (inconsistency)."
)
FIGURES_NOTE = (
    "Most frequent value: share of votes with that value. Longest run: number of equal votes in a "
    "row. Same on all scales: share of trials with the same vote on all scales. Correlation and "
    "RMSE are relative to the mean of the other listeners."
)

COMMENTS_NOTE = (
    "Listeners are not named, and the comments on a stimulus are sorted by their text. Comments "
    "can still identify people: read them before you publish the report."
)


def listener_sections(results: Results) -> Iterator[Section]:
    """Yield the section on listeners: panels if they have means, else tables."""
    scales = [scale for scale in results.scales if scale.listeners]
    if scales:
        parts = tuple(_listener_part(results, scale) for scale in scales)
        text = (
            f"{PANELS_NOTE} {FIGURES_NOTE}"
            if any(isinstance(p, Panels) for p in parts)
            else FIGURES_NOTE
        )
        yield Section("Listeners", parts, text, place="pictures")


def comment_sections(results: Results) -> Iterator[Section]:
    """Yield the comments beside their stimuli, without listeners."""
    comments = results.comments
    if comments:
        stimuli = len({comment.key for comment in comments})
        table = Table(
            f"{count_text(len(comments), 'comment', 'comments')} on "
            f"{count_text(stimuli, 'stimulus', 'stimuli')}",
            ("item", "system", "comment"),
            tuple((one.key.item, one.key.system, one.text) for one in comments),
            names=3,
            sortable=True,
        )
        title = f"Comments ({len(comments):,})"
        yield Section(title, (table,), COMMENTS_NOTE, place="pages", folded=True)


def _listener_part(results: Results, scale: ScaleResults) -> Panels | Table:
    if scale.choices:
        return _figure_table(results, scale, ("votes", "usual", "run"))
    drawn = any(listener.means for listener in scale.listeners)
    return _mean_panels(results, scale) if drawn else _figure_table(results, scale)


def _mean_panels(results: Results, scale: ScaleResults) -> Panels:
    everyone = {name: rated.mean.value for name, rated in scale.systems.items()}
    panels = tuple(
        Panel(
            str(listener.listener),
            listener.means,
            _bias_remark(listener, scale.value),
            listener.listener in results.left,
        )
        for listener in scale.listeners
    )
    return Panels(
        value_title(scale.value), scale.value, everyone, panels, _figure_table(results, scale)
    )


def _bias_remark(listener: ListenerFigures, value: Value) -> str:
    if isnan(listener.bias):
        return ""
    sign = "+" if listener.bias > 0 else ""
    return f"{sign}{number(listener.bias, value)} ± {number(listener.inconsistency, value)}"


def _figure_table(
    results: Results, scale: ScaleResults, names: Sequence[str] = LISTENER_COLUMNS
) -> Table:
    """Return one row per listener; on a scale of choices there are no means."""
    rows = tuple(
        (
            str(listener.listener),
            "excluded" if listener.listener in results.left else "kept",
            *(_figure_cell(getattr(listener, name), name, scale.value) for name in names),
        )
        for listener in scale.listeners
    )
    labels = LISTENER_LABELS | {"sd": deviation_label(scale.value)}
    header = ("listener", "status", *(labels.get(name, name) for name in names))
    return Table(f"{value_title(scale.value)}: listeners", header, rows, names=2)


def _figure_cell(x: float, name: str, value: Value) -> str:
    if name in COUNT_COLUMNS:
        return f"{x:,}"
    return number(x, SHARE_VALUE if name in SHARE_COLUMNS else value)


# --- Headlines on listeners ----------------------------------------------------------------------


MAX_NAMED_LISTENERS = 10

CONSTANT_VOTE_SHARE = 0.95  # share of one value that counts as not using the scale
MIN_VOTES_FOR_CONSTANT_VOTE = 10  # fewer votes are not judged
LOW_CORRELATION = 0.4  # correlation with the others below which P.808 excludes


def listener_headlines(results: Results) -> Iterator[str]:
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
    return f"listener{'s' * (len(who) != 1)} {names}"


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
    names: dict[Who, None] = {}
    scales: dict[str, None] = {}
    for scale in results.scales:
        for listener in _raters(scale):
            if listener.correlation < LOW_CORRELATION:
                names[listener.listener] = scales[scale.value.name] = None
    if names:
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


def listener_tables(results: Results) -> dict[str, TableContent]:
    """Return CSV tables by name."""
    figures = [(scale, listener) for scale in results.scales for listener in scale.listeners]
    systems = list(dict.fromkeys(name for _, listener in figures for name in listener.means))
    rows = [
        [
            scale.value.name,
            listener.listener,
            yes_or_no(listener.listener not in results.left),
            *(getattr(listener, name) for name in LISTENER_COLUMNS),
            *(listener.means.get(system, "") for system in systems),
        ]
        for scale, listener in figures
    ]
    means = [f"mean of {name}" for name in systems]
    return {"listeners": (["scale", "listener", "kept", *LISTENER_COLUMNS, *means], rows)}
