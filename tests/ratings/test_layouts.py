"""Tables of other tools for listening tests, in the layout that the code of each tool writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from earwitness.core import Key, Rating
from earwitness.errors import InputError, UsageError
from earwitness.ratings.names import KnownNames
from earwitness.ratings.reader import RatingsTable, read_ratings
from earwitness.studies.trials.single import P835

P835_LIMITS = {scale.name: scale for scale in P835().scales}
Votes = list[tuple[str, str, int | str, str, float]]


def table(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def votes(found: RatingsTable) -> Votes:
    """Item, system, listener, scale and value of every rating."""
    return [
        (one.key.item, one.key.system, one.listener, one.scale, one.value) for one in found.ratings
    ]


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        read_ratings(path, **options)
    return str(error.value).replace(f"{path}:", "")


# UDASE-CHiME2023/listening-test-config: results/results_SIG.csv, checks/check_config.py

UDASE_MATRIX = """\
condition,sample,subject_1,subject_2,subject_3
C0,S21_P47_3_output.wav,4,2,nan
C1,S21_P47_3_output.wav,5,nan,3
"""
UDASE_VOTES: Votes = [
    ("S21_P47_3_output", "C0", "subject_1", "SIG", 4),
    ("S21_P47_3_output", "C0", "subject_2", "SIG", 2),
    ("S21_P47_3_output", "C1", "subject_1", "SIG", 5),
    ("S21_P47_3_output", "C1", "subject_3", "SIG", 3),
]


def test_a_matrix_of_the_udase_task_is_read_with_its_scale_in_the_file_name(
    tmp_path: Path,
) -> None:
    path = table(tmp_path, UDASE_MATRIX, "results_SIG.csv")
    found = read_ratings(path, limits=P835_LIMITS)
    assert votes(found) == UDASE_VOTES
    assert found.missing == 0
    assert found.notes == (
        'column "condition" is read as system',
        'column "sample" is read with the pattern {item}.wav',
        "the table is read as a matrix with one column per listener; use --layout plain to "
        "change this",
        "2 cells of the matrix are empty: not rated",
        "the scale is called SIG; use --constant scale=NAME to change this",
    )


def test_listeners_of_a_matrix_are_those_of_the_study(tmp_path: Path) -> None:
    path = table(tmp_path, UDASE_MATRIX.replace("output.wav", "OUTPUT.wav"), "sig.csv")
    known = KnownNames(["c0", "c1"], ["S21_P47_3_output"], [1, 2, 3], ["SIG", "BAK"])
    found = read_ratings(path, known_names=known, limits=P835_LIMITS)
    assert [one.listener for one in found.ratings] == [1, 2, 1, 3]
    assert {one.key for one in found.ratings} == {
        Key("S21_P47_3_output", "c0"),
        Key("S21_P47_3_output", "c1"),
    }
    told = "names of systems that differ from the study only in case are matched"
    assert f'{told}: "C0" is read as "c0"' in found.notes


def test_values_off_the_scale_of_a_matrix_are_told_with_their_line_and_merged(
    tmp_path: Path,
) -> None:
    rows = "".join(f"C0,s{n}.wav,0,0,nan\n" for n in range(500))
    path = table(tmp_path, UDASE_MATRIX + rows, "results_SIG.csv")
    assert refused(path, limits=P835_LIMITS).splitlines() == [
        "4: value: 0 is outside scale SIG (1 to 5 in steps of 1)",
        "  … and 999 more like this",
        "1,000 problems; nothing was read as a matrix with one column per listener",
    ]


def test_a_matrix_with_names_of_listeners_is_read_with_an_option(tmp_path: Path) -> None:
    path = table(tmp_path, "item,system,anna,ben\na,C0,4,\nb,C0,5,3\n")
    wanted = [("a", "C0", "anna", "rating", 4), ("b", "C0", "anna", "rating", 5)]
    found = read_ratings(path, layout="matrix")
    assert sorted(votes(found)) == [*wanted, ("b", "C0", "ben", "rating", 3)]
    found = read_ratings(path, layout="matrix", constants={"scale": "MOS"})
    assert {one.scale for one in found.ratings} == {"MOS"}
    assert "listener: missing column" in refused(path)  # not read as a matrix by chance
    with pytest.raises(UsageError, match='layout: unknown layout "martix" — did you mean "matrix"'):
        read_ratings(path, layout="martix")
    path = table(tmp_path, "item,system,anna\na,C0,4\n")
    assert "1: a matrix needs at least two columns" in refused(path, layout="matrix")


def test_a_matrix_with_clips_in_its_index_is_read(tmp_path: Path) -> None:
    path = table(tmp_path, ",L1,L2\nC0/a.wav,4,5\nC1/a.wav,1,2\n")
    assert votes(read_ratings(path))[:2] == [
        ("a", "C0", "L1", "rating", 4),
        ("a", "C0", "L2", "rating", 5),
    ]


def test_columns_of_scales_are_no_listeners(tmp_path: Path) -> None:
    path = table(tmp_path, "item,system,SIG,BAK\na,C0,4,5\n")
    assert "1: listener: missing column" in refused(path, limits=P835_LIMITS)
    path = table(tmp_path, "item,system,Q1,Q2\na,C0,4,5\n")
    assert "listener: missing column" in refused(path, layout="plain")


def test_a_long_table_of_the_udase_task_is_read(tmp_path: Path) -> None:
    text = "subject,condition,sample,scale,rating\n1,C0,S01_P04_13.wav,SIG,4\n"
    found = read_ratings(table(tmp_path, text))
    assert votes(found) == [("S01_P04_13", "C0", 1, "SIG", 4)]


# index columns and case


@pytest.mark.parametrize("index", ["", "Unnamed: 0"])
def test_a_leading_index_is_ignored(tmp_path: Path, index: str) -> None:
    text = f"{index},item,system,listener,MOS\n0,a,C0,x,4\n7,b,C0,x,5\n"
    found = read_ratings(table(tmp_path, text))
    assert [one.value for one in found.ratings] == [4, 5]
    assert found.notes[0] == "the first column is a row index and is ignored"
    frame = [{"Unnamed: 0": 0, "item": "a", "system": "C0", "listener": "x", "MOS": 4}]
    lines = table(tmp_path, json.dumps(frame[0]) + "\n", "ratings.jsonl")
    assert [(one.scale, one.value) for one in read_ratings(lines).ratings] == [("MOS", 4)]


def test_columns_are_found_in_any_case_if_only_one_fits(tmp_path: Path) -> None:
    text = "Item,SYSTEM,Listener,Scale,Value,Session\na,C0,x,sig,4,2\n"
    found = read_ratings(table(tmp_path, text), known_names=KnownNames(scales=["SIG"]))
    assert votes(found) == [("a", "C0", "x", "SIG", 4)]
    assert found.ratings[0].session == 2
    path = table(tmp_path, "ITEM,Item,system,listener,MOS\na,b,C0,x,4\n")
    assert '1: item: missing column — did you mean "ITEM"?' in refused(path)
    path = table(tmp_path, "item,system,listener,sig,Bak\na,C0,x,4,5\n")
    assert {one.scale for one in read_ratings(path, limits=P835_LIMITS).ratings} == {"SIG", "BAK"}


def test_systems_in_file_names_are_found_in_any_case(tmp_path: Path) -> None:
    path = table(tmp_path, "file,listener,MOS\nc1_a.wav,x,4\nDNS_a.wav,x,5\n")
    known = KnownNames(["C1", "dns", "DNS"])
    found = read_ratings(path, pattern="{system}_{item}.wav", known_names=known)
    assert [one.key for one in found.ratings] == [Key("a", "C1"), Key("a", "DNS")]


def test_a_name_that_fits_two_names_of_the_study_is_unknown(tmp_path: Path) -> None:
    path = table(tmp_path, "item,system,listener,MOS\na,DNs,x,4\n")
    assert '2: system: unknown system "DNs"' in refused(
        path, known_names=KnownNames(["dns", "DNS"])
    )


# VoiceMOS: unilight/sheet, egs/bvcc/local/data_prep.py and egs/somos/local/data_prep.py

BVCC = """\
sys64e2f,sys64e2f-utt9c183cd.wav,4,VDP1ovyrBzg8_1,{}_30-39_bZPQE7w4Zl3g_Female_Valid_1_No
sys64e2f,sys64e2f-utt9c183cd.wav,3,VDP1ovyrBzg8_2,{}_20-29_aaPQE7w4Zl3g_Male_Valid_1_No
"""


def test_listener_ratings_of_bvcc_have_no_column_names(tmp_path: Path) -> None:
    found = read_ratings(table(tmp_path, BVCC, "TRAINSET"))
    assert votes(found) == [
        ("utt9c183cd", "sys64e2f", "bZPQE7w4Zl3g", "MOS", 4),
        ("utt9c183cd", "sys64e2f", "aaPQE7w4Zl3g", "MOS", 3),
    ]
    path = table(tmp_path, BVCC.replace(",3,", ",x,"), "TRAINSET")
    assert refused(path).splitlines() == [
        '2: value: must be a number, got "x" — leave the cell empty if there is no vote',
        "1 problem; nothing was read as ratings of the VoiceMOS Challenge (BVCC)",
    ]


def test_means_of_bvcc_need_the_option_for_means(tmp_path: Path) -> None:
    text = "sys64e2f-utt9c183cd.wav,4.5\nsys64e2f-utt1c183cd.wav,3.25\n"
    path = table(tmp_path, text, "train_mos_list.txt")
    assert votes(read_ratings(path, means=True)) == [
        ("utt9c183cd", "sys64e2f", "", "MOS", 4.5),
        ("utt1c183cd", "sys64e2f", "", "MOS", 3.25),
    ]
    assert "the list has means over listeners — use --layout means" in refused(path)


@pytest.mark.parametrize("head", ["wav,listener,score", "WAV,Listener,Score", "Wav,LISTENER,SCORE"])
def test_tables_of_wav_listener_and_score_are_read_in_any_case(tmp_path: Path, head: str) -> None:
    rows = "sys64e2f-utt9c183cd.wav,x,4\nsys64e2f-utt1c1.wav,x,4\nsysa1-utt9c183cd.wav,x,4\n"
    path = table(tmp_path, f"{head}\n{rows}")
    (item, system, listener, scale, value), *_ = votes(read_ratings(path))
    assert (item, system, listener, value) == ("utt9c183cd", "sys64e2f", "x", 4)
    assert scale == head.split(",")[2]
    path = table(tmp_path, f"{head}\nC0_a.wav,x,4\n")
    found = read_ratings(path, pattern="{system}_{item}.wav")
    assert found.ratings[0].key == Key("a", "C0")
    assert "2: " in refused(path)


def test_tables_of_sheet_and_somos_are_read(tmp_path: Path) -> None:
    text = "wav_path,score,system_id,sample_id,listener_id,listener_idx\n"
    path = table(tmp_path, text + "db/wav/s1-u7.wav,4,s1,u7,{}_30-39_bZ_Female_Valid_1_No,0\n")
    assert votes(read_ratings(path)) == [("u7", "s1", "{}_30-39_bZ_Female_Valid_1_No", "MOS", 4)]
    text = "systemId,utteranceId,choice,listenerId\n"
    path = table(tmp_path, text + "015,novel_2007_0098_015.wav,4,KEXM4957\n")
    assert votes(read_ratings(path)) == [("novel_2007_0098", "015", "KEXM4957", "MOS", 4)]


# webMUSHRA: audiolabs/webMUSHRA, service/write.php and lib/webmushra/pages

SESSION = '"session_test_id",email,age,session_uuid,trial_id'


@pytest.mark.parametrize("uuid", [True, False])
def test_results_of_mushra_pages_are_read(tmp_path: Path, uuid: bool) -> None:
    text = f"""\
{SESSION},rating_stimulus,rating_score,rating_time,rating_comment
test1,a@b.c,30,u-1,trial1,reference,100,5612,
test1,a@b.c,30,u-1,trial1,C1,43,5612,"too
long"
"""
    if not uuid:
        text = text.replace(",u-1", "").replace(",session_uuid", "")
    path = table(tmp_path, text, "mushra.csv")
    options: dict[str, Any] = {} if uuid else {"columns": {"listener": "email"}}
    who = "u-1" if uuid else "a@b.c"
    found = read_ratings(path, **options)
    assert votes(found) == [
        ("trial1", "reference", who, "BASIC", 100),
        ("trial1", "C1", who, "BASIC", 43),
    ]
    assert found.notes[0] == (
        "the table is read as results of webMUSHRA (mushra.csv); use --layout plain to change this"
    )
    if not uuid:
        told = "use --column listener=NAME with a column of the questionnaire: "
        assert f'no session_uuid — {told}"email", "age"' in refused(path)


def test_groups_of_listeners_are_read_from_the_questionnaire(tmp_path: Path) -> None:
    text = f"{SESSION},rating_reference,rating_non_reference,rating_reference_score,"
    text += "rating_non_reference_score,rating_time,choice_comment\n"
    text += "test1,a@b.c,30,u-1,trial1,reference,C1,4.9,3.1,5612,\n"
    path = table(tmp_path, text.replace("session_uuid,", "").replace("u-1,", ""), "bs1116.csv")
    found = read_ratings(path, columns={"listener": "email"}, groups=["age"])
    assert votes(found) == [
        ("trial1", "reference", "a@b.c", "IMPAIRMENT", 4.9),
        ("trial1", "C1", "a@b.c", "IMPAIRMENT", 3.1),
    ]
    assert found.groups["age"].groups == {"trial1": "30"}


def test_paired_comparisons_are_read_as_choices(tmp_path: Path) -> None:
    head = "session_test_id,email,trial_id,choice_reference,choice_non_reference,choice_answer,"
    head += "choice_time,choice_comment\n"
    row = "test1,a@b.c,trial{n},reference,C1,{answer},5612,\n"
    answers = ["correct", "incorrect", "unknown"]
    text = head + "".join(row.format(n=n, answer=one) for n, one in enumerate(answers))
    found = read_ratings(table(tmp_path, text, "paired_comparison.csv"))
    assert found.ratings == [
        Rating(Key("trial0", "C1"), "BETTER", "a@b.c", 0, -1, Key("trial0", "reference")),
        Rating(Key("trial1", "C1"), "BETTER", "a@b.c", 0, 1, Key("trial1", "reference")),
    ]
    assert found.missing == 1
    path = table(tmp_path, text + row.format(n=3, answer="undecided"))
    assert [(one.scale, one.value) for one in read_ratings(path).ratings][-1] == ("PREFERENCE", 0)
    path = table(tmp_path, text + row.format(n=3, answer="yes"))
    assert '5: choice_answer: must be correct, incorrect, undecided, unknown, got "yes"' in refused(
        path
    )


def test_likert_pages_are_read(tmp_path: Path) -> None:
    head = "session_test_id,email,trial_id,"
    text = head + 'stimuli_rating,stimuli,rating_time\ntest1,a@b.c,trial1," 4 ",C1,5612\n'
    assert votes(read_ratings(table(tmp_path, text, "lms.csv"))) == [
        ("trial1", "C1", "a@b.c", "LIKERT", 4)
    ]
    text = head + "stimuli_rating1,stimuli_rating2,stimuli,rating_time\n"
    found = read_ratings(table(tmp_path, text + "test1,a@b.c,trial1,4,2,C1,5612\n", "lss.csv"))
    assert [one[3:] for one in votes(found)] == [("stimuli_rating1", 4), ("stimuli_rating2", 2)]


# pymushra: nils-werner/pymushra, pymushra/service.py and pymushra/casting.py

TRIAL: dict[str, Any] = {
    "type": "mushra",
    "id": "trial1",
    "responses": [
        {"stimulus": "C1", "score": 43.5, "time": 5612, "comment": ""},
        {"stimulus": "reference", "score": 100, "time": 12, "comment": None},
    ],
    "questionaire": {"age": 30, "uuid": "u-1"},
    "config": "configs/default.yaml",
    "testId": "test1",
    "date": "2024-01-01 10:00:00",
}
PYMUSHRA_VOTES: Votes = [
    ("trial1", "C1", "u-1", "BASIC", 43.5),
    ("trial1", "reference", "u-1", "BASIC", 100),
]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_database_of_pymushra_is_read(tmp_path: Path, indent: int | None) -> None:
    other = {**TRIAL, "type": "paired_comparison", "responses": [{"answer": "correct"}]}
    content = {"_default": {}, "test1": {"1": TRIAL, "2": other}}
    path = table(tmp_path, json.dumps(content, indent=indent), "db.json")
    found = read_ratings(path, limits={"BASIC": (0, 100, 0)})
    assert votes(found) == PYMUSHRA_VOTES
    assert 'trials of other types are ignored: "paired_comparison"' in found.notes
    path = table(tmp_path, json.dumps({**content, "test2": {"1": TRIAL}}, indent=indent))
    assert 'contains several tests: "test1", "test2" — export the results of one' in refused(path)


def test_exports_of_pymushra_are_read(tmp_path: Path) -> None:
    rows = [
        {
            "wm_id": "trial1",
            "wm_type": "mushra",
            "responses_stimulus": one["stimulus"],
            "responses_score": one["score"],
            "responses_comment": one["comment"],
            "questionaire_uuid": "u-1",
            "questionaire_age": 30,
        }
        for one in TRIAL["responses"]
    ]
    assert votes(read_ratings(table(tmp_path, json.dumps(rows), "test1.json"))) == PYMUSHRA_VOTES
    lines = [";".join(rows[0]), *(";".join(map(str, row.values())) for row in rows)]
    assert votes(read_ratings(table(tmp_path, "\n".join(lines), "test1.csv"))) == PYMUSHRA_VOTES
    text = "\n".join(lines).replace("mushra", "bs1116")
    assert 'only MUSHRA trials are read, found "bs1116"' in refused(table(tmp_path, text))


# P.808 toolkit: microsoft/P.808, src/result_parser.py


def test_votes_of_the_p808_toolkit_are_read_with_a_pattern(tmp_path: Path) -> None:
    head = "HITId,workerid,assignment_id,assignmentstatus,file,short_file_name,vote,question_type"
    row = "h,w1,a,Approved,https://x.y/clips/C1_a.wav,C1_a.wav,{vote},{scale},NoCondition\n"
    rows = row.format(vote=4, scale="MOS_SIG") + row.format(vote=3, scale="MOS_OVRL")
    path = table(tmp_path, f"{head},Unknown\n{rows}", "batch_all_votes_per_clip.csv")
    assert votes(read_ratings(path, pattern="{system}_{item}.wav", limits=P835_LIMITS)) == [
        ("a", "C1", "w1", "SIG", 4),
        ("a", "C1", "w1", "OVRL", 3),
    ]
    told = refused(path)
    assert "does not match the pattern {system}/{item}.wav" in told
    assert told.endswith("nothing was read as votes of the P.808 toolkit")


def test_means_per_clip_of_the_p808_toolkit_are_read_as_means(tmp_path: Path) -> None:
    text = "file_url,n,MOS_SIG,std_sig,95%CI_sig,short_file_name,vote_1,vote_2\n"
    text += "https://x.y/C1_a.wav,2,4.5,0.7,0.9,C1_a.wav,4,5\n"
    path = table(tmp_path, text, "batch_votes_per_clip_sig.csv")
    options: dict[str, Any] = {"pattern": "{system}_{item}.wav", "limits": P835_LIMITS}
    found = read_ratings(path, means=True, **options)
    assert votes(found) == [("a", "C1", "", "SIG", 4.5)]
    assert found.raters == {(Key("a", "C1"), "SIG"): 2}
    assert "votes per clip do not name the workers — use the file" in refused(path, **options)
    text = "file_url,n,MOS_SIG,std_sig,95%CI_sig,MOS_BAK,std_bak,95%CI_bak\n"
    text += "https://x.y/C1_a.wav,2,4.5,0.7,0.9,3.5,0.7,0.9\n"
    path = table(tmp_path, text, "batch_votes_per_clip_all-scales.csv")
    assert [one[3:] for one in votes(read_ratings(path, means=True, **options))] == [
        ("SIG", 4.5),
        ("BAK", 3.5),
    ]
    path = table(tmp_path, "condition_name,n,MOS\nC1,2,4.5\n", "batch_votes_per_cond.csv")
    assert "votes per condition have no clips" in refused(path, means=True)


# BeaqleJS: HSU-ANT/beaqlejs, js/beaqle.js (formatResults) and tools/Python/eval_mushra.py

BEAQLEJS: list[dict[str, Any]] = [
    {
        "TestID": "id1",
        "Runtime": 2500,
        "rating": {"1": 40, "Reference": 100},
        "filename": {"1": "audio/schubert_1.wav", "Reference": "audio/schubert_ref.wav"},
    },
    {"TestID": "id2"},
]
USER = {"UserName": "Anna", "UserEmail": "", "UserComment": ""}


def test_results_of_beaqlejs_are_read_with_the_name_of_the_user(tmp_path: Path) -> None:
    path = table(tmp_path, json.dumps([*BEAQLEJS, USER]), "20240101-1000_Anna0.txt")
    found = read_ratings(path)
    assert votes(found) == [
        ("id1", "1", "Anna", "BASIC", 40),
        ("id1", "Reference", "Anna", "BASIC", 100),
    ]
    path = table(tmp_path, json.dumps([*BEAQLEJS, {**USER, "UserName": ""}]), "20240101_7.txt")
    assert {one.listener for one in read_ratings(path).ratings} == {"20240101_7"}
    path = table(tmp_path, json.dumps([True, False, USER]))
    assert "results of ABX tests of BeaqleJS do not name the tests" in refused(path)
    bad = {**BEAQLEJS[0], "rating": {"1": "x"}}
    assert "nothing was read as results of BeaqleJS" in refused(table(tmp_path, json.dumps([bad])))


def test_an_array_of_ratings_is_read(tmp_path: Path) -> None:
    rows = [{"item": "a", "system": "C0", "listener": 1, "MOS": 4.5}]
    found = read_ratings(table(tmp_path, json.dumps(rows, indent=1), "ratings.json"))
    assert votes(found) == [("a", "C0", 1, "MOS", 4.5)]
    assert found.notes[0] == "the file is a JSON array; its entries are read as rows"
