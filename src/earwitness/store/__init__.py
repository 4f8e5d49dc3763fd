"""Where answers are kept while listeners take part: SQLite or PostgreSQL, behind a few verbs.

What was acknowledged is on disk. Answers are only ever added: a correction is a new row, and only
a listener who withdraws takes rows away. Every request may come again, and changes nothing then.
"""

from importlib.util import find_spec

from earwitness.errors import MissingExtra

if find_spec("sqlalchemy") is None:
    raise MissingExtra("sqlalchemy", "serve", "keeping answers in a database")

from earwitness.store.answers import add_answer, correct_answer, set_aside
from earwitness.store.changing import Change, Held, change_answers
from earwitness.store.events import add_events
from earwitness.store.finishing import finish, withdraw
from earwitness.store.listeners import Quota, add_listeners, add_study, change_state, claim
from earwitness.store.records import (
    Event,
    Finish,
    Given,
    Listener,
    ListenerStatus,
    OtherStudy,
    Outcome,
    State,
    Visit,
)
from earwitness.store.store import Store

__all__ = [
    "Change",
    "Event",
    "Finish",
    "Given",
    "Held",
    "Listener",
    "ListenerStatus",
    "OtherStudy",
    "Outcome",
    "Quota",
    "State",
    "Store",
    "Visit",
    "add_answer",
    "add_events",
    "add_listeners",
    "add_study",
    "change_answers",
    "change_state",
    "claim",
    "correct_answer",
    "finish",
    "set_aside",
    "withdraw",
]
