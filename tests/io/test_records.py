"""The fast decoder and the thorough check accept the same lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.chapters.records import OUTPUTS, REFERENCES, SAMPLES
from earwitness.io.records import RecordType
from earwitness.io.source import LineBlock
from earwitness.skims import records as skim_records
from earwitness.summaries import records as summary_records

odd = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.sampled_from(["", "x", "1:30", "12", 0, -0.0, 1e308, 10**400]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
good_times = st.lists(st.floats(-10, 1e6), max_size=3)
said = st.one_of(
    *(st.lists(st.tuples(st.text(max_size=3), *[st.floats(0, 9)] * n)) for n in range(5)),
    st.lists(st.tuples(st.text(max_size=3), odd), max_size=2),
    odd,
)
content = st.fixed_dictionaries(
    {"boundaries": st.one_of(good_times, odd)},
    optional={"titles": odd, "annotator": odd, "zzz": odd, "words": said, "subtitles": odd},
)


def fields(**kinds: Any) -> Any:
    """Records in which each field may be right, odd or missing."""
    return st.fixed_dictionaries({}, optional=kinds | {"meta": odd, "extra": odd})


names = st.one_of(st.text(max_size=3), st.integers(), odd)
records = {
    "samples": fields(
        hypothesis=st.one_of(good_times, odd),
        reference=st.one_of(good_times, odd),
        duration=st.one_of(st.floats(0, 1e6), odd),
        id=names,
        hyp_titles=odd,
        hyp_words=said,
        reference_subtitles=odd,
    ),
    "outputs": fields(item=names, system=names, output=st.one_of(content, odd)),
    "references": fields(
        item=names,
        duration=st.one_of(st.floats(0, 1e6), odd),
        references=st.one_of(st.lists(content, max_size=2), odd),
        transcript=odd,
        words=said,
        subtitles=odd,
    ),
}
word = st.one_of(st.text(max_size=3), st.tuples(st.text(max_size=3), *[odd] * 2), odd)
numbers = st.lists(st.one_of(st.integers(-3, 9), odd), max_size=3)
summary = st.fixed_dictionaries(
    {}, optional={"positions": numbers, "text": odd, "annotator": odd, "words": st.lists(word)}
)
records["summaries"] = fields(item=names, system=names, output=summary, meta=odd)
records["manual summaries"] = fields(
    item=names,
    references=st.lists(summary, max_size=2),
    words=st.lists(word, max_size=3),
    transcript=odd,
    duration=odd,
)
picks = st.lists(st.one_of(st.tuples(st.floats(0, 9), st.floats(0, 9)), odd), max_size=3)
skim = st.fixed_dictionaries(
    {}, optional={"picks": picks, "times": good_times, "block": odd, "audio": odd, "zzz": odd}
)
records["skims"] = fields(item=names, system=names, output=st.one_of(skim, odd))
files = st.one_of(st.text(max_size=3), st.lists(st.text(max_size=3), max_size=3), odd)
records["recordings"] = fields(item=names, recording=files, start=odd, hour_gap=odd, blocks=files)
LAYOUTS: dict[str, RecordType[Any]] = {
    "samples": SAMPLES,
    "outputs": OUTPUTS,
    "references": REFERENCES,
    "summaries": summary_records.OUTPUTS,
    "manual summaries": summary_records.REFERENCES,
    "skims": skim_records.OUTPUTS,
    "recordings": skim_records.REFERENCES,
}


@pytest.mark.parametrize("kind", LAYOUTS)
@given(data=st.data())
def test_both_readers_accept_the_same_records(kind: str, data: st.DataObject) -> None:
    value = data.draw(records[kind])
    text = json.dumps(value).encode()
    layout = LAYOUTS[kind]
    [(line, found)] = layout.read(LineBlock("source", 1, [text], 0))
    _, faults = layout.faults(text)
    assert line == 1
    assert isinstance(found, bytes) == bool(faults), (text, found, faults)


@pytest.mark.parametrize(
    ("kind", "field", "place"),
    [
        ("outputs", "boundaries", "output"),
        ("outputs", "words", "output"),
        ("references", "titles", "references[0]"),
        ("summaries", "positions", "output"),
        ("manual summaries", "annotator", "references[0]"),
        ("skims", "picks", "output"),
    ],
)
def test_a_field_of_the_content_is_told_where_it_belongs(kind: str, field: str, place: str) -> None:
    _, faults = LAYOUTS[kind].faults(json.dumps({field: []}).encode())
    assert faults[-1] == (field, "unknown field", f"it belongs inside {place}")


def test_a_field_of_another_task_is_not_sent_inside() -> None:
    _, faults = LAYOUTS["outputs"].faults(b'{"positions": []}')
    assert faults[-1].remedy.startswith("known: item, meta, output, system")


@pytest.mark.parametrize(
    "name", ["", "item.x", "output[0]", "output.boundaries.0", "a.b", "x" * 50]
)
def test_an_unknown_field_of_any_name_is_told(name: str) -> None:
    line = {"item": "a", "system": "s", "output": {"boundaries": [1]}, name: 1}
    value, faults = OUTPUTS.faults(json.dumps(line).encode())
    assert [fault.message for fault in faults] == ["unknown field"]
    assert OUTPUTS.mended(value, faults) is None


def test_a_record_can_be_checked_on_without_its_unknown_fields() -> None:
    line = {"item": "a", "system": "s", "output": {"boundaries": [1], "x": 1}, "y": 1}
    value, faults = OUTPUTS.faults(json.dumps(line).encode())
    record = OUTPUTS.mended(value, faults)
    assert record is not None
    assert record.output.boundaries == [1]


def test_bounds_of_confidence_are_told_with_their_place() -> None:
    words = [["a", 1, 2, 1e305], ["b", 1, 2, -1e305]]
    _, faults = LAYOUTS["outputs"].faults(
        json.dumps({"item": "a", "system": "s", "output": {"words": words}}).encode()
    )
    assert [fault[:2] for fault in faults] == [
        ("output.words[0][3]", "must be at most 1e+300, got 1e+305"),
        ("output.words[1][3]", "must be at least -1e+300, got -1e+305"),
    ]


@pytest.mark.parametrize("kind", LAYOUTS)
@given(text=st.one_of(st.binary(max_size=30), st.text(max_size=30).map(str.encode)))
def test_no_bytes_can_break_the_readers(kind: str, text: bytes) -> None:
    layout = LAYOUTS[kind]
    for _, found in layout.read(LineBlock("source", 1, [text], 0)):
        assert isinstance(found, bytes)
        assert layout.faults(text)[1]
