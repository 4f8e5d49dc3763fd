"""The long recording below a trial: browsed and heard, without disturbing the trial."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from browser.helpers.expectations import expect
from browser.helpers.fake_server import tone
from browser.helpers.page_actions import PHONE, TAP, until, visit, wait_for_sound
from browser.helpers.real_server import CLIPS, SYSTEMS, RealServer, really_served
from playwright.sync_api import Browser, Locator, Page

from earwitness.studies.wording import wording

STUDY = """\
title: Days
language: LANGUAGE
systems: [Kestrel, Osprey]
files: "{system}/{item}.wav"
listeners: 1
consent: "…"
blocks: [{kind: KIND, clips: 1}]
recordings:
  bittern: plover.flac
  curlew: plover.flac
  dunlin: plover.flac
recording_display: {palette: viridis, frequency: log, range_db: [-90, -20]}
"""
RATE, SECONDS = 16_000, 600
CHANGED = wording("fr").web["recording_changed"]


def write_days(folder: Path, study: Path, language: str, kind: str = "acr") -> None:
    """A study with a recording of ten minutes: noise, and a rising tone every minute."""
    for number, (system, clip) in enumerate(product(SYSTEMS, CLIPS)):
        path = folder / system / f"{clip}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tone(4.0, 300 + 50 * number))
    rng = np.random.default_rng(1)
    day = 0.01 * rng.standard_normal(RATE * SECONDS)
    time = np.arange(8 * RATE) / RATE
    for minute in range(SECONDS // 60):
        first = (60 * minute + 20) * RATE
        day[first : first + len(time)] += 0.3 * np.sin(2 * np.pi * (300 + 200 * time) * time)
    soundfile.write(folder / "plover.flac", day, RATE)
    study.write_text(STUDY.replace("LANGUAGE", language).replace("KIND", kind), encoding="utf-8")


def write_pairs(folder: Path, study: Path, language: str) -> None:
    write_days(folder, study, language, "preference")


def open_trial(browser: Browser, server: RealServer, **kind: Any) -> tuple[Page, list[str]]:
    """The first trial, with its recording drawn."""
    server.answer_up_to("1.1")
    context = browser.new_context(**kind)
    context.add_init_script(TAP)
    page, said = visit(context, server.links[0])
    expect(page.locator(".navigator")).to_have_attribute("data-state", "drawn")
    return page, said


def click_at(view: Locator, part: float) -> None:
    box = view.bounding_box()
    assert box is not None
    view.click(position={"x": part * box["width"], "y": box["height"] / 2})


def test_a_recording_is_browsed_and_heard_below_a_trial(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path, write=write_days) as server:
        size = {"viewport": {"width": 1280, "height": 900}}
        page, said = open_trial(browser, server, **size)
        recording = page.get_by_role("region", name="Full recording")
        trial = page.get_by_role("main")
        view, sound = recording.get_by_role("application"), recording.locator(".nav-play")
        assert recording.get_by_text("Colours").count() == 0  # the display is fixed
        click_at(view, 0.5)
        expect(sound).to_have_text("Pause")
        until(page, "() => passed.frames > 8000")
        page.keyboard.press("1")  # a key of the trial
        trial.get_by_role("button", name="Play").click()
        expect(sound).to_have_text("Play")  # either one or the other
        click_at(view, 0.3)
        expect(trial.get_by_text("The sound stopped before the end")).to_be_visible()
        expect(sound).to_have_text("Pause")
        page.keyboard.press("Space")
        expect(sound).to_have_text("Play")
        page.keyboard.press("+")
        trial.get_by_role("button", name="Play").click()
        wait_for_sound(trial.get_by_role("radio").first, trial.get_by_role("button", name="Play"))
        assert page.locator("input:checked").count() == 0
        page.locator('label:has(input[value="4"])').click()
        page.locator("button.wide").click()
        expect(page.locator(".code, [data-name='1.2'] h1").first).to_be_visible()
        until(page, "() => document.querySelector('#saving').textContent === 'Saved'")
        page.wait_for_timeout(3500)  # events are sent in small batches
        assert server.told("recording_played", "1.1") >= 2
        assert server.told("recording_viewed", "1.1") == 1
        assert [one for one in said if "ScriptProcessorNode" not in one] == []


def test_a_recording_fits_a_phone_and_says_when_it_has_changed(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, "fr", write=write_pairs) as server:
        page, said = open_trial(browser, server, **PHONE)
        recording = page.get_by_role("region", name="Enregistrement complet")
        expect(recording).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        view = recording.get_by_role("application")
        view.focus()
        page.keyboard.press("a")  # switches sounds of the trial elsewhere
        page.keyboard.press("x")
        until(page, "() => passed.frames > 8000")
        states = page.locator(".tile .state").all_inner_texts()
        assert len(set(states)) == 1  # the key has not played a sound of the trial
        assert [one for one in said if "ScriptProcessorNode" not in one] == []
        (server.study.parent / "plover.flac").unlink()
        page.wait_for_timeout(1500)  # files are looked at once per second
        view.focus()
        page.keyboard.press("+")
        expect(recording.get_by_role("alert")).to_contain_text(CHANGED)
