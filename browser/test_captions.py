"""Pages with captions in Chromium: what is missing, what is kept, what can be read."""

from __future__ import annotations

from browser.helpers import caption_pages as captions
from browser.helpers import study_pages as small
from browser.helpers.caption_actions import give, hear, save, trial, unset
from browser.helpers.caption_raters import number, slider
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import at, drafted, opened
from playwright.sync_api import Browser


def test_nothing_is_saved_while_a_number_is_missing_and_the_page_goes_there(
    browser: Browser,
) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        hear(page)
        give(page, 0, 2, 3, 4, 5, 7, 8)
        save(page)
        missing = page.locator(".missing li")
        names = ["Caption A: Recall", "Caption B: Recall", "Caption B: Irrelevance"]
        expect(missing).to_have_text(names)
        expect(slider(page, 1)).to_be_focused()
        expect(slider(page, 1)).to_be_in_viewport()
        expect(page.locator(".rated").nth(1)).to_contain_text("Please enter a number.")
        expect(page.locator(".announced:not(:empty)")).to_contain_text("Caption B: Recall")
        assert fake.posts == []
        page.keyboard.type("3.5")
        expect(missing).to_have_text(names[1:])
        page.keyboard.press("Enter")
        expect(slider(page, 6)).to_be_focused()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        expect(slider(page, 9)).to_be_focused()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        expect(page.locator(".code")).to_be_visible()
        values = fake.values()["1.1"]
        assert (values["A.recall"], values["B.recall"], values["B.irrelevance"]) == (3.5, 5, 0)
        assert len(values) == 10


def test_enter_in_a_comment_is_a_new_line_and_other_keys_are_letters(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        hear(page)
        give(page, *range(10))
        area = page.get_by_label("Caption A: Comment")
        area.focus()
        page.keyboard.type("4 ?\n- 5")
        expect(area).to_have_value("4 ?\n- 5")
        expect(page.locator("button.play")).to_have_attribute("data-state", "play_again")
        assert page.locator(".help:visible").count() == 0
        assert fake.posts == []
        page.keyboard.press("Control+Enter")
        expect(page.locator(".code")).to_be_visible()
        assert fake.values()["1.1"]["A.comment"] == "4 ?\n- 5"
        assert "B.comment" not in fake.values()["1.1"]


def test_whether_a_clip_is_synthesised_can_be_said_and_taken_back(browser: Browser) -> None:
    pages = [captions.judged("1.1"), captions.judged("1.2"), small.end()]
    with served(FakeServer(pages)) as fake, opened(browser, fake) as page:
        for presses, said in ((("yes", "no", "no"), None), (("yes", "no"), "no")):
            hear(page)
            give(page, *range(10))
            for name in presses:
                page.get_by_role("button", name=name, exact=True).click()
            pressed = page.locator("[aria-pressed=true]")
            expect(pressed).to_have_text([said] if said else [])
            save(page)
            at(page, "Session 1 of 2" if said is None else "You have finished. Thank you!")
            expect(page.locator("body")).not_to_have_attribute("data-name", "1.1")
        assert [one["values"].get("synthesised") for one in fake.answers] == [None, "no"]


def test_everything_given_is_there_after_a_reload(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        hear(page)
        give(page, 0, 4)
        number(page, 2).fill("0.5")
        number(page, 3).fill("-")
        page.get_by_label("Caption B: Comment").fill("half a tho")
        page.get_by_role("button", name="yes", exact=True).click()
        drafted(page)
        page.reload()
        for place, text in enumerate(["4", "", "0.5", "-", "−1", "", "", "", "", ""]):
            expect(number(page, place)).to_have_value(text)
        assert unset(page) == 8
        expect(page.get_by_label("Caption B: Comment")).to_have_value("half a tho")
        expect(page.locator("[aria-pressed=true]")).to_have_text("yes")
        expect(page.locator(".player")).to_contain_text("You have heard the whole clip.")
        give(page, *range(10))
        save(page)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values()["1.1"]["B.comment"] == "half a tho"


def test_a_refused_answer_leaves_all_in_place_and_the_clip_is_heard_again(browser: Browser) -> None:
    error = '{"error": {"code": "wrong", "message": "", "wrong": ["Please hear every sound."]}}'
    with served(trial()) as fake, opened(browser, fake) as page:
        hear(page)
        give(page, *range(10))
        page.get_by_label("Caption A: Comment").fill("stays")
        page.route("**/answers", lambda route: route.fulfill(status=422, body=error))
        save(page)
        expect(page.locator(".notice")).to_contain_text("Please hear every sound.")
        expect(page.locator("#saving")).to_have_text("Not saved")
        page.unroute("**/answers")
        for _ in range(2):
            assert unset(page) == 0
            expect(page.get_by_label("Caption A: Comment")).to_have_value("stays")
            expect(page.locator(".player")).to_contain_text("Please listen to the whole clip.")
            page.reload()
            expect(page.locator(".save")).to_be_visible()
        hear(page)
        save(page)
        expect(page.locator(".code")).to_be_visible()
        assert len(fake.answers[0]["meta"]["plays"]) == 1


def test_an_answer_given_without_a_connection_waits_and_is_sent(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        hear(page)
        give(page, *range(10))
        page.route("**/answers", lambda route: route.abort())
        save(page)
        at(page, "No connection")
        page.unroute("**/answers")
        page.reload()
        expect(page.locator(".code")).to_be_visible()
        assert len(fake.values()["1.1"]) == 10


def test_what_numbers_mean_can_be_read_at_any_time_without_losing_anything(
    browser: Browser,
) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        give(page, 0)
        page.get_by_role("button", name="What do the numbers mean?").click()
        told = page.get_by_role("dialog")
        expect(told).to_contain_text("a small mistake that a text editing tool can correct")
        expect(told).to_contain_text("−0.1")
        page.keyboard.press("Enter")
        page.keyboard.press("Control+Enter")
        assert page.locator(".missing li").count() == 0
        page.keyboard.press("Escape")
        expect(told).to_have_count(0)
        expect(number(page, 0)).to_have_value("4")
        slider(page, 2).press("?")
        expect(page.locator(".help:visible")).to_contain_text("A penalty for bad language")
        page.get_by_role("button", name="What Fluency means").first.click()
        expect(page.locator(".help:visible")).to_have_count(0)
