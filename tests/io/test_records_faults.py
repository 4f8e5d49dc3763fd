"""Every kind of bad input is refused with its place, all at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from earwitness.core import OnError
from earwitness.errors import InputError
from earwitness.scoring.results import Scores
from earwitness.scoring.score import score
from helpers.samples import write_lines

GOOD = {"hypothesis": [10], "reference": [12], "duration": 60}


def problems(*lines: str | bytes | dict[str, Any], folder: Path) -> list[str]:
    """What is said of these lines."""
    path = folder / "in.jsonl"
    raw = [json.dumps(x).encode() if isinstance(x, dict) else x for x in lines]
    path.write_bytes(b"".join((x.encode() if isinstance(x, str) else x) + b"\n" for x in raw))
    with pytest.raises(InputError) as caught:
        score(path)
    return [str(problem).removeprefix(str(path)) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("{", ":1: not JSON at column 2: Expecting property name"),
        ("[]", ":1: is a JSON array — write one object per line"),
        ("null", ":1: must be an object, got null"),
        (GOOD | {"id": " a"}, ':1: id: must be printable text or a whole number, got " a"'),
        ("17", ":1: must be an object, got 17"),
        (b'{"id": "\xff"}', ":1: not UTF-8 at byte 9 — save as UTF-8"),
        ({"hypothesis": [], "reference": []}, ":1: duration: missing"),
        (GOOD | {"refrence": 1}, ':1: refrence: unknown field — did you mean "reference"?'),
        (GOOD | {"duration": -1}, ":1: duration: must not be negative, got -1"),
        (GOOD | {"duration": "60"}, ':1: duration: must be a number, got "60" — write seconds'),
        (GOOD | {"duration": None}, ":1: duration: must be a number, got null"),
        (GOOD | {"duration": True}, ":1: duration: must be a number, got true"),
        (GOOD | {"hypothesis": 5}, ":1: hypothesis: must be a list, got 5"),
        (GOOD | {"reference": [1, "0:10"]}, ':1: reference[1]: must be a number, got "0:10"'),
        (GOOD | {"reference": [[1]]}, ":1: reference[0]: must be a number, got [1]"),
        (
            GOOD | {"hypothesis": "[CSTART]"},
            ":1: hypothesis: unknown chapter format",
        ),
        (GOOD | {"hyp_titles": [["a"]]}, ':1: hyp_titles[0]: must be a list of two, got ["a"]'),
        (GOOD | {"hyp_titles": [[1, 2]]}, ":1: hyp_titles[0][0]: must be text, got 1"),
        (
            GOOD | {"hypothesis": [1.7e308]},
            ":1: hypothesis[0]: must be within 1e+12 s of the start, got 1.7e+308",
        ),
        (GOOD | {"audio": 1}, ":1: audio: must be text, got 1"),
        (GOOD | {"id": ""}, ':1: id: must be printable text or a whole number, got ""'),
        (GOOD | {"id": 1.5}, ":1: id: must be printable text or a whole number, got 1.5"),
        (GOOD | {"meta": []}, ":1: meta: must be an object, got []"),
        (json.dumps(GOOD).replace("10", "NaN"), ":1: hypothesis[0]: must be finite, got NaN"),
        (json.dumps(GOOD).replace("10", "1e999"), ":1: hypothesis[0]: must be finite, got Inf"),
        (json.dumps(GOOD).replace("60", "Infinity"), ":1: duration: must be finite, got Infinity"),
        (json.dumps(GOOD).replace("60", "-Infinity"), ":1: duration: must be finite, got -Inf"),
        (json.dumps(GOOD).replace("60", "9" * 400), ":1: duration: must be finite, got 9999"),
        (
            GOOD | {"duration": 1e15},
            ":1: duration: must be at most 1e+09 s, got 1000000000000000.0",
        ),
        (GOOD | {"id": "a\tb"}, ':1: id: must be printable text or a whole number, got "a\\tb"'),
        (GOOD | {"id": "\ud800"}, ":1: contains an incomplete character (a lone surrogate)"),
        (GOOD | {"meta": {"x": float("nan")}}, ":1: not strict JSON: "),
        (json.dumps(GOOD).replace("60", "9" * 5000), ":1: a number has too many digits"),
        (GOOD | {"x" * 50: 1}, ":1: " + "x" * 39 + "…: unknown field"),
        ('{"id": ' + "[" * 100_000 + "]" * 100_000 + "}", ":1: nested too deeply"),
    ],
)
def test_a_bad_line_is_named_with_line_field_and_remedy(
    line: str | bytes | dict[str, Any], want: str, tmp_path: Path
) -> None:
    found = problems(line, folder=tmp_path)
    assert len(found) == 1
    assert found[0].startswith(want)


def test_all_problems_of_all_lines_come_at_once(tmp_path: Path) -> None:
    found = problems(GOOD, {"duration": -1, "x": 1}, "", "{", folder=tmp_path)
    assert [problem.split(": ")[:2] for problem in found] == [
        [":2", "duration"],
        [":2", "hypothesis"],
        [":2", "reference"],
        [":2", "x"],
        [":4", "not JSON at column 2"],
    ]


def test_a_repeated_id_names_the_first_line(tmp_path: Path) -> None:
    lines = [GOOD | {"id": name} for name in ("a", "b", 7, "a", "7")]
    found = problems(*lines, folder=tmp_path)
    assert found == [
        ':4: id: "a" is also on line 1 — keep one',
        ':5: id: "7" is also on line 3 — keep one',
    ]


@pytest.mark.parametrize("on_error", ["fail", "skip", "empty"])
def test_byte_order_marks_and_windows_line_ends_are_read_with_a_note(
    tmp_path: Path, on_error: OnError
) -> None:
    path = tmp_path / "in.jsonl"
    line = json.dumps(GOOD).encode()
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\r\n" + line + b"\r\n")
    scores = score(path, on_error=on_error)
    assert scores.provenance.cases == 2
    assert scores.skipped == ()
    assert [note.split(": ", 1)[1] for note in scores.notes] == [
        "starts with a byte-order mark — save the file as UTF-8 without a byte-order mark "
        "(read anyway)",
        "2 lines end in CRLF — save with LF line endings (read anyway)",
    ]


def test_null_in_optional_fields_is_missing_with_one_note(tmp_path: Path) -> None:
    lines = [GOOD | {"id": None, "audio": None}, GOOD | {"meta": None}, GOOD | {"id": "x"}]
    scores = score(write_lines(tmp_path / "in.jsonl", lines))
    assert scores.provenance.cases == 3
    assert scores.notes == ("3 optional fields are null, which is read as missing",)
    outputs = [{"item": "a", "system": "s", "output": {"boundaries": [9], "titles": None}}]
    words = [["Hello.", 1.0, None], ["Bye.", 5.0, 6.0, None]]
    reference = {"boundaries": [9], "annotator": None, "preset": None}
    item = {"item": "a", "duration": 60, "words": words, "references": [reference]}
    scores = score(outputs, [item])
    assert scores.notes == ("5 optional fields are null, which is read as missing",)


def test_null_in_required_fields_is_refused(tmp_path: Path) -> None:
    line = GOOD | {"duration": None, "audio": None}
    assert problems(line, folder=tmp_path) == [":1: duration: must be a number, got null"]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ('{"id": "a", "hypothesis": [9], "reference": [1], "id": "b", "duration": 60}', "id"),
        ('{"hypothesis": [9], "reference": [1], "duration" : 6, "duration": 60}', "duration"),
        (
            '{"hypothesis": [], "reference": [], "duration": 6, "meta": {"a": [{"b": 1, "b": 2}]}}',
            "meta.a.b",
        ),
        (
            '{"hypothesis": [], "reference": [], "duration": 6, "meta": {"a": 1, "\\u0061": 2}}',
            "meta.a",
        ),
        (
            '{"hypothesis": [], "reference": [], "duration": 6, "meta": {"x\\\\":1, "a":1, "a":1}}',
            "meta.a",
        ),
    ],
)
def test_a_key_that_appears_twice_in_an_object_is_refused(
    tmp_path: Path, line: str, path: str
) -> None:
    found = problems(GOOD, line.encode(), folder=tmp_path)
    assert found == [f":2: {path}: appears twice in one object — keep one"]


def test_texts_that_look_like_keys_are_no_keys(tmp_path: Path) -> None:
    texts = {"id": ": a", "meta": {'say "x"': '"id": "id": \\', "id": {"id": 1}}}
    assert score(write_lines(tmp_path / "in.jsonl", [GOOD | texts])).provenance.cases == 1


def test_the_first_thousand_problems_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in.jsonl", [GOOD | {"duration": -i} for i in range(1, 2501)])
    with pytest.raises(InputError, match="and 1,500 more problems\n2,500 problems; nothing") as e:
        score(path)
    assert len(e.value.problems) == 1000
    assert [problem.line for problem in e.value.problems] == list(range(1, 1001))


@pytest.mark.parametrize("text", ["", "\n\n", "  \n"])
def test_an_empty_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match="no outputs to score"):
        score(path)


def test_a_file_whose_samples_were_all_skipped_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"all 1 were skipped \(first reason: .*missing"):
        score(write_lines(tmp_path / "in.jsonl", [{}]), on_error="skip")


def lines(*records: dict[str, Any], on_error: Any) -> Scores:
    return score(records, on_error=on_error)


BAD_OUTPUT = GOOD | {"id": "bad output", "hypothesis": ["x", 3]}
BAD_REFERENCE = GOOD | {"id": "bad reference", "reference": ["x"]}


def test_skipping_leaves_bad_samples_out_and_lists_them() -> None:
    scores = lines(GOOD, BAD_OUTPUT, BAD_REFERENCE, on_error="skip")
    assert scores.provenance.cases == 1
    assert [(left.key.item, left.line) for left in scores.skipped] == [
        ("bad output", 2),
        ("bad reference", 3),
    ]
    assert scores.skipped[0].reason == (
        'outputs:2: hypothesis[0]: must be a number, got "x" — write seconds'
    )
    assert scores.systems["outputs"]["precision"].n == 1


def test_emptying_scores_bad_outputs_as_empty_and_skips_bad_references() -> None:
    scores = lines(GOOD, BAD_OUTPUT, BAD_REFERENCE, on_error="empty")
    assert [left.key.item for left in scores.emptied] == ["bad output"]
    assert [left.key.item for left in scores.skipped] == ["bad reference"]
    recall = scores.systems["outputs"]["collar_recall"]
    assert (recall.value, recall.n) == (0.5, 2)  # 1 of the good one, 0 of the emptied one


@pytest.mark.parametrize(
    "sample",
    [
        BAD_OUTPUT | {"audio": "x.wav", "format": "cstart", "hyp_titles": [["a", 1]]},
        GOOD | {"id": "bad output", "hypothesis": "[CSTART] a", "format": "cstart"},
    ],
)
def test_other_fields_do_not_keep_a_bad_output_from_being_emptied(sample: dict[str, Any]) -> None:
    scores = lines(GOOD, sample, on_error="empty")
    assert [left.key.item for left in scores.emptied] == ["bad output"]
    assert scores.provenance.cases == 2


def test_a_field_that_only_begins_like_the_output_is_not_the_output() -> None:
    scores = lines(GOOD, GOOD | {"hypothesisx": 1}, on_error="empty")
    assert (len(scores.emptied), len(scores.skipped)) == (0, 1)


def test_a_repeated_bad_output_is_skipped_and_not_emptied() -> None:
    scores = lines(GOOD | {"id": "bad output"}, BAD_OUTPUT, on_error="empty")
    assert (len(scores.emptied), len(scores.skipped)) == (0, 1)


def test_a_record_with_very_many_faults_has_a_reason_of_readable_length() -> None:
    scores = lines(GOOD, GOOD | {"reference": ["x"] * 5000}, on_error="skip")
    assert scores.skipped[0].reason.endswith("; … and 4,980 more")


@pytest.mark.parametrize("stray", [[], {"item": "a", "output": {}}])
def test_a_stray_first_line_does_not_condemn_the_file(stray: Any, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in.jsonl", [stray, GOOD, GOOD | {"duration": -1}])
    with pytest.raises(InputError, match=":3: duration: must not be negative"):
        score(path)
    scores = score(path, on_error="skip")
    assert (scores.provenance.cases, [left.line for left in scores.skipped]) == (1, [1, 3])


def test_a_pretty_printed_array_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps([GOOD, GOOD], indent=2))
    with pytest.raises(InputError, match="is a JSON array — write one object per line") as caught:
        score(path)
    assert caught.value.count == 1


@pytest.mark.parametrize("on_error", ["skip", "empty"])
def test_of_repeated_samples_the_first_counts(on_error: str) -> None:
    scores = lines(GOOD | {"id": 1}, GOOD | {"id": 1, "hypothesis": []}, on_error=on_error)
    assert scores.systems["outputs"]["collar_f1"].value == 1
    assert [left.line for left in scores.skipped] == [2]
