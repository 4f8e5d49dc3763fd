"""Workbooks of a study of captions: everybody's clips and captions, and nobody's name."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pytest
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.errors import InputError, UsageError
from earwitness.forms.workbooks.export import study_export_xlsx, trial_captions
from earwitness.forms.workbooks.read import read_workbook
from earwitness.ratings.rubric import thumbs
from earwitness.studies.pages import counted_trials
from helpers.caption_study import AUTHORS, CLIPS, STUDY, captioned, designed
from helpers.study_listener import sounds, study

WEB = "https://example.org/get?name={file}"


def test_every_rater_gets_their_plan_in_two_flavours(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s")
    written = study_export_xlsx(path, tmp_path / "out", web=WEB)
    assert [one.name for one in written][:3] == ["P1_local.xlsx", "P1_web.xlsx", "P2_local.xlsx"]
    made = designed(path)
    for plan in made.plans:
        found = read_workbook(tmp_path / "out" / f"P{plan.listener}_web.xlsx")
        assert (found.rater, found.listener) == (f"P{plan.listener}", plan.listener)
        assert (found.study, found.digest) == ("Captions", made.study.digest)
        trials = counted_trials(plan).values()
        assert len(trials) == CLIPS
        assert [(row.record, row.caption) for row in found.rows] == [
            (trial.item, one) for trial in trials for one in trial_captions(made.study, trial)
        ]


def test_the_name_of_a_dataset_stands_above_its_clips(tmp_path: Path) -> None:
    [path] = study_export_xlsx(captioned(tmp_path / "s"), tmp_path / "out", listener="2")
    found = read_workbook(path)
    assert {(row.record, row.dataset) for row in found.rows} == {
        (f"c{n}", "street" if n % 3 else "park") for n in range(CLIPS)
    }
    sheet = openpyxl.load_workbook(path)["Assessment"]
    heads = [row for row in range(2, sheet.max_row + 1) if sheet[f"D{row}"].value is None]
    assert [sheet[f"A{row}"].value for row in heads] in (["park", "street"], ["street", "park"])
    assert {one.kind for one in found.findings} == {"unrated"}  # headings are no news


def test_nothing_in_a_workbook_says_who_wrote_a_caption(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s", STUDY + "training: 1\n", clips=8)
    path.write_text(path.read_text().replace("sessions: 2", "clips: 6"))
    for one in study_export_xlsx(path, tmp_path / "out", web=WEB):
        with ZipFile(one) as parts:
            texts = [(name, parts.read(name)) for name in parts.namelist()]
        assert not any(
            who.encode() in name.encode() + text for who in AUTHORS for name, text in texts
        )


def test_links_go_to_the_file_of_the_clip(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s")
    local, web = study_export_xlsx(path, tmp_path / "out", local="my clips", web=WEB, listener="1")
    for file, link in ((local, "my%20clips\\{}.wav"), (web, WEB.replace("{file}", "{}.wav"))):
        sheet = openpyxl.load_workbook(file)["Assessment"]
        links = {cell.value: cell.hyperlink.target for cell in sheet["B"] if cell.hyperlink}
        assert links == {f"c{n}": link.format(f"c{n}") for n in range(CLIPS)}


def test_the_clips_are_copied_beside_the_workbooks(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s")
    study_export_xlsx(path, tmp_path / "out", listener="1")
    names = [f"c{n}.wav" for n in range(CLIPS)]
    copied = sorted((tmp_path / "out" / "clips").iterdir())
    assert [one.name for one in copied] == sorted(names)
    assert copied[0].read_bytes() == next((tmp_path / "s").rglob("c0.wav")).read_bytes()
    for number, local in enumerate(("../elsewhere", "", str(tmp_path / "s"))):
        study_export_xlsx(path, tmp_path / f"out{number}", local=local, web=WEB, listener="1")
        assert all(one.suffix == ".xlsx" for one in (tmp_path / f"out{number}").iterdir())


def test_clips_of_several_folders_keep_the_path_below_the_shared_one(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s", clips=2)
    table = tmp_path / "s" / "clips.csv"
    rows = ["name,dataset,file.zora,file.quill"]
    rows += [f"c{n},park,clips/{n}/same.wav,clips/{n}/same.wav" for n in range(2)]
    table.write_text("\n".join(rows) + "\n")
    for n in range(2):
        (tmp_path / "s" / "clips" / str(n)).mkdir()
        (tmp_path / "s" / "clips" / f"c{n}.wav").rename(tmp_path / "s" / f"clips/{n}/same.wav")
    [one, *_] = study_export_xlsx(path, tmp_path / "out")
    sheet = openpyxl.load_workbook(one)["Assessment"]
    links = {cell.value: cell.hyperlink.target for cell in sheet["B"] if cell.hyperlink}
    assert links == {"c0": "clips\\0\\same.wav", "c1": "clips\\1\\same.wav"}


OWN = """\
language: fr
rubric:
  name: plain
  title: Mots simples
  total: clarity + slips
  dimensions:
    - {name: clarity, title: Clarté, low: 0, high: 10, step: 0.5}
    - {name: slips, title: Fautes, low: -1, high: 0, step: 0.25, role: penalty}
  examples:
    - {caption: Un oiseau., values: {clarity: 9.5, slips: -0.25}, comment: Bien dit.}
"""


def test_the_language_and_the_rubric_are_those_of_the_study(tmp_path: Path) -> None:
    text = STUDY.replace(", synthesised: true", "")
    path = captioned(tmp_path / "s", text + OWN)
    [one, *_] = study_export_xlsx(path, tmp_path / "out")
    made = openpyxl.load_workbook(one)
    heads = [cell.value for cell in made["Assessment"][1]]
    assert heads[:6] == ["Nº", "Extrait", "Lettre", "Description", "Clarté", "Fautes"]
    assert heads[6:] == ["Commentaires", "key"]  # nobody asks whether clips are synthesised
    said = [cell.value for row in made["Example"] for cell in row]
    assert {"Mots simples", "Un oiseau.", "Bien dit.", 9.5} <= {*said}


def test_examples_of_thumbs_come_along(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s", STUDY + "language: fr\n")
    [one, *_] = study_export_xlsx(path, tmp_path / "out")
    said = [cell.value for row in openpyxl.load_workbook(one)["Example"] for cell in row]
    assert {example.caption for example in thumbs("fr").examples} <= {*said}


def test_captions_with_the_same_words_are_refused_with_clip_and_authors(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s")
    table = tmp_path / "s" / "captions.csv"
    table.write_text(table.read_text().replace("Sound 3, as 1 ", "Sound 3,  as 0 "))
    with pytest.raises(
        InputError, match=r"quill and zora have the same caption.*item \"c3\""
    ) as told:
        study_export_xlsx(path, tmp_path / "out")
    assert [one.item for one in told.value.problems] == ["c3"]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"listener": "3-9"}, "unknown listener 5 — known: 1 to 4"),
        ({"listener": "1,x"}, '"x" is not a number'),
        ({"listener": "3-1"}, "not an ascending range"),
        ({"rename": "{flavour}.xlsx"}, "two files would have the same name"),
        ({"local": ""}, "no folder and no address"),
        ({"web": "clips"}, "must start with https"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, how: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        study_export_xlsx(captioned(tmp_path / "s"), tmp_path / "out", **how)
    assert not (tmp_path / "out").exists()


def test_studies_of_sounds_have_no_workbooks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="this study rates sounds"):
        study_export_xlsx(study(sounds(tmp_path), "acr"), tmp_path / "out")


def test_the_shell_names_files_by_the_number_of_the_listener(tmp_path: Path) -> None:
    path, out = captioned(tmp_path / "s"), tmp_path / "out"
    told = ["study", "export-xlsx", str(path), "-o", str(out), "--listener", "2,4"]
    done = CliRunner().invoke(group, [*told, "--rename", "rater {n}.xlsx"])
    assert (done.exit_code, done.stderr) == (
        0,
        f"wrote 2 workbooks into {out}\n"
        f"send {out / 'clips'} together with the workbooks: it has the clips\n",
    )
    assert sorted(one.name for one in out.iterdir()) == ["clips", "rater 2.xlsx", "rater 4.xlsx"]


def test_the_same_study_gives_the_same_bytes(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s")
    one, other = (study_export_xlsx(path, tmp_path / name, listener="1")[0] for name in "ab")
    assert one.read_bytes() == other.read_bytes()
    assert openpyxl.load_workbook(io.BytesIO(one.read_bytes()))["Study"].sheet_state == "veryHidden"
