"""Import of webMUSHRA configurations as study files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from earwitness.analysis.plan import ANCHOR_CUTOFFS_HZ
from earwitness.errors import Problem, nearest, refuse_problems
from earwitness.io.schema import Fault, is_name, show
from earwitness.io.source import is_present
from earwitness.io.yaml import YamlDocument, read_yaml
from earwitness.studies.file.material import is_path

# --- Plain text from HTML ------------------------------------------------------------------------


class _TextExtractor(HTMLParser):
    """Collects the text of a page without its markup."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("br", "p", "li", "div"):
            self.texts.append("\n")


def plain_text(html: str) -> str:
    """Return the text of HTML without its markup, one line per paragraph.

    >>> plain_text("Welcome!<br/>Use <b>headphones</b> &amp; relax.")
    'Welcome!\\nUse headphones & relax.'
    """
    reader = _TextExtractor()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.texts).splitlines())
    return "\n".join(line for line in lines if line)


# --- Import of webMUSHRA configurations ----------------------------------------------------------


REFERENCE = "reference"
ANCHOR_KEYS = {f"createAnchor{name.removeprefix('anchor')}": name for name in ANCHOR_CUTOFFS_HZ}
TRIAL_PAGE_TYPES = ("mushra", "bs1116", "paired_comparison", "likert_single_stimulus")
OTHER_PAGE_TYPES = ("generic", "finish", "volume", "consent")
ANSWER_TYPES = {"text": "text", "long_text": "text", "number": "number", "likert": "choice"}
LIKERT_VALUES = [5, 4, 3, 2, 1]
TRIAL_PAGE_KEYS = {  # of pages with trials
    *("type", "id", "name", "content", "reference", "stimuli", "response", "unforced", "strict"),
    *("mustRate", "mustPlayback", "showWaveform", "enableLooping", "randomize", "switchBack"),
    *("showConditionNames", "createAnchor35", "createAnchor70"),
}
PageConfig = dict[str, Any]
Row = dict[str, Any]


@dataclass
class ImportedStudy:
    """A study of one trial kind: its keys, one row per clip, and the anchors to create."""

    kind: str
    study: dict[str, Any]
    clips: list[Row]
    anchors: list[str]


@dataclass
class _Reading:
    """State of an import: pages, problems and notes."""

    file: YamlDocument
    root: Path
    pages: list[tuple[str, PageConfig]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shuffled: bool = False
    without_reference: bool = False  # whether no page of type mushra has a reference

    def add_problem(self, path: str, message: str, remedy: str = "") -> None:
        self.problems.append(self.file.problem(Fault(path, message, remedy)))


def read_webmushra(config: Path, listeners: int) -> tuple[list[ImportedStudy], list[str]]:
    """Return studies and notes on what was not imported."""
    reading = _Reading(read_yaml(config), config.parent)
    value = reading.file.value
    if not isinstance(value, dict) or not isinstance(value.get("pages"), list):
        reading.add_problem("pages", "required: a webMUSHRA configuration has a list of pages")
    else:
        _flatten(reading, value["pages"], "pages")
    mushra = [page for _, page in reading.pages if page["type"] == "mushra"]
    reading.without_reference = bool(mushra) and not any(  # misspelt, or filtered as an anchor
        get_close_matches(REFERENCE, map(str, page)) or _anchor_names(page) for page in mushra
    )
    reading.root = _find_root(config, [page for _, page in reading.pages])
    for path, page in reading.pages:
        _check_page(reading, path, page)
    studies = [] if reading.problems else list(_build_studies(reading, listeners))
    if not reading.problems and not studies:
        reading.add_problem(
            "pages", f"no page has a supported trial type: {', '.join(TRIAL_PAGE_TYPES)}"
        )
    refuse_problems(reading.problems, "written")
    if not reading.shuffled:
        reading.notes.append(
            "the fixed order of pages was replaced by a balanced order per listener"
        )
    return studies, reading.notes


def _flatten(reading: _Reading, pages: Sequence[Any], path: str) -> None:
    """Collect pages of nested lists; a list that begins with "random" is shuffled."""
    for index, page in enumerate(pages):
        at = f"{path}[{index}]"
        if isinstance(page, list):
            _flatten(reading, page, at)
        elif page == "random":
            reading.shuffled = True
        elif not isinstance(page, dict) or page.get("type") not in (
            *TRIAL_PAGE_TYPES,
            *OTHER_PAGE_TYPES,
        ):
            what = page.get("type") if isinstance(page, dict) else page
            remedy = nearest(str(what), (*TRIAL_PAGE_TYPES, *OTHER_PAGE_TYPES))
            reading.add_problem(at, f"unknown page type {show(what)}", remedy)
        else:
            reading.pages.append((at, page))


def _check_page(reading: _Reading, path: str, page: PageConfig) -> None:
    """Check names and files of a page with a trial."""
    if page["type"] not in TRIAL_PAGE_TYPES:
        return
    for key in page:
        if key not in TRIAL_PAGE_KEYS:
            message = f'"{key}" of page {show(page.get("id"))} is unknown and was not imported'
            reading.notes.append(f"{message} — {nearest(str(key), TRIAL_PAGE_KEYS)}")
    if not is_name(page.get("id")) or is_path(page["id"]):
        reading.add_problem(f"{path}.id", f"must be a name, got {show(page.get('id'))}")
    stimuli = page.get("stimuli")
    if not isinstance(stimuli, dict) or not stimuli:
        reading.add_problem(f"{path}.stimuli", "must name an audio file for each system")
        return
    named = {f"stimuli.{name}": file for name, file in stimuli.items()}
    if _needs_reference(reading, page):
        named[REFERENCE] = page.get(REFERENCE)
    for key, file in named.items():
        if not isinstance(file, str):
            close = [name for name in page if name not in TRIAL_PAGE_KEYS]
            remedy = nearest(key, close) if close else ""
            reading.add_problem(f"{path}.{key}", f"must be a path, got {show(file)}", remedy)
        elif not is_present(reading.root / file):
            message = f"file {file} does not exist in {reading.root}"
            remedy = "paths are relative to the folder of the configuration, or one above it"
            reading.add_problem(f"{path}.{key}", message, remedy)


def _find_root(config: Path, pages: Iterable[PageConfig]) -> Path:
    """Return the folder of the configuration or above that has most of its audio files."""
    paths = [
        file
        for page in pages
        if isinstance(stimuli := page.get("stimuli"), dict)
        for file in (*stimuli.values(), page.get(REFERENCE))
        if isinstance(file, str)
    ]
    folders = config.parent, *config.absolute().parent.parents
    return max(folders, key=lambda folder: sum(is_present(folder / path) for path in paths))


def _needs_reference(reading: _Reading, page: PageConfig) -> bool:
    """Return whether trials need the reference; a single stimulus is compared with it."""
    if page["type"] == "mushra":
        return not reading.without_reference
    alone = page["type"] == "paired_comparison" and len(page["stimuli"]) == 1
    return alone or page["type"] == "bs1116"


def _build_studies(reading: _Reading, listeners: int) -> Iterator[ImportedStudy]:
    kinds = dict.fromkeys(
        page["type"] for _, page in reading.pages if page["type"] in TRIAL_PAGE_TYPES
    )
    for kind in kinds:
        pages = [(path, page) for path, page in reading.pages if page["type"] == kind]
        _check_alike(reading, pages)
        if not reading.problems:
            yield _build_study(reading, kind, [page for _, page in pages], listeners)


def _check_alike(reading: _Reading, pages: list[tuple[str, PageConfig]]) -> None:
    """Check that all pages of a type have the same systems and options, and different names."""
    first, seen = pages[0][1], {str(pages[0][1]["id"])}
    for path, page in pages[1:]:
        if list(map(str, page["stimuli"])) != list(map(str, first["stimuli"])):
            message = (
                f"got {', '.join(page['stimuli'])}, but {first['id']} has"
                f" {', '.join(first['stimuli'])}"
            )
            reading.add_problem(
                f"{path}.stimuli", message, "use the same systems on all pages of a type"
            )
        for key in (*ANCHOR_KEYS, "response", "unforced"):
            if bool(page.get(key)) != bool(first.get(key)) or (
                key == "response" and page.get(key) != first.get(key)
            ):
                reading.add_problem(f"{path}.{key}", f"differs from that of {first['id']}")
        if str(page["id"]) in seen:
            reading.add_problem(f"{path}.id", f'duplicate "{page["id"]}"')
        seen.add(str(page["id"]))


def _anchor_names(page: PageConfig) -> list[str]:
    return [name for key, name in ANCHOR_KEYS.items() if page.get(key)]


def _build_study(
    reading: _Reading, kind: str, pages: list[PageConfig], listeners: int
) -> ImportedStudy:
    value, first = reading.file.value, pages[0]
    anchors = _anchor_names(first) if kind == "mushra" else []
    block, wordings = _build_block(reading, kind, first, anchors)
    study = {
        "title": str(value.get("testname") or value.get("testId") or "webMUSHRA"),
        "systems": list(map(str, first["stimuli"])),
        "files": "{system}/{item}.wav",
        "material": "clips.csv",
        "listeners": listeners,
        "blocks": [block],
        "instructions": _instructions(reading, kind),
        "forms": {"after": list(_form_questions(reading))},
        **({REFERENCE: REFERENCE} if _needs_reference(reading, first) else {}),
        **({"wordings": wordings} if wordings else {}),
    }
    clips = list[Row]()
    for page in pages:
        paths = dict(page["stimuli"])
        if _needs_reference(reading, page):
            paths[REFERENCE] = page[REFERENCE]
        files = {f"file.{name}": str(reading.root / path) for name, path in paths.items()}
        clips.append({"name": str(page["id"]), **files})
    return ImportedStudy(block["kind"], study, clips, anchors)


def _build_block(
    reading: _Reading, kind: str, page: PageConfig, anchors: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    if kind == "mushra":
        parameters: dict[str, Any] = {"anchors": anchors}
        if reading.without_reference:
            parameters |= {"open_reference": False, "hidden_reference": False}
            reading.notes.append("no page of type mushra has a reference, so the study has none")
        return {"kind": "mushra", "parameters": parameters}, {}
    if kind == "bs1116":
        return {"kind": "bs1116"}, {}
    if kind == "paired_comparison":
        kind = "preference" if "unforced" in page else "ab"
        if len(page["stimuli"]) == 1:
            return {"kind": kind, "parameters": {"pairs": REFERENCE}}, {}
        if page.get(REFERENCE):
            reading.notes.append("the reference next to pairs was not imported")
        return {"kind": kind}, {}
    labels = _likert_labels(reading, page)
    prompt = plain_text(str(page.get("content") or page.get("name") or ""))
    scale = {"labels": labels, **({"prompt": prompt} if prompt else {})}
    return {"kind": "acr", "parameters": {"plays": 0}}, {"scales": {"QUALITY": scale}}


def _likert_labels(reading: _Reading, page: PageConfig) -> list[str]:
    """Return the labels of the answers from 5 to 1."""
    answers = page.get("response")
    labels = {}
    for answer in answers if isinstance(answers, list) else []:
        if isinstance(answer, dict) and str(answer.get("value")).isdecimal():
            labels[int(answer["value"])] = str(answer.get("label") or answer["value"])
    if sorted(labels, reverse=True) != LIKERT_VALUES:
        message = f"the answers of page {page['id']} must be 1 to 5"
        reading.add_problem("pages", message, "only scales with five categories can be imported")
        return []
    return [labels[value] for value in LIKERT_VALUES]


def _page_text(page: PageConfig) -> str:
    return plain_text(str(page.get("content") or ""))


def _instructions(reading: _Reading, kind: str) -> str:
    """Return the text before the first trial, and that of the first trial of the type."""
    texts: list[str] = []
    for _, page in reading.pages:
        if page["type"] == "generic":
            texts.append(_page_text(page))
        elif page["type"] in TRIAL_PAGE_TYPES:
            break
    if lost := _lost_pages(reading, kind):
        reading.notes.append(f"text of these pages was not imported: {', '.join(lost)}")
    first = next(page for _, page in reading.pages if page["type"] == kind)
    texts.append(_page_text(first))
    return "\n\n".join(dict.fromkeys(text for text in texts if text))


def _lost_pages(reading: _Reading, kind: str) -> list[str]:
    """Return text pages after the first trial, and trials with a different text."""
    names, said = list[str](), ""
    for path, page in reading.pages:
        name, text = str(page.get("id", path)), _page_text(page)
        if page["type"] == kind:
            names += [name] if said and text and text != said else []
            said = said or text
        elif page["type"] == "generic" and said and text:
            names.append(name)
    return names


def _form_questions(reading: _Reading) -> Iterator[dict[str, Any]]:
    for _, page in reading.pages:
        asked = page.get("questionnaire") if page["type"] == "finish" else None
        for question in asked if isinstance(asked, list) else []:
            kind = (
                ANSWER_TYPES.get(str(question.get("type"))) if isinstance(question, dict) else None
            )
            if (
                kind is None
                or not is_name(question.get("name"))
                or (kind == "choice" and not _has_options(question))
            ):
                reading.notes.append(
                    f"a question is not supported and was not imported: {show(question)}"
                )
                continue
            if lost := sorted(set(question) & {"min", "max", "default"}):
                message = f'{", ".join(lost)} of the question "{question["name"]}" was not imported'
                reading.notes.append(message)
            yield {
                "name": str(question["name"]),
                "prompt": plain_text(str(question.get("label") or question["name"])),
                "answer": kind,
                "needed": not question.get("optional", False),
                **({"options": _option_labels(question)} if kind == "choice" else {}),
            }
        if page["type"] in ("volume", "consent"):
            reading.notes.append(f"a page of type {page['type']} was not imported")


def _has_options(question: dict[str, Any]) -> bool:
    """Return whether a choice has at least two valid, distinct options."""
    options = question.get("response")
    if not isinstance(options, list) or not all(isinstance(option, dict) for option in options):
        return False
    return len(set(_option_labels(question))) == len(options) > 1


def _option_labels(question: dict[str, Any]) -> list[str]:
    response = question.get("response") or []
    return [str(option.get("label") or option.get("value")) for option in response]
