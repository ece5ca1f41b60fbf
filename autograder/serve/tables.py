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

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from ..model.errors import KitError

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
    sa.Column("made", sa.Float, nullable=False, key="created"),
    sa.Column("used", sa.Float),
)
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, index=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("kind", sa.String(20), nullable=False),  # browser, program or hub
    sa.Column("seen", sa.Float, nullable=False, key="last_used"),
    sa.Column("ends", sa.Float, nullable=False, key="expires"),
)
contents = sa.Table(
    "contents",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
submissions = sa.Table(
    "tries",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("receipt", sa.String(40), nullable=False, unique=True),
    sa.Column("student", sa.String(200), nullable=False),
    sa.Column("week", sa.String(200), nullable=False),
    sa.Column("door", sa.String(20), nullable=False, key="channel"),  # page, command or exchange
    sa.Column("source", sa.String(400), unique=True),  # the folder's name in the exchange
    sa.Column("digest", sa.String(64), nullable=False),
    # When the student submitted (seconds since the epoch). In the exchange, students can forge it,
    # so it determines only lateness.
    sa.Column("received", sa.Float, nullable=False),
    # The earliest time at which the result may be visible, by this service's clock. Attempts and
    # cooldown are counted from this time.
    sa.Column("counted", sa.Float, nullable=False, server_default="0", key="counts_from"),
    sa.Column("state", sa.String(20), nullable=False),
    sa.Column("held", sa.Boolean, nullable=False, key="withheld"),  # result not visible yet
    sa.Column("turn", sa.Integer, nullable=False, key="earlier"),  # submissions graded earlier
    sa.Column("place", sa.Integer, nullable=False, key="position"),  # among equal `earlier`
    sa.Column("attempts", sa.Integer, nullable=False),  # how often grading was started
    sa.Column("not_before", sa.Float, nullable=False),
    sa.Column("trouble", sa.Text, nullable=False, key="error"),  # a system error
    # The service that grades the submission, and when its lease expires.
    sa.Column("owner", sa.String(400), nullable=False, server_default=""),
    sa.Column("leased", sa.Float, nullable=False, server_default="0", key="leased_until"),
    # When the student restored the submission (seconds since the epoch), or 0.
    sa.Column("chosen", sa.Float, nullable=False, server_default="0", key="restored"),
    sa.Index("of_student", "student", "week"),
    sa.Index("in_line", "state", "withheld", "earlier", "position"),
)
# Files that a student has sent and not confirmed yet.
drafts = sa.Table(
    "drafts",
    metadata,
    sa.Column("student", sa.String(200), primary_key=True),
    sa.Column("week", sa.String(200), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("left_out", sa.Text, nullable=False),  # one line per rejected file
    sa.Column("made", sa.Float, nullable=False, key="created"),
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
# Up to when a student's results for a week are recorded, and the error if recording failed.
recorded = sa.Table(
    "settled",
    metadata,
    sa.Column("student", sa.String(200), primary_key=True),
    sa.Column("week", sa.String(200), primary_key=True),
    sa.Column("receipt", sa.String(40), nullable=False, default=""),  # used by earlier versions
    sa.Column("graded", sa.Float, nullable=False),  # time of the newest recorded result
    sa.Column("not_before", sa.Float, nullable=False),
    sa.Column("trouble", sa.Text, nullable=False, key="error"),
)


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
        _add_columns(engine)
    except (SQLAlchemyError, ImportError) as error:
        raise KitError(f"--db: the database cannot be opened: {first_line(error)}") from None
    return engine


def _add_columns(engine: sa.Engine) -> None:
    """Add the columns that are missing in a database from an earlier version."""
    inspector = sa.inspect(engine)
    for table in metadata.sorted_tables:
        existing = {column["name"] for column in inspector.get_columns(table.name)}
        for column in table.columns:
            if column.name not in existing:
                definition = sa.schema.CreateColumn(column).compile(dialect=engine.dialect)
                with engine.begin() as db:
                    db.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")
    earlier = submissions.c.counts_from == 0
    with engine.begin() as db:
        db.execute(submissions.update().where(earlier).values(counts_from=submissions.c.received))


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
