"""One served study: settings, sounds and the page sequence of each listener."""

from __future__ import annotations

import struct
import sys
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from itertools import accumulate
from pathlib import Path

from earwitness.audio.files import sound_library
from earwitness.audio.wav import Form, SoundProfile, read_profile, widest_sample
from earwitness.errors import EarwitnessError, UsageError
from earwitness.store.listeners import OpenPlaceQuota
from earwitness.store.store import Store
from earwitness.studies.design.plan import DEVICE_CHECK_SECONDS, QUESTION_SECONDS, trial_seconds
from earwitness.studies.design.report import study_design
from earwitness.studies.file.reader import read_study
from earwitness.studies.pages import REST_PAGE, Page, pages
from earwitness.studies.study import Design, Study
from earwitness.studies.trials import block_kind
from earwitness.studies.wording import Wording, wording
from earwitness.studies.workbooks.export import workbook_obstacle
from earwitness.studies.workbooks.write import is_web

# --- Page sequence of a listener -----------------------------------------------------------------


@dataclass(frozen=True)
class PageSequence:
    """All pages in order; the last one is the end, and is never answered.

    ``sounds`` are the files of every page, from the folder of the study; ``minutes`` says for every
    page how long it takes from there to the end. Pages that only tell take no time.
    """

    pages: tuple[Page, ...]
    sounds: Mapping[str, tuple[str, ...]]
    minutes: tuple[float, ...]
    places: Mapping[str, int]

    @property
    def answerable(self) -> tuple[str, ...]:
        """Names of all pages that must be answered, or passed."""
        return tuple(page.name for page in self.pages[:-1])

    @property
    def trial_count(self) -> int:
        """How many trials there are."""
        return sum(page.trial is not None for page in self.pages)

    def first_open(self, answered: Container[str]) -> int:
        """The place of the first page that is not answered."""
        open_places = (n for n, page in enumerate(self.pages[:-1]) if page.name not in answered)
        return next(open_places, len(self.pages) - 1)

    def next_trial(self, place: int) -> Page | None:
        """The trial that comes after a page."""
        return next((page for page in self.pages[place + 1 :] if page.trial is not None), None)

    def session_pages(self, place: int) -> tuple[str, ...]:
        """All pages of the session that a page belongs to; none if it is of no session."""
        name = _session_number(self.pages[place].name)
        return tuple(
            page.name for page in self.pages if name and _session_number(page.name) == name
        )


def make_page_sequence(design: Design, listener: int) -> PageSequence:
    """The course of a listener."""
    plan = next(plan for plan in design.plans if plan.listener == listener)
    study, files, sounds, page_list = design.study, list[str](), dict[str, tuple[str, ...]](), []

    def address(item: str, system: str, place: int) -> str:
        del place
        files.append(study.file(item, system))
        return ""

    for page in pages(study, plan, address):
        page_list.append(page)
        sounds[page.name] = tuple(files)
        files.clear()
    seconds = {clip.name: clip.seconds for clip in (*study.anchors, *study.material)}
    page_minutes = [_page_minutes(study, page, seconds) for page in page_list]
    minutes_left = [*accumulate(reversed(page_minutes))][::-1]
    places = {page.name: place for place, page in enumerate(page_list)}
    return PageSequence(tuple(page_list), sounds, tuple(minutes_left), places)


def _page_minutes(study: Study, page: Page, seconds: Mapping[str, float]) -> float:
    if page.trial is not None:
        return trial_seconds(study, page.trial, seconds[page.trial.item]) / 60
    if page.view["kind"] == REST_PAGE:
        return study.rest_minutes
    steps = sum(DEVICE_CHECK_SECONDS[step] for step in page.view.get("steps", ()))
    return (steps + QUESTION_SECONDS * len(page.view.get("questions", ()))) / 60


def _session_number(name: str) -> str:
    """The number of a session out of the name of a page, such as 2.17; else nothing."""
    first, mark, _ = name.partition(".")
    return first if mark and first.isdigit() else ""


# --- Sound files of a study ----------------------------------------------------------------------
# All are sent in one form of samples, so that neither sizes nor headers tell systems apart. Where
# that cannot be done, whoever serves the study is told.


SHOWN_CLIPS = 3  # clips in a warning
SOUND_REMEDY = "convert them all to one sample rate, one number of channels and 16, 24 or 32 bits"


@dataclass(frozen=True)
class ServedSounds:
    """Sounds by their file, from the folder of the study.

    ``sample`` is the form in which all are sent, None if each is sent in its own;
    ``distinguishable`` are clips of which one system can be told from another by what is sent.
    """

    files: Mapping[str, SoundProfile]
    sample: tuple[int, int] | None
    distinguishable: tuple[str, ...]

    def seconds(self, names: Sequence[str]) -> list[float | None]:
        """How long sounds last, by their files; None where that is not known."""
        profiles = [self.files.get(name) for name in names]
        return [None if profile is None else profile.seconds for profile in profiles]

    @property
    def warning(self) -> str:
        """What is to be said when the study is served; nothing if all is well."""
        if not self.distinguishable:
            return ""
        count, names = len(self.distinguishable), ", ".join(self.distinguishable[:SHOWN_CLIPS])
        clips = f"{count} clip{'s' * (count > 1)} ({names}{', …' * (count > SHOWN_CLIPS)})"
        message = f"systems can be told apart by the size or header of their sounds, of {clips}"
        return f"{message} — {SOUND_REMEDY}"


def profile_sounds(study: Study, folder: Path) -> ServedSounds:
    """Look into all files of a study; those that cannot be read are told when they are heard."""
    profiles, by_item = dict[str, SoundProfile](), defaultdict[str, set[Form]](set)
    for item, name in _iterate_clip_files(study):
        with suppress(OSError, EarwitnessError, struct.error):
            profiles[name] = profile = read_profile(folder / name)
            by_item[item].add(profile.form)
    sample = widest_sample({one.form.sample for one in profiles.values()})
    distinguishable = [
        item for item, forms in by_item.items() if len(_sent_forms(forms, sample)) > 1
    ]
    return ServedSounds(profiles, sample, tuple(distinguishable))


def _sent_forms(forms: set[Form], sample: tuple[int, int] | None) -> set[Form]:
    if sample is None:
        return forms
    return {form._replace(tag=sample[0], bits=sample[1]) for form in forms}


def _iterate_clip_files(study: Study) -> Iterator[tuple[str, str]]:
    """Every clip that may be heard, and a file of it."""
    kinds = [block_kind(block) for block in study.blocks]
    extra = [name for kind in kinds for name in kind.extra(study.reference)]
    for clip in study.material:
        for system in dict.fromkeys((*study.systems, *extra)):
            yield clip.name, study.file(clip.name, system)
    for clip in study.anchors:
        yield clip.name, study.file(clip.name, study.anchor_system)


# --- Served study and settings -------------------------------------------------------------------


POLICY_RESUME, POLICY_SESSION, POLICY_BLOCK = RESUME_POLICIES = ("resume", "session", "block")
RESERVED_PATHS = ("/l", "/join", "/static", "/favicon.ico")  # what addresses begin with
WAV_SUFFIX = ".wav"
LISTENERS_IN_MEMORY = 300  # whose pages are kept


@dataclass(frozen=True)
class SiteSettings:
    """How a study is served.

    ``root`` is the path below which it is reached; ``open`` places go to whoever comes, and
    ``outside`` is the parameter in which another service names a person. ``resume`` says what
    happens to who comes again in the midst of a session: goes on, starts it again, is blocked.
    ``clips`` is the address that links in workbooks of raters go to; else they go to a folder.
    """

    root: str = ""
    open: int = 0
    outside: str = "PROLIFIC_PID"
    resume: str = POLICY_RESUME
    clips: str = ""

    def __post_init__(self) -> None:
        if self.root and (not self.root.startswith("/") or self.root.endswith("/")):
            raise UsageError(f'a root path begins with / and does not end so, got "{self.root}"')
        if (
            self.root in RESERVED_PATHS
        ):  # a proxy may take the root away, or not, and nobody could tell
            message = f'a root path cannot be "{self.root}", which is an address of its own'
            raise UsageError(f"{message} — take another, such as /listen")
        if self.resume not in RESUME_POLICIES:
            raise UsageError(
                f"resume must be one of {', '.join(RESUME_POLICIES)}, got {self.resume!r}"
            )
        if self.clips and not is_web(self.clips):
            raise UsageError(f"clips: must begin with https:// or http://, got {self.clips!r}")


@dataclass(frozen=True)
class Site:
    """A study that is served.

    ``page_sequence`` makes what a listener goes through, or remembers it; ``served_sounds`` is what
    is known of all sounds; ``note_once`` says something to who runs the server, once.
    """

    design: Design
    folder: Path
    store: Store
    settings: SiteSettings
    words: Wording
    served_sounds: ServedSounds
    page_sequence: Callable[[int], PageSequence]
    note_once: Callable[[str], None]

    @property
    def digest(self) -> str:
        """That of the study."""
        return self.design.study.digest

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Those of all listeners; the study may have had more."""
        return frozenset(plan.listener for plan in self.design.plans)

    @cached_property
    def no_workbooks(self) -> str:
        """Why raters cannot work in workbooks; nothing if they can."""
        if self.settings.resume != POLICY_RESUME:
            return f"with --resume {self.settings.resume}, sessions are done in one go"
        return workbook_obstacle(self.design)

    @property
    def quota(self) -> OpenPlaceQuota:
        """How many may come by the open link."""
        return OpenPlaceQuota(self.settings.open, max(self.numbers))


def make_site(study: str | Path, store: Store, settings: SiteSettings = SiteSettings()) -> Site:  # noqa: B008
    """Read and design a study, enter it into the store, and open places if asked.

    Open places are the last ones, so that others can be invited by links of their own.
    """
    design = study_design(read_study(Path(study)))
    listeners, plan = [plan.listener for plan in design.plans], design.study
    if settings.open > len(listeners):
        raise UsageError(f"{settings.open} open places, but {len(listeners)} listeners")
    if any(name and not name.lower().endswith(WAV_SUFFIX) for name in _list_file_names(plan)):
        sound_library()  # or nobody could hear them
    store.add_study(plan.digest, plan.title)
    store.add_listeners(plan.digest, listeners[len(listeners) - settings.open :], open=True)
    words = wording(plan.language, plan.wordings)
    page_sequence = lru_cache(LISTENERS_IN_MEMORY)(partial(make_page_sequence, design))
    folder = Path(study).parent
    served_sounds = profile_sounds(plan, folder)
    return Site(
        design, folder, store, settings, words, served_sounds, page_sequence, cache(_print_note)
    )


def _list_file_names(study: Study) -> list[str]:
    """What names sounds: a pattern for all, or the table of clips."""
    return [study.files, *(name for clip in study.material for name in clip.files.values())]


def _print_note(text: str) -> None:
    print(f"earwitness: {text}", file=sys.stderr, flush=True)
