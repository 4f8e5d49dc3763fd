"""Lines of summaries: what is read, and what is refused with its place and a remedy."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from math import isnan
from typing import Any

import pytest

from earwitness.core import Case, Key, Summary
from earwitness.errors import EarwitnessWarning, InputError, MissingExtra, UsageError
from earwitness.io.source import LineBlock
from earwitness.scoring.compare import compare
from earwitness.scoring.score import people, score
from earwitness.studies.agree import agree
from earwitness.summaries import sumaccy
from earwitness.summaries.reader import AMBIGUOUS, SummaryReader
from earwitness.summaries.text_metrics import misrecognized_shares
from earwitness.text import words as words_module
from earwitness.text.transcripts import read_ctm
from earwitness.word_networks import network

SAID = ["the", "beautiful", "cherry", "blossoms", "in", "Japan", "bloom", "in", "spring"]
KEPT = {"annotator": "A", "positions": [1, 3, 4, 5, 6]}


def reference(**more: Any) -> dict[str, Any]:
    return {"item": "cherry", "words": SAID, "references": [KEPT]} | more


def output(system: str = "s", **content: Any) -> dict[str, Any]:
    return {"item": "cherry", "system": system, "output": content}


def value(outputs: list[Any], references: list[Any], name: str = "sumaccy", **more: Any) -> float:
    return score(outputs, references, **more).systems["s"][name].value


def problems(outputs: list[Any], references: list[Any], **more: Any) -> str:
    with pytest.raises(InputError) as error:
        score(outputs, references, **more)
    return str(error.value)


def ctm(words: list[str], start: float = 0.0) -> str:
    return "\n".join(f"rec 1 {start + n} 0.5 {word} 0.9" for n, word in enumerate(words))


@pytest.mark.parametrize(
    "content",
    [
        {"positions": [1, 3, 4, 5, 6]},
        {"text": "The cherry blossoms, in Japan."},
        {"positions": [1, 3, 4, 5, 6], "text": "the cherry blossoms in Japan"},
        {"words": ["the", "cherry", "blossoms", "in", "Japan"]},
        {"words": [["the", 0, 0.5], ["cherry", 1, 1.5], ["blossoms", 2, 3], ["in", 3, 4, 0.5],
                   ["Japan", 4, 5, -0.1]]},
        {"ctm": ctm(["the", "cherry", "blossoms", "in", "Japan"])},
    ],
    ids=lambda content: "+".join(content),
)  # fmt: skip
def test_every_form_of_an_output_is_read(content: dict[str, Any]) -> None:
    assert value([output(**content)], [reference()]) == 1


@pytest.mark.parametrize(
    "said",
    [
        {"words": SAID},
        {"words": [[word, n, n + 0.9, 0.7] for n, word in enumerate(SAID)]},
        {"transcript": " ".join(SAID)},
        {"ctm": ctm(SAID)},
    ],
    ids=lambda said: next(iter(said)),
)
def test_every_form_of_what_was_said_is_read(said: dict[str, Any]) -> None:
    record = {"item": "cherry", "references": [KEPT, {"text": "cherry blossoms bloom"}]} | said
    assert value([output(positions=[3, 4, 7])], [record]) == 1


def test_recognised_words_take_positions_by_time_where_words_do_not_tell() -> None:
    timed = [[word, n, n + 1] for n, word in enumerate(SAID)]
    people = [{"positions": [5]}, {"positions": [8]}]
    early = output(words=[["in", 4.1, 4.9]])
    late = output(words=[["in", 7.1, 7.9]])
    for one, wanted in ((early, 1), (late, 0)):
        found = score([one], [reference(words=timed, references=people[:1])])
        assert found.systems["s"]["kept_f1"].value == wanted


def test_words_that_were_recognised_wrongly_match_nothing() -> None:
    given = output(words=["the", "sherry", "blossoms", "in", "Japan"])
    assert value([given], [reference()]) == pytest.approx(0.8)


def test_an_ambiguous_text_is_read_with_the_most_neighbours_and_noted() -> None:
    scores = score([output(text="cherry blossoms in spring")], [reference()])
    assert any("in several ways" in note and "cherry" in note for note in scores.notes)
    plain = score([output(text="bloom in spring")], [reference()])
    assert not any("in several ways" in note for note in plain.notes)


def test_every_verb_reports_summaries_that_fit_in_several_ways() -> None:
    told = "can be located in the transcript in several ways"
    clear = reference(references=[KEPT, {"positions": [2, 3]}])
    vague = reference(references=[KEPT, {"text": "in"}])
    given = [output(words=["in"]), output("t", positions=[5])]
    for found in (score(given, [clear]), compare(given, [clear], permutations=10).scores):
        assert [note for note in found.notes if told in note] == [
            f"1 summary among the outputs {AMBIGUOUS}: cherry"
        ]
    assert any(told in note for note in people([vague]).notes)
    more = [{**one, "item": item} for item in "ab" for one in (output(positions=[1]), given[1])]
    kept = score([*given, *more], [clear, *(clear | {"item": i} for i in "ab")], samples=True)
    ratings = [
        {"item": one.item, "system": one.system, "listener": "w", "MOS": 1 + number % 5}
        for number, one in enumerate([Key("cherry", "s"), Key("cherry", "t"), Key("a", "s"),
                                      Key("a", "t"), Key("b", "s"), Key("b", "t")])
    ]  # fmt: skip
    assert any(told in note for note in agree(kept, ratings, draws=20, permutations=20).notes)
    with pytest.warns(EarwitnessWarning, match=f"1 summary among the references {told}"):
        network([vague], "cherry")
    with pytest.warns(EarwitnessWarning, match=f"1 summary among the outputs {told}"):
        network([clear], "cherry", outputs=given)
    with pytest.warns(EarwitnessWarning, match=rf"references\[1\]: {told}"):
        sumaccy([1], [[1], "in"], SAID)
    network([vague, reference(item="b")], "b")  # another item is of no concern here


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"positions": [3, 3]}, "output.positions[1]: must increase, but 3 follows 3"),
        ({"positions": [0]}, "output.positions[0]: 0 is out of range: the transcript has words"),
        ({"positions": [10]}, "10 is out of range: the transcript has words 1 to 9"),
        ({"positions": [1.5]}, "output.positions[0]: must be a whole number, got 1.5"),
        ({"positions": [True]}, "output.positions[0]: must be a whole number, got true"),
        ({"text": "the tulips"}, 'output.text: not extractive: not in the transcript: "tulips"'),
        ({"text": "spring bloom"}, 'word 2, "bloom", does not follow "spring"'),
        ({"positions": [1], "text": "in"}, 'the words at the positions are "the", not "in"'),
        ({"positions": [1], "words": ["the"]}, "output.words: the summary is also in positions"),
        ({"words": [" the"]}, "output.words[0]: must be printable text"),
        ({"words": ["the", ["in", 4, 5]]}, "output.words: some words have times and some do not"),
        ({"words": [["in", 5, 4]]}, "output.words[0]: ends before it begins"),
        ({"words": [["in", -1, 0]]}, "output.words[0]: starts before 0"),
        (
            {"words": [["in", 5, 6], ["Japan", 4, 5]]},
            "output.words[1]: starts at 4 s, before the word in front of it — sort the words",
        ),
        ({"words": [["in", 5, 6, 1.01]]}, "output.words[0]: has the confidence 1.01, above 1"),
        ({"words": [["in", 5]]}, "output.words[0]: must be a word"),
        ({"words": [["in", "5", 6]]}, "output.words[0][1]: must be a number"),
        ({"ctm": "a 1 0 0.5"}, "output.ctm: line 1: has 4 fields, not 5 or 6"),
        (
            {"ctm": "a 1 0 x in"},
            "output.ctm: line 1: has a time or a confidence that is not a number",
        ),
        ({"ctm": "a 1 0 1 in\nb 1 0 1 in"}, "output.ctm: words of several recordings: a, b"),
        ({}, "output.positions: missing — or give a text, or words"),
        ({"position": [1]}, 'output.position: unknown field — did you mean "positions"?'),
    ],
)
def test_a_bad_output_is_refused_with_its_line_and_item(content: Any, told: str) -> None:
    found = problems([output(positions=[1]), output("t", **content)], [reference()])
    assert "outputs:2: " in found
    assert told in found


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"references": [{"positions": []}]}, "references[0].positions: is empty"),
        ({"references": [{"text": " "}]}, "references[0].text: is empty"),
        ({"references": [{"positions": [4, 2]}]}, "must increase, but 2 follows 4"),
        ({"references": [KEPT, KEPT]}, 'references[1].annotator: "A" also made references[0]'),
        ({"references": [{"text": "tulips"}]}, 'not extractive: not in the transcript: "tulips"'),
        ({"words": []}, "words: contains no words"),
        ({"transcript": "x"}, "transcript: the transcript is also given in words — keep one"),
        ({"references": []}, "references: must not be empty"),
        ({"references": [{}]}, "references[0].positions: missing — or give a text"),
        ({"references": [{"words": ["a"]}]}, "references[0].words: unknown field"),
    ],
)
def test_a_bad_reference_is_refused_with_its_line(record: Any, told: str) -> None:
    found = problems([output(positions=[1])], [reference(**record)], metrics="sumaccy")
    assert "references:1: " in found
    assert told in found


def test_all_problems_of_both_files_are_told_at_once() -> None:
    bad = reference(item="other", references=[{"positions": [1, 1]}, {"positions": [99]}])
    found = problems([output(positions=[9, 8]), output("t", text="x")], [reference(), bad])
    assert found.count("\n") == 4, found


def test_references_without_what_was_said_are_refused_by_metrics_of_positions() -> None:
    free = {"item": "cherry", "references": [{"text": "Cherry trees flower."}]}
    found = problems([output(text="Trees bloom.")], [free], metrics="sumaccy")
    assert "words: missing — give the spoken words, or a transcript" in found


def test_summaries_in_words_of_their_own_are_scored_as_texts() -> None:
    free = {"item": "cherry", "references": [{"text": "Cherry trees flower."}]}
    found = score([output(text="Cherry trees bloom.")], [free])
    assert [name.split("(")[0] for name in found.families] == ["rouge"]
    assert found.systems["s"]["rouge_1_f1"].value == pytest.approx(2 / 3)
    assert found.systems["s"]["rouge_2_f1"].value == pytest.approx(1 / 2)


def test_text_that_is_no_extraction_can_be_scored_by_how_it_is_written() -> None:
    given = [output(text="the cherry trees in Japan")]
    assert "or use --metric sumaccy --word-match surface" in problems(given, [reference()])
    found = score(given, [reference()], metrics="sumaccy", word_match="surface")
    assert found.systems["s"]["sumaccy"].value == pytest.approx(0.8)
    assert "match=surface" in found.signature


def test_a_bad_output_may_be_skipped_or_scored_as_empty() -> None:
    given = [output(positions=[9, 1]), output("t", positions=[1, 3, 4, 5, 6])]
    skipped = score(given, [reference()], on_error="skip")
    assert list(skipped.systems) == ["t"]
    emptied = score(given, [reference()], on_error="empty", metrics="sumaccy")
    assert emptied.systems["s"]["sumaccy"].value == 0
    assert emptied.emptied[0].key.item == "cherry"


def test_summaries_need_two_files() -> None:
    with pytest.raises(UsageError, match="two files are required"):
        score([output(positions=[1])], metrics="sumaccy")


def test_options_and_metrics_of_chapters_are_not_for_summaries() -> None:
    with pytest.raises(UsageError, match="preset: not available for summaries"):
        score([output(positions=[1])], [reference()], preset="srt")
    with pytest.raises(UsageError, match="belong to one task: collar is for chapters, kept is for"):
        score([output(positions=[1])], [reference()], metrics=["collar", "kept"])
    with pytest.raises(UsageError, match='unknown language "j" — use a code such as en, fr or ja'):
        score([output(positions=[1])], [reference()], language="j")


def test_japanese_is_cut_into_words() -> None:
    record = {
        "item": "cherry",
        "transcript": "日本の桜は春に美しく咲く",
        "references": [{"text": "桜は春に咲く"}, {"text": "日本の桜は咲く"}],
    }
    assert value([output(text="桜は春に咲く")], [record], language="ja") == 1
    scores = score([output(text="桜は咲く")], [record], language="ja")
    assert f"|tokenize=japanese(janome={version('janome')})" in scores.signature
    drawn = network([record], "cherry", language="ja")
    assert drawn.signature.endswith(f"|tokenize=japanese(janome={version('janome')})")


def test_a_missing_tokenizer_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "janome.tokenizer", None)
    words_module._load_janome.cache_clear()
    with pytest.raises(MissingExtra, match=r"\[ja\]"):
        words_module.split_japanese("桜")


def test_a_tokenizer_that_is_not_there_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(words_module, "version", nowhere)
    scores = score([output(positions=[1])], [reference()], language="ja")
    assert scores.signature.endswith("|tokenize=japanese")


def test_ctm_is_sorted_by_recording_and_comments_are_passed_over() -> None:
    found, flaws = read_ctm(";; made by hand\nb 1 0 0.5 it 0.7\nb 1 2 0.5 rains\na 1 1 1 so\n\n")
    assert [(one.word, one.start, one.end, one.confidence) for one in found] == [
        ("so", 1, 2, None),
        ("it", 0, 0.5, 0.7),
        ("rains", 2, 2.5, None),
    ]
    assert not flaws
    assert read_ctm("a 1 0 -1 x\na 1 nan 1 x\na 1 0 1 <ALT_BEGIN>")[1][2].message


def test_fillers_in_ctm_are_no_words() -> None:
    fillers = ["<eps>", "[noise]", "<unk>", "%hesitation", "(%HESITATION)", "[LAUGHTER]", "!SIL"]
    spoken = [word for pair in zip(SAID, [*fillers, "<UNK>", "[um]"], strict=True) for word in pair]
    assert [one.word for one in read_ctm(ctm(spoken))[0]] == SAID
    record = {"item": "cherry", "ctm": ctm(spoken), "references": [KEPT]}
    given = output(ctm=ctm(["the", "<eps>", "cherry", "blossoms", "[noise]", "in", "Japan"]))
    assert value([given], [record]) == 1


def test_the_field_for_ctm_takes_other_transcripts_of_one_recording() -> None:
    words = [{"word": f" {word}", "start": n, "end": n + 0.5} for n, word in enumerate(SAID)]
    segment = {"start": 0, "end": len(SAID), "text": " ".join(SAID)}
    kept = output(ctm="a 1 0 0.5 the\na 1 2 0.5 cherry\na 1 3 0.5 blossoms")
    for parts in (segment | {"words": words}, segment):  # also without times of words
        record = {"item": "cherry", "ctm": json.dumps({"segments": [parts]}), "references": [KEPT]}
        assert value([kept], [record]) == value([kept], [reference()])


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("a 1 -0.5 1 it", "line 1: has a negative time"),
        ("a 1 0.5 -1 it", "line 1: has a negative time"),
        ("a 1 2 1 it\na 1 1 1 rains", "line 2: starts at 1 s, before the word on line 1 — sort"),
        ("a 1 2 1 [noise]\na 1 1 1 rains", "line 2: starts at 1 s, before the word on line 1"),
        ("a 1 0 1 it 1.5", "line 1: has the confidence 1.5, above 1 — confidences are prob"),
        ("a 1 nan 1 it", "line 1: has an invalid time"),
    ],
)
def test_impossible_times_and_confidences_in_ctm_are_refused(lines: str, told: str) -> None:
    assert f"output.ctm: {told}" in problems([output(ctm=lines)], [reference()])
    flawed = {"item": "cherry", "ctm": lines, "references": [{"positions": [1]}]}
    assert f"references:1: ctm: {told}" in problems([output(positions=[1])], [flawed])


def test_ties_of_recognised_words_without_times_go_to_neighbours() -> None:
    given = output(words=["beautiful", "cherry", "blossoms", "in"])
    kept = reference(references=[{"positions": [2, 3, 4, 5]}])
    found = score([given], [kept])
    assert found.systems["s"]["kept_f1"].value == 1  # "in" is at 5, beside "blossoms", not at 8
    assert not any("in several ways" in note for note in found.notes)


def test_apostrophes_and_unicode_forms_are_folded() -> None:
    said = ["it's", "a", "caf\u00e9", "o\u2019clock", "\u017fix", "rock\u02bcn\u2032roll"]
    record = {"item": "cherry", "words": said, "references": [{"positions": [1, 3, 4, 5, 6]}]}
    text = "It\u2019s cafe\u0301 o'clock SIX rock'n'roll."
    for content in ({"text": text}, {"words": text.split()}):
        assert value([output(**content)], [record]) == 1
    written = score([output(text=text)], [record], metrics="sumaccy", word_match="surface")
    assert written.systems["s"]["sumaccy"].value == 1


def test_lines_from_a_file_and_from_memory_are_the_same(tmp_path: Any) -> None:
    place = tmp_path / "references.jsonl"
    place.write_text(json.dumps(reference()) + "\n")
    found = [score([output(positions=[1, 3])], r) for r in (str(place), [reference()])]
    first, second = ([e.value for e in one.systems["s"].values()] for one in found)
    assert first == second


def test_an_unknown_field_does_not_hide_what_else_is_wrong() -> None:
    spoiled = [{"annotater": "A", "positions": []}, {"positions": [9, 9]}]
    found = problems([output(positions=[1])], [reference(references=spoiled)])
    for told in ("references[0].annotater", "references[0].positions: is empty", "must increase"):
        assert told in found
    assert '[item "cherry"]' in found
    given = {"item": "cherry", "system": "s", "output": {"positions": [99], "txt": "x"}}
    found = problems([given], [reference()])
    assert "output.txt: unknown field" in found
    assert "99 is out of range" in found


def test_all_words_that_were_not_said_are_named() -> None:
    assert 'not in the transcript: "tulips", "explode"' in problems(
        [output(text="the tulips explode in spring")], [reference()]
    )


def test_texts_without_latin_words_are_noted_where_they_cannot_be_seen() -> None:
    free = {"item": "cherry", "references": [{"text": "桜は咲く"}]}
    found = score([output(text="桜は春に咲く")], [free])
    assert any("rouge requires --words unicode" in note for note in found.notes)
    seen = score([output(text="桜は春に咲く")], [free], words="unicode", metrics="rouge")
    assert not any("unicode" in note for note in seen.notes)
    assert seen.systems["s"]["rouge_l_f1"].value > 0.5


def test_japanese_without_its_tokenizer_is_told_of_it() -> None:
    record = {"item": "cherry", "transcript": "桜は咲く", "references": [{"text": "桜は"}]}
    assert "--language ja" in problems([output(positions=[1])], [record])


@pytest.mark.parametrize("ending", ["ctm", "srt"])
def test_a_file_to_be_gathered_is_known_by_its_ending(tmp_path: Any, ending: str) -> None:
    place = tmp_path / f"asr.{ending}"
    place.write_text("a 1 0 1 it\n")
    with pytest.raises(InputError, match="use `earwitness gather` to convert it"):
        score(str(place), [reference()], metrics="sumaccy")


def test_letters_with_signs_are_other_letters() -> None:
    said = ["राम", "की", "किताब", "का", "रंग"]
    record = {"item": "cherry", "words": said, "references": [{"positions": [1, 2, 3]}]}
    found = score([output(words=["राम", "का", "किताबें"])], [record], metrics="kept")
    assert found.systems["s"]["kept_f1"].value == pytest.approx(1 / 3)
    assert 'not in the transcript: "के"' in problems([output(text="राम के किताब")], [record])
    assert words_module.normalise_word("C++") != words_module.normalise_word("C")
    assert words_module.normalise_word("“it,”") == "it"


@pytest.mark.parametrize("word", ["a\nb", "\x1b[31mred", "\x00x", ""])
def test_control_characters_are_refused(word: str) -> None:
    assert "must be printable text" in problems([output(words=[word])], [reference()])


def test_control_characters_are_refused_in_texts_too() -> None:
    assert "control characters" in problems([output(text="the \x1b[31m")], [reference()])
    spoken = {"item": "cherry", "transcript": "the \x00", "references": [{"positions": [1]}]}
    assert "control characters" in problems([output(positions=[1])], [spoken])


def test_a_broken_first_line_does_not_change_the_task(tmp_path: Any) -> None:
    place = tmp_path / "r.jsonl"
    good = [reference(references=[KEPT, {"positions": [2, 3]}]), reference(item="b")]
    place.write_text("{broken\n" + "".join(json.dumps(one) + "\n" for one in good))
    outputs = [output(positions=[1]), {**output(positions=[1]), "item": "b"}]
    found = score(outputs, str(place), on_error="skip")
    assert "sumaccy" in found.systems["s"]
    assert people(str(place), on_error="skip").people is not None


# --- Words of a recognizer -----------------------------------------------------------------------


HEARD = ["the", "beautiful", "ferry", "blossoms", "in", "Japan", "doom", "in", "spring", "time"]


@pytest.mark.parametrize("recognized", [HEARD, " ".join(HEARD), ctm(HEARD)])
def test_recognized_words_give_shares_of_wrong_words(recognized: Any) -> None:
    outputs = [output(words=["the", "ferry", "blossoms"]), output("other", positions=[1, 3])]
    references = [reference(recognized=recognized)]
    found = score(outputs, references, metrics="misrecognized", draws=20).systems
    assert found["s"]["misrecognized_summary"].value == pytest.approx(1 / 3)
    assert found["other"]["misrecognized_summary"].value == 0
    assert found["s"]["misrecognized_input"].value == pytest.approx(3 / 10)
    accuracy = 1 - 3 / 9  # two words are replaced, one is inserted
    assert len(score(outputs, references, where=f"accuracy<={accuracy + 1e-9}").notes) == 1
    with pytest.raises(UsageError, match="for none of 1 items"):
        score(outputs, references, where="accuracy>=0.9")


def test_the_accuracy_of_meta_precedes_that_of_recognized_words() -> None:
    references = [reference(recognized=HEARD, meta={"accuracy": 0.95})]
    (note,) = score([output(positions=[1])], references, where="accuracy>=0.9").notes
    assert note == "accuracy>=0.9 holds for 1 of 1 items, which are kept"


def test_shares_are_undefined_without_words() -> None:
    found = score([output(positions=[])], [reference()], metrics="misrecognized", draws=20)
    assert isnan(found.systems["s"]["misrecognized_summary"].value)
    assert (
        "misrecognized_input is undefined for all outputs: no item has recognized words"
        in " ".join(found.notes)
    )


def test_invalid_recognized_words_are_refused_with_their_place() -> None:
    told = problems([output(positions=[1])], [reference(recognized=[["the", 2, 1], "a"])])
    assert "recognized[0]: ends before it begins" in told
    assert "recognized: some words have times and some do not" in told
    assert "recognized[1]" in problems([output(positions=[1])], [reference(recognized=["a", 3])])


def test_shares_have_intervals_over_items() -> None:
    lines = [reference(item=f"i{n}", recognized=HEARD[: n + 3]) for n in range(12)]
    reader = SummaryReader()
    record = reader.references
    parsed = [
        reader.reference(one, ["A"])[0]
        for line in lines
        for _, one in record.read(LineBlock("r", 1, [json.dumps(line).encode()], 0))
        if not isinstance(one, bytes)
    ]
    cases = [
        Case(Key(line["item"], "s"), own[0], Summary("x", ("x", "the"), (0, 1)), (own[1].summary,))
        for line, own in zip(lines, parsed, strict=True)
    ]
    summary, recognized = misrecognized_shares(cases, draws=200)["s"]
    assert summary.value == 0.5
    shares = [one.item.recognized or () for one in cases]
    wanted = sum(own.count(0) for own in shares) / sum(map(len, shares))
    assert recognized.value == pytest.approx(wanted)
    assert recognized.low < wanted < recognized.high
    plain = [replace(one, item=replace(one.item, recognized=None)) for one in cases[:2]]
    right = [replace(one, output=Summary("the", ("the",), (1,))) for one in plain]
    assert misrecognized_shares(right) == {}
