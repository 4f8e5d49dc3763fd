"""Summaries from files to results: baselines, people, groups, comparisons, networks, reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.errors import UsageError
from earwitness.output_formats import render
from earwitness.scoring.compare import compare
from earwitness.scoring.score import people, score
from earwitness.word_networks import NetworkResult, network, written_network


@pytest.fixture
def corpus(root: Path) -> tuple[str, str]:
    folder = root / "examples" / "summaries"
    return str(folder / "outputs.jsonl"), str(folder / "references.jsonl")


def test_the_task_is_told_from_the_first_lines(corpus: tuple[str, str]) -> None:
    found = score(*corpus)
    assert [name.split("(")[0] for name in found.families] == [
        "sumaccy",
        "weighted_precision",
        "kept",
    ]
    assert set(found.systems) == {"careful", "eager", "recognised"}


def test_baselines_keep_as_many_words_as_people_and_are_never_the_worst(
    corpus: tuple[str, str],
) -> None:
    found = score(*corpus, metrics="kept", baselines=["lead", "random"], worst=4, seed=3)
    assert list(found.systems)[:2] == ["(lead)", "(random)"]
    for name in ("(lead)", "(random)"):
        own = found.systems[name]
        assert own["compression"].value == pytest.approx(own["compression_people"].value, abs=0.03)
    assert not {sample.key.system for sample in found.worst} & {"(lead)", "(random)"}
    again = score(*corpus, metrics="kept", baselines="random", seed=3)
    assert again.systems["(random)"] == found.systems["(random)"]
    other = score(*corpus, metrics="kept", baselines="random", seed=4)
    assert other.systems["(random)"] != found.systems["(random)"]


def test_a_lead_baseline_keeps_the_first_words() -> None:
    record = {"item": "a", "words": list("abcdef"), "references": [{"positions": [1, 2, 3]}]}
    outputs = [{"item": "a", "system": "s", "output": {"positions": [4]}}]
    found = score(outputs, [record], metrics="kept", baselines="lead")
    assert found.systems["(lead)"]["kept_f1"].value == 1


def test_baselines_that_are_not_known_are_refused() -> None:
    record = {"item": "a", "words": list("abc"), "references": [{"positions": [1]}]}
    outputs = [{"item": "a", "system": "s", "output": {"positions": [2]}}]
    with pytest.raises(UsageError, match='unknown baseline "last" — known: lead, random'):
        score(outputs, [record], baselines="last")


def test_chapters_have_no_baselines_yet() -> None:
    record = {"item": "a", "duration": 9, "references": [{"boundaries": [1]}]}
    outputs = [{"item": "a", "system": "s", "output": {"boundaries": [2]}}]
    with pytest.raises(UsageError, match='unknown baseline "lead" — this task has no baselines'):
        score(outputs, [record], baselines="lead")


def test_people_are_scored_against_the_others(corpus: tuple[str, str]) -> None:
    alone = people(corpus[1])
    beside = score(*corpus).people
    assert alone.people is not None
    assert beside is not None
    assert alone.people.ceiling == beside.ceiling
    assert set(beside.annotators) == {"anna", "bela", "chen", "dora", "emil"}


def test_the_ceiling_of_people_is_each_against_the_rest_by_hand() -> None:
    kept = {"A": [1, 3, 4, 5, 6], "B": [2, 3, 4, 5, 6], "C": [2, 3, 4, 8, 9]}
    record = {
        "item": "cherry",
        "words": [f"w{n}" for n in range(1, 10)],
        "references": [{"annotator": k, "positions": v} for k, v in kept.items()],
    }
    found = people([record], metrics="sumaccy").people
    assert found is not None
    # A against B and C: 2 3 4 5 6, one edit; B against A and C: 2 3 (from C) 4 5 6 (from A), none;
    # C against A and B: 2 3 4 5 6, two edits
    assert found.annotators["B"]["sumaccy"].value == 1
    assert found.annotators["A"]["sumaccy"].value == pytest.approx(4 / 5)
    assert found.annotators["C"]["sumaccy"].value == pytest.approx(3 / 5)


def test_groups_and_comparisons_work_as_for_chapters(corpus: tuple[str, str]) -> None:
    found = compare(*corpus, metrics="sumaccy", by="kind", permutations=200)
    better = [c.better for c in found.contrasts if c.value == "sumaccy"]
    assert better.count("careful") == 2
    assert {c.value for c in found.contrasts} == {"sumaccy", "wsumaccy"}
    assert {one.group for one in found.groups} == {"news", "speech"}
    by_length = score(*corpus, metrics="sumaccy", by="words:15")
    assert list(by_length.slices[0].groups) == ["below 15", "from 15"]
    by_person = score(*corpus, metrics="sumaccy", by="annotator")
    assert set(by_person.slices[0].groups) == {"anna", "bela", "chen", "dora", "emil"}


def test_several_objectives_are_told_apart_in_one_run(corpus: tuple[str, str]) -> None:
    found = score(*corpus, metrics="sumaccy", objective=["edits", "accuracy"])
    own = found.systems["careful"]
    assert own["sumaccy@accuracy"].value >= own["sumaccy@edits"].value


def test_the_longest_strings_are_a_parameter_like_any_other(corpus: tuple[str, str]) -> None:

    found = score(*corpus, metrics="word_strings", longest=[3, 7], jobs=2)
    own = found.systems["careful"]
    assert [name for name in own if "micro" not in name] == [
        *(f"p{n}@3" for n in range(1, 4)),
        *(f"p{n}@7" for n in range(1, 8)),
    ]
    assert own["p2@3"].value == own["p2@7"].value
    assert "word_strings(longest=7)" in found.signature
    arguments = ["score", *corpus, "--metric", "word_strings", "--longest", "2", "--to", "json"]
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0, done.output
    assert '"p2_micro"' in done.stdout
    assert '"p3"' not in done.stdout


def test_work_can_be_shared_among_processes(corpus: tuple[str, str]) -> None:

    assert score(*corpus, jobs=2).systems == score(*corpus).systems


def test_the_network_of_an_item(corpus: tuple[str, str]) -> None:
    found = network(corpus[1], "cherry", outputs=corpus[0])
    assert found.words[2] == "cherry"
    assert sum(count for (a, _), count in found.arcs.items() if not a) == len(found.people) == 5
    for path in found.targets.values():
        assert all(arc in found.arcs for arc in zip((0, *path), (*path, 10), strict=True))
    with pytest.raises(
        UsageError, match='no item "chery" in the references — did you mean "cherry"'
    ):
        network(corpus[1], "chery")


@pytest.mark.parametrize("to", ["text", "json", "dot", "html"])
def test_the_verb_writes_networks(to: str, corpus: tuple[str, str], tmp_path: Path) -> None:
    arguments = ["network", corpus[1], "cherry", "--outputs", corpus[0], "--to", to]
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0, done.output
    if to == "json":
        record = json.loads(done.stdout)
        assert record["targets"].keys() == {"careful", "eager", "recognised"}
        assert sum(arc["people"] for arc in record["arcs"] if not arc["from"]) == 5
    else:
        assert "cherry" in done.stdout
    place = tmp_path / f"network.{'txt' if to == 'text' else to}"
    CliRunner().invoke(group, [*arguments[:-2], "-o", str(place)])
    assert place.read_text() == done.stdout


def test_a_form_that_no_network_has_is_refused(corpus: tuple[str, str], tmp_path: Path) -> None:
    done = CliRunner().invoke(
        group, ["network", corpus[1], "cherry", "-o", str(tmp_path / "n.png")]
    )
    assert isinstance(done.exception, UsageError)
    assert "unknown output format" in str(done.exception)


def test_texts_stand_below_each_other_where_no_metric_aligns_them(corpus: tuple[str, str]) -> None:
    found = score(*corpus, metrics="rouge", show="cherry")
    assert found.shown[0].alignments["careful"][0].text.splitlines()[-1].startswith("OUT: cherry")
    assert "<pre><span>anna: " in render(found, "html")
    assert "S replaced" not in render(found, "text")
    assert "anna: " in render(found, "text")


def test_metrics_of_another_task_are_told_in_one_sentence(corpus: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="collar scores chapters, but the files contain summaries"):
        score(*corpus, metrics="collar")
    chapters = [{"item": "a", "duration": 9, "references": [{"boundaries": [1]}]}]
    outputs = [{"item": "a", "system": "s", "output": {"boundaries": [2]}}]
    with pytest.raises(UsageError, match="kept scores summaries, but the files contain chapters"):
        score(outputs, chapters, metrics="kept")


def test_a_slip_in_the_first_output_does_not_hide_the_task(corpus: tuple[str, str]) -> None:
    from earwitness.errors import InputError

    outputs = [{"item": "cherry", "system": "s", "output": {"posittions": [1]}}]
    with pytest.raises(InputError, match='posittions: unknown field — did you mean "positions"'):
        score(outputs, corpus[1])


def test_a_worst_system_is_picked_out_in_its_network(corpus: tuple[str, str]) -> None:
    found = score(*corpus, metrics="sumaccy", worst=1)
    system = found.worst[0].key.system
    page = render(found, "html")
    figure = page[page.index('<figure class="network">') :]
    checked = figure[: figure.index(" checked")].rpartition("<input")[2]
    label = figure[figure.index(" checked") :]
    assert "pick" in checked
    assert label[: label.index("</label>")].endswith(f"{system}</span>")


def test_a_name_cannot_break_out_of_the_graph(tmp_path: Path) -> None:
    words = ['say "hi"', "a\\b", "<s>"]
    record = {"item": 'x"y', "words": words, "references": [{"positions": [1, 2, 3]}]}
    place = tmp_path / "r.jsonl"
    place.write_text(json.dumps(record))
    done = CliRunner().invoke(group, ["network", str(place), 'x"y', "--to", "dot"])
    assert 'digraph "x\\"y" {' in done.stdout
    assert 'label="say \\"hi\\""' in done.stdout


def test_the_terminal_shows_words_and_the_page_draws_networks(corpus: tuple[str, str]) -> None:
    found = score(*corpus, metrics="sumaccy", show=["storm", "cherry"], baselines="lead")
    assert [one.item for one in found.shown] == ["storm", "cherry"]
    text = render(found, "text")
    assert "storm, careful\n  PATH:" in text
    assert "people:" in text
    page = render(found, "html")
    assert page.count('<figure class="network">') == 2
    assert page.count("<svg") == page.count("</svg>")
    for to in ("md", "latex", "json", "csv"):
        assert render(found, to, table="full")


def test_every_alignment_goes_to_a_file(corpus: tuple[str, str], tmp_path: Path) -> None:
    score(*corpus, metrics="sumaccy", alignments=tmp_path / "words.txt")
    text = (tmp_path / "words.txt").read_text()
    assert text.count("## ") == text.count("accuracy ") == 24


def test_samples_and_alignments_appear_together(corpus: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "full.csv").symlink_to("/dev/full")
    (tmp_path / "words.txt").write_text("old")
    files: dict[str, Any] = {"samples": tmp_path / "full.csv"}
    files["alignments"] = tmp_path / "words.txt"
    with pytest.raises(UsageError, match=r"full\.csv: cannot be written: No space left on device"):
        score(*corpus, metrics="sumaccy", **files)
    assert (tmp_path / "words.txt").read_text() == "old"


def test_arcs_are_as_thick_as_many_people_went(corpus: tuple[str, str]) -> None:
    found = network(corpus[1], "cherry", outputs=corpus[0])
    few = min(found.arcs, key=lambda arc: found.arcs[arc])
    many = max(found.arcs, key=lambda arc: found.arcs[arc])
    dot = written_network(found, "dot")
    page = written_network(found, "html")

    def width(arc: tuple[int, int]) -> float:
        line = dot.split(f"n{arc[0]} -> n{arc[1]} ")[1]
        return float(line.split("penwidth=")[1].split("]")[0])

    def stroke(arc: tuple[int, int]) -> float:
        told = f"{found.name(arc[0])} → {found.name(arc[1])}: ".replace("<", "&lt;")
        before = page.split(told.replace(">", "&gt;"))[0]
        return float(before.rpartition('stroke-width="')[2].split('"')[0])

    assert width(few) < width(many)
    assert stroke(few) < stroke(many)


def test_every_system_has_a_path_of_its_own_however_many_there_are() -> None:
    people_: list[Any] = [{"positions": [1, 2]}, {"positions": [5, 6]}]
    record = {"item": "a", "words": list("abcdefg"), "references": people_}
    outputs = [
        {"item": "a", "system": f"s{n:02}", "output": {"positions": [5, 6] if n == 8 else [1, 2]}}
        for n in range(10)
    ]
    page = written_network(network([record], "a", outputs=outputs), "html")
    arcs = [one.split('"')[0].split() for one in page.split('class="arc')[1:]]
    assert [one for one in arcs if "n0-8" in one] == [["n0-8"]] * 3
    assert "#n0-8:checked~.scroll .n0-8{" in page


def test_results_never_overwrite_what_they_are_made_of(tmp_path: Path) -> None:
    record = {"item": "a", "words": ["x"], "references": [{"positions": [1]}]}
    place = tmp_path / "r.json"
    place.write_text(json.dumps(record))
    done = CliRunner().invoke(group, ["network", str(place), "a", "-o", str(place)])
    assert "named twice" in str(done.exception)
    words = tmp_path / "x.ctm"
    words.write_text("a 1 0 1 x")
    done = CliRunner().invoke(group, ["gather", str(words), "-o", str(words)])
    assert "named twice" in str(done.exception)
    assert json.loads(place.read_text()) == record
    assert words.read_text() == "a 1 0 1 x"


def test_a_system_that_comes_twice_is_refused_by_the_network() -> None:
    record = {"item": "a", "words": ["x"], "references": [{"positions": [1]}]}
    twice = [{"item": "a", "system": "s", "output": {"positions": [1]}}] * 2
    with pytest.raises(UsageError, match='system "s" has two outputs for "a"'):
        network([record], "a", outputs=twice)


# --- People and words ----------------------------------------------------------------------------


SENTENCE = ["the", "beautiful", "cherry", "blossoms", "in", "Japan", "bloom", "in", "spring"]
TABLE_1 = {
    "A": [1, 3, 4, 5, 6],
    "B": [2, 3, 4, 5, 6],
    "C": [2, 3, 4, 8, 9],
    "D": [3, 4, 7, 8, 9],
    "E": [2, 3, 7, 8, 9],
}


def merged(words: list[str], kept: dict[str, list[int]]) -> NetworkResult:
    people = [{"annotator": name, "positions": positions} for name, positions in kept.items()]
    return network([{"item": "x", "words": words, "references": people}], "x")


def test_the_text_shows_the_words_that_each_person_kept() -> None:
    written = written_network(merged(SENTENCE, TABLE_1), "text")
    grid = written[written.index("words that each person kept") :].splitlines()
    assert grid[1].split() == SENTENCE
    assert grid[2].split() == ["A", "the", "cherry", "blossoms", "in", "Japan"]
    assert grid[2].index("Japan") == grid[1].index("Japan")
    assert grid[5].split() == ["D", "cherry", "blossoms", "bloom", "in", "spring"]
    assert grid[-1].split() == ["kept", "by", "1", "3", "5", "4", "2", "2", "2", "3", "3"]


def test_the_page_has_a_grid_of_people_and_words() -> None:
    page = written_network(merged(SENTENCE, TABLE_1), "html")
    assert page.count('<td class="kept">') == 25
    assert page.count("<td></td>") == 5 * 9 - 25
    assert "<details open><summary>Words that each person kept</summary>" in page
    long = merged([f"word{n}" for n in range(1, 401)], {"A": [1, 399], "B": [2]})
    page = written_network(long, "html")
    assert "Words that each person kept; the first 300 of 400 words" in page
    assert page.count('class="total"') > 20  # blocks
    assert "the first 300 of 400 words" in written_network(long, "text")
