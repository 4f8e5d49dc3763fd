"""Sentences that summarize pairwise comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, isclose, isnan, log2
from textwrap import TextWrapper
from typing import NamedTuple

from earwitness.core import Contrast, Input
from earwitness.report.numbers import MINUS, cell, number, p_phrase
from earwitness.report.parts import Lines, Matrix, Section
from earwitness.report.tables import Verdict, find_contrast, is_tested, negate, verdict

# --- Notes on doubtful input ---------------------------------------------------------------------


# first words of the notes that stand before the numbers
UNUSED_VOTES_NOTE, SIGNS_NOTE = "Not analysed, although they look like votes", "Check the signs"
TIMES_NOTE = "Check the times"


def first_notes(notes: Iterable[str]) -> list[str]:
    """Return the notes that stand before the numbers of a report."""
    marks = UNUSED_VOTES_NOTE, SIGNS_NOTE, TIMES_NOTE
    return [note for note in notes if note.startswith(marks)]


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return the other notes as lines of the provenance."""
    first = first_notes(notes)
    return [f"note: {note}" for note in notes if note not in first]


def input_lines(inputs: Iterable[Input]) -> list[str]:
    """Return the lines of the provenance on input files."""
    return [f"input: {file.name} ({file.bytes:,} bytes, sha256 {file.sha256})" for file in inputs]


# --- Leading systems -----------------------------------------------------------------------------


MAX_NAMES_IN_SENTENCE = 4  # number of names listed in a sentence
MEAN_TOLERANCE = 1e-9  # means that differ by less are equal


def competing_values(matrix: Matrix) -> dict[str, float]:
    """Return the defined estimates by system, without controls and systems with few votes."""
    unranked = {*matrix.controls, *matrix.few}
    return {
        name: estimate.value
        for name, estimate in matrix.systems.items()
        if estimate is not None and not isnan(estimate.value) and name not in unranked
    }


def competing_contrasts(matrix: Matrix) -> list[Contrast]:
    """Return the contrasts of pairs without controls and systems with few votes."""
    unranked = {*matrix.controls, *matrix.few}
    return [contrast for contrast in matrix.contrasts if not {contrast.a, contrast.b} & unranked]


def leaders(matrix: Matrix) -> list[str]:
    """Return the systems with the best estimate; empty for a single system or if all are equal."""
    values, sign = competing_values(matrix), {"high": 1, "low": -1, "none": 0}[matrix.value.best]
    if len(values) < 2 or not sign:
        return []
    best = max(values.values(), key=lambda value: sign * value)
    leading = [
        name for name, value in values.items() if isclose(value, best, abs_tol=MEAN_TOLERANCE)
    ]
    return leading if len(leading) < len(values) else []


# --- Findings ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FindingContext:
    """Sample size, such as "24 items", significance level, and wording of findings.

    ``preposition`` stands before the name of a value; ``common`` says what both systems of a
    compared pair have in common. ``unit`` names what n of a difference counts, if that is the unit
    of ``size``. ``limit`` says why no difference could be significant, if that is so.
    """

    size: str
    alpha: float
    preposition: str = "by"
    common: str = "on the same items"
    unit: str = ""
    limit: str = ""


def finding_sentences(matrices: Sequence[Matrix], context: FindingContext) -> Iterator[str]:
    """Yield the finding of each value; if nothing differs significantly, that comes first."""
    contrasts = [contrast for matrix in matrices for contrast in competing_contrasts(matrix)]
    if len(matrices) > 1 and _nothing_differs(contrasts):
        yield no_difference_phrase(matrices, context)
        for matrix in matrices:
            yield from lead_sentences(matrix)
        return
    for matrix in matrices:
        yield from comparison_sentences(matrix, context)


TOLERANCE = 1e-9  # of quotients


def flips_limit(pairs: int, units: int, noun: str, alpha: float) -> str:
    """Return why tests that swap signs of units cannot be significant, or nothing if they can.

    ``pairs`` is the number of tests by which p is multiplied.
    """
    needed = ceil(1 + log2(pairs / alpha) + TOLERANCE)
    return _limit_text(pairs, units, noun, 2.0 ** (1 - units), alpha, needed)


def draws_limit(pairs: int, draws: int, noun: str, alpha: float, smallest: float) -> str:
    """Return why tests by random draws cannot be significant, or nothing if they can.

    ``smallest`` is the smallest p of a test, multiplied by the number of draws plus 1.
    """
    needed = floor(smallest * pairs / alpha + TOLERANCE)
    return _limit_text(pairs, draws, noun, smallest / (draws + 1), alpha, needed)


def _limit_text(
    pairs: int, units: int, noun: str, smallest: float, alpha: float, needed: int
) -> str:
    if pairs * smallest < alpha:
        return ""
    least = f"{units:,} {noun}{'' if units == 1 else 's'}"
    least = f"{pairs:,} pairs and {least}" if pairs > 1 else least
    return (
        f"with {least}, {p_phrase(min(1.0, pairs * smallest))} is the smallest possible; at least "
        f"{needed:,} {noun}s are needed"
    )


INTERVALS_AGREE_CLAUSE = (
    "so they exclude 0 if and only if the difference is significant (an end at 0 is then excluded, "
    "too)"
)


def _nothing_differs(contrasts: Sequence[Contrast]) -> bool:
    """Return whether pairs were tested, and none of them differs significantly."""
    return any(map(is_tested, contrasts)) and not any(contrast.better for contrast in contrasts)


def is_undecided(matrix: Matrix) -> bool:
    """Return whether all pairs were tested, and none of them differs significantly."""
    contrasts = competing_contrasts(matrix)
    return _nothing_differs(contrasts) and all(map(is_tested, contrasts))


def no_difference_phrase(matrices: Sequence[Matrix], context: FindingContext) -> str:
    """Return that no difference is significant, with the number of pairs and the sample size."""
    names = join_names([matrix.value.name for matrix in matrices], conjunction="or")
    if context.limit:
        return (
            f"No difference between systems could be significant {context.preposition} {names}: "
            f"{context.limit}"
        )
    return (
        f"No significant difference between systems was found {context.preposition} {names} "
        f"({_tested_pairs_text(matrices)}, {context.size}, alpha = {context.alpha:.4g})"
    )


def _tested_pairs_text(matrices: Sequence[Matrix]) -> str:
    """Return the number of pairs tested, and how many of them are with unranked systems."""
    contrasts = [contrast for matrix in matrices for contrast in matrix.contrasts]
    pairs = {frozenset((c.a, c.b)) for c in contrasts}
    tested = {frozenset((c.a, c.b)) for c in contrasts if is_tested(c)}
    count = f"{len(pairs):,}" if pairs == tested else f"{len(tested):,} of {len(pairs):,}"
    text = f"{count} pair{'' if len(pairs) == 1 else 's'} tested"
    unranked = {name for matrix in matrices for name in (*matrix.controls, *matrix.few)}
    others = {pair for pair in tested if pair & unranked}
    if others:
        names = sorted({name for pair in others for name in pair & unranked})
        text += f", {len(others):,} of them with {join_names(names, conjunction='or')}"
    if differing := {frozenset((c.a, c.b)) for c in contrasts if c.better}:
        text += f", of which {len(differing):,} significant"
    return text


def comparison_sentences(matrix: Matrix, context: FindingContext) -> Iterator[str]:
    """Yield one sentence: the leading systems, and which others differ significantly from them."""
    values = competing_values(matrix)
    if not values or (matrix.value.best == "none" and len(values) > 1):
        return
    by = f"{context.preposition} {matrix.value.name}"
    if len(values) == 1:
        name = next(iter(values))
        sentence = f"{name} has {matrix.value.name} {_estimate_text(matrix, name)} ({context.size})"
    elif not leaders(matrix):
        formatted = number(next(iter(values.values())), matrix.value)
        sentence = f"All systems are equal {by} ({formatted}, {context.size})"
    else:
        sentence = _leader_sentence(matrix, values, by, context)
    yield f"{sentence}{_controls_phrase(matrix)}"


def _leader_sentence(
    matrix: Matrix, values: dict[str, float], by: str, context: FindingContext
) -> str:
    """Return how all other systems compare with the best one, or with each of equally good ones."""
    lead, outcomes = leaders(matrix), _outcomes_by_leader(matrix, values)
    figure = number(values[lead[0]], matrix.value)
    if len(lead) == 1 and {*outcomes[lead[0]]} == {"better"}:
        beaten = outcomes[lead[0]]["better"]
        figures = f"{figure}; {_difference_text(matrix, lead[0], beaten[0], context)}"
        return f"{lead[0]} is significantly better than {join_names(beaten)} {by} ({figures})"
    if all({*names_by_outcome} <= {None, "untested"} for names_by_outcome in outcomes.values()):
        figure += f", {context.size}"  # otherwise, differences have it
    verb = "has" if len(lead) == 1 else "have"
    clauses = [f"{join_names(lead)} {verb} the best {matrix.value.name} ({figure})"]
    is_undecided = _nothing_differs(competing_contrasts(matrix))
    if is_undecided:
        clauses.insert(0, no_difference_phrase([matrix], context))
    for leader, names_by_outcome in outcomes.items():
        subject = "it" if len(lead) == 1 else leader
        phrases = []
        for outcome, phrase in OUTCOME_PHRASES.items():
            if outcome in names_by_outcome and not (is_undecided and outcome == "same"):
                names = names_by_outcome[outcome]
                phrase += f" {join_names(names)}"
                if outcome == "worse":
                    phrase += f" {context.common}"
                if outcome not in (None, "untested"):
                    phrase += f" ({_difference_text(matrix, leader, names[0], context)})"
                    context = replace(context, size="")  # the same size is named once
                phrases.append(phrase)
        if phrases:
            clauses.append(f"{subject} is {join_names(phrases, len(phrases))}")
    return "; ".join(clauses)


def _outcomes_by_leader(
    matrix: Matrix, values: dict[str, float]
) -> dict[str, dict[Verdict | None, list[str]]]:
    """Return the systems by how a leader compares with them, best first; each pair once."""
    is_high = matrix.value.best == "high"
    lead, ranked = leaders(matrix), sorted(values, key=lambda n: values[n], reverse=is_high)
    outcomes: dict[str, dict[Verdict | None, list[str]]] = {}
    for place, leader in enumerate(lead):
        for name in [*lead[place + 1 :], *(name for name in ranked if name not in lead)]:
            outcome = verdict(matrix, leader, name)
            outcomes.setdefault(leader, {}).setdefault(outcome, []).append(name)
    return outcomes


OUTCOME_PHRASES: dict[Verdict | None, str] = {
    "better": "significantly better than",
    "same": "not significantly different from",
    "untested": "not testable against",
    None: "not compared with",
    "worse": "significantly worse than",
}


def _difference_text(matrix: Matrix, a: str, b: str, context: FindingContext) -> str:
    """Return the difference of two systems, which are named, with its interval, p and n."""
    contrast = find_contrast(matrix, a, b)
    assert contrast is not None
    estimate = contrast.difference
    if contrast.a != a:
        estimate = negate(estimate)
    size = f"{estimate.n:,} {context.unit}" if context.unit else context.size
    figure = f"{a} {MINUS} {b}: {cell(estimate, matrix.value)}"
    return ", ".join(filter(None, [figure, p_phrase(contrast.p_corrected), size]))


def _estimate_text(matrix: Matrix, name: str) -> str:
    estimate = matrix.systems[name]
    assert estimate is not None
    return cell(estimate, matrix.value, matrix.votes.get(name, 0))


def lead_sentences(matrix: Matrix) -> Iterator[str]:
    """Yield the system with the best estimate, without significance tests."""
    lead = leaders(matrix)
    if lead:
        verb = "has" if len(lead) == 1 else "have"
        yield (
            f"{join_names(lead)} {verb} the best {matrix.value.name} "
            f"({_estimate_text(matrix, lead[0])}){_controls_phrase(matrix)}"
        )


def _controls_phrase(matrix: Matrix) -> str:
    controls = [
        f"{name} {number(estimate.value, matrix.value)}"
        for name, estimate in matrix.systems.items()
        if name in matrix.controls and estimate is not None
    ]
    return f"; controls: {', '.join(controls)}" if controls else ""


def better_sentences(matrix: Matrix, context: FindingContext) -> Iterator[str]:
    """Yield which systems are better, if systems were only rated relative to others."""
    clauses = []
    if _nothing_differs(matrix.contrasts):
        clauses.append(no_difference_phrase([matrix], context))
    for system in matrix.systems:
        if worse := [name for name in matrix.systems if verdict(matrix, system, name) == "better"]:
            clauses.append(f"{system} is significantly better than {join_names(worse)}")
    if pairs := [f"{c.a}–{c.b}" for c in matrix.contrasts if not is_tested(c)]:
        clauses.append(f"not testable: {join_names(pairs)}")
    if significant := [c.p_corrected for c in matrix.contrasts if c.better]:
        size = f"largest significant {p_phrase(max(significant))}, {context.size}"
        yield f"{matrix.value.name}: {'; '.join(clauses)} ({size})"
    elif clauses:
        yield "; ".join(clauses)


# --- Wording -------------------------------------------------------------------------------------


def summary_section(sentences: Iterable[str]) -> Section:
    """Return the first section of a report, with one sentence per line; the first is the finding.

    >>> summary_section(["a leads", "It rains!"]).parts[0].lines
    ('a leads.', 'It rains!')
    """
    lines = tuple(line if line.endswith((".", "!", "?")) else f"{line}." for line in sentences)
    return Section("Summary", (Lines("", lines),))


SUMMARY_WIDTH = 100  # columns of a terminal for which lines of a summary are counted


class Topic(NamedTuple):
    """Sentences of a summary on one topic; those of a topic without a name are never left out."""

    name: str
    sentences: list[str]


def shorten_topics(topics: Sequence[Topic], limit: int) -> list[str]:
    """Return all sentences; if they take more lines than the limit, topics are shortened.

    The longest topics are shortened first; then the last ones are left out. Lines are those of a
    terminal with 100 columns.

    >>> shorten_topics([Topic("", ["a leads"]), Topic("groups", ["x", "y", "z"])], 3)
    ['a leads', 'x', '2 more sentences (groups) are in the sections below']
    """
    shown = [len(topic.sentences) for topic in topics]
    while _line_count(lines := _shown_sentences(topics, shown)) > limit:
        heights = {
            place: _line_count(topic.sentences[: shown[place]]) if shown[place] > 1 else 0
            for place, topic in reversed([*enumerate(topics)])
            if topic.name and shown[place]
        }
        if not heights:
            break
        shown[max(heights, key=heights.__getitem__)] -= 1
    return lines


def _shown_sentences(topics: Sequence[Topic], shown: Sequence[int]) -> list[str]:
    """Return the first sentences of each topic, and how many there are besides."""
    pairs = list(zip(topics, shown, strict=True))
    lines = [line for topic, n in pairs for line in topic.sentences[:n]]
    if rest := sum(len(topic.sentences) - n for topic, n in pairs):
        cut = [topic.name for topic, n in pairs if n < len(topic.sentences)]
        noun, be = ("sentence", "is") if rest == 1 else ("sentences", "are")
        lines.append(f"{rest} more {noun} ({', '.join(cut)}) {be} in the sections below")
    return lines


def _line_count(sentences: Iterable[str]) -> int:
    wrapper = TextWrapper(SUMMARY_WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return sum(len(wrapper.wrap(f"{sentence}.")) for sentence in sentences)


def join_names(
    names: Sequence[str], limit: int = MAX_NAMES_IN_SENTENCE, conjunction: str = "and"
) -> str:
    """Join names for a sentence; at most ``limit`` of them are listed.

    >>> join_names(["a", "b", "c"]), join_names(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    shown = list(names)
    if len(shown) > limit:
        shown = [*shown[:limit], f"{len(shown) - limit} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {conjunction} {shown[-1]}"
