"""Report of paired choices: sections, headlines, methods sentences and CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from earwitness.core import Estimate, Value
from earwitness.report.numbers import CORRECTED_P_HEADINGS, cell, p_value
from earwitness.report.parts import Intervals, Section, Table
from earwitness.report.sentences import join_names
from earwitness.studies.analysis.means import MIN_LISTENERS_FOR_DIFFERENCE
from earwitness.studies.report.wording import (
    ESTIMATE_COLUMNS,
    MAX_LISTED_NAMES,
    UNBOUNDED,
    Row,
    TableContent,
    any_defined,
    correction_clause,
    count_text,
    estimate_cells,
)
from earwitness.studies.results import BradleyTerryAbilities, PairChoices, Results, ScaleResults
from earwitness.studies.study import NO_CORRECTION

# --- Sections on choices -------------------------------------------------------------------------


CHOICE_SHARE = Value("share", "none", 0, 1, "share of choices, ties excluded; 0.5 is chance")
RIGHT_ANSWER_SHARE = Value("share", "none", 0, 1, "share of correct answers; 0.5 is chance")
ABILITY = Value("ability", "high", *UNBOUNDED, "log Bradley–Terry ability; abilities sum to 0")
SENSITIVITY = Value("d′", "high", *UNBOUNDED, "")


def choice_sections(results: Results) -> Iterator[Section]:
    """Yield the sections on shares of choices, abilities and choices by listener."""
    chosen = [scale for scale in results.scales if scale.choices]
    if chosen:
        parts = tuple(_share_intervals(scale, results.plan.correction) for scale in chosen)
        yield Section("Paired choices", parts, _choice_note(chosen))
    able = [(scale, scale.abilities) for scale in results.scales if scale.abilities]
    if able:
        parts = tuple(_ability_intervals(scale, abilities) for scale, abilities in able)
        yield Section(
            "Bradley–Terry abilities", parts, " ".join(filter(None, map(_ability_note, able)))
        )
    tables = tuple(_listener_table(c, s) for s in chosen for c in s.choices if c.listeners)
    if tables:
        yield Section("Choices by listener", tables, place="pictures", folded=True)


def _choice_note(scales: Sequence[ScaleResults]) -> str:
    message = (
        "Confidence intervals are exact; p is that of the exact binomial test against one half."
    )
    if any(c.over_listeners.n for scale in scales for c in scale.choices):
        message += " Over listeners: t test of per-listener shares, each listener weighted equally."
    return message


def _share_intervals(scale: ScaleResults, correction: str) -> Intervals:
    abx = _has_right_answers(scale)
    pairs = [f"{c.a}–{c.b}" if abx else f"{c.a} over {c.b}" for c in scale.choices]
    rows = tuple(
        (pair, {pair if abx else c.a: c.share})
        for pair, c in zip(pairs, scale.choices, strict=True)
    )
    value = RIGHT_ANSWER_SHARE if abx else CHOICE_SHARE
    return Intervals(
        f"{scale.value.name}: choices", value, "", rows, _choice_table(scale, correction)
    )


def _has_right_answers(scale: ScaleResults) -> bool:
    """Return whether answers are correct or incorrect, as in ABX."""
    return any(c.sensitivity is not None for c in scale.choices)


def _choice_table(scale: ScaleResults, correction: str) -> Table:
    abx, corrected = _has_right_answers(scale), CORRECTED_P_HEADINGS.get(correction)
    counts = ("correct", "incorrect") if abx else ("first chosen", "second chosen", "neither")
    header = ("first", "second", *counts, "share")
    header += ("p", *([corrected] if corrected else []), "over listeners", "p over listeners")
    header += ("d′",) * abx
    rows = tuple(
        (
            *(c.a, c.b, *(f"{n:,}" for n in (c.wins, c.losses, c.ties)[: len(counts)])),
            *(cell(c.share, CHOICE_SHARE), p_value(c.p)),
            *([p_value(c.corrected)] if corrected else []),
            *(cell(c.over_listeners, CHOICE_SHARE), p_value(c.p_over_listeners)),
            *([_sensitivity_cell(c.sensitivity)] if abx else []),
        )
        for c in scale.choices
    )
    return Table(f"{scale.value.name}: choices", header, rows, names=2)


def _sensitivity_cell(estimate: Estimate | None) -> str:
    return "–" if estimate is None else cell(estimate, SENSITIVITY)


def _ability_intervals(scale: ScaleResults, abilities: BradleyTerryAbilities) -> Intervals:
    rows = tuple((name, {name: estimate}) for name, estimate in abilities.systems.items())
    return Intervals(f"{scale.value.name}: abilities", ABILITY, "system", rows)


def _ability_note(pair: tuple[ScaleResults, BradleyTerryAbilities]) -> str:
    scale, abilities = pair
    sentences = []
    if abilities.ties is not None:
        sentences.append(
            f"{scale.value.name}: log of the tie parameter {cell(abilities.ties, ABILITY)}."
        )
    if abilities.separated:
        sentences.append(
            f"{scale.value.name}: {join_names(abilities.separated)} won or lost every choice, so "
            "the ability cannot be estimated."
        )
    return " ".join(sentences)


def _listener_table(choice: PairChoices, scale: ScaleResults) -> Table:
    rows = tuple(
        (str(who), f"{a:,}", f"{b:,}", f"{ties:,}", p_value(p))
        for who, (a, b, ties, p) in choice.listeners.items()
    )
    heads = (choice.a, choice.b) if choice.sensitivity is None else ("correct", "incorrect")
    title = f"{scale.value.name}: {choice.a}–{choice.b}"
    return Table(title, ("listener", *heads, "neither", "p"), rows)


# --- Methods sentences on choices ----------------------------------------------------------------


SENSITIVITY_MODELS = {
    "differencing": "under the differencing model",
    "independent": "under the independent-observations model",
    "2afc": "for two-alternative forced choice",
}


def choice_methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on choices."""
    choices = [c for scale in results.scales for c in scale.choices]
    if any(not isnan(c.p) for c in choices):
        total = sum(c.wins + c.losses + c.ties for c in choices)
        yield (
            f"{count_text(total, 'choice', 'choices')} between two sounds were tested by exact "
            f"binomial tests against one half ({_sides_clause(choices)}), with exact confidence "
            f"intervals; these p values are {correction_clause(results)}."
        )
    if any(not isnan(c.p_over_listeners) for c in choices):
        yield (
            "In addition, per-listener shares were tested by t tests, whose p values are not "
            "corrected."
        )
    if any(c.ties for c in choices):
        yield "Ties (“neither”) were excluded from these tests."
    keen = [c.sensitivity.method for c in choices if c.sensitivity and any_defined([c.sensitivity])]
    if keen:
        models = sorted({method.rpartition("|")[-1] for method in keen})
        names = join_names([SENSITIVITY_MODELS.get(m, m) for m in models], MAX_LISTED_NAMES)
        yield f"Sensitivity is reported as d′ {names}."
    able = [scale.abilities for scale in results.scales if scale.abilities]
    if any(any_defined(abilities.systems.values()) for abilities in able):
        ties = " with ties (Davidson)" * any(abilities.ties is not None for abilities in able)
        yield (
            f"Abilities were estimated by the Bradley–Terry model{ties}, with cluster-robust "
            "(sandwich, by listener) confidence intervals."
        )


def _sides_clause(choices: Sequence[PairChoices]) -> str:
    """Return whether tests are one-sided (ABX) or two-sided."""
    abx = [c.sensitivity is not None for c in choices]
    if all(abx):
        return "ABX: one-sided"
    return "two-sided; ABX: one-sided" if any(abx) else "two-sided"


# --- Headlines on choices ------------------------------------------------------------------------


def choice_headlines(results: Results) -> Iterator[str]:
    """Yield how often systems were chosen, per scale and pair."""
    yield from _chance_sentences(results)
    for scale in results.scales:
        for choice in scale.choices:
            for sentence in _choice_sentences(choice, results):
                yield f"{scale.value.name}: {sentence}"


def _chance_sentences(results: Results) -> Iterator[str]:
    """Yield that no choices differ significantly from chance, if that is so."""
    choices = [c for scale in results.scales for c in scale.choices if c.wins + c.losses]
    alpha = 1 - results.plan.level
    if choices and not any(_deciding_p(choice, results) < alpha for choice in choices):
        total, kept = sum(c.wins + c.losses for c in choices), results.listeners - len(results.left)
        yield (
            "No significant difference from chance was found "
            f"({count_text(len(choices), 'pair', 'pairs')} of systems, "
            f"{count_text(total, 'choice', 'choices')}, "
            f"{count_text(kept, 'listener', 'listeners')}, alpha = {alpha:.4g})"
        )


def _deciding_p(choice: PairChoices, results: Results) -> float:
    return choice.corrected if results.plan.correction != NO_CORRECTION else choice.p


def _choice_sentences(choice: PairChoices, results: Results) -> Iterator[str]:
    """Yield the share of the more frequent choice and whether it differs from chance."""
    total = choice.wins + choice.losses
    if not total:
        return
    a, b, wins = choice.a, choice.b, choice.wins
    if choice.sensitivity is not None:
        what = f"{a}–{b}: {wins:,} of {total:,} answers were correct"
    else:
        a, b, wins = (b, a, choice.losses) if choice.losses > wins else (a, b, wins)
        what = f"{a} was chosen over {b} in {wins:,} of {total:,} choices"
    corrected = results.plan.correction != NO_CORRECTION
    p = _deciding_p(choice, results)
    chance = "significantly" if p < 1 - results.plan.level else "not significantly"
    exact = f"p {p_value(p)}" + f", {correction_clause(results)}" * corrected
    few = len(choice.listeners) < MIN_LISTENERS_FOR_DIFFERENCE
    over = "–" if few else p_value(choice.p_over_listeners)
    people = "too few listeners for a t test" if over == "–" else f"t test over listeners: p {over}"
    yield (
        f"{what} ({100 * wins / total:.0f} %), {chance} different from chance "
        f"(exact test: {exact}; {people})"
    )


# --- CSV tables of choices -----------------------------------------------------------------------


def choice_rows(scale: ScaleResults) -> Iterator[Row]:
    """Yield rows with shares of choices and abilities."""
    for choice in scale.choices:
        counts = [choice.wins + choice.losses + choice.ties, len(choice.listeners) or "", ""]
        yield [
            scale.value.name,
            choice.a,
            f"share against {choice.b}",
            *estimate_cells(choice.share),
            *counts,
        ]
    if scale.abilities:
        for system, estimate in scale.abilities.systems.items():
            yield [scale.value.name, system, "ability", *estimate_cells(estimate), "", "", ""]
        if scale.abilities.ties:
            yield [scale.value.name, "", "ties", *estimate_cells(scale.abilities.ties), "", "", ""]


def choice_tables(results: Results) -> dict[str, TableContent]:
    """Return CSV tables by file name."""
    return {"choices.csv": _choices_csv(results)}


def _choices_csv(results: Results) -> TableContent:
    """Return choices per pair, overall and per listener."""
    header = [
        "scale",
        "a",
        "b",
        "listener",
        "wins",
        "losses",
        "ties",
        *ESTIMATE_COLUMNS,
        "p",
        "p_corrected",
    ]
    header += [f"over_listeners_{name}" for name in ESTIMATE_COLUMNS]
    header += ["p_over_listeners", *(f"sensitivity_{name}" for name in ESTIMATE_COLUMNS)]
    rows: list[Row] = []
    for scale in results.scales:
        for choice in scale.choices:
            pair = [scale.value.name, choice.a, choice.b]
            over_listeners = [*estimate_cells(choice.over_listeners), choice.p_over_listeners]
            sensitivity = estimate_cells(choice.sensitivity)
            counts = [
                choice.wins,
                choice.losses,
                choice.ties,
                *estimate_cells(choice.share),
                choice.p,
                choice.corrected,
            ]
            rows.append([*pair, "", *counts, *over_listeners, *sensitivity])
            blank = [""] * (len(header) - 14)
            for who, (wins, losses, ties, p) in choice.listeners.items():
                rows.append(
                    [*pair, who, wins, losses, ties, *[""] * len(ESTIMATE_COLUMNS), p, *blank]
                )
    return header, rows
