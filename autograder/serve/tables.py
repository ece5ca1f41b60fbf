"""The service's database: SQLite in the project's private folder, or PostgreSQL by URL.

A commit is on disk before it returns, because SQLite flushes its write-ahead log at each commit.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from ..model.errors import KitError

WAITING, RUNNING, GRADED, REPLACED = "waiting", "running", "graded", "replaced"
COUNTED = (RUNNING, GRADED)  # a submission in these states has used up an attempt
_POOL = {"pool_size": 16, "max_overflow": 16}  # at least as many as threads that use it
_WRITING = threading.Lock()
metadata = sa.MetaData()

# Tokens and session keys are stored as hashes. A token is exchanged once for a session.
tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, index=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("used", sa.Float),
)
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, index=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("kind", sa.String(20), nullable=False),  # browser, program or hub
    sa.Column("last_used", sa.Float, nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
)
contents = sa.Table(
    "contents",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
submissions = sa.Table(
    "submissions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("receipt", sa.String(40), nullable=False, unique=True),
    sa.Column("student", sa.String(200), nullable=False),
    sa.Column("week", sa.String(200), nullable=False),
    sa.Column("channel", sa.String(20), nullable=False),  # page, command or exchange
    sa.Column("source", sa.String(400), unique=True),  # the folder's name in the exchange
    sa.Column("digest", sa.String(64), nullable=False),
    # When the student submitted (seconds since the epoch). In the exchange, students can forge it,
    # so it determines only lateness.
    sa.Column("received", sa.Float, nullable=False),
    # The earliest time at which the result may be visible, by this service's clock. Attempts and
    # cooldown are counted from this time.
    sa.Column("counts_from", sa.Float, nullable=False),
    sa.Column("state", sa.String(20), nullable=False),
    sa.Column("withheld", sa.Boolean, nullable=False),  # the result is not visible yet
    sa.Column("earlier", sa.Integer, nullable=False),  # submissions that were graded earlier
    sa.Column("position", sa.Integer, nullable=False),  # among equal `earlier`
    sa.Column("attempts", sa.Integer, nullable=False),  # how often grading was started
    sa.Column("not_before", sa.Float, nullable=False),
    sa.Column("error", sa.Text, nullable=False),  # a system error that stopped grading
    # The service that grades the submission, and when its lease expires.
    sa.Column("owner", sa.String(400), nullable=False, default=""),
    sa.Column("leased_until", sa.Float, nullable=False, default=0.0),
    # When the student restored the submission (seconds since the epoch), or 0.
    sa.Column("restored", sa.Float, nullable=False),
    sa.Index("of_student", "student", "week"),
    sa.Index("in_order", "state", "withheld", "earlier", "position"),
)
# Files that a student has sent and not confirmed yet.
drafts = sa.Table(
    "drafts",
    metadata,
    sa.Column("student", sa.String(200), primary_key=True),
    sa.Column("week", sa.String(200), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("left_out", sa.Text, nullable=False),  # one line per rejected file
    sa.Column("created", sa.Float, nullable=False),
)
results = sa.Table(
    "results",
    metadata,
    sa.Column("receipt", sa.String(40), primary_key=True),
    sa.Column("graded", sa.Float, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("score", sa.Float, nullable=False),
    sa.Column("report", sa.LargeBinary, nullable=False),
)
# The progress of recording results in the gradebook, and the error if recording failed.
recorded = sa.Table(
    "recorded",
    metadata,
    sa.Column("student", sa.String(200), primary_key=True),
    sa.Column("week", sa.String(200), primary_key=True),
    sa.Column("graded", sa.Float, nullable=False),  # time of the newest recorded result
    sa.Column("not_before", sa.Float, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
)


class QueuedSubmission(msgspec.Struct, frozen=True):
    """A row of the table `submissions`. The table `contents` has its files, by digest."""

    receipt: str
    student: str
    week: str
    channel: str
    digest: str
    received: float
    state: str
    withheld: bool = False
    counts_from: float = 0.0
    earlier: int = 0
    position: int = 0
    attempts: int = 0
    not_before: float = 0.0
    error: str = ""
    source: str | None = None
    number: int = 0
    restored: float = 0.0


def queued_submission(row: sa.Row[Any]) -> QueuedSubmission:
    return msgspec.convert(row, QueuedSubmission, from_attributes=True)


def recency(submission: QueuedSubmission) -> tuple[float, int]:
    """Return a sort key: the time of submission or restoration, then the number."""
    return max(submission.received, submission.restored), submission.number


class Store:
    """Base class for reading and writing the tables. All methods block."""

    def __init__(self, engine: sa.Engine, clock: Callable[[], float] = time.time) -> None:
        self.engine, self.clock = engine, clock

    @property
    def shared(self) -> bool:
        """Return True if services on several machines may use this database."""
        return self.engine.dialect.name != "sqlite"

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        # SQLite allows one writer at a time, and waiting for a lock is cheaper than retrying
        with nullcontext() if self.shared else _WRITING, self.engine.begin() as db:
            if not self.shared:
                db.exec_driver_sql("BEGIN IMMEDIATE")
            yield db

    def execute(self, *statements: sa.UpdateBase) -> int:
        """Execute statements in one transaction; return the row count of the last one."""
        with self.transaction() as db:
            return [db.execute(statement).rowcount for statement in statements][-1]

    def read(self, query: sa.Executable) -> sa.Result[Any]:
        """Run a query and return all its rows."""
        with self.engine.connect() as db:
            return db.execute(query).freeze()()

    def insert(self, table: sa.Table, **row: Any) -> Any:
        """Return an INSERT statement that supports `on_conflict_…`."""
        insert = postgresql.insert if self.shared else sqlite.insert
        return insert(table).values(**row)

    def upsert(self, table: sa.Table, key: dict[str, Any], row: dict[str, Any]) -> Any:
        """Return an INSERT statement that updates the row with this primary key if it exists."""
        insertion = self.insert(table, **key, **row)
        return insertion.on_conflict_do_update(index_elements=list(key), set_=row)


def of_student(table: sa.Table, student: str, week: str) -> sa.ColumnElement[bool]:
    """Return the condition that selects a student's rows for a week."""
    return (table.c.student == student) & (table.c.week == week)


def open_database(url: str) -> sa.Engine:
    """Open the database and create missing tables; raise KitError if it cannot be reached."""
    if not url.startswith(("sqlite:///", "postgresql")):
        raise KitError("--db must look like postgresql+psycopg://user@host/database")
    if url.startswith("sqlite"):
        options: dict[str, Any] = {"connect_args": {"timeout": 20, "check_same_thread": False}}
    else:  # report an unreachable server within seconds, and replace closed connections
        options = {"pool_pre_ping": True, "connect_args": {"connect_timeout": 5}}
    try:
        engine = sa.create_engine(url, **_POOL, **options)
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _set_pragmas)
            _create_private(Path(engine.url.database or ""))
        metadata.create_all(engine)
    except (SQLAlchemyError, ImportError) as error:
        raise KitError(f"--db: the database cannot be opened: {first_line(error)}") from None
    return engine


def _set_pragmas(connection: Any, _: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=20000"):
        connection.execute(f"PRAGMA {pragma}")


def _create_private(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)


def first_line(error: Exception) -> str:
    """Return the message of a database error without the statement and its values."""
    origin = getattr(error, "orig", None) or error
    return (str(origin).strip().splitlines() or [type(origin).__name__])[0]


def error_text(error: Exception) -> str:
    """Describe an error in one line; include its type unless the message is meant for users."""
    if isinstance(error, SQLAlchemyError):
        return first_line(error)
    name = type(error).__name__
    if isinstance(error, KitError | OSError):
        return str(error) or name
    return f"{name}: {error}"


_LOCK_KEY = 0x6175746F  # arbitrary, the same for all services


class Leader(Store):
    """The leader's lock. With SQLite there is one service, which always leads. Methods block."""

    def __init__(self, engine: sa.Engine) -> None:
        super().__init__(engine)
        self._connection: sa.Connection | None = None
        self._lock = threading.Lock()

    def is_leader(self) -> bool:
        """Return True if this service leads, after trying to become the leader."""
        if not self.shared:
            return True
        with self._lock:
            try:
                if self._connection is None:
                    connection = self.engine.connect()
                    self._connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                # succeeds again on the connection that already has the lock
                lock = sa.select(sa.func.pg_try_advisory_lock(_LOCK_KEY))
                return bool(self._connection.execute(lock).scalar())
            except SQLAlchemyError:
                self.resign()
                return False

    def resign(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(SQLAlchemyError):
                connection.invalidate()  # the pool must not reuse a connection that has the lock
                connection.close()
