"""Layouts of folders are recognized, incomplete clips are listed, and names never collide."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest

from earwitness.errors import InputError, UsageError
from earwitness.material.files import ClipConditions, find_conditions


def touch(folder: Path, *names: str) -> Path:
    """A folder with empty files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def targets(clips: list[ClipConditions]) -> dict[tuple[str, str], str]:
    return {(clip.item, file.system): str(file.target) for clip in clips for file in clip.files}


def test_subfolders_are_conditions_and_items_may_be_nested(tmp_path: Path) -> None:
    files = ["C0/b 10.wav", "C0/b 9.wav", "C1/b 9.flac", "C1/b 10.wav", "C1/notes.txt"]
    files += ["C0/in/c.wav", "C1/in/c.wav", ".hidden.wav", "C0/._b.wav"]
    clips, problems, notes = find_conditions(touch(tmp_path, *files))
    assert [clip.item for clip in clips] == ["b 9", "b 10", "in/c"]
    assert targets(clips)["b 9", "C1"] == "C1/b 9.wav"
    assert targets(clips)["in/c", "C0"] == "C0/in/c.wav"
    assert not problems
    (note,) = notes
    assert "notes.txt" in note


def test_a_flat_folder_and_a_file_have_one_condition(tmp_path: Path) -> None:
    clips, problems, _ = find_conditions(touch(tmp_path, "a.wav", "b.mp3"))
    assert (targets(clips), problems) == ({("a", ""): "a.wav", ("b", ""): "b.wav"}, [])
    clips, *_ = find_conditions(tmp_path / "b.mp3")
    assert targets(clips) == {("b", ""): "b.wav"}


def test_names_of_reference_conditions_are_a_condition_and_a_talker(tmp_path: Path) -> None:
    files = ["i01_f 1.wav", "i02_f 1.wav", "i01_m_2.wav", "i02_m_2.wav"]
    ref = touch(tmp_path / "ref", *files)
    for folder, systems in ((ref, []), (tmp_path, []), (ref, ["i02"])):
        clips, problems, _ = find_conditions(folder, systems=systems)
        assert [clip.item for clip in clips] == ["f 1", "m_2"]
        assert [file.system for file in clips[0].files] == (systems or ["i01", "i02"])
        assert clips[0].files[-1].target.name == "i02_f 1.wav"
        assert not problems
    clips, *_ = find_conditions(ref, files="{item}")
    assert len(clips) == 4
    clips, *_ = find_conditions(touch(ref, "speech.wav"))
    assert len(clips) == 5


def test_a_linked_folder_and_decomposed_names_belong_to_the_same_clips(tmp_path: Path) -> None:
    decomposed = normalize("NFD", "été")
    touch(tmp_path, "data/C0/été.wav", f"other/{decomposed}.wav")
    (tmp_path / "data" / "C1").symlink_to(tmp_path / "other")
    clips, problems, _ = find_conditions(tmp_path / "data")
    assert ([clip.item for clip in clips], len(clips[0].files), problems) == (["été"], 2, [])
    touch(tmp_path, f"more/{decomposed}/a.wav", "more/C1/a.wav")
    for name in ("été", decomposed):
        for pattern in (None, "{system}/{item}.wav"):
            clips, *_ = find_conditions(tmp_path / "more", files=pattern, systems=[name])
            assert targets(clips).keys() == {("a", "été")}


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("{item}/{system}.wav", "speaker 1/a/C0.wav"),
        ("{system}_{item}.wav", "C0_speaker_a.wav"),
        ("all/{system}/{item}_{system}", "all/C0/a_C0.flac"),
        ("{item}.{system}", "a.b.C0.wav"),
    ],
)
def test_patterns_name_systems_and_items(tmp_path: Path, pattern: str, path: str) -> None:
    touch(tmp_path, path, path.replace("C0", "C1"), "readme.wav")
    clips, problems, _ = find_conditions(tmp_path, files=pattern)
    (clip,) = clips
    assert [file.system for file in clip.files] == ["C0", "C1"]
    assert str(clip.files[0].target) == str(Path(path).with_suffix(".wav"))
    assert not problems


def test_a_pattern_without_system_has_one_condition(tmp_path: Path) -> None:
    touch(tmp_path, "p226/p226_001.wav", "p227/p227_001.wav")
    clips, *_ = find_conditions(tmp_path, files="{item}.wav")
    assert [clip.item for clip in clips] == ["p226/p226_001", "p227/p227_001"]


def test_all_missing_files_are_listed_and_complete_clips_remain(tmp_path: Path) -> None:
    touch(tmp_path, "C0/a.wav", "C1/a.wav", "C2/a.wav", "C0/b.wav", "C2/c.wav")
    touch(tmp_path, "C1/d.wav", "C1/d.flac")
    clips, problems, _ = find_conditions(tmp_path)
    assert [clip.item for clip in clips] == ["a"]
    missing = {(problem.item, problem.message) for problem in problems}
    assert ("b", "missing in C1, although C0 has this clip") in missing
    assert ("c", "missing in C0, although C2 has this clip") in missing
    assert ("d", "second file of this clip, next to C1/d.flac") in missing
    assert len(problems) == 7


def test_a_folder_with_other_clips_is_one_problem_and_can_be_left_out(tmp_path: Path) -> None:
    touch(tmp_path, "C0/a.wav", "C0/b.wav", "C1/a.wav", "C1/b.wav", "ref/i1.wav", "ref/i2.wav")
    clips, (problem,), _ = find_conditions(tmp_path)
    assert "no clip in common" in problem.message
    assert {system for _, system in targets(clips)} == {"C0", "C1"}
    clips, problems, _ = find_conditions(tmp_path, systems=["C0", "C1"])
    assert ([clip.item for clip in clips], problems) == (["a", "b"], [])
    with pytest.raises(UsageError, match='no system "C2" — known: C0, C1, ref'):
        find_conditions(tmp_path, systems=["C2"])


def test_new_names_have_item_system_and_number(tmp_path: Path) -> None:
    touch(tmp_path, "C0/a.wav", "C1/a.wav", "C0/b.wav", "C1/b.wav")
    clips, *_ = find_conditions(tmp_path, rename="{system}/{number:03}")
    assert targets(clips)["b", "C1"] == "C1/002.wav"
    clips, *_ = find_conditions(tmp_path, rename="{item}_{system}.wav")
    assert targets(clips)["b", "C1"] == "b_C1.wav"
    with pytest.raises(
        InputError, match=r'same name in the output as C0/a\.wav: "a\.wav"'
    ) as error:
        find_conditions(tmp_path, rename="{item}")
    assert error.value.count == 2


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        ("{itm}", 'unknown field "itm" — did you mean "item"?'),
        ("{item", "rename: expected '}'"),
        ("{number:x!}", "rename: Invalid format"),
        ("{number:{foo}}", 'unknown field "foo"'),
        ("{item.__class__}", 'unknown field "item.__class__"'),
        ("../{item}{system}", "not inside the output folder"),
        ("/{item}{system}", "not inside the output folder"),
    ],
)
def test_names_that_cannot_be_used_are_refused(tmp_path: Path, rename: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        find_conditions(touch(tmp_path, "C0/a.wav"), rename=rename)


def test_what_is_no_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        find_conditions(tmp_path / "none")
    with pytest.raises(InputError, match="no audio files found"):
        find_conditions(touch(tmp_path, "a.txt"))
    touch(tmp_path, "a.wav", "C0/a.wav")
    with pytest.raises(UsageError, match="in the folder and in subfolders — set --files"):
        find_conditions(tmp_path)
    with pytest.raises(InputError, match=r"no audio file matches x/\{item}"):
        find_conditions(tmp_path, files="x/{item}")
    for pattern in ("{system}.wav", "{item}{name}.wav"):
        with pytest.raises(UsageError, match=r"files must contain \{item}"):
            find_conditions(tmp_path, files=pattern)
