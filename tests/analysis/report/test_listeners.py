"""What reports say of single listeners: comments stand beside their stimulus, without a name."""

from __future__ import annotations

from dataclasses import replace

from earwitness.analysis.results import StimulusComment
from earwitness.core import Key
from earwitness.output_formats import render
from earwitness.report import apply_renderer
from earwitness.report.parts import Table
from helpers.sample_results import mos

COMMENTS = (
    StimulusComment(Key("s01", "noisy"), "a hum <all> along"),
    StimulusComment(Key("s01", "noisy"), "loud"),
    StimulusComment(Key("s02", "ours"), "fine"),
)


def test_comments_are_listed_by_stimulus_with_their_number() -> None:
    found = replace(mos(), comments=COMMENTS)
    section = next(
        s for s in apply_renderer(found, "report").sections if s.title.startswith("Comments")
    )
    assert section.title == "Comments (3)"
    assert section.folded
    (table,) = section.parts
    assert isinstance(table, Table)
    assert table.title == "3 comments on 2 stimuli"
    assert table.header == ("item", "system", "comment")
    assert table.rows[0] == ("s01", "noisy", "a hum <all> along")
    assert "a hum &lt;all&gt; along" in render(found, "html")
    assert "| s02 | ours | fine |" in render(found, "md")
    assert "loud" not in render(found)  # the terminal names the section only
    assert "Comments" not in render(mos(), "md")
