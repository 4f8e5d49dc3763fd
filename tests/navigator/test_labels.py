"""Label files of other programs and picks of skims, on the clock of a recording."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from earwitness.errors import InputError
from earwitness.navigator.labels import read_overlays
from earwitness.recordings.types import Recording, Stretch

STRETCHES = (Stretch("a/one.wav", 0.0, 0.0, 50.0), Stretch("a/two.wav", 0.0, 60.0, 40.0))
RECORDING = Recording("day", STRETCHES, 100.0, 8000, 1, datetime(2025, 7, 22, 6, tzinfo=UTC))
AUDACITY = "1.5\t3\tblackbird\n\\\t2000\t4000\n10\t10\t\n"
RAVEN = (
    "Selection\tView\tBegin Time (s)\tEnd Time (s)\tBegin File\tFile Offset (s)\tAnnotation\n"
    "1\tWaveform 1\t5\t6\tone.wav\t5\twren\n1\tSpectrogram 1\t5\t6\tone.wav\t5\twren\n"
    "2\tSpectrogram 1\t52\t54\ttwo.wav\t2\trobin\n"
)
CSV = "start;end;label\n1,5;3;blackbird\n"


def test_labels_of_every_format(tmp_path: Path) -> None:
    texts = {
        "a.txt": AUDACITY,
        "r.txt": RAVEN,
        "c.csv": CSV,
        "s.csv": "start,seconds,source\n2,3,x\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    audacity, raven, table, soundscape = read_overlays(
        RECORDING, [tmp_path / name for name in texts]
    )
    assert audacity == ("a", "labels", ((1.5, 1.5, "blackbird"), (10, 0, "")), ())
    # the second file starts after a gap, so its selection is moved; each selection counts once
    assert raven.spans == ((5, 1, "wren"), (62, 2, "robin"))
    assert table.spans == ((1.5, 1.5, "blackbird"),)
    assert soundscape.spans == ((2, 3, "x"),)


def test_picks_of_a_later_day_are_moved(tmp_path: Path) -> None:
    pick = {"start": 4.0, "seconds": 8.0, "classes": [{"name": "Bird", "score": 0.5}]}
    began = "2025-07-22T08:00:20+02:00"
    path = tmp_path / "skim.json"
    path.write_text(json.dumps({"recording": {"began": began}, "picks": [pick]}))
    (overlay,) = read_overlays(RECORDING, [path])
    assert overlay == ("skim", "picks", ((24, 8, "1 Bird"),), ())


def test_selections_of_other_files_are_left_out_and_counted(tmp_path: Path) -> None:
    other = "3\tSpectrogram 1\t70\t71\tother.wav\t5\towl\n"
    (tmp_path / "r.txt").write_text(RAVEN.replace("two.wav", "TWO.flac") + other)
    (overlay,) = read_overlays(RECORDING, [tmp_path / "r.txt"])
    assert overlay.spans == ((5, 1, "wren"), (62, 2, "robin"))
    (note,) = overlay.notes
    assert note == "r.txt: 1 of 3 selections left out: their files are not part of the recording"
    (tmp_path / "r.txt").write_text(RAVEN.splitlines(True)[0] + other)
    with pytest.raises(InputError, match="no Begin File is part of the recording"):
        read_overlays(RECORDING, [tmp_path / "r.txt"])


def test_selections_of_a_file_that_was_renamed_are_placed_by_time(tmp_path: Path) -> None:
    text = RAVEN.splitlines(True)[0] + "1\tSpectrogram 1\t7\t8\told.wav\t7\towl\n"
    (tmp_path / "r.txt").write_text(text)
    alone = replace(RECORDING, stretches=RECORDING.stretches[:1])
    (overlay,) = read_overlays(alone, [tmp_path / "r.txt"])
    assert overlay.spans == ((7, 1, "owl"),)


def test_words_in_labels_do_not_make_a_header_and_quotes_are_closed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('0.5\t2\tsong onset\n3\t4\tthe "wren\n')
    (overlay,) = read_overlays(RECORDING, [tmp_path / "a.txt"])
    assert overlay.spans == ((0.5, 1.5, "song onset"), (3, 1, 'the "wren'))
    (tmp_path / "c.csv").write_text('start,end,label\n1,2,"wren\n3,4,robin\n')
    with pytest.raises(InputError, match=r"not valid CSV: .*close all quotes"):
        read_overlays(RECORDING, [tmp_path / "c.csv"])


def test_labels_are_cut_at_the_ends(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("-2\t3\ta\n99\t120\tb\n")
    (overlay,) = read_overlays(RECORDING, [tmp_path / "x.txt"])
    assert overlay.spans == ((0, 3, "a"), (99, 1, "b"))


def test_all_problems_of_all_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\t1\n5\t1\ty\n200\t300\tz\n1\t2\tfine\n")
    (tmp_path / "b.csv").write_text("start,stopped\n1,2\n")
    (tmp_path / "c.json").write_text("{}")
    (tmp_path / "d.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "e.txt").write_text("\n")
    labels = [tmp_path / name for name in ("a.txt", "b.csv", "d.txt", "e.txt", "none.txt")]
    with pytest.raises(InputError) as caught:
        read_overlays(RECORDING, [*labels, tmp_path / "c.json"])
    found = [
        str(one).removeprefix(f"{tmp_path}/").partition(" — ")[0] for one in caught.value.problems
    ]
    assert found == [
        'a.txt:1: start: must be a number of seconds, got "x"',
        "a.txt:2: ends at 1 s, before its start at 5 s",
        "a.txt:3: 200 s to 300 s is outside the recording",
        'b.csv:2: no "seconds" column',
        "c.json: is not a list of picks",
        "d.txt: is not a text file in UTF-8",
        "e.txt: contains no labels",
        "none.txt: cannot be read: No such file or directory",
    ]
