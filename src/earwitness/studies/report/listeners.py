"""Listeners one by one: section, headlines and CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from earwitness.core import Value
from earwitness.report.numbers import number, value_title
from earwitness.report.parts import Panel, Panels, Section, Table
from earwitness.report.sentences import join_names
from earwitness.studies.report.csv_columns import TableContent, yes_or_no
from earwitness.studies.results import ListenerFigures, Results, ScaleResults, Who

# --- Panels and figures of listeners -------------------------------------------------------------


LISTENER_COLUMNS = (
    *("votes", "mean", "sd", "bias", "inconsistency", "correlation", "rmse"),
    *("usual", "run", "alike"),
)
SHARE_VALUE = Value("share", "none", 0, 1, "")
PANELS_NOTE = (
    "Each listener's mean of every system (dots, in the order of systems) beside that of all who "
    "were kept (line). Bias is the mean difference from the others on the same stimuli, ± the "
    "spread of differences about it."
)
FIGURES_NOTE = (
    "Usual is the share of the value given most often, run the longest row of equal votes, alike "
    "the share of trials with the same number on all scales; "
    "correlation and rmse are with the mean of the others."
)


def listener_sections(results: Results) -> Iterator[Section]:
    """Panels where there are means, else tables."""
    scales = [scale for scale in results.scales if scale.listeners]
    if scales:
        parts = tuple(_listener_part(results, scale) for scale in scales)
        text = (
            f"{PANELS_NOTE} {FIGURES_NOTE}"
            if any(isinstance(p, Panels) for p in parts)
            else FIGURES_NOTE
        )
        yield Section("Listeners", parts, text, place="pictures")


def _listener_part(results: Results, scale: ScaleResults) -> Panels | Table:
    if scale.choices:
        return _choice_table(results, scale)
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


def _choice_table(results: Results, scale: ScaleResults) -> Table:
    """What can be said of those who choose: they have no means of systems."""
    rows = tuple(
        (
            *(str(listener.listener), _state_cell(results, listener), f"{listener.votes:,}"),
            *(number(listener.usual, SHARE_VALUE), f"{listener.run:,}"),
        )
        for listener in scale.listeners
    )
    header = ("listener", "", "votes", "usual", "run")
    return Table(f"{value_title(scale.value)}: listeners", header, rows, names=2)


def _state_cell(results: Results, listener: ListenerFigures) -> str:
    return "left out" if listener.listener in results.left else "kept"


def _figure_table(results: Results, scale: ScaleResults) -> Table:
    value = scale.value
    rows = tuple(
        (
            *(str(listener.listener), _state_cell(results, listener), f"{listener.votes:,}"),
            *(
                number(x, value)
                for x in (listener.mean, listener.sd, listener.bias, listener.inconsistency)
            ),
            *(
                number(listener.correlation, SHARE_VALUE),
                number(listener.rmse, value),
                number(listener.usual, SHARE_VALUE),
            ),
            *(f"{listener.run:,}", number(listener.alike, SHARE_VALUE)),
        )
        for listener in scale.listeners
    )
    return Table(
        f"{value_title(value)}: listeners", ("listener", "", *LISTENER_COLUMNS), rows, names=2
    )


# --- Headlines on listeners ----------------------------------------------------------------------


MAX_NAMED_LISTENERS = 10

CONSTANT_VOTE_SHARE = 0.95  # share of one value from which on a listener hardly uses the scale
MIN_VOTES_FOR_CONSTANT_VOTE = 10  # votes from which on that means something
LOW_CORRELATION = 0.4  # correlation with the others, as P.808 has it


def listener_headlines(results: Results) -> Iterator[str]:
    """Listeners who hardly use a scale, or do not go with the others."""
    for scale in results.scales:
        yield from _constant_votes(scale)
    if not results.rules and not results.screened:
        yield from _low_correlations(results)


def name_listeners(who: Sequence[Who]) -> str:
    """Listeners by name.

    >>> name_listeners((1,)), name_listeners((1, "anna"))
    ('listener 1', 'listeners 1 and anna')
    """
    names = join_names([str(listener) for listener in who], MAX_NAMED_LISTENERS)
    return f"listener{'s' * (len(who) != 1)} {names}"


def _constant_votes(scale: ScaleResults) -> Iterator[str]:
    """Listeners who nearly always gave the same vote; choices have no such value."""
    names = [
        listener.listener
        for listener in _raters(scale)
        if listener.usual >= CONSTANT_VOTE_SHARE and listener.votes >= MIN_VOTES_FOR_CONSTANT_VOTE
    ]
    if names:
        message = f"gave the same vote in at least {100 * CONSTANT_VOTE_SHARE:.0f} % of the trials"
        yield f"{name_listeners(names)} {message} ({scale.value.name})"


def _low_correlations(results: Results) -> Iterator[str]:
    names: dict[Who, None] = {}
    scales: dict[str, None] = {}
    for scale in results.scales:
        for listener in _raters(scale):
            if listener.correlation < LOW_CORRELATION:
                names[listener.listener] = scales[scale.value.name] = None
    if names:
        verb = "does" if len(names) == 1 else "do"
        where = f" on {join_names([*scales])}" if len(results.scales) > 1 else ""
        yield (
            f"no rule of screening was planned; {name_listeners([*names])} {verb} not go with the "
            f"others (correlation below {LOW_CORRELATION:g}{where})"
        )


def _raters(scale: ScaleResults) -> tuple[ListenerFigures, ...]:
    """Listeners of a scale; on a penalty most votes are 0, which says nothing about them."""
    return () if scale.choices or scale.value.high == 0 else scale.listeners


# --- CSV table of listeners ----------------------------------------------------------------------


def listener_tables(results: Results) -> dict[str, TableContent]:
    """CSV tables by the name of their file."""
    figures = [(scale, listener) for scale in results.scales for listener in scale.listeners]
    systems = list(dict.fromkeys(name for _, listener in figures for name in listener.means))
    rows = [
        [
            *(
                scale.value.name,
                listener.listener,
                yes_or_no(listener.listener not in results.left),
            ),
            *(getattr(listener, name) for name in LISTENER_COLUMNS),
            *(listener.means.get(system, "") for system in systems),
        ]
        for scale, listener in figures
    ]
    means = [f"mean of {name}" for name in systems]
    return {"listeners.csv": (["scale", "listener", "kept", *LISTENER_COLUMNS, *means], rows)}
