"""Design of a study, and the time that each listener needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import ceil

import numpy as np

from earwitness.studies.design.anchors import AnchorSet, order_anchors
from earwitness.studies.design.incomplete import first_scale_order, systems_heard
from earwitness.studies.design.insertions import (
    count_repeats,
    count_retest_sessions,
    insert_trials,
)
from earwitness.studies.design.orders import PanelHistory, group_clips
from earwitness.studies.design.subsets import equivalent_subsets
from earwitness.studies.hearing import TRIPLET_SECONDS
from earwitness.studies.study import (
    Clip,
    Design,
    ListenerPlan,
    Names,
    Session,
    Study,
    StudyBlock,
    Trial,
)
from earwitness.studies.trials import block_kind
from earwitness.studies.trials.base import Load

# --- Design of a whole study ---------------------------------------------------------------------


# random streams in addition to that of the subsets
ORDERS_STREAM, ANCHORS_STREAM, TRAINING_STREAM, PANELS_STREAM = 2, 4, 5, 7
Subsets = tuple[Names, ...]  # names of clips, by panel


def make_design(study: Study) -> Design:
    """Return the design of a study.

    It is the same for the same study, and adding listeners does not change the plans of others.
    Existing plans (``study.plans``) are used unchanged.
    """
    if study.plans:
        heard = tuple(_clips_of_plans(study, number) for number in range(len(study.blocks)))
        return Design(study, heard, study.plans)
    subsets = tuple(
        _choose_subsets(study, number, block) for number, block in enumerate(study.blocks)
    )
    panels = [_Panel.of(study, place, subsets) for place in range(study.panels)]
    plans = (
        panels[(listener - 1) % study.panels].plan(listener)
        for listener in range(1, study.listeners + 1)
    )
    return Design(study, subsets, tuple(plans))


def _clips_of_plans(study: Study, number: int) -> Subsets:
    """Return the clips that each panel hears in a block."""
    clips: dict[int, dict[str, None]] = {panel: {} for panel in range(1, study.panels + 1)}
    for plan in study.plans:
        names = (t.item for s in plan.sessions for t in s if t.block == number)
        clips[plan.panel].update(dict.fromkeys(names))
    return tuple(tuple(sorted(names)) for names in clips.values())


def _choose_subsets(study: Study, number: int, block: StudyBlock) -> Subsets:
    material = [clip for clip in study.material if clip.name not in study.training_items]
    chosen = equivalent_subsets(
        [clip.covariates for clip in material],
        number=study.panels,
        size=block.clips,
        categories=study.categories,
        numbers=study.numbers,
        seed=(study.seed, number),
    )
    return tuple(tuple(material[i].name for i in indices) for indices in chosen)


@dataclass(frozen=True)
class _Panel:
    """A panel: its clips and running counts, by block."""

    study: Study
    place: int
    items: tuple[Names, ...]
    pools: tuple[PanelHistory, ...]

    @classmethod
    def of(cls, study: Study, place: int, subsets: tuple[Subsets, ...]) -> _Panel:
        """Return a panel without listeners so far."""
        pools = (PanelHistory((study.seed, PANELS_STREAM, place, n)) for n in range(len(subsets)))
        return cls(
            study, place, tuple(block_subsets[place] for block_subsets in subsets), tuple(pools)
        )

    def plan(self, listener: int) -> ListenerPlan:
        """Return the plan of the next listener; listeners join panels in turn."""
        study, turn = self.study, (listener - 1) // self.study.panels
        sessions = [
            session
            for number in range(len(study.blocks))
            for session in self._sessions(number, listener, turn)
        ]
        first = sessions[0][0].scales

        def repeat(trial: Trial, rng: np.random.Generator) -> Trial:
            return block_kind(study.blocks[trial.block]).repeat_trial(trial, rng)

        sessions = [*insert_trials(study.quality, sessions, listener, study.seed, repeat)]
        training = self._training(listener, turn, first)
        anchors: Session = ()
        if study.anchors:  # in an order of the listener's own, balanced over listeners
            codes = AnchorSet.of([clip.name for clip in study.anchors])
            order = order_anchors(codes, listener, (study.seed, ANCHORS_STREAM))
            names, system = (study.anchors[i].name for i in order), (study.anchor_system,)
            anchors = tuple(Trial(name, system, first) for name in names)
        return ListenerPlan(listener, self.place + 1, tuple(sessions), training, anchors)

    def _sessions(self, number: int, listener: int, turn: int) -> Iterator[Session]:
        """Return the sessions of a block, the two halves with different orders of scales."""
        study, block = self.study, self.study.blocks[number]
        kind = block_kind(block)
        sessions = kind.trials(
            self.items[number],
            self._systems(block, turn),
            block.sessions,
            np.random.default_rng([study.seed, ORDERS_STREAM, listener, number]),
            study.reference,
            pool=self.pools[number],
            asked=scale_orders(study, number, listener),
            block=number,
        )
        group_of = {clip.name: str(clip.covariates.get(kind.within, "")) for clip in study.material}
        return map(tuple, group_clips(sessions, group_of, turn) if kind.within else sessions)

    def _systems(self, block: StudyBlock, turn: int) -> Names:
        return systems_heard(turn, block.systems, block.heard, self.place)

    def _training(self, listener: int, turn: int, scales: Names) -> Session:
        """Return practice trials of the first block's kind, with clips not heard later."""
        study, heard = self.study, {name for items in self.items for name in items}
        if not study.training:
            return ()
        block, rng = study.blocks[0], np.random.default_rng([study.seed, TRAINING_STREAM, listener])
        others = [clip.name for clip in study.material if clip.name not in heard]
        others = list(study.training_items) or others
        chosen = [others[i] for i in rng.permutation(len(others))[: study.training]]
        pool = PanelHistory((study.seed, TRAINING_STREAM, listener))
        systems = self._systems(block, turn)
        kind = block_kind(block)
        [trials] = kind.trials(chosen, systems, 1, rng, study.reference, pool=pool, asked=[scales])
        return tuple(kind.practice_trials(trials)[: study.training])


def scale_orders(study: Study, number: int, listener: int) -> list[Names]:
    """Return the order of scales in each session of a block.

    The first order alternates between listeners and panels; the second half of the sessions uses
    the next order.
    """
    block = study.blocks[number]
    orders = block_kind(block).scale_orders
    turns, systems = divmod(listener - 1, study.panels), len(block.systems)
    start = sum(first_scale_order(turn, systems, block.heard) for turn in turns)
    half = ceil(block.sessions / 2)
    return [orders[(start + (n >= half)) % len(orders)] for n in range(block.sessions)]


# --- Minutes per listener ------------------------------------------------------------------------


QUESTION_SECONDS = 10.0  # per question of a form, including reading
# per check of the device
DEVICE_CHECK_SECONDS = {"level": 20.0, "sides": 10.0, "huggins": 50.0, "antiphase": 50.0}


@dataclass(frozen=True)
class TimedStep:
    """A step of a study, the calculation of its time, and the time in minutes."""

    what: str
    how: str
    minutes: float


def count_minutes(study: Study) -> list[TimedStep]:
    """Return the time of each step per listener, and the total."""
    if study.plans:
        steps = [_plan_step(study)]
    else:
        steps = [*_opening_steps(study)]
        for number, block in enumerate(study.blocks, 1):
            steps += _block_steps(
                study, block, f" (block {number})" if len(study.blocks) > 1 else ""
            )
    steps = [*_form_steps(study), *steps, *_quality_steps(study)]
    rests = sum(block.sessions for block in study.blocks) - 1
    rests = (rests + count_further_sessions(study)) * (study.rest_minutes > 0)
    how = f"{rests} × {study.rest_minutes:g} min"
    steps.append(TimedStep("breaks", how, rests * study.rest_minutes))
    return [*steps, TimedStep("total", "", sum(step.minutes for step in steps))]


def max_clips(study: Study, limit: float) -> int:
    """Return the largest number of clips of the first block that fits into ``limit`` minutes."""
    block, each = study.blocks[0], clip_minutes(study)
    other_minutes = count_minutes(study)[-1].minutes - each * block.clips
    return max(0, int((limit - other_minutes) / each + 1e-9)) if each else block.clips


def clip_minutes(study: Study) -> float:
    """Return the minutes of one clip of the first block, with all systems."""
    block = study.blocks[0]
    return sum(step.minutes for step in _block_steps(study, block, "")) / block.clips


def _mean_seconds(clips: tuple[Clip, ...]) -> float:
    return sum(clip.seconds for clip in clips) / len(clips)


def _form_steps(study: Study) -> Iterator[TimedStep]:
    if count := len(study.before) + len(study.after):
        yield TimedStep(
            "forms", f"{count} questions × {QUESTION_SECONDS:g} s", count * QUESTION_SECONDS / 60
        )
    if study.hearing is not None:
        count = study.hearing.triplets
        how = f"{count} triplets × {TRIPLET_SECONDS:g} s"
        yield TimedStep("hearing test", how, count * TRIPLET_SECONDS / 60)
    if study.device:
        how = " + ".join(f"{name} {DEVICE_CHECK_SECONDS[name]:g} s" for name in study.device)
        yield TimedStep(
            "device checks", how, sum(DEVICE_CHECK_SECONDS[name] for name in study.device) / 60
        )


def _opening_steps(study: Study) -> Iterator[TimedStep]:
    block = study.blocks[0]
    if study.anchors:
        scales, seconds = len(block_kind(block).scales), _mean_seconds(study.anchors)
        count = len(study.anchors) * scales
        how = f"{len(study.anchors)} audio files × {scales} scales = {count}"
        how += f" × ({seconds:.1f} s + {block.seconds:g} s)"
        yield TimedStep("anchors", how, count * (seconds + block.seconds) / 60)
    if study.training:
        kind, load = block_kind(block), block_kind(block).load(block.heard)
        sample = Trial("", block.systems[: block.heard], kind.scale_orders[0])
        seconds, parts = _mean_seconds(study.material), kind.practice_trials([sample])
        each = _clip_seconds(load, block, seconds) / load.trials
        if len(parts) > 1:
            each = float(np.mean([trial_seconds(study, part, seconds) for part in parts]))
        how = f"{study.training} {'trial' if study.training == 1 else 'trials'} × {each:.1f} s"
        yield TimedStep("practice", how, study.training * each / 60)


def _clip_seconds(load: Load, block: StudyBlock, seconds: float) -> float:
    """Return the seconds of all trials of a clip that lasts ``seconds``."""
    return load.sounds * seconds + load.questions * block.seconds + load.browsing


def _plan_step(study: Study) -> TimedStep:
    """Return the time of all trials of existing plans, for the longest plan."""
    seconds = {clip.name: clip.seconds for clip in (*study.material, *study.anchors)}

    def busy(plan: ListenerPlan) -> float:
        trials = [*plan.training, *plan.anchors, *chain.from_iterable(plan.sessions)]
        return sum(trial_seconds(study, trial, seconds[trial.item]) for trial in trials)

    longest = max(study.plans, key=busy)
    trials = sum(map(len, (longest.training, longest.anchors, *longest.sessions)))
    how = f"{trials} trials of listener {longest.listener}, who needs most time"
    return TimedStep("listening and rating", how, busy(longest) / 60)


def trial_seconds(study: Study, trial: Trial, seconds: float) -> float:
    """Return the seconds of one trial: its part of the time of a clip."""
    block = study.blocks[trial.block]
    kind = block_kind(block)
    load = kind.load(block.heard)
    asked = len(trial.scales) / len(kind.scales)
    if kind.rotated:  # practice trials have some of the systems
        each = load.sounds * seconds + asked * load.questions * block.seconds + load.browsing
        return each * len(trial.systems) / block.heard
    each = load.sounds * seconds + load.questions * block.seconds
    return (each * asked + load.browsing) / load.trials


def count_further_sessions(study: Study) -> int:
    """Return the number of sessions after those of the blocks, which repeat the first ones."""
    return count_retest_sessions(study.quality, _session_sizes(*study.blocks))


def _session_sizes(*blocks: StudyBlock) -> list[int]:
    """Return the number of trials in each session of some blocks, without inserted ones."""
    return [
        len(part)
        for block in blocks
        for part in np.array_split(
            np.arange(block.clips * block_kind(block).load(block.heard).trials), block.sessions
        )
    ]


def _quality_steps(study: Study) -> Iterator[TimedStep]:
    """Yield the step of gold, trapping and repeated trials."""
    quality, trials, seconds = study.quality, 0, 0.0
    is_further = count_further_sessions(study) > 0
    for block in study.blocks:
        load = block_kind(block).load(block.heard)
        each = _clip_seconds(load, block, _mean_seconds(study.material))
        sizes = _session_sizes(block)
        if is_further:
            count = count_repeats(quality, len(sizes))
        else:
            count = sum(
                quality.gold + quality.traps + count_repeats(quality, size) for size in sizes
            )
        trials, seconds = trials + count, seconds + count * each / load.trials
    if trials and not study.plans:
        how = f"{trials} gold, trapping and repeated trials × {seconds / trials:.1f} s"
        yield TimedStep("quality control", how, seconds / 60)


def _block_steps(study: Study, block: StudyBlock, where: str) -> Iterator[TimedStep]:
    """Yield the steps of a block: listening and rating."""
    load, seconds = block_kind(block).load(block.heard), _mean_seconds(study.material)
    sounds, questions = block.clips * load.sounds, block.clips * load.questions
    how = f"{block.clips} clips × {load.how} = {sounds}"
    yield TimedStep(f"listening{where}", f"{how} × {seconds:.1f} s", sounds * seconds / 60)
    how = f"{questions} × {block.seconds:g} s"
    yield TimedStep(f"rating{where}", how, questions * block.seconds / 60)
    if load.browsing:
        how = f"{block.clips} clips × {load.browsing:g} s"
        yield TimedStep(f"browsing{where}", how, block.clips * load.browsing / 60)
