"""Picks are written for people and programs, and times are read on the clock of the recording."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from earwitness.errors import InputError
from earwitness.recordings.types import Damage, Recording, Stretch
from earwitness.skims.picks import (
    PICK_LISTS,
    list_pick_rows,
    picks_csv,
    picks_json,
    picks_labels,
    picks_raven,
    read_times,
)
from earwitness.skims.types import Pick, Skim, SoundClass

BEGAN = datetime(2025, 7, 22, 6, 0, tzinfo=ZoneInfo("Europe/Paris"))
HOUR = 3_600.0


def recording(began: datetime | None = BEGAN, seconds: float = 8 * HOUR) -> Recording:
    """Two files with an hour missing between; 5 s in the middle of the first are no time."""
    stretches = (
        Stretch("site/a.wav", 0.0, 0.0, HOUR),
        Stretch("site/a.wav", HOUR + 5, HOUR, HOUR),
        Stretch("site/b.wav", 0.0, 3 * HOUR, seconds - 3 * HOUR),
    )
    damages = (Damage("site/b.wav", 9.0, 3 * HOUR + 9, "broken"),)
    return Recording("site", stretches, seconds, 32_000, 1, began, damages, ("a note",))


SKIM = Skim(
    (
        Pick(100.0, 8.0, why={"from": 0.0, "brings": 0.25}),
        Pick(HOUR + 60, 8.0, turned=True, why={"scarcity": 3.0}),
        Pick(3 * HOUR + 0.5, 8.0),
    ),
    3.0,
)


def test_a_pick_has_its_time_in_the_skim_on_the_clock_in_its_file_and_in_all_files() -> None:
    found = list_pick_rows(recording(), SKIM)
    assert [one.heard for one in found] == [0, 5, 10]
    assert [one.path for one in found] == ["site/a.wav", "site/a.wav", "site/b.wav"]
    # an hour and the silence of 5 s lie before the second; b.wav starts after 7,205 s of a.wav
    assert [one.at for one in found] == [100.0, HOUR + 65, 0.5]
    assert [one.joined for one in found] == [100.0, HOUR + 65, 2 * HOUR + 5.5]
    assert found[1].time == "2025-07-22T07:01:00.000+02:00"


def test_json_has_all_that_is_known() -> None:
    found = json.loads(picks_json(recording(), SKIM, {"method": "pareto", "z": 0.5}))
    assert list(found) == ["method", "z", "recording", "skim", "picks"]
    assert found["recording"]["missing"] == HOUR
    assert found["recording"]["files"] == ["site/a.wav", "site/b.wav"]
    assert found["recording"]["damages"][0]["what"] == "broken"
    assert found["skim"] == {"seconds": 18.0, "overlap": 3.0}
    assert found["picks"][0]["why"] == {"from": 0.0, "brings": 0.25}
    assert found["picks"][1] == {
        "pick": 2,
        "start": 3660.0,
        "seconds": 8.0,
        "heard": 5.0,
        "time": "2025-07-22T07:01:00.000+02:00",
        "file": "site/a.wav",
        "at": 3665.0,
        "turned": True,
        "gain": 0.0,
        "classes": [],
        "why": {"scarcity": 3.0},
    }


def test_lists_have_the_classes_and_the_gain_of_a_pick() -> None:
    classes = (SoundClass("Bird vocalization, bird call", 0.82), SoundClass("Chirp", 0.5))
    skim = Skim((Pick(100.0, 8.0, classes=classes, gain=-4.5),))
    (pick,) = json.loads(picks_json(recording(), skim))["picks"]
    assert pick["classes"][1] == {"name": "Chirp", "score": 0.5}
    assert pick["gain"] == -4.5
    (row,) = csv.DictReader(picks_csv(recording(), skim).splitlines())
    assert (row["gain"], row["classes"]) == ("-4.5", "Bird vocalization, bird call; Chirp")
    named = "Bird vocalization, bird call; Chirp\n"
    assert picks_labels(recording(), skim).endswith(f"06:01:40  {named}")
    assert picks_raven(recording(), skim).endswith(f"pick 1 {named}")


def test_csv_has_a_row_a_pick_and_a_column_a_reason() -> None:
    rows = list(csv.DictReader(picks_csv(recording(), SKIM).splitlines()))
    assert [row["start"] for row in rows] == ["100.0", "3660.0", "10800.5"]
    assert [row["turned"] for row in rows] == ["", "yes", ""]
    assert [row["why_brings"] for row in rows] == ["0.25", "", ""]
    assert [row["why_scarcity"] for row in rows] == ["", "3.0", ""]


def test_what_is_written_as_csv_is_read_again_as_the_same_picks(tmp_path: Path) -> None:
    path = tmp_path / "skim.csv"
    path.write_text(picks_csv(recording(), SKIM), encoding="utf-8")
    bare = tuple(Pick(one.start, one.seconds, one.turned) for one in SKIM.picks)
    assert read_times(path, recording()) == bare


def test_audacity_finds_labels_in_the_skim_and_in_the_files() -> None:
    assert picks_labels(recording(), SKIM) == (
        "0.000000\t8.000000\t1  06:01:40\n"
        "5.000000\t13.000000\t2  07:01:00 (backwards)\n"
        "10.000000\t18.000000\t3  09:00:00\n"
    )
    in_files = picks_labels(recording(), SKIM, "files").splitlines()
    assert in_files[2] == "7205.500000\t7213.500000\t3  09:00:00"


def test_labels_of_a_recording_without_a_clock_say_seconds() -> None:
    assert picks_labels(recording(None), SKIM).splitlines()[0].endswith("1  100.0 s")


@pytest.mark.parametrize("where", ["skim", "files"])
def test_raven_finds_a_header_and_as_many_cells_in_every_row(where: str) -> None:
    lines = picks_raven(recording(), SKIM, where).splitlines()  # type: ignore[arg-type]
    rows = list(csv.DictReader(lines, delimiter="\t", strict=True))
    assert all(None not in row and None not in row.values() for row in rows)
    assert lines[0].startswith("Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq")
    begin = {"skim": "5.000000", "files": "3665.000000"}[where]
    assert rows[1]["Begin Time (s)"] == begin
    assert rows[1]["High Freq (Hz)"] == "16000"
    assert rows[1]["Begin File"] == {"skim": "", "files": "a.wav"}[where]
    assert rows[1]["Begin Clock Time"] == "07:01:00.000"


def test_every_list_has_a_name_and_an_ending_of_its_own() -> None:
    assert len({ending for ending, _ in PICK_LISTS.values()}) == len(PICK_LISTS)
    assert all(write(recording(), SKIM) for _, write in PICK_LISTS.values())


def times(tmp_path: Path, text: str, known: Recording | None = None) -> list[float]:
    path = tmp_path / "times.csv"
    path.write_text(text, encoding="utf-8")
    return [pick.start for pick in read_times(path, known or recording())]


@pytest.mark.parametrize(
    ("cell", "start"),
    [
        ("0", 0.0),
        ("12.5", 12.5),
        ("06:01", 60.0),
        ("6:01:02", 62.0),
        ("06:01:02.25", 62.25),
        ("2025-07-22 07:00:00", HOUR),
        ("2025-07-22T07:00:00", HOUR),
        ("2025-07-22T05:00:00Z", HOUR),
        ("2025-07-22T08:00:00+03:00", HOUR),
    ],
)
def test_a_start_is_seconds_or_a_time_of_day_or_a_date(
    tmp_path: Path, cell: str, start: float
) -> None:
    assert times(tmp_path, f"start\n{cell}\n") == [start]


def test_rows_stay_in_their_order_and_blanks_get_a_block(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("name;start;seconds;turned\nb;07:00:00;4,5;\na;06:00:00;;yes\n")
    assert read_times(path, recording(), block=6.0) == (
        Pick(HOUR, 4.5),
        Pick(0.0, 6.0, turned=True),
    )


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    rows = (
        ("nine", "", ""),  # 2
        ("-1", "0", "perhaps"),  # 3
        ("99:00:00", "x", ""),  # 4
        ("08:30:00", "", ""),  # 5: missing
        ("07:59:56", "", ""),  # 6: 4 s before the gap
        ("23:00:00", "", ""),  # 7
        ("1e9", "", ""),  # 8
        ("nan", "inf", ""),  # 9
    )
    text = "start,seconds,turned\n" + "".join(",".join(row) + "\n" for row in rows)
    with pytest.raises(InputError) as caught:
        times(tmp_path, text)
    told = [(one.line, one.field, one.message) for one in caught.value.problems]
    assert sorted(told) == [
        (2, "start", 'must be a number, got "nine"'),
        (3, "seconds", 'must be above 0, got "0"'),
        (3, "start", 'must not be before the start of the recording, got "-1"'),
        (3, "turned", 'must be yes, no or empty, got "perhaps"'),
        (4, "seconds", 'must be a number, got "x"'),
        (4, "start", 'is not a time of day: "99:00:00"'),
        (5, "start", "nothing was recorded at 08:30:00 (9000 s)"),
        (6, "start", "only 4.000 s without a gap from 07:59:56 (7196 s)"),
        (7, "start", 'is outside the recording: "23:00:00"'),
        (8, "start", "1e+09 s is outside the recording"),
        (9, "seconds", 'must be finite, got "inf"'),
        (9, "start", 'must be finite, got "nan"'),
    ]


def test_a_pick_may_go_over_the_end_of_a_file_if_nothing_is_missing(tmp_path: Path) -> None:
    assert times(tmp_path, "start\n06:59:56\n") == [HOUR - 4]


@pytest.mark.parametrize(
    ("text", "told"),
    [("begin\n1\n", 'no "start" column'), ("start\n", "contains no picks"), ("", "is empty")],
)
def test_a_table_without_picks_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        times(tmp_path, text)


def test_a_time_of_day_needs_a_clock_and_seconds_do_not(tmp_path: Path) -> None:
    assert times(tmp_path, "start\n5\n", recording(None)) == [5.0]
    with pytest.raises(InputError, match="the start time of the recording is unknown"):
        times(tmp_path, "start\n06:00:00\n", recording(None))


def test_a_time_that_comes_on_several_days_wants_its_date(tmp_path: Path) -> None:
    long = recording(seconds=50 * HOUR)
    with pytest.raises(InputError, match=r"occurs 2 times in the recording.*add the date"):
        times(tmp_path, "start\n12:00\n", long)
    assert times(tmp_path, "start\n2025-07-23 12:00\n", long) == [30 * HOUR]


@pytest.mark.parametrize(
    ("began", "cell", "start"),
    [
        (datetime(2025, 10, 25, 22, 0), "2025-10-26 04:00", 7 * HOUR),  # 02:00 comes twice
        (datetime(2025, 3, 29, 22, 0), "2025-03-30 04:00", 5 * HOUR),  # 02:00 never comes
    ],
)
def test_clocks_that_change_in_the_night_are_followed(
    tmp_path: Path, began: datetime, cell: str, start: float
) -> None:
    zoned = recording(began.replace(tzinfo=BEGAN.tzinfo))
    assert times(tmp_path, f"start\n{cell}\n", zoned) == [start]
    assert times(tmp_path, f"start\n{cell[11:]}\n", zoned) == [start]


def test_an_hour_that_comes_twice_or_never_is_told(tmp_path: Path) -> None:
    zone = BEGAN.tzinfo
    twice = recording(datetime(2025, 10, 25, 23, 30, tzinfo=zone))
    never = recording(datetime(2025, 3, 29, 23, 30, tzinfo=zone))
    with pytest.raises(InputError, match="occurs 2 times in the recording"):
        times(tmp_path, "start\n02:45\n", twice)
    assert times(tmp_path, "start\n2025-10-26T02:45:00+01:00\n", twice) == [4.25 * HOUR]
    with pytest.raises(InputError, match="is outside the recording"):
        times(tmp_path, "start\n02:45\n", never)


def test_a_recording_without_a_zone_reads_its_own_clock(tmp_path: Path) -> None:
    plain = recording(BEGAN.replace(tzinfo=None))
    assert times(tmp_path, "start\n07:30\n", plain) == [1.5 * HOUR]
    with pytest.raises(InputError, match="has a time zone, but the recording has none"):
        times(tmp_path, "start\n2025-07-22T07:30:00Z\n", plain)


def test_the_clock_and_times_agree_over_the_whole_recording(tmp_path: Path) -> None:
    known = recording(datetime(2025, 10, 25, 22, 0, tzinfo=BEGAN.tzinfo))
    wanted = [step * 600.0 for step in range(12)]
    lines = "".join(f"{known.clock(start):%Y-%m-%dT%H:%M:%S%z}\n" for start in wanted)
    assert times(tmp_path, f"start\n{lines}", known) == wanted
