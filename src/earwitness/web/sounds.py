"""What is known of all sounds of a study before anybody hears one.

All are sent in one form of samples, so that neither sizes nor headers tell systems apart. Where
that cannot be done, whoever serves the study is told.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from earwitness.audio.form import Form, Measured, measured, widest
from earwitness.data import Study
from earwitness.errors import EarwitnessError
from earwitness.listening.kinds import block_kind

SHOWN = 3  # clips in a warning
REMEDY = "convert them all to one sample rate, one number of channels and 16, 24 or 32 bits"


@dataclass(frozen=True)
class Heard:
    """Sounds by their file, from the folder of the study.

    ``sample`` is the form in which all are sent, None if each is sent in its own; ``told`` are
    clips of which one system can be told from another by what is sent.
    """

    files: Mapping[str, Measured]
    sample: tuple[int, int] | None
    told: tuple[str, ...]

    def seconds(self, names: Sequence[str]) -> list[float | None]:
        """How long sounds last, by their files; None where that is not known."""
        known = [self.files.get(name) for name in names]
        return [None if one is None else one.seconds for one in known]

    @property
    def warning(self) -> str:
        """What is to be said when the study is served; nothing if all is well."""
        if not self.told:
            return ""
        named = ", ".join(self.told[:SHOWN]) + ", …" * (len(self.told) > SHOWN)
        clips = f"{len(self.told)} clip{'s' * (len(self.told) > 1)} ({named})"
        told = f"systems can be told apart by the size or header of their sounds, of {clips}"
        return f"{told} — {REMEDY}"


def look(study: Study, folder: Path) -> Heard:
    """Look into all files of a study; those that cannot be read are told when they are heard."""
    found, by_item = dict[str, Measured](), defaultdict[str, set[Form]](set)
    for item, name in _files(study):
        with suppress(OSError, EarwitnessError, struct.error):
            found[name] = known = measured(folder / name)
            by_item[item].add(known.form)
    sample = widest({one.form.sample for one in found.values()})
    told = [item for item, forms in by_item.items() if len(_sent(forms, sample)) > 1]
    return Heard(found, sample, tuple(told))


def _sent(forms: set[Form], sample: tuple[int, int] | None) -> set[Form]:
    if sample is None:
        return forms
    return {form._replace(tag=sample[0], bits=sample[1]) for form in forms}


def _files(study: Study) -> Iterator[tuple[str, str]]:
    """Every clip that may be heard, and a file of it."""
    kinds = [block_kind(block) for block in study.blocks]
    extra = [name for kind in kinds for name in kind.extra(study.reference)]
    for clip in study.material:
        for system in dict.fromkeys((*study.systems, *extra)):
            yield clip.name, study.file(clip.name, system)
    for clip in study.anchors:
        yield clip.name, study.file(clip.name, study.anchor_system)
