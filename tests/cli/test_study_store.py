"""Commands that back up, restore and convert the database of a study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from earwitness.store.store import Store
from helpers.command_line import Finished, run
from helpers.databases import either_address as address
from helpers.http_listener import join, link, served, take
from helpers.store_answers import ask
from helpers.study_listener import Anyone, study

__all__ = ["address"]

EXPORTS = (
    ("export",),
    ("export", "--content", "all"),
    ("status", "--to", "csv"),
    ("status", "--to", "json"),
    ("links", "--to", "csv"),
)


def good(*arguments: str | Path) -> Finished:
    """A command of a study that ends well."""
    done = run("study", *arguments)
    assert done.returncode == 0, done.stderr
    return done


def exports(path: Path, db: str | Path) -> list[str]:
    """All that can be got out of a database."""
    return [good(verb, path, "--db", db, *more).stdout for verb, *more in EXPORTS]


def test_exports_of_a_restored_study_are_the_same_to_the_byte(
    folder: Path, address: str, new_schema: Callable[[], str]
) -> None:
    path, backup = study(folder, "acr", "rest_minutes: 0\nlisteners: 3\n"), folder / "backup.db"
    path.write_text(path.read_text().replace("listeners: 2\n", "", 1))
    with served(path, address, open=1) as client:
        take(client, link(client, 1), Anyone(seed=1))
        take(client, link(client, 2), Anyone(seed=2), stop="1.2")
        join(client, "?PROLIFIC_PID=5f8a")
        told = good("backup", path, "--db", address, "-o", backup).stderr
        before = exports(path, address)
    assert told.startswith(f"wrote {backup}: ")
    assert " answers from 3 listeners, last activity at 20" in told
    for target in (str(folder / "new.db"), new_schema()):
        assert good("restore", path, backup, "--db", target).stderr.startswith("restored ")
        assert exports(path, target) == before
        with served(path, target, open=1) as client:
            take(client, link(client, 2), Anyone(seed=2))
        refused = run("study", "restore", path, backup, "--db", target)
        assert refused.returncode == 2
        assert "the database already has this study" in refused.stderr


@pytest.mark.parametrize("named", [False, True])
def test_a_check_leaves_a_database_of_another_version_as_it_is(
    folder: Path, *, named: bool
) -> None:
    path, db = study(folder, "acr"), folder / "study.db"
    Store.open(db, version="0.0.1").close()
    ask(f"sqlite:///{db}", "UPDATE layout SET number = 0")
    before, names = db.read_bytes(), sorted(folder.iterdir())
    done = run("study", "check", path, "--no-audio", *(("--db", db) if named else ()))
    assert done.returncode == (2 if named else 0)
    told = "the database was created by another version (earwitness 0.0.1, layout 0;"
    assert ("" if named else "note: changes of audio were not checked: ") + told in done.stderr
    assert (db.read_bytes(), sorted(folder.iterdir())) == (before, names)


@pytest.mark.parametrize("named", [False, True])
def test_a_check_tells_of_answers_to_another_version_of_the_study(
    folder: Path, *, named: bool
) -> None:
    path, db = study(folder, "acr"), folder / "study.db"
    with served(path, str(db)) as client:
        take(client, link(client), Anyone(), stop="1.2")
    path.write_text(path.read_text() + "seed: 2\n")
    told = good("check", path, "--no-audio", *(("--db", db) if named else ())).stderr
    assert "note: the database has answers to another version of this study" in told


def test_a_copy_of_the_file_alone_is_told(folder: Path) -> None:
    path, db = study(folder, "acr"), folder / "own.db"
    with served(path, str(db)) as client:
        (folder / "study.db").write_bytes(b"")
        assert link(client)
        for command in ("status", "export", "backup"):
            more = ("-o", folder / "x") if command == "backup" else ()
            refused = run("study", command, path, *more)
            assert refused.returncode == 2
            assert "is it a copy made while the server was running?" in refused.stderr
            assert "earwitness study backup" in refused.stderr
