"""Who is where in a study, and who has sent back a workbook: ``study status``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from earwitness.api.came import came, captions_in, judges_captions
from earwitness.api.keeping import Place, Record, Shown, StudyGiven, opened, plan_of
from earwitness.api.studies import study_design
from earwitness.data import Plan, Study
from earwitness.store import Given, ListenerStatus


def study_status(study: StudyGiven, db: Place) -> list[Record]:
    """How far every listener is whom the store knows; of captions, also what came in workbooks."""
    plan = plan_of(study)
    with opened(plan, db) as store:
        found = store.status(plan.digest)
        given = store.counting(plan.digest) if judges_captions(plan) else None
    counts = _page_counts(plan)
    records = _status(found, counts)
    return records if given is None else [*_with_workbooks(plan, records, given)]


def _with_workbooks(
    study: Study, records: Sequence[Record], given: Sequence[Given]
) -> Iterator[Record]:
    """Records with what came of each listener's workbooks, or nothing."""
    own = defaultdict[int, list[Given]](list)
    for one in given:
        own[one.answer.listener].append(one)
    captions = _per_listener(study, captions_in)
    for record in records:
        number = record["listener"]
        yield {**record, "workbook": came(own[number], captions[number])}


def _status(found: Sequence[ListenerStatus], counts: Mapping[int, int]) -> list[Record]:
    return [
        {
            "listener": one.listener.number,
            "state": one.listener.state.value,
            "answered": one.answers,
            "all": counts[one.listener.number] - 1,
            "last": one.last or "",
            "finished": one.listener.finished or "",
            "withdrawn": one.listener.withdrawn or "",
            "outside": one.listener.outside or "",
            "code": one.listener.code or "",
        }
        for one in found
        if one.listener.number in counts
    ]


def _page_counts(study: Study) -> dict[int, int]:
    """How many pages every listener has; all of one panel have as many.

    So only the first listener of every panel is planned, whom no later one moves.
    """
    shown = Shown(study)
    return _per_listener(study, lambda plan: len(shown.of(plan)))


def _per_listener(study: Study, count: Callable[[Plan], int]) -> dict[int, int]:
    """Something that is counted in the plans of all listeners, and alike in one panel."""
    if study.plans:
        return {plan.listener: count(plan) for plan in study.plans}
    first = replace(study, listeners=min(study.listeners, study.panels))
    each = [count(plan) for plan in study_design(first).plans]
    return {number + 1: each[number % len(each)] for number in range(study.listeners)}
