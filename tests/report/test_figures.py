"""Figures for print: three files per figure that open, with labels as text and embedded fonts."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from itertools import combinations
from math import inf, nan
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from earwitness.core import (
    BoundaryMatches,
    BoundaryMatching,
    Contrast,
    Estimate,
    ExampleItem,
    Value,
    WordNetwork,
)
from earwitness.errors import EarwitnessWarning, MissingExtra, UsageError
from earwitness.report import apply_renderer
from earwitness.report.figures import save_figures
from earwitness.report.parts import (
    CategoryShares,
    Curve,
    Heat,
    Intervals,
    Matrix,
    NetworkPart,
    Panel,
    Panels,
    Part,
    Plane,
    PlanePoint,
    PlaneSeries,
    Report,
    Scatter,
    ScatterPoint,
    Scatters,
    Section,
    Table,
    Timeline,
    ValueSpread,
    VoteCounts,
)
from earwitness.scoring.score import score

SYSTEMS = ("_base $1", "conformer-large-v2.1-beam8", "c & <d>")
DISTANCE = Value("distance", "low", 0, inf, "distance in seconds", "s")
MOS = Value("MOS", "high", 1, 5, "mean opinion score")
CORRELATION = Value("r", "none", -1, 1, "correlation")
TABLE = Table("", (), ())


def estimate(x: float, half: float = 0.3) -> Estimate:
    return Estimate(x, x - half, x + half, 0.95, 10, 0, "made up")


UNDEFINED = Estimate(nan, nan, nan, 0.95, 0, 10, "made up")
ESTIMATES = dict(zip(SYSTEMS, (estimate(1.5), UNDEFINED, estimate(2.5, inf)), strict=True))
CONTRASTS = (
    Contrast("distance", SYSTEMS[0], SYSTEMS[1], estimate(-1.5), 0.001, 0.002, SYSTEMS[0]),
    Contrast("distance", SYSTEMS[0], SYSTEMS[2], estimate(0.1), 0.4, 0.4, ""),
    Contrast("distance", SYSTEMS[1], SYSTEMS[2], UNDEFINED, nan, nan, ""),
)
ITEM = ExampleItem(
    "talk",
    4000.0,
    "",
    {"anna": (600.0, 1800.0)},
    {SYSTEMS[0]: (601.0, 2500.0), SYSTEMS[1]: ()},
    {system: {"distance": x} for system, x in zip(SYSTEMS, (2.5, nan), strict=False)},
)
MATCHING = BoundaryMatching(
    3.0,
    {
        SYSTEMS[0]: BoundaryMatches((("anna",), ()), {"anna": (1800.0,)}),
        SYSTEMS[1]: BoundaryMatches((), {"anna": (600.0, 1800.0)}),
    },
)
NETWORK = WordNetwork(
    "news",
    ("rain", "is", "expected", "in", "Spain"),
    {"anna": (1, 3), "ben": (1, 4, 5)},
    {(0, 1): 2, (1, 3): 1, (3, 6): 1, (1, 4): 1, (4, 5): 1, (5, 6): 1, (0, 5): 0},
    {SYSTEMS[0]: (1, 3)},
)
POINTS = tuple(
    ScatterPoint(name, x, y) for x, (name, y) in enumerate([*ESTIMATES.items(), ("e", UNDEFINED)])
)
PARTS: dict[str, tuple[Part, tuple[str, ...]]] = {
    "intervals": (
        Intervals("distance ↓", DISTANCE, "", tuple((s, {s: e}) for s, e in ESTIMATES.items())),
        (*SYSTEMS, "distance (s) ↓", "undefined"),
    ),
    "curve": (
        Curve(
            "distance by collar",
            DISTANCE,
            "collar",
            "s",
            tuple((x, ESTIMATES) for x in (0.5, 1.0, 3.0, 30.0)),
        ),
        (*SYSTEMS, "collar (s)", "distance (s) ↓", "0.5", "30"),
    ),
    "distribution": (
        ValueSpread("MOS ↑", MOS, {SYSTEMS[0]: (1.0, 2.0, nan, 2.0), SYSTEMS[1]: ()}, 4),
        (*SYSTEMS[:2], "MOS ↑", "median", "undefined"),
    ),
    "votes": (
        VoteCounts(
            "MOS: votes",
            MOS,
            ((SYSTEMS[0], {1.0: 3, 2.0: 1}), (SYSTEMS[1], {1.0: 0, 2.0: 0})),
            {},
            TABLE,
        ),
        (*SYSTEMS[:2], "75", "25", "1 (worst)", "2 (best)", "votes (%)"),
    ),
    "listeners": (
        Panels(
            "MOS ↑",
            MOS,
            {SYSTEMS[0]: 2.0, SYSTEMS[1]: 3.0, SYSTEMS[2]: nan},
            (
                Panel("7", {SYSTEMS[0]: 1.5, SYSTEMS[1]: nan}, "", is_excluded=False),
                Panel("8", {}, "", is_excluded=True),
            ),
            TABLE,
        ),
        (*SYSTEMS, "7", "8 (excluded)", "all listeners", "MOS ↑"),
    ),
    "scatter": (
        Scatters(
            "MOS", MOS, (Scatter("pesq", "r -0.812", POINTS, ((0.0, 1.0), (2.0, 2.0))),), TABLE
        ),
        (SYSTEMS[0], SYSTEMS[2], "pesq", "MOS ↑", "r −0.812"),
    ),
    "plane": (
        Plane(
            *("TC and SD", MOS, DISTANCE),
            (
                PlaneSeries(
                    SYSTEMS[0],
                    (
                        PlanePoint("", estimate(1.0), estimate(2.0)),
                        PlanePoint(
                            "", estimate(2.0), estimate(1.5), ((1.8, 1.5), (2.0, 1.6), (2.1, 1.5))
                        ),
                    ),
                ),
                PlaneSeries(SYSTEMS[1], (PlanePoint("", UNDEFINED, estimate(2.0)),)),
            ),
            TABLE,
            maximum=4.0,
        ),
        (SYSTEMS[0], "MOS ↑", "distance (s) ↓"),
    ),
    "matrix": (
        Matrix("distance ↓", DISTANCE, ESTIMATES, CONTRASTS),
        (*SYSTEMS, "−1.50", "+1.50", "difference in distance (s) ↓ (row − column)"),
    ),
    "heat-map": (
        Heat(
            "correlations",
            CORRELATION,
            SYSTEMS,
            {pair: estimate(-0.5) for pair in combinations(SYSTEMS, 2)}
            | {(SYSTEMS[2], SYSTEMS[0]): UNDEFINED},
            TABLE,
        ),
        (*SYSTEMS, "−0.500", "r"),
    ),
    "timeline": (
        Timeline("talk", ITEM, (DISTANCE,), MATCHING),
        ("anna", *SYSTEMS[:2], "time (h:min:s)", "2.50", "hit within 3 s", "false alarm", "missed"),
    ),
    "shares": (
        CategoryShares(
            "kind", (("all", {"talk": 3.0, "music": 1.0}), ("1", {"talk": 0, "music": 0}))
        ),
        ("all", "talk", "music", "share (%)"),
    ),
    "network": (
        NetworkPart("news", NETWORK, 0, SYSTEMS[0]),
        ("rain", "expected", "Spain", "1 person", "2 people", f"path closest to {SYSTEMS[0]}"),
    ),
}


def report(*parts: Part) -> Report:
    return Report("Scores", "", SYSTEMS, (Section("Results", parts),), ())


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The files of one figure of every kind, by kind and ending."""
    folder = tmp_path_factory.mktemp("figures") / "all"
    files = save_figures(report(TABLE, *(part for part, _ in PARTS.values())), folder)
    assert {*files} == {*folder.iterdir()}
    return {re.sub(r"^\d\d-", "", path.name): path for path in files}


def svg_texts(path: Path) -> list[str]:
    root = ElementTree.parse(path).getroot()
    return ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")]


def find(figures: Mapping[str, Path], kind: str, ending: str) -> Path:
    [path] = [path for name, path in figures.items() if name.endswith(f"{kind}.{ending}")]
    return path


def test_files_are_numbered_and_named_after_what_they_show(figures: Mapping[str, Path]) -> None:
    names = [path.name for path in figures.values()]
    assert len(names) == 3 * (len(PARTS) + 1)  # a matrix has a second figure
    assert names[:3] == [f"01-distance-intervals.{ending}" for ending in ("svg", "pdf", "png")]
    assert names[3] == "02-distance-by-collar-curve.svg"
    assert all(re.fullmatch(r"[0-9a-z-]+\.[a-z]+", name) for name in names)


@pytest.mark.parametrize("kind", PARTS)
def test_svg_has_its_labels_as_text(figures: Mapping[str, Path], kind: str) -> None:
    texts = svg_texts(find(figures, kind, "svg"))
    assert [text for text in PARTS[kind][1] if text not in texts] == []
    assert not any("-" in text and text.strip("-.0123456789") == "" for text in texts)


@pytest.mark.parametrize("kind", PARTS)
def test_pdf_embeds_its_fonts_and_png_has_300_dots_per_inch(
    figures: Mapping[str, Path], kind: str
) -> None:
    pdf = find(figures, kind, "pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf  # TrueType
    assert b"CreationDate" not in pdf
    with Image.open(find(figures, kind, "png")) as image:
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.01)
        assert image.width in (1005, 2100)


def test_differences_are_drawn_next_to_the_matrix(figures: Mapping[str, Path]) -> None:
    texts = svg_texts(find(figures, "differences", "svg"))
    assert f"{SYSTEMS[0]} − {SYSTEMS[1]}" in texts
    assert {"significant", "not significant", "difference in distance (s) ↓"} <= {*texts}


def test_the_same_report_gives_the_same_bytes(figures: Mapping[str, Path], tmp_path: Path) -> None:
    kinds = ("intervals", "network")
    again = save_figures(report(*(PARTS[kind][0] for kind in kinds)), tmp_path / "again")
    endings = ("svg", "pdf", "png")
    first = [find(figures, kind, ending) for kind in kinds for ending in endings]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


@pytest.fixture
def only_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earwitness.report.figures.FILE_FORMATS", {"svg": {}})


@pytest.mark.usefixtures("only_svg")
def test_groups_and_many_series_have_a_legend(tmp_path: Path) -> None:
    systems = [f"a system with a long name {i}" for i in range(8)]
    row = {system: estimate(1 + i / 4) for i, system in enumerate(systems)}
    parts = (
        Intervals("MOS by kind", MOS, "kind", (("talk", row), ("", {}))),
        Curve("by raters", MOS, "raters", "", tuple((float(x), row) for x in range(1, 5))),
        Scatters(
            "MOS",
            MOS,
            tuple(
                Scatter(name, "", tuple(ScatterPoint(s, 1.0, e) for s, e in row.items()))
                for name in "ab"
            ),
            TABLE,
            "tc ↑",
        ),
    )
    for path in save_figures(report(*parts), tmp_path / "figures"):
        texts = svg_texts(path)
        assert [name for name in systems if name not in texts] == [], path.name


@pytest.mark.usefixtures("only_svg")
@pytest.mark.parametrize("count", [2, 10, 30])
def test_lines_of_fitted_curves_are_named_and_the_note_is_written(
    tmp_path: Path, count: int
) -> None:
    systems = [f"system {i}" for i in range(count)]
    row = {system: estimate(1 + i / 4) for i, system in enumerate(systems)}
    points = tuple((float(x), row) for x in range(1, 26))
    part = Curve("MOS by people", MOS, "people", "", points, fitted=True, note="Simulated data")
    [path] = save_figures(report(part), tmp_path / "figures")
    texts = svg_texts(path)
    assert [name for name in systems if name not in texts] == []
    assert {"Simulated data", "1", "5", "10", "15", "20", "25"} <= {*texts}


@pytest.mark.usefixtures("only_svg")
def test_long_names_are_broken_and_not_cut(tmp_path: Path) -> None:
    name = "a very long name of a system " * 6
    part = Intervals("MOS ↑", MOS, "", ((name, {name: estimate(3)}),))
    path = save_figures(report(part), tmp_path / "figures")[0]
    assert " ".join(name.split()) in " ".join(svg_texts(path))


@pytest.mark.usefixtures("only_svg")
def test_a_note_lists_the_letters_that_no_font_has(tmp_path: Path) -> None:
    part = Intervals("MOS ↑", MOS, "", (("\U0001f9c9", {"a": estimate(3)}),))
    with pytest.warns(EarwitnessWarning, match='no font has "\U0001f9c9" — install a font'):
        save_figures(report(part), tmp_path / "figures")


def test_a_result_draws_the_figures_that_are_saved(tmp_path: Path) -> None:
    chapters = Path(__file__).parents[2] / "examples" / "chapters"
    scores = score(chapters / "outputs.jsonl", chapters / "references.jsonl", metrics="collar")
    files = save_figures(apply_renderer(scores, "report"), tmp_path / "figures")
    assert [path.stem[3:] for path in files[::3]] == [*scores.figure_names]
    scores.plot().savefig(tmp_path / "first.png", dpi=60)
    assert len(scores.plot().axes) == len(scores.plot(scores.figure_names[0]).axes) > 0
    assert (tmp_path / "first.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match='unknown figure "x" — known: '):
        scores.plot("x")


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="already exists — choose another folder"):
        save_figures(report(), tmp_path)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("earwitness.report.figures")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"saving figures needs matplotlib.*\[figures\]"):
        __import__("earwitness.report.figures")
