"""All that the program does is what was recorded; ``make snapshot`` records it anew."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from math import nan
from pathlib import Path

import pytest

from snapshot.cases import LOOSE, NAMES, measured
from snapshot.commands import CHAINS
from snapshot.comparison import CLOSE, difference, same
from snapshot.masks import HEAD, LONG_PAGE, TAIL, condensed, masked
from snapshot.runner import RECORDED, RULE, run_all


def recorded(path: Path) -> str:
    """A recording as it was written; nothing if there is none."""
    return path.read_bytes().decode() if path.exists() else ""


@pytest.mark.parametrize("chain", CHAINS)
def test_commands_do_what_was_recorded(chain: str, tmp_path: Path) -> None:
    found = run_all(CHAINS[chain], tmp_path)
    told = [
        difference(name, recorded(RECORDED / chain / f"{name}.txt"), text, LOOSE.get(chain, CLOSE))
        for name, text in found.items()
    ]
    wrong = [one for one in told if one]
    assert not wrong, f"{len(wrong)} of {len(told)} commands differ\n" + "\n\n".join(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_metrics_measure_what_was_recorded(name: str) -> None:
    want = recorded(RECORDED / "metrics" / f"{name}.json")
    found = difference(name, want, measured(name), LOOSE.get(name, CLOSE))
    assert not found, found


def test_every_recording_is_of_a_command_or_a_metric() -> None:
    wanted = {f"{chain}/{one.name}.txt" for chain, own in CHAINS.items() for one in own}
    wanted |= {f"metrics/{name}.json" for name in NAMES}
    there = {path.relative_to(RECORDED).as_posix() for path in RECORDED.rglob("*.*")}
    assert there == wanted


def test_no_two_commands_share_a_name() -> None:
    names = Counter(one.name for own in CHAINS.values() for one in own)
    assert max(names.values()) == 1


def test_bad_inputs_end_with_2_and_print_nothing() -> None:
    for command in CHAINS["bad_inputs"]:
        text = recorded(RECORDED / "bad_inputs" / f"{command.name}.txt")
        assert text.split("\n")[1] == "exit 2", command.name
        assert "─ stdout" not in text, command.name


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ('{"f1": 0.12345678901}', '{"f1": 0.12345678902}', True),
        ('{"f1": 0.12345678901}', '{"f1": 0.12345778901}', False),  # by 1e-6
        ("f1 0.123", "f1 0.124", False),
        ("f1 0.1", "f1 0.10", False),
        ("1.0000000000000002e-12", "1.0000000000000004e-12", True),
        ("[NaN, 1]", "[NaN, 1]", True),
        ("[NaN, 1]", "[1, NaN]", False),
        ("line 1234567890", "line 1234567891", False),
        ("wrote x.csv", "wrote y.csv", False),
        ("a\n", "a", False),
    ],
)
def test_words_are_compared_exactly_and_long_numbers_nearly(
    one: str, other: str, alike: bool
) -> None:
    assert same(one, other) == alike
    assert (difference("x", one, other) == "") == alike
    assert (difference("x", other, one) == "") == alike


def test_a_difference_shows_both_lines() -> None:
    shown = difference("x", "a\nb 1.5\nc\n", "a\nb 1.6\nc\n")
    assert "-b 1.5\n+b 1.6" in shown


def test_masks_leave_what_does_not_vary() -> None:
    now = datetime(2031, 5, 6, 23, 59, tzinfo=UTC)
    text = "at 2031-05-07T00:00:01.123+00:00, on 2031-05-06, of 2025-07-22T00:01:08.000+00:00"
    assert masked(text, Path("/x"), now) == "at <now>, on <today>, of 2025-07-22T00:01:08.000+00:00"
    link = f"https://x.org/l/{'aB-_' * 8} in /folder/work/y.csv"
    assert masked(link, Path("/folder/work"), now) == "https://x.org/l/<token> in <folder>/y.csv"


def test_condensed_texts_notice_words_numbers_signs_and_order() -> None:
    numbers = [number / 7 for number in range(1, 200)]

    def text(values: list[float], start: str = "{", word: str = "value") -> str:
        return start + "".join(f'\n"{word}": {value!r},' for value in values)

    def changed(place: int, value: float) -> list[float]:
        return [*numbers[:place], value, *numbers[place + 1 :]]

    want = condensed(text(numbers))
    assert want.count("\n") == 1 + HEAD + 2 * 5 + TAIL
    assert same(condensed(text(changed(90, 91 / 7 + 1e-14))), want)
    different = {
        "number": changed(90, 91 / 7 + 1e-4),
        "sign": changed(90, -91 / 7),
        "order": [*changed(90, 92 / 7)[:91], 91 / 7, *numbers[92:]],
        "undefined": changed(90, nan),
        "fewer": numbers[:90] + numbers[91:],
    }
    assert [name for name, one in different.items() if same(condensed(text(one)), want)] == []
    assert not same(condensed(text(numbers).replace('"', "'", 181)), want)
    around = [condensed(text(changed(90, value))) for value in (-1e-17, 1e-16, 0.0)]
    assert same(around[0], around[1])
    assert same(around[0], around[2])


def test_long_pages_are_told_without_numbers() -> None:
    lines = "<p>" + "".join(f"\n{number / 7!r} of {{}}" for number in range(3000))
    pages = [condensed(lines.format(*["words"] * 2999, last)) for last in ("words", "word")]
    assert len(lines) > LONG_PAGE
    assert condensed(lines.replace("1", "2").format(*["words"] * 3000)) == pages[0]
    assert pages[0] != pages[1]


def test_brief_commands_have_one_digest_for_each_file() -> None:
    brief = {one.name for one in CHAINS["kinds"] if one.brief}
    assert len(brief) == 8
    for name in brief:
        head, *files = recorded(RECORDED / "kinds" / f"{name}.txt").split(f"{RULE} file ")
        assert "exit 0" in head
        assert len(files) > 12
        assert {one.count("\n") for one in files} == {2}
