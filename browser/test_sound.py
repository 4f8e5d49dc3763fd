"""Sounds go through the audio graph, whole, and the page says plainly where they cannot."""

from __future__ import annotations

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import RATE, FakeServer, served, tone
from browser.helpers.page_actions import TAP, arrive, at, go_on, hear, opened, rate, settled
from playwright.sync_api import Browser, Page

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
async ([name, target]) => {
  const made = await import("/static/device_stimuli.js");
  const context = new OfflineAudioContext(2, 1, 16000);
  const buffer = await made[name](context, target);
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
  return { rms: [rms(left), rms(right)], apart: rms(apart), at: [200, 600, 2000].map(ratio) };
}
"""


def wait_for(page: Page, expression: str) -> None:
    """Until an expression holds; the page's policy forbids to wait for it there."""
    for _ in range(400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(expression)


def one_trial() -> FakeServer:
    return FakeServer([small.trial("1.1", 1, 1, kind="acr"), small.end()])


def test_the_whole_sound_goes_through_the_graph(browser: Browser) -> None:
    with served(one_trial()) as fake:
        context = browser.new_context()
        context.add_init_script(COUNTER)
        page, _ = arrive(context, fake)
        at(page, "Session 1 of 2")
        expect(page.get_by_role("button", name="Play")).to_be_enabled()
        wait_for(page, "globalThis.counting")
        assert page.evaluate("counted.frames") == 0
        hear(page)
        wait_for(page, "counted.frames && counted.silence > 50")  # all has passed
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


def test_the_next_sound_is_there_before_its_trial_and_no_other(browser: Browser) -> None:
    pages = [small.trial(f"1.{n}", n, 3) for n in (1, 2, 3)]
    asked: list[str] = []
    with served(FakeServer([*pages, small.end()])) as fake, opened(browser, fake) as page:
        page.wait_for_load_state("networkidle")  # nothing of the first visit is counted
        page.on("request", lambda request: asked.append(request.url.rpartition("/sound/")[2]))
        with page.expect_response("**/sound/1.2/0"):
            page.reload()
        assert [one for one in asked if one.startswith("1.")] == ["1.1/0", "1.2/0"]
        with page.expect_response("**/sound/1.3/0"):
            for value in (1, 2, 3):
                rate(page, value)
            settled(page)
        hear(page)
        assert [one for one in asked if one.startswith("1.")] == ["1.1/0", "1.2/0", "1.3/0"]


@pytest.mark.parametrize(
    ("sound", "told"),
    [(b"this is no sound", "its file cannot be read"), (b"RIFF", "its file cannot be read")],
)
def test_a_broken_file_is_told(browser: Browser, sound: bytes, told: str) -> None:
    fake = one_trial()
    fake.sound = sound
    with served(fake), opened(browser, fake) as page:
        expect(page.locator(".said")).to_contain_text(told)
        assert page.get_by_role("radio", disabled=True).count() == 5


def test_a_sound_that_does_not_come_is_told_and_can_be_asked_for_again(browser: Browser) -> None:
    with served(one_trial()) as fake, opened(browser, fake) as page:
        page.route("**/sound/**", lambda route: route.abort())
        page.reload()
        expect(page.locator(".said")).to_contain_text("could not be loaded")
        page.unroute("**/sound/**")
        rate(page, 4)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"1.1": {"QUALITY": 4}}


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (503, "no_sound", "contact the organizer of this test"),
        (403, "not_now", "already answered, or the test is closed"),
    ],
)
def test_a_sound_that_the_server_does_not_give_is_no_fault_of_the_network(
    browser: Browser, status: int, code: str, told: str
) -> None:
    error = {"error": {"code": code, "message": "no"}}
    with served(one_trial()) as fake, opened(browser, fake) as page:
        page.route("**/sound/**", lambda route: route.fulfill(status=status, json=error))
        page.reload()
        expect(page.locator(".said")).to_contain_text(told)
        expect(page.locator(".said")).not_to_contain_text("connection")


def test_a_browser_without_sound_is_told(browser: Browser) -> None:
    with served(one_trial()) as fake:
        context = browser.new_context()
        context.add_init_script("delete globalThis.AudioContext")
        page, _ = arrive(context, fake)
        expect(page.locator(".said")).to_contain_text("cannot play sound here")
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


def test_a_context_that_will_not_start_asks_for_a_click(browser: Browser) -> None:
    with served(one_trial()) as fake:
        context = browser.new_context()
        context.add_init_script(
            "let times = 0;"
            "const state = Object.getOwnPropertyDescriptor(BaseAudioContext.prototype, 'state');"
            "const resume = AudioContext.prototype.resume;"
            "AudioContext.prototype.resume = async function () {"
            " times += 1; if (times > 1) { await resume.call(this); } };"
            "Object.defineProperty(AudioContext.prototype, 'state',"
            " { get() { return times < 2 ? 'suspended' : state.get.call(this); } });"
        )
        page, _ = arrive(context, fake)
        page.get_by_role("button", name="Play").click()
        expect(page.locator(".said")).to_contain_text("press Play again")
        rate(page, 2)
        expect(page.locator(".code")).to_be_visible()
        assert [one["ended"] for one in fake.answers[0]["meta"]["plays"]] == [True]
        context.close()


def test_a_sound_that_stops_is_told_and_does_not_count_as_heard(browser: Browser) -> None:
    fake = one_trial()
    fake.sound = tone(1.0)
    with served(fake):
        context = browser.new_context()
        context.add_init_script(
            "globalThis.AudioContext = class extends AudioContext {"
            " constructor(...given) { super(...given); globalThis.context = this; } };"
        )
        page, _ = arrive(context, fake)
        page.get_by_role("button", name="Play").click()
        page.evaluate("setTimeout(() => context.suspend(), 200)")
        expect(page.locator(".said")).to_contain_text("stopped before the end")
        expect(page.locator(".announced").filter(has_text="stopped before")).to_have_count(1)
        assert page.get_by_role("radio", disabled=True).count() == 5
        rate(page, 1)
        expect(page.locator(".code")).to_be_visible()
        assert [one["ended"] for one in fake.answers[0]["meta"]["plays"]] == [False, True]
        context.close()


def test_a_lost_focus_is_counted(browser: Browser) -> None:
    with served(one_trial()) as fake, opened(browser, fake) as page:
        at(page, "Session 1 of 2")
        page.evaluate("dispatchEvent(new Event('blur'))")
        rate(page, 2)
        expect(page.locator(".code")).to_be_visible()
        assert fake.answers[0]["meta"]["focus_lost"] == 1
        for _ in range(100):  # events are sent when there is time for them
            if fake.events:
                break
            page.wait_for_timeout(100)
        kinds = [(one["kind"], one["page"]) for one in fake.events]
        assert ("focus_lost", "1.1") in kinds


def test_a_clock_that_stands_still_is_an_underrun(browser: Browser) -> None:
    with served(one_trial()) as fake:
        context = browser.new_context()
        context.add_init_script(  # the system clock follows the sound's, then jumps by 0.5 s
            "const now = performance.now.bind(performance);"
            "const Real = AudioContext;"
            "let heard = null;"
            "globalThis.AudioContext = class extends Real {"
            "  constructor(options) { super(options); heard = this; }"
            "};"
            "globalThis.late = Infinity;"
            "performance.now = () => heard === null ? now()"
            "  : 1000 * heard.currentTime + (now() > late ? 500 : 0);"
        )
        page, _ = arrive(context, fake)
        page.get_by_role("button", name="Play").click()
        page.evaluate("globalThis.late = performance.now() + 100")
        page.get_by_text("Good").click()
        page.locator("button.wide").click()
        expect(page.locator(".code")).to_be_visible()
        assert fake.answers[0]["meta"]["underruns"] == 1
        context.close()


def test_the_level_makes_sounds_quieter(browser: Browser) -> None:
    pages = [small.device(), small.trial("1.1", 1, 1, kind="acr"), small.end()]
    pages[0]["steps"] = ["level"]
    with served(FakeServer(pages)) as fake:
        context = browser.new_context()
        context.add_init_script(TAP)
        page, _ = arrive(context, fake)
        page.get_by_role("button", name="Play the noise").click()
        page.get_by_label("Volume").fill("-20")
        go_on(page)
        at(page, "Session 1 of 2")
        page.reload()  # the level stays
        hear(page)
        assert page.evaluate("passed.peak") == pytest.approx(0.1 * 8000 / 32768, rel=0.02)
        context.close()


@pytest.mark.parametrize("target", [False, True])
def test_huggins_pitch_is_in_the_difference_of_the_ears_alone(
    browser: Browser, target: bool
) -> None:
    with served(one_trial()) as fake, opened(browser, fake) as page:
        found = page.evaluate(SPECTRUM, ["huggins", target])
        assert found["rms"][0] == pytest.approx(found["rms"][1], rel=0.05)
        low, pitch, high = found["at"]
        if target:  # opposite phase at the pitch: twice the amplitude, four times the power
            assert 2.5 < pitch < 4.3
            assert max(low, high) < 0.1
        else:
            assert found["apart"] == 0


@pytest.mark.parametrize(
    ("how", "rms", "apart"), [("plain", 1, 0), ("quiet", 0.5, 0), ("opposite", 1, 2)]
)
def test_tones_are_plain_quiet_or_opposite(
    browser: Browser, how: str, rms: float, apart: float
) -> None:
    assert RATE == 16000
    with served(one_trial()) as fake, opened(browser, fake) as page:
        plain = page.evaluate(SPECTRUM, ["tone", "plain"])["rms"][0]
        found = page.evaluate(SPECTRUM, ["tone", how])
        assert found["rms"] == pytest.approx([rms * plain] * 2, rel=1e-4)
        assert found["apart"] == pytest.approx(apart * plain, rel=1e-4)
