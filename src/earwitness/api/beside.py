"""What else a store holds beside a study: above all, answers to another form of it.

A study is known by the digest of its file. Whoever changes the file in the midst of a study cuts
everybody off who takes part, and must be told.
"""

from __future__ import annotations

from collections.abc import Container

from earwitness.data import Study
from earwitness.store import OtherStudy, Store

SHOWN = 5  # numbers in a note
REMEDY = (
    "links to it lead nowhere while this form is served: put the study file back as it was,"
    " or keep this form in a store of its own (--db)"
)


def other_forms(store: Store, plan: Study) -> list[str]:
    """What is to be said of answers to other forms of a study.

    Those of the same title are, and all if nobody has answered this one: then its file, and perhaps
    its title, has been changed since.
    """
    found = store.others(plan.digest)
    own = [one for one in found if one.title == plan.title]
    return [_told(one, plan) for one in (own if store.has_answers(plan.digest) else found)]


def _told(other: OtherStudy, plan: Study) -> str:
    same = other.title == plan.title
    what = "another form of this study" if same else f'another study, "{other.title}"'
    answers = f"{other.answers:,} answer{'s' * (other.answers != 1)}"
    people = f"{other.listeners:,} listener{'s' * (other.listeners != 1)}"
    about = f"digest {other.digest[:12]}…, {answers} of {people}, the last {other.last}"
    return f"the store holds answers to {what} ({about}) — {REMEDY}"


def left_out(store: Store, plan: Study, numbers: Container[int]) -> list[str]:
    """What is to be said of listeners whom the store knows and the study has no more."""
    known = [one.listener.number for one in store.status(plan.digest) if one.answers]
    gone = [number for number in known if number not in numbers]
    if not gone:
        return []
    who = ", ".join(map(str, gone[:SHOWN])) + ", …" * (len(gone) > SHOWN)
    told = f"listeners {who} have answered, but the study has no such listeners any more"
    return [f"{told} — their links lead nowhere; let listeners be {max(gone)} again"]
