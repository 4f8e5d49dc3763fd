"""Reports in media that do not draw."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from earwitness.errors import UsageError
from earwitness.output_formats import RENDERERS, Renderer, render
from earwitness.plugins import RESULT_GROUP
from earwitness.report import apply_renderer
from earwitness.report.columns import TableRows
from earwitness.report.latex import escape
from earwitness.report.parts import Lines, Report, Section, Table
from earwitness.report.result import Result
from earwitness.report.text import render_text as drawn
from earwitness.scoring.compare import compare
from earwitness.scoring.score import score
from helpers.samples import corpus

ODD = r"a_b & 50% #1 {x} \y ~ ^ < > | $ ↑"


def files(*systems: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    samples = list(enumerate(corpus(6, 900.0, 2, 9)))
    references = [
        {"item": i, "duration": 900, "references": [{"boundaries": s["reference"]}]}
        for i, s in samples
    ]
    outputs = [
        {"item": i, "system": system, "output": {"boundaries": s["hypothesis"][shift:]}}
        for i, s in samples
        for shift, system in enumerate(systems)
    ]
    return outputs, references


def test_latex_tables_are_whole_and_escaped() -> None:
    compared = compare(*files(ODD, "plain"), permutations=50, metrics="collar")
    made = render(compared, "latex", table="full")
    assert made.count(r"\begin{table}") == made.count(r"\end{table}") > 1
    for body in re.findall(r"\\midrule\n(.*?)\n\\bottomrule", made, re.S):
        for line in body.splitlines():
            assert line.endswith(r" \\")
    for columns, head in re.findall(
        r"tabular\}\{@\{\}(l r*|l[r]*)@\{\}\}\n\\toprule\n(.*) \\\\", made
    ):
        assert len(re.findall(r"(?<!\\)&", head)) + 1 == len(columns)
    assert escape(ODD) in made


def test_latex_leaves_no_special_character_alone() -> None:
    assert re.sub(r"\\[A-Za-z]+(\{\})?|\\[#$%&_{}]|\$\\uparrow\$", "", escape(ODD)).split() == [
        *["ab", "50", "1", "x", "y"]
    ]


def test_curves_are_tables_where_nothing_can_be_drawn() -> None:
    scores = score(*files("one", "two"), metrics="collar", collar=[1, 3, 5])
    (sweep,) = scores.sweeps
    assert [x for x, _ in sweep.points] == [1, 3, 5]
    made = render(scores, width=120)
    block = made[made.index("collar_f1 ↑ by collar") :].splitlines()
    assert block[1].split() == ["collar", "(s)", "one", "two"]
    f1 = scores.systems["one"]["collar_f1@3.0"]
    assert block[3].split()[:2] == ["3", f"{f1.value:.3f}"]


def test_a_curve_for_every_other_choice() -> None:
    scores = score(
        *files("one"), metrics="collar", collar=[1, 3], boundary_matching=["greedy", "optimal"]
    )
    assert [(s.value, s.parameter, len(s.points)) for s in scores.sweeps] == [
        ("collar_f1 (boundary_matching=greedy)", "collar", 2),
        ("collar_f1 (boundary_matching=optimal)", "collar", 2),
    ]


def test_of_a_family_that_occurs_often_the_usual_one_leads() -> None:
    scores = score(*files("one"), collar=[1, 3, 5], chunk_size=[2, 4])
    assert scores.headlines == ("boundary_similarity@2.0", "collar_f1@3.0")


def test_a_table_too_wide_is_split_and_keeps_its_names() -> None:
    scores = score(*files(*(f"a rather long name {i}" for i in range(5))), metrics="collar")
    made = drawn(apply_renderer(scores, "report"), 80).split("confidence intervals:")[0]
    assert max(map(len, made.splitlines())) <= 80
    assert made.count("collar_precision ↑") == 3


def test_a_table_of_chosen_columns() -> None:
    table = Table("t", ("a", "b", "c"), (("1", "2", "3"),))
    assert table.columns([0, 2]) == Table("t", ("a", "c"), (("1", "3"),))


def test_latex_beginnings_and_ligatures_are_kept() -> None:
    assert escape("a--b ,, ?`") == "a-{}-b ,{}, ?{}`"
    compared = compare(*files("*star", "[x]"), permutations=50, metrics="collar")
    for table in ("paper", "full"):
        made = render(compared, "latex", table=table)
        assert "\n{}*star &" in made
        assert "\n{}[x] &" in made


def test_markdown_escapes_entities() -> None:
    made = render(score(*files("a&amp;b"), metrics="collar"), "md")
    assert "a&amp;amp;b" in made


def test_items_to_show_are_lists_where_nothing_can_be_drawn() -> None:
    scores = score(*files("one"), metrics="collar", show="3")
    block = render(scores).split("3 (15:00)")[1].splitlines()
    assert block[2].split()[0] == "reference"
    assert len(block[2].split()) - 3 == len(scores.shown[0].references["reference 1"])


# --- Renderers by type of result -----------------------------------------------------------------


class Tally(Result):
    """Result of a plug-in."""


class LongTally(Tally):
    """Result that is rendered like a tally."""


def tally_report(_: Tally) -> Report:
    return Report("Tally", "", (), (Section("Summary", (Lines("", ("3 birds.",)),)),), ())


def tally_tables(_: Tally) -> dict[str, TableRows]:
    birds = TableRows(("bird", "count"), [["owl", 3]])
    return {"birds": birds, "days": TableRows(("day",), [])}


TALLY = Renderer(f"{__name__}:tally_report", f"{__name__}:tally_tables")


@pytest.mark.parametrize("name", RENDERERS.built_in)
def test_a_renderer_has_functions_and_a_type_of_result(name: str) -> None:
    assert issubclass(resolve_name(name), Result)
    assert all(callable(resolve_name(place)) for place in RENDERERS[name])


def test_every_type_of_result_has_a_renderer(root: Path) -> None:
    source = root / "src" / "earwitness"
    kinds = {
        ".".join(("earwitness", *path.relative_to(source).with_suffix("").parts, kind))
        for path in source.rglob("*.py")
        for kind in re.findall(r"^class (\w+)\(.*\bResult\):", path.read_text("utf-8"), re.M)
    }
    assert kinds == {*RENDERERS.built_in}


def test_results_of_plug_ins_are_rendered_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(f"{__name__}.Tally", f"{__name__}:TALLY", RESULT_GROUP)
    monkeypatch.setattr(RENDERERS, "plugins", {point.name: point})
    for tally in (Tally(), LongTally()):
        assert "3 birds." in render(tally)
        assert "3 birds." in render(tally, "html")
        assert render(tally, "csv") == "bird,count\nowl,3\n"
        assert '"days": []' in render(tally, "json")
        assert tally.table_names == ("birds", "days")
        assert tally.to_records() == [{"bird": "owl", "count": 3}]
        assert repr(tally).startswith(f"{type(tally).__name__}:\n")
        with pytest.raises(UsageError, match="Tally has no table for a paper"):
            render(tally, "latex")


def test_a_result_without_a_renderer_says_so() -> None:
    with pytest.raises(NotImplementedError, match="Tally has no renderer — add an entry point"):
        render(Tally())
