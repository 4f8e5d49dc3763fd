"""A study of any trial kind on one scale, from its template to its report."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from starlette.testclient import TestClient

from helpers.command_line import run
from helpers.http_listener import link, served, take
from helpers.study_files import sound
from helpers.study_listener import Anyone

STUDY, ANSWERS, REPORT = Path("study.yaml"), Path("answers.jsonl"), Path("report.html")
HONEST_LISTENERS = 5
USUAL_SAMPLE = b"\0\x08"
# in the template: what is not there, or takes too long
EDITS = {
    r"\[C0, .*\]": "[C0, C1]",
    r"# files: .*": 'files: "{system}/{item}.wav"',
    r"material: .*": "",
    r"rest_minutes: 5": "rest_minutes: 0",
    r"screening: \[\]  # such as (.*)": r"screening: \1",
}


def write_study(kind: str) -> None:
    """Write the template of a study, and its sounds, whose levels are 1 to 5."""
    for system, lowest in (("C0", 1), ("C1", 3)):
        for number, name in enumerate("abcd"):
            path = Path(system, f"{name}.wav")
            sound(path)
            level = bytes([0, lowest + number % 3])
            path.write_bytes(path.read_bytes().replace(USUAL_SAMPLE, level))
    command("study", "new", kind, "-o", STUDY)
    text = STUDY.read_text(encoding="utf-8")
    for old, new in EDITS.items():
        text, count = re.subn(old, new, text)
        assert count == 1, old
    STUDY.write_text(text, encoding="utf-8")


def command(*arguments: str | Path) -> str:
    """What a command prints, which succeeds."""
    done = run(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def load_scripts(client: TestClient, own: str) -> list[str]:
    """Load what a listener's page names and what its scripts import; the paths below static."""
    page = client.get(own)
    assert page.status_code == 200, page.text
    found = re.findall(r'(?:src|href)="([^"]+\.(?:js|css))"', page.text)
    for address in found:
        text = client.get(address)
        assert text.status_code == 200, address
        for name in re.findall(r'^import .* from "(.+)"', text.text, re.M):
            assert client.get(urljoin(address, name)).status_code == 200, name
    return [address.split("/", 3)[3] for address in found]


def main(kind: str) -> None:
    """Run a study whose last listener always gives the same answer."""
    write_study(kind)
    found: dict[str, Any] = {"check": command("study", "check", STUDY)}
    command("study", "links", STUDY)
    with served(STUDY, "study.db") as client:
        found["scripts"] = load_scripts(client, link(client))
        anyone = Anyone()

        def hear(view: Mapping[str, Any]) -> dict[str, Any]:
            """Rate a clip by its level."""
            if not view.get("sounds"):
                return anyone(view)
            content = client.get(view["sounds"][0]["address"]).content
            [question] = view["questions"]
            found["renderer"], found["prompt"] = view["renderer"], question["prompt"]
            found["labels"] = {one["value"]: one["label"] for one in question["options"]}
            return {question["name"]: content[-1]}

        def guess(view: Mapping[str, Any]) -> dict[str, Any]:
            """Answer all trials alike."""
            return (
                {one["name"]: 3 for one in view["questions"]}
                if view.get("sounds")
                else anyone(view)
            )

        for listener in range(1, HONEST_LISTENERS + 2):
            take(client, link(client, listener), hear if listener <= HONEST_LISTENERS else guess)
    command("study", "export", STUDY, "-o", ANSWERS)
    command("study", "analyse", STUDY, ANSWERS, "-o", REPORT)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
