"""SkimReader: skims given as picks or as audio, joined with their recordings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import UNSET

from earwitness.core import Case, Cases, Item, Key, Progress, label_progress, no_progress
from earwitness.errors import EarwitnessError, InputError, UsageError, nearest
from earwitness.io.records import unset_to_empty
from earwitness.io.schema import MAX_DURATION_SECONDS, Fault, show
from earwitness.io.source import RecordSource, is_present
from earwitness.io.tables import read_table
from earwitness.metric import CaseList, Metric
from earwitness.recordings.types import Recording
from earwitness.skims.day import Day
from earwitness.skims.measures import has_uniform_blocks
from earwitness.skims.methods import BASELINES, CALIBRATIONS, Picker
from earwitness.skims.methods.plan import SkimPlan
from earwitness.skims.metrics import (
    MarkedRecording,
    SkimMeasures,
    SkimReference,
    embed_day,
    embed_recording,
)
from earwitness.skims.picks import DAYTIME_PATTERN
from earwitness.skims.records import (
    OUTPUTS,
    REFERENCES,
    SkimContent,
    SkimOutputLine,
    SkimReferenceLine,
    read_dial,
)
from earwitness.skims.types import Dial, Pick, Skim
from earwitness.task import TaskReader

if TYPE_CHECKING:
    from earwitness.audio.signal import Floats
    from earwitness.skims.locate import LocatedSkim


# --- Skims given as sound ------------------------------------------------------------------------


DEFAULT_BLOCK_SECONDS = 8.0
MIN_FOUND_SHARE = 0.5  # smallest share of an audio skim to be found
LOCATING_LABEL = "locating skims"
SKIMS_PER_PASS = 16  # skims located in one pass over a recording


class ParsedSkim(NamedTuple):
    """A skim, and notes from locating it in the recording."""

    skim: Skim
    notes: tuple[str, ...] = ()


ParsedSkimOrFaults = ParsedSkim | list[Fault]


def locate_sounds(
    paths: Sequence[Path], recording: Recording, block: float, progress: Progress
) -> dict[Path, ParsedSkimOrFaults]:
    """Return skims that were located in a recording on its true clock, or their faults."""
    from earwitness.skims.locate import locate_skims

    parsed: dict[Path, ParsedSkimOrFaults] = {}
    sounds: dict[Path, Floats] = {}
    for path in paths:
        try:
            sounds[path] = _read_sound(path, recording.rate)
        except (EarwitnessError, OSError) as error:
            parsed[path] = [Fault("output.audio", str(error))]
    if sounds:
        located = locate_skims([*sounds.values()], recording, block=block, progress=progress)
        for (path, sound), skim in zip(sounds.items(), located, strict=True):
            parsed[path] = _judge_located(path, len(sound) / recording.rate, skim)
    return parsed


def _read_sound(path: Path, rate: int) -> Floats:
    from earwitness.audio.read import read_mono
    from earwitness.audio.signal import resample
    from earwitness.skims.locate import MIN_SKIM_SECONDS

    if not is_present(path):
        raise UsageError(f"{path}: does not exist")
    samples, own_rate = read_mono(path)
    if not np.isfinite(samples).all():
        raise UsageError(f"{path}: has samples that are not numbers")
    if len(samples) < MIN_SKIM_SECONDS * own_rate:
        raise UsageError(f"{path}: too short to locate ({len(samples) / own_rate:.1f} s)")
    return np.asarray(resample(samples, own_rate, rate))


def _judge_located(path: Path, seconds: float, located: LocatedSkim) -> ParsedSkimOrFaults:
    """Return the skim, or a fault if too little of it was found; ``seconds`` is its length."""
    if not located.skim.picks:
        return [Fault("output.audio", f"{path}: not found in the recording")]
    located_seconds = located.skim.seconds
    if located_seconds < MIN_FOUND_SHARE * seconds:
        found = f"{located_seconds:.0f} of its {seconds:.0f} s"
        message = f"{path}: only {found} were found in the recording"
        return [Fault("output.audio", message, "is it a skim of this recording?")]
    return ParsedSkim(located.skim, tuple(f"{path.name}: {note}" for note in located.notes))


# --- Recordings and picks of a record ------------------------------------------------------------


BLOCK_ARRAYS = ("starts", "seconds", "vectors", "classes")
EMBEDDED_BLOCKS_ENDING = ".npz"
BLOCK_COLUMNS = ("path", "start")
SKIM_FORMS = ("picks", "times", "audio")


def resolve_path(folder: Path | None, name: str) -> Path:
    """Return a path, resolved relative to the file that names it."""
    return Path(name) if folder is None else folder / name


def read_reference(record: SkimReferenceLine, folder: Path | None) -> SkimReference | list[Fault]:
    """Return the recording or blocks of a reference line, or its faults."""
    if record.recording is UNSET and record.blocks is UNSET:
        return [Fault("recording", "missing", "give its files or folder, or blocks")]
    if record.recording is not UNSET and record.blocks is not UNSET:
        return [Fault("blocks", "cannot be combined with recording", "keep one")]
    if record.blocks is not UNSET:
        message = "cannot be combined with blocks, which have their own times"
        clock_fields = ("start", "zone", "hour_gap", "day")
        given = [name for name in clock_fields if getattr(record, name) is not UNSET]
        return [Fault(name, message) for name in given] or _read_blocks(record, folder)
    try:
        return _open_marked_recording(record, folder)
    except (EarwitnessError, OSError) as error:
        return _list_faults("recording", error)


def _list_faults(field: str, error: Exception) -> list[Fault]:
    problems = error.problems if isinstance(error, InputError) else [error]
    return [Fault(field, str(problem)) for problem in problems]


def _open_marked_recording(record: SkimReferenceLine, folder: Path | None) -> MarkedRecording:
    from earwitness.recordings.recording import open_recording, split_days

    assert record.recording is not UNSET
    names = [record.recording] if isinstance(record.recording, str) else record.recording
    paths = [resolve_path(folder, name) for name in names]
    start, zone = (None if value is UNSET else value for value in (record.start, record.zone))
    gap = 0.0 if record.hour_gap is UNSET else record.hour_gap
    name = str(record.item)
    if record.day is UNSET:
        return MarkedRecording(open_recording(paths, name=name, start=start, zone=zone), gap)
    whole = open_recording(paths, name=name, start=start, zone=zone, hour_gap=gap)
    days = {f"{day.began:%Y-%m-%d}": day for day in split_days(whole)}
    if record.day not in days:
        raise UsageError(f"nothing was recorded on {record.day} — {nearest(record.day, days)}")
    return MarkedRecording(days[record.day])


def _read_blocks(record: SkimReferenceLine, folder: Path | None) -> SkimReference | list[Fault]:
    """Return embedded blocks, or the recording that consists of audio files of blocks."""
    from earwitness.recordings.recording import open_blocks

    assert record.blocks is not UNSET
    blocks = record.blocks
    if isinstance(blocks, str) and Path(blocks).suffix.lower() == EMBEDDED_BLOCKS_ENDING:
        return read_blocks_file(resolve_path(folder, blocks))
    try:
        if isinstance(blocks, str):
            files = read_block_table(resolve_path(folder, blocks))
        else:
            files = [(resolve_path(folder, name), start) for name, start in blocks]
        return MarkedRecording(open_blocks(files, name=str(record.item)))
    except (EarwitnessError, OSError) as error:
        return _list_faults("blocks", error)


def read_block_table(path: Path) -> list[tuple[Path, float]]:
    """Read audio files and starts of blocks from a table with the columns path and start.

    Paths are relative to the table. A start is in seconds, or a time of day (06:15:08).
    """
    table, _ = read_table(RecordSource(path), BLOCK_COLUMNS)
    if missing := [name for name in BLOCK_COLUMNS if name not in table.names]:
        table.tell(1, "", f"no column {' and '.join(missing)}", "the columns are path and start")
        table.wrong.refuse()
    blocks = []
    rows = zip(table.lines, *(table.cells(name) for name in BLOCK_COLUMNS), strict=True)
    for line, name, cell in rows:
        start = _parse_block_start(str(cell), comma=table.comma)
        if not name:
            table.tell(line, "path", "is empty")
        if start is None:
            remedy = "write seconds after the start of the day, or 06:15:08"
            table.tell(line, "start", f"is not a time: {show(cell)}", remedy)
        else:
            blocks.append((path.parent / str(name), start))
    if not blocks and not table.wrong.count:
        table.tell(1, "", "contains no blocks")
    table.wrong.refuse()
    return blocks


def _parse_block_start(cell: str, *, comma: bool) -> float | None:
    """Return seconds, or None if the cell is not a number of seconds or a time of day."""
    if match := DAYTIME_PATTERN.match(cell):
        seconds = float((match[3] or "0").replace(",", "."))
        return 3600.0 * int(match[1]) + 60.0 * int(match[2]) + seconds
    try:
        start = float(cell.replace(",", ".") if comma else cell)
    except ValueError:
        return None
    return start if 0 <= start <= MAX_DURATION_SECONDS else None


def read_blocks_file(path: Path) -> Day | list[Fault]:
    """Read precomputed blocks from a NumPy file (.npz)."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name]) for name in file.files}
    except Exception as error:  # noqa: BLE001 — zipfile, zlib and numpy raise errors of all kinds
        return [Fault("blocks", f"{path}: cannot be read: {error}", "write it with numpy.savez")]
    if missing := [name for name in BLOCK_ARRAYS if name not in arrays]:
        remedy = "it must have starts, seconds, vectors and classes"
        return [Fault("blocks", f"{path}: has no {', '.join(missing)}", remedy)]
    if message := _find_array_fault(arrays):
        return [Fault("blocks", f"{path}: {message}")]
    return Day.of(arrays["starts"], float(arrays["seconds"]), arrays["vectors"], arrays["classes"])


def _find_array_fault(arrays: dict[str, Any]) -> str:
    """Return what is wrong with the arrays, or an empty string."""
    starts, vectors, classes = (arrays[name] for name in ("starts", "vectors", "classes"))
    are_numbers = [array.dtype.kind in "fiu" for array in (*arrays.values(), starts)]
    if not all(are_numbers) or (starts.ndim, vectors.ndim, classes.ndim) != (1, 2, 2):
        return "starts must be a 1-D array, vectors and classes 2-D arrays of numbers"
    if len({len(starts), len(vectors), len(classes)}) > 1:
        lengths = f"{len(starts)} starts, {len(vectors)} vectors and {len(classes)} classes"
        return f"arrays must have equal lengths, got {lengths}"
    if arrays["seconds"].size != 1 or not float(arrays["seconds"]) > 0:
        return "seconds must be one number above 0"
    if not all(np.isfinite(array).all() for array in (starts, vectors, classes)):
        return "all numbers must be finite"
    if len(starts) and float(np.min(np.diff(starts), initial=np.inf)) <= 0:
        return "starts must increase"
    if classes.size and not 0 <= float(classes.min()) <= float(classes.max()) <= 1:
        return "classes must be from 0 to 1"
    return ""


def parse_picks(content: SkimContent, reference: SkimReference) -> ParsedSkimOrFaults:
    """Return the picks of a skim without audio, or all its faults."""
    forms = _list_forms(content)
    if len(forms) != 1:
        message = f"has {' and '.join(forms)}" if forms else "has no picks"
        return [Fault("output", message, "use exactly one of picks, times and audio")]
    if content.block is not UNSET and forms != ["times"]:
        return [Fault("output.block", f"cannot be combined with {forms[0]}", "use it with times")]
    if content.picks is not UNSET:
        picks = [Pick(start, seconds) for start, seconds in content.picks]
    else:
        assert content.times is not UNSET
        block = DEFAULT_BLOCK_SECONDS if content.block is UNSET else content.block
        picks = [Pick(start, block) for start in content.times]
    faults = [
        Fault(f"output.{forms[0]}[{place}]", message)
        for place, pick in enumerate(picks)
        if (message := _find_pick_fault(pick, reference))
    ]
    return faults or ParsedSkim(Skim(tuple(picks)))


def find_sound_path(content: SkimContent, folder: Path | None) -> Path | None:
    """Return the audio file of a skim that is given only as audio, else None."""
    if content.audio is UNSET or content.block is not UNSET or len(_list_forms(content)) != 1:
        return None
    return resolve_path(folder, content.audio)


def _list_forms(content: SkimContent) -> list[str]:
    """Return the fields that give the skim; exactly one if the line is correct."""
    return [name for name in SKIM_FORMS if getattr(content, name) is not UNSET]


def _find_pick_fault(pick: Pick, reference: SkimReference) -> str:
    """Return what is wrong with the time of a pick, or an empty string."""
    length = _reference_seconds(reference)
    if pick.start < 0 or pick.start >= length:
        return f"{pick.start:g} s is outside the recording, which lasts {length:g} s"
    if isinstance(reference, Day) or reference.hour_gap:  # positions of silences are not known yet
        return ""
    end = pick.start + pick.seconds
    over = [
        min(stretch.end, end) - max(stretch.start, pick.start)
        for stretch in reference.recording.stretches
    ]
    return "" if max(over, default=0) > 0 else f"nothing was recorded at {pick.start:g} s"


# --- Notes about odd input -----------------------------------------------------------------------


MADE_WITH_REMARK = "made with "  # prefix of a remark
COMPARED_SETTINGS = ("embedder", "block", "period")
SPARSE_REMARK = "made with --sparse, which score does not support: its numbers will differ"


def few_classes_notes(
    recordings: Sequence[Recording], embedder: str, block: float
) -> Iterator[str]:
    """Yield notes on recordings with too few blocks to define all sound classes."""
    from earwitness.models.base import block_places
    from earwitness.models.codebook import few_classes_note
    from earwitness.models.embedders import EMBEDDERS

    if embedder in EMBEDDERS:  # other embedders may have classes of their own
        counts = (len(block_places(recording, block)) for recording in recordings)
        yield from filter(None, map(few_classes_note, counts))


def uniform_day_notes(cases: Cases, embedder: str, block: float) -> Iterator[str]:
    """Yield notes on items whose recordings sound the same throughout, one per item.

    The blocks are embedded for this; measures take them from the cache afterwards.
    """
    from earwitness.models.codebook import ALIKE_NOTE

    references = {case.key.item: case.references for case in cases}
    for item, reference in references.items():
        if any(has_uniform_blocks(embed_day(day, embedder, block)) for day in reference):
            yield f"{item}: {ALIKE_NOTE}"


def short_files_notes(recordings: Sequence[Recording], block: float) -> Iterator[str]:
    """Yield notes on recordings most of whose passages are too short for one block."""
    from earwitness.models.base import STRETCH_TOLERANCE_SECONDS

    for recording in recordings:
        lengths = [stretch.seconds for stretch in recording.stretches]
        short = [seconds for seconds in lengths if seconds < block - STRETCH_TOLERANCE_SECONDS]
        if 2 * len(short) > len(lengths):
            counts = f"{len(short):,} of {len(lengths):,} passages"
            message = f"{counts} are shorter than one block of {block:g} s and do not count"
            yield f"{recording.name}: {message} — use --block {max(short):g} or less"


def count_settings(records: Sequence[SkimOutputLine]) -> Counter[str]:
    """Count the settings with which outputs were made, from ``meta.made``."""
    counts = Counter[str]()
    for record in records:
        settings = unset_to_empty(record.meta).get("made")
        if isinstance(settings, dict):
            kept = {
                name: settings[name] for name in (*COMPARED_SETTINGS, "sparse") if name in settings
            }
            counts[MADE_WITH_REMARK + json.dumps(kept, sort_keys=True)] += 1
    return counts


def settings_notes(remark: str, number: int, metrics: Sequence[Metric]) -> Iterator[str]:
    """Yield notes on outputs made with parameters that no metric uses."""
    settings = json.loads(remark.removeprefix(MADE_WITH_REMARK))
    outputs = "1 output was" if number == 1 else f"{number:,} outputs were"
    if settings.get("sparse") is True:
        yield f"{outputs} {SPARSE_REMARK}"
    measures = [metric for metric in metrics if isinstance(metric, SkimMeasures)]
    for name in COMPARED_SETTINGS:
        used = [getattr(measure, name) for measure in measures]
        if not used or name not in settings:
            continue
        if not any(_is_same_setting(settings[name], value) for value in used):
            made, *others = map(_format_setting, (settings[name], *used))
            message = f"{outputs} made with {name} {made} but scored with {' and '.join(others)}"
            yield f"{message} — use --{name} {made}"


def _is_same_setting(setting: Any, used: Any) -> bool:
    """Whether settings are equal; models are equal if their file names are."""
    if isinstance(setting, str) and isinstance(used, str):
        return Path(setting).name == Path(used).name
    return bool(setting == used)


def _format_setting(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


# --- Skim reader ---------------------------------------------------------------------------------


OWN_BLOCKS_REMARK = "precomputed blocks"


@dataclass(frozen=True)
class SkimReader(TaskReader):
    """Reads skims; paths are relative to the files that name them."""

    outputs_in: Path | None = None
    references_in: Path | None = None
    embedder: str = "codebook"
    block: float = 8.0
    progress: Progress = field(default=no_progress, compare=False)

    outputs = OUTPUTS
    references = REFERENCES
    failed = ParsedSkim(Skim(()))
    nothing = {"picks": []}
    if_nothing = "write an empty list if it has no picks"
    baselines = (*BASELINES, *CALIBRATIONS)

    @property
    def signature(self) -> str:
        return ""

    def output(self, record: SkimContent, cases: Cases, row: int) -> ParsedSkimOrFaults:
        return self.outputs_of([record], cases, [row])[0]

    def outputs_of(
        self, records: Sequence[SkimContent], cases: Cases, rows: Sequence[int]
    ) -> list[ParsedSkimOrFaults]:
        """Return parsed outputs; audio skims of one recording are located together."""
        parsed: dict[int, ParsedSkimOrFaults] = {}
        sounds: dict[int, dict[int, Path]] = {}
        for number, (record, row) in enumerate(zip(records, rows, strict=True)):
            if (path := find_sound_path(record, self.outputs_in)) is None:
                parsed[number] = parse_picks(record, cases[row].references[0])
            else:
                sounds.setdefault(row, {})[number] = path
        for row, paths in sounds.items():
            reference = cases[row].references[0]
            with label_progress(self.progress, LOCATING_LABEL) as progress:
                skims = self._locate_sounds([*paths.values()], reference, progress)
            parsed |= {number: skims[path] for number, path in paths.items()}
        return [parsed[number] for number in range(len(records))]

    def with_progress(self, progress: Progress) -> SkimReader:
        return replace(self, progress=progress)

    def _locate_sounds(
        self, paths: Sequence[Path], reference: SkimReference, progress: Progress
    ) -> dict[Path, ParsedSkimOrFaults]:
        if isinstance(reference, Day):
            message = "audio cannot be located in embedded blocks"
            fault = Fault("output.audio", message, "use recording, or blocks with audio files")
            return {path: [fault] for path in paths}
        parsed: dict[Path, ParsedSkimOrFaults] = {}
        for first in range(0, len(paths), SKIMS_PER_PASS):
            batch = paths[first : first + SKIMS_PER_PASS]
            try:
                recording = reference.recording
                if reference.hour_gap:  # then its clock is known only after reading
                    recording = embed_recording(reference, self.embedder, self.block).real
                parsed |= locate_sounds(batch, recording, self.block, progress)
            except (EarwitnessError, OSError) as error:
                parsed |= {path: [Fault("output.audio", str(error))] for path in batch}
        return parsed

    def reference(
        self, record: SkimReferenceLine, names: Sequence[str]
    ) -> tuple[list[Any], list[Fault]]:
        """Return the recording, which must exist but is not decoded yet."""
        reference = read_reference(record, self.references_in)
        return ([], reference) if isinstance(reference, list) else ([reference], [])

    def of_references(
        self, records: Sequence[SkimReferenceLine], resolved: Sequence[list[Any]]
    ) -> CaseList:
        return CaseList(
            Case(
                Key(str(record.item), ""),
                Item(_reference_seconds(reference)),
                self.failed.skim,
                (reference,),
            )
            for record, (reference,) in zip(records, resolved, strict=True)
        )

    def details(self, records: Sequence[SkimOutputLine]) -> list[Dial | None]:
        """Return method and z of each output."""
        return [read_dial(record) for record in records]

    def output_remarks(self, records: Sequence[SkimOutputLine]) -> Counter[str]:
        return count_settings(records)

    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        return {"duration": case[row].item.duration}

    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        """Count the notes on recordings, and on skims located in them."""
        if not references:
            located = Counter(note for skim in resolved for note in skim.notes)
            return located + Counter(uniform_day_notes(cases, self.embedder, self.block))
        recordings = [
            reference.recording for reference in resolved if isinstance(reference, MarkedRecording)
        ]
        remarks = Counter(note for recording in recordings for note in recording.notes)
        remarks[OWN_BLOCKS_REMARK] = sum(isinstance(reference, Day) for reference in resolved)
        remarks.update(few_classes_notes(recordings, self.embedder, self.block))
        remarks.update(short_files_notes(recordings, self.block))
        return +remarks

    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        for remark, number in remarks.items():
            if remark.startswith(MADE_WITH_REMARK):
                yield from settings_notes(remark, number, metrics)
            elif remark == OWN_BLOCKS_REMARK:
                items = "item has" if number == 1 else "items have"
                message = f"{number:,} {items} {OWN_BLOCKS_REMARK}"
                yield f"{message}, to which the options embedder and block do not apply"
            else:
                yield remark

    def draw_baseline(self, name: str, case: Case, seeds: list[int]) -> ParsedSkim:
        """Return a baseline with twelve picks, as published."""
        day = embed_day(case.references[0], self.embedder, self.block)
        seed = int(np.random.SeedSequence(seeds).generate_state(1)[0])
        plan = SkimPlan(block=day.seconds, overlap=0.0, seed=seed)
        starts = day.starts[Picker(day, plan).baseline(name)].tolist()
        return ParsedSkim(Skim(tuple(Pick(start, day.seconds) for start in starts)))


def _reference_seconds(reference: SkimReference) -> float:
    return reference.length if isinstance(reference, Day) else reference.recording.seconds
