"""The example study of captions: its clips, what was written about them, and a run of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from examples.captions import make
from numpy.typing import NDArray

from earwitness.cli.main import group
from earwitness.ratings.rubric import read_rubric, thumbs
from earwitness.ratings.rubric_totals import total
from earwitness.soundscapes.mix import MAX_AMPLITUDE, Mixer
from earwitness.soundscapes.scene import Scene
from earwitness.soundscapes.sources import SOURCES
from earwitness.studies.design.report import study_design
from earwitness.studies.file.reader import read_study
from earwitness.web.site import PageSequences
from helpers.caption_example import write_caption_example
from helpers.clip_cache import new_clips
from helpers.samples import many

DATASETS = ("park", "street", "home", "farm")
OTHER = "other"  # a source that no clip of ours could have
SILENT = 1e-6
HEARD = 1.5  # seconds for which a source must stand out
PUNISHED = {  # which dimensions a fault costs
    "absent": {"precision", "irrelevance"},
    "missing": {"recall"},
    "detail": {"irrelevance"},
    "repetition": {"conciseness"},
    "doubled": {"fluency"},
    "article": {"fluency"},
    "ambiguity": {"fluency"},
    "broken": {"fluency"},
}
CAPTIONS = {(row["item"], row["system"]): row["caption"] for row in make.rows("captions.csv")}
ITEMS = [row["name"] for row in make.rows("clips.csv")]
NAMES = {row["word"]: set(row["source"].split()) for row in make.rows("words.csv")}
FAULTS = [(row["item"], row["fault"], row["of"]) for row in make.rows("faults.csv")]


def words(caption: str) -> list[str]:
    return re.findall(r"[a-z]+", caption.lower())


def truth(item: str) -> set[str]:
    """Sources that sound in a clip."""
    return {row["source"] for row in make.rows("sources.csv") if row["item"] == item}


def absent(item: str, system: str) -> set[str]:
    """Words of a caption that name only sources that the clip does not have."""
    said = {word for word in words(CAPTIONS[item, system]) if NAMES[word]}
    return {word for word in said if not NAMES[word] & truth(item)}


def missing(item: str, system: str) -> set[str]:
    """Sources of a clip that no word of a caption names."""
    said = [NAMES[word] for word in words(CAPTIONS[item, system])]
    return truth(item) - set[str]().union(*said)


def faults(item: str, kind: str) -> set[str]:
    return {of for where, fault, of in FAULTS if (where, fault) == (item, kind)}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study with all its sounds."""
    folder = tmp_path_factory.mktemp("captions")
    write_caption_example(folder)
    return folder / "study.yaml"


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(group, ["study", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def test_every_clip_has_a_caption_of_its_own_by_each() -> None:
    assert len(ITEMS) == 24
    assert Counter(row["dataset"] for row in make.rows("clips.csv")) == dict.fromkeys(DATASETS, 6)
    assert set(CAPTIONS) == {(item, one) for item in ITEMS for one in ("person", "model")}
    assert len({" ".join(words(caption)) for caption in CAPTIONS.values()}) == 48
    assert all(10 <= long <= 15 for long in make.seconds().values())


def test_of_every_word_it_is_known_what_source_it_names() -> None:
    assert set(NAMES) == {word for caption in CAPTIONS.values() for word in words(caption)}
    assert set[str]().union(*NAMES.values()) <= {*SOURCES, OTHER}


@pytest.mark.parametrize("item", ITEMS)
def test_the_person_names_all_sources_that_are_there_and_no_other(item: str) -> None:
    assert absent(item, "person") == set()
    assert missing(item, "person") == set()


@pytest.mark.parametrize("item", ITEMS)
def test_the_model_adds_and_forgets_the_sources_that_are_listed(item: str) -> None:
    assert absent(item, "model") == faults(item, "absent")
    assert missing(item, "model") == faults(item, "missing")


def in_words(caption: str, kind: str, of: str) -> bool:
    """Whether a caption has a fault that its words show."""
    if kind == "repetition":
        return sum(of in NAMES[word] for word in words(caption)) > 1
    if kind == "doubled":
        return f" {of} {of} " in caption
    if kind == "broken":
        return caption.endswith(f" {of}")
    article = re.search(rf"\b(a|an|the) {of}", caption, re.I)
    return of in caption and not (kind == "article" and article)


@pytest.mark.parametrize(("item", "kind", "of"), FAULTS)
def test_what_is_listed_as_a_fault_is_in_the_words_of_the_model(
    item: str, kind: str, of: str
) -> None:
    if kind != "missing":  # which is seen in what is not there
        assert in_words(CAPTIONS[item, "model"], kind, of)
        assert kind == "absent" or not in_words(CAPTIONS[item, "person"], kind, of)


@pytest.mark.parametrize(("item", "system"), CAPTIONS)
def test_a_caption_is_a_sentence_unless_it_is_listed_as_broken(item: str, system: str) -> None:
    whole = system == "person" or not faults(item, "broken")
    assert (CAPTIONS[item, system][-1] == ".") is whole
    assert CAPTIONS[item, system][0].isupper()


def test_faults_cost_every_dimension_and_some_captions_have_none() -> None:
    assert {kind for _, kind, _ in FAULTS} == set(PUNISHED)
    assert set[str]().union(*PUNISHED.values()) == set(thumbs().names)
    flawless = set(ITEMS) - {item for item, _, _ in FAULTS}
    assert len(flawless) == 6
    assert {item.split("-")[0] for item in flawless} == set(DATASETS)


def stands_out(one: NDArray[np.float64], rest: NDArray[np.float64]) -> float:
    """Seconds in which a sound is louder than the rest in some band of about a third octave."""
    edges = np.unique(np.geomspace(4, 512, 25).astype(int))

    def power(sound: NDArray[np.float64]) -> NDArray[np.float64]:
        frames = np.lib.stride_tricks.sliding_window_view(sound, 1024)[::512] * np.hanning(1024)
        return np.add.reduceat(np.abs(np.fft.rfft(frames)) ** 2, edges, axis=1)

    louder = (power(one) > power(rest)).any(axis=1)
    return float(louder.sum() * 512 / make.RATE)


def alone(tape: Scene) -> Iterator[tuple[str, Mixer]]:
    """Every source of the tape by itself, and the background."""
    for name in sorted({event.source for event in tape.events}):
        own = tuple(event for event in tape.events if event.source == name)
        yield name, Mixer(replace(tape, events=own, background=-300.0))
    yield "", Mixer(replace(tape, events=()))


def test_every_source_can_be_heard_in_its_clip_and_nothing_is_clipped() -> None:
    mixers = dict(alone(make.tape()))
    for number, (item, long) in list(enumerate(make.seconds().items(), 1))[:: many(7, 1)]:
        at = number * make.PAUSE
        heard = {name: one.sound(at, long).astype(float) for name, one in mixers.items()}
        sounds = {name: one for name, one in heard.items() if np.abs(one).max() > SILENT}
        whole = np.sum(list(sounds.values()), axis=0)
        assert np.abs(whole).max() < MAX_AMPLITUDE, item
        out = {name for name, one in sounds.items() if stands_out(one, whole - one) > HEARD}
        assert out - {""} == truth(item), item


def test_worked_examples_have_sounds_and_totals_that_are_right(study: Path) -> None:
    made = read_study(study)
    rubric = read_rubric(made.blocks[0].parameters["rubric"])
    assert len(rubric.examples) == 4
    for one in rubric.examples:
        assert (study.parent / one.sound).is_file()
        assert one.comment.endswith(f"Total {total(rubric, one.values):g}.")
        assert one.caption not in CAPTIONS.values()


def test_sounds_of_worked_examples_belong_to_the_page_that_shows_them(study: Path) -> None:
    course = PageSequences(study_design(study))(1)
    named = [f"examples/{name}.wav" for name in ("square", "square", "pond", "pond")]
    assert list(course.files("examples")) == named
    for place in range(len(course.outline.names)):
        content = course.content(place)
        assert len(content.files) == len(content.page.view.get("sounds", ()))


def test_the_example_has_its_juries_and_keeps_its_balance(study: Path) -> None:
    made = read_study(study)
    assert [(one.name, one.listeners) for one in made.juries] == [("experts", 8), ("lay", 8)]
    assert {clip.name: clip.seconds for clip in made.material}.items() <= make.seconds().items()
    told = run("check", study)
    assert "24 clips, 2 systems, 2 sessions" in told
    assert " no\n" not in told


def test_a_simulated_run_of_the_example_gives_a_report(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "simulated"
    run("simulate", study, "-o", folder, "--population", "person=0.9", "--population", "model=0.6")
    text = run("analyse", study, folder / "answers.jsonl", "--no-mixed", "--draws", "100")
    assert re.search(r"person +model .* person$", text, re.M)
    run("analyse", study, folder / "answers.jsonl", "--no-mixed", "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert all(name in page for name in (*thumbs().names, "total"))


def test_a_clip_is_the_same_whatever_is_made_beside_it(study: Path, tmp_path: Path) -> None:
    whole, at = make.tape(), (1 + list(make.seconds()).index("pond")) * make.PAUSE
    own = tuple(event for event in whole.events if event.start == at)
    with new_clips():
        make.write(tmp_path / "pond.wav", Mixer(replace(whole, events=own)).sound(at, 10.0))
    made = study.parent / "examples" / "pond.wav"
    assert (tmp_path / "pond.wav").read_bytes() == made.read_bytes()
