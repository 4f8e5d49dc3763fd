"""What reports of ratings say in words: never more than was tested, of whom it was."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from earwitness.analysis.plan import Analysis, Rule
from earwitness.analysis.report.export import UNKNOWN_PROCEDURE, methods_paragraph, tables_csv
from earwitness.analysis.report.wording import share_words
from earwitness.analysis.results import Effect, Results, ScaleResults, ScreeningVerdict, SystemMeans
from earwitness.core import Contrast, Estimate, Value
from earwitness.output_formats import render
from earwitness.report import apply_renderer
from earwitness.report.parts import Lines, Matrix, Panels, Table
from earwitness.studies.analyse import study_analyse
from helpers.sample_results import NAN, mos, mushra, preference, with_controls

QUALITY = Value("QUALITY", "high", 1, 5, "")
COMPARISON = Value("COMPARISON", "high", -3, 3, "")


def at(value: float, method: str = "cluster_t") -> Estimate:
    return Estimate(value, value - 0.2, value + 0.2, 0.95, 12, 0, method)


def system(value: float, votes: int = 24) -> SystemMeans:
    return SystemMeans(at(value), {"cluster_t": at(value)}, votes, 12, 2, 1.0, {3.0: votes})


def pair(a: str, b: str, better: str = "", p: float = 0.5) -> Contrast:
    p = 0.001 if better else p
    return Contrast("QUALITY", a, b, at(0.3), p, p, better, at(0.5, "hedges_g_z"))


def scale(means: dict[str, float], *contrasts: Contrast, value: Value = QUALITY) -> ScaleResults:
    return ScaleResults(value, {n: system(x) for n, x in means.items()}, contrasts, {})


def results(*scales: ScaleResults, interval: str = "cluster_t", level: float = 0.95) -> Results:
    plan = Analysis(interval=interval, level=level)
    return Results("t", "s", (), plan, scales, 12, version="9")


def short(found: Results) -> tuple[str, ...]:
    part = next(s for s in apply_renderer(found, "report").sections if s.title == "Summary").parts[
        0
    ]
    assert isinstance(part, Lines)
    assert all(line.endswith(".") for line in part.lines)
    return tuple(line.removesuffix(".") for line in part.lines)


def test_what_has_no_p_is_not_tested() -> None:
    pairs = pair("A", "B", p=NAN), pair("B", "C", p=NAN), pair("A", "C")
    found = results(scale({"A": 3, "B": 4, "C": 2}, *pairs))
    assert short(found) == (
        "No significant difference between systems was found on QUALITY (1 of 3 pairs tested, "
        "12 listeners, alpha = 0.05); B has the best QUALITY (4.00, 12 "
        "listeners); it is not testable against A and C",
    )
    page = render(found, "html")
    assert page.count('class="untested"') == 4
    assert page.count('; not testable"><span>?</span>') == 4
    rows = [x.split() for x in render(found, width=200).splitlines() if x[:5] in ("  A  ", "  B  ")]
    assert ["A", "3.00", "[2.80,", "3.20]", "?", "·"] in rows
    assert any(row[:2] == ["B", "A"] and row[-2:] == ["not", "tested"] for row in rows)
    assert "across 1 pair; 1 of 3 pairs could be tested and are included." in methods_paragraph(
        found
    )


def test_a_leader_by_mean_who_is_worse_is_said_to_be() -> None:
    pairs = pair("A", "B", "B"), pair("A", "C", "A"), pair("B", "C")
    found = results(scale({"A": 3.51, "B": 3.4, "C": 2}, *pairs))
    assert short(found)[0] == (
        "A has the best QUALITY (3.51); it is significantly better than C (A − C: 0.30 [0.10, "
        "0.50], p = 0.0010, 12 listeners) and significantly worse than B among listeners who "
        "rated both (A − B: 0.30 [0.10, 0.50], p = 0.0010)"
    )


def test_controls_do_not_compete() -> None:
    found = with_controls(mushra(), "reference", "anchor 3.5", "anchor 7")
    means = {name: rated.mean.value for name, rated in found.scales[0].systems.items()}
    line, *more = short(found)
    own = {name: x for name, x in means.items() if name not in found.controls}
    assert line.startswith(f"{max(own, key=lambda name: own[name])} ")
    assert " has the best BASIC " in line
    ends = ", ".join(f"{name} {means[name]:.1f}" for name in found.controls)
    assert line.endswith(f"; controls: {ends}")
    assert not any(name in text for name in found.controls for text in more)
    assert short(mushra())[0].startswith("reference ")


def test_one_alone_and_equal_ones_do_not_lead() -> None:
    assert short(results(scale({"A": 3.5}))) == ("A has QUALITY 3.50 [3.30, 3.70] (12 listeners)",)
    alone = with_controls(results(scale({"A": 3.5, "ref": 5})), "ref")
    assert short(alone) == ("A has QUALITY 3.50 [3.30, 3.70] (12 listeners); controls: ref 5.00",)
    assert short(results(scale({"A": 3.5, "B": 3.5}))) == (
        "All systems are equal on QUALITY (3.50, 12 listeners)",
    )
    three = results(scale({"A": 3.5, "B": 3.5, "C": 2}, pair("A", "C", "A"), pair("B", "C")))
    assert short(three)[0] == (
        "A and B have the best QUALITY (3.50); A is significantly better than C (A − C: 0.30 "
        "[0.10, 0.50], p = 0.0010, 12 listeners) and not compared with B; B is not "
        "significantly different from C (B − C: 0.30 [0.10, 0.50], p = 0.5000)"
    )


def test_the_share_of_kept_words_has_no_better_end() -> None:
    votes: list[dict[str, Any]] = [
        {"item": f"i{n}", "system": "original", "listener": who, "scale": "KEPT", "value": vote}
        for n in range(6)
        for who, vote in (("a", 0.3 + n / 50), ("b", 0.3 + n / 50), ("c", 0.5 - n / 50))
    ]
    found = study_analyse(votes, draws=50)
    assert short(found) == (
        "original has KEPT 0.383 [0.240, 0.527] (3 listeners on these 6 items)",
    )
    assert "KEPT ↑" not in render(found, "text")
    more = [vote | {"system": "other", "value": 2 * vote["value"]} for vote in votes]
    [contrast] = study_analyse([*votes, *more], draws=50).scales[0].contrasts
    assert (contrast.p_corrected < 0.05, contrast.better) == (True, "")


def test_only_scales_of_quality_have_good_and_poor() -> None:
    words = share_words(Value("READING", "high", 1, 5, ""))
    assert (words["good"], words["poor"]) == ("Good or better", "Poor or worse")
    made = render(mos(), "html")
    assert made.count(">Good or better<") == made.count(">Poor or worse<") == 1
    assert made.count(">4 or more<") == made.count(">2 or less<") == 2
    few = replace(mos(), scales=mos().scales[:1])
    assert "Good or better" not in render(few, "html")
    assert (
        "votes rated 4 or more and 2 or less are also reported, each listener weighted"
        in methods_paragraph(few)
    )


def test_a_rule_that_was_not_applied_is_said_to_be() -> None:
    found = replace(mushra(), screened=(), rules=(Rule("bs1534", {}),))
    assert "bs1534 could not be applied (see notes)" in short(found)
    assert not any("excluded" in line for line in short(found))
    assert "20 listeners took part. bs1534 could not be applied." in methods_paragraph(found)
    assert "No listener was excluded" not in methods_paragraph(found)
    assert "No listener was excluded" not in render(found)
    section = next(s for s in apply_renderer(found, "report").sections if s.title == "Screening")
    assert section.parts == (Lines("", ("bs1534 could not be applied.",)),)


def test_if_everybody_fails_that_comes_right_after_the_finding() -> None:
    screened = tuple(
        ScreeningVerdict(n, "p808", "QUALITY", "variance 0", kept=False) for n in range(12)
    )
    found = replace(
        results(scale({"A": 3, "B": 4})),
        screened=screened,
        failed=tuple(range(12)),
        rules=(Rule("p808", {}),),
        simulated=True,
    )
    assert short(found)[0].startswith("B has the best QUALITY (4.00, 12 simulated listeners)")
    assert short(found)[1] == "All 12 listeners failed p808, so all are kept"
    one = replace(found, screened=screened[:1], failed=(0,))
    assert short(one)[1] == "The only listener failed p808, and is kept"
    assert not any("excluded" in line for line in short(found))
    sections = {s.title: s for s in apply_renderer(found, "report").sections}
    told = sections["Screening"].text
    assert told.startswith("All 12 listeners failed p808, so all are kept. Rules: p808 (variance")
    for title, name in (("Screening", "failed"), ("All screening checks", "all screening checks")):
        part = sections[title].parts[0]
        assert isinstance(part, Table)
        assert part.title == name
    assert "excluded" not in render(found, "html")
    assert "All 12 listeners failed p808, so all are kept. Rules: p808 (var" in methods_paragraph(
        found
    )


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            Rule("p808", {"variance": 0.2}),
            "p808 (variance of ratings below 0.2, or Pearson correlation with the mean of the "
            "other listeners below 0.4, on any scale)",
        ),
        (
            Rule("bs1534", {"share": 0.2}),
            "bs1534 (hidden reference rated below 90 in more than 20 % of the items, or the middle "
            "anchor above 90 in more than 20 %)",
        ),
        (
            Rule("bs1116", {}),
            "bs1116 (difference grades not significantly below 0 in a one-sided t test (p above "
            "0.05))",
        ),
        (
            Rule("bt500", {}),
            "bt500 (more than 5 % of the votes more than 2 standard deviations from the mean of "
            "the panel (√20 where votes are not normally distributed), with an imbalance between "
            "above and below of less than 30 %)",
        ),
        (Rule("unheard", {}), "unheard (more than 0 % of the sounds not played to the end)"),
    ],
)
def test_rules_are_conditions_that_can_be_published(rule: Rule, told: str) -> None:
    screened = (ScreeningVerdict(1, rule.name, "", "", kept=True),)
    found = replace(results(), screened=screened, rules=(rule,))
    assert f"No listener was excluded by {told}." in methods_paragraph(found)


def test_choices_have_the_share_its_p_and_its_scope() -> None:
    found = replace(preference(), plan=Analysis())
    choice = found.scales[0].choices[0]
    assert choice.corrected == pytest.approx(3 * choice.p)
    most, first, *_ = short(found)
    assert most == "PREFERENCE: best & only has the highest Bradley–Terry ability (∞ [∞, ∞])"
    assert first == (
        "PREFERENCE: new_1 was chosen over old in 70 of 120 choices (30 neither); mean share of "
        "listeners 0.708 [0.614, 0.802], significantly different from chance (p < 0.0001, "
        "Holm-corrected; 12 listeners on these 4 items)"
    )

    def headline(**changes: Any) -> str:
        plain = replace(found, plan=Analysis(correction="none"))
        alone = replace(choice, **changes)
        return short(replace(plain, scales=(replace(found.scales[0], choices=(alone,)),)))[0]

    everywhere = replace(choice.share, method="two_way_t")
    assert headline(share=everywhere, corrected=0.01).endswith(
        "(p = 0.0100; 12 listeners and 4 items, both random)"
    )
    one = replace(choice.share, method="clopper_pearson")
    assert headline(share=one, corrected=0.01, listeners={1: (20, 70, 30, 0.01)}).endswith(
        "significantly different from chance (p = 0.0100; exact test of the choices of one "
        "listener, says nothing about others)"
    )
    assert headline(p=NAN, corrected=NAN).endswith("]; too few listeners for a test")
    few = {"p": NAN, "corrected": NAN}
    assert headline(share=everywhere, **few).endswith("; too few listeners or items for a test")
    plain = replace(found, plan=Analysis(correction="none"))
    abx = short(replace(plain, scales=preference().scales[1:]))
    assert abx[0].endswith(
        "significantly above chance (p = 0.0010, one-sided; 12 listeners on these 4 items)"
    )


@pytest.mark.parametrize(
    ("listeners", "settings", "limit"),
    [
        (4, {"test": "wilcoxon"}, "3 pairs and 4 listeners, p = 0.3750 is the smallest possible; "
         "at least 7 listeners are needed"),
        (4, {"test": "wilcoxon", "correction": "none"}, "4 listeners, p = 0.1250 is the smallest "
         "possible; at least 6 listeners are needed"),
        (8, {"interval": "two_way_bootstrap", "draws": 99}, "3 pairs and 99 draws, p = 0.0600 is "
         "the smallest possible; at least 120 draws are needed"),
        (7, {"test": "wilcoxon"}, ""),
        (8, {"interval": "two_way_bootstrap", "draws": 120}, ""),
    ],
)  # fmt: skip
def test_tests_that_cannot_be_significant_say_what_is_needed(
    listeners: int, settings: dict[str, Any], limit: str
) -> None:
    found = study_analyse(
        [
            {"item": f"i{item}", "system": name, "listener": who, "scale": "MOS", "value": value}
            for who in range(listeners)
            for item in range(8)
            for name, value in (
                ("a", 5 - (who + item) % 2),
                ("b", 3 - item % 2),
                ("c", 1 + who % 2),
            )
        ],
        **settings,
    )
    first = f"No difference between systems could be significant on MOS: with {limit}; "
    assert short(found)[0].startswith(first) == bool(limit)
    assert bool(limit) != any(contrast.better for contrast in found.scales[0].contrasts)


def test_equal_votes_have_no_interval_in_any_form() -> None:
    found = study_analyse(
        [
            {"item": f"i{item}", "system": name, "listener": who, "scale": "MOS", "value": value}
            for who in range(4)
            for item in range(3)
            for name, value in (("a", 5), ("b", 3 - (item + who) % 2))
        ]
    )
    for form, table in product(("text", "html", "md", "latex"), ("full", "paper")):
        told = render(found, form, table=table)
        assert "[5.00, 5.00]" not in told, form
        assert "5.00 (no variance, 12 votes)" in told or table == "paper", form
        assert "no variance" in told, form
    paper = render(found, "text", table="paper", interval_form="plus-minus")
    assert "no variance" in paper
    assert "± 0.00" not in paper


def test_choices_of_one_listener_are_tested_without_a_sentence_that_denies_it() -> None:
    found = choices_of(1, 1.0)
    assert short(found) == (
        "PREFERENCE: new was chosen over old in 8 of 8 choices; share 1.000 [0.631, 1.000], "
        "significantly different from chance (p = 0.0078, Holm-corrected; exact test of the "
        "choices of one listener, says nothing about others)",
    )
    assert short(choices_of(2, 1.0))[0].startswith(
        "No difference can be called significant: 2 listeners are too few"
    )


def test_equal_shares_have_a_sign_test_and_no_interval() -> None:
    told = methods_paragraph(choices_of(8, 1.0))
    assert "Where all listeners have the same share, p is that of a sign test of listeners" in told
    assert "intervals of shares are two-sided" not in told
    found = choices_of(8, 0.0)
    assert "neither was chosen every time." in render(found)
    assert "won or lost" not in render(found)


def choices_of(listeners: int, value: float) -> Results:
    """Return the results of a table of choices on eight items."""
    return study_analyse(
        [
            {
                **{"item": f"i{item}", "system": "new", "against": "old", "listener": who},
                **{"scale": "PREFERENCE", "value": value},
            }
            for who in range(listeners)
            for item in range(8)
        ]
    )


def test_methods_of_choices_tell_sides_models_and_ties() -> None:
    told = methods_paragraph(preference())
    assert "choices between two sounds were analysed (two-sided; ABX: one-sided)" in told
    assert (
        "Each listener has one value, the share of choices of a system (neither counts as half) or "
        "of correct answers; "
    ) in told
    assert "Confidence intervals of shares are two-sided." in told
    assert "sign test" not in told
    assert "d′ under the independent-observations model." in told
    assert "Bradley–Terry model with ties (Davidson)" in told
    assert "confidence intervals over listeners." in told
    first, abx = preference().scales
    assert first.abilities
    without = replace(first, abilities=replace(first.abilities, ties=None))
    told = methods_paragraph(replace(preference(), scales=(without,)))
    assert "(two-sided)" in told
    assert "Bradley–Terry model, with cluster-robust" in told
    assert first.choices[0].sensitivity is None
    keen = abx.choices[0].sensitivity
    assert keen
    by = replace(keen, method="exact|differencing")
    told = methods_paragraph(
        replace(
            preference(),
            scales=(replace(abx, choices=(replace(abx.choices[0], sensitivity=by),)),),
        )
    )
    assert "(ABX: one-sided)" in told
    assert "d′ under the differencing model." in told


def test_listeners_who_choose_have_a_table() -> None:
    listeners = mos().scales[0].listeners
    rated = replace(mos().scales[0], listeners=listeners)
    chosen = replace(preference().scales[0], listeners=listeners)
    found = replace(mos(), scales=(rated, chosen))
    drawn, table = next(
        s.parts for s in apply_renderer(found, "report").sections if s.title == "Listeners"
    )
    assert isinstance(drawn, Panels)
    assert isinstance(table, Table)
    assert table.header == ("listener", "status", "votes", "most frequent value", "longest run")
    assert len(table.rows) == len(listeners)


@pytest.mark.parametrize(
    ("interval", "test"),
    [
        ("cluster_t", "two-sided per-listener paired t tests"),
        ("cluster_bootstrap", "two-sided per-listener paired t tests"),
        ("two_way_bootstrap", "the same bootstrap, two-sided"),
        ("mixed", "t tests of the mixed model with Satterthwaite degrees of freedom"),
        ("naive_t", "paired t tests over single differences, treated as independent"),
    ],
)
def test_methods_name_the_test(interval: str, test: str) -> None:
    first = scale({"A": 3, "B": 4, "C": 2}, pair("A", "B", "B"), pair("A", "C"))
    other = scale({"A": 3, "B": 4}, pair("A", "B"), value=replace(QUALITY, name="OVRL"))
    told = methods_paragraph(results(first, other, interval=interval, level=0.9))
    assert f"{test} (alpha = 0.1); p values were" in told
    assert "2 (QUALITY), 1 (OVRL) pairs of systems were compared" in told
    assert "within each scale, across 2 (QUALITY), 1 (OVRL) pairs" in told
    assert "Hedges' g_z of per-listener differences, with 90 % confidence intervals" in told


def test_simulated_listeners_are_said_to_be_everywhere() -> None:
    found = replace(mos(), simulated=True)
    assert apply_renderer(found, "report").title == "Simulated: Results of UDASE again & <again>"
    assert "29 simulated listeners" in short(found)[0]
    assert short(found)[1] == "All listeners were simulated; these are not ratings by people"
    assert methods_paragraph(found).startswith(
        f"All listeners were simulated. {UNKNOWN_PROCEDURE} 32 listeners took part."
    )
    assert "<title>Simulated: " in render(found, "html")
    assert "imulated" not in render(mos(), "html")


def test_what_differs_from_the_plan_is_told() -> None:
    changed = ("the interval is mixed, not cluster_t", "p is not corrected")
    found = replace(mos(), changed=changed)
    for one in changed:
        assert f"Deviation from the planned analysis: {one}." in methods_paragraph(found)
        assert f"Deviation from the planned analysis: {one}" in short(found)


def test_derived_scales_add_no_votes() -> None:
    impairment = scale({"A": 3, "B": 4}, value=replace(QUALITY, name="IMPAIRMENT"))
    grade = scale({"A": -1, "B": 0}, value=Value("SDG", "high", -4, 4, ""))
    told = methods_paragraph(results(impairment, grade))
    assert "48 votes on the scale IMPAIRMENT (1 to 5) were analysed, for 2 systems" in told
    assert "SDG (−4 to 4) was derived from these votes." in told
    assert "48 votes on the scale SDG (−4 to 4)" in methods_paragraph(results(grade))


def ccr() -> Results:
    pairs = pair("C1", "C0", p=NAN), pair("C2", "C0", "C2"), pair("C2", "C1", "C2")
    means = {"C1 / C0": 0.1, "C2 / C0": 1.0, "C2 / C1": 0.9}
    return results(scale(means, *pairs, value=COMPARISON))


def test_systems_that_were_rated_against_others_are_compared() -> None:
    assert short(ccr()) == (
        "COMPARISON: C2 is significantly better than C0 and C1; not testable: C1–C0 "
        "(largest significant p = 0.0010, 12 listeners)",
    )
    (part,) = next(
        s.parts
        for s in apply_renderer(ccr(), "report").sections
        if s.title == "Differences between systems"
    )
    assert isinstance(part, Matrix)
    assert [*part.systems] == ["C0", "C1", "C2"]
    made = render(ccr(), "md")
    assert "|  | vs C0 | vs C1 | vs C2 |" in made
    assert "| C2 | better | better |  |" in made
    assert "for 3 pairs with 2 items each" in methods_paragraph(ccr())
    assert apply_renderer(ccr(), "report").series[3:] == ("C1", "C0", "C2")  # each with a colour
    assert apply_renderer(ccr(), "report").about.startswith("3 pairs, 12 listeners")


def test_grades_against_one_reference_keep_their_means() -> None:
    pairs = pair("A", "ref", "ref"), pair("B", "ref"), pair("A", "B")
    found = results(scale({"A": -1, "B": 0}, *pairs, value=Value("SDG", "high", -4, 4, "")))
    assert short(found) == (
        "SDG: ref is significantly better than A (largest significant p = 0.0010, 12 listeners)",
    )
    made = render(found, "md")
    assert "|  | estimate | vs ref | vs A | vs B |" in made
    assert "| ref | – |  | better | · |" in made
    assert '<th scope="row">ref</th><td>–</td><td class="same"' in render(found, "html")


def test_strong_effects_are_told_and_weak_ones_not() -> None:
    first = scale({"A": 3, "B": 4}, value=replace(QUALITY, name="SIG"))
    made = [
        Effect("order", "trial 40 minus trial 1 of a session", at(-0.57), 0.001),
        Effect("session", "session 3 minus session 1", at(0.4), 0.002),
        Effect("scales", "SIG asked first minus BAK asked first", at(0.3), 0.03),
        Effect("place", "position 2 minus position 1 on the page", at(-0.2), NAN),
    ]
    found = short(results(replace(first, effects=tuple(made))))
    assert found[1:] == (
        "SIG: votes fall by 0.57 from the first to the last trial of a session (Holm-corrected p "
        "0.0030)",
        "SIG: votes rise by 0.40 from session 1 to session 3 (Holm-corrected p 0.0040)",
        "SIG: votes rise by 0.30 from BAK asked first to SIG asked first (Holm-corrected p 0.0300)",
    )
    weak = replace(made[2], p=0.03)
    assert len(short(results(replace(first, effects=(weak, weak))))) == 1  # 2 · 0.03 > 0.05


def test_listeners_who_always_vote_alike_are_named() -> None:
    one = mos().scales[0].listeners[0]
    people = (
        replace(one, listener=1, usual=0.97, votes=40),
        replace(one, listener=2, usual=0.97, votes=9),
        replace(one, listener=3, usual=0.94, votes=40),
    )
    found = short(replace(results(replace(scale({"A": 3}), listeners=people))))
    told = "QUALITY: listener 1 gave the same vote in at least 95 % of trials"
    assert [line for line in found if "same vote" in line] == [told]


def test_without_a_rule_listeners_who_stand_apart_are_named() -> None:
    one = mos().scales[0].listeners[0]
    people = tuple(
        replace(one, listener=n, correlation=r, usual=0.5)
        for n, r in ((1, 0.1), (2, 0.4), (3, NAN), (8, -0.2))
    )
    found = results(replace(scale({"A": 3}), listeners=people))
    told = (
        "No screening rule was planned; listeners 1 and 8 correlate poorly with the rest of the "
        "panel (correlation below 0.4)"
    )
    assert short(found)[-1] == told
    planned = replace(found, rules=(Rule("p808", {}),))
    assert not any("correlate poorly" in line for line in short(planned))
    both = replace(
        found, scales=(*found.scales, scale({"A": 3}, value=replace(QUALITY, name="BAK")))
    )
    assert short(both)[-1].endswith("(correlation below 0.4 on QUALITY)")


def test_the_terminal_shows_effects_and_says_what_more_there_is() -> None:
    made = render(mos(), width=500)
    assert "\norder effects\n" in made
    assert made.splitlines()[-1] == (
        "also in -o report.html: means by method, distribution of votes, listeners, "
        "all screening checks, variance components, subject model, bias and inconsistency, "
        "repeated votes, items, methods"
    )
    assert "also in -o" not in render(mos(), "html")


def test_differences_are_drawn_about_a_line_at_zero() -> None:
    found = results(scale({"A": 3, "B": 4}, pair("A", "B", "B")))
    section = (
        render(found, "html")
        .split("<h2>Differences between systems</h2>")[1]
        .split("</section>")[0]
    )
    assert 'aria-label="B − A: −0.30 [−0.50, −0.10], n = 12"' in section
    assert '<i class="marked" style="left:100.0%"></i>' in section
    assert 'class="row s1 k1 d1"' in section  # that of B
    assert "All differences with p-values" in section
    many = [pair(f"{n}", f"other {n}") for n in range(61)]
    page = render(results(scale({"A": 3, "B": 4}, *many, pair("A", "B"))), "html")
    assert page.count('class="marked"') == 1  # only that from the best system is drawn


def test_long_texts_may_be_broken() -> None:
    made = render(mos(), "html")
    row = made.split("<caption>excluded</caption>")[1].split("</tr>")[1]
    assert 'class="long"' in row
    assert "th.long { white-space: normal" in made
    assert '<table class="wide sortable"><caption>agreement between listeners' in made


def test_the_digest_of_the_study_is_in_the_provenance() -> None:
    assert "study: 0a1b" in apply_renderer(replace(mos(), study="0a1b"), "report").provenance
    assert not any(line.startswith("study") for line in apply_renderer(mos(), "report").provenance)


def test_a_vote_that_was_not_given_is_an_empty_cell() -> None:
    first = mos().scales[0]
    stimulus = replace(first.stimuli[0], votes=(3.0, NAN, 5.0))
    found = replace(mos(), scales=(replace(first, stimuli=(stimulus,)),))
    (row,) = csv.DictReader(io.StringIO(tables_csv(found)["stimuli.csv"]))
    assert (row["n"], row["vote_1"], row["vote_2"], row["vote_3"]) == ("2", "3.0", "", "5.0")


def test_pairs_that_were_not_planned_are_not_hidden() -> None:
    means = {"A": 3, "B": 4.5, "C": 2, "D": 4}
    found = results(scale(means, pair("A", "B", "B"), pair("A", "C")))
    assert short(found) == (
        "B has the best QUALITY (4.50); it is significantly better than A (B − A: −0.30 [−0.50, "
        "−0.10], p = 0.0010, 12 listeners) and not compared with D and C",
        "Only 2 of 6 pairs of systems were compared on QUALITY; nothing is concluded about the "
        "others",
    )
    assert ", empty: not compared" in render(found, "md")
    twice = results(*found.scales, replace(found.scales[0], value=replace(QUALITY, name="OTHER")))
    assert sum("nothing is concluded about the others" in line for line in short(twice)) == 1
    every = [pair(a, b) for a, b in combinations(means, 2)]
    assert "not compared" not in render(results(scale(means, *every)), "md")


def test_two_listeners_tell_nothing() -> None:
    effect = Effect("order", "trial 9 minus trial 1 of a session", replace(at(0.9), n=2), 0.0001)
    own = replace(scale({"A": 3, "B": 4}, pair("A", "B")), effects=(effect,))
    found = replace(results(own), listeners=2)
    assert short(found) == (
        "No difference can be called significant: 2 listeners are too few (at least 3 are needed)",
        "B has the best QUALITY (4.00 [3.80, 4.20])",
    )
    assert "too few listeners" in render(found, "md")
    three = replace(own, effects=(replace(effect, difference=replace(at(0.9), n=3)),))
    told = short(replace(results(three), listeners=3))
    assert told[0] == (
        "No significant difference between systems was found on QUALITY (1 pair tested, "
        "3 listeners, alpha = 0.05); B has the best QUALITY (4.00)"
    )
    assert any("votes rise by 0.90" in line for line in told)


def test_intervals_beyond_the_scale_are_explained() -> None:
    wide = SystemMeans(Estimate(4.5, 2, 7, 0.95, 2, 0, "cluster_t"), {}, 4, 2, 2, 1.0, {4.0: 4})
    own = scale({"A": 3, "B": 4})
    assert "beyond the scale" not in render(results(own), "md")
    found = render(results(replace(own, systems={**own.systems, "C": wide})), "md")
    assert "Some intervals extend beyond the scale: QUALITY (1 to 5)." in found


def test_all_tables_of_pairs_are_ranked_and_effect_sizes_agree_with_p() -> None:
    rng = np.random.default_rng(3)
    votes = [
        {"item": f"i{item}", "system": name, "listener": who, "scale": "MOS", "value": value}
        for who in range(9)
        for item in range(6)
        for name, quality in zip("abcd", (1.8, 2.5, 3.2, 3.6), strict=True)
        for value in [float(np.clip(np.rint(quality + rng.normal(0, 0.7)), 1, 5))]
    ]
    found = study_analyse(votes)
    told = render(found, "md")
    for title in ("differences on these items and on other items", "equivalence (TOST)"):
        table = told.partition(f"{title}\n\n")[2].partition("\n\n")[0]
        pairs = [row.split("|")[2].strip() for row in table.splitlines()[2:]]
        ranked = [f"{better} − {worse}" for better, worse in combinations("dcba", 2)]
        assert list(dict.fromkeys(pairs)) == ranked
    effects = [(one.effect, one.p_corrected < 0.05) for one in found.scales[0].contrasts]
    assert {is_found for _, is_found in effects} == {True, False}
    for effect, is_found in effects:
        assert effect is not None
        assert (effect.low >= 0 or effect.high <= 0) == is_found
