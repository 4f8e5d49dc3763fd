"""Titles and transcripts, from files to values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.chapters.text_metrics import _nearest
from earwitness.chunkseg import evaluate
from earwitness.errors import InputError, UsageError
from earwitness.output_formats import render
from earwitness.scoring.score import score
from earwitness.stats.arrays import Ragged
from earwitness.text.alignment import format_alignments

TIMED = "# 0:00 - Hello there\nGood morning all.\n# 1:00 - The rain\nIt rains a lot.\n"
REFERENCE = [["Hello", 0.0], ["Rain today", 62.0], ["Goodbye", 150.0]]


def sample(**more: Any) -> dict[str, Any]:
    return {
        "hypothesis": TIMED,
        "reference": [62, 150],
        "duration": 200,
        "format": "markdown_ts",
    } | more


def values(records: list[dict[str, Any]], **options: Any) -> dict[str, float]:
    found = score(records, **options).systems["outputs"]
    return {name: estimate.value for name, estimate in found.items()}


def test_boundaries_come_from_the_transcript() -> None:
    given = sample(hypothesis=[0.0, 60.0])
    assert values([sample()]) == values([given])


def test_titles_come_from_the_transcript_with_their_own_times() -> None:
    found = values([sample(reference_titles=REFERENCE)], metrics="titles")
    # Hello there – Hello: 1 of 2, 1 of 1; The rain – Rain today: 1 of 2, 1 of 2; Goodbye alone
    assert found["tm_matched"] == pytest.approx(2 / 3)
    assert found["tm_rl_precision"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert found["tm_rl_recall"] == pytest.approx((1 + 1 / 2) / 2)
    assert found["tm_rl_f1"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found["tm_rl_f1_all"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    # hello there the rain – hello rain today goodbye: 2 of 4 on either side
    assert found["gc_rl_f1"] == pytest.approx(1 / 2)


@pytest.mark.parametrize("title", ["雨の日", "Дождь сегодня", "雨 today", "Größe", "مطر اليوم"])
def test_titles_of_any_script_are_compared_by_default(title: str) -> None:
    record = sample(hypothesis=[60.0], reference_titles=[[title, 0]], hyp_titles=[[title, 0]])
    assert values([record], metrics="titles")["tm_rl_f1"] == 1
    assert values([record], metrics="titles", words="latin")["tm_rl_f1"] == (
        1 if title.isascii() or "today" in title or title == "Größe" else 0
    )


def test_what_is_undefined_for_all_cases_is_explained() -> None:
    without = sample(hypothesis=[60.0], reference_titles=[["Rain", 0]])
    no_match = (
        "tm_rl_precision, tm_rl_recall, tm_rl_f1 are undefined for all outputs: no output has"
    )
    notes = score([without], metrics="titles").notes
    assert [note for note in notes if note.startswith(no_match)]
    notes = score([sample(hypothesis=[60.0])], metrics=["titles", "collar"]).notes
    assert "titles is undefined for all outputs: no reference has titles — add" in " ".join(notes)
    one = sample(hypothesis=[60.0], reference_titles=[["Rain", 0]], hyp_titles=[["Rain", 0]])
    assert not [n for n in score([without, one], metrics="titles").notes if "undefined" in n]


def test_titles_that_do_not_start_at_0_are_not_shifted() -> None:
    late = "# 0:05 - A\nx\n# 1:00 - B\ny"
    found = values(
        [sample(hypothesis=late, reference_titles=[["A", 5], ["B", 60]])], metrics="titles"
    )
    assert found["tm_rl_f1_all"] == 1


def test_titles_that_end_elsewhere_are_no_pair_by_start_and_end() -> None:
    # Hello there ends at 60, Hello at 62; The rain ends at 200, Rain today at 150
    options = {"metrics": "titles", "tm_rule": "start_end"}
    assert values([sample(reference_titles=REFERENCE)], **options)["tm_matched"] == pytest.approx(
        1 / 3
    )


def test_an_output_without_titles_found_none_and_a_reference_without_them_asks_nothing() -> None:
    plain = {"hypothesis": [60], "reference": [62], "duration": 200}
    found = score([plain | {"reference_titles": REFERENCE}, plain], metrics="titles")
    own = found.systems["outputs"]
    assert (own["tm_matched"].value, own["tm_matched"].n, own["tm_matched"].undefined) == (0, 1, 1)
    assert own["gc_rl_f1"].value == 0
    assert own["tm_rl_f1"].n == 0


def test_words_are_compared_without_headings() -> None:
    said = "Good morning to all. It rains."
    found = values([sample(reference_transcript=said)], metrics="wer")
    # good morning (to) all. it rains(.) + a lot.: D 1, S 1, I 2
    assert found["wer"] == pytest.approx(4 / 6)
    assert found["wer_deletions"] == pytest.approx(1 / 6)
    assert found["wer_insertions"] == pytest.approx(2 / 6)


def test_micro_and_macro_and_a_failed_transcript() -> None:
    good = sample(reference_transcript="good morning all. it rains a lot.", id="good")
    short = sample(hypothesis="# 0:00 x\na", reference_transcript="a b", id="short")
    failed = sample(hypothesis="# no time", reference_transcript="one two three", id="failed")
    with pytest.raises(InputError, match='hypothesis: line 1: no time in the heading "no time"'):
        score([good, short, failed], metrics="wer")
    scores = score([good, short, failed], metrics="wer", on_error="empty")
    own = scores.systems["outputs"]
    assert own["wer"].value == pytest.approx((0 + 1 + 3) / (7 + 2 + 3))
    assert own["wer_sample"].value == pytest.approx((0 + 1 / 2 + 1) / 3)
    assert [left.key.item for left in scores.emptied] == ["failed"]


def test_outputs_and_references_may_both_be_transcripts() -> None:
    outputs = [{"item": "a", "system": "s", "output": {"transcript": TIMED}}]
    listed = [{"transcript": "0:00 Hello\n1:01 Rain", "preset": "youtube"}]
    references = [{"item": "a", "duration": 200, "references": listed, "transcript": "it rains"}]
    scores = score(outputs, references, metrics=["collar", "titles", "wer"], preset="markdown_ts")
    own = scores.systems["s"]
    assert own["collar_f1"].value == 1
    assert own["tm_matched"].value == 1
    assert own["wer"].value == pytest.approx(5 / 2)  # good morning all. … a lot. around it
    assert scores.signature.endswith("|preset=markdown_ts")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "output.boundaries: missing — or give a transcript with times"),
        ({"transcript": "x"}, "output.transcript: unknown chapter format"),
        (
            {"transcript": "x", "preset": "markdwn"},
            'unknown preset "markdwn" — did you mean "markdown"',
        ),
        ({"transcript": "# A", "preset": "markdown"}, "output.transcript: has no times"),
        ({"transcript": "# A", "preset": "markdown_ts"}, 'line 1: no time in the heading "A"'),
        ({"boundaries": [1], "titles": [["a"]]}, r"output.titles\[0\]: must be a list of two"),
    ],
)
def test_bad_contents_are_refused(content: dict[str, Any], message: str) -> None:
    references = [{"item": "a", "duration": 200, "references": [{"boundaries": []}]}]
    with pytest.raises(InputError, match=message):
        score([{"item": "a", "system": "s", "output": content}], references)


def test_boundaries_beside_a_transcript_without_times_are_enough() -> None:
    content = {"transcript": "# A\nhello\n# B\nyou", "preset": "markdown", "boundaries": [100]}
    references = [
        {
            "item": "a",
            "duration": 200,
            "references": [{"boundaries": [100], "titles": [["A", 0], ["B", 100]]}],
            "transcript": "hello you",
        }
    ]
    own = score(
        [{"item": "a", "system": "s", "output": content}], references, metrics=["titles", "wer"]
    ).systems["s"]
    assert own["wer"].value == 0
    assert own["gc_rl_f1"].value == 1
    assert own["tm_matched"].value == 0  # nobody knows when they begin


def test_loose_lines_are_noted() -> None:
    scores = score([sample(hypothesis="Sure! Here it is.\n" + TIMED)])
    assert scores.notes == ("1 line lies outside all chapters of their transcript",)


def test_titles_of_several_people() -> None:
    listed = [
        {"boundaries": [60], "titles": [["rain", 60]]},
        {"boundaries": [60], "titles": [["sun", 60]]},
    ]
    references = [{"item": "a", "duration": 200, "references": listed}]
    output = {"boundaries": [60], "titles": [["rain", 61]]}
    outputs = [{"item": "a", "system": "s", "output": output}]
    scores = score(outputs, references, metrics="titles", against=["mean", "best"])
    own = scores.systems["s"]
    assert own["tm_rl_f1_all@mean"].value == pytest.approx(1 / 2)
    assert own["tm_rl_f1_all@best"].value == 1
    assert scores.people is not None
    assert scores.people.ceiling["tm_rl_f1_all@mean"].value == 0


def test_words_of_shown_items_are_aligned_in_every_medium() -> None:
    records = [sample(id="a", reference_transcript="good day all. it rains & snows a lot.")]
    scores = score(records, metrics="wer", show="a")
    shown = format_alignments(scores.shown[0].alignments["outputs"])
    assert shown == (
        "REF: good day     all. it rains & snows a lot.\n"
        "OUT: good morning all. it rains * ***** a lot.\n"
        "          S                     D D"
    )
    text = render(scores)
    assert "\n  " + shown.splitlines()[1] in text
    assert shown in render(scores, "md")
    page = render(scores, "html")
    assert "<li><span>good</span><span>good</span></li>" in page
    assert '<li class="S"><span>day</span><span>morning</span><b title="substituted">S</b>' in page
    assert '<li class="D"><span>&amp;</span><i title="no word">' in page
    assert page.count('<b title="deleted">D</b>') == 2
    assert r"~~~~" in render(scores, "latex", table="full")
    assert not score(records, metrics="collar", show="a").shown[0].alignments
    silent = [sample(id="a", hypothesis="", reference_transcript="[noise]")]
    assert not score(silent, metrics="wer", show="a").shown[0].alignments


SPOKEN = [[f"sentence {n}", 10.0 * n] for n in range(10)]  # at 0, 10 … 90 s


def in_text(**more: Any) -> dict[str, Any]:
    plain = {"hypothesis": [22.0, 58.0], "reference": [20.0, 70.0], "duration": 100}
    return plain | {"reference_sentences": SPOKEN} | more


def test_boundaries_are_places_between_sentences() -> None:
    found = values([in_text()], metrics="sentences")
    # output before sentences 2 and 6, reference before 2 and 7: one of two, and a near miss
    assert found["sentence_precision"] == 1 / 2
    assert found["sentence_boundary_similarity"] == pytest.approx(1 - (1 / 2) / 2)
    same = evaluate([1.5, 5.5], [1.5, 6.5], 9, chunk_size=1.0)
    for name in ("precision", "recall", "pk", "window_diff", "boundary_similarity", "ghd"):
        assert found[f"sentence_{name}"] == pytest.approx(same[name]), name


def test_boundaries_may_go_by_way_of_the_systems_own_sentences() -> None:
    own = [["first", 0.0], ["second", 35.0], ["third", 69.0]]
    both = score([in_text(hyp_sentences=own)], metrics="sentences", of=["reference", "output"])
    found = {name: estimate.value for name, estimate in both.systems["outputs"].items()}
    # 22 → 35 → before 3 (the first of equals), 58 → 69 → before 7
    assert found["sentence_precision@output"] == 1 / 2
    assert found["sentence_boundary_similarity@output"] == pytest.approx(1 - (1 / 2) / 2)
    assert found["sentence_boundary_similarity@reference"] == pytest.approx(1 - (1 / 2) / 2)
    assert (
        score([in_text()], metrics="sentences", of="output")
        .systems["outputs"]["sentence_precision"]
        .undefined
    )


def test_a_start_and_a_single_sentence_leave_no_place() -> None:
    found = score(
        [in_text(hypothesis=[2.0], reference=[3.0]), in_text(reference_sentences=[["a", 0.0]])],
        metrics="sentences",
    ).systems["outputs"]
    # both boundaries belong to the first sentence: no boundaries at all
    assert found["sentence_boundary_similarity"].value == 1
    assert found["sentence_boundary_similarity"].undefined == 1


def test_sentences_of_references_files_are_those_of_the_item() -> None:
    outputs = [{"item": "a", "system": "s", "output": {"boundaries": [22.0, 58.0]}}]
    references = [
        {
            "item": "a",
            "duration": 100,
            "references": [{"boundaries": [20.0, 70.0]}, {"boundaries": [20.0, 60.0]}],
            "sentences": SPOKEN,
        }
    ]
    scores = score(outputs, references, metrics="sentences", against="best")
    assert scores.systems["s"]["sentence_precision"].value == 1
    assert scores.people is not None
    assert scores.people.ceiling["sentence_precision"].value == 1 / 2


@given(
    st.lists(st.floats(0.1, 199), max_size=6),
    st.lists(st.floats(0, 199), min_size=1, max_size=8, unique=True),
)
def test_the_nearest_sentence_is_that_of_a_plain_search(
    times: list[float], starts: list[float]
) -> None:
    starts = sorted(starts)
    found = _nearest(Ragged.from_rows([[], times]), Ragged.from_rows([[5.0], starts]))
    want = [min(range(len(starts)), key=lambda i: (abs(starts[i] - t), i)) for t in times]
    assert [starts[i] for i in found.tolist()] == pytest.approx([starts[i] for i in want])


def test_lists_of_titles_say_nothing() -> None:
    cue = "1\n00:00:00,000 --> 00:00:05,000\nhello there\n"
    record = sample(hypothesis=cue, format="srt", reference_transcript="hello there")
    assert score([record], metrics="wer").systems["outputs"]["wer"].undefined == 1


def test_outputs_that_fail_in_any_way_have_all_words_wrong() -> None:
    made = [
        {"item": 0, "system": "s", "output": {"transcript": "# 0:00 A\none two"}},
        {"item": 1, "system": "s", "output": {"transcript": "# no time\none two"}},
        {"item": 2, "system": "s", "output": {"transcript": 5}},
    ]
    references = [
        {"item": i, "duration": 60, "references": [{"boundaries": []}], "transcript": "one two"}
        for i in range(4)
    ]
    found = score(made, references, metrics="wer", preset="markdown_ts", on_error="empty")
    wer = found.systems["s"]["wer"]
    assert (wer.value, wer.n) == (3 / 4, 4)


@pytest.mark.parametrize("seconds", ["NaN", "1e999", "1e13"])
def test_times_that_are_none_do_not_come_in_through_texts(seconds: str) -> None:
    text = f'{{"chapters": [{{"startTime": {seconds}}}]}}'
    with pytest.raises(InputError, match=r"startTime must be a number|is not a valid time"):
        score([sample(hypothesis=text, format="podcast")])


def test_an_empty_list_is_one_that_found_nothing_and_a_blank_reference_is_none() -> None:
    found = values([sample(hypothesis='{"chapters": []}', format="podcast")])
    assert found["num_segments"] == 0
    references = [{"item": "a", "duration": 9, "references": [{"transcript": "  "}]}]
    with pytest.raises(InputError, match=r"references\[0\].transcript: is empty"):
        score([{"item": "a", "system": "s", "output": {"boundaries": []}}], references)


def test_every_sample_has_an_alignment_that_a_person_can_read(tmp_path: Path) -> None:
    records = [sample(id=f"s{n}", reference_transcript="Good morning all. It rains.") for n in "ab"]
    records.append({"id": "c", "hypothesis": [60], "reference": [62], "duration": 200})
    score(records, metrics="wer", alignments=tmp_path / "words.txt")
    words = """\
REF: good morning all. it ***** * rains.
OUT: good morning all. it rains a lot.
                          I     I S"""
    want = [f"## s{n}, outputs\n\n{words}" for n in "ab"] + ["## c, outputs\n\n(no words)"]
    assert (tmp_path / "words.txt").read_text() == "\n\n".join(want) + "\n\n"


def test_alignments_need_words_and_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="alignments require a metric that aligns words: wer"):
        score([sample()], alignments=tmp_path / "words.txt")
    with pytest.raises(InputError):
        score([sample(), {}], metrics="wer", alignments=tmp_path / "words.txt")
    assert not list(tmp_path.iterdir())
