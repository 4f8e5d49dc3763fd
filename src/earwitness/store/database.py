"""Connections to SQLite and PostgreSQL; files of SQLite that are moved, and its log."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
from collections import namedtuple
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Insert, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.sql.selectable import SelectBase

from earwitness.errors import EarwitnessWarning, MissingExtra, StoreError, UsageError
from earwitness.io.atomic import real_path

# --- Connections by address ----------------------------------------------------------------------
# There is one writer at a time, across all processes: a writing transaction waits for a lock when
# it begins (SQLite's write lock, an advisory lock in PostgreSQL). So what a job reads cannot change
# before it writes, and no deadlocks can occur. Readers never wait.


LOCK_TIMEOUT_SECONDS = 30  # longest wait for another process
WRITER_LOCK_ID = 0x6561_7277  # advisory lock in PostgreSQL; any number not used elsewhere
PRIVATE_FILE_MODE = 0o600
SQLITE_ERRORS = sqlite3.Error, UnicodeDecodeError  # the latter if a message has damaged names
SQLITE_PRAGMAS = (
    f"busy_timeout = {LOCK_TIMEOUT_SECONDS * 1000}",
    "synchronous = FULL",
    "fullfsync = ON",  # for systems where a plain sync does not reach the disk
    "foreign_keys = ON",
    "secure_delete = ON",  # data of withdrawn listeners is overwritten
)
# connections kept open for the threads of the server; opening one costs more than a query
READER_POOL: dict[str, Any] = {
    "pool_size": 20,
    "max_overflow": 20,
    "pool_use_lifo": True,
    "pool_timeout": 5,
}
POSTGRES_TIMEOUTS = {"connect_timeout": "5", "tcp_user_timeout": f"{LOCK_TIMEOUT_SECONDS * 1000}"}
REPLY_SECONDS = 5.0  # longest wait of a server for a reply of PostgreSQL
START_SECONDS = 300.0  # longest wait for PostgreSQL to start
EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
LOG_SECONDS, LOG_RETRY_SECONDS = 1.0, 0.02  # to empty the log of a moved file
POSTGRES_SETTINGS = (
    f"lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'",
    f"idle_in_transaction_session_timeout = '{LOCK_TIMEOUT_SECONDS}s'",  # releases hanging writers
)


@dataclass(frozen=True)
class Database:
    """Engines of one database: one for writing, one at a time, and one for reading."""

    writer: Engine
    reader: Engine
    files: FileWatch | None = None

    def close(self) -> None:
        """Close all connections."""
        self.writer.dispose()
        self.reader.dispose()
        if self.files is not None:
            self.files.close()


def connect(address: str) -> Database:
    """Connect to a database by its address, or by the path of an SQLite file."""
    url = _parse_address(address)
    if url.get_backend_name() == "sqlite":
        return _connect_sqlite(url)
    if find_spec("psycopg") is None:
        raise MissingExtra("psycopg", "postgresql", "a PostgreSQL database")
    return _connect_postgresql(url.set(drivername="postgresql+psycopg"))


def _parse_address(address: str) -> URL:
    if "://" not in address:
        return URL.create("sqlite", database=address)
    try:
        url = make_url(address.replace("postgres://", "postgresql://", 1))
    except ArgumentError:
        raise UsageError("invalid database address") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise UsageError(
            f"unsupported database {url.drivername}"
            " — use sqlite:///file.db, a path, or postgresql://…"
        )
    return url


def _connect_sqlite(url: URL) -> Database:
    if url.database in (None, "", ":memory:"):
        raise UsageError("an in-memory database would not keep answers — use the path of a file")
    path = Path(str(url.database))
    if not path.parent.is_dir():
        raise UsageError(f"{url.database}: folder {path.parent} does not exist")
    _create_private_file(path)
    _set_write_ahead_log(path)
    files = FileWatch(path)
    writer = _sqlite_engine(url, SQLITE_PRAGMAS)
    reader = _sqlite_engine(url, (*SQLITE_PRAGMAS, "query_only = ON"), **READER_POOL)
    _begin_with(writer, "BEGIN IMMEDIATE")
    _begin_with(reader, "BEGIN")
    for engine in (writer, reader):
        event.listen(engine, "do_connect", lambda *_: files.check())
    return Database(writer, reader, files)


def _sqlite_engine(url: URL, pragmas: tuple[str, ...], **pool: Any) -> Engine:
    engine = create_engine(url, **pool)

    def prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # transactions begin explicitly
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", prepare)
    return engine


def _create_private_file(path: Path) -> None:
    """Create a database file that only its owner can read; SQLite gives its log the same mode."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE_FILE_MODE))
    except FileExistsError:
        return
    except OSError as error:
        raise UsageError(f"{path}: cannot be used as a database: {error.strerror}") from None


def _set_write_ahead_log(path: Path) -> None:
    """Let readers read during writes; the setting is stored in the file."""
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        try:
            with closing(sqlite3.connect(path, timeout=LOCK_TIMEOUT_SECONDS)) as connection:
                [(mode,)] = connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except SQLITE_ERRORS as error:
            is_busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise UsageError(f"{path}: cannot be used as a database: {error}") from None
            time.sleep(0.01)  # another process is opening it
        else:
            if mode != "wal":
                raise UsageError(
                    f"{path}: file system does not support the database — use a local disk"
                )
            return


def _connect_postgresql(url: URL) -> Database:
    url = url.set(query=POSTGRES_TIMEOUTS | url.query)
    writer = create_engine(url, pool_pre_ping=True)
    reader = create_engine(
        url, pool_pre_ping=True, isolation_level="REPEATABLE READ", **READER_POOL
    )
    event.listen(writer, "connect", _prepare_postgresql_connection)
    _begin_with(writer, f"BEGIN; SELECT pg_advisory_xact_lock({WRITER_LOCK_ID})")
    _begin_with(reader, "SET TRANSACTION READ ONLY")
    encoding = _read_encoding(reader)
    if encoding != "UTF8":
        raise UsageError(f"the database encoding must be UTF8, got {encoding}")
    return Database(writer, reader)


def _read_encoding(engine: Engine) -> Any:
    """Return the encoding of a database; wait for it while PostgreSQL starts or recovers."""
    deadline = time.monotonic() + START_SECONDS
    while _is_starting(engine) and time.monotonic() < deadline:
        message = f"PostgreSQL is starting: waiting up to {START_SECONDS:.0f} s"
        warnings.warn(message, EarwitnessWarning, stacklevel=2)
        time.sleep(1)
    try:
        with engine.connect() as connection:
            return connection.exec_driver_sql("SHOW server_encoding").scalar()
    except DBAPIError as error:
        raise StoreError(f"cannot connect to the database: {error.orig}") from None


def _is_starting(engine: Engine) -> bool:
    """Return whether a PostgreSQL server accepts no connections yet, or no longer."""
    import psycopg

    _, parameters = engine.dialect.create_connect_args(engine.url)
    parameters.pop("context", None)
    address = psycopg.conninfo.make_conninfo(**parameters)
    return psycopg.pq.PGconn.ping(address.encode()) == psycopg.pq.Ping.REJECT


def _begin_with(engine: Engine, statement: str) -> None:
    """Execute a statement at the beginning of each transaction."""
    event.listen(engine, "begin", lambda connection: execute_directly(connection, statement))


def _prepare_postgresql_connection(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        for setting in POSTGRES_SETTINGS:
            cursor.execute(f"SET {setting}")
        cursor.execute("SHOW synchronous_commit")
        if cursor.fetchone() == ("off",):
            cursor.execute("SET synchronous_commit = on")
    connection.commit()
    connection.autocommit = True  # transactions begin explicitly, in one message with their lock


def prepare_for_serving(database: Database) -> None:
    """Let new connections to PostgreSQL be closed if a reply takes too long.

    A process of PostgreSQL that is stopped cannot keep to a limit of its own. A file of SQLite that
    was a backup is one no longer, so that no other backup replaces it.
    """
    if database.files is not None:
        with database.writer.begin() as connection:
            connection.exec_driver_sql("PRAGMA application_id = 0")
        return
    import psycopg

    class LimitedConnection(psycopg.Connection[Any]):
        def wait(self, gen: Generator[Any, Any, Any], *options: Any, **more: Any) -> Any:
            try:
                return super().wait(_limit_wait(gen), *options, **more)
            except psycopg.errors.ConnectionTimeout:
                self.close()
                raise

    for engine in (database.writer, database.reader):
        engine.dispose()
        event.listen(
            engine, "do_connect", lambda _, __, args, more: LimitedConnection.connect(*args, **more)
        )


def _limit_wait(steps: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Pass on what psycopg waits for, but only as long as the database gives signs of life."""
    import psycopg

    deadline, is_ready = time.monotonic() + REPLY_SECONDS, None
    try:
        while True:
            is_ready = yield steps.send(is_ready)
            if is_ready:
                deadline = time.monotonic() + REPLY_SECONDS
            elif time.monotonic() > deadline:
                raise psycopg.errors.ConnectionTimeout(f"no reply in {REPLY_SECONDS:.0f} s")
    except StopIteration as end:
        return end.value


def is_timeout(error: BaseException) -> bool:
    """Return whether PostgreSQL did not reply in time."""
    return type(getattr(error, "orig", error)).__name__ == "ConnectionTimeout"


# --- Files of SQLite that are moved --------------------------------------------------------------
# A file that is renamed or deleted stays open, and SQLite notices nothing: what it stores is in a
# file that nobody has a name for.


class FileWatch:
    """Notices that the file of a database, or its log, no longer has its name.

    Its own connection keeps both files open.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._log = path.absolute(), Path(f"{real_path(path)}-wal")
        self._connection = sqlite3.connect(path, timeout=1, check_same_thread=False)
        try:
            self._connection.execute("SELECT 1 FROM sqlite_master").fetchall()  # opens the log
        except SQLITE_ERRORS as error:
            self._connection.close()
            raise UsageError(f"{path}: cannot be used as a database: {error}") from None
        self._identities, self._lock = self._find_identities(), threading.Lock()
        self._copied = ""  # what happened, if the answers were copied into a new file

    def check(self) -> None:
        """Raise StoreError if a file has lost its name."""
        if loss := self.describe_loss():
            raise StoreError(
                f"{loss}; nothing is saved until the file is back or the server is restarted"
            )

    def describe_loss(self) -> str:
        """Return what happened to the files and where the answers are; empty if nothing happened.

        Where no file has a name any more, the answers are copied into a new one.
        """
        if self._find_identities() == self._identities:
            self._copied = ""
            return ""
        with self._lock:
            return self._copied or self._find_answers()

    def close(self) -> None:
        """Close the files."""
        self._connection.close()

    def _find_identities(self) -> tuple[Any, Any]:
        return _identify_file(self._path), _identify_file(self._log)

    def _find_answers(self) -> str:
        """Put all received answers into one file; return what happened and its name."""
        if _identify_file(self._path) == self._identities[0]:
            event, kept = f"{self._log} was renamed or deleted", self._path
        elif new_path := self._find_new_path():
            event, kept = f"{self._path} was renamed", new_path
        else:
            event = f"{self._path} was deleted or replaced"
            kept = Path(f"{self._path}.saved-{time.strftime('%Y%m%d-%H%M%S')}")
        loss = f"{event} while in use; the answers received before are in {kept}"
        try:
            if event.endswith("replaced"):
                _create_private_file(kept)
                with closing(sqlite3.connect(kept)) as copy:
                    self._connection.backup(copy)
                self._copied = loss
            else:
                loss += " and in its log (-wal)" if not self._empty_log() else ""
        except (sqlite3.Error, UsageError) as error:
            return f"{event} while in use, and its answers cannot be copied: {error}"
        return loss

    def _empty_log(self) -> bool:
        """Return whether the log could be emptied; SQLite does not wait for other attempts."""
        end = time.monotonic() + LOG_SECONDS
        while True:
            [(is_busy, *_)] = self._connection.execute(EMPTY_LOG).fetchall()
            if not is_busy or time.monotonic() > end:
                return not is_busy
            time.sleep(LOG_RETRY_SECONDS)

    def _find_new_path(self) -> Path | None:
        """Return the present path of the file, if the system knows it."""
        for link in Path("/proc/self/fd").glob("*"):
            with suppress(OSError):
                path = link.readlink()
                if _identify_file(path) == self._identities[0]:
                    return path
        return None


def _identify_file(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes an existing file from all others."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


# --- Statements sent to the driver directly ------------------------------------------------------
# SQLAlchemy takes several times as long as the database for a small statement, which matters if
# every answer needs it.


class DirectStatement:
    """A statement that is compiled once and sent to the driver directly.

    Columns must be texts or integers, which the drivers convert as SQLAlchemy would.

    Parameters
    ----------
    statement
        What to select, or what to insert.
    columns
        Columns of the rows to insert.
    """

    def __init__(self, statement: SelectBase | Insert, columns: Iterable[str] = ()) -> None:
        self._statement, self._columns = statement, list(columns)
        names = (
            [] if isinstance(statement, Insert) else [c.name for c in statement.selected_columns]
        )
        self._row_class: Any = namedtuple("Row", names)  # type: ignore[misc]
        self._compiled = dict[str, tuple[str, Sequence[str] | None]]()  # by name of the database

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[Any]:
        """Return all rows, with columns as attributes."""
        sql, names = self._prepare(connection)
        found = execute_directly(connection, sql, values_in_order(values, names), fetch=True)
        return [self._row_class._make(row) for row in found]

    def insert(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> int:
        """Insert rows; return how many were inserted."""
        sql, names = self._prepare(connection)
        values = (values_in_order(row, names) for row in rows)
        return sum(execute_directly(connection, sql, value).rowcount for value in values)

    def _prepare(self, connection: Connection) -> tuple[str, Sequence[str] | None]:
        """Begin a transaction if needed; return the SQL, and its parameters in order, if any."""
        if not connection.in_transaction():
            connection.begin()
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            full = self._statement.compile(dialect=dialect, column_keys=self._columns or None)
            compiled = self._compiled[dialect.name] = str(full), getattr(full, "positiontup", None)
        return compiled


def execute_directly(
    connection: Connection, sql: str, values: Any = (), *, fetch: bool = False
) -> Any:
    """Execute a statement of the driver's own form; return its cursor, or all rows."""
    driver: Any = connection.connection.driver_connection
    try:
        cursor = driver.execute(sql, values)
        return cursor.fetchall() if fetch else cursor
    except connection.dialect.loaded_dbapi.Error as error:
        raise DBAPIError(sql, None, error) from None


def values_in_order(values: Mapping[str, Any], names: Sequence[str] | None) -> Any:
    """Return values as the driver needs them: in order of these names, if given."""
    return values if names is None else [values[name] for name in names]


# --- Scrubbing of the SQLite log -----------------------------------------------------------------
# The log can be emptied only when no reader uses its old content. That may take a while, so it is
# retried, without blocking other connections.


FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.02, 10.0  # delay between tries, doubled up to a limit


class Scrubber:
    """Empties the log in a thread, which runs only while there is something to do."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine if engine.dialect.name == "sqlite" else None
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._requested_count, self._served_count = 0, 0  # numbers of requests, and of those done
        self._thread: threading.Thread | None = None
        self._log_is_empty = threading.Event()

    def request(self) -> threading.Event:
        """Empty the log as soon as possible; return an event that is set when it is empty."""
        with self._lock:
            if self._engine is None:
                self._log_is_empty.set()
                return self._log_is_empty
            self._requested_count += 1
            self._log_is_empty = (
                threading.Event() if self._log_is_empty.is_set() else self._log_is_empty
            )
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="scrubber", daemon=True)
                self._thread.start()
            return self._log_is_empty

    def close(self) -> None:
        """Stop after a last try; the log is otherwise emptied by the next one to use the file."""
        self._closed.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        pause = FIRST_RETRY_SECONDS
        while not self._has_finished():
            requested, is_last = self._requested_count, self._closed.is_set()
            if self._truncate_log():
                self._served_count = requested
            elif is_last:
                return
            else:
                self._closed.wait(pause)
                pause = min(MAX_RETRY_SECONDS, 2 * pause)

    def _has_finished(self) -> bool:
        with self._lock:
            is_done = self._served_count == self._requested_count
            if is_done:
                self._thread = None
                self._log_is_empty.set()
            return is_done

    def _truncate_log(self) -> bool:
        """Empty the log without waiting; return whether it is empty."""
        assert self._engine is not None
        try:
            with self._engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                [(timeout_ms,)] = driver.execute("PRAGMA busy_timeout").fetchall()
                driver.execute("PRAGMA busy_timeout = 0")
                try:
                    [checkpoint] = driver.execute(EMPTY_LOG).fetchall()
                finally:
                    driver.execute(f"PRAGMA busy_timeout = {timeout_ms}")
        except (DBAPIError, sqlite3.Error, StoreError):
            return False
        return tuple(checkpoint[:2]) == (0, 0)
