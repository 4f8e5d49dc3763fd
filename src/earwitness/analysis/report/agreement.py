"""Report of agreement, order effects and repeated votes: sections, sentences, CSV tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan

from earwitness.analysis.means import MIN_LISTENERS_FOR_DIFFERENCE
from earwitness.analysis.report.means import doubled_sentence
from earwitness.analysis.report.wording import (
    ESTIMATE_COLUMNS,
    MAX_LISTED_NAMES,
    UNBOUNDED,
    Row,
    TableContent,
    any_defined,
    estimate_cells,
    fill_rows,
)
from earwitness.analysis.results import (
    Effect,
    ListenerAgreement,
    Results,
    ScaleResults,
    Stimulus,
    Subjects,
)
from earwitness.core import Value
from earwitness.report.numbers import COMPONENT_LABELS, cell, number, p_value, value_title
from earwitness.report.parts import PEOPLE_SERIES, Intervals, Section, Table
from earwitness.report.sentences import join_names
from earwitness.stats.significance import holm

# --- Agreement, subject model and effects --------------------------------------------------------


AGREEMENT_FIGURE = Value("agreement", "high", -1, 1, "")
BIAS = Value(
    "bias", "none", *UNBOUNDED, "scale points above (+) or below (−) the other listeners", "points"
)
INCONSISTENCY = Value(
    "inconsistency", "low", 0, UNBOUNDED[1], "standard deviation, scale points", "points"
)
TOO_FEW_LISTENERS_TEXT = "too few listeners"
MAX_TABLE_ITEMS = 300  # longer tables of items are omitted from pages


def agreement_sections(results: Results) -> Iterator[Section]:
    """Yield the sections on agreement, subject model, effects, repeated votes and items."""
    if any(scale.agreement for scale in results.scales):
        yield Section("Agreement between listeners", (_agreement_table(results.scales),))
    if any(scale.components for scale in results.scales):
        yield Section("Variance components", (_component_table(results.scales),), place="pages")
    yield from _model_sections(results)
    if any(scale.effects for scale in results.scales):
        note = "Effects of presentation, which should be close to 0; p is not corrected."
        yield Section("Order effects", (_effect_table(results.scales),), note)
    if results.retests:
        yield Section("Test–retest reliability", (_retest_table(results),), place="pages")
    if results.doubled:
        note = doubled_sentence(results)
        title = "Outputs with several rows" if results.over_items else "Repeated votes"
        yield Section(title, (_repeat_table(results),), note, "pictures", folded=True)
    means = results.over_items
    items = tuple(_item_table(scale) for scale in results.scales if _is_listable(scale))
    if items:
        note = f"Means per item; stimuli.csv contains all {'means' if means else 'votes'}."
        yield Section("Items", items, note, place="pictures", folded=True)


def _agreement_table(scales: Sequence[ScaleResults]) -> Table:
    agreements = [(scale, agreement) for scale in scales for agreement in scale.agreement]
    names = list(dict.fromkeys(name for _, agreement in agreements for name in agreement.figures))
    rows = tuple(
        (
            scale.value.name,
            agreement.panel or "all",
            f"{agreement.listeners:,}",
            f"{agreement.stimuli:,}",
            *_figure_cells(agreement, names),
        )
        for scale, agreement in agreements
    )
    header = ("scale", "panel", "listeners", "stimuli", *names)
    return Table("agreement between listeners", header, rows, names=2)


def _figure_cells(agreement: ListenerAgreement, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield cell(agreement.figures[name], AGREEMENT_FIGURE) if name in agreement.figures else "–"


def _component_table(scales: Sequence[ScaleResults]) -> Table:
    names = [name for name in COMPONENT_LABELS if any(name in scale.components for scale in scales)]
    component_scales = [scale for scale in scales if scale.components]
    rows = tuple(
        (
            COMPONENT_LABELS[name],
            *(number(s.components.get(name, nan), AGREEMENT_FIGURE) for s in component_scales),
        )
        for name in names
    )
    return Table(
        "variance components of votes", ("", *(s.value.name for s in component_scales)), rows
    )


def _model_sections(results: Results) -> Iterator[Section]:
    modelled = [(scale, scale.subjects) for scale in results.scales if scale.subjects]
    if modelled:
        warned = " ".join(filter(None, (_model_warning(s, model) for s, model in modelled)))
        yield Section("Subject model", (_quality_table(modelled),), warned, place="pages")
        parts = tuple(
            Intervals(
                f"{scale.value.name}: {value.name}",
                value,
                "listener",
                tuple((str(who), {PEOPLE_SERIES: e}) for who, e in estimates.items()),
            )
            for scale, model in modelled
            for value, estimates in ((BIAS, model.biases), (INCONSISTENCY, model.inconsistencies))
            if estimates
        )
        yield Section("Bias and inconsistency", parts, place="pictures", folded=True)


def _model_warning(scale: ScaleResults, model: Subjects) -> str:
    """Return warnings about the fit of the subject model."""
    sentences = []
    if model.floored:
        who = "listener" if len(model.floored) == 1 else "listeners"
        names = f"{who} {join_names([str(listener) for listener in model.floored], 10)}"
        sentences.append(
            f"{scale.value.name}: the inconsistency of {names} was estimated below the floor of "
            f"{_floor_text(model)} and set to it."
        )
    if not model.converged:
        sentences.append(f"{scale.value.name}: did not converge after {model.rounds:,} iterations.")
    return " ".join(sentences)


def _quality_table(modelled: Sequence[tuple[ScaleResults, Subjects]]) -> Table:
    """Return the qualities estimated by the subject model next to plain means."""
    rows = tuple(
        (scale.value.name, name, number(quality, scale.value), _mean_cell(scale, name))
        for scale, model in modelled
        for name, quality in model.systems.items()
    )
    header = ("scale", "system", "estimated quality", "mean")
    return Table("quality by the subject model", header, rows, names=2)


def _mean_cell(scale: ScaleResults, name: str) -> str:
    return number(scale.systems[name].mean.value, scale.value) if name in scale.systems else "–"


def _effect_table(scales: Sequence[ScaleResults]) -> Table:
    rows = tuple(
        (
            scale.value.name,
            e.name,
            e.what,
            cell(e.difference, scale.value),
            f"{e.difference.n:,}",
            p_value(e.p)
            if e.difference.n >= MIN_LISTENERS_FOR_DIFFERENCE
            else TOO_FEW_LISTENERS_TEXT,
        )
        for scale in scales
        for e in scale.effects
    )
    header = ("scale", "effect", "comparison", "difference", "n", "p")
    return Table("order effects", header, rows, names=3)


def _retest_table(results: Results) -> Table:
    rows = tuple(
        (
            retest.scale,
            f"{retest.pairs:,}",
            f"{retest.change.n:,}",
            cell(retest.change, AGREEMENT_FIGURE),
            *(number(x, AGREEMENT_FIGURE) for x in (retest.error, retest.same, retest.correlation)),
        )
        for retest in results.retests
    )
    figures = ("second minus first", "standard error of measurement", "identical", "correlation")
    header = ("scale", "pairs", "listeners", *figures)
    return Table("repeated ratings of the same stimulus", header, rows)


def _repeat_table(results: Results) -> Table:
    means = results.over_items
    rows = tuple(
        (
            repeated.key.item,
            repeated.key.system,
            repeated.scale,
            *([] if means else [str(repeated.listener)]),
            ", ".join(f"{x:g}" for x in repeated.values),
            f"{repeated.counted:g}",
        )
        for repeated in results.doubled
    )
    place = ("item", "system", "scale")
    if means:
        return Table("outputs with several rows", (*place, "means", "mean used"), rows, names=3)
    return Table("repeated votes", (*place, "listener", "votes", "vote used"), rows, names=4)


def _is_listable(scale: ScaleResults) -> bool:
    return 0 < len({stimulus.key.item for stimulus in scale.stimuli}) <= MAX_TABLE_ITEMS


def _item_table(scale: ScaleResults) -> Table:
    systems = list(dict.fromkeys(stimulus.key.system for stimulus in scale.stimuli))
    means = {(stimulus.key.item, stimulus.key.system): stimulus.mean for stimulus in scale.stimuli}
    rows = tuple(
        (item, *(number(means.get((item, s), nan), scale.value) for s in systems))
        for item in dict.fromkeys(stimulus.key.item for stimulus in scale.stimuli)
    )
    return Table(f"{value_title(scale.value)} by item", ("item", *systems), rows)


# --- Methods sentences on agreement --------------------------------------------------------------


def agreement_methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on agreement."""
    names = dict.fromkeys(
        name
        for scale in results.scales
        for agreement in scale.agreement
        for name, estimate in agreement.figures.items()
        if any_defined([estimate])
    )
    if names:
        listed = join_names([*names], MAX_LISTED_NAMES)
        yield f"Agreement between listeners is reported as {listed}."
    floors = [
        f"{scale.value.name} {_floor_text(scale.subjects)}"
        for scale in results.scales
        if scale.subjects and any_defined(scale.subjects.inconsistencies.values())
    ]
    if floors:
        yield (
            "Biases and inconsistencies of listeners were estimated by the subject model of ITU-T "
            f"P.910, Annex E. Inconsistencies have a lower bound ({', '.join(floors)}), so that no "
            "single listener receives all the weight; their confidence intervals account for the "
            "degrees of freedom of the fit."
        )


def _floor_text(model: Subjects) -> str:
    """Return the floor with the decimals of the inconsistencies in tables."""
    return number(model.floor, INCONSISTENCY)


# --- Headlines on effects ------------------------------------------------------------------------


EFFECT_WORDING = {
    "order": "from the first to the last trial of a session",
    "place": "from the first to the last position on a page",
}


def effect_headlines(results: Results) -> Iterator[str]:
    """Yield effects that are significant after Holm correction over all effects and scales."""
    effects = [(scale, effect) for scale in results.scales for effect in scale.effects]
    corrected = holm([effect.p for _, effect in effects])
    for (scale, effect), p in zip(effects, corrected, strict=True):
        if p < 1 - results.plan.level and effect.difference.n >= MIN_LISTENERS_FOR_DIFFERENCE:
            clause = _effect_clause(scale, effect)
            yield f"{scale.value.name}: votes {clause} (Holm-corrected p {p_value(p)})"


def _effect_clause(scale: ScaleResults, effect: Effect) -> str:
    far = number(abs(effect.difference.value), scale.value)
    verb = "rise" if effect.difference.value > 0 else "fall"
    later, _, earlier = effect.what.partition(" minus ")
    if effect.name in EFFECT_WORDING:
        return f"{verb} by {far} {EFFECT_WORDING[effect.name]}"
    return f"{verb} by {far} from {earlier} to {later}" if earlier else f"{verb} by {far}: {later}"


# --- CSV tables of agreement, effects and stimuli ------------------------------------------------


def agreement_tables(results: Results) -> dict[str, TableContent]:
    """Return CSV tables by name."""
    scales = results.scales
    agreements = [
        [scale.value.name, own.panel, own.listeners, own.stimuli, name, *estimate_cells(estimate)]
        for scale in scales
        for own in scale.agreement
        for name, estimate in own.figures.items()
    ]
    subjects = [
        [scale.value.name, who, name, *estimate_cells(estimate)]
        for scale in scales
        if scale.subjects
        for name, estimates in (
            ("bias", scale.subjects.biases),
            ("inconsistency", scale.subjects.inconsistencies),
        )
        for who, estimate in estimates.items()
    ]
    effects = [
        [scale.value.name, effect.name, effect.what, *estimate_cells(effect.difference), effect.p]
        for scale in scales
        for effect in scale.effects
    ]
    doubled = [
        [one.key.item, one.key.system, one.scale, one.listener, one.counted, *one.values]
        for one in results.doubled
    ]
    columns = ["scale", "panel", "listeners", "stimuli", "name", *ESTIMATE_COLUMNS]
    return {
        "agreement": (columns, agreements),
        "subjects": (["scale", "listener", "name", *ESTIMATE_COLUMNS], subjects),
        "effects": (["scale", "name", "what", *ESTIMATE_COLUMNS, "p"], effects),
        "doubled": _with_votes(["item", "system", "scale", "listener", "counted"], doubled),
        "stimuli": _with_votes(
            ["item", "system", "scale", "n", "mean", "sd", "quality"],
            [_stimulus_row(scale, stimulus) for scale in scales for stimulus in scale.stimuli],
        ),
    }


def _with_votes(header: list[str], rows: list[Row]) -> TableContent:
    """Return rows that end with votes, with a column for each of the most votes."""
    width = max(map(len, rows), default=len(header))
    votes = [f"vote_{n}" for n in range(1, width - len(header) + 1)]
    return header + votes, fill_rows(rows, width)


def _stimulus_row(scale: ScaleResults, stimulus: Stimulus) -> Row:
    """Return the number of votes, their mean, the estimated quality, and all votes."""
    n = sum(not isnan(vote) for vote in stimulus.votes)
    counted = scale.raters.get(stimulus.key, n) or ""  # empty if not known
    named = [stimulus.key.item, stimulus.key.system, scale.value.name]
    quality = scale.subjects.qualities.get(stimulus.key) if scale.subjects else None
    estimated = "" if quality is None else quality.value
    return [*named, counted, stimulus.mean, stimulus.sd, estimated, *stimulus.votes]
