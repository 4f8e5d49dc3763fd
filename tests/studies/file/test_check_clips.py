"""Keys on eligibility and quality control: what they mean, and all faults at once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from earwitness.analysis.plan import Rule
from earwitness.errors import InputError
from earwitness.studies.design.report import study_check
from earwitness.studies.file.reader import read_study
from earwitness.studies.study import EligibleAnswers, Study
from helpers.study_files import sound

STUDY = """\
title: Checks
systems: [A, B]
files: "{{system}}/{{item}}.wav"
listeners: 2
blocks: [{{kind: {kind}}}]
"""
TABLE = """\
file,role,scale,value
checks/g1.wav,gold,SIG,5
checks/g1.wav,gold,OVRL,4
checks/t1.wav,trap,,2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("A/a", "A/b", "B/a", "B/b", "ref/a", "ref/b", "checks/g1", "checks/t1"):
        sound(tmp_path / f"{name}.wav")
    (tmp_path / "checks.csv").write_text(TABLE)
    return tmp_path


def read(folder: Path, more: str, kind: str = "p835", *, heard: bool = True) -> Study:
    path = folder / "study.yaml"
    path.write_text(STUDY.format(kind=kind) + more)
    return read_study(path, heard=heard)


def problems(folder: Path, more: str, kind: str = "p835") -> str:
    with pytest.raises(InputError) as caught:
        read(folder, more, kind)
    return str(caught.value)


def test_clips_with_known_answers_are_read(folder: Path) -> None:
    quality = read(folder, "quality: {clips: checks.csv, repeats: 0.1}\n").quality
    gold, trap = quality.clips
    assert (gold.role, gold.values, gold.file) == ("gold", {"SIG": 5, "OVRL": 4}, "checks/g1.wav")
    assert trap.values == {"SIG": 2, "BAK": 2, "OVRL": 2}
    assert (quality.gold, quality.traps, quality.repeats, trap.seconds) == (1, 1, 0.1, 0.1)


def test_a_study_is_the_same_without_the_audio_of_its_checks(folder: Path) -> None:
    more = "quality: {clips: checks.csv}\n"
    there = read(folder, more)
    (folder / "checks/g1.wav").unlink()
    assert read(folder, more, heard=False).digest == there.digest
    assert "checks.csv:2: file: checks/g1.wav: the audio file does not exist" in problems(
        folder, more
    )


def test_all_faults_of_the_table_are_told_at_once(folder: Path) -> None:
    rows = ["checks/g1.wav,silver,SIG,5", "checks/g1.wav,gold,LOUD,5", "checks/g1.wav,gold,SIG,7"]
    (folder / "checks.csv").write_text("\n".join(["file,role,scale,value", *rows]) + "\n")
    told = problems(folder, "quality: {clips: checks.csv}\n")
    assert 'checks.csv:2: role: unknown role "silver"' in told
    assert 'checks.csv:3: scale: unknown scale "LOUD"' in told
    assert 'checks.csv:4: value: must be from 1 to 5 in steps of 1, got "7"' in told


@pytest.mark.parametrize(
    ("more", "kind", "message"),
    [
        ("quality: {gold: 1}\n", "acr", "quality.gold: needs clips with known answers"),
        (
            "quality: {clips: checks.csv, traps: 2}\n",
            "p835",
            "quality.traps: needs 2 trap clips, the table has 1",
        ),
        (
            "quality: {clips: checks.csv}\nreference: ref\n",
            "dcr",
            "quality.clips: not supported by dcr",
        ),
        ("quality: {results: true}\n", "ab", "quality.results: not supported by ab"),
        ("hearing: {digits: d.wav}\n", "acr", "hearing.digits: must contain {digit}"),
        ('hearing: {digits: "{digit}.wav"}\n', "acr", "9.wav: missing recording of a digit"),
        ("screening: [{rule: hearing}]\n", "acr", "the study has no hearing test"),
        (
            "screening: [{rule: p808, limits: {variance: -1}}]\n",
            "acr",
            "limits.variance: must be at least 0, got -1",
        ),
        ("screening: [{rule: traps}]\n", "acr", "rule: traps needs clips with known answers"),
        ("screening: [{rule: repeats}]\n", "acr", "rule: repeats needs repeated trials"),
        ("screening: [{rule: p808_complete}]\n", "acr", "p808_complete needs gold or trapping"),
        (
            "quality: {clips: checks.csv}\nscreening: [{rule: p808_complete, limits: {a: 0}}]\n",
            "p835",
            "limits: p808_complete has no limits of its own",
        ),
    ],
)
def test_what_a_study_cannot_do_is_refused(
    folder: Path, more: str, kind: str, message: str
) -> None:
    assert message in problems(folder, more, kind)


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        (
            'hearing: {digits: "{digit}.wav", triplets: 2}\nscreening: [{rule: hearing}]\n',
            "hearing.triplets: must be",
        ),
        (
            "quality: {clips: checks.csv, repeats: 2}\n"
            "screening: [{rule: gold}, {rule: repeats}, {rule: p808_complete}]\n",
            "quality.repeats: must be",
        ),
        ("quality: {clips: chekcs.csv, gold: 1}\nscreening: [{rule: gold}]\n", "chekcs.csv:"),
    ],
)
def test_only_the_cause_of_a_fault_is_told(folder: Path, more: str, cause: str) -> None:
    told = problems(folder, more, "acr")
    assert cause in told
    assert "1 problem;" in told


def test_a_preset_stands_for_its_rules_unless_they_are_listed(folder: Path) -> None:
    more = "quality: {clips: checks.csv, gold: 0}\nscreening: [{rule: p808_complete}, "
    study = read(folder, more + "{rule: unheard, limits: {share: 0.1}}]\n")
    assert study.screening == (
        Rule("p808", {"variance": 0.1, "correlation": 0.4}),
        Rule("traps", {"share": 0.0}),
        Rule("unheard", {"share": 0.1}),
    )


def form(eligible: str, answer: str = "number", more: str = "", when: str = "before") -> str:
    question = f"{{name: x, prompt: Why, answer: {answer}{more}, eligible: {eligible}}}"
    return f"forms: {{{when}: [{question}]}}\n"


def test_who_may_take_part_is_read(folder: Path) -> None:
    [number] = read(folder, form("{min: 18}")).before
    [choice] = read(folder, form("[b]", "choice", ", options: [a, b]")).before
    assert number.eligible == EligibleAnswers((), 18, None)
    assert choice.eligible == EligibleAnswers(("b",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (form("[a]", "text"), "eligible: not supported for texts"),
        (form("[a]"), "does not fit answer: number"),
        (form("{min: 2, max: 1}"), "min 2 is larger than max 1"),
        (form("{}"), "write min, max or both"),
        (form("[c]", "choice", ", options: [a, b]"), 'unknown option "c"'),
        (form("[a, b]", "choice", ", options: [a, b]"), "lists all options"),
        (form("{min: 1}", more=", needed: false"), "must be answered"),
        (form("{min: 1}", when="after"), "allowed only in forms.before"),
    ],
)
def test_a_rule_that_nobody_can_apply_is_refused(folder: Path, text: str, message: str) -> None:
    assert message in problems(folder, text)


def test_the_study_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "quality-control.md"
    study, table, *_ = re.findall(r"```text\n(.*?)```", page.read_text(), re.DOTALL)
    names = [f"{folder}/{clip}" for folder in ("codec_a", "codec_b") for clip in "abcdefgh"]
    names += [f"digits/{digit}" for digit in range(10)]
    names += ["checks/clean", "checks/noisy", "checks/select_two"]
    for name in names:
        sound(tmp_path / f"{name}.wav")
    (tmp_path / "checks.csv").write_text(table)
    (tmp_path / "study.yaml").write_text(study)
    design = study_check(tmp_path / "study.yaml", audio=False)
    roles = Counter(trial.role for trial in design.plans[0].sessions[0])
    assert roles == {"": 8, "gold": 1, "trap": 1, "repeat": 1}
    assert [rule.name for rule in design.study.screening] == [
        *("p808", "traps", "gold", "unheard", "repeats", "hasty", "hearing")
    ]
