"""Texts that listeners see, by language, with the overrides of a study.

A text may contain placeholders such as ``{number}``, which are filled in when it is shown. It
contains no other braces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from earwitness.errors import UsageError, nearest
from earwitness.ratings.rubric import LANGUAGES
from earwitness.ratings.scales import PLUGIN_KINDS

PAGES_KEY, WEB_KEY, SCALES_KEY = "pages", "web", "scales"
PROMPT_KEY, LABELS_KEY = "prompt", "labels"
ScaleTexts = Mapping[str, Mapping[str, Any]]  # prompt and labels by scale
PLACEHOLDER = re.compile(r"\{(\w+)\}")
SINGULAR_SUFFIX = "_one"  # ends keys of texts for a count of one
SINGULAR_RULES: dict[str, Callable[[float], bool]] = {"en": lambda n: n == 1, "fr": lambda n: n < 2}


@dataclass(frozen=True)
class Wording:
    """Texts of one language: page titles and buttons, and the prompt and labels of each scale.

    ``web`` holds the texts that only appear in a browser. Labels are listed best first.
    """

    pages: Mapping[str, str]
    web: Mapping[str, str]
    scales: ScaleTexts
    language: str = "en"

    def page(self, name: str, /, **values: object) -> str:
        """Return the text of a page with its placeholders filled in; unknown ones are kept.

        >>> wording("fr").page("session", number=1, count=4)
        'Session 1 sur 4'
        """
        return PLACEHOLDER.sub(lambda place: str(values.get(place[1], place[0])), self.pages[name])

    def page_with_count(self, name: str, value: float, place: str) -> str:
        """Return the text of a page for a count, in the singular or plural of the language.

        >>> [wording("en").page_with_count("rest", n, "minutes") for n in (1, 1.5)]
        ['Please rest for 1 minute', 'Please rest for 1.5 minutes']
        >>> wording("fr").page_with_count("rest", 1.5, "minutes")
        'Veuillez vous reposer pendant 1,5 minute'
        """
        suffix = SINGULAR_SUFFIX if SINGULAR_RULES[self.language](value) else ""
        return self.page(f"{name}{suffix}", **{place: self.number(value)})

    def number(self, value: float, step: float = 1) -> str:
        """Return a number as it is written in this language, with the decimals of a step.

        >>> wording("fr").number(0.1), wording("fr").number(100), wording("fr").number(5, 0.1)
        ('0,1', '100', '5,0')
        """
        _, _, decimals = f"{step:g}".partition(".")
        text = f"{value:.{len(decimals)}f}" if decimals else f"{value:g}"
        return text.replace(".", self.pages["decimal"])

    def prompt(self, scale: str) -> str:
        """Return the question of a scale."""
        return str(self.scales[scale][PROMPT_KEY])

    def labels(self, scale: str) -> list[str]:
        """Return the answer labels of a scale, best first."""
        return list(self.scales[scale][LABELS_KEY])


def wording(language: str = "en", study_words: Mapping[str, Any] | None = None) -> Wording:
    """Return the texts of a language, with the overrides of a study.

    >>> wording("fr").labels("OVRL")[0]
    'Excellente'
    >>> wording("en", {"scales": {"OVRL": {"prompt": "All in all:"}}}).prompt("OVRL")
    'All in all:'
    """
    if language not in LANGUAGES:
        raise UsageError(f'unknown language "{language}" — {nearest(language, LANGUAGES)}')
    packaged, study_words = _load_wording(language), study_words or {}
    scales = {
        name: {**words, **study_words.get(SCALES_KEY, {}).get(name, {})}
        for name, words in packaged[SCALES_KEY].items()
    }
    pages, web = (
        {**packaged[group], **study_words.get(group, {})} for group in (PAGES_KEY, WEB_KEY)
    )
    # a text of the study is also used for a count of one, unless the study has one for that
    own = study_words.get(PAGES_KEY, {})
    single = {f"{name}{SINGULAR_SUFFIX}": text for name, text in own.items()}
    pages |= {name: text for name, text in single.items() if name in pages and name not in own}
    return Wording(pages, web, scales, language)


def placeholder_problems(study_words: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return problems of placeholders in the texts of a study, as (key, message) pairs.

    >>> placeholder_problems({"pages": {"session": "Part {foo}", "rest": "{minutes} min"}})
    [('pages.session', 'unknown placeholder {foo} — known: {number}, {count}')]
    """
    packaged = _load_wording(LANGUAGES[0])
    return [
        (f"{group}.{name}", message)
        for group in (PAGES_KEY, WEB_KEY)
        for name, text in study_words.get(group, {}).items()
        if name in packaged[group] and isinstance(text, str)
        for message in _check_placeholders(text, PLACEHOLDER.findall(packaged[group][name]))
    ]


def _check_placeholders(text: str, places: list[str]) -> Iterator[str]:
    remedy = (
        f"known: {', '.join(f'{{{place}}}' for place in places)}"
        if places
        else "this text has no placeholders"
    )
    for place in dict.fromkeys(PLACEHOLDER.findall(text)):
        if place not in places:
            yield f"unknown placeholder {{{place}}} — {remedy}"
    if re.search(r"[{}]", PLACEHOLDER.sub("", text)):
        yield "a brace outside a placeholder — remove it"


@cache
def _load_wording(language: str) -> dict[str, Any]:
    text = files(__package__).joinpath("wordings", f"{language}.json").read_text(encoding="utf-8")
    words: dict[str, Any] = json.loads(text)
    for kind in PLUGIN_KINDS.values():
        own = kind.texts.get(language, kind.texts.get(LANGUAGES[0], {}))
        words[SCALES_KEY] = {**own, **words[SCALES_KEY]}
    return words
