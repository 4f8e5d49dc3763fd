"""What the balance report claims, counted anew from the files that a design writes."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.plan import make_design
from earwitness.studies.design.report import study_write
from earwitness.studies.design.subset_balance import CLAIM_KEPT
from earwitness.studies.study import Clip, Design, Study, StudyBlock
from helpers.samples import many

Heard = dict[int, dict[int, list[tuple[str, str, list[str]]]]]  # by listener and session


def heard(made: Design) -> tuple[Heard, dict[int, int]]:
    """What every listener hears, read from the tables: system, clip, scales; and the panels."""
    found: Heard = {}
    panels = {}
    with TemporaryDirectory() as place:
        study_write(made, Path(place) / "d")
        for path in sorted((Path(place) / "d" / "csv").iterdir()):
            number = int(path.stem.split("_")[1])
            own: dict[int, list[tuple[str, str, list[str]]]] = defaultdict(list)
            for row in csv.DictReader(io.StringIO(path.read_text())):
                panels[number] = int(row["subset"])
                system, name = row["file"].split("/")
                trials = own[int(row["session"])]
                key = system, name.removesuffix(".wav")
                if trials and trials[-1][:2] == key and row["scale"] not in trials[-1][2]:
                    trials[-1][2].append(row["scale"])
                else:
                    trials.append((*key, [row["scale"]]))
            found[number] = dict(own)
    return found, panels


def span(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


@st.composite
def studies(draw: st.DrawFn) -> Study:
    systems = tuple(f"s{n}" for n in range(draw(st.integers(1, 6))))
    panels = draw(st.integers(1, 3))
    clips = draw(st.integers(1, 6))
    spare = draw(st.integers(0, 5))
    sexes = st.sampled_from(["f", "m", "x"])
    material = tuple(
        Clip(f"c{n}", 4.0, {"sex": draw(sexes), "snr": draw(st.floats(-5, 5))})
        for n in range(panels * clips + spare)
    )
    heard = draw(st.integers(1, len(systems)))
    block = StudyBlock(
        draw(st.sampled_from(["p835", "acr"])),
        systems,
        clips,
        sessions=draw(st.integers(1, min(4, clips))),
        heard=heard,
    )
    return Study(
        title="any",
        seed=draw(st.integers(0, 999)),
        material=material,
        blocks=(block,),
        panels=panels,
        listeners=panels * draw(st.integers(1, 5)) + draw(st.integers(0, 2)),
        categories=("sex",),
        numbers=("snr",),
    )


@settings(max_examples=many(10, 300), deadline=None)
@given(study=studies())
def test_every_claim_is_what_the_files_say(study: Study) -> None:
    made = make_design(study)
    told = {claim.what: claim for claim in check_balance(made)}
    plans, panels = heard(made)
    [block] = study.blocks
    systems = block.systems if block.heard == len(block.systems) else None

    def own(sessions: dict[int, list[tuple[str, str, list[str]]]]) -> tuple[str, ...]:
        return systems or tuple({one[0] for trials in sessions.values() for one in trials})

    occur = [
        sum(trial[0] == one for trial in trials)
        for sessions in plans.values()
        for trials in sessions.values()
        for one in own(sessions)
    ]
    claim = told["times each system occurs, per session"]
    assert claim.observed == span(occur)
    assert claim.kept == CLAIM_KEPT
    assert max(occur) - min(occur) <= 1
    for place, what in (
        (1, "times a clip directly follows itself, per listener"),
        (0, "times a system directly follows itself, per listener"),
    ):
        repeats = [
            sum(a[place] == b[place] for trials in sessions.values() for a, b in pairwise(trials))
            for sessions in plans.values()
        ]
        if what in told:
            assert told[what].observed == span(repeats)
            assert (told[what].kept == CLAIM_KEPT) == (max(repeats) == 0)
    votes = Counter(
        (trial[0], trial[1])
        for sessions in plans.values()
        for trials in sessions.values()
        for trial in trials
    )
    each = [
        votes[one, clip] for subset in made.subsets[0] for clip in subset for one in block.systems
    ]
    claim = told["votes per clip and system, on each scale"]
    assert claim.observed.split(" (")[0] == span(each)
    if systems:
        assert (claim.kept == CLAIM_KEPT) == (max(each) - min(each) <= 1)
    elif claim.kept == CLAIM_KEPT:  # of more systems than one hears, votes are even within a panel
        for subset in made.subsets[0]:
            own_votes = [votes[one, clip] for clip in subset for one in block.systems]
            assert max(own_votes) - min(own_votes) <= 1
        assert {one for one, _ in votes} == set(block.systems)
    if block.kind == "p835":
        starts: dict[int, Counter[str]] = defaultdict(Counter)
        for number, sessions in plans.items():
            starts[panels[number]][sessions[1][0][2][0]] += 1
        counts = [own_starts[one] for own_starts in starts.values() for one in ("SIG", "BAK")]
        claim = told["listeners per panel who start with each order of scales"]
        assert claim.observed == span(counts)


@given(study=studies())
def test_subsets_are_disjoint_and_files_agree_with_them(study: Study) -> None:
    made = make_design(study)
    plans, panels = heard(made)
    names = [name for subset in made.subsets[0] for name in subset]
    assert len(set(names)) == len(names)
    for number, sessions in plans.items():
        clips = {trial[1] for trials in sessions.values() for trial in trials}
        assert clips == set(made.subsets[0][panels[number] - 1])


@settings(max_examples=many(8, 150), deadline=None)
@given(study=studies())
def test_successions_first_places_and_orders_are_what_the_files_say(study: Study) -> None:
    made = make_design(study)
    told = {claim.what: claim for claim in check_balance(made)}
    plans, panels = heard(made)
    alone, pooled, firsts = list[int](), Counter[tuple[int, str, str]](), Counter[tuple[int, str]]()
    met, known = set[tuple[int, str, str]](), set[tuple[int, str]]()
    for number, sessions in plans.items():
        panel, trials = panels[number], [one for own in sessions.values() for one in own]
        systems = {one[0] for one in trials}
        pairs = Counter((a[0], b[0]) for own in sessions.values() for a, b in pairwise(own))
        alone += [pairs[a, b] for a in systems for b in systems if a != b]
        met |= {(panel, a, b) for a in systems for b in systems if a != b}
        known |= {(panel, one) for one in systems}
        pooled.update({(panel, *pair): count for pair, count in pairs.items()})
        firsts.update((panel, own[0][0]) for own in sessions.values())
    label = "times one system directly follows another"
    if f"{label}, per listener" in told:
        assert told[f"{label}, per listener"].observed == (span(alone) if alone else "–")
        over = [pooled[one] for one in met]
        assert told[f"{label}, per panel"].observed == (span(over) if over else "–")
        first = told["times each system comes first in a session, per panel"]
        assert first.observed == span([firsts[one] for one in known])
    if study.blocks[0].kind == "p835":
        orders = ("SIG", "BAK")
        each = [
            sum(own[0][2][0] == one for own in sessions.values())
            for sessions in plans.values()
            for one in orders
        ]
        assert told["sessions with each order of scales, per listener"].observed == span(each)


@given(study=studies())
def test_likeness_of_subsets_is_what_the_tables_say(study: Study) -> None:
    made = make_design(study)
    told = {claim.what: claim for claim in check_balance(made)}
    sexes = {clip.name: str(clip.covariates["sex"]) for clip in study.material}
    noise = {clip.name: float(clip.covariates["snr"]) for clip in study.material}
    whole = Counter(sexes.values())
    off = [
        abs(sum(sexes[name] == sex for name in own) - len(own) * count / len(sexes))
        for own in made.subsets[0]
        for sex, count in whole.items()
    ]
    claim = told["largest deviation from proportional categories (clips)"]
    assert float(claim.observed) == pytest.approx(max(off), abs=0.051)
    assert claim.kept != CLAIM_KEPT or max(off) < 1
    chosen = {sexes[name] for own in made.subsets[0] for name in own}
    room = max(0, len(whole) - sum(map(len, made.subsets[0])))
    lost = max(0, len(whole) - len(chosen) - room)
    assert told["strata missing from all subsets despite enough places"].observed == str(lost)
    spread = pstdev(noise.values())
    means = [fmean(noise[name] for name in own) for own in made.subsets[0]]
    every = [*means, fmean(noise.values())]
    apart = (max(every) - min(every)) / spread if spread > 1e-9 else 0.0
    found = float(told["largest difference between subset means (in SD)"].observed)
    if spread == 0 or spread > 1e-6:  # else rounding decides
        assert found == pytest.approx(apart, abs=0.002)
