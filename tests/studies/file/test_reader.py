"""The study file, and what is written from it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.errors import InputError, UsageError
from earwitness.io.schema import fill_defaults
from earwitness.studies.design.report import study_design, study_render, study_write
from earwitness.studies.file.reader import read_study, study_texts
from earwitness.studies.file.schema import StudyKeys, check_study_file, study_schema
from earwitness.studies.template import starting_file
from earwitness.studies.trials import KINDS
from earwitness.studies.wording import wording
from helpers.samples import write_lines
from helpers.study_files import sound

AUTHORS = ("person", "model")
FILE = """\
title: Denoising
seed: 3
systems: [C0, C1, C2]
material: clips.csv
balance:
  categories: [place]
  numbers: [snr]
listeners: 4
panels: 2
blocks:
  - kind: p835
    clips: 6
    sessions: 2
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    lines = ["name,seconds,place,snr"]
    lines += [f"clip{n},{4 + n / 10},{'kitchen' if n % 2 else 'hall'},{n}" for n in range(14)]
    (tmp_path / "clips.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "study.yaml").write_text(FILE)
    return tmp_path / "study.yaml"


def problems(study: Path) -> str:
    with pytest.raises(InputError) as error:
        read_study(study)
    return str(error.value).replace(f"{study.parent}/", "")


def test_a_study_is_read_with_defaults_and_a_digest(study: Path) -> None:
    found = read_study(study)
    [block] = found.blocks
    assert (found.title, block.kind, found.systems) == ("Denoising", "p835", ("C0", "C1", "C2"))
    assert (found.rest_minutes, block.seconds, block.heard) == (5, 4, 3)
    assert found.material[3].covariates == {"place": "kitchen", "snr": 3.0}
    study.write_text("# a comment\n" + FILE)
    assert read_study(study).digest == found.digest
    study.write_text(FILE.replace("seed: 3", "seed: 4"))
    assert read_study(study).digest != found.digest


def test_the_digest_does_not_depend_on_the_order_of_keys(study: Path) -> None:
    digest = read_study(study).digest
    study.write_text(FILE.replace("seed: 3\n", "") + "seed: 3\n")
    assert read_study(study).digest == digest
    same = ["rest_minutes: 5.0\n", "wordings: {pages: {}}\n", "language: en\n"]
    for text in [*(FILE + more for more in same), FILE.replace("clips.csv", "./clips.csv")]:
        study.write_text(text)
        assert read_study(study).digest == digest, text
    for more in (
        "heard: 3",
        "rating_seconds: 4.0",
        "parameters: {plays: 1}",
        "systems: [C0, C1, C2]",
    ):
        study.write_text(FILE.replace("clips: 6", f"clips: 6\n    {more}"))
        assert read_study(study).digest == digest, more


def test_a_new_wording_does_not_change_the_digest(study: Path) -> None:
    text = FILE + 'forms: {before: [{name: age, prompt: "Age?"}]}\nconsent: I agree.\n'
    study.write_text(text)
    found = read_study(study)
    for old, new in (
        ("title: Denoising", "title: Denoizing"),
        ("Age?", "Your age?"),
        ("I agree.", "I do."),
        ("seed: 3", "seed: 3\nlanguage: fr"),
        ("seed: 3", "seed: 3\ninstructions: Listen."),
        ("seed: 3", "seed: 3\nwordings: {pages: {end: Done}}"),
    ):
        study.write_text(text.replace(old, new))
        other = read_study(study)
        assert other.digest == found.digest, new
        assert study_texts(other) != study_texts(found), new
    study.write_text(text.replace("name: age", "name: years"))
    assert read_study(study).digest != found.digest


def test_one_more_listener_does_not_change_the_digest_but_another_plan_does(study: Path) -> None:
    digest = read_study(study).digest
    study.write_text(FILE.replace("listeners: 4", "listeners: 5"))
    assert read_study(study).digest == digest
    for old, new in (("clips: 6", "clips: 5"), ("p835", "acr"), ("C2]", "C3]"), ("[snr]", "[]")):
        study.write_text(FILE.replace(old, new))
        assert read_study(study).digest != digest, new
    study.write_text(FILE)
    run = CliRunner()
    shown = run.invoke(group, ["study", "check", str(study), "--minutes", "12"]).stdout
    assert digest not in shown
    assert digest in run.invoke(group, ["study", "check", str(study)]).stdout


def test_plain_words_and_numbers_stay_what_was_written(study: Path) -> None:
    study.write_text(FILE.replace("[C0, C1, C2]", "[010, 12:30, 1_0, yes, 2026-01-01, 7]"))
    systems = ("010", "12:30", "1_0", "yes", "2026-01-01", "7")
    assert read_study(study).systems == systems
    study.write_text(FILE.replace("seed: 3", "seed: 20260101"))
    assert read_study(study).seed == 20260101


def test_categories_stay_what_was_written(study: Path) -> None:
    lines = ["name,seconds,place,snr"]
    lines += [f"c{n},4,{place},1" for n, place in enumerate(["01", "1", "1_0", "10"] * 4)]
    (study.parent / "clips.csv").write_text("\n".join(lines) + "\n")
    found = study_design(study)
    assert {clip.covariates["place"] for clip in found.study.material} == {"01", "1", "1_0", "10"}
    study_write(found, study.parent / "d")
    written = (study.parent / "d" / "samples_all.csv").read_text().splitlines()
    assert written[1] == "c0,4.0,01,1.0"


def test_all_problems_are_told_at_once_with_their_lines(study: Path) -> None:
    text = FILE.replace("panels", "pannels").replace("seed: 3", "seed: -3")
    study.write_text(text.replace("kind: p835", "kind: p853").replace("title: Denoising\n", ""))
    (study.parent / "clips.csv").write_text("name,seconds\na,long\n")
    found = problems(study)
    assert 'study.yaml:10: blocks[0].kind: unknown kind "p853" — known: ab, ' in found
    assert "study.yaml:1: seed: must be a whole number from 0 to 9," in found
    assert 'study.yaml:8: pannels: unknown field — did you mean "panels"?' in found
    assert "title: missing" in found
    assert 'clips.csv:2: seconds: must be a positive number, got "long"' in found
    assert found.endswith("5 problems; nothing was done")
    good = FILE.replace("listeners: 4", "listeners: x").replace("[place]", "[nosuch]")
    study.write_text(good.replace("title:", "titel:") + "anchors: nosuch\n")
    (study.parent / "clips.csv").write_text("name,seconds,snr\na,3,1\nb,3,1\na,3,1\n")
    found = problems(study)
    for told in (
        "listeners: must be",
        "titel: unknown",
        "title: missing",
        "nosuch: folder does not exist",
    ):
        assert told in found
    assert 'clips.csv:4: name: duplicate "a", first on line 2' in found
    assert 'the material has no column "nosuch"' in found


MORE = """\
forms:
  before:
    - {name: age, prompt: "Your age?", answer: number}
    - {name: ears, prompt: "Which ear?", answer: choice, options: [left, right]}
screening: [{rule: p808, limits: {variance: 0.2}}]
analysis: {scales: [OVRL], contrasts: [[C1, C0]], interval: mixed}
wordings: {scales: {OVRL: {prompt: "All in all:"}}}
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("clips: 6", "clips: 8", "2 panels of 8 clips need 16 clips, the material has 14"),
        ("listeners: 4", "listeners: 1", "1 listeners are too few for 2 panels"),
        ("listeners: 4\n", "", "listeners: required unless rows is set"),
        ("[place]", "[plaice]", "study.yaml:6: balance.categories[0]: the material has no column"),
        ("[snr]", "[place]", '"place" of clip0 is not a number — list it under categories'),
        ("[C0, C1, C2]", "[C0, C1, C0]", 'study.yaml:3: systems[2]: duplicate "C0"'),
        ("[C0, C1, C2]", "C0", "systems: must be a list"),
        ("sessions: 2", "sessions: 9", "more sessions than clips"),
        ("clips.csv", "clip.csv", "clip.csv: cannot be read"),
        ("material: clips.csv\n", "", "material: required unless files is set"),
        ("seed: 3", "seed: 3\nseed: 4", "study.yaml:3: seed: duplicate key — keep one"),
        ("seed: 3", f"seed: {'9' * 5000}", "study.yaml:2: seed: has too many digits — write a"),
        ("seed: 3", 'gold: "a\\0b"', "study.yaml:2: gold: contains NUL or an incomplete character"),
        ("title: Denoising", "title: [", "not YAML"),
        ("title: Denoising", "title: 5", "title: must be text, got 5"),
        ("title: Denoising", "title: &a [*a, *a]", "not YAML"),
        ("title: Denoising", "title: [2026-01-01, !!binary aGk=]", "title: must be text"),
        ("wordings: {", "wordings: {pages: {session: 'S {foo}'}, ", "wordings.pages.session: "),
        ("scales: [OVRL]", "scales: [5]", 'analysis.scales[0]: unknown scale "5"'),
        ("[C1, C0]]", "[C1, C1]]", '"C1" is compared with itself'),
        (
            "rule: p808, limits: {variance: 0.2}",
            "rule: bs1534",
            "bs1534 needs a block of kind mushra",
        ),
        ("{variance: 0.2}", "{correlation: 7}", "correlation: must be at most 1, got 7"),
        ("[left, right]", "[left, left]", 'duplicate "left"'),
        ("[place]", "[place, place]", 'balance.categories[1]: duplicate "place"'),
        (
            "seed: 3",
            "files: 'x}/{system}/{item}.wav'",
            "files: allows no braces other than {item} and {system}",
        ),
        ("seed: 3", "seed: 3\ntraining: 100", "suffice for 24 practice trials only"),
        (
            "listeners: 4",
            "listeners: 4\nreference: there/C1",
            "reference: is also listed under systems",
        ),
        (
            "clips: 6",
            "clips: 6\n    heard: 4",
            "blocks[0].heard: must be at most 3, the number of systems, got 4",
        ),
        (
            "clips: 6",
            "clips: 6\n    systems: [C0, C9]",
            'blocks[0].systems[1]: unknown system "C9"',
        ),
        (
            "clips: 6",
            "parameters: {play: 2}",
            'p835 has no parameter "play" — did you mean "plays"?',
        ),
        (
            "clips: 6",
            "parameters: {plays: -1}",
            "plays must be a whole number of at least 0, got -1",
        ),
        ("p835", "mushra", "reference: required by mushra — name a folder, such as ref"),
        ("p835", "dcr", "reference: required by dcr"),
        ("seed: 3", "reference: C1", "reference: is also listed under systems"),
        ("p835\n", "ab\n    systems: [C0]\n", "ab needs at least 2 systems"),
        ("seed: 3", "training: 3\npanels: 1", "panels: duplicate key"),
        ("clips: 6", "clips: 7\n    rating_seconds: -1", "rating_seconds: must be at least 0"),
        ("seed: 3", "files: '{item}.wav'", "files: must contain {system}"),
        (
            "seed: 3",
            "files: '{system}/{item}/{speaker}.wav'",
            "files: allows no braces other than {item} and {system}",
        ),
        ("seed: 3", "language: de", 'unknown language "de" — known: en, fr'),
        ("answer: number", "answer: digits", 'unknown answer "digits"'),
        (", options: [left, right]", "", "options: required if answer is choice"),
        ("answer: number", "options: [a, b]", "allowed only if answer is choice"),
        ("name: ears", "name: age", 'forms.before[1]: duplicate "age"'),
        ("rule: p808", "rule: p809", 'unknown rule "p809"'),
        ("variance: 0.2", "varance: 0.2", 'unknown limit — did you mean "variance"?'),
        ("scales: [OVRL]", "scales: [OVERALL]", 'analysis.scales[0]: unknown scale "OVERALL"'),
        ("[C1, C0]]", "[C1, C7]]", 'analysis.contrasts[0][1]: unknown system "C7"'),
        ("interval: mixed", "anchors: [C3]", 'analysis.anchors[0]: unknown system "C3"'),
        ("interval: mixed", "anchors: {BAC: [C1]}", 'unknown scale "BAC" — known: BAK, OVRL'),
        ("interval: mixed", "anchors: {BAK: [C3]}", 'anchors.BAK[0]: unknown system "C3"'),
        ("interval: mixed", "anchors: {BAK: C1}", "analysis.anchors.BAK: must be a list"),
        ("interval: mixed", "anchors: [C0, C1, C2]", "all systems are anchors"),
        ("interval: mixed", "test: wilcox", 'analysis.test: unknown test "wilcox"'),
        (
            "interval: mixed",
            "interval: mixed, test: wilcoxon",
            "analysis.test: wilcoxon compares listeners' mean differences, but interval mixed",
        ),
        (
            "interval: mixed",
            "interval: mixed, generalize: listeners",
            "analysis.generalize: intervals of mixed are not for other listeners on these items",
        ),
        (
            "interval: mixed",
            "generalize: items, test: wilcoxon",
            "analysis.test: wilcoxon compares listeners' mean differences, but interval mixed",
        ),
        ("interval: mixed", "level: 95", "analysis.level: must be from 0.5 to 0.9999, got 95"),
        ("scales: {OVRL:", "scales: {OVRALL:", "wordings.scales.OVRALL: unknown"),
        ('prompt: "All in all:"', "labels: [a, b]", "OVRL needs 5 labels, got 2"),
    ],
)
def test_a_mistake_is_named(study: Path, old: str, new: str, told: str) -> None:
    text = FILE + MORE
    assert old in text
    study.write_text(text.replace(old, new))
    assert told in problems(study)


def test_a_plan_generalizes_to_other_items_in_one_word(study: Path) -> None:
    for analysis, interval in (
        ("generalize: items", "mixed"),
        ("interval: two_way_bootstrap, generalize: items", "two_way_bootstrap"),
        ("generalize: listeners", "cluster_t"),
    ):
        study.write_text(f"{FILE}analysis: {{{analysis}}}\n")
        assert read_study(study).analysis.interval == interval


@pytest.mark.parametrize("anchors", ["[C1]", "[ref]", "[low, low]", "null", "5", "{a: 1}"])
def test_anchors_of_mushra_must_be_of_their_own(study: Path, anchors: str) -> None:
    text = FILE.replace("kind: p835", f"kind: mushra\n    parameters: {{anchors: {anchors}}}")
    study.write_text(text + "reference: ref\n")
    assert "blocks[0].parameters: " in problems(study)


def test_what_is_rated_beside_the_systems_can_be_analysed(study: Path) -> None:
    text = FILE.replace("p835", "bs1116") + "reference: ref\n"
    study.write_text(text + "analysis: {scales: [SDG], contrasts: [[C1, ref]]}\n")
    assert read_study(study).analysis.scales == ("SDG",)


def test_everything_that_can_be_said_is_read(study: Path) -> None:
    study.write_text(FILE + MORE)
    found = read_study(study)
    assert [one.name for one in found.before] == ["age", "ears"]
    assert found.before[1].options == ("left", "right")
    assert found.screening[0].limits == {"variance": 0.2, "correlation": 0.4}
    assert found.analysis.contrasts == (("C1", "C0"),)
    assert wording(found.language, found.wordings).prompt("OVRL") == "All in all:"


def test_anchors_are_systems_of_all_scales_or_of_one(study: Path) -> None:
    study.write_text(FILE)
    before = read_study(study)
    assert (before.analysis.test, before.analysis.anchors) == ("t", {})
    study.write_text(FILE + "analysis: {anchors: [C0, C2], test: wilcoxon}\n")
    assert read_study(study).analysis.anchors == {"": ("C0", "C2")}
    assert read_study(study).analysis.test == "wilcoxon"
    study.write_text(FILE + "analysis: {anchors: {BAK: [C0], SIG: [C1, C2]}}\n")
    found = read_study(study)
    assert found.analysis.anchors == {"BAK": ("C0",), "SIG": ("C1", "C2")}
    assert found.digest != before.digest


def test_practice_has_room_with_several_blocks_and_with_minutes(study: Path) -> None:
    two = FILE.replace("panels: 2", "panels: 1\ntraining: 2") + "  - kind: ab\n"
    study.write_text(two.replace("clips: 6", "clips: 2"))
    assert "suffice for 0 practice trials only" in problems(study)
    study.write_text(two.replace("clips: 6", "clips: 2") + "    clips: 3\n")
    assert len(study_design(study).plans[0].training) == 2
    for clips in ("", "    clips: 2\n"):  # left out: as many as there are
        text = FILE.replace("panels: 2", "panels: 1\ntraining: 5")
        study.write_text(text.replace("    clips: 6\n", clips))
        done = CliRunner().invoke(
            group, ["study", "design", str(study), "-o", f"{study}{clips}.d", "--minutes", "500"]
        )
        assert done.exit_code == 0, done.output
        rows = (Path(f"{study}{clips}.d") / "csv" / "subject_1.csv").read_text().splitlines()
        assert sum(row.split(",")[1] == "0" for row in rows) == 5 * 3
        later = [row.split(",")[2] for row in rows[1:] if row.split(",")[1] != "0"]
        heard = {file.split("/")[1] for file in later}
        assert len(heard) == 12  # of 14, since five trials of practice need two clips


def test_practice_needs_other_clips(study: Path) -> None:
    study.write_text(FILE.replace("panels: 2", "training: 2").replace("clips: 6", "clips: 14"))
    assert "training: the clips not heard later suffice for 0 practice trials only" in problems(
        study
    )


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["name,place", "a,hall"],
            "clips.csv:2: seconds: missing, and no audio file gives the duration",
        ),
        (["seconds,place", "4,hall"], 'clips.csv:1: the column "name" is missing'),
        (["name,seconds"], "clips.csv:1: contains no clips"),
        (
            ["name,seconds", "a,4", "a,5"],
            'clips.csv:3: name: duplicate "a", first on line 2 — keep one',
        ),
        (["name,seconds", "a,long"], 'clips.csv:2: seconds: must be a positive number, got "long"'),
        (["name,seconds", "a"], "clips.csv:2: needs 2 fields"),
        (
            ["name;seconds", "a;4"],
            'the column "name" is missing — separate columns with commas',
        ),
        (["name,seconds,x,x", "a,4,1,1"], 'clips.csv:1: duplicate column "x"'),
        (["name,seconds,", "a,4,1"], "clips.csv:1: column 3 has no name"),
        (["name,seconds,files", "a,4,1"], 'a column must not be named "files" — use file.SYSTEM'),
        (["name,seconds,file.Z", "a,4,z.wav"], 'file.Z: unknown system "Z"'),
        (["name,seconds", "../a,4"], 'clips.csv:2: name: must not be a path, got "../a"'),
        (["name,seconds", "\u00e9,4", "e\u0301,4"], "first on line 2"),
        (["name,seconds,snr,place", "a,4,nan,x"], '"snr" of a is not a number'),
    ],
)
def test_a_bad_table_of_clips_is_named(study: Path, lines: list[str], told: str) -> None:
    (study.parent / "clips.csv").write_text("\n".join(lines) + "\n")
    assert told in problems(study)


def test_clips_can_be_given_as_json_lines(study: Path) -> None:
    same = read_study(study)
    rows = [
        {"name": clip.name, "seconds": clip.seconds, **clip.covariates} for clip in same.material
    ]
    write_lines(study.parent / "clips.jsonl", rows)
    study.write_text(FILE.replace("clips.csv", "clips.jsonl"))
    assert read_study(study).material == same.material


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"name": "a"', "clips.jsonl:2: not JSON"),
        ("[1]", "clips.jsonl:2: must be an object"),
        ('{"seconds": 4, "place": "x"}', "clips.jsonl:2: name: must be printable text, got null"),
        ('{"name": "b", "seconds": 4}', "clips.jsonl:2: place: missing"),
        ('{"name": "b", "seconds": 4, "place": [1]}', "place: must be text or a number"),
        ('{"name": "b", "seconds": 4, "place": NaN}', "place: must be text or a number"),
        ('{"name": "b", "seconds": 4, "place": "x", "files": 5}', "files: must name a file"),
        ('{"name": "b", "seconds": 4, "place": 1' + "0" * 400 + "}", "must be text or a number"),
        (
            '{"name": "b", "seconds": 4, "place": "x", "files": {"C0": 1}}',
            "files: must name a file",
        ),
    ],
)
def test_bad_json_lines_of_clips_are_named(study: Path, line: str, told: str) -> None:
    first = '{"name": "a", "seconds": 4, "place": "x"}\n'
    (study.parent / "clips.jsonl").write_text(first + line + "\n")
    study.write_text(FILE.replace("clips.csv", "clips.jsonl"))
    assert told in problems(study)


FOLDERS = """\
title: Folders
systems: [C0, C1]
files: "{system}/{item}.wav"
reference: ref
listeners: 2
blocks:
  - kind: dcr
"""


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for system in ("C0", "C1", "ref"):
        for name in ("a", "b", "c [1]"):
            sound(tmp_path / system / f"{name}.wav", 0.5)
    (tmp_path / "study.yaml").write_text(FOLDERS)
    return tmp_path / "study.yaml"


def test_folders_say_which_clips_there_are_and_how_long(folders: Path) -> None:
    found = read_study(folders)
    assert [(clip.name, clip.seconds) for clip in found.material] == [
        ("a", 0.5),
        ("b", 0.5),
        ("c [1]", 0.5),
    ]
    assert found.blocks[0].clips == 3


def test_every_file_that_is_missing_in_a_condition_is_named(folders: Path) -> None:
    (folders.parent / "C1" / "a.wav").unlink()
    (folders.parent / "ref" / "b.wav").unlink()
    sound(folders.parent / "C1" / "d.wav")  # a name that others do not have
    found = problems(folders)
    assert 'C1/a.wav: missing, although C0 has this clip [item "a"]' in found
    assert "ref/b.wav: missing, although C0 has this clip" in found
    assert "C0/d.wav: missing, although C1 has this clip" in found
    assert "ref/d.wav: missing" in found
    assert found.endswith("4 problems; nothing was done")


def test_a_system_of_which_nothing_is_there_is_named_once(folders: Path) -> None:
    folders.write_text(FOLDERS.replace("[C0, C1]", "[C0, Enh2]"))
    (folders.parent / "enh2").mkdir()
    found = problems(folders)
    assert (
        'Enh2: no audio file of system "Enh2" was found, for example a.wav — did you mean "enh2"?'
        in found
    )
    assert found.endswith("1 problem; nothing was done")
    folders.write_text(FOLDERS.replace("kind: dcr", "kind: mushra"))
    assert 'anchor35: no audio file of system "anchor35" was found' in problems(folders)
    assert "create anchors with earwitness study anchors" in problems(folders)


def test_every_file_that_is_no_sound_is_named(folders: Path) -> None:
    (folders.parent / "C0" / "b.wav").write_bytes(b"ID3 not a wave")
    (folders.parent / "C1" / "a.wav").write_bytes(b"")
    sound(folders.parent / "ref" / "a.wav", 0)
    found = problems(folders)
    assert "C0/b.wav: not a WAV file" in found
    assert "C1/a.wav: not a WAV file" in found
    assert "ref/a.wav: contains no audio" in found


def test_files_may_be_anywhere_and_names_have_any_signs(folders: Path, tmp_path: Path) -> None:
    plain = [clip.name for clip in read_study(folders).material]
    for pattern in (f"{tmp_path}/{{system}}/{{item}}.wav", "../{system}/{item}.wav"):
        (tmp_path / "deep").mkdir(exist_ok=True)
        path = tmp_path / "deep" / "study.yaml"
        path.write_text(FOLDERS.replace("{system}/{item}.wav", pattern))
        assert [clip.name for clip in read_study(path).material] == plain
    folders.write_text(FOLDERS.replace("{system}/{item}.wav", "x**[/{system}/{item}.wav"))
    assert "no matching audio file found" in problems(folders)


def test_a_table_beside_folders_must_find_its_files(folders: Path) -> None:
    (folders.parent / "t.csv").write_text("name,place\na,hall\nx,hall\n")
    folders.write_text(FOLDERS + "material: t.csv\n")
    found = problems(folders)
    assert "t.csv:3: seconds: missing, and no audio file gives the duration" in found
    (folders.parent / "t.csv").write_text("name,place,file.C1\na,hall,C1/b.wav\n")
    study = read_study(folders)
    assert study.material[0].seconds == 0.5
    assert study.file("a", "C1") == "C1/b.wav"
    assert study.file("a", "C0") == "C0/a.wav"


def test_a_folder_that_is_there_is_left_alone(study: Path) -> None:
    with pytest.raises(UsageError, match="already exists — choose another folder"):
        study_write(study_design(study), study.parent)
    assert sorted(path.name for path in study.parent.iterdir()) == ["clips.csv", "study.yaml"]


def test_verbs_check_and_design(study: Path) -> None:
    run = CliRunner()
    checked = run.invoke(group, ["study", "check", str(study)])
    assert checked.exit_code == 0, checked.output
    assert "random shuffle" in checked.stdout
    assert " NO" not in checked.stdout
    fewer = run.invoke(group, ["study", "check", str(study), "--minutes", "12"])
    assert "clips × 3 systems × 3 scales" in fewer.stdout
    for odd in ("inf", "nan", "-3"):
        wrong = run.invoke(group, ["study", "check", str(study), "--minutes", odd])
        assert "--minutes must be greater than 0" in str(wrong.exception)
    more = run.invoke(group, ["study", "check", str(study), "--minutes", "500"])
    assert "clips per listener would fit, but only 7 are available" in more.stderr
    short = run.invoke(group, ["study", "check", str(study), "--minutes", "1"])
    assert "too short for 2 sessions" in str(short.exception)
    done = run.invoke(group, ["study", "design", str(study), "-o", str(study.parent / "d")])
    assert done.exit_code == 0, done.output
    assert "<figure>" in (study.parent / "d" / "balance.html").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_study_file_can_be_read(kind: str, study: Path) -> None:
    made = CliRunner().invoke(group, ["study", "new", kind])
    text = made.stdout.replace("clips: 32", "clips: 3").replace("listeners: 32", "listeners: 8")
    study.write_text(text.replace("sessions: 4", "sessions: 2"))
    captions = [f"clip{n},{one},Words of {n} by {one}." for n in range(14) for one in AUTHORS]
    (study.parent / "captions.csv").write_text("\n".join(["item,system,caption", *captions]))
    items = [f"clip{n}" for n in range(14)]
    write_lines(
        study.parent / "transcripts.jsonl", [{"item": i, "transcript": "a b"} for i in items]
    )
    outputs = [{"item": i, "system": s, "output": {"text": "a"}} for i in items for s in AUTHORS]
    write_lines(study.parent / "outputs.jsonl", outputs)
    found = read_study(study)
    assert found.blocks[0].kind == kind
    assert found.blocks[0].parameters.keys() == KINDS[kind].parameters().keys()
    assert study_render(study_design(found))


def test_the_published_schema_accepts_what_is_accepted_and_refuses_unknown_keys(
    study: Path,
) -> None:
    check = jsonschema.Draft202012Validator(study_schema())
    check.check_schema(study_schema())
    texts = [FILE, FILE + MORE, FOLDERS, *map(starting_file, KINDS)]
    assert [list(check.iter_errors(yaml.safe_load(text))) for text in texts] == [[]] * len(texts)
    for old, new in (("panels", "pannels"), ("seed: 3", "seed: -3"), ("p835", "p853")):
        bad = FILE.replace(old, new)
        assert list(check.iter_errors(yaml.safe_load(bad)))
        study.write_text(bad)
        problems(study)


ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    0.5,
    "",
    "a",
    " a",
    "a\n",
    [],
    ["a"],
    [1, 2],
    {},
    {"a": 1},
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every mapping or list inside a value, with each of its keys or indices."""
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield value, key
        yield from places(value[key])


def test_the_reader_accepts_of_changed_files_what_the_published_schema_accepts() -> None:
    rng = random.Random(5)
    schema = jsonschema.Draft202012Validator(study_schema())
    texts = [FILE, FILE + MORE, FOLDERS, *map(starting_file, KINDS)]
    studies = [yaml.safe_load(text) for text in texts]
    accepted = 0
    for _ in range(1000):
        study = copy.deepcopy(rng.choice(studies))
        inside, key = rng.choice(list(places(study)))
        change = rng.choice(("replace", "replace", "delete", "add"))
        if change == "replace":
            inside[key] = rng.choice(ODD_VALUES)
        elif change == "delete":
            del inside[key]
        elif isinstance(inside, dict):
            inside["nosuch"] = 1
        else:
            inside.append(rng.choice(ODD_VALUES))
        faults = list(check_study_file(study, ""))
        assert schema.is_valid(study) == (not faults), (study, faults)
        if not faults:
            msgspec.convert(study, StudyKeys)
            assert not list(check_study_file(fill_defaults(study, StudyKeys), ""))
        accepted += not faults
    assert 100 < accepted < 900


def test_the_schema_is_published() -> None:
    page = Path(__file__).parents[3] / "docs" / "study.schema.json"
    assert json.loads(page.read_text()) == study_schema()
