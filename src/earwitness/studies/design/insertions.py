"""Gold, trapping and repeated trials, inserted into the sessions of a design, and their balance.

The other trials keep their order, so the balance of a design is counted without inserted trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from earwitness.analysis.evidence import GOLD_ROLE, REPEAT_ROLE, TRAP_ROLE
from earwitness.errors import UsageError
from earwitness.studies.design.subset_balance import Claim, count_claim, verdict
from earwitness.studies.study import Design, QualityControl, Session, Trial, check_system

# --- Inserting trials ----------------------------------------------------------------------------
# A trial is inserted before another one, so none is first or last in its session. The session is
# divided into as many parts as it has clips with known answers; each part gets one of them, and the
# roles rotate over parts from session to session. Repeats are trials of the first half, presented
# again in the second half. No two inserted trials are neighbours.
#
# If each session has one trial, a trial can only be repeated in a further session at the end. Then
# the first trials are repeated, whose clips are balanced over listeners.


INSERTION_STREAM = 13  # random stream, distinct from those of designs
RepeatTrial = Callable[[Trial, Generator], Trial]  # a trial as presented again
Slots = dict[int, Trial]  # trials to insert, by the number of the trial that they precede


def count_repeats(quality: QualityControl, trials: int) -> int:
    """Return how many of the trials of a session are repeated.

    >>> count_repeats(QualityControl(repeats=0.1), 24)
    2
    """
    return max(1, round(quality.repeats * trials)) if quality.repeats else 0


def count_retest_sessions(quality: QualityControl, sizes: Sequence[int]) -> int:
    """Return how many sessions repeat trials, if each session of these sizes has one trial.

    >>> count_retest_sessions(QualityControl(repeats=0.25), [1, 1, 1, 1])
    1
    """
    if quality.gold or quality.traps or any(size > 1 for size in sizes):
        return 0
    return count_repeats(quality, len(sizes))


def insert_trials(
    quality: QualityControl,
    sessions: Sequence[Session],
    listener: int,
    seed: int,
    repeat: RepeatTrial,
) -> tuple[Session, ...]:
    """Return the sessions of a listener with gold, trapping and repeated trials."""
    if not (quality.gold or quality.traps or quality.repeats):
        return tuple(sessions)
    if count := count_retest_sessions(quality, [len(session) for session in sessions]):
        rng = np.random.default_rng([seed, INSERTION_STREAM, listener, len(sessions)])
        return (*sessions, *((repeat(session[0], rng),) for session in sessions[:count]))
    made = []
    for place, session in enumerate(sessions):
        turn = (listener - 1) * len(sessions) + place
        rng = np.random.default_rng([seed, INSERTION_STREAM, listener, place])
        slots = _place_checks(quality, session, turn, rng)
        count = count_repeats(quality, len(session))
        slots |= _place_repeats(session, count, slots, turn, rng, repeat)
        pairs = ((slots.get(number), trial) for number, trial in enumerate(session))
        made.append(tuple(trial for pair in pairs for trial in pair if trial is not None))
    return tuple(made)


def _place_checks(quality: QualityControl, session: Session, turn: int, rng: Generator) -> Slots:
    """Return gold and trapping trials by slot, one in each part of the session."""
    checks = list[Trial]()
    for role, count in ((GOLD_ROLE, quality.gold), (TRAP_ROLE, quality.traps)):
        names = [clip.name for clip in quality.clips if clip.role == role]
        checks += [
            Trial(
                names[(turn * count + n) % len(names)],
                (check_system(role),),
                session[0].scales,
                session[0].block,
                role=role,
            )
            for n in range(count)
        ]
    needed = len(checks) + count_repeats(quality, len(session))
    if needed >= len(session):
        trials, inserted = (
            f"{n} {'trial' if n == 1 else 'trials'}" for n in (len(session), needed)
        )
        message = f"a session of {trials} is too short for {inserted} of quality control"
        raise UsageError(f"quality: {message} — use longer sessions, or fewer gold, traps, repeats")
    parts = np.array_split(np.arange(1, len(session)), len(checks)) if checks else []
    slots: Slots = {}
    for number, part in enumerate(parts):
        free = [int(slot) for slot in part if not {int(slot) - 1, int(slot) + 1} & set(slots)]
        slot = int(rng.choice(free or part))
        slots[slot] = checks[(number + turn) % len(checks)]
    return slots


def _place_repeats(
    session: Session,
    count: int,
    taken: Slots,
    turn: int,
    rng: Generator,
    repeat: RepeatTrial,
) -> Slots:
    """Return repeated trials by slot; treatments take turns."""
    half, gap = len(session) // 2, max(2, len(session) // 4)
    late = [slot for slot in range(max(half, 1), len(session)) if slot not in taken]
    early = list(range(max(1, half)))
    treatments = sorted({session[n].treatment for n in early})
    slots: Slots = {}
    for number in range(count):
        wanted = treatments[(turn * count + number) % len(treatments)]
        used = {(trial.item, trial.treatment) for trial in slots.values()}
        pairs = [
            (session[n].treatment != wanted, n, slot)
            for n in early
            for slot in late
            if slot not in slots and (session[n].item, session[n].treatment) not in used
        ]
        if not pairs:
            break
        ranked = [
            (
                session[n].item in (session[slot - 1].item, session[slot].item),
                slot - n < gap,
                is_other,
                session[n].treatment in (session[slot - 1].treatment, session[slot].treatment),
                bool({slot - 1, slot + 1} & {*taken, *slots}),
                place,
                n,
                slot,
            )
            for place, (is_other, n, slot) in enumerate(
                pairs[i] for i in rng.permutation(len(pairs))
            )
        ]
        *_, n, slot = min(ranked)
        slots[slot] = repeat(session[n], rng)
    return slots


def without_inserted(design: Design) -> Design:
    """Return a design without inserted trials."""
    if not has_insertions(design):
        return design
    plans = tuple(
        replace(
            plan,
            sessions=tuple(
                tuple(trial for trial in session if not trial.role)
                for session in plan.sessions
                if not _is_inserted(session)
            ),
        )
        for plan in design.plans
    )
    return replace(design, plans=plans)


def _is_inserted(session: Session) -> bool:
    """Return whether a session has inserted trials only."""
    return all(trial.role for trial in session)


def has_insertions(design: Design) -> bool:
    """Return whether a design has inserted trials."""
    return any(
        trial.role for plan in design.plans for session in plan.sessions for trial in session
    )


# --- Balance of inserted trials ------------------------------------------------------------------


ROLE_WORDING = {GOLD_ROLE: "gold clips", TRAP_ROLE: "trapping clips", REPEAT_ROLE: "repeats"}


def insertion_claims(design: Design) -> Iterator[Claim]:
    """Yield claims on inserted trials: numbers, positions and uses."""
    if not has_insertions(design):
        return
    sessions = [
        session for plan in design.plans for session in plan.sessions if not _is_inserted(session)
    ]
    if any(map(_is_inserted, design.plans[0].sessions)):
        yield from _retest_claims(design)
        return
    roles = {trial.role for session in sessions for trial in session} - {""}
    for role, name in ROLE_WORDING.items():
        if role in roles:
            yield from _role_claims(design.study.quality, sessions, role, name)
    ends = sum(bool(session[0].role) + bool(session[-1].role) for session in sessions)
    yield Claim(
        "gold, trapping or repeated trials first or last in a session",
        *(str(ends), "–", verdict(not ends)),
    )
    beside = sum(bool(a.role and b.role) for session in sessions for a, b in pairwise(session))
    yield Claim(
        "gold, trapping or repeated trials directly after another",
        *(str(beside), "–", verdict(not beside)),
    )
    if REPEAT_ROLE in roles:
        yield from _repeat_claims(sessions)


def _retest_claims(design: Design) -> Iterator[Claim]:
    """Yield claims on further sessions: numbers per listener, and which clips are repeated."""
    quality, counts, right = design.study.quality, list[int](), list[bool]()
    used = Counter({item: 0 for block in design.subsets for items in block for item in items})
    for plan in design.plans:
        again = [trial for session in plan.sessions if _is_inserted(session) for trial in session]
        counts.append(len(again))
        right.append(counts[-1] == count_repeats(quality, len(plan.sessions) - len(again)))
        used.update(trial.item for trial in again)
    yield count_claim("repeated trials per listener, at the end", counts, all(right))
    uses = list(used.values())
    is_even = max(uses) - min(uses) <= 1
    yield count_claim("times each clip is repeated, over all listeners", uses, is_even)


def _role_claims(
    quality: QualityControl, sessions: Sequence[Session], role: str, name: str
) -> Iterator[Claim]:
    counts = [sum(trial.role == role for trial in session) for session in sessions]
    planned = {GOLD_ROLE: quality.gold, TRAP_ROLE: quality.traps}
    kept = all(
        count == planned.get(role, count_repeats(quality, sum(not trial.role for trial in session)))
        for count, session in zip(counts, sessions, strict=True)
    )
    yield count_claim(f"{name} per session", counts, kept)
    clips = [clip.name for clip in quality.clips if clip.role == role]
    if clips:
        used = Counter(
            trial.item for session in sessions for trial in session if trial.role == role
        )
        uses = [used[clip] for clip in clips]
        what = f"times each of the {name} is heard, over all listeners"
        yield count_claim(what, uses, max(uses) - min(uses) <= 1)


def _repeat_claims(sessions: Sequence[Session]) -> Iterator[Claim]:
    same = sum(
        a.item == b.item and REPEAT_ROLE in (a.role, b.role)
        for session in sessions
        for a, b in pairwise(session)
    )
    yield Claim("repeats directly before or after the same clip", str(same), "–", verdict(not same))
    distances = [
        number
        - [(other.item, other.treatment) for other in session].index((trial.item, trial.treatment))
        for session in sessions
        for number, trial in enumerate(session)
        if trial.role == REPEAT_ROLE
    ]
    yield count_claim("trials from a trial to its repeat", distances, min(distances) > 1)
