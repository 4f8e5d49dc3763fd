"""Sounds go through the audio graph; what pages say where they cannot is in tests/scripts."""

from __future__ import annotations

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import arrive, at, hear, opened, until
from playwright.sync_api import Browser

SECONDS = 0.4
# Only in tests: counts on the audio thread what goes to the ears.
COUNTER = """
globalThis.counted = { frames: 0, energy: 0, peak: 0, silence: 0 };
const connect = AudioNode.prototype.connect;
AudioNode.prototype.connect = function (to, ...more) {
  if (to === this.context.destination && this.context instanceof AudioContext) {
    this.context.audioWorklet.addModule("/tests/counter.js").then(() => {
      const counter = new AudioWorkletNode(this.context, "counter");
      counter.port.onmessage = ({ data }) => Object.assign(counted, data);
      connect.call(this, counter);
      connect.call(counter, to);
      globalThis.counting = true;
    });
  }
  return connect.call(this, to, ...more);
};
"""
SPECTRUM = """
async () => {
  const { huggins } = await import("/static/device_stimuli.js");
  const context = new OfflineAudioContext(2, 1, 16000);
  const buffer = await huggins(context, true);
  const [left, right] = [0, 1].map((n) => buffer.getChannelData(n));
  const power = (signal, hertz) => {
    let [re, im] = [0, 0];
    signal.forEach((one, n) => {
      re += one * Math.cos((2 * Math.PI * hertz * n) / 16000);
      im += one * Math.sin((2 * Math.PI * hertz * n) / 16000);
    });
    return re * re + im * im;
  };
  const band = (signal, middle) => {
    let sum = 0;
    for (let hertz = middle - 15; hertz <= middle + 15; hertz += 1) sum += power(signal, hertz);
    return sum;
  };
  const energy = (signal) => signal.reduce((sum, one) => sum + one * one, 0);
  const rms = (signal) => Math.sqrt(energy(signal) / signal.length);
  const apart = left.map((one, n) => one - right[n]);
  const ratio = (middle) => band(apart, middle) / band(left, middle);
  return { rms: [rms(left), rms(right)], at: [200, 600, 2000].map(ratio) };
}
"""


def one_trial() -> FakeServer:
    return FakeServer([small.trial("1.1", 1, 1, kind="acr"), small.end()])


def test_the_whole_sound_goes_through_the_graph(browser: Browser) -> None:
    with served(one_trial()) as fake:
        context = browser.new_context()
        context.add_init_script(COUNTER)
        page, _ = arrive(context, fake)
        at(page, "Session 1 of 2")
        expect(page.get_by_role("button", name="Play")).to_be_enabled()
        until(page, "globalThis.counting")
        assert page.evaluate("counted.frames") == 0
        hear(page)
        until(page, "counted.frames && counted.silence > 50")  # all has passed
        found = page.evaluate("counted")
        page.get_by_text("Fair").click()
        page.locator("button.wide").click()
        expect(page.locator(".code")).to_be_visible()
        rate_of = fake.answers[0]["meta"]["rate"]
        assert found["frames"] / rate_of == pytest.approx(SECONDS, rel=0.05)
        assert found["peak"] == pytest.approx(8000 / 32768, rel=0.02)
        power = (8000 / 32768) ** 2 / 2
        assert found["energy"] / rate_of == pytest.approx(power * SECONDS, rel=0.05)
        context.close()


def test_sound_starts_with_the_first_key_where_the_browser_forbids_it_before(
    browser: Browser,
) -> None:
    """Whatever Playwright evaluates counts as a gesture, so nothing is until the key is down."""
    with served(one_trial()) as fake:
        context = browser.new_context()
        context.add_init_script(
            "globalThis.states = [];"
            "globalThis.AudioContext = class extends AudioContext {"
            " constructor(...given) { super(...given); states.push(this.state); } };"
        )
        page = context.new_page()
        with page.expect_response("**/sound/1.1/0"):
            page.goto(fake.address)
        page.wait_for_timeout(500)
        page.keyboard.press("Space")
        expect(page.get_by_role("radio").first).to_be_enabled()
        assert page.evaluate("states") == ["suspended"]
        context.close()


def test_huggins_pitch_is_in_the_difference_of_the_ears_alone(browser: Browser) -> None:
    with served(one_trial()) as fake, opened(browser, fake) as page:
        found = page.evaluate(SPECTRUM)
        assert found["rms"][0] == pytest.approx(found["rms"][1], rel=0.05)
        low, pitch, high = found["at"]
        assert 2.5 < pitch < 4.3  # opposite phase: twice the amplitude, four times the power
        assert max(low, high) < 0.1
