"""The table for a paper: what is best and what is worse, its caption, and every format of it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from math import inf, nan
from typing import Any, get_args

import pytest

from earwitness.analysis.power import PowerPlan, PowerRow
from earwitness.analysis.results import Results
from earwitness.core import Contrast, Estimate, Value
from earwitness.errors import UsageError
from earwitness.metaeval.join import MetricColumn
from earwitness.metaeval.pipeline import analyse_agreement
from earwitness.metaeval.results import Concordance, Figure
from earwitness.metaeval.settings import AgreementSettings
from earwitness.output_formats import FORMS, INTERVAL_FORMS, render
from earwitness.report import apply_renderer
from earwitness.report.latex import escape
from earwitness.report.paper import (
    IntervalForm,
    PaperColumn,
    PaperTable,
    best_first,
    caption_sentences,
    paper_rows,
    render_paper_table,
)
from earwitness.report.parts import Matrix
from earwitness.scoring.compare import compare
from earwitness.scoring.score import people, score
from helpers import sample_results
from helpers.csv_results import read_results
from helpers.sample_results import mushra, nothing, preference, with_controls
from helpers.simulated_metrics import both

ODD = r"a_b & 50% #1 {x} \y ~ ^ $"
F1 = Value("f1", "high", 0, 1, "harmonic mean")
ERROR = Value("error_s", "low", 0, inf, "error in seconds")
PAPER_FORMS = [form for form in FORMS if form != "json"]


@cache
def mos() -> Results:
    return sample_results.mos(items=8)


def around(x: float, below: float = 0.01, above: float = 0.01) -> Estimate:
    return Estimate(x, x - below, x + above, 0.95, 12, 0, "bootstrap")


def contrast(value: Value, a: str, b: str, p: float, better: str = "") -> Contrast:
    return Contrast(value.name, a, b, around(0.1), p, p, better)


def columns() -> list[Matrix]:
    """Two values of three systems and a baseline: f1 is decided, one error is not tested."""
    f1 = {"slow": around(0.5), ODD: around(0.75), "(lead)": around(0.8), "fast": around(-0.25)}
    error = {"slow": around(1.5), ODD: around(4), "(lead)": around(9), "fast": around(2)}
    return [
        Matrix(
            "",
            F1,
            f1,
            (
                contrast(F1, "slow", ODD, 0.01, ODD),
                contrast(F1, ODD, "fast", 0.2),
                contrast(F1, ODD, "(lead)", 0.01, "(lead)"),
            ),
            controls=("(lead)",),
        ),
        Matrix(
            "",
            ERROR,
            error,
            (
                contrast(ERROR, "slow", ODD, 0.01, "slow"),
                contrast(ERROR, "slow", "fast", nan),
                contrast(ERROR, "(lead)", "slow", 0.01, "slow"),
            ),
            controls=("(lead)",),
        ),
    ]


def example(**changes: Any) -> PaperTable:
    matrices = columns()
    table = PaperTable(
        "example",
        "Scores of 3 systems.",
        "system",
        (PaperColumn(F1), PaperColumn(ERROR, "s")),
        paper_rows(best_first(list(matrices[0].systems), matrices), matrices),
        "95 % confidence intervals (bootstrap)",
        "permutation test, p < 0.05",
        signature="earwitness=1|f1",
    )
    return replace(table, **changes)


def caption(table: PaperTable, form: IntervalForm = "brackets") -> str:
    return " ".join(caption_sentences(table, form))


# --- Best values and marks -----------------------------------------------------------------------


def test_rows_are_sorted_by_the_first_value_with_baselines_last() -> None:
    rows = example().rows
    assert [(row.name, row.apart) for row in rows] == [
        (ODD, False),
        ("slow", False),
        ("fast", False),
        ("(lead)", True),
    ]
    low_first = columns()[::-1]
    assert best_first(list(low_first[0].systems), low_first) == ["slow", "fast", ODD, "(lead)"]


def test_the_best_of_a_column_respects_its_direction_and_baselines_do_not_compete() -> None:
    best = [[cell.is_best for cell in row.cells] for row in example().rows]
    assert best == [[True, False], [False, True], [False, False], [False, False]]


def test_only_significantly_worse_systems_are_marked() -> None:
    marks = {row.name: [cell.mark for cell in row.cells] for row in example().rows}
    assert marks == {ODD: ["", "†"], "slow": ["†", ""], "fast": ["", ""], "(lead)": ["", "†"]}


def test_of_equal_best_systems_each_must_be_better() -> None:
    f1 = {"a": around(0.5), "b": around(0.5), "c": around(0.4)}
    tests = (contrast(F1, "a", "c", 0.01, "a"), contrast(F1, "b", "c", 0.2))
    for p, better, mark in ((0.2, "", ""), (0.01, "b", "†")):
        matrix = Matrix("", F1, f1, (tests[0], replace(tests[1], p_corrected=p, better=better)))
        *_, last = paper_rows(list(f1), [matrix])
        assert last.cells[0].mark == mark


def test_a_value_without_direction_has_no_best() -> None:
    plain = replace(columns()[0], value=replace(F1, best="none"))
    assert not any(row.cells[0].is_best for row in paper_rows(["slow", "fast"], [plain]))


# --- Caption -------------------------------------------------------------------------------------


def test_the_caption_tells_what_is_shown_and_what_was_not_tested() -> None:
    assert caption(example()) == (
        "Scores of 3 systems. ↑ higher is better, ↓ lower is better. Brackets: 95 % confidence "
        "intervals (bootstrap). Bold: best system of each column, rows below the rule excluded. "
        "†: significantly worse than the best system of the column (permutation test, p < 0.05). "
        "Not tested against the best: fast in error_s (s)."
    )


def test_without_tests_nothing_is_claimed_about_significance() -> None:
    matrices = [replace(matrix, contrasts=()) for matrix in columns()]
    told = caption(example(rows=paper_rows(["slow", "fast"], matrices), test=""))
    assert "Bold: best system of each column." in told
    assert "signific" not in told
    assert "tested" not in told


def test_the_caption_tells_if_no_system_is_worse_and_which_columns_have_no_test() -> None:
    first = columns()[0]
    told = replace(first, contrasts=(contrast(F1, ODD, "fast", 0.2),))
    errors = {name: columns()[1].systems[name] for name in (ODD, "fast")}
    matrices = [told, replace(columns()[1], systems=errors, contrasts=())]
    table = example(rows=paper_rows([ODD, "fast"], matrices))
    assert "No system is significantly worse than the best system of its column" in caption(table)
    assert "Differences in error_s (s) were not tested." in caption(table)


def test_gaps_are_explained() -> None:
    first = columns()[0]
    systems = {"a": Estimate(0.5, nan, nan, 0.95, 2, 0, ""), "b": None, "c": around(0.4)}
    table = example(
        rows=paper_rows(list(systems), [replace(first, systems=systems, contrasts=())]),
        columns=(PaperColumn(F1),),
    )
    assert "Numbers without an interval are based on too few data for one." in caption(table)
    assert "–: no value." in caption(table)
    assert "no value" not in caption(example())


# --- Intervals -----------------------------------------------------------------------------------


def test_plus_minus_is_half_the_width_where_intervals_are_symmetric() -> None:
    text = render_paper_table(example(), "md", "plus-minus")
    assert "0.500† ± 0.010" in text
    assert "±: half the width of 95 % confidence intervals (bootstrap)." in text
    assert "Brackets" not in text


def test_columns_with_skewed_intervals_keep_their_brackets_and_the_caption_says_so() -> None:
    matrices = columns()
    skewed = {**matrices[0].systems, "slow": around(0.5, 0.01, 0.0122)}
    matrices[0] = replace(matrices[0], systems=skewed)
    table = example(rows=paper_rows(list(skewed), matrices))
    text = render_paper_table(table, "text", "plus-minus")
    assert re.search(r"0\.500† +\[0\.490, 0\.512\] +1\.50\* ± 0\.01", text)
    assert "Brackets: 95 % confidence intervals (bootstrap) of f1, which are not symmetric." in (
        caption(table, "plus-minus")
    )
    nearly = {**skewed, "slow": around(0.5, 0.01, 0.0108)}  # not to the three digits shown
    matrices[0] = replace(matrices[0], systems=nearly)
    assert "±" in caption(example(rows=paper_rows(list(nearly), matrices)), "plus-minus")
    assert "Brackets" not in caption(example(rows=paper_rows(["slow"], matrices)), "plus-minus")


@pytest.mark.parametrize("form", PAPER_FORMS)
def test_intervals_can_be_left_out(form: str) -> None:
    made = render_paper_table(example(), form, "none")
    assert "0.49" not in made
    assert "confidence" not in made
    assert "_low" not in made


# --- LaTeX ---------------------------------------------------------------------------------------


def latex_rows(made: str) -> tuple[int, list[int]]:
    """The number of columns, and that of the cells of every row."""
    [spec] = re.findall(r"\\begin\{tabular\}\{(.*)\}\n", made)
    body = made.partition("\\toprule\n")[2].partition("\n\\bottomrule")[0]
    counts = []
    for line in body.splitlines():
        if line != "\\midrule":
            assert line.removesuffix("[2pt]").endswith(" \\\\")
            spans = [int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d)\}", line)]
            counts.append(len(re.findall(r"(?<!\\)&", line)) + 1 + sum(spans))
    return len(re.sub(r"@\{[^}]*\}", "", spec)), counts


def balanced(made: str) -> bool:
    """Whether environments and braces are closed."""
    opened = re.findall(r"\\begin\{(\w+)\}", made)
    braces = re.sub(r"\\[\\{}]", "", made)
    return (
        opened == ["table", "tabular"]
        and re.findall(r"\\end\{(\w+)\}", made) == ["tabular", "table"]
        and braces.count("{") == braces.count("}")
        and made.count("$") % 2 == made.count("\\$") % 2
    )


@pytest.mark.parametrize("form", INTERVAL_FORMS)
def test_latex_is_one_whole_table(form: IntervalForm) -> None:
    made = render_paper_table(example(), "latex", form)
    width, counts = latex_rows(made)
    assert counts == [width] * 5
    assert width == (3 if form == "none" else 5)
    assert balanced(made)
    assert made.startswith("% requires \\usepackage{booktabs}\n% signature: earwitness=1|f1\n")
    assert "\\label{tab:example}" in made
    assert made.count("\\midrule") == 2  # below the head, and above the baseline
    assert not re.search(r"[^\x00-\x7f]", made)


def test_latex_escapes_names_and_typesets_numbers() -> None:
    made = render_paper_table(example(), "latex")
    assert f"\n{escape(ODD)} & \\textbf{{0.750}}" in made
    assert "$-$0.250\\phantom{$^{\\dagger}$} & [$-$0.260, $-$0.240]" in made
    assert "0.500$^{\\dagger}$ & [0.490, 0.510] & \\textbf{1.50}" in made
    assert "\\multicolumn{2}{c}{f1 $\\uparrow$}" in made
    assert "\\multicolumn{2}{c@{}}{error\\_s $\\downarrow$ (s)} \\\\" in made
    assert "\\caption[{Scores of 3 systems}]{Scores of 3 systems. $\\uparrow$ higher" in made
    assert "95 \\% confidence" in made


def test_a_wide_latex_table_has_its_intervals_below_the_numbers() -> None:
    matrices = [
        replace(m, value=replace(m.value, name=f"{n}")) for n, m in enumerate(columns() * 2)
    ]
    table = example(
        columns=tuple(PaperColumn(matrix.value, "s") for matrix in matrices),
        rows=paper_rows(list(matrices[0].systems), matrices),
    )
    made = render_paper_table(table, "latex")
    assert "system & 0 $\\uparrow$ & 1 $\\downarrow$ &" in made
    assert "\n & (s) & (s) & (s) & (s) \\\\\n\\midrule" in made
    assert "\n & \\scriptsize [0.490, 0.510] & \\scriptsize [1.49, 1.51] &" in made
    width, counts = latex_rows(made)
    assert (width, counts) == (5, [5] * 10)
    assert balanced(made)


# --- Other formats -------------------------------------------------------------------------------


class Cells(HTMLParser):
    """Texts of the rows of the only table, with what is bold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.bold: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and "table" in self.tags:
            self.rows[-1][-1] += data
        if self.tags[-1:] == ["b"]:
            self.bold.append(data)
            self.tags.append("")


def test_html_is_a_page_with_the_same_table() -> None:
    page = render_paper_table(example(), "html")
    found = Cells(page)
    assert found.tags.count("table") == 1
    assert found.tags.count("tbody") == 2
    assert found.rows[0] == ["system", "f1 ↑", "error_s ↓ (s)"]
    assert found.rows[1] == [ODD, "0.750 [0.740, 0.760]", "4.00† [3.99, 4.01]"]
    assert found.bold == ["0.750", "1.50"]
    assert "<script" not in page
    assert "†: significantly worse than the best system of the column" in page


def test_markdown_has_bold_numbers_and_escaped_names() -> None:
    lines = render_paper_table(example(), "md").splitlines()
    assert lines[2:5] == [
        "| system | f1 ↑ | error\\_s ↓ (s) |",
        "| :-- | --: | --: |",
        "| a\\_b &amp; 50% \\#1 {x} \\\\y ~ ^ $ | **0.750** \\[0.740, 0.760\\] "
        "| 4.00† \\[3.99, 4.01\\] |",
    ]


def test_text_has_a_star_a_rule_and_aligned_numbers() -> None:
    made = render_paper_table(example(), "text", width=80)
    table, told, _ = made.split("\n\n")
    rules = [n for n, line in enumerate(table.splitlines()) if set(line.strip()) == {"─"}]
    assert rules == [1, 5]
    rows = [line for line in table.splitlines() if "[" in line]
    assert len({line.index("[") for line in rows}) == 1
    assert "0.750* [" in rows[0]
    assert "0.500† [" in rows[1]
    assert "*: best system of each column" in told.replace("\n", " ")
    narrow = render_paper_table(example(), "text", width=60)
    assert max(map(len, narrow.partition("\nsignature")[0].splitlines())) <= 60


def test_csv_has_all_digits_and_words_for_marks() -> None:
    facts, rows = read_results(render_paper_table(example(), "csv"))
    assert [row["system"] for row in rows] == [ODD, "slow", "fast", "(lead)"]
    first = {name: text for name, text in rows[1].items() if name.startswith("f1")}
    assert first == {"f1": "0.5", "f1_low": "0.49", "f1_high": "0.51", "f1_mark": "worse"}
    assert [row["error_s (s)_mark"] for row in rows] == ["worse", "best", "", "worse"]
    assert facts == {"signature": "earwitness=1|f1"}


@pytest.mark.parametrize("form", PAPER_FORMS)
def test_sections_have_headings(form: str) -> None:
    matrices = columns()
    rows = [
        row
        for section in ("SIG_1", "BAK")
        for row in paper_rows(["slow", "fast", "(lead)"], matrices, section)
    ]
    made = render_paper_table(example(rows=tuple(rows), sections="scale"), form)
    name = {"latex": "SIG\\_1", "md": "SIG\\_1"}.get(form, "SIG_1")
    assert made.count(name) == (3 if form == "csv" else 1)
    assert made.index(name) < made.index("BAK")


# --- Tables of results ---------------------------------------------------------------------------


def outputs(*systems: str, items: int = 8) -> list[dict[str, Any]]:
    """Systems that are later, and so worse, the later they come."""
    return [
        {"item": f"i{n}", "system": s, "output": {"boundaries": [60.0 + 7 * late, 120.0]}}
        for n in range(items)
        for late, s in enumerate(systems)
    ]


def references(items: int = 8, annotators: int = 1) -> list[dict[str, Any]]:
    return [
        {
            "item": f"i{n}",
            "duration": 180,
            "references": [
                {"annotator": f"p{who}", "boundaries": [60.0, 120.0 + n % 2 * who]}
                for who in range(annotators)
            ],
        }
        for n in range(items)
    ]


def test_scores_have_a_column_per_metric_and_claim_no_significance() -> None:
    scores = score(outputs("zoo", "ape"), references(annotators=2), draws=20)
    table = apply_renderer(scores, "paper_table")
    assert [column.value.name for column in table.columns] == list(scores.headlines)
    assert [row.name for row in table.rows] == ["zoo", "ape", "(people)"]
    f1 = scores.headlines.index("collar_f1")
    assert [row.cells[f1].is_best for row in table.rows] == [True, False, False]
    assert table.rows[0].cells[f1].estimate == scores.systems["zoo"]["collar_f1"]
    told = caption(table)
    assert told.startswith("Scores of 2 systems on 8 items, with 2 references per item.")
    assert "collar_f1 (mean of the F1 of each output): metric collar with against=mean" in told
    assert "95 % confidence intervals (bootstrap over items)" in told
    assert "(people): each annotator against the others, on the 8 items" in told
    assert "signific" not in told


def test_chosen_values_are_the_columns_and_units_are_named() -> None:
    both_ends = ["deviation_of_output", "deviation_of_reference"]
    scores = score(
        outputs("zoo", "ape"), references(), metrics="deviation", values=both_ends, draws=20
    )
    table = apply_renderer(scores, "paper_table")
    assert [c.heading for c in table.columns] == [f"{name} ↓ (s)" for name in both_ends]


def test_annotators_are_not_ranked() -> None:
    found = people(references(annotators=3), metrics="collar", draws=20)
    table = apply_renderer(found, "paper_table")
    assert [(row.name, row.apart) for row in table.rows] == [
        ("p0", False),
        ("p1", False),
        ("p2", False),
        ("(people)", True),
    ]
    assert not any(cell.is_best for row in table.rows for cell in row.cells)
    assert "Bold" not in caption(table)


def test_a_comparison_marks_what_is_worse_and_says_if_items_are_too_few_for_a_test() -> None:
    compared = compare(
        outputs("zoo", "ape"), references(), metrics="collar", permutations=300, draws=20
    )
    table = apply_renderer(compared, "paper_table")
    assert [row.cells[0].mark for row in table.rows] == ["", "†"]
    assert (
        "(paired permutation test, Holm-corrected across pairs of systems, p < 0.05)"
    ) in caption(table)
    few = compare(
        outputs("zoo", "ape", items=3), references(3), metrics="collar", permutations=300, draws=20
    )
    table = apply_renderer(few, "paper_table")
    assert not any(cell.mark for row in table.rows for cell in row.cells)
    assert "Differences in collar_f1 were not tested." in caption(table)


def test_ratings_have_a_column_per_scale_with_the_test_in_words() -> None:
    results = mos()
    table = apply_renderer(results, "paper_table")
    assert [column.heading for column in table.columns] == ["SIG ↑", "BAK ↑", "OVRL ↑"]
    first = results.scales[0]
    means = [row.cells[0].estimate for row in table.rows]
    assert means == sorted((r.mean for r in first.systems.values()), key=lambda e: -e.value)
    told = caption(table, "plus-minus")
    assert told.startswith("Mean ratings by 29 listeners (3 more excluded by screening).")
    assert "votes on the scales SIG (1 to 5), BAK (1 to 5) and OVRL (1 to 5)" in told
    assert (
        "two-sided per-listener paired t tests; Holm-corrected within each scale, p < 0.05" in told
    )
    assert "±: half the width of 95 % confidence intervals (t intervals over" in told
    for index, scale in enumerate(results.scales):
        best = next(row.name for row in table.rows if row.cells[index].is_best)
        worse = {row.name for row in table.rows if row.cells[index].mark}
        wanted = {c.a if c.better == c.b else c.b for c in scale.contrasts if c.better == best}
        assert worse == wanted


def test_controls_are_below_the_rule() -> None:
    results = with_controls(mushra(), "reference", "anchor 3.5", "anchor 7")
    table = apply_renderer(results, "paper_table")
    assert [row.name for row in table.rows if row.apart] == ["reference", "anchor 7", "anchor 3.5"]
    assert not any(row.cells[0].is_best for row in table.rows if row.apart)
    assert "Not ranked: reference, anchor 3.5 and anchor 7." in caption(table)
    assert "Benjamini–Hochberg-corrected" in caption(table)


def test_differences_without_p_are_not_tested() -> None:
    results = mos()
    scales = tuple(
        replace(
            scale,
            contrasts=tuple(
                replace(c, p=math.nan, p_corrected=math.nan, better="") for c in scale.contrasts
            ),
        )
        for scale in results.scales
    )
    told = caption(apply_renderer(replace(results, scales=scales), "paper_table"))
    assert "Differences in SIG, BAK and OVRL were not tested." in told


def test_choices_have_abilities_and_shares_of_correct_answers() -> None:
    table = apply_renderer(preference(), "paper_table")
    names = [row.name for row in table.rows]
    assert names == ["best & only", "new_1", "old", "old–new_1"]
    assert [cell.is_best for cell in table.rows[0].cells] == [True, False]
    assert [row.cells[0].mark for row in table.rows] == ["", "", "†", ""]
    assert table.rows[-1].cells[0].estimate is None
    told = caption(table)
    assert "Log Bradley–Terry abilities (PREFERENCE) and shares of correct answers (SAME)" in told
    assert "choices: t tests of the shares of listeners, two-sided; not corrected, p < 0.05" in told
    assert "$\\infty$" in render(preference(), "latex")


@pytest.fixture(scope="module")
def agreement() -> Concordance:
    metrics = [MetricColumn("close"), MetricColumn("fair"), MetricColumn("noise", baseline=True)]
    settings = AgreementSettings(draws=10, permutations=20, splits=2)
    return analyse_agreement(replace(both(), metrics=metrics), settings)


def test_agreement_has_metrics_as_rows_and_coefficients_as_columns(agreement: Concordance) -> None:
    table = apply_renderer(agreement, "paper_table")
    assert [column.heading for column in table.columns] == [
        "Pearson's r ↑ (systems)",
        "Spearman's ρ ↑ (systems)",
        "Kendall's τ-b ↑ (systems)",
        "Kendall's τ-b ↑ (within items)",
    ]
    assert [row.name for row in table.rows] == [
        "close",
        "fair",
        "noise (baseline)",
        "(chance)",
        "(one rater)",
    ]
    own = agreement.scales[0].metrics[0].figures
    assert table.rows[0].cells[3].estimate == own[Figure("item", "kendall_b")]
    told = caption(table)
    assert "Bold: best metric of each column" in told
    assert (
        "Differences in Pearson's r (systems) and Spearman's ρ (systems) were not tested." in told
    )
    swapped = "permutation test swapping the scores of whole systems, corrected by the step-down"
    assert f"{swapped} max-T method" in told
    assert "Not tested against the best: (chance) and (one rater)." in told
    assert "OVRL: 3 metrics, 8 systems, 10 items, 6 raters, 480 ratings." in told
    assert not re.search(r"[^\x00-\x7f]", render(agreement, "latex"))


def test_agreement_on_several_scales_has_a_section_per_scale(agreement: Concordance) -> None:
    first = agreement.scales[0]
    other = replace(first, scale=replace(first.scale, name="SIG"))
    table = apply_renderer(replace(agreement, scales=(first, other)), "paper_table")
    assert [row.section for row in table.rows] == ["OVRL"] * 5 + ["SIG"] * 5
    assert [row.name for row in table.rows if row.cells[0].is_best] == ["close"] * 2
    assert "Bold: best metric of each column and scale" in caption(table)


def test_power_has_listeners_as_rows() -> None:
    powers = {0.2: around(0.6), 0.4: around(0.9)}
    plan = PowerPlan(
        *("P.835 pilot", "power|x", "OVRL", "assumed", {}, 8, 8, 4, 1, 20.0, 6, 0.05, 0.8),
        *("cluster_t", 12, (PowerRow(12, 4.0, 0.31, powers), PowerRow(24, 8.0, nan, powers))),
        {0.2: 30, 0.4: 12},
    )
    table = apply_renderer(plan, "paper_table")
    assert [column.heading for column in table.columns] == [
        "time (h)",
        "detectable difference (points)",
        "power for 0.2 points",
        "power for 0.4 points",
    ]
    text = render(plan, "text", table="paper", width=120)
    assert re.search(r"24 +8\.00 +– +0\.600 \[0\.590, 0\.610\]", text)
    assert "Brackets: 95 % confidence intervals of the simulation." in text.replace("\n", " ")


@pytest.mark.parametrize("form", PAPER_FORMS)
@pytest.mark.parametrize("made", [mos, mushra, preference, nothing])
def test_every_result_has_a_table_in_every_format(made: Any, form: str) -> None:
    results: Results = made()
    text = render(results, form, table="paper")
    assert text.endswith("\n")
    assert not re.search(r"\bnan\b", text, re.I)
    empty = render(replace(results, scales=()), form, table="paper")
    assert "nan" not in empty


# --- Choice of the table -------------------------------------------------------------------------


def test_latex_has_the_paper_table_by_default_and_other_formats_the_report() -> None:
    results = preference()
    assert render(results, "latex") == render(results, "latex", table="paper")
    assert render(results, "latex", table="full").count("\\begin{table}") > 1
    for form in PAPER_FORMS:
        if form != "latex":
            assert render(results, form) == render(results, form, table="full")
            assert render(results, form) != render(results, form, table="paper")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "md", "table": "papers"}, 'unknown table "papers" — did you mean "paper"'),
        ({"to": "json", "table": "paper"}, "not available as JSON — use csv"),
        ({"to": "md", "interval_form": "none"}, "interval_form requires the table for a paper"),
        ({"to": "latex", "interval_form": "pm"}, 'unknown form of intervals "pm"'),
    ],
)
def test_tables_that_do_not_exist_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        render(mos(), **options)  # type: ignore[arg-type]


def test_the_forms_of_intervals_are_those_of_the_table() -> None:
    assert get_args(IntervalForm) == INTERVAL_FORMS
