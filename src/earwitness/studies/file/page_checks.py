"""Checks of what listeners' browsers can show and play, for serve and study check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from earwitness.audio.decode import SoundProfile, read_profile
from earwitness.audio.wav import CONVERTIBLE_SAMPLE_TYPES
from earwitness.core import StrPath, count_text
from earwitness.errors import EarwitnessError, MissingExtra, Problem, file_problem
from earwitness.report.parts import Lines, Section
from earwitness.report.sentences import join_names
from earwitness.studies.file.audio_checks import format_rate
from earwitness.studies.file.recordings import RecordingCheck, check_recordings
from earwitness.studies.hearing import digit_files
from earwitness.studies.study import PAD_LENGTHS, Design, Study, Trial
from earwitness.studies.trials import KINDS, block_kind, study_kinds
from earwitness.studies.trials.base import TrialKind
from earwitness.studies.wording import Wording, wording

# --- Checks of a study ---------------------------------------------------------------------------
# A problem is a dead end for listeners: the study is not served. A warning is a weakness: the study
# is served, and the operator is told.


@dataclass(frozen=True, slots=True)
class PageChecks:
    """What the server refuses about a study, what it warns of, and the long recordings."""

    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    recordings: tuple[RecordingCheck, ...] = ()


GOLD_WARNING = (
    "feedback is on, but the study has no gold answers: listeners see only their own answers after "
    "practice — name a table of expected answers under gold, or remove feedback"
)


class PageSound(NamedTuple):
    """An audio file of a page: its clip, its system, and its path relative to the study."""

    item: str
    system: str
    name: str


def check_pages(design: Design, path: StrPath, *, audio: bool = True) -> PageChecks:
    """Return what would stop listeners in their browsers, and warnings.

    Parameters
    ----------
    design
        Design of the study.
    path
        Path of the study file.
    audio
        Whether to look at the audio files; false for a study that has none yet.

    Returns
    -------
    PageChecks
        All problems, each with its place and remedy, and all warnings.
    """
    study, folder = design.study, Path(path).parent
    words = wording(study.language, study.wordings)
    problems = [*_kind_problems(study, str(path))]
    warnings = [GOLD_WARNING] if study.feedback and not study.gold else []
    trials = _distinct_trials(design)
    broken_blocks, recordings = set[int](), tuple[RecordingCheck, ...]()
    for problem, block in _text_problems(study, trials, words, str(path)):
        broken_blocks.add(block)
        problems.append(problem)
    if audio:
        usable = [trial for trial in trials if trial.block not in broken_blocks]
        heard = _HeardSounds(study, folder, usable, words)
        problems += heard.problems
        problems += heard.rate_problems()
        warnings += heard.length_warnings()
        recordings, recording_problems = check_recordings(study, Path(path))
        problems += recording_problems
    return PageChecks(tuple(problems), tuple(warnings), recordings)


def page_sound_names(design: Design) -> list[str]:
    """Return the paths of the audio files of trials and of the hearing test."""
    study = design.study
    words = wording(study.language, study.wordings)
    kinds = study_kinds(study)
    names = {
        study.file(trial.item, system)
        for trial in _distinct_trials(design)
        for system, _ in kinds[trial.block].presented(trial, words, study.reference)
    }
    digits = () if study.hearing is None else digit_files(study.hearing)
    return sorted({*names, *digits})


def _distinct_trials(design: Design) -> list[Trial]:
    """Return one trial per block, clip and set of systems."""
    sessions = (
        session
        for plan in design.plans
        for session in (plan.training, plan.anchors, *plan.sessions)
    )
    found = dict[tuple[int, str, tuple[str, ...]], Trial]()
    for session in sessions:
        for trial in session:
            found.setdefault((trial.block, trial.item, trial.treatment), trial)
    return list(found.values())


# --- Pages and texts -----------------------------------------------------------------------------


RENDERER_FOLDER = Path(__file__).parents[2] / "web" / "static" / "trials"


def has_browser_page(kind: TrialKind | type[TrialKind]) -> bool:
    """Return whether browsers can show a trial kind: its script exists."""
    return (RENDERER_FOLDER.parent / _script_path(kind)).is_file()


def _script_path(kind: TrialKind | type[TrialKind]) -> Path:
    """Return the path of the script of a trial kind, relative to static scripts if built in."""
    own = kind.renderer
    return own if isinstance(own, Path) else Path(RENDERER_FOLDER.name, f"{own}.js")


def _kind_problems(study: Study, source: str) -> Iterator[Problem]:
    """Yield a problem for each block whose trial kind has no page."""
    shown = [name for name, kind in KINDS.items() if has_browser_page(kind)]
    for number, block in enumerate(study.blocks):
        kind = KINDS[block.kind]
        if not has_browser_page(kind):
            reason = f"script {_script_path(kind)} does not exist" if kind.renderer else ""
            message = f'no browser page for trial kind "{block.kind}"'
            message += f": {reason}" if reason else ""
            remedy = f"use one of {join_names(shown)}"
            yield Problem(source, 0, f"blocks[{number}].kind", message, remedy)


def _text_problems(
    study: Study, trials: list[Trial], words: Wording, source: str
) -> Iterator[tuple[Problem, int]]:
    """Yield the blocks whose page cannot be created, usually for lack of a text."""
    for number, block in enumerate(study.blocks):
        trial = next((trial for trial in trials if trial.block == number), None)
        if trial is None:
            continue
        field_name = f"blocks[{number}].kind"
        try:
            kind = block_kind(block)
            kind.intro_views(words, lambda *_: "")
            kind.view(trial, words, lambda *_: "", study.reference, study.caption)
        except KeyError as error:
            message = f'{block.kind} has no text {error} in language "{study.language}"'
            remedy = "choose another language, or set the text under wordings"
            yield Problem(source, 0, field_name, message, remedy), number
        except (ValueError, TypeError, IndexError) as error:
            message = f"the page of {block.kind} cannot be created: {error}"
            remedy = "compare the number of labels with the values of the scale"
            yield Problem(source, 0, field_name, message, remedy), number


# --- Audio files ---------------------------------------------------------------------------------


SHOWN_CLIPS = 3  # clips named in a warning
LONG_PADDING_SECONDS = 0.1  # silence that listeners may notice
PLAYABLE_TAGS = (6, 7)  # A-law and µ-law, which are sent unchanged
FORMAT_REMEDY = "convert it to WAV with 16, 24 or 32 bits"


@dataclass
class _HeardSounds:
    """Audio files on the pages of a study, and their problems."""

    study: Study
    folder: Path
    trials: list[Trial]
    words: Wording
    profiles: dict[str, SoundProfile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kinds = study_kinds(self.study)
        names = [sound.name for trial in self.trials for sound in self._sounds(trial)]
        names += digit_files(self.study.hearing) if self.study.hearing else []
        for name in dict.fromkeys(names):
            if not (self.folder / name).exists():
                self._add_problem(name, "missing audio file", "add the file")
                continue
            try:
                self.profiles[name] = read_profile(self.folder / name)
            except MissingExtra as error:
                self._add_problem(name, str(error), "")
            except (OSError, EarwitnessError) as error:
                reason = getattr(error, "strerror", None) or str(error).rpartition(": ")[2]
                self._add_problem(name, f"unreadable audio file: {reason}", "replace the file")
        for name, profile in self.profiles.items():
            if not profile.seconds:
                self._add_problem(name, "contains no audio", "replace the file")
            elif (
                profile.form.sample not in CONVERTIBLE_SAMPLE_TYPES
                and profile.form.tag not in PLAYABLE_TAGS
            ):
                self._add_problem(name, "browsers cannot play this sample format", FORMAT_REMEDY)

    def _add_problem(self, name: str, message: str, remedy: str) -> None:
        self.problems.append(file_problem(self.folder / name, message, remedy))

    def _sounds(self, trial: Trial) -> list[PageSound]:
        study = self.study
        presented = self.kinds[trial.block].presented(trial, self.words, study.reference)
        return [
            PageSound(trial.item, system, study.file(trial.item, system)) for system, _ in presented
        ]

    def _profiled_sounds(self, trials: list[Trial]) -> Iterator[tuple[PageSound, SoundProfile]]:
        """Yield the sounds of trials that can be read."""
        for sound in (sound for trial in trials for sound in self._sounds(trial)):
            if sound.name in self.profiles:
                yield sound, self.profiles[sound.name]

    def rate_problems(self) -> Iterator[Problem]:
        """Yield the clips whose sounds cannot be switched, since their sampling rates differ."""
        found = dict[str, dict[int, list[str]]]()
        switched = [trial for trial in self.trials if self.kinds[trial.block].switching]
        for sound, profile in self._profiled_sounds(switched):
            systems = found.setdefault(sound.item, {})
            systems.setdefault(profile.form.rate, []).append(sound.system)
        for item, systems_by_rate in found.items():
            if len(systems_by_rate) > 1:
                parts = [
                    f"{format_rate(rate)} ({join_names(list(dict.fromkeys(systems)))})"
                    for rate, systems in sorted(systems_by_rate.items())
                ]
                yield file_problem(
                    self.folder,
                    f"sampling rates differ between sounds that listeners switch: {item}: "
                    f"{join_names(parts)}",
                    f"use earwitness audio normalize --rate {max(systems_by_rate)}",
                )

    def length_warnings(self) -> Iterator[str]:
        """Yield a warning if the sounds of a clip differ in length."""
        spans = _length_spans(self._seconds_by_item())
        pads = self.study.lengths == PAD_LENGTHS
        least = LONG_PADDING_SECONDS if pads else 0.0
        wide = {item: span for item, span in spans.items() if span > least}
        if not wide:
            return
        longest = max(wide, key=lambda item: wide[item])
        names = ", ".join(list(wide)[:SHOWN_CLIPS]) + (", …" if len(wide) > SHOWN_CLIPS else "")
        where = f"{count_text(len(wide), 'clip')} ({names})"
        if pads:
            yield (
                f"lengths differ between systems in {where}: up to {wide[longest]:.3g} s of "
                f"silence is appended ({longest}), so that file sizes do not reveal the system — "
                "check that these are the right files, or write lengths: allow"
            )
        else:
            yield (
                f"lengths differ between systems in {where}, at most by {wide[longest]:.3g} s "
                f"({longest}): file sizes reveal the system — write lengths: pad"
            )

    def _seconds_by_item(self) -> Mapping[str, list[float]]:
        found = dict[str, dict[str, float]]()
        for sound, profile in self._profiled_sounds(self.trials):
            found.setdefault(sound.item, {})[sound.name] = profile.seconds
        return {item: list(seconds.values()) for item, seconds in found.items()}


def _length_spans(seconds: Mapping[str, list[float]]) -> dict[str, float]:
    """Return by how much the sounds of each clip differ in length, if they do.

    >>> _length_spans({"a": [2.0, 2.5], "b": [2.0, 2.0]})
    {'a': 0.5}
    """
    spans = {item: max(lengths) - min(lengths) for item, lengths in seconds.items()}
    return {item: round(span, 6) for item, span in spans.items() if span > 1e-6}


# --- Section of a report -------------------------------------------------------------------------


def pages_section(checks: PageChecks) -> Section | None:
    """Return the section of a report on what browsers cannot show; None if there is nothing."""
    parts = [
        Lines(title, lines, shown=len(lines))
        for title, lines in (
            ("problems: earwitness serve refuses this study", tuple(map(str, checks.problems))),
            ("warnings", checks.warnings),
        )
        if lines
    ]
    if not parts:
        return None
    verdict = "This study cannot be served in browsers yet." if checks.problems else ""
    return Section("Browser", tuple(parts), verdict)
