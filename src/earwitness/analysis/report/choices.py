"""Report of paired choices: sections, headlines, methods sentences and CSV table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from earwitness.analysis.plan import ITEM_INTERVALS, NO_CORRECTION
from earwitness.analysis.report.wording import (
    ESTIMATE_NAMES,
    LISTENER,
    MAX_LISTED_NAMES,
    UNBOUNDED,
    capitalized,
    correction_clause,
    difference_columns,
    has_defined,
    scope_text,
)
from earwitness.analysis.results import BradleyTerryAbilities, PairChoices, Results, ScaleResults
from earwitness.core import Value, count_text
from earwitness.report.columns import (
    Column,
    Columns,
    P,
    TableRows,
    draw_rows,
    estimate_parts,
    record_rows,
)
from earwitness.report.numbers import cell, p_phrase
from earwitness.report.parts import Intervals, Section, Table
from earwitness.report.sentences import MEAN_TOLERANCE, join_names
from earwitness.stats.contrasts import TWO_WAY_T
from earwitness.stats.means import CLUSTER_T
from earwitness.stats.significance import CLOPPER_PEARSON

# --- Sections on choices -------------------------------------------------------------------------


CHOICE_SHARE = Value("share", "none", 0, 1, "share of choices; 0.5 is chance")
RIGHT_ANSWER_SHARE = Value("share", "none", 0, 1, "share of correct answers; 0.5 is chance")
ABILITY = Value("ability", "high", *UNBOUNDED, "log Bradley–Terry ability; abilities sum to 0")
SENSITIVITY = Value("d′", "high", *UNBOUNDED, "")


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections on shares of choices, abilities and choices by listener."""
    chosen = [scale for scale in results.scales if scale.choices]
    if chosen:
        parts = tuple(_share_intervals(results, scale) for scale in chosen)
        yield Section("Paired choices", parts, " ".join(_test_sentences(results)))
    able = [(scale, scale.abilities) for scale in results.scales if scale.abilities]
    if able:
        parts = tuple(
            Intervals(
                f"{scale.value.name}: abilities",
                ABILITY,
                "system",
                tuple((name, {name: ability}) for name, ability in abilities.systems.items()),
            )
            for scale, abilities in able
        )
        notes = [note for scale, abilities in able for note in _ability_notes(scale, abilities)]
        yield Section("Bradley–Terry abilities", parts, " ".join(notes))
    tables = tuple(_listener_table(c, s) for s in chosen for c in s.choices if c.listeners)
    if tables:
        yield Section("Choices by listener", tables, place="pictures", folded=True)


def _test_sentences(results: Results) -> Iterator[str]:
    """Yield how shares were tested, and what their confidence intervals are."""
    choices = results.choices
    clauses = [test.about for test in choice_tests(results)]
    if any(not isnan(choice.p) and isnan(choice.share.low) for choice in choices):
        clauses.append(SIGN_TEST_CLAUSE)
    if has_defined([replace(choice.share, value=choice.share.low) for choice in choices]):
        are_many = len(choices) > 1 and results.plan.correction != NO_CORRECTION
        clauses.append(f"{INTERVALS_CLAUSE}{' and simultaneous for all pairs' if are_many else ''}")
    yield from (f"{capitalized(clause)}." for clause in clauses)


@dataclass(frozen=True, slots=True)
class ChoiceTest:
    """Wording of a test of choices: its name, a sentence about it, and the name of a share."""

    name: str
    about: str
    share: str = "share"


SHARE_TEXT = "share of choices of a system (neither counts as half) or of correct answers"
CHOICE_TESTS = {
    CLUSTER_T: ChoiceTest(
        "t tests of the shares of listeners",
        f"each listener has one value, the {SHARE_TEXT}; p and confidence intervals are those of t "
        "tests of these values against one half, which generalize to other listeners on these "
        "items",
        "mean share of listeners",
    ),
    TWO_WAY_T: ChoiceTest(
        "two-way t tests, in which listeners and items are random",
        f"the {SHARE_TEXT} was tested against one half by a two-way t test, in which listeners and "
        "items are random; it generalizes to other listeners and other items",
    ),
    CLOPPER_PEARSON: ChoiceTest(
        "exact binomial tests of the choices of one listener",
        "with one listener, p and confidence intervals are those of the exact binomial test of "
        "the choices other than neither, which say nothing about other listeners",
    ),
}
INTERVALS_CLAUSE = "confidence intervals of shares are two-sided"
SIGN_TEST_CLAUSE = (
    "where all listeners have the same share, p is that of a sign test of listeners, or of items "
    "if they are random and fewer, and there is no confidence interval"
)


def choice_tests(results: Results) -> list[ChoiceTest]:
    """Return the tests of choices, each once."""
    names = dict.fromkeys(c.share.method for c in results.choices if count_choices([c]))
    return [CHOICE_TESTS[name] for name in names if name in CHOICE_TESTS]


def count_choices(choices: Iterable[PairChoices]) -> int:
    """Return the number of choices, including neither."""
    return sum(choice.wins + choice.losses + choice.ties for choice in choices)


def _share_intervals(results: Results, scale: ScaleResults) -> Intervals:
    abx = _has_right_answers(scale)
    rows = []
    for c in scale.choices:
        pair = f"{c.a}–{c.b}" if abx else f"{c.a} over {c.b}"
        rows.append((pair, {pair if abx else c.a: c.share}))
    value, title = RIGHT_ANSWER_SHARE if abx else CHOICE_SHARE, f"{scale.value.name}: choices"
    cells = ((scale.value, *_choice_cells(choice)) for choice in scale.choices)
    table = draw_rows(title, _choice_columns(results, has_right_answers=abx), cells, 2)
    return Intervals(title, value, "", tuple(rows), table)


def _has_right_answers(scale: ScaleResults) -> bool:
    """Return whether answers are correct or incorrect, as in ABX."""
    return any(c.sensitivity is not None for c in scale.choices)


def _choice_columns(results: Results, *, has_right_answers: bool = False) -> Columns:
    share, p, corrected = difference_columns(results, "share")
    sensitivity = estimate_parts(*ESTIMATE_NAMES, prefix="sensitivity_")
    return (
        Column("scale", hidden=True),
        Column("a", "first"),
        Column("b", "second"),
        replace(LISTENER, hidden=True),
        Column("wins", "correct" if has_right_answers else "first chosen"),
        Column("losses", "incorrect" if has_right_answers else "second chosen"),
        Column("ties", "neither", hidden=has_right_answers),
        Column(heading="listeners"),
        Column(heading="items"),
        replace(share, value=CHOICE_SHARE, counted=False),
        p,
        corrected,
        Column("items", hidden=True),
        Column(heading="d′", value=SENSITIVITY, parts=sensitivity, hidden=not has_right_answers),
    )


def _choice_cells(c: PairChoices) -> tuple[Any, ...]:
    counts = c.wins, c.losses, c.ties, len(c.listeners), c.items
    return c.a, c.b, "", *counts, c.share, c.p, c.corrected, c.items, c.sensitivity


def _ability_notes(scale: ScaleResults, abilities: BradleyTerryAbilities) -> Iterator[str]:
    if abilities.ties is not None:
        figure = cell(abilities.ties, ABILITY)
        yield f"{scale.value.name}: log of the tie parameter {figure}."
    if not any(choice.wins + choice.losses for choice in scale.choices):
        yield f"{scale.value.name}: neither was chosen every time."
    elif abilities.separated:
        yield (
            f"{scale.value.name}: {join_names(abilities.separated)} won or lost every choice, so "
            "the ability cannot be estimated."
        )


def _listener_table(choice: PairChoices, scale: ScaleResults) -> Table:
    rows = ((who, *figures) for who, figures in choice.listeners.items())
    heads = (choice.a, choice.b) if choice.sensitivity is None else ("correct", "incorrect")
    columns = (LISTENER, *heads, "neither", P)
    return draw_rows(f"{scale.value.name}: {choice.a}–{choice.b}", columns, rows)


# --- Methods sentences on choices ----------------------------------------------------------------


SENSITIVITY_MODELS = {
    "differencing": "under the differencing model",
    "independent": "under the independent-observations model",
    "2afc": "for two-alternative forced choice",
}


def methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on choices."""
    choices, tests = results.choices, choice_tests(results)
    if tests:
        total = count_choices(choices)
        one_sided = [choice.sensitivity is not None for choice in choices]
        sides = ["two-sided"] if not all(one_sided) else []
        sides += ["ABX: one-sided"] if any(one_sided) else []
        yield (
            f"{count_text(total, 'choice')} between two sounds were analysed "
            f"({'; '.join(sides)}); p values are {correction_clause(results)}."
        )
        yield from _test_sentences(results)
    keen = [c.sensitivity.method for c in choices if c.sensitivity and has_defined([c.sensitivity])]
    if keen:
        models = sorted({method.rpartition("|")[-1] for method in keen})
        names = join_names([SENSITIVITY_MODELS.get(m, m) for m in models], MAX_LISTED_NAMES)
        yield f"Sensitivity is reported as d′ {names}."
    able = [scale.abilities for scale in results.scales if scale.abilities]
    if any(has_defined(abilities.systems.values()) for abilities in able):
        has_ties = any(abilities.ties is not None for abilities in able)
        model = "Bradley–Terry model with ties (Davidson)" if has_ties else "Bradley–Terry model"
        yield (
            f"Abilities were estimated by the {model}, with cluster-robust "
            f"(sandwich) confidence intervals over {clusters_text(results)}."
        )


def clusters_text(results: Results) -> str:
    """Return over which clusters abilities have confidence intervals."""
    return "listeners and items" if results.plan.interval in ITEM_INTERVALS else "listeners"


# --- Headlines on choices ------------------------------------------------------------------------


def headlines(results: Results) -> Iterator[str]:
    """Yield how often systems were chosen, per scale and pair."""
    chosen = [(scale, c) for scale in results.scales for c in scale.choices if count_choices([c])]
    alpha = 1 - results.plan.level
    tested = [c for _, c in chosen if not isnan(c.corrected)]
    if tested and not any(c.corrected < alpha for c in tested):
        people = results.listeners - len(results.left)
        most = max(tested, key=lambda choice: choice.items)
        total = count_text(count_choices(tested), "choice")
        yield (
            "No significant difference from chance was found "
            f"({count_text(len(tested), 'pair')} of systems, {total}, "
            f"{_basis_text(people, most)}, alpha = {alpha:.4g})"
        )
    for scale in results.scales:
        yield from _ablest_system(scale)
    for scale, choice in sorted(chosen, key=lambda pair: not pair[1].corrected < alpha):
        yield f"{scale.value.name}: {_choice_sentence(choice, results)}"


def _ablest_system(scale: ScaleResults) -> Iterator[str]:
    """Yield which system of several pairs has the highest ability."""
    systems = scale.abilities.systems if scale.abilities else {}
    values = {name: ability.value for name, ability in systems.items() if not isnan(ability.value)}
    ranked = sorted(values, key=values.__getitem__, reverse=True)
    if (
        min(len(ranked), len(scale.choices)) > 1
        and values[ranked[0]] > values[ranked[1]] + MEAN_TOLERANCE
    ):
        figure = cell(systems[ranked[0]], ABILITY)
        yield f"{scale.value.name}: {ranked[0]} has the highest Bradley–Terry ability ({figure})"


def _basis_text(people: int, choice: PairChoices) -> str:
    """Return the number of listeners, and the items if results hold for these only."""
    listeners = count_text(people, "listener")
    if choice.share.method == CLUSTER_T:
        return f"{listeners} {scope_text(choice.items)}"
    if choice.share.method == TWO_WAY_T:
        return f"{listeners} and {count_text(choice.items, 'item')}, both random"
    return "exact test of the choices of one listener, says nothing about others"


def _choice_sentence(choice: PairChoices, results: Results) -> str:
    """Return the share of the more frequent choice and whether it differs from chance."""
    a, b, share, wins, losses = choice.a, choice.b, choice.share, choice.wins, choice.losses
    is_abx = choice.sensitivity is not None
    if is_abx:
        what = f"{a}–{b}: {wins:,} of {wins + losses:,} answers were correct"
    else:
        if share.value < 0.5:
            a, b, wins, losses = b, a, losses, wins
            ends = 1 - share.high, 1 - share.low
            share = replace(share, value=1 - share.value, low=ends[0], high=ends[1])
        what = f"{a} was chosen over {b} in {wins:,} of {count_choices([choice]):,} choices"
        what += f" ({choice.ties:,} neither)" if choice.ties else ""
    message = f"{what}; {CHOICE_TESTS[share.method].share} {cell(share, CHOICE_SHARE)}"
    if isnan(choice.p):
        few = "listeners or items" if share.method == TWO_WAY_T else "listeners"
        return f"{message}; too few {few} for a test"
    p = choice.corrected
    outcome = "significantly" if p < 1 - results.plan.level else "not significantly"
    outcome += " above chance" if is_abx else " different from chance"
    test = [p_phrase(p), *(["one-sided"] if is_abx else [])]
    if results.plan.correction != NO_CORRECTION:
        test.append(correction_clause(results))
    basis = _basis_text(len(choice.listeners), choice)
    return f"{message}, {outcome} ({', '.join(test)}; {basis})"


# --- CSV tables of choices -----------------------------------------------------------------------


def choice_rows(scale: ScaleResults) -> Iterator[tuple[Any, ...]]:
    """Yield rows with shares of choices and abilities, for ``MEAN_COLUMNS``."""
    for choice in scale.choices:
        name, counts = f"share against {choice.b}", (count_choices([choice]), len(choice.listeners))
        yield scale.value, choice.a, name, choice.share, counts[0], counts[1] or None, None
    if scale.abilities:
        for system, estimate in scale.abilities.systems.items():
            yield scale.value, system, "ability", estimate, None, None, None
        if scale.abilities.ties:
            yield scale.value, "", "ties", scale.abilities.ties, None, None, None


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name: choices per pair, overall and per listener."""
    rows = list[tuple[Any, ...]]()
    for scale in results.scales:
        for choice in scale.choices:
            rows.append((scale.value, *_choice_cells(choice)))
            for who, (*counts, p) in choice.listeners.items():
                place = scale.value, choice.a, choice.b, who
                rows.append((*place, *counts, None, None, None, p, None, None, None))
    return {"choices": record_rows(_choice_columns(results), rows)}
