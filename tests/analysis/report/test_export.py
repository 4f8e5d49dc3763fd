"""Reports of ratings: every form of every kind of results, with every number in its place."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import product
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from earwitness.analysis.plan import ANALYSIS_INTERVALS, Analysis, Rule
from earwitness.analysis.report.export import UNKNOWN_PROCEDURE, methods_paragraph, tables_csv
from earwitness.analysis.report.wording import ESTIMATE_NAMES, INTERVAL_WORDING
from earwitness.analysis.results import Procedure, Results
from earwitness.core import Estimate, Key, Value
from earwitness.output_formats import FORMS, render
from earwitness.report import apply_renderer
from earwitness.report.charts import fit_axis
from earwitness.report.latex import escape
from earwitness.report.markdown import escape as escape_markdown
from earwitness.report.numbers import number, p_value
from earwitness.report.parts import Intervals, Lines, Matrix, Panels, Part, ValueSpread, VoteCounts
from earwitness.stats.means import ITEM_ADJUSTED, ITEM_T
from earwitness.studies.analyse import study_analyse
from earwitness.studies.design.plan import make_design
from earwitness.studies.procedure import study_procedure
from earwitness.studies.study import HearingTest, QualityControl, StudyBlock
from earwitness.studies.trials import KINDS
from helpers.csv_results import read_results
from helpers.sample_results import FIXTURES, SYSTEMS, mos, mushra, nothing, preference
from helpers.study_files import udase
from report.html.test_page import outline

SCALE = Value("OVRL", "high", 1, 5, "")


@pytest.fixture(scope="module", params=list(FIXTURES))
def results(request: pytest.FixtureRequest) -> Results:
    return FIXTURES[request.param]()


@pytest.fixture(scope="module")
def whole() -> Results:
    return mos()


def parts(results: Results, title: str) -> tuple[Part, ...]:
    return next(s.parts for s in apply_renderer(results, "report").sections if s.title == title)


def titles(results: Results) -> list[str]:
    return [section.title for section in apply_renderer(results, "report").sections]


def lines(text: str) -> list[dict[str, str]]:
    return read_results(text)[1]


def estimates(found: Any) -> Iterator[Estimate]:
    """All that are anywhere inside."""
    if isinstance(found, Estimate):
        yield found
    elif is_dataclass(found):
        for field in fields(found):
            yield from estimates(getattr(found, field.name))
    elif isinstance(found, dict):
        for one in found.values():
            yield from estimates(one)
    elif isinstance(found, tuple):
        for one in found:
            yield from estimates(one)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_every_result_has_no_bare_nan(results: Results, form: str) -> None:
    made = render(results, form)
    assert made.endswith("\n")
    assert not re.search(r"\bnan\b", made, re.I)


def test_sections_come_in_the_order_in_which_one_asks(whole: Results) -> None:
    assert titles(whole) == [
        "Summary",
        "Means",
        "Means by method",
        "Distribution of votes",
        "Differences between systems",
        "Listeners",
        "Screening",
        "Means with and without excluded listeners",
        "All screening checks",
        "Agreement between listeners",
        "Variance components",
        "Subject model",
        "Bias and inconsistency",
        "Order effects",
        "Repeated votes",
        "Items",
        "Methods",
    ]


def test_what_is_empty_has_no_section() -> None:
    assert titles(preference()) == [
        "Summary",
        "Paired choices",
        "Bradley–Terry abilities",
        "Choices by listener",
        "Methods",
    ]
    assert titles(replace(preference(), scales=())) == ["Methods"]


def test_pages_are_whole_and_names_are_text(results: Results) -> None:
    made = render(results, "html")
    found = outline(made)
    assert [tag for tag, _ in found.tags].count("script") == 1
    for tag, attributes in found.tags:
        if attributes.get("role") == "img":
            assert attributes["aria-label"], tag


def test_odd_names_are_escaped_in_every_medium(whole: Results) -> None:
    odd = SYSTEMS[-1]
    assert odd == "ours_v2 <50% & more>"
    assert "ours_v2 &lt;50% &amp; more&gt;" in render(whole, "html")
    assert odd not in render(whole, "html")
    for table in ("paper", "full"):
        made = render(whole, "latex", table=table)
        assert r"ours\_v2 \textless{}50\% \& more\textgreater{}" in made
    assert escape_markdown(odd) in render(whole, "md")
    assert render(whole, "md").startswith("# Results of UDASE again &amp; \\<again\\>\n")
    assert odd in render(whole)
    assert any(row["system"] == odd for row in lines(render(whole, "csv")))


def test_every_picture_has_a_table(results: Results) -> None:
    made = render(results, "html")
    for figure in re.findall("<figure.*?</figure>", made, re.S):
        assert "<table" in figure


def test_the_page_says_every_mean_with_its_interval(whole: Results) -> None:
    made = render(whole, "html")
    for scale in whole.scales:
        for name, rated in scale.systems.items():
            mean = rated.mean
            told = f"{mean.value:.2f} [{mean.low:.2f}, {mean.high:.2f}], n = {mean.n}"
            assert told in made, name


def test_undefined_numbers_are_a_dash() -> None:
    made = render(nothing())
    row = next(x for x in made.splitlines() if x.strip().startswith("a "))
    assert row.split() == ["a", "–", "[–,", "–]", "–", "0", "1", "0", "–", "–"]


def test_csv_has_a_line_an_estimate(results: Results) -> None:
    facts, found = read_results(render(results, "csv"))
    wanted = []
    for scale in results.scales:
        for system, rated in scale.systems.items():
            named = {"mean": rated.mean, "good": rated.good, "poor": rated.poor}
            wanted += [(scale.value.name, system, n, e) for n, e in named.items() if e]
        for c in scale.choices:
            wanted.append((scale.value.name, c.a, f"share against {c.b}", c.share))
        if scale.abilities:
            own = scale.abilities.systems.items()
            wanted += [(scale.value.name, s, "ability", e) for s, e in own]
            if scale.abilities.ties:
                wanted.append((scale.value.name, "", "ties", scale.abilities.ties))
    assert len(found) == len(wanted)
    for line, (scale_name, system, name, estimate) in zip(found, wanted, strict=True):
        assert (line["scale"], line["system"], line["name"]) == (scale_name, system, name)
        assert [line[p] for p in ESTIMATE_NAMES] == [
            written_as(getattr(estimate, p)) for p in ESTIMATE_NAMES
        ]
    assert facts.get("signature", "") == results.signature


def written_as(x: float | str) -> str:
    return "" if isinstance(x, float) and isnan(x) else str(x)


def test_the_folder_of_tables_has_every_estimate(results: Results) -> None:
    made = tables_csv(results)
    rows = {tuple(row) for text in made.values() for row in csv.reader(io.StringIO(text))}
    cells = {cell for row in rows for cell in row}
    known = [e for e in estimates(results) if not isnan(e.value)]
    assert {written_as(e.value) for e in known} <= cells
    inside = [replace(s.subjects, qualities={}) for s in results.scales if s.subjects]
    for own in (*inside, *(replace(s, subjects=None) for s in results.scales)):
        assert {written_as(e.high) for e in estimates(own) if not isnan(e.high)} <= cells


def test_tables_are_rectangular_and_none_is_empty(results: Results) -> None:
    for name, text in tables_csv(results).items():
        header, *rows = csv.reader(io.StringIO(text))
        assert rows, name
        assert {len(row) for row in rows} == {len(header)}, name
        assert len({*header}) == len(header), name


def test_only_tables_with_rows_are_made() -> None:
    assert [*tables_csv(preference())] == ["means.csv", "choices.csv"]
    assert tables_csv(replace(preference(), scales=())) == {}


def test_names_of_listeners_are_no_formulas_in_tables(tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    names = ("=1+1", "@b", "c")
    votes = [
        f"{item},{system},{name},MOS,{(n + len(item + system)) % 5 + 1}"
        for n, (item, system, name) in enumerate(product(("i", "ii", "iii"), "AB", names))
    ]
    table.write_text("\n".join(["item,system,listener,scale,value", *votes, ""]))
    found = tables_csv(study_analyse(table, screening=["p808"], draws=20))
    for name in ("listeners.csv", "screening.csv", "subjects.csv"):
        assert {row["listener"] for row in lines(found[name])} == {"'=1+1", "'@b", "c"}


def test_stimuli_have_a_row_each_with_all_votes(whole: Results) -> None:
    found = lines(tables_csv(whole)["stimuli.csv"])
    assert len(found) == sum(len(scale.stimuli) for scale in whole.scales)
    scale, stimulus, row = whole.scales[0], whole.scales[0].stimuli[3], found[3]
    assert Key(row["item"], row["system"]) == stimulus.key
    votes = [float(row[f"vote_{n}"]) for n in range(1, int(row["n"]) + 1)]
    assert tuple(votes) == stimulus.votes
    assert float(row["mean"]) == pytest.approx(sum(votes) / len(votes))
    assert scale.subjects
    assert float(row["quality"]) == scale.subjects.qualities[stimulus.key].value


def test_listeners_who_were_left_out_are_marked(whole: Results) -> None:
    found = lines(tables_csv(whole)["listeners.csv"])
    out = {row["listener"] for row in found if row["kept"] == "no"}
    assert out == {"4", "17", "30"}
    made = render(whole, "html")
    assert made.count('class="panel left"') == made.count("<em>excluded</em>") == 3 * 3
    assert made.count('class="panel"') == 3 * 29


def test_json_is_whole(results: Results) -> None:
    made = json.loads(render(results, "json"))
    assert made.keys() == {field.name for field in fields(Results)} | {"methods"}
    assert made["methods"] == methods_paragraph(results)
    assert made["listeners"] == results.listeners
    for scale, own in zip(results.scales, made["scales"], strict=True):
        assert own.keys() == {field.name for field in fields(type(scale))}
        for name, rated in scale.systems.items():
            mean = None if isnan(rated.mean.value) else rated.mean.value
            assert own["systems"][name]["mean"]["value"] == mean
            votes = {one["value"]: one["votes"] for one in own["systems"][name]["counts"]}
            assert votes == rated.counts
        for stimulus, there in zip(scale.stimuli, own["stimuli"], strict=True):
            assert Key(there["item"], there["system"]) == stimulus.key
        assert (own["subjects"] is None) == (scale.subjects is None)
        for choice, there in zip(scale.choices, own["choices"], strict=True):
            assert [one["listener"] for one in there["listeners"]] == [*choice.listeners]


def test_json_names_items_systems_and_listeners_of_the_model(whole: Results) -> None:
    model = json.loads(render(whole, "json"))["scales"][0]["subjects"]
    known = whole.scales[0].subjects
    assert known
    first, quality = next(iter(known.qualities.items()))
    assert model["qualities"][0] == {
        "item": first.item,
        "system": first.system,
        **{field.name: getattr(quality, field.name) for field in fields(Estimate)},
    }
    assert [one["listener"] for one in model["biases"]] == [*known.biases]


def test_latex_tables_are_whole_and_listeners_stay_out(results: Results) -> None:
    made = render(results, "latex", table="full")
    assert made.count(r"\begin{table}") == made.count(r"\end{table}")
    assert made.count(r"\begin{quote}") == 1
    for columns, head, body in re.findall(
        r"tabular\}\{@\{\}(l+r*)@\{\}\}\n\\toprule\n([^\n]*) \\\\\n\\midrule\n(.*?)\n\\bottomrule",
        made,
        re.S,
    ):
        for line in (head, *body.removesuffix(r" \\").split(" \\\\\n")):
            assert len(re.findall(r"(?<!\\)&", line)) + 1 == len(columns)
    for long in ("inconsistency", "by item", "all screening checks", "repeated votes}"):
        assert f"{long}}}" not in made
    assert not re.search("[±∞′−×]", made)


@pytest.mark.parametrize(
    ("correction", "heading", "told"),
    [
        ("holm", "p (Holm)", "Holm-corrected"),
        ("bh", "p (BH)", "Benjamini–Hochberg-corrected"),
        ("none", "", "not corrected"),
    ],
)
def test_the_correction_is_the_one_that_was_planned(
    whole: Results, correction: str, heading: str, told: str
) -> None:
    made = render(replace(whole, plan=Analysis(correction=correction)), "md")
    assert f"p is {told}" in made
    assert f"p values were {told}" in made
    heads = ("p (Holm)", "p (BH)")
    assert [head for head in heads if f"| {head} |" in made] == [heading] * bool(heading)


def test_pairs_that_were_not_compared_are_left_open(whole: Results) -> None:
    scales = tuple(replace(s, contrasts=s.contrasts[:1]) for s in whole.scales)
    few = replace(whole, scales=scales)
    made = render(few, "html")
    assert made.count('title="not compared"') == 3 * (20 - 2)
    short = next(s for s in apply_renderer(few, "report").sections if s.title == "Summary").parts[0]
    assert isinstance(short, Lines)
    told = [line for line in short.lines if "OM-LSA" in line]
    assert told
    assert all("OM-LSA" not in line.partition("not compared with ")[0] for line in told)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 5, (1, 2, 3, 4, 5)),
        (0, 100, (0, 20, 40, 60, 80, 100)),
        (-3, 3, (-3, -2, -1, 0, 1, 2, 3)),
        (0, 10, (0, 2, 4, 6, 8, 10)),
        (1, 7, (1, 2, 3, 4, 5, 6, 7)),
    ],
)
def test_the_axis_of_a_scale_is_the_whole_scale(
    low: float, high: float, ticks: tuple[float, ...]
) -> None:
    axis = fit_axis([2.1, 2.2, float("nan")], Value("x", "high", low, high, ""))
    assert (axis.low, axis.high) == (low, high)
    assert axis.ticks == pytest.approx(ticks)


def test_pages_draw_scales_from_end_to_end(whole: Results) -> None:
    means = render(whole, "html").split("<h2>Means</h2>")[1].split("</figure>")[0]
    assert re.findall(r'left:[\d.]+%">(\d+)</span>', means) == ["1", "2", "3", "4", "5"]
    means = render(mushra(), "html").split("<h2>Means</h2>")[1].split("</figure>")[0]
    ticks = re.findall(r'left:[\d.]+%">(\d+)</span>', means)
    assert (ticks[0], ticks[-1]) == ("0", "100")


def test_votes_are_bars_on_a_short_scale_and_histograms_on_a_slider(whole: Results) -> None:
    first = parts(whole, "Distribution of votes")[0]
    assert isinstance(first, VoteCounts)
    for name, counts in first.rows:
        assert [*counts] == [1, 2, 3, 4, 5]
        assert sum(counts.values()) == whole.scales[0].systems[name].votes
    (slider,) = parts(mushra(), "Distribution of votes")
    assert isinstance(slider, ValueSpread)
    votes = [rated.votes for rated in mushra().scales[0].systems.values()]
    assert [len(values) for values in slider.series.values()] == votes


def test_every_listener_has_a_panel_with_a_dot_a_system(whole: Results) -> None:
    first = parts(whole, "Listeners")[0]
    assert isinstance(first, Panels)
    assert len(first.panels) == 32
    made = render(whole, "html")
    panel = made.split('class="panel"')[1].split("</small>")[0]
    assert panel.count('class="dot ') == len(SYSTEMS)
    assert 'aria-label="1: unprocessed ' in panel


def test_listeners_without_means_are_a_table(whole: Results) -> None:
    scales = tuple(
        replace(s, listeners=tuple(replace(x, means={}) for x in s.listeners)) for s in whole.scales
    )
    made = render(replace(whole, scales=scales), "html")
    assert 'class="panels' not in made
    assert "SIG ↑: listeners" in made


def test_means_stand_beside_those_of_everyone(whole: Results) -> None:
    shown = parts(whole, "Means with and without excluded listeners")[0]
    assert isinstance(shown, Intervals)
    found = [estimate for _, row in shown.rows for estimate in row.values()]
    scale = whole.scales[0]
    wanted = [e for name, r in scale.systems.items() for e in (r.mean, scale.everyone[name])]
    assert found == wanted


def test_in_short_says_who_leads_and_what_screening_changes(whole: Results) -> None:
    made = render(whole, "text", width=300)
    best = max(whole.scales[2].systems.items(), key=lambda pair: pair[1].mean.value)[0]
    assert f"{best} is significantly better than " in made.partition(" on OVRL (")[0]
    assert "Listeners 4, 17 and 30 were excluded by screening (3 of 32)" in made
    assert "Keeping all listeners would change the ranking on SIG" in made
    kept = tuple(
        replace(s, everyone={n: r.mean for n, r in s.systems.items()}) for s in whole.scales
    )
    same = render(replace(whole, scales=kept), width=300)
    assert "Keeping all listeners would not change the ranking" in same
    assert "(0.00)" in same


def test_one_who_leads_on_every_scale_is_said_to(whole: Results) -> None:
    leads = [scale for scale in whole.scales if scale.value.name != "SIG"]
    made = render(replace(whole, scales=tuple(leads)))
    assert f"{SYSTEMS[-1]} is significantly better than all other systems" in made
    assert "on every scale" not in render(whole)


def test_infinite_abilities_are_said_to_be_so() -> None:
    made = render(preference(), width=200)
    assert "best & only won or lost every choice" in made
    row = next(x for x in made.splitlines() if x.startswith("  best & only") and "∞" in x)
    assert row.split()[-3:] == ["∞", "[∞,", "∞]"]


def test_choices_of_abx_are_right_or_wrong() -> None:
    made = render(preference(), "md")
    counts = "listeners | items | share | p"
    assert f"| first | second | correct | incorrect | {counts} | d′ |" in made
    assert f"| first | second | first chosen | second chosen | neither | {counts} |" in made


def test_matrices_hold_the_effect_sizes(whole: Results) -> None:
    first = parts(whole, "Differences between systems")[0]
    assert isinstance(first, Matrix)
    effect = first.contrasts[0].effect
    assert effect
    assert f"{effect.value:.2f} [{effect.low:.2f}, {effect.high:.2f}]" in render(whole)


@pytest.mark.parametrize("form", ["text", "md", "latex", "html"])
def test_that_nobody_was_left_out_is_said_everywhere(form: str) -> None:
    made = render(mushra(), form, table="full", width=300).replace("\\%", "%")
    assert (
        "No listener was excluded by bs1534 (hidden reference rated below 90 in more than 15 %"
        in made
    )


def test_every_listener_of_a_long_list_has_a_low_row(whole: Results) -> None:
    made = render(whole, "html")
    section = made.split("<h2>Bias and inconsistency</h2>")[1].split("</section>")[0]
    assert section.count('class="plot dense"') == 2 * 2 * len(whole.scales)  # 24 rows, the rest
    assert section.count('class="row people"') == 2 * 29 * len(whole.scales)


def test_the_methods_tell_what_was_done(whole: Results) -> None:
    told = methods_paragraph(whole)
    votes = sum(r.votes for s in whole.scales for r in s.systems.values())
    for part in (
        "32 listeners took part. 3 listeners were excluded",
        "by p808 (variance of ratings below 0.1, or Pearson correlation with the mean of the other "
        "listeners below 0.4, on any scale).",
        f"{votes:,} votes on the scales SIG (1 to 5), BAK (1 to 5) and OVRL (1 to 5) were "
        "analysed, for 5 systems with 16 items each.",
        "3 votes lack a session.",
        "12 stimuli were rated more than once",
        "the last vote was used",
        "95 % confidence intervals of means were computed by t intervals over per-listener means; "
        "they generalize to other listeners on these items.",
        "4 or more and 2 or less (SIG and BAK), Good or better and Poor or worse (OVRL) are "
        "also reported, each listener weighted equally",
        "10 pairs of systems were compared on each scale by two-sided per-listener paired t tests "
        "(alpha = 0.05); p values were Holm-corrected within each scale, across 10 pairs.",
        "95 % confidence intervals of differences are simultaneous, so they exclude 0 if",
        "Effect sizes are d_z, with 95 % confidence intervals.",
        "have a lower bound (SIG 0.10, BAK 0.10, OVRL 0.10)",
        "ICC(2,1), ICC(2,k), alpha ordinal and alpha interval",
        "Earwitness 0.1.0",
    ):
        assert part in told


def test_the_methods_tell_what_each_mean_averages(whole: Results) -> None:
    assert (
        "Each mean is the mean over listeners of each listener's mean vote."
        in methods_paragraph(whole)
    )
    plan = replace(whole.plan, interval="two_way_bootstrap")
    votes = replace(whole, scales=(), plan=plan)
    assert "Each mean" not in methods_paragraph(votes)
    assert {*INTERVAL_WORDING} == {*ANALYSIS_INTERVALS, ITEM_ADJUSTED, ITEM_T}


def test_the_methods_do_not_announce_what_is_undefined() -> None:
    told = methods_paragraph(nothing())
    for name in ("ICC", "subject model", "confidence intervals", "effect size", "t test", "shares"):
        assert name not in told
    assert "No difference between systems could be tested." in told


def test_the_floor_in_the_methods_is_that_of_the_table() -> None:
    votes = [
        {"item": f"i{n}", "system": "s", "listener": who, "scale": "MOS", "value": vote}
        for n in range(12)
        for who, vote in (("a", 1 + n % 5), ("b", 1 + n % 5), ("c", 1 + (n + n % 2) % 5))
    ]
    found = study_analyse(votes, draws=50)
    model = found.scales[0].subjects
    assert model
    assert model.floored
    floored = model.inconsistencies[model.floored[0]].value
    assert floored == model.floor
    assert f"have a lower bound (MOS {floored:.2f})" in methods_paragraph(found)
    assert f"below the floor of {floored:.2f} and set to it" in render(found, "html")


def test_the_methods_name_protocol_design_order_and_playback() -> None:
    study = udase(training=3, device=("level", "huggins"))
    procedure = study_procedure(study)
    assert procedure == Procedure(
        "The protocol was ITU-T P.835, in which each clip was rated for speech, background and "
        "overall quality in turn.",
        "Each listener heard 32 clips by all 5 systems (160 trials in 4 sessions with breaks of 5 "
        "min). Listeners were assigned in turn to 4 panels, each with its own subset of the 220 "
        "clips, matched in session, location, sex and snr. At first, listeners practised with 3 "
        "trials, which were not analysed.",
        "The order of trials was randomized for each listener so that each system followed each "
        "other one about equally often; the orders SIG–BAK–OVRL and BAK–SIG–OVRL of scales "
        "alternated between listeners and between halves of the sessions.",
        "Before the first trial, listeners set a comfortable volume and took a headphone test "
        "(Huggins pitch). In the browser, answers were accepted after the sounds had been played "
        "to the end for each question; listeners played each sound once.",
    )
    told = methods_paragraph(replace(nothing(), procedure=procedure))
    for part in (procedure.protocol, procedure.design, procedure.order, procedure.playback):
        assert part in told
    assert UNKNOWN_PROCEDURE not in told
    simulated = methods_paragraph(replace(nothing(), procedure=procedure, simulated=True))
    assert procedure.order in simulated
    assert procedure.playback not in simulated


def test_one_trial_that_is_not_analysed_is_singular() -> None:
    design = study_procedure(udase(training=1, quality=QualityControl(gold=1))).design
    assert "listeners practised with 1 trial, which was not analysed." in design
    assert "1 gold clip with known answers, which was not analysed." in design


def test_the_methods_name_who_could_not_take_part() -> None:
    checks = {"device": ("sides", "huggins"), "device_required": ("sides", "huggins")}
    study = udase(hearing=HearingTest("{digit}.wav", 24, -2), device_tries=2, **checks)
    playback = study_procedure(study).playback
    assert (
        "People who had not passed the check of channels and the Huggins pitch test after 2 tries "
        "could not take part."
    ) in playback
    assert "People with a speech reception threshold above −2 dB could not take part." in playback


def test_methods_of_ratings_without_a_study_leave_the_procedure_to_the_authors() -> None:
    assert methods_paragraph(mos()).startswith(UNKNOWN_PROCEDURE)


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_has_a_procedure(kind: str) -> None:
    block = StudyBlock(kind, ("a", "b", "c"), 4, heard=2)
    procedure = study_procedure(udase(blocks=(block,), panels=1, reference="truth"))
    assert f"The protocol was {KINDS[kind].protocol}" in procedure.protocol
    assert procedure.design.startswith("Each listener heard 4 clips by 2 of 3 systems (")
    assert "heard about equally often" in procedure.design
    assert (
        "All listeners heard the same subset of the 220 clips, chosen to match" in procedure.design
    )
    one_page = kind in ("mushra", "rubric", "reading", "plane")
    assert ("followed each other one" in procedure.order) == (not one_page)
    within = "within a trial was balanced over clips and listeners" in procedure.order
    assert within == (kind not in ("acr", "dcr", "p835", "words"))
    assert ("switched freely" in procedure.playback) == (
        KINDS[kind].switching and not KINDS[kind].captioned and not KINDS[kind].transcribed
    )
    assert ("choice of X" in procedure.order) == (kind == "abx")


def test_playlists_and_several_blocks_are_told() -> None:
    study = udase(listeners=2, panels=1, clips=3, sessions=1)
    plans = make_design(study).plans
    listed = study_procedure(replace(study, plans=plans))
    assert listed.design.startswith("Each listener heard 15 trials of a playlist that was prepared")
    assert listed.order == "The order of trials was that of the playlist."
    blocks = (*study.blocks, StudyBlock("ab", ("C0", "C1"), 2, heard=2))
    both = study_procedure(replace(study, blocks=blocks))
    assert ", followed by AB comparison, in which" in both.protocol
    assert "1 session) in block 1. Each listener heard 2 clips by all 2 systems" in both.design
    assert both.order.startswith("All listeners took the blocks in the same order. The order of")


def test_the_methods_invent_no_number(results: Results) -> None:
    """Every number of the paragraph is one of the results, or of a name."""
    known = {str(results.listeners), str(len(results.left)), str(len(results.doubled)), "95"}
    rated = [r for s in results.scales for r in s.systems.values()]
    choices = [c for s in results.scales for c in s.choices]
    known |= {str(sum(r.votes for r in rated)), *(str(r.items) for r in rated)}
    known |= {str(sum(c.wins + c.losses + c.ties for c in choices))}
    known |= {str(len({name for s in results.scales for name in s.systems}))}
    known |= {str(len({(c.a, c.b) for s in results.scales for c in s.contrasts}))}
    known |= {f"{s.subjects.floor:.2f}" for s in results.scales if s.subjects}
    known |= {f"{x:g}" for s in results.scales for x in (s.value.low, s.value.high)}
    known |= {f"{x:g}" for rule in results.rules for x in rule.limits.values()}
    known |= {"0.05", "4", "2", "90", "15"}  # alpha, shares of votes, usual limits of BS.1534
    known |= {str(sum(not isnan(c.p) for c in s.contrasts)) for s in results.scales}
    known |= {*re.findall(r"\d+", " ".join(results.notes))}
    told = methods_paragraph(results).replace(results.signature or "\0", "").replace("P.910", "")
    told = told.replace(f"Earwitness {results.version}", "").replace(",", "")
    told = re.sub(r"ICC\(\S+|p808|bs1534", "", told)
    assert {*re.findall(r"\d+(?:\.\d+)?", told)} <= known


def test_the_methods_leave_out_what_is_not_there() -> None:
    told = methods_paragraph(Results("t", "", (), Analysis(), (), 1))
    assert told == (
        f"{UNKNOWN_PROCEDURE} 1 listener took part. No screening rule was applied. All analyses "
        "were computed with Earwitness."
    )
    rules = (Rule("own_rule", {}),)
    told = methods_paragraph(Results("t", "s", (), Analysis(), (), 2, rules=rules, version="9"))
    assert told == (
        f"{UNKNOWN_PROCEDURE} 2 listeners took part. own_rule could not be applied. All analyses "
        "were computed with Earwitness 9 (s)."
    )


def test_numbers_have_as_many_places_as_their_range_deserves() -> None:
    assert number(3.14159, SCALE) == "3.14"
    assert number(71.26, replace(SCALE, low=0, high=100)) == "71.3"
    assert number(0.51264, replace(SCALE, low=0, high=1)) == "0.513"
    assert number(float("-inf"), SCALE) == "−∞"
    assert (p_value(0.00004), p_value(0.00006), p_value(float("nan"))) == ("<0.0001", "0.0001", "–")


def test_escaping_keeps_signs_of_reports() -> None:
    assert escape("± ∞ d′ − 2 × 3") == r"$\pm$ $\infty$ d$'$ $-$ 2 $\times$ 3"


def test_the_header_of_csv_is_fixed(results: Results) -> None:
    head = "scale,system,name,value,low,high,level,n,method,votes,listeners,items"
    assert head in render(results, "csv").splitlines()[:2]
