"""Backups of a study: consistent copies of its database, made while it is in use."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

from sqlalchemy import Connection, Table, func, insert, select, text

from earwitness.errors import UsageError
from earwitness.io.atomic import real_path, sync_path
from earwitness.store.database import PRIVATE_FILE_MODE, SQLITE_ERRORS
from earwitness.store.listeners import study_serial
from earwitness.store.store import Store
from earwitness.store.tables import ROWS_IN_MEMORY, TABLES, layout, listeners, studies

BACKUP_MARK = 0x6561_7762  # application id of SQLite files that are backups


class BackupContent(NamedTuple):
    """Number of listeners with answers, number of their answers, and time of the last activity."""

    listeners: int
    answers: int
    last: str


# --- Backups -------------------------------------------------------------------------------------


def write_backup(store: Store, study: str, path: Path) -> BackupContent:
    """Write a backup of a study, an SQLite file that appears only when it is complete.

    Of SQLite, the whole database is copied; of PostgreSQL, all rows of the study. A file that
    exists is replaced only if it is a backup of the same studies.
    """
    target = real_path(path)
    if not target.parent.is_dir():
        raise UsageError(f"{path}: the folder {path.parent} does not exist")
    try:
        with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
            new = Path(folder) / target.name
            store.read(_copy_database, study, new)
            with Store.open(new) as copy:
                content = count_content(copy, study)
            with closing(sqlite3.connect(new)) as file:
                _check_integrity(file)
                file.execute("PRAGMA journal_mode = DELETE")
                file.execute(f"PRAGMA application_id = {BACKUP_MARK}")
                _check_replaceable(path, file)
            new.chmod(PRIVATE_FILE_MODE)
            new.replace(target)
            sync_path(target.parent)
    except (OSError, *SQLITE_ERRORS) as error:
        raise UsageError(f"{path}: the backup failed: {error}") from None
    return content


def count_content(store: Store, study: str) -> BackupContent:
    """Return what a database has of a study."""
    answered = [status for status in store.status(study) if status.answers]
    last = max((status.last or "" for status in answered), default="")
    return BackupContent(len(answered), sum(status.answers for status in answered), last)


def _copy_database(connection: Connection, study: str, path: Path) -> None:
    if connection.dialect.name == "sqlite":
        source: Any = connection.connection.driver_connection
        with closing(sqlite3.connect(path)) as target:
            source.backup(target)
        return
    with Store.open(path) as copy:
        copy.write(copy_study, connection, study).result()


def _check_integrity(file: sqlite3.Connection) -> None:
    [(fault,)] = file.execute("PRAGMA integrity_check(1)").fetchall()
    if fault != "ok":
        raise sqlite3.DatabaseError(fault)


def _check_replaceable(path: Path, new: sqlite3.Connection) -> None:
    """Refuse to replace a file with anything that the new backup lacks, or one that is in use."""
    if path.exists() and not _is_older_backup(path, new):
        raise UsageError(f"{path} exists and is not a backup of this study — choose another file")
    for end in ("-wal", "-journal"):  # SQLite would apply it to the new file, which damages that
        if (log := Path(f"{real_path(path)}{end}")).exists():
            raise UsageError(
                f"{log} exists, so {path} is in use, or a process that used it was killed"
                " — choose another file"
            )


def _is_older_backup(path: Path, new: sqlite3.Connection) -> bool:
    query = "SELECT digest FROM studies"
    try:
        with closing(_open_unchanged(path)) as old:
            [(mark,)] = old.execute("PRAGMA application_id").fetchall()
            return mark == BACKUP_MARK and set(old.execute(query)) <= set(new.execute(query))
    except SQLITE_ERRORS:
        return False


# --- Restoring -----------------------------------------------------------------------------------


def restore_backup(path: Path, address: str, study: str, version: str) -> BackupContent:
    """Copy a study from a backup into a database that does not have it."""
    with open_copy(path) as backup:
        content = count_content(backup, study)
        with Store.open(address, version=version) as store:
            backup.read(lambda source: store.write(copy_study, source, study).result())
    return content


@contextmanager
def open_copy(path: Path) -> Iterator[Store]:
    """Open a temporary copy of an SQLite database, which is left as it is."""
    with TemporaryDirectory() as folder:
        new = Path(folder) / path.name
        try:
            with closing(_open_unchanged(path)) as source, closing(sqlite3.connect(new)) as copy:
                source.backup(copy)
                _check_integrity(copy)
        except SQLITE_ERRORS as error:
            raise UsageError(f"{path}: cannot be used as a database: {error}") from None
        with Store.open(new) as store:
            yield store


def _open_unchanged(path: Path) -> sqlite3.Connection:
    """Open a file for reading; if nobody has it open, SQLite creates no files beside it."""
    how = "" if Path(f"{real_path(path)}-wal").exists() else "&immutable=1"
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro{how}", uri=True)


def copy_study(target: Connection, source: Connection, study: str) -> None:
    """Copy all rows of a study into a database that does not have it.

    Row ids stay as they are in an empty database, and are shifted otherwise.
    """
    if target.scalar(select(studies.c.serial).where(studies.c.digest == study)) is not None:
        raise UsageError("the database already has this study — restore it into another one (--db)")
    serial = study_serial(source, study)
    own = select(listeners.c.serial).where(listeners.c.study == serial)
    shifts = dict[str, int]()
    for table in (table for table in TABLES.sorted_tables if table is not layout):
        shifts[table.name] = target.scalar(select(func.coalesce(func.max(table.c.serial), 0))) or 0
        rows = select(table)
        if table is studies:
            rows = rows.where(table.c.serial == serial)
        elif "study" in table.c:
            rows = rows.where(table.c.study == serial)
        else:
            rows = rows.where(table.c.listener.in_(own))
        _copy_rows(target, source, table, rows, shifts)


def _copy_rows(
    target: Connection, source: Connection, table: Table, rows: Any, shifts: dict[str, int]
) -> None:
    columns = {"serial": table.name, "study": "studies", "listener": "listeners"}
    moved = {column: shifts[name] for column, name in columns.items() if column in table.c}
    found = source.execute(rows.execution_options(yield_per=ROWS_IN_MEMORY))
    for part in found.mappings().partitions():
        copies = [
            {**row, **{column: row[column] + shift for column, shift in moved.items()}}
            for row in part
        ]
        for copy in copies:
            if copy.get("former") is not None:
                copy["number"] = -copy["serial"]
        target.execute(insert(table), copies)
    if target.dialect.name == "postgresql" and moved:
        last = f"(SELECT max(serial) FROM {table.name})"
        target.execute(
            text(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'serial'), {last})")
        )
