"""Reports of scores and comparisons: first sentences, items, worst cases and titles."""

from __future__ import annotations

import json
from typing import Any

import pytest

from earwitness.output_formats import render
from earwitness.report import apply_renderer
from earwitness.report.parts import Section, Table
from earwitness.scoring import gallery
from earwitness.scoring.collectors import MAX_WORST_ITEMS
from earwitness.scoring.compare import compare
from earwitness.scoring.results import Scores
from earwitness.scoring.score import people, score

NAMES = [f"talk {n}" for n in range(12)]
REFERENCES = [
    {"item": name, "duration": 600, "references": [{"boundaries": [60, 200, 400]}]}
    for name in NAMES
]


def outputs(**missed: int) -> list[dict[str, Any]]:
    """Return systems that miss none, one or two boundaries, and insert one in talk 3."""
    return [
        {
            "item": name,
            "system": system,
            "output": {"boundaries": [60, 200, 400][count:] + [500] * (n == 3)},
        }
        for n, name in enumerate(NAMES)
        for system, count in missed.items()
    ]


def section(result: Any, title: str) -> Section:
    found: Section = next(
        one for one in apply_renderer(result, "report").sections if one.title == title
    )
    return found


def table(result: Any, title: str) -> Table:
    part = section(result, title).parts[0]
    assert isinstance(part, Table)
    return part


# --- First sentences -----------------------------------------------------------------------------


def test_a_comparison_starts_with_its_finding() -> None:
    found = compare(outputs(good=0, poor=2), REFERENCES, metrics="collar", permutations=200)
    finding = "good is significantly better than poor by collar_f1 (0.988; good − poor: 0."
    for form in ("text", "md", "html", "latex"):
        made = render(found, form, table="full", width=400).replace("\\", "").replace("$-$", "−")
        assert finding in made, form
        assert "p = 0.00" in made, form
        assert "12 items)." in made, form
        if form == "text":
            assert made.startswith(finding)
        else:
            assert made.index(finding) < made.index("poor", made.index(finding) + 60), form


def test_a_comparison_of_equals_says_so_first() -> None:
    noise = [
        {"item": name, "system": system, "output": {"boundaries": [60] * ((n + shift) % 2)}}
        for n, name in enumerate(NAMES)
        for shift, system in enumerate(("odd", "even"))
    ]
    found = compare(noise, REFERENCES, permutations=100)
    assert render(found, width=400).splitlines()[:2] == [
        "No significant difference between systems was found by boundary_similarity or collar_f1 "
        "(1 pair tested, 12 items, alpha = 0.05).",
        "",
    ]


def test_scores_start_with_the_best_value_and_claim_no_significance() -> None:
    scores = score(outputs(good=0, poor=2), REFERENCES, metrics="collar")
    first = render(scores, width=400).splitlines()[0]
    f1 = scores.systems["good"]["collar_f1"]
    assert first == (
        f"good has the best collar_f1 ({f1.value:.3f} [{f1.low:.3f}, {f1.high:.3f}], 12 outputs); "
        "differences are not tested (use earwitness compare)."
    )
    alone = score(outputs(good=0), REFERENCES, metrics="collar")
    assert render(alone, width=400).startswith(f"good has collar_f1 {f1.value:.3f} [")
    assert "significant" not in render(alone, "md") + render(scores, "md")
    twice = score(outputs(a=1, b=1, c=2), REFERENCES, metrics="collar")
    assert render(twice, width=400).startswith("a and b have the best collar_f1 (")
    same = score(outputs(a=1, b=1), REFERENCES, metrics="collar")
    assert render(same, width=400).startswith("All systems have the same collar_f1 (")


def test_scores_of_few_items_say_why_they_have_no_intervals() -> None:
    lines = []
    for count in (2, len(NAMES)):
        few = [one for one in outputs(a=0) if one["item"] in NAMES[:count]]
        scores = score(few, REFERENCES[:count], metrics=["collar"])
        lines.append(apply_renderer(scores, "report").provenance[0])
    reason = "95 %, only with at least 5 items;"
    assert [reason in line for line in lines] == [True, False]


def test_people_start_with_their_agreement() -> None:
    both = [
        {**one, "references": [{"boundaries": [60]}, {"boundaries": [61]}]} for one in REFERENCES
    ]
    made = render(people(both, metrics="collar"))
    assert made.startswith("Annotators reach collar_f1 1.000 (no variance, n = 12) against")


# --- All items -----------------------------------------------------------------------------------


def test_every_item_has_a_row_in_natural_order() -> None:
    lines = [line for line in outputs(good=0, poor=1) if line["item"] != "talk 2"]
    lines += [{"item": "talk 2", "system": "good", "output": {"boundaries": []}}]
    scores = score(lines, REFERENCES, metrics="collar", on_error="skip")
    every = table(scores, "All items")
    assert every.sortable
    assert every.header == ("item", "good", "poor", "n")
    assert [row[0] for row in every.rows] == NAMES
    assert every.rows[2] == ("talk 2", "0.000", "–", "1")
    assert every.rows[3] == ("talk 3", "0.857", "0.667", "2")
    assert section(scores, "All items").folded
    assert "by item" not in render(scores, "md")  # only pages can fold it


def test_items_with_numbers_of_any_length_are_in_natural_order() -> None:
    names = ["1", "02", "a", "talk 9", "talk 09b", "talk 10", f"talk {'9' * 5000}"]
    rows = [{"id": name, "hypothesis": [9.0], "reference": [9.5]} for name in reversed(names)]
    scores = score([{**row, "duration": 60.0} for row in rows], metrics="collar")
    assert [row[0] for row in table(scores, "All items").rows] == names


def test_many_items_are_sampled_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "MAX_PLOTTED_CASES", 5)
    monkeypatch.setattr("earwitness.scoring.report.MAX_PLOTTED_CASES", 5)
    scores = score(outputs(good=0, poor=1), REFERENCES, metrics="collar")
    rows = table(scores, "All items").rows
    assert len(rows) == 5
    assert {row[3] for row in rows} == {"2"}  # the same items of both systems
    assert "a fixed sample of 5 items" in section(scores, "All items").text


# --- Worst outputs -------------------------------------------------------------------------------


def test_the_worst_cases_of_every_system_are_listed() -> None:
    scores = score(outputs(good=0, poor=2), REFERENCES, metrics="collar", worst=2)
    assert [(one.key.system, one.key.item) for one in scores.worst] == [
        *(("good", "talk 3"), ("good", "talk 0")),
        *(("poor", "talk 3"), ("poor", "talk 0")),
    ]
    first, second = section(scores, "Worst outputs").parts
    assert isinstance(first, Table)
    assert isinstance(second, Table)
    assert (first.title, second.title) == ("good: worst by collar_f1", "poor: worst by collar_f1")
    assert [row[0] for row in second.rows] == ["talk 3", "talk 0"]
    record = json.loads(render(scores, "json"))
    assert [one["system"] for one in record["worst"]] == ["good", "good", "poor", "poor"]
    assert [example.item for example in scores.shown] == ["talk 3", "talk 0"]


def test_not_all_worst_items_of_many_systems_are_drawn() -> None:
    many = [{"item": f"{n}", "system": f"s{n}", "output": {"boundaries": []}} for n in range(30)]
    references = [{**REFERENCES[0], "item": f"{n}"} for n in range(30)]
    scores = score(many, references, metrics="collar", worst=1, on_error="skip")
    assert (len(scores.worst), len(scores.shown)) == (30, MAX_WORST_ITEMS)
    assert any("20 of the 30 items with the worst outputs" in note for note in scores.notes)


# --- Titles --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "shown"),
    [("text", "My_talks\n\n"), ("md", "# My\\_talks\n"), ("html", "<h1>My_<wbr/>talks</h1>")],
)
def test_reports_have_the_title_that_is_set(form: str, shown: str) -> None:
    scores: Scores = score(outputs(good=0), REFERENCES, metrics="collar")
    assert shown in render(scores, form, title="My_talks")
    assert shown not in render(scores, form)
    assert render(scores, "json", title="My_talks") == render(scores, "json")
