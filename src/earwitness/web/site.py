"""One served study: settings, sounds and the page sequence of each listener."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property, lru_cache
from itertools import accumulate, filterfalse
from pathlib import Path
from typing import Annotated, Literal, get_args

from starlette.requests import Request

from earwitness.audio.decode import SoundProfile, read_profile
from earwitness.audio.files import sound_library
from earwitness.audio.wav import Form, widest_sample
from earwitness.core import count_text
from earwitness.errors import EarwitnessError, UsageError, printable
from earwitness.forms.workbooks.export import workbook_obstacle
from earwitness.forms.workbooks.write import is_web
from earwitness.store.listeners import OpenPlaceQuota
from earwitness.store.records import SERVER_CLOCK
from earwitness.store.status import read_last_time
from earwitness.store.store import Store
from earwitness.studies.design.plan import DEVICE_CHECK_SECONDS, QUESTION_SECONDS, trial_seconds
from earwitness.studies.design.report import study_design
from earwitness.studies.file.reader import read_study, study_texts
from earwitness.studies.hearing import TRIPLET_SECONDS, digit_files
from earwitness.studies.pages import HEARING_PAGE, REST_PAGE, Page, TrialGroup, pages, trial_page
from earwitness.studies.study import PAD_LENGTHS, Design, ListenerPlan, Names, Study, Trial
from earwitness.studies.trials import study_kinds
from earwitness.studies.wording import Wording, wording
from earwitness.web.messages import MessageLimiter

# --- Page sequence of a listener -----------------------------------------------------------------


TRIAL_PAGES_IN_MEMORY = 2048  # created again in well under a millisecond


@dataclass(frozen=True, slots=True)
class PageOutline:
    """Names of the pages in order, shared by all listeners whose pages have the same names.

    ``places`` is the index of each page by name, ``trial_places`` has the indexes of trials.
    """

    names: Names
    places: Mapping[str, int]
    trial_places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page, and its audio files relative to the folder of the study."""

    page: Page
    files: Names


@dataclass(frozen=True, slots=True)
class PageSequence:
    """Pages of a listener in order; the last one is the end page, which is never answered.

    Only names and times are kept: ``content`` returns a page by its index, and creates it if
    needed. ``minutes`` is the time from each page to the end; pages that only show text take
    no time.
    """

    outline: PageOutline
    minutes: Sequence[float]
    content: Callable[[int], PageContent]

    def files(self, name: str) -> Names:
        """Return the audio files of a page, relative to the folder of the study."""
        return self.content(self.places[name]).files if name in self.places else ()

    @property
    def places(self) -> Mapping[str, int]:
        """Index of each page by name."""
        return self.outline.places

    @property
    def answerable(self) -> Names:
        """Names of all pages that must be answered or confirmed."""
        return self.outline.names[:-1]

    @property
    def last_place(self) -> int:
        """Index of the end page."""
        return len(self.outline.names) - 1

    def first_open(self, answered: Container[str]) -> int:
        """Return the index of the first page without an answer."""
        names = self.outline.names
        open_names = filterfalse(answered.__contains__, names[:-1])
        return self.places[next(open_names, names[-1])]

    def next_trial(self, place: int) -> Page | None:
        """Return the next trial after a page, if any."""
        trial_places = self.outline.trial_places
        number = bisect_right(trial_places, place)
        return self.content(trial_places[number]).page if number < len(trial_places) else None

    def session_pages(self, place: int) -> Names:
        """Return the names of all pages in the session of a page; empty outside sessions."""
        session = _session_number(self.outline.names[place])
        if not session:
            return ()
        return tuple(name for name in self.outline.names if _session_number(name) == session)


class PageSequences:
    """Page sequences of all listeners of a design, each created when it is first needed.

    They are small: pages without a trial are shared by listeners where they are equal, and pages
    with a trial are created when they are needed. So the cost of a request does not depend on the
    number of listeners.
    """

    def __init__(self, design: Design) -> None:
        self._study, self._plans = design.study, {plan.listener: plan for plan in design.plans}
        self._words = wording(self._study.language, self._study.wordings)
        self._seconds = self._study.clip_seconds
        self._outlines = dict[Names, PageOutline]()
        self._shared = dict[tuple[str, Trial | None], PageContent]()
        self._trial_content = lru_cache(TRIAL_PAGES_IN_MEMORY)(self._make_trial_content)
        self._trial_minutes = dict[tuple[int, Names, str], float]()
        self._sequences = dict[int, PageSequence]()

    def __call__(self, listener: int) -> PageSequence:
        """Return the pages of a listener."""
        sequence = self._sequences.get(listener)
        if sequence is None:
            sequence = self._sequences[listener] = self._make_sequence(self._plans[listener])
        return sequence

    def _make_sequence(self, plan: ListenerPlan) -> PageSequence:
        files, contents = list[str](), list[PageContent]()
        for page in pages(self._study, plan, self._recorder(files), outline=True):
            contents.append(PageContent(page, tuple(files)))
            files.clear()
        page_minutes = [self._minutes(content.page) for content in contents]
        minutes_left = array("d", accumulate(reversed(page_minutes)))[::-1]
        fixed = {
            place: self._share_content(content)
            for place, content in enumerate(contents)
            if content.page.trial is None
        }
        all_pages = [content.page for content in contents]
        outline, groups = self._share_outline(all_pages), _group_trials(all_pages)

        def content_at(place: int) -> PageContent:
            content = fixed.get(place)
            if content is not None:
                return content
            name, _, number = outline.names[place].rpartition(".")
            return self._trial_content(groups[name], int(number))

        return PageSequence(outline, minutes_left, content_at)

    def _minutes(self, page: Page) -> float:
        if page.trial is None:
            return _page_minutes(self._study, page, self._seconds)
        key = page.trial.block, page.trial.scales, page.trial.item
        if key not in self._trial_minutes:
            self._trial_minutes[key] = _page_minutes(self._study, page, self._seconds)
        return self._trial_minutes[key]

    def _recorder(self, files: list[str]) -> Callable[[str, str, int], str]:
        """Return a function that collects files, since listeners get addresses without names."""

        def address(item: str, system: str, _place: int) -> str:
            files.append(self._study.file(item, system))
            return ""

        return address

    def _make_trial_content(self, group: TrialGroup, number: int) -> PageContent:
        files = list[str]()
        page = trial_page(self._study, self._words, self._recorder(files), group, number)
        return PageContent(page, tuple(files))

    def _share_content(self, content: PageContent) -> PageContent:
        """Return the content of another listener if it is equal."""
        about = content.page.about
        shared = self._shared.setdefault(
            (content.page.name, None if about is None else about.trial), content
        )
        return shared if shared == content else content

    def _share_outline(self, all_pages: Sequence[Page]) -> PageOutline:
        names = tuple(page.name for page in all_pages)
        trial_places = tuple(n for n, page in enumerate(all_pages) if page.trial is not None)
        outline = self._outlines.get(names)
        if outline is None or outline.trial_places != trial_places:
            places = {name: place for place, name in enumerate(names)}
            outline = PageOutline(names, places, trial_places)
            self._outlines[names] = outline
        return outline


def _group_trials(all_pages: Iterable[Page]) -> dict[str, TrialGroup]:
    """Return the trials of a listener by the first part of the names of their pages."""
    groups = defaultdict[str, list[Page]](list)
    for page in all_pages:
        if page.trial is not None:
            groups[page.name.rpartition(".")[0]].append(page)
    return {
        name: TrialGroup(
            name,
            tuple(page.trial for page in group if page.trial is not None),
            group[0].session,
            group[0].view["title"],
        )
        for name, group in groups.items()
    }


def _page_minutes(study: Study, page: Page, seconds: Mapping[str, float]) -> float:
    if page.trial is not None:
        return trial_seconds(study, page.trial, seconds[page.trial.item]) / 60
    if page.view["kind"] == REST_PAGE:
        return study.rest_minutes
    if page.view["kind"] == HEARING_PAGE:
        return len(page.view["triplets"]) * TRIPLET_SECONDS / 60
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
    ``frames`` is the length to which silence is appended to shorter files, if any.
    """

    files: Mapping[str, SoundProfile]
    sample: tuple[int, int] | None
    distinguishable: Names
    frames: Mapping[str, int] = field(default_factory=dict)

    def seconds(self, names: Sequence[str]) -> list[float | None]:
        """Return the duration of each file, or None where it is unknown."""
        profiles = [self.files.get(name) for name in names]
        return [None if profile is None else profile.seconds for profile in profiles]

    @cached_property
    def rate(self) -> int:
        """Common sample rate of all files in hertz; 0 if they differ."""
        rates = {profile.form.rate for profile in self.files.values()}
        return rates.pop() if len(rates) == 1 else 0

    @property
    def warning(self) -> str:
        """Warning to print when the study is served; empty if there is none."""
        if not self.distinguishable:
            return ""
        count, names = len(self.distinguishable), ", ".join(self.distinguishable[:SHOWN_CLIPS])
        clips = f"{count_text(count, 'clip')} ({names}{', …' if count > SHOWN_CLIPS else ''})"
        message = f"the size or header of audio files reveals the system for {clips}"
        return f"{message} — {SOUND_REMEDY}"


def profile_sounds(study: Study, folder: Path) -> ServedSounds:
    """Profile all audio files of a study; unreadable ones are reported when they are played."""
    profiles, by_item = dict[str, SoundProfile](), defaultdict[str, set[Form]](set)
    names_by_item = defaultdict[str, list[str]](list)
    for item, name in _iterate_clip_files(study):
        with suppress(OSError, EarwitnessError):
            profiles[name] = profile = read_profile(folder / name)
            by_item[item].add(profile.form)
            names_by_item[item].append(name)
    sample = widest_sample({profile.form.sample for profile in profiles.values()})
    tag, bits = sample or (None, None)
    sent = {
        item: {form._replace(tag=tag or form.tag, bits=bits or form.bits) for form in forms}
        for item, forms in by_item.items()
    }
    distinguishable = [item for item, forms in sent.items() if len(forms) > 1]
    frames = _padded_frames(profiles, names_by_item) if study.lengths == PAD_LENGTHS else {}
    return ServedSounds(profiles, sample, tuple(distinguishable), frames)


def _padded_frames(
    profiles: Mapping[str, SoundProfile], names_by_item: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Return the length of the longest sound of each clip, for each shorter one."""
    padded = dict[str, int]()
    for names in names_by_item.values():
        seconds = max(profiles[name].seconds for name in names)
        for name in names:
            rate = profiles[name].form.rate
            if profiles[name].seconds < seconds:
                padded[name] = max(padded.get(name, 0), round(seconds * rate))
    return padded


def _iterate_clip_files(study: Study) -> Iterator[tuple[str, str]]:
    """Yield every clip with each of its audio files."""
    extra = [name for kind in study_kinds(study) for name in kind.extra(study.reference)]
    for clip in study.material:
        for system in dict.fromkeys((*study.systems, *extra)):
            yield clip.name, study.file(clip.name, system)
    for clip in study.anchors:
        yield clip.name, study.file(clip.name, study.anchor_system)
    for check in study.quality.clips:
        yield check.name, check.file
    for name in digit_files(study.hearing) if study.hearing else ():
        yield name, name


# --- Served study and settings -------------------------------------------------------------------


ReturnPolicy = Literal["resume", "session", "block"]
POLICY_RESUME: ReturnPolicy = "resume"
POLICY_BLOCK: ReturnPolicy = "block"
RESERVED_PATHS = ("/l", "/join", "/static", "/favicon.ico")  # first parts of addresses
WAV_SUFFIX = ".wav"
CLOCK_SECONDS = 60  # by which a clock may be behind without a note


@dataclass(frozen=True, kw_only=True)
class SiteSettings:
    """Settings of a server.

    Parameters
    ----------
    root_path
        Path under which a proxy serves the study, such as /test.
    open
        Number of places that anyone may claim at /join.
    outside_id
        Query parameter of /join with the participant ID of a recruitment service.
    on_return
        When a listener returns mid-session: ``resume``, restart the ``session``, or ``block``.
    web
        Address of clips for links in workbooks, such as https://example.org/{file}. By default
        workbooks link to a folder.
    idle_hours
        Idle time of an unfinished listener at /join after which another person may take the place
        (0: never). Without a second answer, it is at most half an hour.
    allow_hosts
        Host names at which /join may be opened, besides IP addresses and localhost.
    places_per_address
        Places at /join that may be taken from one IP address within an hour (0: any number).
    """

    root_path: Annotated[str, "PATH"] = ""
    open: int = 0
    outside_id: str = "PROLIFIC_PID"
    on_return: ReturnPolicy = POLICY_RESUME
    web: Annotated[str, "URL"] = ""
    idle_hours: Annotated[float, "HOURS"] = 24
    allow_hosts: Annotated[Names, "NAME"] = ()
    places_per_address: int = 40

    def __post_init__(self) -> None:
        root = self.root_path
        if root and (not root.startswith("/") or root.endswith("/")):
            raise UsageError(f'root path must start with / and not end with /, got "{root}"')
        # ambiguous, since a proxy may or may not remove the root path
        if root in RESERVED_PATHS:
            message = f'root path "{root}" is reserved for the server'
            raise UsageError(f"{message} — choose another, such as /listen")
        if self.on_return not in get_args(ReturnPolicy):
            known = ", ".join(get_args(ReturnPolicy))
            raise UsageError(f"on_return must be one of {known}, got {self.on_return!r}")
        if self.web and not is_web(self.web):
            raise UsageError(f"web: must start with https:// or http://, got {self.web!r}")
        for name in ("open", "idle_hours", "places_per_address"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"{name} must be 0 or more, got {getattr(self, name)}")
        for host in self.allow_hosts:
            if not re.fullmatch(r"[\w.-]+", host, re.ASCII):
                raise UsageError(f'invalid host name "{host}" — write it as in study.example.org')


@dataclass(frozen=True)
class Site:
    """A served study.

    ``page_sequence`` returns the pages of a listener. ``served_sounds`` holds the
    profiles of all audio files. ``note_once`` prints a note for the operator, once per text;
    ``messages`` prints messages that requests may repeat.
    """

    design: Design
    folder: Path
    store: Store
    settings: SiteSettings
    words: Wording
    served_sounds: ServedSounds
    page_sequence: Callable[[int], PageSequence]
    note_once: Callable[[str], None]
    secret: str = field(default="", repr=False)  # signs the links of visitors without a place
    path: Path = Path()  # of the study file
    modified: int = 0  # time of the study file when it was read
    messages: MessageLimiter = field(default_factory=MessageLimiter)

    @property
    def study(self) -> Study:
        """The study."""
        return self.design.study

    @property
    def digest(self) -> str:
        """Digest of the study."""
        return self.study.digest

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Numbers of all listeners in this version of the study."""
        return frozenset(plan.listener for plan in self.design.plans)

    @cached_property
    def no_workbooks(self) -> str:
        """Reason why raters cannot use workbooks; empty if they can."""
        policy = self.settings.on_return
        if policy != POLICY_RESUME:
            return f"--on-return {policy} requires each session to be done in one visit"
        return workbook_obstacle(self.design)

    @property
    def quota(self) -> OpenPlaceQuota:
        """Number of places at the open link."""
        return OpenPlaceQuota(self.settings.open, max(self.numbers), self.settings.idle_hours)


def make_site(
    study: str | Path,
    store: Store,
    settings: SiteSettings = SiteSettings(),  # noqa: B008
    design: Design | None = None,
) -> Site:
    """Read and design a study, add it to the database and open places if requested.

    Open places are the last ones, so that the first ones can be invited with personal links. If the
    ``design`` is given, the study is not read again.
    """
    if last := store.read(read_last_time):  # no time is earlier, also if the clock was set back
        seconds = SERVER_CLOCK.reach(datetime.fromisoformat(last))
        if seconds > CLOCK_SECONDS:
            _print_note(
                f"the clock of this machine is {seconds:,.0f} s behind the last answer, "
                "from which times continue — set the clock, then serve again"
            )
    path = Path(study)
    modified = _modified(path)
    design = design or study_design(read_study(path))
    listeners, plan = [plan.listener for plan in design.plans], design.study
    if settings.open > len(listeners):
        raise UsageError(f"{settings.open} open places, but only {len(listeners)} listeners")
    names = [plan.files, *(name for clip in plan.material for name in clip.files.values())]
    if any(name and not name.lower().endswith(WAV_SUFFIX) for name in names):
        sound_library()  # raises an error if it is not installed
    store.add_study(plan.digest, plan.title)
    store.add_listeners(plan.digest, listeners[len(listeners) - settings.open :], open=True)
    words = wording(plan.language, plan.wordings)
    folder = path.parent
    served_sounds = profile_sounds(plan, folder)
    return Site(
        design,
        folder,
        store,
        settings,
        words,
        served_sounds,
        PageSequences(design),
        cache(_print_note),
        store.ensure_secret(plan.digest) if settings.open else "",
        path,
        modified,
    )


def reload_listeners(site: Site) -> Site:
    """Return the site with the listeners that the study file has now.

    Neither the number of listeners nor the texts are part of the digest of a study, so that they
    can be changed while the study is served: new texts are recorded, and shown from now on. The
    site stays as it is if anything else in the file has changed.
    """
    modified = _modified(site.path)
    if modified == site.modified:
        return site
    try:
        design = study_design(read_study(site.path))
    except EarwitnessError:
        return site  # the file is being edited
    if design.study.digest != site.digest:
        return replace(site, modified=modified)
    plan = design.study
    site.store.record_texts(plan.digest, study_texts(plan))
    return replace(
        site,
        design=design,
        words=wording(plan.language, plan.wordings),
        page_sequence=PageSequences(design),
        modified=modified,
    )


def _modified(path: Path) -> int:
    """Return the time of a file's last change; 0 if it cannot be read."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def served_site(request: Request) -> Site:
    """Return the served study."""
    site: Site = request.app.state.site
    return site


def _print_note(text: str) -> None:
    print(f"earwitness: {printable(text)}", file=sys.stderr, flush=True)
