"""Report sections and methods sentences on agreement, effects and listeners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from earwitness.core import Estimate, Value
from earwitness.report.numbers import COMPONENT_LABELS, cell, number, p_value, value_title
from earwitness.report.parts import PEOPLE_SERIES, Intervals, Panel, Panels, Part, Section, Table
from earwitness.report.sentences import join_names
from earwitness.studies.analysis.means import MIN_LISTENERS_FOR_DIFFERENCE
from earwitness.studies.report.means import doubled_told
from earwitness.studies.report.wording import MAX_LISTED_NAMES
from earwitness.studies.results import (
    ListenerAgreement,
    ListenerFigures,
    Results,
    ScaleResults,
    Subjects,
    Who,
)

# --- Agreement, subject model and effects --------------------------------------------------------


UNBOUNDED = (float("-inf"), float("inf"))
AGREEMENT_FIGURE = Value("agreement", "high", -1, 1, "")
BIAS = Value("bias", "none", *UNBOUNDED, "points of the scale above (+) or below (−) the others")
INCONSISTENCY = Value(
    "inconsistency", "low", 0, UNBOUNDED[1], "standard deviation, points of the scale"
)
TOO_FEW_LISTENERS_TEXT = "too few to tell"
MAX_TABLE_ITEMS = 300  # items of a table on a page


def check_sections(results: Results) -> Iterator[Section]:
    """Agreement, the subject model, effects, doubled votes, items."""
    if any(scale.agreement for scale in results.scales):
        yield Section("Agreement", (_agreement(results.scales),))
    if any(scale.components for scale in results.scales):
        yield Section("Variance", (_components(results.scales),), place="pages")
    yield from _model(results)
    if any(scale.effects for scale in results.scales):
        told = "What should not matter; p are not corrected."
        yield Section("Effects", (_effects(results.scales),), told)
    if results.retests:
        yield Section("Test and retest", (_retests(results),), place="pages")
    if results.doubled:
        told = doubled_told(results)
        yield Section("Doubled votes", (_doubled(results),), told, "pictures", folded=True)
    items = tuple(_items(scale) for scale in results.scales if _listable(scale))
    if items:
        told = "Means by item; the table of stimuli has all votes."
        yield Section("Items", items, told, place="pictures", folded=True)


def _agreement(scales: Sequence[ScaleResults]) -> Table:
    every = [(scale, one) for scale in scales for one in scale.agreement]
    names = list(dict.fromkeys(name for _, one in every for name in one.figures))
    rows = tuple(
        (
            *(scale.value.name, one.panel or "all", f"{one.listeners:,}", f"{one.stimuli:,}"),
            *_figures(one, names),
        )
        for scale, one in every
    )
    header = ("scale", "of", "listeners", "stimuli", *names)
    return Table("how far listeners agree", header, rows, names=2)


def _figures(one: ListenerAgreement, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield cell(one.figures[name], AGREEMENT_FIGURE) if name in one.figures else "–"


def _components(scales: Sequence[ScaleResults]) -> Table:
    names = [name for name in COMPONENT_LABELS if any(name in scale.components for scale in scales)]
    known = [scale for scale in scales if scale.components]
    rows = tuple(
        (
            COMPONENT_LABELS[name],
            *(number(s.components.get(name, float("nan")), AGREEMENT_FIGURE) for s in known),
        )
        for name in names
    )
    return Table("variance of votes", ("", *(s.value.name for s in known)), rows)


def _model(results: Results) -> Iterator[Section]:
    known = [(scale, scale.subjects) for scale in results.scales if scale.subjects]
    if known:
        warned = " ".join(filter(None, (_warned(s, model) for s, model in known)))
        yield Section("Subject model", (_recovered(known),), warned, place="pages")
        parts = tuple(p for s, model in known for p in _people(s, model))
        yield Section("Bias and inconsistency", parts, place="pictures", folded=True)


def _warned(scale: ScaleResults, model: Subjects) -> str:
    """What one has to know before the numbers of the model are believed."""
    told = []
    if model.floored:
        who = "listener" if len(model.floored) == 1 else "listeners"
        names = f"{who} {join_names([str(one) for one in model.floored], 10)}"
        told.append(
            f"{scale.value.name}: the inconsistency of {names} would have gone below the floor of "
            f"{model.floor:g} and was held there."
        )
    if not model.converged:
        told.append(f"{scale.value.name}: not settled after {model.rounds:,} rounds.")
    return " ".join(told)


def _recovered(known: Sequence[tuple[ScaleResults, Subjects]]) -> Table:
    """Qualities without biases and with weights, beside plain means."""
    rows = tuple(
        (scale.value.name, name, number(quality, scale.value), _mean(scale, name))
        for scale, model in known
        for name, quality in model.systems.items()
    )
    header = ("scale", "system", "recovered", "mean")
    return Table("quality by the subject model", header, rows, names=2)


def _mean(scale: ScaleResults, name: str) -> str:
    return number(scale.systems[name].mean.value, scale.value) if name in scale.systems else "–"


def _people(scale: ScaleResults, model: Subjects) -> Iterator[Part]:
    for value, found in ((BIAS, model.biases), (INCONSISTENCY, model.inconsistencies)):
        if found:
            yield _listeners(f"{scale.value.name}: {value.name}", value, found)


def _listeners(title: str, value: Value, found: Mapping[Who, Estimate]) -> Intervals:
    rows = tuple((str(who), {PEOPLE_SERIES: estimate}) for who, estimate in found.items())
    return Intervals(title, value, "listener", rows)


def _effects(scales: Sequence[ScaleResults]) -> Table:
    rows = tuple(
        (
            *(scale.value.name, e.name, e.what, cell(e.difference, scale.value)),
            *(
                f"{e.difference.n:,}",
                p_value(e.p)
                if e.difference.n >= MIN_LISTENERS_FOR_DIFFERENCE
                else TOO_FEW_LISTENERS_TEXT,
            ),
        )
        for scale in scales
        for e in scale.effects
    )
    header = ("scale", "effect", "what", "difference", "n", "p")
    return Table("effects", header, rows, names=3)


def _retests(results: Results) -> Table:
    rows = tuple(
        (
            *(one.scale, f"{one.pairs:,}", f"{one.change.n:,}", cell(one.change, AGREEMENT_FIGURE)),
            *(number(x, AGREEMENT_FIGURE) for x in (one.error, one.same, one.correlation)),
        )
        for one in results.retests
    )
    header = ("scale", "pairs", "listeners", "second less first", "error", "same", "correlation")
    return Table("the same stimulus, rated again", header, rows)


def _doubled(results: Results) -> Table:
    rows = tuple(
        (
            *(one.key.item, one.key.system, one.scale, str(one.listener)),
            *(", ".join(f"{x:g}" for x in one.values), f"{one.counted:g}"),
        )
        for one in results.doubled
    )
    header = ("item", "system", "scale", "listener", "votes", "counts")
    return Table("votes given more than once", header, rows, names=4)


def _listable(scale: ScaleResults) -> bool:
    return 0 < len({one.key.item for one in scale.stimuli}) <= MAX_TABLE_ITEMS


def _items(scale: ScaleResults) -> Table:
    systems = list(dict.fromkeys(one.key.system for one in scale.stimuli))
    means = {(one.key.item, one.key.system): one.mean for one in scale.stimuli}
    rows = tuple(
        (item, *(number(means.get((item, s), float("nan")), scale.value) for s in systems))
        for item in dict.fromkeys(one.key.item for one in scale.stimuli)
    )
    return Table(f"{value_title(scale.value)} by item", ("item", *systems), rows)


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
        parts = tuple(_part(results, scale) for scale in scales)
        text = (
            f"{PANELS_NOTE} {FIGURES_NOTE}"
            if any(isinstance(p, Panels) for p in parts)
            else FIGURES_NOTE
        )
        yield Section("Listeners", parts, text, place="pictures")


def _part(results: Results, scale: ScaleResults) -> Panels | Table:
    if scale.choices:
        return _of_choices(results, scale)
    drawn = any(one.means for one in scale.listeners)
    return _panels(results, scale) if drawn else _table(results, scale)


def _panels(results: Results, scale: ScaleResults) -> Panels:
    everyone = {name: rated.mean.value for name, rated in scale.systems.items()}
    panels = tuple(
        Panel(str(one.listener), one.means, _remark(one, scale.value), one.listener in results.left)
        for one in scale.listeners
    )
    return Panels(value_title(scale.value), scale.value, everyone, panels, _table(results, scale))


def _remark(one: ListenerFigures, value: Value) -> str:
    if isnan(one.bias):
        return ""
    sign = "+" if one.bias > 0 else ""
    return f"{sign}{number(one.bias, value)} ± {number(one.inconsistency, value)}"


def _of_choices(results: Results, scale: ScaleResults) -> Table:
    """What can be said of those who choose: they have no means of systems."""
    rows = tuple(
        (
            *(str(one.listener), _state(results, one), f"{one.votes:,}"),
            *(number(one.usual, SHARE_VALUE), f"{one.run:,}"),
        )
        for one in scale.listeners
    )
    header = ("listener", "", "votes", "usual", "run")
    return Table(f"{value_title(scale.value)}: listeners", header, rows, names=2)


def _state(results: Results, one: ListenerFigures) -> str:
    return "left out" if one.listener in results.left else "kept"


def _table(results: Results, scale: ScaleResults) -> Table:
    value = scale.value
    rows = tuple(
        (
            *(str(one.listener), _state(results, one), f"{one.votes:,}"),
            *(number(x, value) for x in (one.mean, one.sd, one.bias, one.inconsistency)),
            *(
                number(one.correlation, SHARE_VALUE),
                number(one.rmse, value),
                number(one.usual, SHARE_VALUE),
            ),
            *(f"{one.run:,}", number(one.alike, SHARE_VALUE)),
        )
        for one in scale.listeners
    )
    return Table(
        f"{value_title(value)}: listeners", ("listener", "", *LISTENER_COLUMNS), rows, names=2
    )


# --- Methods sentences on agreement --------------------------------------------------------------


def agreement_told(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    names = dict.fromkeys(n for s in results.scales for one in s.agreement for n in one.figures)
    if names:
        yield f"Agreement of listeners is given as {join_names([*names], MAX_LISTED_NAMES)}."
    floors = [f"{s.value.name} {s.subjects.floor:.2f}" for s in results.scales if s.subjects]
    if floors:
        yield (
            "Biases and inconsistencies of listeners are those of the subject model of ITU-T "
            f"P.910, annex E. Inconsistencies are held at a floor ({', '.join(floors)}), so that "
            "no single listener takes all the weight."
        )
