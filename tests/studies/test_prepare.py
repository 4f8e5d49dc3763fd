"""Anchors of MUSHRA, and configurations of webMUSHRA."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner

from earwitness.cli.main import group
from earwitness.errors import InputError, UsageError
from earwitness.studies.design.report import study_design
from earwitness.studies.file.reader import read_study
from earwitness.studies.prepare import study_anchors, study_import
from earwitness.studies.trials.mushra import Mushra

RATE = 44_100
CONFIG = """\
testname: Codecs
testId: codecs
bufferSize: 2048
stopOnErrors: true
pages:
    - type: generic
      id: first_page
      name: Welcome
      content: Welcome!<br/>Please use <b>headphones</b> &amp; relax.
    - type: volume
      id: vol
      stimulus: audio/a_ref.wav
    -
        - random
        - type: mushra
          id: trial_a
          name: Mono
          content: Rate the quality.
          reference: audio/a_ref.wav
          createAnchor35: true
          createAnchor70: true
          stimuli:
              C1: audio/a_c1.wav
              C2: audio/a_c2.wav
        - type: mushra
          id: trial_b
          name: Mono
          content: Rate the quality.
          reference: audio/b_ref.wav
          createAnchor35: true
          createAnchor70: true
          stimuli:
              C1: audio/b_c1.wav
              C2: audio/b_c2.wav
    - type: finish
      name: Thank you
      questionnaire:
          - type: text
            label: eMail
            name: email
            optional: true
          - type: number
            label: Age
            name: age
          - type: likert
            name: gender
            label: Gender
            response:
              - {value: female, label: Female}
              - {value: male, label: Male}
              - {value: other, label: Other}
"""
PAIRS = """\
        - type: paired_comparison
          id: pair_a
          unforced: I do not know
          reference: audio/a_ref.wav
          stimuli:
              C1: audio/a_c1.wav
              C2: audio/a_c2.wav
        - type: likert_single_stimulus
          id: likert_a
          content: How good is it?
          stimuli: {C1: audio/a_c1.wav}
          response:
              - {value: 1, label: Awful}
              - {value: 2, label: Bad}
              - {value: 3, label: Fair}
              - {value: 4, label: Good}
              - {value: 5, label: Great}
"""
MIXED = CONFIG.replace("    - type: finish", PAIRS + "    - type: finish")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "audio").mkdir()
    for item in "ab":
        for system in ("ref", "c1", "c2"):
            noise = rng.uniform(-0.5, 0.5, RATE // 2)
            soundfile.write(tmp_path / "audio" / f"{item}_{system}.wav", noise, RATE)
    (tmp_path / "config.yaml").write_text(CONFIG)
    return tmp_path / "config.yaml"


def test_a_webmushra_test_becomes_a_study_that_can_be_planned(config: Path) -> None:
    folder = config.parent / "study"
    notes = study_import(config, folder, listeners=6)
    assert notes == ["a page of type volume was not imported"]
    found = read_study(folder / "study.yaml")
    assert (found.title, found.systems, found.reference) == ("Codecs", ("C1", "C2"), "reference")
    assert [clip.name for clip in found.material] == ["trial_a", "trial_b"]
    assert found.material[0].seconds == 0.5
    assert found.file("trial_b", "C2") == "../audio/b_c2.wav"
    assert found.instructions == "Welcome!\nPlease use headphones & relax.\n\nRate the quality."
    asked = [(one.name, one.answer, one.needed) for one in found.after]
    assert asked == [("email", "text", False), ("age", "number", True), ("gender", "choice", True)]
    made = study_design(found)
    assert len(made.plans) == 6
    assert sorted(made.plans[0].sessions[0][0].systems) == [
        *("C1", "C2", "anchor35", "anchor70", "reference")
    ]


def test_paths_may_be_relative_to_a_folder_above_the_configuration(config: Path) -> None:
    place = config.parent / "configs" / "test.yaml"
    place.parent.mkdir()
    config.rename(place)
    study_import(place, place.parent / "study", listeners=6)
    found = read_study(place.parent / "study" / "study.yaml")
    assert found.file("trial_b", "C2") == "../../audio/b_c2.wav"


def test_a_webmushra_test_without_references_becomes_a_study_without_them(config: Path) -> None:
    lines = [line for line in CONFIG.splitlines() if "createAnchor" not in line]
    config.write_text("\n".join(lines).replace("reference: audio", "refrence: audio"))
    with pytest.raises(InputError, match='did you mean "refrence"'):
        study_import(config, config.parent / "study")
    config.write_text("\n".join(line for line in lines if "reference:" not in line))
    notes = study_import(config, config.parent / "study")
    assert "no page of type mushra has a reference, so the study has none" in notes
    found = read_study(config.parent / "study" / "study.yaml")
    [trial, _] = study_design(found).plans[0].sessions[0]
    assert (found.reference, sorted(trial.systems)) == ("", ["C1", "C2"])
    assert not Mushra(**found.blocks[0].parameters).open_reference


def test_anchors_are_low_passed_references(config: Path) -> None:
    folder = config.parent / "study"
    study_import(config, folder)
    original, _ = soundfile.read(config.parent / "audio" / "a_ref.wav")
    for name, cutoff in (("anchor35", 3500), ("anchor70", 7000)):
        anchor, rate = soundfile.read(folder / name / "trial_a.wav")
        assert (len(anchor), rate) == (len(original), RATE)
        spectrum = np.abs(np.fft.rfft(anchor))
        above = np.fft.rfftfreq(len(anchor), 1 / rate) > cutoff + 600
        assert spectrum[above].max() < 0.01 * spectrum.max()
        assert np.corrcoef(anchor, original)[0, 1] > 0.3


def test_anchors_that_are_missing_are_made_and_others_left_alone(config: Path) -> None:
    folder = config.parent / "study"
    study_import(config, folder)
    kept = (folder / "anchor70" / "trial_b.wav").read_bytes()
    again = (folder / "anchor35" / "trial_a.wav").read_bytes()
    (folder / "anchor35" / "trial_a.wav").unlink()
    with pytest.raises(InputError, match=r"anchor35/trial_a\.wav: missing"):
        read_study(folder / "study.yaml")
    run = CliRunner().invoke(group, ["study", "anchors", str(folder / "study.yaml")])
    assert run.exit_code == 0, run.output
    assert "wrote 1 files" in run.stderr
    assert (folder / "anchor35" / "trial_a.wav").read_bytes() == again
    assert (folder / "anchor70" / "trial_b.wav").read_bytes() == kept
    assert study_anchors(folder / "study.yaml") == []


def test_pages_of_several_kinds_become_a_study_each(config: Path) -> None:
    config.write_text(MIXED)
    run = CliRunner().invoke(
        group, ["study", "import", str(config), "-o", str(config.parent / "study")]
    )
    assert run.exit_code == 0, run.output
    assert "note: the reference next to pairs was not imported" in run.stderr
    kinds = {}
    for path in sorted((config.parent / "study").iterdir()):
        found = read_study(path / "study.yaml")
        assert study_design(found).plans
        kinds[path.name] = found
    assert list(kinds) == ["acr", "mushra", "preference"]
    assert kinds["acr"].wordings["scales"]["QUALITY"]["labels"][0] == "Great"
    assert kinds["preference"].file("pair_a", "C1") == "../../audio/a_c1.wav"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "audio/b_c2.wav",
            "audio/b_c9.wav",
            "config.yaml:34: pages[2][2].stimuli.C2: file audio/b_c9.wav does not exist",
        ),
        ("type: generic", "type: video", 'unknown page type "video"'),
        ("type: mushra", "type: musrha", 'unknown page type "musrha" — did you mean "mushra"?'),
        ("  reference: audio/b", "  refrence: audio/b", 'did you mean "refrence"?'),
        ("id: trial_b", "id: trial_a", 'duplicate "trial_a"'),
        ("id: trial_b", "id: ../../b", 'id: must be a name, got "../../b"'),
        ("C2: audio/b_c2.wav", "C3: audio/b_c2.wav", "use the same systems on all pages of a type"),
        ("pages:", "sites:", "a webMUSHRA configuration has a list of pages"),
        ("reference: audio/b_ref.wav\n", "\n", "pages[2][2].reference: must be a path, got null"),
        ("value: 5, label: Great", "value: 6, label: Great", "must be 1 to 5"),
    ],
)
def test_what_cannot_be_taken_over_is_named_and_nothing_written(
    config: Path, old: str, new: str, told: str
) -> None:
    assert old in MIXED
    config.write_text(MIXED.replace(old, new))
    with pytest.raises(InputError) as error:
        study_import(config, config.parent / "study")
    assert told in str(error.value)
    assert not (config.parent / "study").exists()


def test_nothing_is_written_that_could_not_be_read(config: Path) -> None:
    config.write_text(CONFIG.replace("C2:", "reference:"))
    with pytest.raises(
        UsageError, match=r"(?s)the configuration cannot be imported:.*is also listed"
    ):
        study_import(config, config.parent / "study")
    assert not (config.parent / "study").exists()


def test_questions_and_texts_without_counterpart_are_noted(config: Path) -> None:
    text = CONFIG.replace("content: Rate the quality.", "content: Rate it.", 1)
    odd = "          - {type: likert, name: odd, label: Odd, response: [a, b]}\n"
    odd += "          - {type: likert, name: none, label: None, response: 5}\n"
    late = "    - {type: generic, id: late, content: Half done.}\n"
    config.write_text(text.replace("    - type: finish", late + "    - type: finish") + odd)
    notes = study_import(config, config.parent / "study")
    assert sum("a question is not supported" in note for note in notes) == 2
    assert "text of these pages was not imported: trial_b, late" in notes


def test_sounds_without_high_frequencies_are_refused_before_anything_is_made(config: Path) -> None:
    study_import(config, config.parent / "study")
    study = config.parent / "study" / "study.yaml"
    for path in (config.parent / "study").glob("anchor*/*.wav"):
        path.unlink()
    soundfile.write(config.parent / "audio" / "b_ref.wav", np.zeros(500), 8000)
    with pytest.raises(UsageError, match=r"b_ref\.wav: the sampling rate of 8000 Hz is too low"):
        study_anchors(study)
    assert not list((config.parent / "study").glob("anchor*/*.wav"))


def test_a_single_sound_is_compared_with_the_reference(config: Path) -> None:
    pages = PAIRS.split("        - type: likert")[0]
    pages = pages.replace("              C2: audio/a_c2.wav\n", "          colour: red\n")
    config.write_text(f"testname: One\npages:\n    -\n{pages}")
    notes = study_import(config, config.parent / "study")
    assert '"colour" of page "pair_a" is unknown and was not imported' in notes[0]
    found = read_study(config.parent / "study" / "study.yaml")
    trial = study_design(found).plans[0].sessions[0][0]
    assert trial.treatment == ("C1", "reference")


def test_a_study_without_anchors_to_make_is_told(config: Path) -> None:
    config.write_text(
        CONFIG.replace("createAnchor35: true", "").replace("createAnchor70: true", "")
    )
    study_import(config, config.parent / "study")
    with pytest.raises(UsageError, match="no block has anchors named anchor35 or anchor70"):
        study_anchors(config.parent / "study" / "study.yaml")


def test_a_study_without_references_has_nothing_to_screen_by_or_to_filter(tmp_path: Path) -> None:
    for system in ("C1", "C2", "anchor35"):
        (tmp_path / system).mkdir()
        soundfile.write(tmp_path / system / "a.wav", np.zeros(500), 16000)
    study = tmp_path / "study.yaml"
    flags = "open_reference: false, hidden_reference: false"
    text = (
        'title: No references\nsystems: [C1, C2]\nfiles: "{system}/{item}.wav"\nlisteners: 1\n'
        "screening: [{rule: bs1534}]\n"
        f"blocks: [{{kind: mushra, parameters: {{{flags}, anchors: [anchor35]}}}}]\n"
    )
    study.write_text(text)
    with pytest.raises(UsageError, match="anchors are created from references — set reference"):
        study_anchors(study)
    study.write_text(text.replace("[anchor35]", "[]"))
    with pytest.raises(InputError, match="bs1534 needs a hidden reference or an anchor"):
        read_study(study)
