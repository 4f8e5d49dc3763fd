"""What each listener hears, as files: written, read back, and run as they are."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.errors import InputError
from earwitness.studies.design.plan import count_minutes
from earwitness.studies.design.report import study_design, study_render, study_write
from earwitness.studies.file import listener_rows
from earwitness.studies.file.listener_rows import playlist_rows
from earwitness.studies.file.reader import read_study
from earwitness.studies.study import Design
from earwitness.studies.trials import KINDS
from helpers.study_files import sound

STUDY = """\
title: Rows
systems: [C0, C1, C2]
material: clips.csv
anchors: there/ref
training: 2
listeners: 4
panels: 2
blocks:
  - kind: p835
    clips: 5
    sessions: 2
"""
GIVEN = "\n".join(line for line in STUDY.splitlines() if "listeners" not in line) + "\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    lines = ["name,seconds,place", *(f"clip{n},4.5,{'ab'[n % 2]}" for n in range(14))]
    (tmp_path / "clips.csv").write_text("\n".join(lines) + "\n")
    for name in ("i01_f1", "i02_m1"):
        sound(tmp_path / "there" / "ref" / f"{name}.wav")
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


@pytest.fixture
def written(study: Path) -> Design:
    made = study_design(study)
    study_write(made, study.parent / "design")
    study.write_text(GIVEN + "rows: design\n")
    return made


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_files_of_a_design_are_those_of_the_published_test(study: Path, written: Design) -> None:
    folder = study.parent / "design"
    for plan in written.plans:
        rows = table(folder / "csv" / f"subject_{plan.listener}.csv")
        assert list(rows[0]) == ["subset", "session", "file", "scale"]
        assert len(rows) == (2 + 2 + 5 * 3) * 3  # practice, anchors, clips × systems; scales
        same = json.loads((folder / "json" / f"subject_{plan.listener}.json").read_text())
        assert [{key: str(value) for key, value in row.items()} for row in same] == rows
        anchors = {row["file"] for row in rows if row["file"].startswith("there/ref/")}
        assert anchors == {"there/ref/i01_f1.wav", "there/ref/i02_m1.wav"}
        assert {row["session"] for row in rows if row["file"] in anchors} == {"0"}
        heard = {Path(row["file"]).stem for row in rows if row["session"] != "0"}
        subset = table(folder / f"samples_subset_{plan.panel}.csv")
        assert heard == {row["name"] for row in subset}
    assert [row["name"] for row in table(folder / "samples_all.csv")] == [
        f"clip{n}" for n in range(14)
    ]


@pytest.mark.parametrize("kept", ["csv", "json"])
def test_files_are_read_back_as_they_were_written(study: Path, written: Design, kept: str) -> None:
    other = {"csv": "json", "json": "csv"}[kept]
    for path in (study.parent / "design" / other).iterdir():
        path.unlink()
    again = study_design(study)
    assert again.plans == written.plans
    assert again.study.listeners == 4
    assert again.study.panels == 2


def test_a_table_that_was_written_can_be_read(study: Path, written: Design) -> None:
    study.write_text(STUDY.replace("clips.csv", "design/samples_all.csv"))
    assert study_design(study).plans == written.plans


def test_tables_of_subsets_are_read_and_must_agree(study: Path, written: Design) -> None:
    folder = study.parent / "design"
    for number, subset in enumerate(written.subsets[0], 1):
        text = GIVEN.replace("clips.csv", f"design/samples_subset_{number}.csv")
        study.write_text(text.replace("panels: 2", "listeners: 1").replace("training: 2\n", ""))
        assert {clip.name for clip in read_study(study).material} == set(subset)
    study.write_text(GIVEN + "rows: design\n")
    table = folder / "samples_subset_1.csv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join(lines[:-1]) + "\n")
    name = lines[-1].split(",")[0]
    with pytest.raises(InputError, match=f'listener 1 hears "{name}", which is not in the subset'):
        read_study(study)


def test_rows_made_elsewhere_run_row_by_row_as_they_are(study: Path) -> None:
    rows = [
        ("1", "0", "there/ref/i02_m1.wav", "OVRL"),
        ("1", "1", "C1/clip3.wav", "BAK"),
        ("1", "1", "C1/clip3.wav", "OVRL"),
        ("1", "1", "C1/clip3.wav", "OVRL"),  # the same again
        ("1", "1", "C0/clip3.wav", "SIG"),
        ("1", "1", "C1/clip3.wav", "SIG"),
        ("1", "2", "C1/clip3.wav", "BAK"),
    ]
    folder = study.parent / "config_files"
    folder.mkdir()
    lines = ["subset,session,file,scale", *map(",".join, rows)]
    (folder / "subject_07.csv").write_text("\n".join(lines) + "\n")
    study.write_text(GIVEN + "rows: config_files\n")
    found = read_study(study)
    [plan] = found.plans
    assert plan.listener == 7
    assert [trial.scales for trial in plan.sessions[0]] == [
        ("BAK", "OVRL"),
        ("OVRL",),
        ("SIG",),
        ("SIG",),
    ]
    assert [tuple(map(str, row.values())) for row in playlist_rows(found, plan)] == rows


# UDASE-CHiME2023/listening-test-config: generate_config_files.py, customize_json.py, metadata


def test_playlists_of_the_udase_task_are_read_as_they_are(study: Path) -> None:
    rows = [(0, "data/C1/clip3.wav", "BAK"), (1, "data/c1/clip3.wav", "OVRL")]
    folder = study.parent / "config_files"
    (folder / "csv").mkdir(parents=True)
    lines = [",subset,session,file,scale", *(f"{n},1,1,{file},{scale}" for n, file, scale in rows)]
    (folder / "csv" / "subject_1.csv").write_text("\n".join(lines) + "\n")
    study.write_text(GIVEN + "rows: config_files\n")
    [[trial]] = read_study(study).plans[0].sessions
    assert (trial.item, trial.systems) == ("clip3", ("C1",))
    entries = [
        {"subset": 1, "session": 1, "file": file, "scale": scale, "end_experiment": "false"}
        for _, file, scale in rows
    ]
    end = {**entries[-1], "file": "null", "scale": "null", "end_experiment": "true"}
    (folder / "modified_json").mkdir()
    text = "all_trials = " + json.dumps([*entries, end], indent=1)
    (folder / "modified_json" / "subject_1.json").write_text(text)
    study.write_text(GIVEN + "rows: config_files/modified_json\n")
    assert read_study(study).plans[0].sessions == ((trial,),)


def test_clips_of_the_udase_task_are_read_as_they_are(study: Path) -> None:
    head = ",wavfile,duration,sex,session,location,transcription\n"
    row = '61,S01_P04_13_output.wav,4.99,FM,S01,dining,"(P01) Or ""uh"", where?"\n'
    (study.parent / "samples_subset_1.csv").write_text(head + row)
    text = STUDY.replace("clips.csv", "samples_subset_1.csv").replace("clips: 5", "clips: 1")
    text = text.replace("sessions: 2", "sessions: 1")
    study.write_text(text.replace("panels: 2", "panels: 1").replace("training: 2", "training: 0"))
    [clip] = read_study(study).material
    assert (clip.name, clip.seconds) == ("S01_P04_13_output", 4.99)
    assert clip.covariates["location"] == "dining"


def test_few_unknown_files_are_compared_with_all_files(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = []

    def search(name: str, _names: object) -> str:
        searched.append(name)
        return "look at the folder"

    monkeypatch.setattr(listener_rows, "nearest", search)
    folder = study.parent / "rows"
    folder.mkdir()
    rows = [f"1,1,D{n % 100}/clip.wav,{scale}" for n in range(200) for scale in ("SIG", "BAK")]
    text = "\n".join(["subset,session,file,scale", *rows]) + "\n"
    for listener in (1, 2):
        (folder / f"subject_{listener}.csv").write_text(text)
    study.write_text(GIVEN + "rows: rows\n")
    with pytest.raises(InputError) as error:
        read_study(study)
    assert searched == [f"D{n}/clip.wav" for n in range(20)]
    assert str(error.value).splitlines()[-2:] == [
        "  … and 790 more like this",
        "800 problems; nothing was done",
    ]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("1,1,C9/clip1.wav,SIG", 'subject_1.csv:3: file: "C9/clip1.wav" is not part of the study'),
        ("1,1,C1/clip99.wav,SIG", 'file: "C1/clip99.wav" is not part of the study'),
        ("1,1,C1/clip1.wav,SIGH", 'scale: unknown scale "SIGH" — did you mean "SIG"?'),
        ("1,one,C1/clip1.wav,SIG", "session: must be a whole number of at least 0"),
        ("2,1,C1/clip1.wav,SIG", "subset: got subset 2, but earlier rows have 1"),
        ("1,1,there/ref/i01_f1.wav,SIG", "file: anchors must be in session 0"),
        ("1,1,C1/clip1.wav", "needs the columns subset, session, file, scale"),
    ],
)
def test_bad_rows_are_named(study: Path, row: str, told: str) -> None:
    folder = study.parent / "rows"
    folder.mkdir()
    (folder / "subject_1.csv").write_text(
        f"subset,session,file,scale\n1,1,C0/clip0.wav,SIG\n{row}\n"
    )
    study.write_text(GIVEN + "rows: rows\n")
    with pytest.raises(InputError) as error:
        read_study(study)
    assert told in str(error.value)


def test_sessions_that_come_back_are_named(study: Path, written: Design) -> None:
    path = study.parent / "design" / "csv" / "subject_1.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[20]]) + "\n")
    with pytest.raises(InputError, match="got session 1, expected session 3"):
        read_study(study)
    assert written.plans


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("subject_1.csv", "", "subject_1.csv:1: has no rows"),
        ("subject_1.csv", "subset,session,file,scale\n", "subject_1.csv:1: has no rows"),
        ("subject_1.json", "[]", "has no rows"),
        ("subject_1.json", "[" * 100_000, "cannot be read"),
        ("subject_1.json", '{"a": 1}', "must be a list of rows"),
        ("subject_5_v2.csv", "x", "file name must contain exactly one number"),
        ("s1.csv", "subset,session,file,scale\n1,0,C0/clip0.wav,SIG\n", "session 1 is missing"),
        (
            "s1.csv",
            "subset,session,file,scale\n1,3,C0/clip0.wav,SIG\n",
            "got session 3, expected session 1",
        ),
        (
            "s1.csv",
            "subset,session,file,scale\n7,1,C0/clip0.wav,SIG\n",
            "no listener hears subset 1",
        ),
        ("s1.csv", "subset,session,file,scale\n99999999,1,C0/clip0.wav,SIG\n", "no listener hears"),
        (
            "s1.csv",
            "subset,session,file,scale\n1,0,zzz.wav,SIG\n",
            '"zzz.wav" is not part of the study',
        ),
        (
            "s1.json",
            '[{"subset": 1, "session": 0, "file": 5, "scale": "SIG"}]',
            "file: must be text, got 5",
        ),
    ],
)
def test_files_of_rows_that_make_no_sense_are_named(
    study: Path, name: str, text: str, told: str
) -> None:
    folder = study.parent / "rows"
    folder.mkdir()
    (folder / name).write_text(text)
    study.write_text(GIVEN + "rows: rows\n")
    with pytest.raises(InputError) as error:
        read_study(study)
    assert told in str(error.value)


def test_a_list_that_says_otherwise_than_the_table_is_named(study: Path, written: Design) -> None:
    path = study.parent / "design" / "json" / "subject_2.json"
    path.write_text(path.read_text().replace("C0/", "C1/", 1))
    with pytest.raises(InputError, match=r"subject_2\.json: differs from subject_2\.csv"):
        read_study(study)
    assert written.plans


def test_rows_of_several_blocks_are_read_back(study: Path) -> None:
    text = STUDY.replace("anchors: there/ref\n", "") + "  - kind: ab\n    clips: 3\n"
    study.write_text(text)
    made = study_design(study)
    study_write(made, study.parent / "design")
    study.write_text(text.replace("listeners: 4\n", "") + "rows: design\n")
    again = study_design(study)
    assert again.plans == made.plans
    assert [sorted(own) for block in again.subsets for own in block] == [
        sorted(own) for block in made.subsets for own in block
    ]
    assert study_render(again)


def test_two_files_of_one_listener_are_named(study: Path, written: Design) -> None:
    folder = study.parent / "design" / "csv"
    (folder / "subject_01.csv").write_text((folder / "subject_1.csv").read_text())
    with pytest.raises(InputError, match=r"same listener as subject_01\.csv"):
        read_study(study)
    assert written.plans


@pytest.mark.parametrize(
    "kind",
    [name for name, kind in KINDS.items() if not kind.captioned and not kind.transcribed],
)
def test_designs_of_every_kind_are_read_back_as_they_were_written(study: Path, kind: str) -> None:
    text = STUDY.replace("anchors: there/ref\n", "reference: zero\n").replace("p835", kind)
    lines = ["name,seconds,file.C1", *(f"clip{n},4.5,some where/{n}.wav" for n in range(14))]
    (study.parent / "clips.csv").write_text("\n".join(lines) + "\n")
    study.write_text(text)
    made = study_design(study)
    study_write(made, study.parent / "design")
    study.write_text(text.replace("listeners: 4\n", "") + "rows: design\n")
    again = study_design(study)
    assert again.plans == made.plans


def test_the_plan_of_rows_is_what_the_rows_say(study: Path) -> None:
    folder = study.parent / "rows"
    folder.mkdir()
    rows = [f"1,{session},C0/clip{session}.wav,SIG" for session in (1, 2, 3)]
    (folder / "1.csv").write_text("\n".join(["subset,session,file,scale", *rows]) + "\n")
    study.write_text(GIVEN + "rows: rows\n")
    found = read_study(study)
    [block] = found.blocks
    assert (block.clips, block.sessions) == (3, 3)
    steps = {step.what: step.minutes for step in count_minutes(found)}
    # three ratings of (4.5 s + 4 s), two rests of 5 min
    assert steps["total"] == pytest.approx(3 * 8.5 / 60 + 10)


def test_a_folder_without_rows_is_named(study: Path) -> None:
    study.write_text(GIVEN + "rows: there\n")
    with pytest.raises(InputError, match="there: contains no"):
        read_study(study)


def test_a_design_made_elsewhere_is_checked_like_our_own(study: Path, written: Design) -> None:
    done = CliRunner().invoke(group, ["study", "check", str(study), "--no-audio"])
    assert done.exit_code == 0, done.output
    assert "times a system directly follows itself" in done.stdout
    assert written.plans
