"""The HTML report: one file, safe, and the same numbers as the tables."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from earwitness.output_formats import render
from earwitness.report.charts import fit_axis, time_axis
from earwitness.report.html.elements import VOID_TAGS, element
from earwitness.report.tables import boundary_kind
from earwitness.scoring.compare import compare
from earwitness.scoring.results import Comparison, Scores
from earwitness.scoring.score import score
from helpers.samples import corpus, write_lines

EVIL = '<script>alert("x")</script>&\'"'


class Outline(HTMLParser):
    """Elements in order; raises if they are not nested well."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    found.close()
    assert not found.open
    return found


def files(*systems: str, audio: str = "") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    outputs, references = [], []
    for item, sample in enumerate(corpus(8, 900.0, 2, 9)):
        listed = [{"boundaries": sample["reference"]}, {"boundaries": sample["hypothesis"]}]
        record = {"item": f"item {item}", "duration": 900, "references": listed}
        references.append({**record, "audio": audio} if audio else record)
        for shift, system in enumerate(systems):
            times = [t + 3.0 * shift for t in sample["hypothesis"]]
            outputs.append(
                {"item": f"item {item}", "system": system, "output": {"boundaries": times}}
            )
    return outputs, references


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(
        *files("one", "two", "three"),
        collar=[1, 3, 10],
        by=["annotator", "duration:600"],
        worst=3,
        show="item 5",
        permutations=200,
        draws=200,
    )


@pytest.fixture(scope="module")
def page(comparison: Comparison) -> str:
    return render(comparison, "html")


def test_every_section_is_there_and_linked(page: str) -> None:
    found = outline(page).tags
    ids = [attributes["id"] for tag, attributes in found if tag == "section" and "id" in attributes]
    links = [str(attributes["href"]) for tag, attributes in found if tag == "a"]
    assert links == [f"#{name}" for name in ids]
    titles = re.findall("<h2>(.*?)</h2>", page)
    assert titles == [
        "Summary",
        "Differences between systems",
        "Differences between systems by annotator",
        "Differences between systems by duration",
        "Results",
        "All values",
        "Curves",
        "People",
        "By annotator",
        "By duration",
        "Distribution over outputs",
        "All items",
        "Worst outputs",
        "Timelines",
        "Provenance",
    ]


def test_the_page_needs_nothing_else(page: str) -> None:
    for tag, attributes in outline(page).tags:
        assert tag not in ("link", "img", "iframe", "object")
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        href = attributes.get("href")
        assert href is None or href.startswith("#")
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src &#x27;none&#x27;" in page


def test_the_same_result_gives_the_same_bytes(comparison: Comparison, page: str) -> None:
    assert render(comparison, "html") == page


def test_every_number_of_the_matrix_is_on_the_page(comparison: Comparison, page: str) -> None:
    for contrast in comparison.contrasts:
        estimate = contrast.difference
        ends = f"[{estimate.low:.3f}, {estimate.high:.3f}]".replace("-", "−")
        assert (ends if estimate.low < estimate.high else "no variance") in page
        assert f"corrected {contrast.p_corrected:.4f}" in page
    for estimates in comparison.scores.systems.values():
        f1 = estimates["collar_f1@3.0"]
        assert f"{f1.value:.3f} [{f1.low:.3f}, {f1.high:.3f}], n = {f1.n}" in page


def test_names_are_text_and_nothing_else() -> None:
    outputs, references = files(EVIL, "b")
    references = [
        {**line, "item": f"{EVIL}{n}", "meta": {"k": EVIL}} for n, line in enumerate(references)
    ]
    outputs = [{**line, "item": f"{EVIL}{n // 2}"} for n, line in enumerate(outputs)]
    made = render(score(outputs, references, by="k", worst=2), "html")
    assert [tag for tag, _ in outline(made).tags].count("script") == 1
    assert "alert(&quot;x&quot;)" in made


@pytest.mark.parametrize(
    ("audio", "src"),
    [
        ("talk one.mp3", "talk%20one.mp3"),
        ("https://example.org/a.mp3?b=1&c", "https://example.org/a.mp3?b=1&c"),
        ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
    ],
)
def test_sound_is_a_path_or_an_address(audio: str, src: str) -> None:
    made = render(score(*files("one", audio=audio), show="item 1"), "html", folder=".")
    (found,) = [attributes["src"] for tag, attributes in outline(made).tags if tag == "audio"]
    assert found == src


def test_sound_lies_beside_the_file_that_names_it(tmp_path: Path) -> None:
    outputs, references = files("one", audio="talk.wav")
    (tmp_path / "talk.wav").write_bytes(b"RIFF")
    places = [write_lines(tmp_path / f"{n}.jsonl", r) for n, r in enumerate((outputs, references))]
    scores = score(*places, show="item 1")
    assert scores.shown[0].audio == str(tmp_path / "talk.wav")
    assert not scores.notes
    assert 'src="../talk.wav"' in render(scores, "html", folder=tmp_path / "out")


def test_sound_that_is_not_there_is_noted() -> None:
    scores = score(*files("one", audio="nowhere.wav"), show="item 1")
    assert 'the audio file of "item 1" does not exist: nowhere.wav' in scores.notes


def test_items_to_show_hold_every_system_and_annotator(comparison: Comparison) -> None:
    first = comparison.scores.shown[0]
    assert first.item == "item 5"
    assert list(first.references) == ["reference 1", "reference 2"]
    assert list(first.outputs) == ["one", "three", "two"]
    assert first.values["one"].keys() == comparison.scores.systems["one"].keys()
    assert len({shown.item for shown in comparison.scores.shown}) == len(comparison.scores.shown)


def test_an_item_that_is_not_there_cannot_be_shown() -> None:
    with pytest.raises(ValueError, match='no item "itm 5" was scored — did you mean "item 5"'):
        score(*files("one"), show="itm 5")
    with pytest.raises(ValueError, match='no item "item 55" was scored — known: item 0'):
        score(*files("one"), show="item 55")


def test_undefined_estimates_are_drawn_as_nothing() -> None:
    none = {"id": "a", "hypothesis": [], "reference": [], "duration": 3}
    made = render(score([none], collar=[1, 2], metrics=["deviation", "collar"], worst=1), "html")
    assert not re.search(r"\bnan\b", made)
    outline(made)


def test_a_page_of_very_many_systems_and_none_spread() -> None:
    scores: Scores = score(*files(*(f"system {i}" for i in range(20))))
    assert render(replace(scores, spread=None), "html").count('class="row s7 k0 d1"') > 1


def test_elements_escape_what_is_text() -> None:
    assert element("b", "<i>", title='"') == '<b title="&quot;">&lt;i&gt;</b>'
    assert element("br") == "<br/>"
    assert "audio" not in VOID_TAGS


@pytest.mark.parametrize(
    ("numbers", "ticks"),
    [
        ([0.2, 3.1], (0, 1, 2, 3, 4)),
        ([5.0, 5.0], (4.5, 5.0, 5.5)),
        ([-0.3, 0.4], (-0.4, -0.2, 0, 0.2, 0.4)),
        ([float("nan"), 1e6], None),
        ([], (0, 0.5, 1)),
    ],
)
def test_ticks_are_round_and_hold_all_numbers(
    numbers: list[float], ticks: tuple[float, ...] | None
) -> None:
    axis = fit_axis(numbers)
    if ticks is not None:
        assert axis.ticks == pytest.approx(ticks)
    assert axis.low < axis.high
    assert all(axis.low <= x <= axis.high for x in numbers if x == x)


@pytest.mark.parametrize("seconds", [0.0, 0.5, 59, 3600, 86400, 1e9])
def test_times_have_a_handful_of_ticks(seconds: float) -> None:
    axis = time_axis(seconds)
    assert axis.ticks[0] == 0
    assert len(axis.ticks) <= 11
    assert axis.ticks[-1] <= axis.high


@pytest.mark.parametrize("audio", ["x" * 300 + ".mp3", "a\0b"])
def test_a_name_that_no_file_can_have_is_sound_that_is_not_there(audio: str) -> None:
    scores = score(*files("one", audio=audio), show="item 1")
    assert len(scores.notes) == 1
    assert "does not exist" in scores.notes[0]
    outline(render(scores, "html"))


def test_no_sound_is_no_player() -> None:
    assert "<audio" not in render(score(*files("one"), show="item 1"), "html")
    empty = [{**line, "audio": ""} for line in files("one")[1]]
    assert "<audio" not in render(score(files("one")[0], empty, show="item 1"), "html")


def test_every_boundary_has_a_mark_of_its_kind(comparison: Comparison) -> None:
    made = render(comparison, "html")
    first = comparison.scores.shown[0]
    matching = first.matches[comparison.values[1]]
    kinds = [
        boundary_kind(names, len(first.references))
        for matches in matching.systems.values()
        for names in matches.matched
    ]
    missed = [time for m in matching.systems.values() for own in m.missed.values() for time in own]
    figure = made[made.index('<figure class="timeline"') :].split("</figure>")[0]
    rows = figure.split('class="plot"')[1]
    assert {"partial", "false"} <= {*kinds}
    for kind in ("hit", "partial", "false"):
        assert rows.count(f'<b class="{kind}"') == kinds.count(kind)
    assert rows.count('<b class="miss"') == len(missed)


def test_words_have_a_mark_beside_their_colour_and_break_out_of_nothing() -> None:
    said = [EVIL, "rain", "falls", "today"]
    record = {"item": "a", "words": said, "references": [{"positions": [1, 2, 3]}]}
    words = [EVIL, "snow", "today"]
    outputs = [{"item": "a", "system": "s", "output": {"words": words}}]
    made = render(score(outputs, [record], metrics="sumaccy", show="a"), "html")
    section = made[made.index('<ol class="words">') :].split("</ol>")[0]
    assert [tag for tag, _ in outline(made).tags].count("script") == 1
    # the first word is right, two are replaced, then the end; one person went to each
    assert section.count('<li class="S">') == section.count('<b title="substituted">S</b>') == 2
    assert section.count("<li>") == 2
    assert section.count("<small>1</small>") == 4
    assert "today" in section
