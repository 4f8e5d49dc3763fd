"""Plots and tables of HTML reports: labels, markers, order, folding and sorting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import dist, inf, nan

import pytest

from earwitness.core import Contrast, Estimate, Value
from earwitness.report.charts import Axis, Frame, fit_axis, place_labels, spread_labels
from earwitness.report.html.elements import breakable
from earwitness.report.html.page import render_html
from earwitness.report.html.panels import LABEL_SIZES, LETTER_WIDTH, scatters_plot
from earwitness.report.html.plots import intervals_plot
from earwitness.report.parts import (
    Curve,
    Heat,
    Intervals,
    Matrix,
    Panel,
    Panels,
    Part,
    Plane,
    PlanePoint,
    PlaneSeries,
    Quote,
    Report,
    Scatter,
    ScatterPoint,
    Scatters,
    Section,
    Table,
    ValueSpread,
    VoteCounts,
)
from earwitness.report.tables import part_tables, rank_systems

DELAY = Value("delay", "low", 0, inf, "median delay", "s")
RATING = Value("OVRL", "high", 1, 5, "overall quality", "scale points")
TABLE = Table("numbers", ("name", "value"), (("a", "1"),))


def at(value: float, spread: float = 0.1) -> Estimate:
    return Estimate(value, value - spread, value + spread, 0.95, 10, 0, "bootstrap")


def draw(*parts: Part, series: tuple[str, ...] = ("a", "b")) -> str:
    return render_html(Report("Report", "about", series, (Section("Section", parts),), ()))


def compare(scores: dict[str, float], value: Value = DELAY) -> Matrix:
    contrasts = tuple(
        Contrast(value.name, a, b, at(scores[a] - scores[b]), 0.01, 0.02, "")
        for a, b in combinations(scores, 2)
    )
    return Matrix(value.name, value, {name: at(x) for name, x in scores.items()}, contrasts)


@pytest.mark.parametrize(
    ("part", "labels"),
    [
        (
            Intervals("t", DELAY, "", (("a", {"a": at(2)}),)),
            ["← delay (s), lower is better"],
        ),
        (
            Curve("t", DELAY, "collar", "s", ((1, {"a": at(1)}), (20, {"a": at(2)}))),
            ["delay (s), lower is better", "collar (s), logarithmic"],
        ),
        (
            ValueSpread("t", RATING, {"a": (1.0, 2.0)}, 2, unit="votes"),
            ["OVRL (scale points), higher is better →", "bar heights: number of votes"],
        ),
        (
            VoteCounts("t", RATING, (("a", {1.0: 3, 5.0: 1}),), {}, TABLE),
            ["share of votes (%)", "vote, OVRL (scale points):"],
        ),
        (
            Panels("t", RATING, {"a": 2.0}, (Panel("1", {"a": 3.0}, "", False),), TABLE),
            ["Vertical axis: OVRL (scale points), higher is better.", "Horizontal axis: systems"],
        ),
        (
            Scatters("t", RATING, (Scatter("a", "", (ScatterPoint("x", 1, at(2)),)),), TABLE),
            [">OVRL (scale points) ↑<", 'class="label">a<'],
        ),
        (
            Scatters("t", RATING, (Scatter("a", "", (ScatterPoint("x", 1, at(2)),)),), TABLE, "tc"),
            ['class="label">tc<'],
        ),
        (
            Plane(
                *("t", RATING, DELAY),
                (
                    PlaneSeries("m", tuple(PlanePoint(f"z = {n}", at(n), at(n)) for n in (1, 2))),
                    PlaneSeries("random", (PlanePoint("", at(1.5), at(3)),)),
                    PlaneSeries("undefined", (PlanePoint("", at(nan), at(3)),)),
                ),
                TABLE,
            ),
            [
                'class="label up">OVRL (scale points), higher is better<',
                'class="label">delay (s), lower is better<',
                "random: delay 1.50 [1.40, 1.60], OVRL 3.00 [2.90, 3.10]",
                ">z = 2</span>",
                ">undefined</span>",
            ],
        ),
        (
            Plane(
                *("t", RATING, DELAY),
                (PlaneSeries("m", (PlanePoint("", at(0.5), at(0.5), ((0.4, 0.5), (0.5, 0.6))),)),),
                TABLE,
                maximum=1.0,
            ),
            ['<polygon points="36.36,54.55 45.45,45.45"', 'class="maximum"'],
        ),
        (
            Heat("t", Value("r", "none", -1, 1, ""), ("p", "q"), {("p", "q"): at(-0.5)}, TABLE),
            ["colour: r ", "<span>−1</span>", "<span>1</span>"],
        ),
        (
            compare({"a": 1, "b": 2}),
            ["difference in delay (s)", "← first is better<", "second is better →<"],
        ),
    ],
    ids=lambda part: type(part).__name__,
)
def test_every_axis_has_a_label_with_its_unit(part: Part, labels: list[str]) -> None:
    page = draw(part).replace("<wbr/>", "")
    for label in labels:
        assert label in page


def test_numbers_for_people_have_minus_signs() -> None:
    table = Table("t", ("name", "-2", "x"), (("-3 dB", "-0.5 [-1.0, 0.0]", "2025-07-22"),))
    (shown,) = part_tables(table)
    assert shown.header == ("name", "−2", "x")
    assert shown.rows == (("-3 dB", "−0.5 [−1.0, 0.0]", "2025-07-22"),)
    page = draw(Intervals("t", RATING, "", (("a", {"a": at(-0.5)}),), marked=0.0), table)
    body = re.sub("<style>.*</style>|<script>.*</script>", "", page, flags=re.DOTALL)
    texts = re.findall(">([^<]+)<", body)
    assert [text for text in texts if re.search(r"(?<!\w)-\d", text)] == ["-3 dB"]
    assert "−0.50" in texts


def test_lines_break_only_after_separators() -> None:
    assert breakable("a_b/c@3.0-d.e") == "a_<wbr/>b/<wbr/>c@<wbr/>3.0-<wbr/>d.<wbr/>e"
    assert breakable("0.25 -1 <x>") == "0.25 -1 &lt;x&gt;"


def test_series_differ_without_colour() -> None:
    names = tuple(f"system {n}" for n in range(24))
    found = re.findall(r'class="key s\d (k\d d\d)"', draw(Quote("q"), series=names))
    assert len(found) == len(set(found)) == 24
    assert len({marks.split()[0] for marks in found[:8]}) == 8


# Machado et al. (2009): linear RGB as seen without one kind of cones
COLOUR_VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
RGB_TO_XYZ = (  # divided by the white point D65
    (0.433953, 0.376219, 0.189828),
    (0.212673, 0.715152, 0.072175),
    (0.017756, 0.109469, 0.872775),
)


def transform(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(a * x for a, x in zip(row, vector, strict=True)) for row in matrix]


def lab_colour(colour: str, vision: str) -> tuple[float, float, float]:
    """Return a colour in CIELAB, as seen with this kind of colour vision."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    seen = [min(1.0, max(0.0, c)) for c in transform(COLOUR_VISION[vision], linear)]
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in transform(RGB_TO_XYZ, seen)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("vision", COLOUR_VISION)
def test_colours_of_series_differ_for_all_kinds_of_colour_vision(vision: str) -> None:
    style = draw(Quote("q")).split("<style>")[1].split("</style>")[0]
    found = re.findall(r"--s\d: (#\w{6})", style)
    assert len(found) == 3 * 8  # light, dark, print
    for palette in (found[:8], found[8:16], found[16:]):
        colours = [lab_colour(colour, vision) for colour in palette]
        assert min(dist(a, b) for a, b in combinations(colours, 2)) > 10


def test_the_best_system_comes_first_in_the_matrix_and_in_each_difference() -> None:
    scores = {"slow": 3.0, "none": nan, "fast": 1.0, "middle": 2.0}
    part = compare(scores)
    assert rank_systems(part) == ["fast", "middle", "slow", "none"]
    page = draw(part)
    assert re.findall(r"<th scope=\"col\"><span>vs (\w+)", page) == rank_systems(part)
    pairs = re.findall(r'<span class="name"><span>(\w+) −</span> <span>(\w+)<', page)
    assert pairs[:3] == [("fast", "middle"), ("fast", "slow"), ("fast", "none")]
    assert "fast − slow: −2.00 [−2.10, −1.90]" in page


def test_controls_are_ranked_last_and_systems_without_estimates_by_how_many_they_beat() -> None:
    part = compare({"a": 1.0, "b": 2.0, "c": 3.0}, RATING)
    controlled = Matrix("t", RATING, part.systems, part.contrasts, controls=("c",))
    assert rank_systems(controlled) == ["b", "a", "c"]
    better = Contrast("OVRL", "a", "b", at(-1.0), 0.01, 0.01, "b")
    assert rank_systems(Matrix("t", RATING, {"a": None, "b": None}, (better,))) == ["b", "a"]


def test_of_many_differences_those_from_the_best_system_are_not_folded() -> None:
    names = [f"system_number_{n:02}" for n in range(10)]
    page = draw(compare({name: float(n) for n, name in enumerate(names)}, RATING))
    shown, folded = page.split("Show 36 more differences")
    name = r'<span class="name"><span>system_<wbr/>number_<wbr/>(\d\d) −'
    assert set(re.findall(name, shown)) == {"09"}
    assert len(re.findall(name, shown)) == 9
    assert len(re.findall(name, folded)) == 36
    assert 'class="matrix wide upright"' in page


def test_long_plots_and_long_sections_are_folded() -> None:
    rows = tuple((f"group {n}", {"a": at(2), "b": at(3)}) for n in range(20))
    part = Intervals("t", RATING, "", rows)
    plot = intervals_plot(part, {})
    shown, folded = plot.split("<summary>Show 16 more rows</summary>")
    assert shown.count('class="row other"') == 24
    assert folded.count('class="row other"') == 16
    page = draw(part, TABLE, Table("other", ("x",), (("y",),)))
    assert "<summary>Show 2 more: numbers and other</summary>" in page
    assert "more:" not in draw(TABLE, TABLE)


def test_tables_are_sortable_if_wanted_or_long() -> None:
    def classes(rows: int, heading: str = "name", *, sortable: bool = False) -> str:
        cells = tuple((f"{n}", "1") for n in range(rows))
        page = draw(Table("t", (heading, "value"), cells, sortable=sortable))
        return "".join(re.findall(r'<table(?: class="(.*?)")?>', page))

    assert classes(12) == ""
    assert classes(12, sortable=True) == "sortable"
    assert classes(13) == "sortable"
    assert classes(13, "") == ""  # rows of different kinds
    assert classes(31) == "tall sortable"


def place_dots(count: int, name: str) -> tuple[ScatterPoint, ...]:
    """Return dots in a dense cloud."""
    return tuple(
        ScatterPoint(f"{name}{n}", (7 * n % count) / count, at(1 + 4 * (5 * n % count) / count))
        for n in range(count)
    )


@pytest.mark.parametrize("count", [1, 6, 12])
def test_labels_of_dots_do_not_overlap(count: int) -> None:
    points = place_dots(count, "s")
    frame = Frame(fit_axis([p.x for p in points]), fit_axis([1, 5]))
    widths = {p.name: LETTER_WIDTH * len(p.name) for p in points}
    boxes = place_labels(Scatter("m", "", points), frame, widths, LABEL_SIZES)
    assert list(boxes) == [p.name for p in points]
    assert not any(a.overlaps(b) for a, b in combinations(boxes.values(), 2))


def test_dots_are_numbered_if_their_names_do_not_fit() -> None:
    points = place_dots(12, "a_system_with_a_long_name_")
    part = Scatters("t", RATING, (Scatter("m", "", points),), TABLE)
    plot = scatters_plot(part, {})
    tags = re.findall(r'class="tag \w+" style="[^"]*">([^<]+)<', plot)
    assert tags == [f"{n}" for n in range(1, 13)]
    listed = re.findall("<li>(.*?)</li>", plot.replace("<wbr/>", ""))
    assert listed == [p.name for p in points]
    few = scatters_plot(Scatters("t", RATING, (Scatter("m", "", points[:1]),), TABLE), {})
    assert "a_system_with_a_long_name_0</span>" in few
    assert "<ol" not in few


# --- Curves that are fitted to the data ----------------------------------------------------------


def fitted(names: Sequence[str], counts: Sequence[int] = range(1, 26)) -> Curve:
    rows = tuple(
        (float(n), {name: at(0.5 + i / 100, 0.01) for i, name in enumerate(names)}) for n in counts
    )
    return Curve("t", SHARE, "number of people", "", rows, fitted=True)


SHARE = Value("sumaccy", "high", -inf, 1, "accuracy")


def test_a_fitted_curve_has_linear_axes_that_end_close_to_the_data() -> None:
    page = draw(fitted("ab"))
    assert "logarithmic" not in page
    across = re.findall(r'<span style="left:([\d.]+)%">(\d+)</span>', page)
    assert across == [
        *(("0.0", "1"), ("16.667", "5"), ("37.5", "10"), ("58.333", "15"), ("79.167", "20")),
        ("100.0", "25"),
    ]
    assert '<span style="bottom:0.0%">0</span>' not in page


def test_only_points_at_ticks_are_marked_if_there_are_many() -> None:
    page = draw(fitted("a"))
    dots = re.findall(r'class="dot s0 k0 d0( bare)?"', page)
    assert len(dots) == 25
    assert dots.count("") == 6
    assert " bare" not in draw(fitted("a", (1, 2, 3)))


def test_lines_have_names_at_their_ends_unless_these_are_too_many_or_too_long() -> None:
    page = draw(fitted("ab"))
    assert 'class="curve fitted ended"' in page
    assert re.search(r'class="ends".*<span>a</span>.*<span>b</span>', page)
    names = [f"system {i}" for i in range(10)]
    assert 'class="curve fitted many ended"' in draw(fitted(names), series=tuple(names))
    for others in ([f"s{i}" for i in range(30)], ["a long name of a system " * 2, "b"]):
        page = draw(fitted(others), series=tuple(others))
        assert "ended" not in page.partition("</style>")[2]
        assert all(name.split()[0] in page for name in others)


def test_series_of_a_plot_that_are_none_of_the_report_have_colours() -> None:
    page = draw(fitted(("sumaccy", "bleu")), series=("a", "b"))
    assert re.search(r'class="key s0 k0 d0"[^>]*><i></i><span>sumaccy', page)
    assert re.search(r'class="key s1 k1 d1"[^>]*><i></i><span>bleu', page)


def test_the_human_series_looks_the_same_in_all_plots_and_takes_no_colour_of_a_system() -> None:
    report = Report("t", "", ("me", "a"), (Section("s", (fitted(("me", "a")),)),), (), human="me")
    page = render_html(report)
    assert re.search(r'class="key people k2 d0"[^>]*><i></i><span>me<', page)
    assert re.search(r'class="key s0 k0 d0"[^>]*><i></i><span>a<', page)


def test_series_may_end_earlier_and_have_undefined_points() -> None:
    rows = ((1.0, {"a": at(nan), "b": at(0.5)}), (2.0, {"b": at(0.6)}))
    page = draw(Curve("t", SHARE, "people", "", rows, fitted=True))
    assert page.count('class="dot ') == 2
    assert "<span>a</span>" not in page.partition('class="ends"')[2].partition("</div>")[0]


def test_labels_are_spread_in_their_order_within_the_axis() -> None:
    places = spread_labels([50.0, 50.0, 50.0, 99.0], 10)
    assert places == [40.0, 50.0, 60.0, 99.0]
    assert spread_labels([100.0, 100.0, 0.0], 20) == [80.0, 100.0, 0.0]
    assert spread_labels([0.0] * 3, 5) == [0.0, 5.0, 10.0]


def test_the_axis_of_a_clipped_curve_covers_the_intervals_of_the_last_point_only() -> None:
    rows = ((1.0, {"a": at(0.5, 0.5)}), (2.0, {"a": at(0.6, 0.05)}))
    part = Curve("t", SHARE, "people", "", rows, fitted=True)
    assert sorted(part.covered)[0] == 0.0
    assert min(replace(part, clipped=True).covered) == 0.5
    assert max(replace(part, clipped=True).covered) == pytest.approx(0.65)
    assert '<span style="bottom:0.0%">' not in draw(replace(part, clipped=True))


def test_compact_curves_stand_side_by_side_and_are_not_folded() -> None:
    parts = [replace(fitted("a"), compact=True, title=f"t{i}") for i in range(4)]
    page = draw(*parts)
    assert page.count('<figure class="compact">') == 4
    assert "Show 1 more" not in page


@pytest.mark.parametrize(("low", "high"), [(1, 5), (0, 100), (1, 100), (0, 97), (1.1, 4.8), (7, 7)])
def test_axes_of_scales_have_few_ticks_at_even_distances(low: float, high: float) -> None:
    axis = fit_axis([low, high], replace(RATING, low=low, high=high))
    steps = [b - a for a, b in pairwise(axis.ticks)]
    assert 2 <= len(steps) <= 10
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert axis.low <= low <= high <= axis.high
    assert (axis.ticks[0], axis.ticks[-1]) == (axis.low, axis.high)


def test_an_axis_has_round_ticks_where_the_ends_of_a_scale_are_those_of_its_votes() -> None:
    axis = fit_axis([2.4, 3.1], replace(RATING, low=2.1375, high=3.8125))
    assert axis.ticks == (2.4, 2.6, 2.8, 3.0, 3.2)


def test_axes_have_places_on_both_scales_and_can_be_widened() -> None:
    linear, logarithmic = Axis(1.0, 100.0), Axis(1.0, 100.0, is_logarithmic=True)
    assert [linear.place(x) for x in (-inf, 1, 50.5, inf)] == [0.0, 0.0, 50.0, 100.0]
    assert [logarithmic.place(x) for x in (0, 10, 1000)] == [0.0, 50.0, 100.0]
    for wide, ends in ((linear.widen(0.1), [-8.9, 109.9]), (logarithmic.widen(0.5), [0.1, 1000])):
        assert [wide.low, wide.high] == pytest.approx(ends)
    assert not linear.is_inside(1.0)
