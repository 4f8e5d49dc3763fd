"""How long a listener is busy, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from earwitness.data import Block, Clip, Plan, Study, Trial
from earwitness.listening.kinds import block_kind

QUESTION = 10.0  # seconds that one of a form takes, reading included
CHECKS = {"level": 20.0, "sides": 10.0, "huggins": 50.0, "antiphase": 50.0}  # of a device


@dataclass(frozen=True)
class Step:
    """What takes time, how it comes about, and how many minutes it takes."""

    what: str
    how: str
    minutes: float


def minutes(study: Study) -> list[Step]:
    """Forms and the device page, anchors, practice, hearing, rating, rests, and their sum."""
    if study.plans:
        steps = [_rows(study)]
    else:
        steps = [*_first(study)]
        for number, block in enumerate(study.blocks, 1):
            steps += _block(study, block, f" (block {number})" * (len(study.blocks) > 1))
    steps = [*_asked(study), *steps]
    rests = sum(block.sessions for block in study.blocks) - 1
    told = f"{rests} × {study.rest_minutes:g} min"
    steps.append(Step("resting", told, rests * study.rest_minutes))
    return [*steps, Step("in all", "", sum(step.minutes for step in steps))]


def clips_for(study: Study, limit: float) -> int:
    """The most clips of the first block that fit into so many minutes; 0 if not even one does."""
    block = study.blocks[0]
    each = sum(step.minutes for step in _block(study, block, "")) / block.clips
    rest = minutes(study)[-1].minutes - each * block.clips
    return max(0, int((limit - rest) / each + 1e-9)) if each else block.clips


def _seconds(clips: tuple[Clip, ...]) -> float:
    return sum(clip.seconds for clip in clips) / len(clips)


def _asked(study: Study) -> Iterator[Step]:
    if count := len(study.before) + len(study.after):
        yield Step("forms", f"{count} questions × {QUESTION:g} s", count * QUESTION / 60)
    if study.device:
        told = " + ".join(f"{name} {CHECKS[name]:g} s" for name in study.device)
        yield Step("device", told, sum(CHECKS[name] for name in study.device) / 60)


def _first(study: Study) -> Iterator[Step]:
    block = study.blocks[0]
    if study.anchors:
        scales, seconds = len(block_kind(block).scales), _seconds(study.anchors)
        count = len(study.anchors) * scales
        told = f"{len(study.anchors)} sounds × {scales} scales = {count}"
        told += f" × ({seconds:.1f} s + {block.seconds:g} s)"
        yield Step("anchors", told, count * (seconds + block.seconds) / 60)
    if study.training:
        load = block_kind(block).load(block.heard)
        sounds, questions = load.sounds / load.trials, load.questions / load.trials
        each = sounds * _seconds(study.material) + questions * block.seconds
        told = f"{study.training} trials × {each:.1f} s"
        yield Step("practice", told, study.training * each / 60)


def _rows(study: Study) -> Step:
    """All trials of plans that were made elsewhere, of the listener who is busy longest."""
    seconds = {clip.name: clip.seconds for clip in (*study.material, *study.anchors)}

    def busy(plan: Plan) -> float:
        trials = [*plan.training, *plan.anchors, *chain.from_iterable(plan.sessions)]
        return sum(trial_seconds(study, trial, seconds[trial.item]) for trial in trials)

    longest = max(study.plans, key=busy)
    trials = sum(map(len, (longest.training, longest.anchors, *longest.sessions)))
    told = f"{trials} trials of listener {longest.listener}, who has most"
    return Step("hearing and rating", told, busy(longest) / 60)


def trial_seconds(study: Study, trial: Trial, seconds: float) -> float:
    """Seconds of one trial: its share of what a clip takes."""
    block = study.blocks[trial.block]
    kind = block_kind(block)
    load = kind.load(block.heard)
    asked = len(trial.scales) / len(kind.scales)
    each = load.sounds * seconds + load.questions * block.seconds
    return each / load.trials * asked


def _block(study: Study, block: Block, where: str) -> Iterator[Step]:
    """Every clip brings so many sounds to hear and so many questions to answer."""
    load, seconds = block_kind(block).load(block.heard), _seconds(study.material)
    sounds, questions = block.clips * load.sounds, block.clips * load.questions
    told = f"{block.clips} clips × {load.how} = {sounds}"
    yield Step(f"hearing{where}", f"{told} × {seconds:.1f} s", sounds * seconds / 60)
    told = f"{questions} × {block.seconds:g} s"
    yield Step(f"rating{where}", told, questions * block.seconds / 60)
