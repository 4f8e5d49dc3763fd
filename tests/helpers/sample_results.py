"""Results of made-up ratings, for tests of reports: the numbers are plain, not the best ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from earwitness.analysis.evidence import RepeatedVote
from earwitness.analysis.plan import Analysis, Rule
from earwitness.analysis.results import (
    BradleyTerryAbilities,
    Effect,
    ListenerAgreement,
    ListenerFigures,
    PairChoices,
    Results,
    ScaleResults,
    ScreeningVerdict,
    Stimulus,
    Subjects,
    SystemMeans,
)
from earwitness.core import Contrast, Estimate, Input, Key, Value

Floats = NDArray[np.float64]
NAN = float("nan")
SYSTEMS = ("unprocessed", "RemixIT", "Sudo rm -rf", "OM-LSA", "ours_v2 <50% & more>")
QUALITY = {"SIG": (4.2, 3.6, 3.4, 3.45, 3.9), "BAK": (1.9, 3.3, 3.2, 2.4, 4.1)}
QUALITY["OVRL"] = (2.6, 3.0, 2.9, 2.5, 3.7)
CODECS = ("reference", "anchor 3.5", "anchor 7", "AAC 64", "AAC 96", "Opus 48", "Opus 64", "X", "Y")
INPUT = Input("ratings.csv", "0123456789abcdef" * 4, 123_456)


def estimate(samples: Floats, method: str = "cluster_t") -> Estimate:
    """A mean with twice its standard error."""
    known = samples[~np.isnan(samples)]
    if not known.size:
        return Estimate(NAN, NAN, NAN, 0.95, 0, samples.size, method)
    mean = float(known.mean())
    half = 2.04 * float(known.std(ddof=1)) / known.size**0.5 if known.size > 1 else NAN
    return Estimate(mean, mean - half, mean + half, 0.95, known.size, 0, method)


def votes_of(
    qualities: tuple[float, ...], value: Value, items: int, seed: int, listeners: int, panels: int
) -> Floats:
    """Systems × items × listeners; NaN where a listener is of another panel."""
    rng = np.random.Generator(np.random.PCG64(seed))
    width = (value.high - value.low) / 4
    shape = (len(qualities), items, listeners)
    latent = np.array(qualities)[:, None, None] + width * (
        rng.normal(0, 0.5, (1, items, 1))
        + rng.normal(0, 0.35, (1, 1, listeners))
        + rng.normal(0, 0.7, shape) * rng.uniform(0.6, 1.6, (1, 1, listeners))
    )
    made = np.clip(np.round(latent), value.low, value.high)
    made[:, np.arange(items)[:, None] % panels != np.arange(listeners)[None, :] % panels] = NAN
    return made


def rated(votes: Floats, value: Value) -> SystemMeans:
    """One system: items × listeners."""
    known = votes[~np.isnan(votes)]
    means = estimate(np.nanmean(votes, axis=0))
    given, counts = np.unique(known, return_counts=True)
    five = (value.low, value.high) == (1, 5)
    share = [
        estimate(np.nanmean(np.where(np.isnan(votes), NAN, x), axis=0))
        for x in (votes >= 4, votes <= 2)
    ]
    return SystemMeans(
        mean=means,
        intervals={
            "cluster_t": means,
            "naive_t": estimate(known, "naive_t"),
            "mixed": replace(means, low=means.low - 0.1, high=means.high + 0.1, method="mixed"),
        },
        votes=known.size,
        listeners=votes.shape[1],
        items=votes.shape[0],
        sd=float(known.std(ddof=1)),
        counts={float(x): int(n) for x, n in zip(given, counts, strict=True)},
        good=share[0] if five else None,
        poor=share[1] if five else None,
    )


def contrasts(votes: Floats, value: Value, systems: tuple[str, ...]) -> tuple[Contrast, ...]:
    """All pairs within listeners; told apart by the interval."""
    found = []
    for i, j in combinations(range(len(systems)), 2):
        d = np.nanmean(votes[i] - votes[j], axis=0)
        difference = estimate(d, "paired_t")
        size = difference.value / float(d.std(ddof=1))
        told = difference.low > 0 or difference.high < 0
        p = float(np.exp(-abs(size) * len(d) ** 0.5))
        better = (systems[i] if difference.value > 0 else systems[j]) if told else ""
        effect = Estimate(size, size - 0.4, size + 0.4, 0.95, len(d), 0, "d_z")
        found.append(
            Contrast(
                value.name, systems[i], systems[j], difference, p, min(1.0, 3 * p), better, effect
            )
        )
    return tuple(found)


def listeners_of(votes: Floats, systems: tuple[str, ...]) -> tuple[ListenerFigures, ...]:
    mean = np.nanmean(votes, axis=2)
    found = []
    for who in range(votes.shape[2]):
        own = votes[:, :, who]
        known = own[~np.isnan(own)]
        away = (own - mean)[~np.isnan(own)]
        counts = np.unique(known, return_counts=True)[1]
        correlation = float(np.corrcoef(known, mean[~np.isnan(own)])[0, 1])
        means = {s: float(np.nanmean(own[i])) for i, s in enumerate(systems)}
        found.append(
            ListenerFigures(
                *(who + 1, known.size, float(known.mean()), float(known.std()), float(away.mean())),
                *(float(away.std()), correlation, float((away**2).mean() ** 0.5)),
                *(float(counts.max() / known.size), 7, means),
            )
        )
    return tuple(found)


def subjects_of(votes: Floats, systems: tuple[str, ...]) -> Subjects:
    mean = np.nanmean(votes, axis=2)
    away = votes - mean[:, :, None]
    people = range(votes.shape[2])
    spread = np.nanstd(away, axis=(0, 1))
    qualities = {
        Key(f"clip {i:03}", s): Estimate(
            float(mean[n, i]), float(mean[n, i]) - 0.3, float(mean[n, i]) + 0.3, 0.95, 8, 0, "model"
        )
        for n, s in enumerate(systems)
        for i in range(votes.shape[1])
    }
    return Subjects(
        qualities,
        {s: float(mean[n].mean()) + 0.02 for n, s in enumerate(systems)},
        {w + 1: estimate(away[:, :, w].ravel(), "model") for w in people},
        {
            w + 1: Estimate(
                float(spread[w]),
                float(spread[w]) - 0.05,
                float(spread[w]) + 0.06,
                0.95,
                20,
                0,
                "model",
            )
            for w in people
        },
        0.1,
        (9,),
        14,
        converged=True,
    )


def scale_of(
    value: Value, votes: Floats, systems: tuple[str, ...], kept: list[int], panels: int
) -> ScaleResults:
    """All about one scale, from votes of everyone."""
    inside = votes[:, :, kept]
    figures = {"ICC(2,1)": 0.42, "ICC(2,k)": 0.93, "alpha ordinal": 0.41, "alpha interval": 0.44}
    made = {n: Estimate(x, x - 0.05, x + 0.04, 0.95, len(kept), 0, "F") for n, x in figures.items()}
    agreement = [ListenerAgreement("", len(kept), int(inside[..., 0].size), made)]
    agreement += [
        ListenerAgreement(f"panel {p + 1}", 8, inside[..., 0].size // panels, made)
        for p in range(panels if panels > 1 else 0)
    ]
    stimuli = tuple(
        Stimulus(
            Key(f"clip {i:03}", s),
            tuple(float(x) for x in own[~np.isnan(own)]),
            float(np.nanmean(own)),
            float(np.nanstd(own)),
        )
        for n, s in enumerate(systems)
        for i in range(votes.shape[1])
        for own in [inside[n, i]]
    )
    drift = Effect(
        "order",
        "last trial minus first trial",
        estimate(np.array([0.1, -0.05, 0.02]), "cluster_t"),
        0.31,
    )
    return ScaleResults(
        value,
        {s: rated(inside[n], value) for n, s in enumerate(systems)},
        contrasts(inside, value, systems),
        {s: estimate(np.nanmean(votes[n], axis=0)) for n, s in enumerate(systems)},
        tuple(agreement),
        listeners_of(votes, systems),
        subjects_of(inside, systems),
        (drift, replace(drift, name="session", what="session 4 minus session 1", p=NAN)),
        stimuli,
        components={"listener": 0.12, "item": 0.31, "residual": 0.62},
        notes=("one vote was outside the scale",),
    )


def with_controls(found: Results, *names: str) -> Results:
    """The same, with systems that are not ranked on any scale."""
    scales = tuple(replace(one, controls=names) for one in found.scales)
    return replace(found, scales=scales, controls=names)


def mos(items: int = 16) -> Results:
    """P.835: 5 systems, 3 scales, 32 listeners in 4 panels, 3 left out, 12 doubled votes."""
    left = (4, 17, 30)
    kept = [w for w in range(32) if w + 1 not in left]
    scales = []
    for seed, (name, quality) in enumerate(QUALITY.items()):
        value = Value(name, "high", 1, 5, "mean opinion, 1 to 5")
        votes = votes_of(quality, value, items, seed, 32, 4)
        votes[:, :, 3] = np.where(np.isnan(votes[:, :, 3]), NAN, 3)
        votes[0, 3, 3] = 4
        votes[:, :, 16] = 6 - votes[:, :, 16]
        scales.append(scale_of(value, votes, SYSTEMS, kept, 4))
    screened = tuple(
        ScreeningVerdict(
            w, "p808", s, f"correlation {0.1 if w in left else 0.7:g} (at least 0.4)", w not in left
        )
        for w in range(1, 33)
        for s in QUALITY
    )
    doubled = tuple(
        RepeatedVote(Key(f"clip {i:03}", SYSTEMS[i % 5]), "SIG", i + 1, (3.0, 4.0), 4.0)
        for i in range(12)
    )
    return Results(
        "UDASE again & <again>",
        "ratings|cluster_t|holm|seed=0|earwitness=0.1.0",
        (INPUT,),
        Analysis(scales=("SIG", "BAK", "OVRL")),
        tuple(scales),
        32,
        screened,
        left,
        doubled,
        "last",
        rules=(Rule("p808", {"variance": 0.1, "correlation": 0.4}),),
        version="0.1.0",
        notes=("3 votes lack a session",),
    )


def mushra() -> Results:
    """9 systems from 0 to 100, one panel of 20, nobody left out, p by Benjamini and Hochberg."""
    value = Value("BASIC", "high", 0, 100, "basic audio quality, 0 to 100")
    quality = (97.0, 22.0, 45.0, 62.0, 81.0, 70.0, 84.0, 55.0, 76.0)
    votes = votes_of(quality, value, 10, 5, 20, 1)
    scale = replace(scale_of(value, votes, CODECS, list(range(20)), 1), subjects=None, effects=())
    screened = tuple(
        ScreeningVerdict(w, "bs1534", "", "0 of 10 below 90", kept=True) for w in range(1, 21)
    )
    plan = Analysis(interval="cluster_bootstrap", correction="bh")
    return Results("Codecs", "ratings|bh", (INPUT,), plan, (scale,), 20, screened)


def choice(a: str, b: str, counts: tuple[int, int, int], *, keen: bool = False) -> PairChoices:
    wins, losses, ties = counts
    n = wins + losses
    share = (wins + ties / 2) / (n + ties)
    half = 1.96 * (share * (1 - share) / n) ** 0.5
    of = Estimate(share, share - half, share + half, 0.95, 12, 0, "cluster_t")
    p = min(1.0, 2 * sum(comb(n, k) for k in range(max(wins, losses), n + 1)) / 2**n)
    people: dict[int | str, tuple[int, int, int, float]] = {
        f"anna_{w}": (wins // 12, losses // 12, ties // 12, 0.5) for w in range(12)
    }
    d = Estimate(1.2, 0.7, 1.8, 0.95, n, 0, "independent")
    return PairChoices(a, b, *counts, 4, of, p, min(1.0, 3 * p), d if keen else None, people)


def preference() -> Results:
    """AB with ties among three systems, and ABX; one system never lost."""
    value = Value("PREFERENCE", "none", -1, 1, "which of two is preferred")
    pairs = (
        ("old", "new_1", (20, 70, 30)),
        ("old", "best & only", (8, 100, 12)),
        ("new_1", "best & only", (40, 52, 28)),
    )
    made = tuple(choice(a, b, counts) for a, b, counts in pairs)
    found = {
        s: Estimate(x, x - 0.3, x + 0.3, 0.95, 12, 0, "sandwich")
        for s, x in (("old", -0.9), ("new_1", 0.2), ("best & only", float("inf")))
    }
    ties = Estimate(-0.8, -1.0, -0.6, 0.95, 12, 0, "sandwich")
    first = ScaleResults(
        value,
        {},
        (),
        {},
        choices=made,
        abilities=BradleyTerryAbilities(found, ties, ("best & only",)),
    )
    abx = ScaleResults(
        replace(value, name="SAME"),
        {},
        (),
        {},
        choices=(choice("old", "new_1", (80, 40, 0), keen=True),),
    )
    return Results(
        "Which one?", "choices|none", (INPUT,), Analysis(correction="none"), (first, abx), 12
    )


def nothing() -> Results:
    """One listener, and nothing that can be known."""
    none = Estimate(NAN, NAN, NAN, 0.95, 0, 1, "cluster_t")
    value = Value("QUALITY", "high", 1, 5, "")
    empty = SystemMeans(none, {"cluster_t": none, "mixed": none}, 0, 1, 0, NAN, {}, none, none)
    one = ListenerFigures(1, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, {"a": NAN, "b": NAN})
    model = Subjects(
        {Key("x", "a"): none}, {"a": NAN}, {1: none}, {1: none}, 0.1, (), 100, converged=False
    )
    pair = Contrast("QUALITY", "a", "b", none, NAN, NAN, "", none)
    chosen = PairChoices("a", "b", 0, 0, 0, 0, none, NAN, NAN)
    slider = ScaleResults(Value("BASIC", "high", 0, 100, ""), {"a": empty}, (), {})
    scale = ScaleResults(
        value,
        {"a": empty, "b": empty},
        (pair,),
        {"a": none, "b": none},
        (ListenerAgreement("", 1, 0, {"ICC(2,1)": none}),),
        (one,),
        model,
        (Effect("order", "late less early", none, NAN),),
        (Stimulus(Key("x", "a"), (NAN,), NAN, NAN),),
        (chosen,),
        BradleyTerryAbilities({"a": none, "b": none}, None),
    )
    return Results("", "", (), Analysis(), (scale, slider), 1, left=(1,))


FIXTURES = {"mos": mos, "mushra": mushra, "preference": preference, "nothing": nothing}
