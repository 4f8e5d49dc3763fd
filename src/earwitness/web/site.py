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
    """Pages of a listener in order; the last one is the end page, which is never answered.

    ``sounds`` lists the audio files of each page, relative to the folder of the study. ``minutes``
    is the time from each page to the end; pages that only show text take no time. ``places`` is the
    index of each page by name.
    """

    pages: tuple[Page, ...]
    sounds: Mapping[str, tuple[str, ...]]
    minutes: tuple[float, ...]
    places: Mapping[str, int]

    @property
    def answerable(self) -> tuple[str, ...]:
        """Names of all pages that must be answered or confirmed."""
        return tuple(page.name for page in self.pages[:-1])

    @property
    def trial_count(self) -> int:
        """Number of trials."""
        return sum(page.trial is not None for page in self.pages)

    def first_open(self, answered: Container[str]) -> int:
        """Return the index of the first page without an answer."""
        open_places = (n for n, page in enumerate(self.pages[:-1]) if page.name not in answered)
        return next(open_places, len(self.pages) - 1)

    def next_trial(self, place: int) -> Page | None:
        """Return the next trial after a page, if any."""
        return next((page for page in self.pages[place + 1 :] if page.trial is not None), None)

    def session_pages(self, place: int) -> tuple[str, ...]:
        """Return the names of all pages in the session of a page; empty outside sessions."""
        name = _session_number(self.pages[place].name)
        return tuple(
            page.name for page in self.pages if name and _session_number(page.name) == name
        )


def make_page_sequence(design: Design, listener: int) -> PageSequence:
    """Return the pages of a listener, with their sounds and remaining minutes."""
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
    """Return the session number in the name of a page such as 2.17, or an empty string."""
    first, mark, _ = name.partition(".")
    return first if mark and first.isdigit() else ""


# --- Sound files of a study ----------------------------------------------------------------------
# All files are sent in the same sample format, so that neither size nor header reveals the system.
# If that is not possible, the server prints a warning.


SHOWN_CLIPS = 3  # clips in a warning
SOUND_REMEDY = "convert all files to one sample rate, one number of channels and 16, 24 or 32 bits"


@dataclass(frozen=True)
class ServedSounds:
    """Profiles of the audio files of a study, by path relative to its folder.

    ``sample`` is the sample format in which all files are sent, or None if each keeps its own.
    ``distinguishable`` lists the clips whose systems differ in the size or header of what is sent.
    """

    files: Mapping[str, SoundProfile]
    sample: tuple[int, int] | None
    distinguishable: tuple[str, ...]

    def seconds(self, names: Sequence[str]) -> list[float | None]:
        """Return the duration of each file, or None where it is unknown."""
        profiles = [self.files.get(name) for name in names]
        return [None if profile is None else profile.seconds for profile in profiles]

    @property
    def warning(self) -> str:
        """Warning to print when the study is served; empty if there is none."""
        if not self.distinguishable:
            return ""
        count, names = len(self.distinguishable), ", ".join(self.distinguishable[:SHOWN_CLIPS])
        clips = f"{count} clip{'s' * (count > 1)} ({names}{', …' * (count > SHOWN_CLIPS)})"
        message = f"the size or header of audio files reveals the system for {clips}"
        return f"{message} — {SOUND_REMEDY}"


def profile_sounds(study: Study, folder: Path) -> ServedSounds:
    """Profile all audio files of a study; unreadable ones are reported when they are played."""
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
    """Yield every clip with each of its audio files."""
    kinds = [block_kind(block) for block in study.blocks]
    extra = [name for kind in kinds for name in kind.extra(study.reference)]
    for clip in study.material:
        for system in dict.fromkeys((*study.systems, *extra)):
            yield clip.name, study.file(clip.name, system)
    for clip in study.anchors:
        yield clip.name, study.file(clip.name, study.anchor_system)


# --- Served study and settings -------------------------------------------------------------------


POLICY_RESUME, POLICY_SESSION, POLICY_BLOCK = RESUME_POLICIES = ("resume", "session", "block")
RESERVED_PATHS = ("/l", "/join", "/static", "/favicon.ico")  # first parts of addresses
WAV_SUFFIX = ".wav"
LISTENERS_IN_MEMORY = 300  # number of page sequences in the cache


@dataclass(frozen=True)
class SiteSettings:
    """Settings of a server.

    Parameters
    ----------
    root
        Path below which the study is served.
    open
        Number of places that anyone may claim at ``/join``.
    outside
        Query parameter in which a recruiting service passes the id of a person.
    resume
        What happens when a listener returns mid-session: ``resume``, ``session`` (restart the
        session) or ``block``.
    clips
        Web address of the clips that workbooks link to; without it, workbooks link to a folder.
    """

    root: str = ""
    open: int = 0
    outside: str = "PROLIFIC_PID"
    resume: str = POLICY_RESUME
    clips: str = ""

    def __post_init__(self) -> None:
        if self.root and (not self.root.startswith("/") or self.root.endswith("/")):
            raise UsageError(f'root path must start with / and not end with /, got "{self.root}"')
        # ambiguous, since a proxy may or may not remove the root path
        if self.root in RESERVED_PATHS:
            message = f'root path "{self.root}" is reserved for the server'
            raise UsageError(f"{message} — choose another, such as /listen")
        if self.resume not in RESUME_POLICIES:
            raise UsageError(
                f"resume must be one of {', '.join(RESUME_POLICIES)}, got {self.resume!r}"
            )
        if self.clips and not is_web(self.clips):
            raise UsageError(f"clips: must start with https:// or http://, got {self.clips!r}")


@dataclass(frozen=True)
class Site:
    """A served study.

    ``page_sequence`` returns the pages of a listener from a cache. ``served_sounds`` holds the
    profiles of all audio files. ``note_once`` prints a note for the operator, once per text.
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
        """Digest of the study."""
        return self.design.study.digest

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Numbers of all listeners in this version of the study."""
        return frozenset(plan.listener for plan in self.design.plans)

    @cached_property
    def no_workbooks(self) -> str:
        """Reason why raters cannot use workbooks; empty if they can."""
        if self.settings.resume != POLICY_RESUME:
            return f"--resume {self.settings.resume} requires each session to be done in one visit"
        return workbook_obstacle(self.design)

    @property
    def quota(self) -> OpenPlaceQuota:
        """Number of places at the open link."""
        return OpenPlaceQuota(self.settings.open, max(self.numbers))


def make_site(study: str | Path, store: Store, settings: SiteSettings = SiteSettings()) -> Site:  # noqa: B008
    """Read and design a study, add it to the database and open places if requested.

    Open places are the last ones, so that the first ones can be invited with personal links.
    """
    design = study_design(read_study(Path(study)))
    listeners, plan = [plan.listener for plan in design.plans], design.study
    if settings.open > len(listeners):
        raise UsageError(f"{settings.open} open places, but only {len(listeners)} listeners")
    if any(name and not name.lower().endswith(WAV_SUFFIX) for name in _list_file_names(plan)):
        sound_library()  # raises an error if it is not installed
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
    """Return the file name pattern and the file names in the table of clips."""
    return [study.files, *(name for clip in study.material for name in clip.files.values())]


def _print_note(text: str) -> None:
    print(f"earwitness: {text}", file=sys.stderr, flush=True)
