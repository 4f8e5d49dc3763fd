"""How results of ratings were made, as a paragraph for a paper.

Every sentence follows from the results; what is not there is not told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from earwitness.data import Results, Rule
from earwitness.listening.screening import SCREENS
from earwitness.report.sentences import listed


@dataclass(frozen=True, slots=True)
class Way:
    """A kind of interval: how it is made, and whom or what it speaks about."""

    name: str
    scope: str

    @property
    def about(self) -> str:
        """Both in a line."""
        return f"{self.name}; they speak about {self.scope}"


INTERVALS = {
    "cluster_t": Way("t intervals over the means of listeners", "other listeners on these items"),
    "naive_t": Way(
        "t intervals over single votes, as if these were independent",
        "nobody else: votes of one listener are alike, so they are too narrow",
    ),
    "cluster_bootstrap": Way("a bootstrap over listeners", "other listeners on these items"),
    "two_way_bootstrap": Way(
        "a bootstrap over listeners and items", "other listeners and other items"
    ),
    "mixed": Way(
        "a linear mixed model with crossed random intercepts of listeners and items",
        "other listeners and other items",
    ),
}
CORRECTIONS = {
    "holm": "corrected by Holm's method",
    "bh": "corrected by the method of Benjamini and Hochberg",
    "none": "not corrected",
}
DOUBLED = {
    "first": "the first counts",
    "last": "the last counts",
    "mean": "their mean counts",
}
EFFECTS = {"hedges_g_z": "Hedges' g of differences within listeners"}
ALL = 50  # names that a paragraph holds


def methods(results: Results) -> str:
    """The paragraph."""
    told = [
        *_listeners(results),
        *_votes(results),
        *_means(results),
        *_contrasts(results),
        *_choices(results),
        *_agreement(results),
    ]
    made = f"All numbers were computed with Earwitness {results.version}".rstrip()
    told.append(f"{made} ({results.signature})." if results.signature else f"{made}.")
    return " ".join(told)


def sized(method: str) -> str:
    """What the size of an effect is called."""
    return EFFECTS.get(method, method)


def way(results: Results) -> str:
    """How intervals of means were made: as all of them say, else as was planned."""
    said = {r.mean.method for scale in results.scales for r in scale.systems.values()}
    return said.pop() if len(said) == 1 and said <= {*INTERVALS} else results.plan.interval


def rules_told(results: Results) -> str:
    """Rules of screening, with what is known of them."""
    named = dict.fromkeys(one.rule for one in results.screened)
    rules = results.rules or tuple(Rule(name, {}) for name in named)
    return "; ".join(map(_rule, rules))


def doubled_told(results: Results) -> str:
    """How votes that were given more than once are resolved."""
    rule = DOUBLED.get(results.rule, results.rule)
    what = _several(len(results.doubled), "stimulus was", "stimuli were")
    how = f"; of such votes {rule}" if rule else ""
    return f"{what} rated more than once by the same listener on the same scale{how}."


def _several(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _rule(rule: Rule) -> str:
    limits = ", ".join(f"{name.replace('_', ' ')} {x:g}" for name, x in rule.limits.items())
    inside = f"{rule.name}: {limits}" if limits else rule.name
    return f"{SCREENS[rule.name].doc} ({inside})" if rule.name in SCREENS else inside


def _listeners(results: Results) -> Iterator[str]:
    yield f"{_several(results.listeners, 'listener', 'listeners')} took part."
    rules = rules_told(results)
    if results.left:
        out = _several(len(results.left), "was", "were")
        how = f" because of these rules: {rules}" if rules else ""
        yield f"Of these, {out} left out{how}."
    elif rules:
        yield f"None was left out; the rules were: {rules}."


def _votes(results: Results) -> Iterator[str]:
    """How many were counted, on what."""
    rated = [scale for scale in results.scales if scale.systems]
    votes = sum(r.votes for scale in rated for r in scale.systems.values())
    if rated:
        names = listed([scale.value.name for scale in rated], ALL)
        systems = {name for scale in rated for name in scale.systems}
        scale_word = "scale" if len(rated) == 1 else "scales"
        yield (
            f"{_several(votes, 'vote', 'votes')} on the {scale_word} {names} were analysed, for "
            f"{_several(len(systems), 'system', 'systems')}{_items(results)}."
        )
    if results.doubled:
        yield doubled_told(results)


def _items(results: Results) -> str:
    each = {r.items for scale in results.scales for r in scale.systems.values()}
    if len(each) != 1:
        return ""
    return f" with {_several(each.pop(), 'item', 'items')} each"


def _means(results: Results) -> Iterator[str]:
    rated = [r for scale in results.scales for r in scale.systems.values()]
    if not rated:
        return
    level = f"{100 * results.plan.level:.4g} %"
    name = way(results)
    by = INTERVALS[name].about if name in INTERVALS else f"the method {name}"
    yield f"Intervals of means ({level}) are by {by}."
    shares = [s for r in rated for s in (r.good, r.poor) if s is not None]
    if shares:
        by = listed(sorted({s.method for s in shares}), ALL)
        yield (
            "Beside the means stand the shares of votes that are Good or better and Poor or worse, "
            f"with intervals by {INTERVALS[by].name if by in INTERVALS else by}."
        )


def _contrasts(results: Results) -> Iterator[str]:
    contrasts = [c for scale in results.scales for c in scale.contrasts]
    if not contrasts:
        return
    pairs = len({frozenset((c.a, c.b)) for c in contrasts})
    how = CORRECTIONS.get(results.plan.correction, f"corrected by {results.plan.correction}")
    yield (
        f"{_several(pairs, 'pair', 'pairs')} of systems were compared on each scale, paired within "
        f"listeners; p values are {how}."
    )
    sizes = {sized(c.effect.method) for c in contrasts if c.effect is not None}
    if sizes:
        yield f"Effect sizes are given as {listed(sorted(sizes), ALL)}."


def _choices(results: Results) -> Iterator[str]:
    choices = [c for scale in results.scales for c in scale.choices]
    if choices:
        total = sum(c.wins + c.losses + c.ties for c in choices)
        how = CORRECTIONS.get(results.plan.correction, f"corrected by {results.plan.correction}")
        yield (
            f"{_several(total, 'choice', 'choices')} between two sounds were tested by the exact "
            f"binomial test against one half, with exact intervals, and again over listeners; "
            f"p values are {how}."
        )
    if any(c.ties for c in choices):
        yield "Choices of neither count for no side in these tests."
    if any(c.sensitivity is not None for c in choices):
        yield "Sensitivity is given as d′."
    if any(scale.abilities for scale in results.scales):
        yield (
            "Abilities are those of the Bradley–Terry model with ties (Davidson), with intervals "
            "by the sandwich estimator over listeners."
        )


def _agreement(results: Results) -> Iterator[str]:
    names = dict.fromkeys(n for s in results.scales for one in s.agreement for n in one.figures)
    if names:
        yield f"Agreement of listeners is given as {listed([*names], ALL)}."
    models = [scale.subjects for scale in results.scales if scale.subjects]
    if models:
        floors = listed(sorted({f"{model.floor:g}" for model in models}), ALL)
        yield (
            "Biases and inconsistencies of listeners are those of the subject model of ITU-T "
            f"P.910, annex E, with inconsistencies of at least {floors}."
        )
