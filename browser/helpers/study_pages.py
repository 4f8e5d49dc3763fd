"""Pages of small studies, as the server gives them."""

from __future__ import annotations

from typing import Any

from earwitness.studies.study import Trial
from earwitness.studies.trials import KINDS
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.wording import wording

View = dict[str, Any]

ORDER = ("BAK", "SIG", "OVRL")


def trial(
    name: str, number: int, of: int, language: str = "en", kind: str = "p835", rated: int = 3
) -> View:
    """A trial of a kind with one sound, or with several, of which MUSHRA has any number."""
    made = KINDS[kind]() if kind in ("p835", "dcr", "ccr") else KINDS[kind](plays=0)
    count = rated if kind == "mushra" else 2 if made.compared == "pair" or kind == "bs1116" else 1
    systems = tuple(LETTERS[:count])
    shown = Trial("item", systems, ORDER if kind == "p835" else made.scale_orders[0])
    title = {"en": "Session 1 of 2", "fr": "Session 1 sur 2"}[language]

    def address(item: str, system: str, place: int) -> str:
        del item, system
        return f"/l/tok/sound/{name}/{place}"

    view = made.view(shown, wording(language), address, "reference")
    return {**view, "name": name, "title": title, "progress": [number, of]}


def consent() -> View:
    agree: View = {"name": "agree", "prompt": "I agree to take part", "answer": "choice"}
    agree["options"] = [{"value": True, "label": "yes"}]
    text = (
        "You will hear short clips of speech and rate them. It takes about twenty minutes.\n\n"
        "You may stop at any moment. Your answers are kept under a number, not under your name."
    )
    kind = {"kind": "consent", "name": "consent", "title": "Consent"}
    return kind | {"text": text, "questions": [agree]}


def form() -> View:
    device = {"name": "device", "prompt": "What do you listen with?", "answer": "choice"}
    options = [{"value": one, "label": one} for one in ("Headphones", "In-ear", "Loudspeakers")]
    age = {"name": "age", "prompt": "How old are you?", "answer": "number", "needed": True}
    more = {"name": "more", "prompt": "Anything we should know?", "answer": "text"}
    asked = [{**device, "options": options, "needed": True}, age, {**more, "needed": False}]
    return {"kind": "form", "name": "before", "title": "Before you listen", "questions": asked}


def text(name: str = "instructions") -> View:
    told = (
        "You hear every clip three times. Attend first to the background, then to the speech, "
        "then to the whole.\n\nKeys 1 to 5 choose, Space plays, Enter continues."
    )
    return {"kind": "text", "name": name, "title": "Instructions", "text": told}


def feedback(name: str = "training.1.feedback") -> View:
    row: View = {"prompt": "The background is:", "given": "Not noticeable"}
    rows = [
        {**row, "expected": "Somewhat intrusive"},
        {"prompt": "The speech is:", "given": "Not distorted", "expected": "Not distorted"},
        {"prompt": "The overall quality is:", "given": "Good", "expected": None},
    ]
    return {"kind": "feedback", "name": name, "title": "Practice", "rows": rows}


def rest(seconds: float = 1.0) -> View:
    return {
        "kind": "rest",
        "name": "rest.2",
        "title": "Please rest for 5 minutes",
        "minutes": 5,
        "seconds": seconds,
    }


def device(**trials: list[int]) -> View:
    steps = ["level", "sides", "huggins", "antiphase"]
    return {
        "kind": "device",
        "name": "device",
        "title": "Your device",
        "steps": steps,
        "trials": trials or {"sides": [1, 0], "huggins": [2, 0], "antiphase": [1]},
    }


def end() -> View:
    return {"kind": "end", "name": "end", "title": "You have finished. Thank you!"}


def whole() -> list[View]:
    """A whole small P.835 study."""
    practice = [text("training.0"), trial("training.1", 1, 1), feedback()]
    first = [text("1.0"), trial("1.1", 1, 2), trial("1.2", 2, 2)]
    second = [rest(), text("2.0"), trial("2.1", 1, 1)]
    return [consent(), form(), text(), *practice, *first, *second, end()]
