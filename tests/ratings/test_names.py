"""Scales of tables by other names, row counters, and votes that are not analysed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import earwitness
from earwitness.analysis.results import Results
from earwitness.errors import InputError
from earwitness.metaeval.results import Concordance
from earwitness.ratings.names import Pattern, infer_patterns
from helpers.command_line import run
from helpers.study_listener import sounds, study

Rows = list[dict[str, object]]
VOTES = (1, 3, 2, 5, 4, 2, 3, 4, 1, 5, 2)


def crowd(**columns: float) -> Rows:
    """Return votes of four listeners on three systems and four items, of differing quality.

    A column has the votes plus its number; ``numbers`` of rows are added by the tests.
    """
    keys = [(item, system, who) for item in "abcd" for system in "xyz" for who in "jklm"]
    return [
        {"item": item, "system": system, "listener": who}
        | {name: VOTES[(n * 7 + k) % 11] + by for k, (name, by) in enumerate(columns.items())}
        for n, (item, system, who) in enumerate(keys)
    ]


def analyse(rows: Rows | Path, **how: Any) -> Results:
    """Return the results of votes, without a mixed model."""
    return earwitness.study_analyse(rows, mixed=False, **how)


def text(results: Results | Concordance) -> str:
    """Return a report as text, with all spaces and line breaks as one space."""
    return " ".join(earwitness.render(results).split())


def summary(results: Results | Concordance) -> str:
    """Return the first lines of a report."""
    return " ".join(earwitness.render(results).split("\n\n")[0].split())


def write(path: Path, rows: Rows, names: dict[str, str] | None = None) -> Path:
    """Write rows as CSV, with other names of columns."""
    head = ",".join((names or {}).get(name, name) for name in rows[0])
    lines = [",".join(map(str, row.values())) for row in rows]
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("written", ["ovr", "OVR", "ovrl", "overall", "Overall"])
def test_the_main_scale_of_p835_is_found_by_all_its_names(written: str) -> None:
    wide = analyse(crowd(sig=0, bak=0, **{written: 0}))
    assert [scale.value.name for scale in wide.scales] == ["SIG", "BAK", "OVRL"]
    long = [
        {"item": row["item"], "system": row["system"], "listener": row["listener"]}
        | {"scale": name, "value": row[name]}
        for row in crowd(sig=0, **{written: 0})
        for name in ("sig", written)
    ]
    assert [scale.value.name for scale in analyse(long).scales] == ["SIG", "OVRL"]


def test_two_columns_for_one_scale_are_not_merged() -> None:
    results = analyse(crowd(SIG=0, OVRL=0, overall=0))
    assert [scale.value.name for scale in results.scales] == ["SIG", "OVRL"]
    assert 'column "overall"' in summary(results)
    other = analyse(crowd(SIG=0, ovr=0, overall=0))
    assert [scale.value.name for scale in other.scales] == ["SIG", "OVRL"]
    assert 'column "ovr" is read as OVRL; column "overall" could be, too' in text(other)


def test_overall_beside_other_scales_does_not_drop_them() -> None:
    results = analyse(crowd(naturalness=0, overall=0))
    assert [scale.value.name for scale in results.scales] == ["naturalness", "OVRL"]


def test_options_name_scales_in_any_case(tmp_path: Path) -> None:
    votes = write(tmp_path / "votes.csv", crowd(sig=0, bak=0))
    done = run("study", "analyse", votes, "--scale", "sig=1:5", "--low-is-good", "bak")
    assert done.returncode == 0, done.stderr
    assert "SIG ↑" in done.stdout
    assert "BAK ↓" in done.stdout
    results = analyse(votes, anchors="bak=x", margins={"sig": 0.5})
    assert [scale.controls for scale in results.scales] == [(), ("x",)]
    assert dict(results.plan.margins) == {"SIG": 0.5}
    scores = [{**row, "pesq": n} for n, row in enumerate(crowd()) if row.pop("listener") == "j"]
    concordance = earwitness.agree(scores, votes, scales=["sig"], draws=20, permutations=20)
    assert [scale.scale.name for scale in concordance.scales] == ["SIG"]


def test_votes_that_are_not_analysed_are_in_the_first_lines() -> None:
    rows = crowd(SIG=0, naturalness=0)
    for n, row in enumerate(rows):
        row |= {"seconds": 4 + len(str(row["item"])) + "abcd".index(str(row["item"])), "year": 2024}
        row |= {"age": 20 + "jklm".index(str(row["listener"])), "rt": 1000 + 37 * n % 991}
        row |= {"order": n // 4 + 1}
    told = (
        'Not analysed, although they look like votes: column "naturalness"; use --scale '
        "NAME=LOW:HIGH to analyse it"
    )
    scores = [{"item": i, "system": s, "pesq": ord(i) + ord(s)} for i in "abcd" for s in "xyz"]
    concordance = earwitness.agree(scores, rows, draws=20, permutations=20)
    for results in (analyse(rows), concordance):
        assert told in summary(results)
        assert text(results).count("look like votes") == 1
    results = analyse(rows, scales=["naturalness=1:5"])
    assert [scale.value.name for scale in results.scales] == ["SIG", "naturalness"]
    assert "look like votes" not in text(results)


def test_one_vote_per_listener_looks_like_votes() -> None:
    rows = [{**row, "listener": n} for n, row in enumerate(crowd(SIG=0, naturalness=0))]
    assert any("naturalness" in note for note in analyse(rows).notes if "votes" in note)


@pytest.mark.parametrize("name", ["No.", "no", "Nr.", "index", "#", "Unnamed: 3", "counted"])
def test_a_row_counter_is_no_scale(tmp_path: Path, name: str) -> None:
    rows: Rows = [{**row, "counter": n + 17} for n, row in enumerate(crowd(MOS=0))]
    results = analyse(write(tmp_path / "votes.csv", rows, {"counter": name}))
    assert [scale.value.name for scale in results.scales] == ["MOS"]
    assert "look like votes" not in text(results)


def test_identifiers_with_gaps_are_no_scale() -> None:
    results = analyse([{**row, "id": 3 * n + n % 2} for n, row in enumerate(crowd(MOS=0))])
    assert [scale.value.name for scale in results.scales] == ["MOS"]


def test_pairs_that_only_share_few_items_are_tested_for_listeners_and_items() -> None:
    rows: Rows = [
        {
            "item": f"{system}{item}",
            "system": system,
            "listener": who,
            "MOS": mean + (who * item + who + mean) % 3 % 2,
        }
        for mean, system in enumerate("xyz", 1)
        for item in range(8)
        for who in range(6)
    ]
    assert "6 listeners and 24 items, both random" in summary(analyse(rows))


def test_few_consecutive_votes_are_no_counter() -> None:
    rows = [{"item": "a", "system": s, "listener": 1, "MOS": n} for n, s in enumerate("vwxyz", 1)]
    assert [scale.value.name for scale in analyse(rows).scales] == ["MOS"]


def test_a_penalty_above_0_is_flagged() -> None:
    rows = crowd(fluency=-5)
    rows[7]["fluency"] = 2
    told = "Check the signs: 1 of 48 votes on fluency is above 0 (2), all others are 0 or below"
    assert told in summary(analyse(rows))
    assert "Check the signs" not in text(analyse(crowd(fluency=-5)))
    assert "Check the signs" not in text(analyse(crowd(difference=-3)))


def test_steps_are_those_of_a_study(tmp_path: Path) -> None:
    slider = crowd(quality=29.8642)
    results = analyse(slider, scales=["quality=0:100"])
    assert results.scales[0].value.name == "QUALITY"
    [x, y, z] = results.scales[0].systems.values()
    assert 30 < min(x.mean.value, y.mean.value, z.mean.value) < 36
    halves = crowd(SIG=0)
    for row in halves:
        row["SIG"] = 1 + 0.5 * (int(str(row["SIG"])) - 1)
    assert analyse(halves).scales[0].value.name == "SIG"
    choices = [{**row, "against": "z", "system": "x"} for row in crowd(BETTER=0)]
    with pytest.raises(InputError, match="outside scale BETTER"):
        analyse(choices)
    rows = [{**row, "system": "C0", "listener": 1, "OVRL": 3, "BAK": 3} for row in halves]
    with pytest.raises(InputError, match=r"1\.5 is outside scale SIG \(1 to 5 in steps of 1\)"):
        analyse(rows, study=study(sounds(tmp_path), "p835"))


def test_a_table_of_placements_is_known_to_agree(tmp_path: Path) -> None:
    rows = [{**row, "SD": 1 - 0.1 * len(str(row))} for row in crowd(TC=0)]
    for n, row in enumerate(rows):
        row |= {"TC": n % 11 / 10, "SD": n % 7 / 6}
    scores = [
        {"item": i, "system": s, "tc": n / 9, "sd": n % 5}
        for i in "abcd"
        for n, s in enumerate("xyz")
    ]
    votes = write(tmp_path / "places.csv", rows)
    concordance = earwitness.agree(scores, votes, draws=20, permutations=20)
    assert [scale.scale.name for scale in concordance.scales] == ["TC", "SD"]
    assert not [note for note in concordance.notes if "ends of scale" in note]


def test_sd_beside_means_is_no_placement() -> None:
    means = [
        {"item": i, "system": s, "MOS": 1 + (n * 3 + k) % 5, "SD": 0.5 + k / 10}
        for n, i in enumerate("abcd")
        for k, s in enumerate("xyz")
    ]
    results = analyse(means, layout="means")
    assert "MOS" in [scale.value.name for scale in results.scales]


# patterns of file names


def crossed(form: str, systems: list[str], items: list[str]) -> list[str]:
    return [form.format(system=system, item=item) for system in systems for item in items]


ITEMS = ["p01", "p02", "p03"]
LETTERS = ["sysA", "sysB"]


@pytest.mark.parametrize(
    ("form", "systems", "items", "pattern"),
    [
        ("{item}_{system}.wav", LETTERS, ITEMS, "{item}_{system}.wav"),
        ("{system}/{item}.wav", LETTERS, ITEMS, "{system}/{item}.wav"),
        ("{item}/{system}.wav", LETTERS, ITEMS, "{item}/{system}.wav"),
        ("wavs/{system}/{item}.wav", ["x", "y"], ITEMS, "*/{system}/{item}.wav"),
        ("{system}-{item}", LETTERS, ["p01-seg3", "p01-seg4", "p02-seg1"], "{system}-{item}"),
        ("{item}_{system}_16k.flac", ["clean", "wiener"], ITEMS, "{item}_{system}_16k.flac"),
        (
            "{item}_{system}.wav",
            ["wavenet", "tacotron"],
            ["p232_001", "p232_002"],
            "{item}_{system}.wav",
        ),
        ("{system}_{item}.wav", ["model_1", "model_2"], ["x_1", "y_2"], None),
        ("{system}/{system}_{item}.wav", LETTERS, ITEMS, "*/{system}_{item}.wav"),
        ("{system}\\{item}.wav", ["x", "y"], ITEMS, "{system}/{item}.wav"),
        ("{system}/{item}.wav", ["old", "new"], ["take 1", "take 2"], "{system}/{item}.wav"),
    ],
)
def test_patterns_are_inferred(
    form: str, systems: list[str], items: list[str], pattern: str | None
) -> None:
    names = crossed(form, systems, items)
    wanted = [pattern or form] if "model" not in form and pattern else None
    found = infer_patterns(names)
    if wanted:
        assert found == wanted
    if len(found) == 1:  # whatever is inferred divides the names into these systems and items
        parts = [Pattern(found[0]).divide(name).parts for name in names]
        assert [(part["system"], part["item"]) for part in parts] == [
            (system, item) for system in systems for item in items
        ]


def test_names_of_voicemos_need_not_be_crossed() -> None:
    names = ["sys1a2b3-utt4c5d6.wav", "sys1a2b3-utt77aa1.wav", "sys99fff-utt00b1c.wav"]
    assert infer_patterns(names) == ["{system}-{item}.wav"]


def test_endings_may_differ() -> None:
    names = ["sysA_p1.wav", "sysA_p2.flac", "sysB_p1.wav", "sysB_p2.wav"]
    assert infer_patterns(names) == ["{system}_{item}.*"]


def test_patterns_agree_with_a_column_of_systems() -> None:
    names = crossed("{item}_{system}.wav", ["D1", "D2"], ["T1", "T2"])
    assert len(infer_patterns(names)) == 2
    assert infer_patterns(names, ["d1", "d1", "d2", "d2"]) == ["{item}_{system}.wav"]
    assert infer_patterns(names, ["other"] * 4) == []
    assert infer_patterns(names, known=["T1", "T2", "T3"]) == ["{system}_{item}.wav"]


@pytest.mark.parametrize("names", [["a.wav", "b.wav"], ["p1_a.wav"], [], ["{a}_b", "{b}_b"]])
def test_names_without_two_parts_have_no_pattern(names: list[str]) -> None:
    assert infer_patterns(names) == []
