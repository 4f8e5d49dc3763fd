"""Published and common layouts of ratings, each read without options for columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.analysis.results import SystemMeans
from earwitness.errors import InputError, UsageError
from earwitness.studies.agree import agree
from earwitness.studies.analyse import study_analyse
from helpers.score_tables import QUICK

SYSTEMS, ITEMS, LISTENERS = range(4), range(5), range(4)
Cell = tuple[int, int, int]


def vote(system: int, item: int, listener: int) -> int:
    return 1 + system if (item + listener) % 3 else min(5, 2 + system)


def mean(system: int, item: int) -> float:
    return sum(vote(system, item, listener) for listener in LISTENERS) / len(LISTENERS)


def cells() -> Iterator[Cell]:
    return iter(product(SYSTEMS, ITEMS, LISTENERS))


def lines(head: str, form: str) -> str:
    """A line per vote."""
    rows = [form.format(s=s, i=i, who=who, v=vote(s, i, who)) for s, i, who in cells()]
    return "\n".join([*([head] if head else []), *rows]) + "\n"


def mean_lines(head: str, form: str) -> str:
    """A line per mean over listeners."""
    rows = [form.format(s=s, i=i, m=mean(s, i)) for s, i in product(SYSTEMS, ITEMS)]
    return "\n".join([*([head] if head else []), *rows]) + "\n"


WEBMUSHRA = (
    '"session_test_id",email,age,session_uuid,trial_id,rating_stimulus,rating_score,rating_time'
)
P808 = "HITId,workerid,assignment_id,file,short_file_name,vote,question_type"
VOTES = {  # as the tools' code and the descriptions in docs/formats.md have them
    "BVCC": lines(
        "", "sysA{s},sysA{s}-utt0{i}f.wav,{v},X_{who},{{}}_30-39_L{who}_Female_Valid_1_No"
    ),
    "SHEET": lines(
        "wav_path,score,system_id,sample_id,listener_id",
        "db/wav/s{s}-u{i}.wav,{v},s{s},u{i},L{who}",
    ),
    "SOMOS": lines(
        "systemId,utteranceId,choice,listenerId", "01{s},novel_200{i}_01{s}.wav,{v},KX{who}"
    ),
    "webMUSHRA": lines(WEBMUSHRA, "t,a@b.c,30,u-{who},trial{i},C{s},{v}0,99"),
    "pymushra": lines(
        "wm_id;wm_type;responses_stimulus;responses_score;questionaire_uuid",
        "trial{i};mushra;C{s};{v}0;u-{who}",
    ),
    "P.808": lines(P808, "h,w{who},a,https://x.y/C{s}_clip{i}.wav,C{s}_clip{i}.wav,{v},MOS"),
    "UDASE": lines("subject,condition,sample,scale,rating", "{who},C{s},S0{i}_P04.wav,SIG,{v}"),
    "wav, listener": lines("wav,listener,score", "sys{s}-utt{i}.wav,L{who},{v}"),
    "folders": lines("File;Subject;Rating", "out/model{s}/clip_{i}.wav;L{who};{v}"),
}
MEANS = {
    "VoiceMOS": mean_lines("", "sysA{s}-utt0{i}f.wav,{m}"),
    "SOMOS": mean_lines("utteranceId,mean", "novel_200{i}_01{s}.wav,{m}"),
    "P.808": mean_lines(
        "file_url,n,MOS,std,95%CI,short_file_name",
        "https://x.y/C{s}_clip{i}.wav,4,{m},0.5,0.4,C{s}_clip{i}.wav",
    ),
    "plain": mean_lines("filename,MOS,MOS_std", "p0{i}_model{s}.wav,{m},0.5"),
}


def systems(path: Path) -> list[SystemMeans]:
    """The means of all systems on the only scale."""
    [scale] = study_analyse(path, mixed=False).scales
    return [*scale.systems.values()]


def system_means(path: Path) -> list[float]:
    return sorted(system.mean.value for system in systems(path))


@pytest.mark.parametrize("name", VOTES)
def test_votes_are_read_without_options(tmp_path: Path, name: str) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(VOTES[name], encoding="utf-8")
    factor = 10 if "MUSHRA" in name.upper() else 1
    by_hand = [np.mean([vote(s, i, who) for i, who in product(ITEMS, LISTENERS)]) for s in SYSTEMS]
    assert system_means(path) == pytest.approx([factor * value for value in by_hand])


@pytest.mark.parametrize("name", MEANS)
def test_means_are_read_without_options(tmp_path: Path, name: str) -> None:
    path = tmp_path / "means.txt"
    path.write_text(MEANS[name], encoding="utf-8")
    by_hand = [np.mean([mean(s, i) for i in ITEMS]) for s in SYSTEMS]
    assert system_means(path) == pytest.approx(by_hand)


def test_a_file_per_listener_is_named_after_the_listener(tmp_path: Path) -> None:
    paths = []
    for who in LISTENERS:
        rows = [
            f"1,{1 + i // 3},C{s}/clip{i}.wav,SIG,{vote(s, i, who)}"
            for s, i in product(SYSTEMS, ITEMS)
        ]
        paths.append(tmp_path / f"subject_{who}.csv")
        paths[-1].write_text("\n".join(["subset,session,file,scale,vote", *rows]) + "\n")
    results = study_analyse(paths, mixed=False)
    assert [scale.value.name for scale in results.scales] == ["SIG"]
    assert {system.listeners for system in results.scales[0].systems.values()} == {4}
    assert any(note.startswith("files rate the same outputs") for note in results.notes)


def test_anchors_beside_the_clips_are_told_in_one_message_and_can_be_left_out(
    tmp_path: Path,
) -> None:
    clips = [f"1,1,C{s}/clip{i}.wav,SIG,{vote(s, i, 1)}" for s, i in product(SYSTEMS, ITEMS)]
    anchors = [f"1,0,i{n:02}.wav,{scale},3" for n in range(12) for scale in ("SIG", "BAK")]
    path = tmp_path / "subject_1.csv"
    path.write_text("\n".join(["subset,session,file,scale,vote", *anchors, *clips]) + "\n")
    with pytest.raises(InputError) as refusal:
        study_analyse(path)
    (problem,) = refusal.value.problems
    assert '12 of 32 names do not match the pattern {system}/{item}.wav, such as "i00.wav"' in str(
        problem
    )
    assert "--where session!=0" in problem.remedy
    (scale,) = study_analyse(path, where="session!=0", mixed=False).scales
    assert {system.votes for system in scale.systems.values()} == {len(ITEMS)}


# matrices of numbers


def matrix(*, rows: int = 12, columns: int = 9) -> list[list[int]]:
    """A row per stimulus and a column per listener."""
    return [[1 + (2 * r + c % 2) % 5 for c in range(columns)] for r in range(rows)]


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_matrix_of_numbers_is_read_either_way_round(
    tmp_path: Path, mark: str, is_turned: bool
) -> None:
    numbers = [list(map(str, row)) for row in matrix()]
    numbers[2][3] = "nan"
    if is_turned:
        numbers = [list(column) for column in zip(*numbers, strict=True)]
    path = tmp_path / "scores.txt"
    path.write_text("\n".join(map(mark.join, numbers)) + "\n")
    results = study_analyse(path, mixed=False)
    [system] = results.scales[0].systems.values()
    assert (system.votes, system.listeners) == (12 * 9 - 1, 9)
    sides = ("rows", "columns") if is_turned else ("columns", "rows")
    told = "read as a matrix of votes without column names: {} are listeners, {} are items"
    assert any(told.format(*sides) in note for note in results.notes)


def test_a_matrix_that_may_be_either_is_refused_with_both_options(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    numbers = [[1 + (r + c) % 5 for c in range(5)] for r in range(5)]
    path.write_text("\n".join(",".join(map(str, row)) for row in numbers))
    with pytest.raises(InputError, match="use --layout matrix if columns are listeners, --layout"):
        study_analyse(path)
    for layout in ("matrix", "transposed"):
        assert study_analyse(path, layout=layout, mixed=False).scales


def test_numbers_of_listeners_in_the_first_line_are_column_names(tmp_path: Path) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(",1,2,3\nC0/a.wav,4,5,4\nC1/a.wav,1,2,1\nC0/b.wav,4,5,3\nC1/b.wav,1,1,1\n")
    assert [system.listeners for system in systems(path)] == [3, 3]


# items of several columns, and conditions on rows


def separated(path: Path) -> Path:
    """A MUSHRA table of two experiments with tracks of two targets and two metrics."""
    rows = [
        f"{experiment},{target},{track},model{s},{who},{20 * s + 3 * who + n},{s + track / 10},"
        f"{9 - s}"
        for n, experiment in enumerate(("quality", "interference"))
        for target, track, s, who in product(("vocals", "drums"), range(3), range(4), range(5))
    ]
    head = "experiment,target,track_id,system,listener,score,SDR,SIR"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_items_may_have_several_columns_and_rows_conditions(tmp_path: Path) -> None:
    path = separated(tmp_path / "mushra.csv")
    columns = {"item": "target,track_id"}
    how: dict[str, Any] = {"columns": columns, "where": "experiment=quality"}
    found = agree(path, **QUICK, **how)
    [scale] = found.scales
    assert (scale.scale.name, scale.items, scale.raters, scale.votes) == ("score", 6, 5, 120)
    assert [metric.metric for metric in scale.metrics] == ["SDR", "SIR"]
    assert "experiment=quality holds for 120 of 240 rows, which are kept" in found.notes
    assert "|where(experiment=quality)" in found.signature
    results = study_analyse(path, scales=["score=0:100"], mixed=False, **how)
    assert "|where(experiment=quality)" in results.signature
    assert {system.votes for system in results.scales[0].systems.values()} == {30}


def test_conditions_without_rows_or_columns_are_refused(tmp_path: Path) -> None:
    path = separated(tmp_path / "mushra.csv")
    columns = {"item": "target,track_id"}
    with pytest.raises(UsageError, match='values of experiment are "interference", "quality"'):
        study_analyse(path, columns=columns, where="experiment=qality")
    with pytest.raises(UsageError, match='no table has a column "experimnt" — did you mean'):
        study_analyse(path, columns=columns, where="experimnt=quality")
    with pytest.raises(UsageError, match="columns: scale must be one column, got target,track_id"):
        study_analyse(path, columns={"scale": "target,track_id"})
