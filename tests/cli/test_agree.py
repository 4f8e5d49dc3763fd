"""``earwitness agree``: which metric to trust, from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import earwitness
from earwitness.cli import agree
from earwitness.cli.main import group
from earwitness.errors import InputError, UsageError
from earwitness.output_formats import FORMS
from earwitness.studies.admin import stored_answers
from earwitness.studies.from_answers import rating_records
from helpers.csv_results import read_results
from helpers.http_listener import link, served, take
from helpers.score_tables import people, rating_rows, score_rows, table
from helpers.study_listener import sounds, study

EXAMPLES = Path(__file__).parents[2] / "examples" / "agree"
ENDINGS = {"latex": "tex", "text": "txt"}
FEW = ("--draws", "20", "--permutations", "20")


def run(*arguments: str | Path) -> Result:
    """The command, with few draws."""
    return CliRunner().invoke(group, ["agree", *map(str, arguments), *FEW])


def good(*arguments: str | Path) -> str:
    """What it prints when all goes well."""
    done = run(*arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Scores of two metrics, and ratings."""
    votes = people()
    means, rng = votes.mean(axis=2), np.random.default_rng(0)
    rows = score_rows(
        near=means + rng.normal(0, 2, means.shape), far=rng.normal(0, 2, means.shape) - means
    )
    return (
        table(tmp_path / "scores.csv", rows),
        table(tmp_path / "ratings.csv", rating_rows(votes)),
    )


def test_the_same_command_prints_the_same_again(files: tuple[Path, Path]) -> None:
    assert good(*files, "--to", "json") == good(*files, "--to", "json")


def test_every_form_is_printed_and_written(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = earwitness.agree(*files, draws=20, permutations=20)
    monkeypatch.setattr(agree, "agree", lambda *_, **__: found)
    for form in FORMS:
        assert "near" in good(*files, "--to", form)
        written = tmp_path / f"report.{ENDINGS.get(form, form)}"
        done = run(*files, "-o", written)
        assert done.exit_code == 0, done.output
        assert f"wrote {written}" in done.stderr
        assert done.stdout == ""
        assert "near" in written.read_text()


def test_groups_aggregates_and_columns_to_control_for_are_options(tmp_path: Path) -> None:
    votes = people()
    ratings = [{**row, "jury": "ab"[row["listener"] > "r2"]} for row in rating_rows(votes)]
    scores = table(tmp_path / "s.csv", score_rows(near=votes.mean(axis=2), size=votes[:, :, 0]))
    options = ("--by", "jury", "--partial", "size", "--aggregate", "median", "--at", "system")
    printed = good(scores, table(tmp_path / "r.csv", ratings), *options)
    assert "by jury" in printed
    assert "given size" in printed
    assert "median of the votes" in printed
    refused = run(scores, table(tmp_path / "r.csv", ratings), "--aggregate", "mode")
    assert "'mode' is not one of" in refused.output


def test_the_table_for_a_paper_is_one_table_in_any_format(files: tuple[Path, Path]) -> None:
    assert good(*files, "--to", "latex").count("\\begin{table}") == 1
    assert good(*files, "--to", "latex", "--table", "full").count("\\begin{table}") > 1
    _, [near, *_] = read_results(good(*files, "--to", "csv", "--table", "paper"))
    assert (near["metric"], near["Pearson's r (systems)_mark"]) == ("near", "best")


def test_options_reach_what_they_are_for(files: tuple[Path, Path], tmp_path: Path) -> None:
    options = ("--low-is-good", "far", "--baseline", "near", "--generalize", "items")
    more = ("--coefficient", "pearson", "--at", "system", "--mapping", "linear", "--seed", "3")
    found = json.loads(good(*files, *options, *more, "--level", "0.9", "--to", "json"))
    [scale] = found["scales"]
    marks = {one["metric"]: (one["low_is_good"], one["baseline"]) for one in scale["metrics"]}
    assert marks == {"near": (False, True), "far": (True, False)}
    assert (found["over"], found["level"]) == ("items+raters", 0.9)
    assert scale["ranked"][0]["test"]["unit"] == "items"
    assert {name.split()[0] for name in scale["metrics"][0]["figures"]} == {"system"}
    assert [one["figure"] for one in scale["ranked"]] == ["system pearson"]
    assert {one["asked"] for one in scale["metrics"][0]["mapped"]} == {"linear"}
    one = good(*files, "--metric", "far", "--metric", "near", "--scale", "Q", "--to", "csv")
    assert {row["metric"] for row in read_results(one)[1]} == {"far", "near", ""}
    third = table(tmp_path / "third.csv", score_rows(third=np.arange(42.0).reshape(6, 7)))
    assert "third" in good(*files, "--with", third)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--coefficient", "kendal"), "Invalid value for '--coefficient'"),
        (("--at", "systems"), "Invalid value for '--at'"),
        (("--generalize", "people"), "Invalid value for '--generalize'"),
        (("--mapping", "square"), "Invalid value for '--mapping'"),
        (("--screening", "p80"), "Invalid value for '--screening'"),
        (("--to", "pdf"), "Invalid value for '--to'"),
        (("--column", "listener"), "'listener' is not NAME=COLUMN"),
        (("--bets",), "No such option"),
    ],
)
def test_unknown_values_are_refused(
    files: tuple[Path, Path], wrong: tuple[str, ...], told: str
) -> None:
    done = run(*files, *wrong)
    assert done.exit_code == 2
    assert told in done.output


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--low-is-good", "nera"), 'unknown metric "nera" — did you mean "near"'),
        (("--baseline", "fra"), 'unknown metric "fra"'),
        (("--scale", "P"), 'no ratings on scale "P"'),
        (("--level", "95"), "level must be between 0 and 1"),
        (("--reference", "S9"), 'reference: no ratings of "S9"'),
        (("--outputs", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(
    files: tuple[Path, Path], wrong: tuple[str, ...], told: str
) -> None:
    done = run(*files, *wrong)
    assert isinstance(done.exception, UsageError | InputError)
    assert told in str(done.exception)


def test_results_never_overwrite_what_they_are_made_of(files: tuple[Path, Path]) -> None:
    for path in files:
        done = run(*files, "--to", "csv", "-o", path)
        assert isinstance(done.exception, UsageError)
        assert "is named twice" in str(done.exception)


def test_ratings_come_straight_from_a_store(tmp_path: Path) -> None:
    folder = sounds(tmp_path)
    path, address = study(folder, "acr", "rest_minutes: 0\n"), str(folder / "study.db")
    with served(path, address) as client:
        for listener in (1, 2):
            take(client, link(client, listener))
    ratings = stored_answers(path, address).ratings()
    keys = sorted({one.key for one in ratings})
    rows = [
        {"item": key.item, "system": key.system, "m": n, "other": n % 3}
        for n, key in enumerate(keys)
    ]
    scores = table(tmp_path / "scores.csv", rows)
    from_store = json.loads(good(scores, path, "--db", address, "--to", "json"))
    kept = table(tmp_path / "ratings.csv", rating_records(ratings))
    from_table = json.loads(good(scores, path, kept, "--to", "json"))
    assert from_store["scales"] == from_table["scales"]
    assert from_store["scales"][0]["raters"] == 2
    for wrong in ((kept,), (path, kept)):
        done = run(scores, *wrong, "--db", address)
        assert isinstance(done.exception, UsageError)
        assert "name the study file and no other file" in str(done.exception)
    done = run(scores)
    assert isinstance(done.exception, InputError)
    assert "no column is known to have ratings" in str(done.exception)


def test_scores_of_names_of_files_are_joined_with_ratings_of_the_same() -> None:
    folder = EXAMPLES / "p835"
    command = (folder / "scores.csv", folder / "ratings.csv", "--low-is-good", "noise_left")
    found = json.loads(good(*command, "--baseline", "loudness", "--to", "json"))
    assert [one["scale"]["name"] for one in found["scales"]] == ["SIG", "BAK", "OVRL"]
    best = {scale["scale"]["name"]: scale["ranked"][0]["order"][0] for scale in found["scales"]}
    assert best == {"SIG": "loudness", "BAK": "noise_left", "OVRL": "dnsmos_like"}
    assert not any(one.startswith("screening") for one in found["notes"])


@pytest.mark.parametrize(
    ("task", "scale", "metrics"),
    [
        ("summaries", "QUALITY", ("sumaccy", "kept_recall")),
        ("chapters", "CHAPTERS", ("collar_f1", "pk")),
    ],
)
def test_outputs_are_scored_with_fewer_references_and_held_against_judges(
    tmp_path: Path, task: str, scale: str, metrics: tuple[str, str]
) -> None:
    folder, samples = EXAMPLES / task, tmp_path / "samples.csv"
    both = [str(folder / name) for name in ("outputs.jsonl", "references.jsonl")]
    command = [
        "score",
        *both,
        "--samples",
        str(samples),
        "--reference-counts",
        "1,2,4",
        "--draws",
        "5",
    ]
    done = CliRunner().invoke(group, command)
    assert done.exit_code == 0, done.output
    chosen = [part for name in metrics for part in ("--metric", name)]
    found = json.loads(good(samples, folder / "ratings.csv", *chosen, "--to", "json"))
    [own] = found["scales"]
    assert own["scale"]["name"] == scale
    curves = {one["what"]: one for one in own["curves"] if one["figure"] == "item kendall_b"}
    assert [count for count, _ in curves["references"]["points"]] == [1, 2, 4]
    few, _, whole = (row[metrics[0]]["value"] for _, row in curves["references"]["points"])
    assert 0 < few < whole
    figure = own["metrics"][0]["figures"]["item kendall_b"]["value"]
    assert whole == pytest.approx(figure)


def refusal(*arguments: str | Path) -> str:
    """What it says when it refuses."""
    done = run(*arguments)
    assert isinstance(done.exception, UsageError), (done.output, done.exception)
    return str(done.exception)


def test_files_in_each_others_place_are_told_with_the_right_command(
    files: tuple[Path, Path],
) -> None:
    scores, ratings = files
    told = refusal(ratings, scores)
    assert told == (
        f"{ratings} contains ratings (it has a listener column), but scores are expected first — "
        f"run: earwitness agree {scores} {ratings}"
    )
    renamed = ratings.with_name("renamed.csv")
    renamed.write_text(ratings.read_text().replace("listener", "subject", 1))
    told = refusal(renamed, scores, "--column", "listener=subject")
    assert (
        f"(it has a subject column), but scores are expected first — run: earwitness agree {scores}"
        in told
    )


def test_studies_answers_and_stores_in_the_place_of_scores_are_told(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, _ = files
    study, store, answers = (tmp_path / name for name in ("s.yaml", "s.db", "answers.jsonl"))
    study.write_text("title: x\n")
    store.write_bytes(b"SQLite format 3\0 and more")
    answers.write_text('{"listener": 1, "page": "trial.1", "values": {}}\n')
    told = refusal(study, scores, "--db", store)
    assert f"{study} is a study file" in told
    assert told.endswith(f"earwitness agree {scores} {study} --db {store}")
    told = refusal(study, answers)
    assert told.endswith(f"earwitness agree SCORES {study} {answers}")
    told = refusal(answers, study, scores)
    assert f"{answers} contains answers of listeners" in told
    assert told.endswith(f"earwitness agree {scores} {answers} {study}")
    told = refusal(store, study, scores)
    assert told.endswith(f"earwitness agree {scores} {study} --db {store}")


def test_stores_named_as_files_and_studies_without_answers_are_told(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, _ = files
    path = study(sounds(tmp_path), "acr", "rest_minutes: 0\n")
    told = refusal(scores, path)
    assert told.startswith(
        f"{path} is a study file and contains no answers — name a file of answers"
    )
    assert "--db" in told
    store = path.parent / "study.db"
    store.write_bytes(b"SQLite format 3\0 and more")
    assert f"the database next to it, use --db {store}" in refusal(scores, path)
    assert refusal(scores, path, store) == f"{store} is a database — use --db {store}"
    told = refusal(scores, path, "postgresql://somewhere/study")
    assert "is the address of a database, not a file — use --db ADDRESS" in told
    done = CliRunner().invoke(group, ["study", "analyse", str(path), str(store)])
    assert f"use --db {store}" in str(done.exception)
    done = CliRunner().invoke(group, ["study", "analyse", str(path)])
    assert f"the database next to it, use --db {store}" in str(done.exception)


def test_of_several_files_of_scores_one_must_have_what_is_named(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    scores, ratings = files
    rows = [
        {"clip": one["item"], "system": one["system"], "THIRD": n % 5}
        for n, one in enumerate(score_rows(m=np.zeros((6, 7))))
    ]
    third = table(tmp_path / "third.csv", rows)
    both = (scores, ratings, "--with", third, "--score-column", "item=clip")
    printed = good(*both, "--metric", "near", "--metric", "THIRD", "--to", "csv")
    own = {row["metric"] for row in read_results(printed)[1]}
    assert own == {"near", "THIRD", ""}
    told = refusal(*both, "--metric", "third", "--metric", "near")
    assert 'no score file has a "third" column — did you mean "THIRD"?' in told
    done = run(*both[:-1], "item=clipp")
    assert f"{third}:1: item: missing column — found: THIRD, clip" in str(done.exception)


def test_votes_outside_a_rubric_are_dropped_on_request(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"item": f"i{item}", "system": f"s{system}", "listener": f"r{rater}"}
        | {name: int(rng.integers(1, 6)) for name in ("precision", "recall")}
        | dict.fromkeys(("fluency", "conciseness", "irrelevance"), 0)
        for item in range(8)
        for system in range(3)
        for rater in range(2)
    ]
    rows[0]["precision"] = 9
    keys = {(row["item"], row["system"]) for row in rows}
    scores = [{"item": i, "system": s, "m": float(rng.normal())} for i, s in sorted(keys)]
    paths = table(tmp_path / "scores.csv", scores), table(tmp_path / "ratings.csv", rows)
    refused = run(*paths)
    assert isinstance(refused.exception, InputError)
    assert "use --faults drop to treat it as blank" in str(refused.exception)
    assert "m" in good(*paths, "--faults", "drop")
