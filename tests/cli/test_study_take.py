"""Taking part in a terminal, as a listener sees it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from earwitness.cli.main import group, main
from earwitness.studies.rubric import LANGUAGES
from earwitness.studies.trials import KINDS
from earwitness.studies.wording import PLACEHOLDER, placeholder_problems, wording
from helpers.study_listener import sounds, study

START = ["1", "30", "2", "", ""]  # agree, age, ears, instructions, practice
FRENCH = {
    "Taking part": "Essai",
    "Listen well.": "Écoutez bien.",
    "I may stop at any time.": "Je peux arrêter.",
    "Your age?": "Votre âge ?",
    "Ears?": "Oreilles ?",
    "two, one": "deux, une",
    "Anything else?": "Autre chose ?",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return sounds(tmp_path)


def script(folder: Path, text: str) -> str:
    """A player that does as a shell script says."""
    path = folder / "player"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def take(path: Path, typed: list[str], player: str = "true") -> Result:
    command = ["study", "take", str(path), "--listener", "1", "--player", player]
    command += ["-o", str(path.parent / "answers.jsonl")]
    return CliRunner().invoke(group, command, input="".join(f"{one}\n" for one in typed))


def values(folder: Path) -> dict[str, object]:
    lines = (folder / "answers.jsonl").read_text().splitlines()
    return {one["page"]: one["values"] for one in map(json.loads, lines)}


def test_a_terminal_is_enough_to_take_part(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    typed = [*START, "9", "4"]  # 9 is no rating and asked again
    done = take(path, [*typed, "", "5", "3", "", "", "2", "1", ""])
    assert done.exit_code == 0, done.output
    assert "Excellent" in done.output
    assert "Please type one of these answers: 5, 4, 3, 2, 1." in done.output
    assert "Session 2 of 2 - trial 1 of 2" in done.output
    assert done.output.endswith("You have finished. Thank you!\nPages answered: 8\n")
    for hidden in ("C0", "C1", ".wav"):
        assert hidden not in done.output
    shown = CliRunner().invoke(group, ["study", "ratings", str(path), str(answers)])
    assert [json.loads(line)["value"] for line in shown.stdout.splitlines()] == [5, 3, 2, 1]
    table = CliRunner().invoke(group, ["study", "ratings", str(path), str(answers), "--to", "csv"])
    assert table.stdout.splitlines()[0].startswith("item,system,scale,listener")
    assert len(table.stdout.splitlines()) == 5


def test_a_page_looks_like_this(folder: Path) -> None:
    shown = take(study(folder, "p835"), [*START, "5", "7", "4", "3"]).output
    page = shown[shown.index("Practice - ") : shown.index("Attend to the whole")]
    assert (
        page
        == """\
Practice - trial 1 of 1

Attend only to the speech signal. The speech is:
  Playing...
  5  Not distorted
  4  Slightly distorted
  3  Somewhat distorted
  2  Fairly distorted
  1  Very distorted
  > 5

Attend only to the background. The background is:
  Playing...
  5  Not noticeable
  4  Slightly noticeable
  3  Noticeable but not intrusive
  2  Somewhat intrusive
  1  Very intrusive
  > 7
  Please type one of these answers: 5, 4, 3, 2, 1.
  > 4

"""
    )


def test_a_page_with_switching_looks_like_this(folder: Path) -> None:
    shown = take(study(folder, "mushra"), [*START, "r", "90", "101", "80", "70"]).output
    page = shown[shown.index("Practice - ") : shown.index("C (0 – 100)")]
    assert (
        page
        == """\
Practice - trial 1 of 1

Basic audio quality, compared with the reference:
  Playing Reference...
  Playing A...
  Playing B...
  Playing C...
  Playing D...
  Playing E...
  100  Excellent – Good – Fair – Poor – Bad  0
  R, A, B, C, D, E: play a sound again
  A (0 – 100) > r
  Playing Reference...
  A (0 – 100) > 90
  B (0 – 100) > 101
  Please type a number from 0 to 100, in steps of 1.
  B (0 – 100) > 80
  """
    )


@pytest.mark.parametrize(
    ("kind", "typed", "heard"),
    [
        ("p835", ["5", "7", "r", "4", "3"], ["C", "C", "C"]),  # once for each question
        ("dcr", ["9", "5"], ["ref", "C"]),
        ("ccr", ["-3"], ["C", "C"]),
        ("ab", ["a", "B", "b", "x", "3", "2"], ["C", "C", "C", "C", "C"]),
        ("abx", ["X", "1"], ["C", "C", "C", "C"]),
        ("preference", ["3"], ["C", "C"]),
        ("bs1116", ["r", "4.9", "R", "4,8", "5", "1"], ["ref", "*", "*", "ref", "ref"]),
    ],
)
def test_sounds_are_heard_as_their_kind_wants(
    folder: Path, kind: str, typed: list[str], heard: list[str]
) -> None:
    player = script(folder, f'echo "$1" >> {folder}/log')
    done = take(study(folder, kind), [*START, *typed], player)
    assert "training.1" in values(folder), done.output
    played = [Path(line).parent.name for line in (folder / "log").read_text().splitlines()]
    assert len(played) == len(heard)
    for one, wanted in zip(played, heard, strict=True):
        assert wanted == "*" or one.startswith(wanted)


@pytest.mark.parametrize(
    ("kind", "typed", "count"),
    [("ab", ["a", "a", "1"], 3), ("acr", ["R", "r", "r", "1"], 2)],
)
def test_sounds_are_heard_as_often_as_they_may_be(
    folder: Path, kind: str, typed: list[str], count: int
) -> None:
    path = study(folder, kind, "    parameters: {plays: 2}\n")
    done = take(path, [*START, *typed], script(folder, f'echo "$1" >> {folder}/log'))
    assert "You cannot play this sound again." in done.output
    assert len((folder / "log").read_text().splitlines()) == count
    assert "training.1" in values(folder)


def test_one_value_out_of_range_is_asked_again_by_itself(folder: Path) -> None:
    typed = ["90", "101", "-1", "nan", "80.5", "x", "", "80", "70", "60", "50"]
    done = take(study(folder, "mushra"), [*START, *typed])
    told = "Please type a number from 0 to 100, in steps of 1."
    assert done.output.count(told) == 5
    assert values(folder)["training.1"] == {"A": 90, "B": 80, "C": 70, "D": 60, "E": 50}


def test_a_rule_of_the_whole_page_asks_the_page_again(folder: Path) -> None:
    done = take(study(folder, "bs1116"), [*START, "4.9", "4.8", "5", "1,1"])
    assert "One of the two sounds is the reference and must be rated 5.0." in done.output
    assert values(folder)["training.1"] == {"B": 5, "C": 1.1}


def test_optional_questions_of_any_form_can_be_passed_over(folder: Path) -> None:
    path = study(folder, "acr")
    path.write_text(
        path.read_text()
        .replace("answer: number", "answer: number, needed: false")
        .replace("options: [two, one]", "options: [two, one], needed: false")
    )
    take(path, ["1", "old", "", "", "", "", "5", "", "5", "5", "", "", "5", "5", ""])
    assert values(folder)["before"] == {"age": None, "ears": None}
    assert values(folder)["after"] == {"remarks": None}
    done = CliRunner().invoke(group, ["study", "ratings", str(path), f"{folder}/answers.jsonl"])
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 4


def test_nobody_rates_a_sound_that_was_not_heard(folder: Path) -> None:
    player = script(folder, f"test -e {folder}/on && exit 0; touch {folder}/on; exit 3")
    done = take(study(folder, "acr"), [*START, "", "4"], player)
    assert done.output.count("This sound could not be played (player: 3).") == 1
    assert values(folder)["training.1"] == {"QUALITY": 4}


def test_a_sound_that_is_gone_is_told(folder: Path) -> None:
    player = script(folder, f"rm -r {folder}/C0 {folder}/C1")
    done = take(study(folder, "p835"), [*START, "5", "", "5"], player)
    assert done.output.count("This sound file is missing.") == 3
    assert list(values(folder)) == ["consent", "before"]


def test_a_page_that_was_answered_elsewhere_meanwhile_is_told_and_not_stored(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    take(path, [*START, "4", "", "5", "3", "", "", "2", "1", ""])
    before = answers.rename(folder / "done.jsonl").read_bytes()
    done = take(path, [*START, "1"], script(folder, f"cp {folder}/done.jsonl {answers}"))
    assert done.exit_code == 0
    assert done.output.count("This page was already answered elsewhere.") == 1
    assert done.stderr == "Pages answered: 2\n"
    assert answers.read_bytes() == before


def test_a_stop_says_how_far_one_came_and_one_goes_on_from_there(folder: Path) -> None:
    path = study(folder, "acr")
    done = take(path, [*START, "4"])
    assert done.exit_code == 130
    told = "\nStopped. Pages answered: 3. Run the same command again to resume.\n"
    assert done.stderr.endswith(told)
    assert take(path, ["", "5", "3", "", "", "2", "1", ""]).exit_code == 0
    assert len(values(folder)) == 8


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_a_signal_says_how_far_one_came(folder: Path, number: signal.Signals, status: int) -> None:
    path = study(folder, "acr")
    player = script(folder, f"kill -{number.value} $PPID; sleep 2")
    command = [sys.executable, "-m", "earwitness", "study", "take", str(path), "--listener", "1"]
    command += ["-o", str(folder / "answers.jsonl"), "--player", player]
    typed = "".join(f"{one}\n" for one in START)
    done = subprocess.run(command, input=typed, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert done.stderr == "\nStopped. Pages answered: 2. Run the same command again to resume.\n"
    assert len(values(folder)) == 2


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--player", "nosuchplayer -q"], 'program "nosuchplayer" not found'),
        (["--player", "'x"], "--player 'x: no closing quotation"),
        (["-o", "."], ".: cannot add answers: is a folder"),
        (["-o", "no/a.jsonl"], "no/a.jsonl: cannot add answers: folder no does not exist"),
        (["--listener", "9"], "listener 9 is not part of the study — known: 1 to 2"),
    ],
)
def test_what_cannot_be_is_told_in_one_line_before_the_first_page(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], told: str
) -> None:
    command = ["study", "take", str(study(folder, "acr")), "--listener", "1", "--player", "true"]
    with pytest.raises(SystemExit) as stop:
        main([*command, "-o", str(folder / "a.jsonl"), *more])
    shown = capsys.readouterr()
    assert stop.value.code == 2
    assert shown.out == ""
    assert told in shown.err
    assert shown.err.count("\n") == 1


def test_ratings_of_a_folder_are_refused_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["study", "ratings", str(study(folder, "acr")), str(folder)])
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"earwitness: {folder}: cannot read answers: Is a directory\n"


def test_a_line_that_was_cut_short_is_noted(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    take(path, [*START, "4"])
    answers.write_bytes(answers.read_bytes()[:-9])
    done = take(path, ["4"])
    note = f"note: {answers}:3: truncated line ignored\n"
    assert done.stderr.startswith(note)
    shown = CliRunner().invoke(group, ["study", "ratings", str(path), str(answers)])
    assert (shown.exit_code, shown.stderr) == (0, note)


def test_without_a_player_it_is_said_that_nothing_is_heard(folder: Path) -> None:
    done = take(study(folder, "acr"), START, player="")
    assert done.stderr.startswith("No sound is played because --player is not set.\n")


def french(folder: Path, kind: str) -> Path:
    path = study(folder, kind)
    text = path.read_text()
    for english, own in FRENCH.items():
        text = text.replace(english, own)
    path.write_text("language: fr\n" + text)
    return path


def fragments(language: str) -> set[str]:
    """All that a listener can be told, without what is filled in."""
    words = wording(language)
    texts = [*words.pages.values(), *map(words.prompt, words.scales)]
    texts += [label for scale in words.scales for label in words.labels(scale)]
    return {one.strip() for text in texts for one in PLACEHOLDER.split(text)[::2]}


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.transcribed])
def test_a_french_session_has_no_english_in_it(folder: Path, kind: str) -> None:
    """With mistakes on every page, a sound that fails once, a stop, and the rest of it."""
    player = script(folder, f"test -e {folder}/on && exit 0; touch {folder}/on; exit 3")
    typed = ["", "0", "1", "x", "30", "", "9", "2", "", "", ""]  # one more: the player fails
    path = french(folder, kind)
    first = take(path, [*typed, "R", "A", "", "99,5", "200", "x"], player)
    second = take(path, ["1", "1", "R", "5", "0", ""] * 200, player)
    assert (first.exit_code, second.exit_code) == (130, 0)
    shown = first.output + second.output
    for part in ("Veuillez", "n’a pas pu être lu", "Arrêt. Pages remplies\u00a0: 2.", "terminé"):
        assert part in shown
    both = {"second"}  # is French, too
    english = {one for one in fragments("en") - fragments("fr") - both if len(one) > 2}
    assert not {one for one in english if re.search(rf"\b{re.escape(one)}(?!\w)", shown)}
    assert not re.search(r"\b(Error|Aborted|sound|must|Enter|to|of)\b", shown)


def test_numbers_may_be_typed_with_the_real_minus(folder: Path) -> None:
    typed = [*START, "", "", "5", "5", "−0,1", "−0.1", "-0,1", ""]
    shown = take(study(folder, "rubric"), typed).output
    assert "in steps of" not in shown
    assert "Caption B" in shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_languages_have_the_same_places(language: str) -> None:
    own, english = wording(language), wording("en")
    for words, known in ((own.pages, english.pages), (own.web, english.web)):
        for name in known:
            assert set(PLACEHOLDER.findall(words[name])) == set(PLACEHOLDER.findall(known[name])), (
                name
            )
    assert placeholder_problems({"pages": own.pages, "web": own.web}) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("S {number}/{count}", []),
        ("S", []),
        ("S {foo}", ["unknown placeholder {foo} — known: {number}, {count}"]),
        ("S {", ["a brace outside a placeholder — remove it"]),
        ("S {}", ["a brace outside a placeholder — remove it"]),
        ("S {number!r:>9}", ["a brace outside a placeholder — remove it"]),
        ("S {number.real}", ["a brace outside a placeholder — remove it"]),
        (
            "}{a}",
            [
                "unknown placeholder {a} — known: {number}, {count}",
                "a brace outside a placeholder — remove it",
            ],
        ),
    ],
)
def test_places_of_own_words_are_checked_and_shown_whatever_they_are(
    text: str, told: list[str]
) -> None:
    own = {"pages": {"session": text, "unknown": "{", "end": 5}}
    assert placeholder_problems(own) == [("pages.session", one) for one in told]
    shown = wording("en", {"pages": {"session": text}}).page("session", number=1, count=2)
    assert shown == text.replace("{number}", "1").replace("{count}", "2")
