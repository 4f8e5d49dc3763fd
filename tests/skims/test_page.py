"""Picture and page say what there is, need nothing from outside, and escape what is text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from earwitness.skims.page import skim_page
from earwitness.skims.picture import describe_times, skim_picture
from earwitness.skims.types import Pick, SoundClass
from earwitness.skims.view import SkimMeasure, SkimView, describe_reasons
from helpers.skim_view import BEGAN, shown

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def day() -> SkimView:
    return shown(b"sound", "audio/flac")


def test_a_picture_has_a_number_and_a_line_for_every_pick(day: SkimView) -> None:
    root = ElementTree.fromstring(skim_picture(day))
    texts = [one.text for one in root.iter(f"{SVG}text")]
    assert [text for text in texts if text in [str(n) for n in range(1, 13)]][-12:] == [
        str(n) for n in range(1, 13)
    ]
    assert len(list(root.iter(f"{SVG}circle"))) == 12
    assert {"03:00", "21:00", "kHz", "8"} <= set(texts)
    hatched = [r for r in root.iter(f"{SVG}rect") if r.get("fill") == "url(#missing)"]
    assert len(hatched) == 1


def test_lines_of_a_picture_lie_at_the_time_of_their_pick(day: SkimView) -> None:
    root = ElementTree.fromstring(skim_picture(day))
    groups = list(root.iter(f"{SVG}g"))
    found = [float(group[0].get("x1", "nan")) for group in groups]
    wanted = [52 + 1_132 * pick.start / 86_400 for pick in day.skim.picks]
    assert found == pytest.approx(wanted, abs=0.1)


@pytest.mark.parametrize("draw", [skim_page, skim_picture])
def test_names_cannot_become_markup(day: SkimView, draw: object) -> None:
    assert callable(draw)
    bad = "<script>alert(1)</script>\" onload='x'"
    pick = Pick(5.0, 8.0, why={"heard": bad})
    evil = replace(
        day,
        recording=replace(day.recording, name=bad, notes=(bad,)),
        skim=replace(day.skim, picks=(pick,)),
        measures=(SkimMeasure(bad, 0.5, bad),),
        provenance=(bad,),
    )
    assert "<script>alert" not in draw(evil)
    assert "onload='x'" not in draw(evil)


def test_a_page_needs_nothing_from_outside(day: SkimView) -> None:
    page = skim_page(day)
    assert "data:audio/flac;base64,c291bmQ=" in page
    assert re.findall(r'(?:src|href)="(?!data:)[^"]*"', page) == []
    assert "default-src &#x27;none&#x27;" in page


def test_a_page_tells_times_and_reasons_of_every_pick(day: SkimView) -> None:
    page = skim_page(day)
    assert page.count('class="time"') == 12
    assert "represents 00:00–01:57; covers no sound class of its own" in page
    assert "played backwards; represents" in page
    assert "damaged at 15:45:00: broken frame" in page
    assert "24 h (1 h 30 min missing) condensed to 63 s" in page
    assert ">0.912<" in page


def test_the_script_gets_times_on_the_clock(day: SkimView) -> None:
    [text] = re.findall(r'id="picks">(.*?)</script>', skim_page(day))
    known = json.loads(text)
    assert known["heard"] == 63
    assert [pick["heard"] for pick in known["picks"]] == [5.0 * n for n in range(12)]
    assert known["picks"][3]["clock"] == 5.5 * 3600
    assert known["picks"][3]["day"] == "Tuesday, 22 July 2025"
    assert [pick["turned"] for pick in known["picks"]].index(True) == 7


def test_pages_without_clock_sound_measures_or_picks_are_made(day: SkimView) -> None:
    bare = replace(
        day,
        recording=replace(day.recording, began=None, damages=()),
        audio=b"",
        measures=(),
        plane=None,
        provenance=(),
        own_spectrogram=None,
    )
    page = skim_page(bare)
    assert "<audio" not in page
    assert "represents" in page
    assert describe_times(bare) == "24 h (1 h 30 min missing) condensed to 63 s"
    assert "1:00:00" in skim_picture(replace(bare, recording=replace(bare.recording, seconds=9e3)))
    empty = replace(bare, skim=replace(bare.skim, picks=()))
    assert 'class="time"' not in skim_page(empty)
    assert "circle" not in skim_picture(empty)


def test_a_page_names_the_classes_and_the_gain_of_a_pick(day: SkimView) -> None:
    classes = (SoundClass("Bird vocalization", 0.823), SoundClass("Chirp", 0.5))
    first, *others = day.skim.picks
    named = replace(first, classes=classes, gain=-3.21)
    view = replace(day, skim=replace(day.skim, picks=(named, *others)))
    page = skim_page(view)
    assert 'title="Bird vocalization 0.82; Chirp 0.50">Bird vocalization; Chirp</span>' in page
    assert "level −3.2 dB" in page
    texts = [one.text for one in ElementTree.fromstring(skim_picture(view)).iter(f"{SVG}text")]
    assert "Bird vocalization; Chirp · level −3.2 dB" in texts
    assert texts.count("00:57:36") == 1


def test_the_skim_itself_has_a_spectrogram_with_all_picks_in_it(day: SkimView) -> None:
    page = skim_page(day)
    assert page.count('class="cut"') == 11
    # 63 s: the second pick begins at 5 s, and is the louder one from 6.5 s on
    assert 'class="cut" style="left:10.317%"' in page
    root = ElementTree.fromstring(skim_picture(day))
    assert len(list(root.iter(f"{SVG}image"))) == 2
    assert "02:58" in [one.text for one in root.iter(f"{SVG}text")]


def test_a_skim_is_marked_among_others_and_baselines(day: SkimView) -> None:
    page = skim_page(day)
    assert re.findall(r'class="dot [^"]* marked"[^>]*title="([^:]*):', page) == ["pareto, z = 0.5"]
    assert "random (mean of draws): tc 0.860 [0.830, 0.900], sd 0.470 [0.440, 0.510]" in page


def test_measures_that_are_undefined_are_dashes(day: SkimView) -> None:
    assert "<b>–</b>" in skim_page(replace(day, measures=(SkimMeasure("TC", float("nan")),)))


def test_the_same_skim_makes_the_same_bytes(day: SkimView) -> None:
    assert skim_page(day) == skim_page(shown(b"sound", "audio/flac"))


def test_dates_are_told_where_the_time_of_day_is_not_enough(day: SkimView) -> None:
    assert 'class="date">Tue 22 Jul' not in skim_page(day)
    long = replace(day, recording=replace(day.recording, seconds=100_000.0))
    assert 'class="date">Tue 22 Jul' in skim_page(long)


def test_reasons_are_told_in_words(day: SkimView) -> None:
    assert day.recording.began == BEGAN
    why: dict[str, str | float] = {"from": 0.0, "to": 900.0, "brings": 0.0421, "period": 900.0}
    more: dict[str, str | float] = {
        "cluster": 12.0,
        "scarcity": 3.25,
        "told": "by hand",
        "odd": 2.0,
    }
    assert describe_reasons(Pick(0.0, 8.0, why={**why, **more}), day.recording) == [
        "represents 00:00–00:15",
        "4.2 % of the sound classes are covered only by this pick",
        "chosen from the period at 00:15",
        "most typical of 12 similar blocks",
        "scarcity 3.2",
        "told: by hand",
        "odd 2",
    ]


def test_a_pick_may_stand_for_more_than_a_day(day: SkimView) -> None:
    long = replace(day.recording, seconds=7 * 86_400.0)
    told = [
        describe_reasons(Pick(0.0, 8.0, why={"from": 0.0, "to": to}), long)
        for to in (86_400, 99_000)
    ]
    assert told == [["represents 00:00–00:00"], ["represents 22 Jul, 00:00 – 23 Jul, 03:30"]]
    unknown = replace(long, began=None)
    assert (
        "27:30" in describe_reasons(Pick(0.0, 8.0, why={"from": 0.0, "to": 99_000.0}), unknown)[0]
    )


def test_short_spans_are_told_to_the_second() -> None:
    known = shown().recording
    spans = [(540.0, 555.0), (540.0, 659.0), (540.0, 660.0), (543.0, 543.0)]
    told = [describe_reasons(Pick(543.0, 8.0, why={"from": a, "to": b}), known) for a, b in spans]
    assert told == [
        ["represents 00:09:00–00:09:15"],
        ["represents 00:09:00–00:10:59"],
        ["represents 00:09–00:11"],
        ["represents itself"],
    ]
