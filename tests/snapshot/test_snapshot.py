"""All that the program does is what was recorded; ``make snapshot`` records it anew."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from snapshot.cases import LOOSE, NAMES, measured
from snapshot.commands import CHAINS
from snapshot.comparison import CLOSE, difference, same
from snapshot.masks import digests, masked
from snapshot.runner import RECORDED, run_all


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


def test_digests_of_long_texts_notice_words_and_numbers() -> None:
    lines = "".join(f'"value": {number / 7!r},\n' for number in range(100))
    for text, counts in ((f"{{\n{lines}}}", True), (f"<p>\n{lines}", False)):
        near = text.replace(repr(1 / 7), repr(1 / 7 + 1e-15))
        assert near != text
        assert same(digests(near), digests(text))
        far = text.replace(repr(1 / 7), repr(1 / 7 + 1e-6))
        assert same(digests(far), digests(text)) != counts
        assert not same(digests(text.replace("value", "volue", 1)), digests(text))
