"""SkimReader: skims given as picks or as sound, joined with their recordings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import UNSET

from earwitness.core import Case, Cases, Item, Key
from earwitness.errors import EarwitnessError, InputError, UsageError, nearest
from earwitness.io.records import hash_names
from earwitness.io.schema import Fault
from earwitness.metric import CaseList, Metric
from earwitness.recordings.types import Recording
from earwitness.skims.day import Day, Ints
from earwitness.skims.measures import calibration_sd, calibration_tc
from earwitness.skims.methods import pick
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.metrics import MarkedRecording, SkimMeasures, SkimReference, day_of, embedded
from earwitness.skims.records import (
    OUTPUTS,
    REFERENCES,
    SkimContent,
    SkimOutputLine,
    SkimReferenceLine,
    dial_of,
)
from earwitness.skims.types import Dial, Pick, Skim
from earwitness.task import TaskReader, unset_to_empty

if TYPE_CHECKING:
    from earwitness.audio.signal import Floats
    from earwitness.skims.locate import LocatedSkim


# --- Skims given as sound ------------------------------------------------------------------------


DEFAULT_BLOCK_SECONDS = 8.0
MIN_FOUND_SHARE = 0.5  # of a skim that is given as sound must be in its recording
SKIMS_PER_PASS = 32  # skims that are looked for in one pass over a recording


class ParsedSkim(NamedTuple):
    """A skim, and what was said when it was found in the recording."""

    skim: Skim
    told: tuple[str, ...] = ()


RecordingResolver = Callable[[MarkedRecording], Recording]
ParsedSkimOrFaults = ParsedSkim | list[Fault]


def skims_of_sound(
    paths: Sequence[Path],
    of: SkimReference,
    real: RecordingResolver,
    block: float = DEFAULT_BLOCK_SECONDS,
) -> list[ParsedSkimOrFaults]:
    """Skims by their picks, or all that is wrong with them; ``real`` tells the true clock."""
    if isinstance(of, Day):
        fault = Fault("output.audio", "cannot be found in blocks", "name the recording itself")
        return [[fault] for _ in paths]
    found: list[ParsedSkimOrFaults] = []
    for first in range(0, len(paths), SKIMS_PER_PASS):
        found += _found(paths[first : first + SKIMS_PER_PASS], of, real, block)
    return found


def _found(
    paths: Sequence[Path], of: MarkedRecording, real: RecordingResolver, block: float
) -> Iterable[ParsedSkimOrFaults]:
    from earwitness.skims.locate import locate_skims

    try:
        recording = real(of) if of.hour_gap else of.recording
        read = [_read(path, recording) for path in paths]
        sounds = [one for one in read if not isinstance(one, list)]
        matched = iter(locate_skims(sounds, recording, block=block) if sounds else [])
    except (EarwitnessError, OSError) as error:
        return [[Fault("output.audio", str(error))] for _ in paths]
    return [
        one if isinstance(one, list) else _judged(path, len(one) / recording.rate, next(matched))
        for path, one in zip(paths, read, strict=True)
    ]


def _read(path: Path, recording: Recording) -> Floats | list[Fault]:
    from earwitness.audio.files import read_sound
    from earwitness.audio.read import mono
    from earwitness.audio.signal import resampled
    from earwitness.skims.locate import MIN_SKIM_SECONDS

    if not path.is_file():
        return [Fault("output.audio", f"{path}: there is no such file")]
    try:
        sound = read_sound(path)
    except (EarwitnessError, OSError) as error:
        return [Fault("output.audio", str(error))]
    if not np.isfinite(sound.samples).all():
        return [Fault("output.audio", f"{path}: has samples that are no numbers")]
    if len(sound.samples) < MIN_SKIM_SECONDS * sound.rate:
        seconds = len(sound.samples) / sound.rate
        return [Fault("output.audio", f"{path}: {seconds:.1f} s are too short to be looked for")]
    samples = np.asarray(mono(sound.samples), np.float32)
    return np.asarray(resampled(samples, sound.rate, recording.rate))


def _judged(path: Path, whole: float, found: LocatedSkim) -> ParsedSkimOrFaults:
    """A skim of which enough was found; ``whole`` are its seconds."""
    if not found.skim.picks:
        return [Fault("output.audio", f"{path}: nothing of it is in the recording")]
    known = found.skim.seconds
    if known < MIN_FOUND_SHARE * whole:
        told = f"{path}: only {known:.0f} of its {whole:.0f} s are in the recording"
        return [Fault("output.audio", told, "is it a skim of this one?")]
    return ParsedSkim(found.skim, tuple(f"{path.name}: {one}" for one in found.notes))


# --- Recordings and picks of a record ------------------------------------------------------------


BLOCK_ARRAYS = "starts, seconds, vectors and classes"
SKIM_FORMS = ("picks", "times", "audio")


def beside(folder: Path | None, name: str) -> Path:
    """A path as it is seen from the file that names it."""
    return Path(name) if folder is None else folder / name


def recorded(record: SkimReferenceLine, folder: Path | None) -> SkimReference | list[Fault]:
    """What a skim is measured against, or what is wrong with it."""
    if record.recording is UNSET and record.blocks is UNSET:
        return [Fault("recording", "missing", "name its files or folder, or blocks")]
    if record.recording is not UNSET and record.blocks is not UNSET:
        return [Fault("blocks", "there is a recording, too", "keep one")]
    if record.blocks is not UNSET:
        given = _clock(record)
        faults = [Fault(name, "not with blocks, which have their times") for name in given]
        return faults or blocks_from(beside(folder, record.blocks))
    try:
        return _recording(record, folder)
    except InputError as error:
        return [Fault("recording", str(problem)) for problem in error.problems]
    except (EarwitnessError, OSError) as error:
        return [Fault("recording", str(error))]


def _clock(record: SkimReferenceLine) -> list[str]:
    """What is said about the clock of a recording."""
    names = ("start", "zone", "hour_gap", "day")
    return [name for name in names if getattr(record, name) is not UNSET]


def _recording(record: SkimReferenceLine, folder: Path | None) -> MarkedRecording:
    from earwitness.recordings.recording import open_recording

    assert record.recording is not UNSET
    names = [record.recording] if isinstance(record.recording, str) else record.recording
    paths = [beside(folder, name) for name in names]
    start, zone = (None if one is UNSET else one for one in (record.start, record.zone))
    gap = 0.0 if record.hour_gap is UNSET else record.hour_gap
    name = str(record.item)
    if record.day is UNSET:
        return MarkedRecording(open_recording(paths, name=name, start=start, zone=zone), gap)
    whole = open_recording(paths, name=name, start=start, zone=zone, hour_gap=gap)
    return MarkedRecording(_day(whole, record.day))


def _day(recording: Recording, date: str) -> Recording:
    """One day of a recording."""
    from earwitness.recordings.recording import split_days

    found = {f"{day.began:%Y-%m-%d}": day for day in split_days(recording)}
    if date not in found:
        raise UsageError(f"nothing was recorded on {date} — {nearest(date, found)}")
    return found[date]


def blocks_from(path: Path) -> Day | list[Fault]:
    """Blocks that somebody else embedded: arrays in a file of NumPy's."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        return [Fault("blocks", f"{path}: cannot be read: {error}", "write it with numpy.savez")]
    if missing := [
        name for name in BLOCK_ARRAYS.replace(" and", ",").split(", ") if name not in arrays
    ]:
        return [Fault("blocks", f"{path}: has no {', '.join(missing)}", f"it needs {BLOCK_ARRAYS}")]
    told = _misshapen(arrays)
    if told:
        return [Fault("blocks", f"{path}: {told}")]
    return Day.of(arrays["starts"], float(arrays["seconds"]), arrays["vectors"], arrays["classes"])


def _misshapen(arrays: dict[str, Any]) -> str:
    """What is wrong with arrays, if anything is."""
    starts, vectors, classes = (arrays[name] for name in ("starts", "vectors", "classes"))
    kinds = [one.dtype.kind in "fiu" for one in (*arrays.values(), starts)]
    if not all(kinds) or (starts.ndim, vectors.ndim, classes.ndim) != (1, 2, 2):
        return "starts must be a row of numbers, vectors and classes tables of numbers"
    if len({len(starts), len(vectors), len(classes)}) > 1:
        return f"{len(starts)} starts, {len(vectors)} vectors and {len(classes)} classes"
    if arrays["seconds"].size != 1 or not float(arrays["seconds"]) > 0:
        return "seconds must be one number over 0"
    if not all(np.isfinite(one).all() for one in (starts, vectors, classes)):
        return "numbers must be finite"
    if len(starts) and float(np.min(np.diff(starts), initial=np.inf)) <= 0:
        return "starts must grow"
    if classes.size and not 0 <= float(classes.min()) <= float(classes.max()) <= 1:
        return "classes must be from 0 to 1"
    return ""


def skim_of(
    content: SkimContent,
    of: SkimReference,
    folder: Path | None,
    real: RecordingResolver,
    block: float = DEFAULT_BLOCK_SECONDS,
) -> ParsedSkim | list[Fault]:
    """Picks, or all that is wrong with them; ``real`` tells a recording on its true clock."""
    given = _given(content)
    if len(given) != 1:
        told = f"has {' and '.join(given)}" if given else "has no picks"
        return [Fault("output", told, "give one of picks, times, audio")]
    if content.block is not UNSET and given != ["times"]:
        return [Fault("output.block", f"not with {given[0]}", "give it with times")]
    if (path := sound_of(content, folder)) is not None:
        return skims_of_sound([path], of, real, block)[0]
    picks = _picks(content)
    faults = [
        Fault(f"output.{given[0]}[{place}]", told)
        for place, pick in enumerate(picks)
        if (told := _outside(pick, of))
    ]
    return faults or ParsedSkim(Skim(tuple(picks)))


def sound_of(content: SkimContent, folder: Path | None) -> Path | None:
    """The file of a skim that is given as sound and nothing else; else None."""
    if content.audio is UNSET or content.block is not UNSET or len(_given(content)) != 1:
        return None
    return beside(folder, content.audio)


def _given(content: SkimContent) -> list[str]:
    """The ways in which a skim is given: one of them, if it is right."""
    return [name for name in SKIM_FORMS if getattr(content, name) is not UNSET]


def _picks(content: SkimContent) -> list[Pick]:
    if content.picks is not UNSET:
        return [Pick(start, seconds) for start, seconds in content.picks]
    assert content.times is not UNSET
    block = DEFAULT_BLOCK_SECONDS if content.block is UNSET else content.block
    return [Pick(start, block) for start in content.times]


def _outside(pick: Pick, of: SkimReference) -> str:
    """What is wrong with where a pick lies."""
    length = of.length if isinstance(of, Day) else of.recording.seconds
    if pick.start < 0 or pick.start >= length:
        return f"{pick.start:g} s is not in the recording, which has {length:g} s"
    if isinstance(of, Day) or of.hour_gap:  # where silences are is not known yet
        return ""
    end = pick.start + pick.seconds
    over = [min(one.end, end) - max(one.start, pick.start) for one in of.recording.stretches]
    return "" if max(over, default=0) > 0 else f"nothing was recorded at {pick.start:g} s"


# --- Notes about odd input -----------------------------------------------------------------------


MADE_WITH_REMARK = "made with "  # before what a line says, in a remark
COMPARED_SETTINGS = ("embedder", "block", "period")
SPARSE_REMARK = "made with --sparse, which score does not know: numbers differ from those of skim"


def few_blocks(recordings: Sequence[Recording], embedder: str, block: float) -> Iterator[str]:
    """About recordings with few classes of sound, which follow from the number of blocks."""
    from earwitness.models.base import block_places
    from earwitness.models.codebook import few_classes_note
    from earwitness.models.embedders import EMBEDDERS

    if embedder in EMBEDDERS:  # others may bring classes of their own
        yield from (
            told for one in recordings if (told := few_classes_note(len(block_places(one, block))))
        )


def made_with(records: Sequence[SkimOutputLine]) -> Counter[str]:
    """How outputs were made, where ``meta.made`` says it."""
    found = Counter[str]()
    for record in records:
        made = unset_to_empty(record.meta).get("made")
        if isinstance(made, dict):
            kept = {name: made[name] for name in (*COMPARED_SETTINGS, "sparse") if name in made}
            found[MADE_WITH_REMARK + json.dumps(kept, sort_keys=True)] += 1
    return found


def made_otherwise(remark: str, number: int, metrics: Sequence[Metric]) -> Iterator[str]:
    """A note for outputs that were made with other parameters than those of every metric."""
    made = json.loads(remark.removeprefix(MADE_WITH_REMARK))
    outputs = "1 output was" if number == 1 else f"{number:,} outputs were"
    if made.get("sparse") is True:
        yield f"{outputs} {SPARSE_REMARK}"
    measures = [one for one in metrics if isinstance(one, SkimMeasures)]
    for name in COMPARED_SETTINGS:
        used = [getattr(one, name) for one in measures]
        if name in made and used and not any(_same(made[name], one) for one in used):
            told = f"{outputs} made with {name} {_shown(made[name])}, scored with"
            others = " and ".join(map(_shown, used))
            yield f"{told} {others} — give --{name} {_shown(made[name])}"


def _same(made: Any, used: Any) -> bool:
    """Models are the same if their files are called so, wherever they lie."""
    if isinstance(made, str) and isinstance(used, str):
        return Path(made).name == Path(used).name
    return bool(made == used)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


# --- Skim reader ---------------------------------------------------------------------------------


OWN_BLOCKS_REMARK = "blocks of their own"
BaselinePicker = Callable[[Day, SkimPlan], Ints | tuple[int, ...]]
BASELINES: Mapping[str, BaselinePicker] = {
    "downsampling": lambda day, plan: pick(day, plan, "downsampling").rows,
    "random": lambda day, plan: pick(day, plan, "random").rows,
    "calibration_tc": lambda day, plan: calibration_tc(day, plan.picks),
    "calibration_sd": lambda day, plan: calibration_sd(day, plan.picks),
}


@dataclass(frozen=True)
class SkimReader(TaskReader):
    """Paths are seen from the files that name them; baselines hear through an embedder."""

    outputs_in: Path | None = None
    references_in: Path | None = None
    embedder: str = "codebook"
    block: float = 8.0

    outputs = OUTPUTS
    references = REFERENCES
    failed = ParsedSkim(Skim(()))
    nothing = {"picks": []}  # noqa: RUF012
    if_nothing = "write an empty list if it has no picks"
    baselines = tuple(BASELINES)

    @property
    def signature(self) -> str:
        return ""

    def output(self, record: SkimContent, cases: Cases, row: int) -> ParsedSkim | list[Fault]:
        of = cases[row].references[0]
        return skim_of(record, of, self.outputs_in, self._real, self.block)

    def outputs_of(
        self, records: Sequence[SkimContent], cases: Cases, rows: Sequence[int]
    ) -> list[ParsedSkim | list[Fault]]:
        """Sounds of one recording are looked for together."""
        found: dict[int, ParsedSkim | list[Fault]] = {}
        sounds: dict[int, dict[int, Path]] = {}
        for number, (record, row) in enumerate(zip(records, rows, strict=True)):
            if (path := sound_of(record, self.outputs_in)) is None:
                found[number] = self.output(record, cases, row)
            else:
                sounds.setdefault(row, {})[number] = path
        for row, paths in sounds.items():
            of = cases[row].references[0]
            skims = skims_of_sound(list(paths.values()), of, self._real, self.block)
            found.update(zip(paths, skims, strict=True))
        return [found[number] for number in range(len(records))]

    def _real(self, of: MarkedRecording) -> Recording:
        return embedded(of, self.embedder, self.block).real

    def reference(
        self, record: SkimReferenceLine, names: Sequence[str]
    ) -> tuple[list[Any], list[Fault]]:
        """The recording; it must be there, but is not decoded yet."""
        del names
        found = recorded(record, self.references_in)
        return ([], found) if isinstance(found, list) else ([found], [])

    def of_references(
        self, records: Sequence[SkimReferenceLine], resolved: Sequence[list[Any]]
    ) -> CaseList:
        return CaseList(
            Case(Key(str(record.item), ""), Item(_length(one)), self.failed.skim, (one,))
            for record, (one,) in zip(records, resolved, strict=True)
        )

    def join(self, cases: Cases, systems: list[str], outputs: Sequence[ParsedSkim]) -> CaseList:
        rows = zip(cases, systems, outputs, strict=True)
        return CaseList(
            Case(Key(case.key.item, system), case.item, output.skim, case.references)
            for case, system, output in rows
        )

    def details(self, records: Sequence[SkimOutputLine]) -> list[Dial | None]:
        """How each output was made."""
        return [dial_of(record) for record in records]

    def output_remarks(self, records: Sequence[SkimOutputLine]) -> Counter[str]:
        return made_with(records)

    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        return {"duration": case[row].item.duration}

    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        """What was said about recordings, and about skims that were found in them."""
        del cases
        if not references:
            return Counter(told for one in resolved for told in one.told)
        known = [one.recording for one in resolved if isinstance(one, MarkedRecording)]
        said = Counter(note for one in known for note in one.notes)
        said[OWN_BLOCKS_REMARK] = sum(isinstance(one, Day) for one in resolved)
        said.update(few_blocks(known, self.embedder, self.block))
        return +said

    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        for said, number in remarks.items():
            if said.startswith(MADE_WITH_REMARK):
                yield from made_otherwise(said, number, metrics)
            elif said == OWN_BLOCKS_REMARK:
                items = "item has" if number == 1 else "items have"
                told = f"{number:,} {items} {OWN_BLOCKS_REMARK}"
                yield f"{told}, for which embedder and block say nothing"
            else:
                yield said

    def baseline(self, name: str, cases: Cases, seed: int) -> list[ParsedSkim]:
        """Twelve picks of every item, as published."""
        if name not in self.baselines:
            return list(super().baseline(name, cases, seed))
        hashes = hash_names(list(cases.items)).tolist()
        return [
            self._baseline(name, case, [seed, one]) for case, one in zip(cases, hashes, strict=True)
        ]

    def _baseline(self, name: str, case: Case, seeds: list[int]) -> ParsedSkim:
        day = day_of(case.references[0], self.embedder, self.block)
        seed = int(np.random.SeedSequence(seeds).generate_state(1)[0])
        rows = BASELINES[name](day, SkimPlan(block=day.seconds, overlap=0.0, seed=seed))
        starts = day.starts[np.asarray(rows, np.int64)].tolist()
        return ParsedSkim(Skim(tuple(Pick(start, day.seconds) for start in starts)))


def _length(one: SkimReference) -> float:
    return one.length if isinstance(one, Day) else one.recording.seconds
