"""Example items of chapters in reports: timelines and titles."""

from __future__ import annotations

import re
from typing import Any

from earwitness.output_formats import render
from earwitness.report import apply_renderer
from earwitness.report.parts import Timeline
from earwitness.scoring.compare import compare
from earwitness.scoring.score import score

REFERENCES = [
    {
        "item": "talk",
        "duration": 600,
        "references": [
            {
                "boundaries": [100, 300],
                "titles": [["Hello", 0], ["Rain in Spain", 100], ["The end", 300]],
                "annotator": "anna",
            }
        ],
    }
]
OUTPUTS = [
    {
        "item": "talk",
        "system": "llm",
        "output": {
            "boundaries": [101, 200, 304],
            "titles": [["Hello", 0], ["Rain", 101], ["<b>Snow</b>", 200]],
        },
    }
]


def timeline(**options: Any) -> Timeline:
    report = apply_renderer(score(OUTPUTS, REFERENCES, show="talk", **options), "report")
    (part,) = next(section.parts for section in report.sections if section.title == "Timelines")
    assert isinstance(part, Timeline)
    return part


def test_a_timeline_counts_as_the_number_beside_it_does() -> None:
    part = timeline(metrics=["chunks", "collar"], collar=5)
    assert part.values[0].name == "collar_f1"
    assert part.matching.collar == 5
    assert part.matching.systems["llm"].matched == (("anna",), (), ("anna",))
    part = timeline(metrics="chunks")
    assert part.values[0].name == "boundary_similarity"
    assert part.matching.collar == 3
    assert part.matching.systems["llm"].missed == {"anna": (300.0,)}
    part = timeline(collar=[3, 5], values="collar_f1@5.0")
    assert (part.values[0].name, part.matching.collar) == ("collar_f1@5.0", 5)


def test_hits_misses_and_false_alarms_have_their_own_marks() -> None:
    page = render(score(OUTPUTS, REFERENCES, show="talk"), "html")
    figure = page[page.index('<figure class="timeline"') :].split("</figure>")[0]
    legend, rows = figure.split('class="plot"')
    marks = re.findall(r'<b class="(\w+)"[^>]*title="([^"]*)"', rows)
    assert marks == [
        ("hit", "llm, hit 1:41 (101.0 s)"),
        ("false", "llm, false alarm 3:20 (200.0 s)"),
        ("false", "llm, false alarm 5:04 (304.0 s)"),
        ("miss", "llm, missed boundary 5:00 (300.0 s)"),
    ]
    assert 'aria-label="llm: hits 1, false alarms 2, missed 1; collar_f1 0.400' in rows
    words = re.sub("<[^>]*>", " ", legend)
    assert " ".join(words.split()).endswith(
        "hit false alarm missed Boundaries are matched one to one within 3 s. <div"
    )
    text = render(score(OUTPUTS, REFERENCES, show="talk"))
    block = text[text.index("talk (10:00): boundaries matched one to one within 3 s") :]
    assert [line.split() for line in block.splitlines()[2:6]] == [
        ["anna", "reference", "1:40", "5:00"],
        ["llm", "0.400", "hits", "1:41"],
        ["false", "alarms", "3:20", "5:04"],
        ["missed", "5:00"],
    ]


def test_several_annotators_may_disagree_about_a_boundary() -> None:
    second = {"boundaries": [100, 200], "annotator": "ben"}
    both = [{**REFERENCES[0], "references": [*REFERENCES[0]["references"], second]}]  # type: ignore[misc]
    page = render(score(OUTPUTS, both, show="talk"), "html")
    rows = page[page.index('<figure class="timeline"') :].split("</figure>")[0]
    assert rows.count('class="titles"') == 1  # ben gave no titles
    assert rows.count('title="llm, hit with anna and ben 1:41 (101.0 s)"') == 1
    assert rows.count('title="llm, hit for some annotators only with ben 3:20 (200.0 s)"') == 1
    assert rows.count('title="llm, missed boundary of anna 5:00 (300.0 s)"') == 1


def test_titles_stand_beside_the_titles_they_are_matched_with() -> None:
    (table,) = timeline(metrics="titles").titles
    assert table.title == "talk: titles and matched titles of systems (start, ROUGE-L F1)"
    assert table.header == ("start", "reference", "llm")
    assert table.rows == (
        ("0:00", "Hello", "Hello (0:00, 1.000)"),
        ("1:40", "Rain in Spain", "Rain (1:41, 0.500)"),
        ("3:20", "–", "<b>Snow</b> (3:20)"),
        ("5:00", "The end", "–"),
    )
    (table,) = timeline(metrics="collar").titles  # matched, but not scored
    assert table.rows[1] == ("1:40", "Rain in Spain", "Rain (1:41)")
    page = render(score(OUTPUTS, REFERENCES, metrics="titles", show="talk"), "html")
    assert '<td dir="auto">&lt;b&gt;Snow&lt;/b&gt; (3:20)</td>' in page
    assert "| 1:40 | Rain in Spain | Rain (1:41, 0.500) |" in render(
        score(OUTPUTS, REFERENCES, metrics="titles", show="talk"), "md"
    )


def test_items_without_titles_have_no_table_of_titles() -> None:
    bare = [{**OUTPUTS[0], "output": {"boundaries": [1]}}]
    references = [{**REFERENCES[0], "references": [{"boundaries": [100]}]}]
    report = apply_renderer(score(bare, references, show="talk"), "report")
    (part,) = next(section.parts for section in report.sections if section.title == "Timelines")
    assert isinstance(part, Timeline)
    assert part.titles == ()


def test_the_page_of_a_comparison_shows_the_compared_collar() -> None:
    outputs = [*OUTPUTS, {**OUTPUTS[0], "system": "other"}]
    found = compare(
        outputs, REFERENCES, show="talk", collar=[1, 3], values="collar_f1@1.0", permutations=20
    )
    assert "matched one to one within 1 s." in render(found, "html")
