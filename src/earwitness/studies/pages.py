"""Pages of a listener as data, their answers, and practice feedback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from earwitness.core import Answer, Rating
from earwitness.errors import BadAnswer, whole_characters
from earwitness.studies.device import device_faults, draw_device_trials
from earwitness.studies.hearing import digit_files, draw_triplets, hearing_faults
from earwitness.studies.study import (
    CHECK_ROLES,
    CHECK_SYSTEMS,
    HearingTest,
    ListenerPlan,
    Question,
    Study,
    Trial,
)
from earwitness.studies.trials import block_kind, study_kinds, trial_kind
from earwitness.studies.trials.base import Values, is_number
from earwitness.studies.wording import Wording, wording

# --- Feedback after practice trials --------------------------------------------------------------


Row = dict[str, Any]


def feedback_rows(study: Study, trial: Trial, questions: list[Row], words: Wording) -> list[Row]:
    """Return a feedback row per question of a trial, without the listener's answers."""
    kind = trial_kind(study, trial)
    shown = kind.presented(trial, words, study.reference)
    gold = {(answer.item, answer.system, answer.scale): answer.value for answer in study.gold}
    is_same = len({question["prompt"] for question in questions}) < len(questions)
    rows = []
    for ask, question in zip(kind.asks(trial), questions, strict=True):
        system, label = shown[ask.sound]
        expected = gold.get((trial.item, system, ask.scale.name))
        expected_label = None if expected is None else answer_label(question, expected, words)
        prompt = label if is_same else question["prompt"]  # the same question about each sound
        rows.append({"prompt": prompt, "given": None, "expected": expected_label})
    return rows


def add_given_answers(
    rows: list[Row], questions: list[Row], values: Values, words: Wording
) -> list[Row]:
    """Return the rows with the listener's answers added."""
    return [
        {**row, "given": answer_label(question, values[question["name"]], words)}
        for row, question in zip(rows, questions, strict=True)
    ]


def answer_label(question: Row, value: float, words: Wording) -> str:
    """Return an answer as shown on the page."""
    for option in question.get("options", ()):
        if option["value"] == value:
            return str(option["label"])
    return words.number(value, question.get("step", 1))


# --- Pages of a listener -------------------------------------------------------------------------
# A view does not reveal its systems: sounds have addresses, which the caller makes up. The answers
# of a page are read by the kind of its trial, or as a form.


View = dict[str, Any]
Address = Callable[[str, str, int], str]
AGREE_ANSWER, TRAINING_PAGES, ANCHOR_PAGES = "agree", "training", "anchors"
# kinds of pages that are not trials
CONSENT_PAGE, FORM_PAGE, TEXT_PAGE, REST_PAGE, END_PAGE = "consent", "form", "text", "rest", "end"
DEVICE_PAGE, FEEDBACK_PAGE, HEARING_PAGE = "device", "feedback", "hearing"
CHECK_PAGE = "check"  # a question to answer correctly before the first trial
MAX_NUMBER = sys.float_info.max  # of a form


@dataclass(frozen=True)
class Page:
    """A page: its name, its view, and its trial, if any.

    ``counts`` is false for practice, anchors, gold and trapping clips, whose ratings are not
    analysed; ``number`` is the number of the trial in its session. ``about`` is the page whose
    answers this page reports. ``item`` is the item whose long recording is shown, if any.
    """

    name: str
    view: View
    trial: Trial | None = None
    session: int = 0
    questions: tuple[Question, ...] = ()
    counts: bool = False
    number: int = 0
    about: Page | None = None
    item: str = ""

    @property
    def asks(self) -> bool:
        """Whether the page has questions."""
        return bool(self.view.get("questions")) or self.view["kind"] in (DEVICE_PAGE, HEARING_PAGE)


def pages(
    study: Study, plan: ListenerPlan, address: Address, *, outline: bool = False
) -> Iterator[Page]:
    """Yield all pages of one listener, in order.

    In an ``outline``, pages of trials in sessions show their title only; ``trial_page`` returns
    them completely.
    """
    words = wording(study.language, study.wordings)
    show = _PageBuilder(study, words, address, outline)
    if study.consent:
        yield show.consent()
    yield from show.form("before", study.before)
    if study.instructions:
        yield show.text("instructions", study.instructions)
    if study.device:
        yield show.device(plan.listener)
    if study.hearing is not None:
        yield show.hearing(plan.listener, study.hearing)
    yield from show.intro_pages()
    yield from show.check_pages()
    for name, trials in ((TRAINING_PAGES, plan.training), (ANCHOR_PAGES, plan.anchors)):
        if trials:
            title, text = words.page(name), words.page(f"{name}_told")
            if name == TRAINING_PAGES:
                kind = trial_kind(study, trials[0])
                text = kind.practice_text(
                    trials, words, feedback=study.feedback and bool(study.gold)
                )
            yield show.text(f"{name}.0", text, title)
            yield from show.practice(TrialGroup(name, trials, 0, title))
    for number, session in enumerate(plan.sessions, 1):
        if number > 1 and study.rest_minutes:
            yield show.rest_page(number)
        title = words.page("session", number=number, count=len(plan.sessions))
        yield show.text(f"{number}.0", show.session_text(session), title)
        yield from show.trials(TrialGroup(str(number), session, number, title))
    yield from show.form("after", study.after)
    yield Page(END_PAGE, {"kind": END_PAGE, "title": words.page(END_PAGE)})


def asked_pages(study: Study) -> dict[str, Page]:
    """Return the pages with questions that all listeners see, by name: those without a trial."""
    shown = pages(study, ListenerPlan(1, 1, ()), lambda *_: "")
    return {page.name: page for page in shown if page.asks}


@dataclass(frozen=True, slots=True, eq=False)
class TrialGroup:
    """Trials of practice, of anchors or of one session, with the title of their pages."""

    name: str
    trials: Sequence[Trial]
    session: int
    title: str


def trial_page(
    study: Study, words: Wording, address: Address, group: TrialGroup, number: int
) -> Page:
    """Return one page of a group of trials, the same as ``pages`` yields."""
    return _PageBuilder(study, words, address).trial(group, number)


def planned_trials(plan: ListenerPlan) -> dict[str, Trial]:
    """Return all trials of one listener by page name."""
    named = {TRAINING_PAGES: plan.training, ANCHOR_PAGES: plan.anchors}
    named |= {str(number): session for number, session in enumerate(plan.sessions, 1)}
    return {
        f"{name}.{number}": trial
        for name, trials in named.items()
        for number, trial in enumerate(trials, 1)
    }


def counted_trials(plan: ListenerPlan) -> dict[str, Trial]:
    """Return the trials of one listener that count, by page name.

    These are the trials of sessions, without gold and trapping clips.
    """
    return {
        name: trial
        for name, trial in planned_trials(plan).items()
        if name[0].isdigit() and trial.role not in CHECK_ROLES
    }


def presented_trial(trial: Trial) -> dict[str, Any]:
    """Return what is presented in a trial, as stored with answers."""
    return {
        "item": trial.item,
        "systems": list(trial.systems),
        "target": trial.target,
        "scales": list(trial.scales),
        "block": trial.block,
        "against": trial.against,
    }


def heard_trial(answer: Answer) -> Trial | None:
    """Return the trial that was presented on the page of an answer, if it was a trial."""
    if answer.heard is None:
        return None
    systems, scales = tuple(answer.heard["systems"]), tuple(answer.heard["scales"])
    return Trial(**{**answer.heard, "systems": systems, "scales": scales})


def answered_trial(answer: Answer) -> Trial | None:
    """Return the trial of an answer, if it counts."""
    trial = heard_trial(answer) if answer.page[:1].isdigit() else None
    return None if trial is None or trial.systems[0] in CHECK_SYSTEMS else trial


def read_page(study: Study, page: Page, values: Values, listener: int) -> list[Rating]:
    """Return the ratings of the answers of a page; raise BadAnswer if any is invalid."""
    if page.trial is not None:
        kind = trial_kind(study, page.trial)
        ratings = kind.read(page.trial, values, listener, page.session, page.number)
        return ratings if page.counts else []
    if wrong := dict(_page_faults(study, page, values, listener)):
        raise BadAnswer(wrong)
    if page.view["kind"] == CHECK_PAGE and not all(
        question.eligible is None or question.eligible.admits(values[question.name])
        for question in page.questions
    ):
        raise BadAnswer(["the answer to the check question is wrong"])
    return []


def _page_faults(
    study: Study, page: Page, values: Values, listener: int
) -> Iterator[tuple[str, str]]:
    """Yield the invalid answers of a page without a trial, and what is wrong."""
    kind = page.view["kind"]
    if not page.asks:
        yield from ((name, f"unknown question {name!r}") for name in values)
    elif kind == DEVICE_PAGE:
        yield from device_faults(study.device, values)
    elif kind == HEARING_PAGE and study.hearing is not None:
        yield from hearing_faults(study.hearing, study.seed, listener, values)
    elif kind == CONSENT_PAGE and dict(values) != {AGREE_ANSWER: True}:
        yield AGREE_ANSWER, "consent is required to take part"
    elif kind in (FORM_PAGE, CHECK_PAGE):
        yield from _form_faults(page.questions, values)


def view_with_answer(study: Study, page: Page, values: Values | None) -> View:
    """Return the view of a page, given the answers to the page that it reports."""
    if page.about is None or values is None:
        return page.view
    words, asked = wording(study.language, study.wordings), page.about.view["questions"]
    return {**page.view, "rows": add_given_answers(page.view["rows"], asked, values, words)}


@dataclass(frozen=True)
class _PageBuilder:
    """Creates pages."""

    study: Study
    words: Wording
    address: Address
    outline: bool = False

    def text(self, name: str, text: str, title: str = "") -> Page:
        shown = title or self.words.page(name)
        return Page(name, {"kind": TEXT_PAGE, "title": shown, "text": text})

    def session_text(self, trials: Sequence[Trial]) -> str:
        """Return the text before a session; it is empty without trials."""
        return trial_kind(self.study, trials[0]).session_text(trials, self.words) if trials else ""

    def consent(self) -> Page:
        options = [{"value": True, "label": self.words.pages["yes"]}]
        prompt = self.words.pages[AGREE_ANSWER]
        question = {"name": AGREE_ANSWER, "prompt": prompt, "answer": "choice", "options": options}
        title, text = self.words.pages[CONSENT_PAGE], self.study.consent
        view = {"kind": CONSENT_PAGE, "title": title, "text": text, "questions": [question]}
        return Page(CONSENT_PAGE, view)

    def form(self, when: str, questions: tuple[Question, ...]) -> Iterator[Page]:
        if questions:
            shown = [_question_view(question) for question in questions]
            view = {"kind": FORM_PAGE, "title": self.words.pages[when], "questions": shown}
            yield Page(when, view, questions=questions)

    def rest_page(self, number: int) -> Page:
        minutes = self.study.rest_minutes
        title = self.words.page_with_count(REST_PAGE, minutes, "minutes")
        if minutes < 1:
            title = self.words.page_with_count("rest_seconds", round(minutes * 60), "seconds")
        return Page(f"rest.{number}", {"kind": REST_PAGE, "title": title, "minutes": minutes})

    def device(self, listener: int) -> Page:
        steps, title = list(self.study.device), self.words.pages[DEVICE_PAGE]
        trials = draw_device_trials(steps, self.study.seed, listener)
        view = {"kind": DEVICE_PAGE, "title": title, "steps": steps, "trials": trials}
        return Page(DEVICE_PAGE, view)

    def hearing(self, listener: int, test: HearingTest) -> Page:
        files = enumerate(digit_files(test))
        view = {
            "kind": HEARING_PAGE,
            "renderer": HEARING_PAGE,
            "title": self.words.pages[HEARING_PAGE],
            "sounds": [{"address": self.address("", f, n), "label": str(n)} for n, f in files],
            "triplets": draw_triplets(test.triplets, self.study.seed, listener),
        }
        return Page(HEARING_PAGE, view)

    def intro_pages(self) -> Iterator[Page]:
        """Yield the pages of each trial kind before the first trial, once per kind."""
        asked: list[tuple[str, str, int]] = []

        def later(item: str, system: str, place: int) -> str:
            asked.append((item, system, place))
            return str(len(asked) - 1)

        kinds = study_kinds(self.study)
        views = {n: v for kind in kinds for n, v in kind.intro_views(self.words, later).items()}
        for name, view in views.items():
            sounds = [
                {**sound, "address": self.address(*asked[int(sound["address"])])}
                for sound in view.get("sounds", ())
            ]
            view, item = {**view, "sounds": sounds} if sounds else view, ""
            if "recording" in view:
                item = view.pop("recording")
                view |= self._recording(item)
            yield Page(name, view, item=item)

    def check_pages(self) -> Iterator[Page]:
        """Yield the check question of each trial kind, once per kind."""
        kinds = {block.kind: block_kind(block) for block in self.study.blocks}
        for name, kind in kinds.items():
            if (question := kind.check_question(self.words)) is not None:
                title, shown = self.words.pages[CHECK_PAGE], [_question_view(question)]
                view = {"kind": CHECK_PAGE, "title": title, "questions": shown}
                if definitions := kind.definitions(self.words):
                    view["definitions"] = definitions
                yield Page(f"{name}.{CHECK_PAGE}", view, questions=(question,))

    def _recording(self, item: str) -> View:
        """Return the part of a view about the long recording of an item, if it has one."""
        if self.study.recording(item) is None:
            return {}
        return {"recording": {"display": asdict(self.study.recording_display)}}

    def practice(self, group: TrialGroup) -> Iterator[Page]:
        """Yield trials that do not count, those of training with a page of feedback."""
        for page in self.trials(group):
            yield page
            if group.name == TRAINING_PAGES and self.study.feedback and page.trial is not None:
                asked = page.view["questions"]
                rows = feedback_rows(self.study, page.trial, asked, self.words)
                view = {
                    "kind": FEEDBACK_PAGE,
                    "title": self.words.pages[FEEDBACK_PAGE],
                    "rows": rows,
                    **trial_kind(self.study, page.trial).feedback_view(page.trial, self.words),
                }
                yield Page(f"{FEEDBACK_PAGE}.{page.number}", view, about=page)

    def trials(self, group: TrialGroup) -> Iterator[Page]:
        """Yield the pages of trials."""
        for number, trial in enumerate(group.trials, 1):
            if self.outline and group.session:
                title = {"title": group.title}
                yield Page(f"{group.name}.{number}", title, trial, group.session)
            else:
                yield self.trial(group, number)

    def trial(self, group: TrialGroup, number: int) -> Page:
        """Return the page of the trial with a number, from 1."""
        study, trial, session = self.study, group.trials[number - 1], group.session
        kind = trial_kind(study, trial)
        view = kind.view(trial, self.words, self.address, study.reference, study.caption)
        view["title"], view["progress"] = group.title, [number, len(group.trials)]
        view |= self._recording(trial.item)
        counts = session > 0 and trial.role not in CHECK_ROLES
        name = f"{group.name}.{number}"
        return Page(name, view, trial, session, (), counts, number, item=trial.item)


def _question_view(question: Question) -> View:
    shown: View = {"name": question.name, "prompt": question.prompt, "answer": question.answer}
    if question.options:
        shown["options"] = [{"value": option, "label": option} for option in question.options]
    return shown | {"needed": question.needed}


def _form_faults(questions: Sequence[Question], values: Values) -> Iterator[tuple[str, str]]:
    question_of = {question.name: question for question in questions}
    for name, question in question_of.items():
        value = values.get(name)
        if value in (None, ""):
            if question.needed:
                yield name, f"{name} has no answer"
        elif question.answer == "choice" and value not in question.options:
            yield name, f"{name} must be one of {', '.join(question.options)}, got {value!r}"
        elif question.answer == "number" and not is_number(value, -MAX_NUMBER, MAX_NUMBER):
            yield name, f"{name} must be a number, got {value!r}"
        elif question.answer == "text" and not (
            isinstance(value, str) and value == whole_characters(value)
        ):
            yield name, f"{name} must be text, got {value!r}"
    for name in values:
        if name not in question_of:
            yield name, f"unknown question {name!r}"
