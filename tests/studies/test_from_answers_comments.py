"""Comments of listeners, which stand beside what they are about."""

from __future__ import annotations

from typing import Any

from earwitness.analysis.pipeline import analyse
from earwitness.analysis.rating_set import RatingSet
from earwitness.analysis.results import StimulusComment
from earwitness.analysis.settings import AnalysisSettings, default_rule
from earwitness.core import Answer, Key, Rating
from earwitness.studies.from_answers import comments_from_answers


def answer(
    listener: int, page: str, systems: list[str], comment: str | None = None, **values: Any
) -> Answer:
    heard = {"item": "clip", "systems": systems, "target": 0, "scales": []}
    return Answer("study", listener, page, values, heard, comment=comment)


def test_comments_are_about_the_caption_or_the_sound() -> None:
    both = ["model", "person"]
    answers = [
        answer(1, "1.1", both, **{"A.comment": " too\n long ", "B.comment": None}),
        answer(2, "2.1", both, **{"B.comment": "fine"}),
        answer(3, "1.2", ["noisy"], "hum", SIG=3),
        answer(3, "1.3", ["noisy"], "  ", SIG=3),
        answer(3, "training.1", ["noisy"], "practice", SIG=3),
        Answer("study", 3, "after", {"remarks": "thank you"}, comment="no sound"),
    ]
    assert list(comments_from_answers(answers)) == [
        (1, StimulusComment(Key("clip", "model"), "too long")),
        (2, StimulusComment(Key("clip", "person"), "fine")),
        (3, StimulusComment(Key("clip", "noisy"), "hum")),
    ]


def test_comments_on_several_systems_do_not_have_the_order_of_a_listener() -> None:
    orders = (["b", "c", "a"], ["c", "a", "b"])
    answers = [answer(n, "1.1", order, comment="few") for n, order in enumerate(orders, 1)]
    assert {one.key.system for _, one in comments_from_answers(answers)} == {"a – b – c"}


def test_comments_of_excluded_listeners_are_counted_and_not_shown() -> None:
    ratings = [
        Rating(Key(f"{item}", system), "MOS", listener, 1, 1 + (item + place) % 5)
        for listener in range(1, 7)
        for item in range(5)
        for place, system in enumerate(("a", "b"))
    ]
    ratings = [r for r in ratings if r.listener != 6] + [
        Rating(Key(f"{item}", system), "MOS", 6, 1, 3) for item in range(5) for system in "ab"
    ]
    comments = tuple(
        (who, StimulusComment(Key("1", "a"), text)) for who, text in ((2, "z"), (1, "b"), (6, "c"))
    )
    settings = AnalysisSettings(screening=(default_rule("p808"),), draws=20, mixed=False)
    found = analyse(RatingSet(ratings, comments=comments), settings)
    kept = [one.text for who, one in comments if who not in found.left]
    assert 6 in found.left
    assert [one.text for one in found.comments] == sorted(kept)
    left = len(comments) - len(kept)
    assert any(f"{left} comment" in note for note in found.notes)
