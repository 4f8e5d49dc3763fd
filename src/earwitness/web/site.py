"""What a server knows: one study, its store, and how it was told to serve."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path

from earwitness.api.sending import obstacle
from earwitness.api.studies import study_design
from earwitness.audio.files import sound_library
from earwitness.data import Design, Study
from earwitness.errors import UsageError
from earwitness.formats.study import read_study
from earwitness.formats.workbooks.sent import is_web
from earwitness.listening.wordings import Wording, wording
from earwitness.store import Quota, Store
from earwitness.web.course import Course, make_course
from earwitness.web.sounds import Heard, look

RESUME, SESSION, BLOCK = POLICIES = ("resume", "session", "block")
OWN = ("/l", "/join", "/static", "/favicon.ico")  # what addresses begin with
WAV = ".wav"
KEPT = 300  # listeners whose pages are kept in memory


@dataclass(frozen=True)
class Settings:
    """How a study is served.

    ``root`` is the path below which it is reached; ``open`` places go to whoever comes, and
    ``outside`` is the parameter in which another service names a person. ``resume`` says what
    happens to who comes again in the midst of a session: goes on, starts it again, is blocked.
    ``clips`` is the address that links in workbooks of raters go to; else they go to a folder.
    """

    root: str = ""
    open: int = 0
    outside: str = "PROLIFIC_PID"
    resume: str = RESUME
    clips: str = ""

    def __post_init__(self) -> None:
        if self.root and (not self.root.startswith("/") or self.root.endswith("/")):
            raise UsageError(f'a root path begins with / and does not end so, got "{self.root}"')
        if self.root in OWN:  # a proxy may take the root away, or not, and nobody could tell
            told = f'a root path cannot be "{self.root}", which is an address of its own'
            raise UsageError(f"{told} — take another, such as /listen")
        if self.resume not in POLICIES:
            raise UsageError(f"resume must be one of {', '.join(POLICIES)}, got {self.resume!r}")
        if self.clips and not is_web(self.clips):
            raise UsageError(f"clips: must begin with https:// or http://, got {self.clips!r}")


@dataclass(frozen=True)
class Site:
    """A study that is served.

    ``course`` makes what a listener goes through, or remembers it; ``heard`` is what is known of
    all sounds; ``tell`` says something to who runs the server, once.
    """

    design: Design
    folder: Path
    store: Store
    settings: Settings
    words: Wording
    heard: Heard
    course: Callable[[int], Course]
    tell: Callable[[str], None]

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
        if self.settings.resume != RESUME:
            return f"with --resume {self.settings.resume}, sessions are done in one go"
        return obstacle(self.design)

    @property
    def quota(self) -> Quota:
        """How many may come by the open link."""
        return Quota(self.settings.open, max(self.numbers))


def make_site(study: str | Path, store: Store, settings: Settings = Settings()) -> Site:  # noqa: B008
    """Read and design a study, enter it into the store, and open places if asked.

    Open places are the last ones, so that others can be invited by links of their own.
    """
    design = study_design(read_study(Path(study)))
    known, plan = [one.listener for one in design.plans], design.study
    if settings.open > len(known):
        raise UsageError(f"{settings.open} open places, but {len(known)} listeners")
    if any(name and not name.lower().endswith(WAV) for name in _files(plan)):
        sound_library()  # or nobody could hear them
    store.add_study(plan.digest, plan.title)
    store.add_listeners(plan.digest, known[len(known) - settings.open :], open=True)
    words = wording(plan.language, plan.wordings)
    course = lru_cache(KEPT)(partial(make_course, design))
    folder = Path(study).parent
    heard = look(plan, folder)
    return Site(design, folder, store, settings, words, heard, course, cache(_tell))


def _files(study: Study) -> list[str]:
    """What names sounds: a pattern for all, or the table of clips."""
    return [study.files, *(name for clip in study.material for name in clip.files.values())]


def _tell(text: str) -> None:
    print(f"earwitness: {text}", file=sys.stderr, flush=True)
