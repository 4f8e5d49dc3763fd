"""What is sent to a rater: clips with their captions, and where the sounds are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from earwitness.errors import UsageError
from earwitness.formats.check import is_name
from earwitness.formats.workbooks.cells import caption_hash
from earwitness.listening.wordings import PLACE

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LONGEST = 32_000  # characters that a cell can hold
FARTHEST = 2000  # characters of an address
FILE = "{file}"
PLACES = ("n", "rater", "flavour")
USUAL = "P{n}_{flavour}.xlsx"


@dataclass(frozen=True)
class Clip:
    """A clip, its captions in the order in which they are shown, and the file of its sound.

    Above the first clip of a ``dataset`` stands its name.
    """

    record: str
    captions: tuple[str, ...]
    file: str = ""
    dataset: str = ""


@dataclass(frozen=True)
class Sent:
    """The clips of one rater in their order; blind, so nothing says who wrote a caption.

    ``digest`` is that of the study, and ``listener`` the rater's number in it, where there is one.
    """

    study: str
    rater: str
    clips: tuple[Clip, ...]
    digest: str = ""
    listener: int = 0

    def __post_init__(self) -> None:
        for wrong in self._misfits():
            raise UsageError(f"workbook of {self.rater!r}: {wrong}")

    def _misfits(self) -> Iterator[str]:
        """What cannot be written, or could not be told apart when it comes back."""
        datasets = (one.dataset for one in self.clips if one.dataset)
        for name in (self.study, self.rater, *(one.record for one in self.clips), *datasets):
            if not is_name(name):
                yield f"{name!r} must be printable text without blanks around it"
        records = [one.record for one in self.clips]
        if not records or len({*records}) < len(records):
            yield "needs clips, each of them once"
        for clip in self.clips:
            if len({caption_hash(one) for one in clip.captions}) != len(clip.captions) or not all(
                one.strip() for one in clip.captions
            ):
                yield f'clip "{clip.record}" needs captions that differ'
            if not clip.captions:
                yield f'clip "{clip.record}" has no caption'
            for one in clip.captions:
                if CONTROL.search(one) or len(one) > LONGEST:
                    yield f'clip "{clip.record}": a caption has control characters or is too long'


def link(place: str, clip: Clip) -> str:
    """Where a clip is: in a folder, or at an address, which may say where ``{file}`` goes.

    >>> link("clips", Clip("a", ("Wind.",), "a b.wav"))
    'external:clips/a%20b.wav'
    >>> link("https://example.org/get?name={file}", Clip("a", ("Wind.",), "a.wav"))
    'https://example.org/get?name=a.wav'
    """
    file = quote(clip.file or clip.record)
    found = place.replace(FILE, file) if FILE in place else f"{place.rstrip('/')}/{file}"
    if len(found) > FARTHEST:
        raise UsageError(f'clip "{clip.record}": its address is too long')
    return found if is_web(place) else f"external:{found}"


def is_web(place: str) -> bool:
    """Whether this is an address; one of another kind than http is refused."""
    scheme, mark, _ = place.partition("://")
    if not place or (mark and scheme.lower() not in ("http", "https")) or CONTROL.search(place):
        raise UsageError(f"links must go to a folder, or to http:// or https://, got {place!r}")
    return bool(mark)


def file_names(pattern: str, raters: Mapping[str, int], flavours: Sequence[str]) -> list[list[str]]:
    """Names of files, a list for every rater, who has a number.

    >>> file_names("P{n}_{flavour}.xlsx", {"anna": 1, "bert": 2}, ["local", "web"])
    [['P1_local.xlsx', 'P1_web.xlsx'], ['P2_local.xlsx', 'P2_web.xlsx']]
    """
    for place in PLACE.findall(pattern):
        if place not in PLACES:
            raise UsageError(f"pattern: no {{{place}}} — known: {', '.join(PLACES)}")
    made = [
        [_filled(pattern, n=str(n), rater=rater, flavour=one) for one in flavours]
        for rater, n in raters.items()
    ]
    every = [name.casefold() for names in made for name in names]
    if len({*every}) < len(every):
        raise UsageError(f'pattern "{pattern}": two files would have one name — use {{n}}')
    for name in every:
        if not name.endswith(".xlsx") or re.search(r'[/\\:*?"<>|]', name) or not is_name(name):
            raise UsageError(f'pattern: "{name}" must be a file name that ends in .xlsx')
    return made


def _filled(pattern: str, **known: str) -> str:
    return PLACE.sub(lambda place: known[place[1]], pattern)
