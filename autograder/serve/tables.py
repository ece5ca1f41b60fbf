"""The service's database: SQLite in the project's private folder, or PostgreSQL by URL.

Committed changes survive a power failure: SQLite flushes its write-ahead log at each commit.
"""

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
COUNTED = (RUNNING, GRADED)  # these states use up an attempt, unless the result is withheld
_POOL = {"pool_size": 16, "max_overflow": 16}  # at least one connection per thread
_WRITING = threading.Lock()
metadata = sa.MetaData()

_TYPES = {str: sa.Text, float: sa.Float, int: sa.Integer, bool: sa.Boolean, bytes: sa.LargeBinary}


class QueuedSubmission(msgspec.Struct, frozen=True):
    """A row of the table `submissions`. Times are in seconds since the epoch.

    channel: how the files were submitted: page, command or exchange
    digest: key of the submission's files in the table `contents`
    received: when the student submitted. This time decides whether a submission is late, and which
        submission is the latest. Students can forge it in the exchange.
    withheld: the result stays hidden until feedback is released; also set for refused submissions,
        which use up no attempt
    counts_from: the earliest time at which the result may be visible, by this service's clock.
        Attempts and cooldown are counted from this time.
    earlier: number of the student's submissions for this week whose grading had already started
    position: order among submissions with equal `earlier`
    attempts: how often grading has been started
    not_before: the earliest time at which grading may start
    error: the system error that stopped grading, or ""
    source: name of the submission's folder in the exchange, or None
    restored: when the student restored the submission, or 0
    """

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


def _table(name: str, keys: str, /, *items: sa.schema.SchemaItem, **columns: type) -> sa.Table:
    """Define a table.

    keys: the columns of the primary key, separated by spaces
    items: constraints, indexes and columns that need more options
    columns: names and types of NOT NULL columns
    """
    required: list[sa.Column[Any]] = [
        sa.Column(column, _TYPES[kind], primary_key=column in keys.split(), nullable=False)
        for column, kind in columns.items()
    ]
    return sa.Table(name, metadata, *required, *items)


submissions = _table(
    "submissions",
    "number",
    sa.Column("source", sa.Text, unique=True),
    # the service that grades the submission, and when its lease expires
    sa.Column("owner", sa.Text, nullable=False, default=""),
    sa.Column("leased_until", sa.Float, nullable=False, default=0.0),
    sa.UniqueConstraint("receipt"),
    sa.Index("of_student", "student", "week"),
    sa.Index("in_order", "state", "withheld", "earlier", "position"),
    **{f.name: f.type for f in msgspec.structs.fields(QueuedSubmission) if f.name != "source"},
)
contents = _table("contents", "digest", digest=str, data=bytes)
results = _table(
    "results", "receipt", receipt=str, graded=float, seconds=float, score=float, report=bytes
)
# Progress of recording. `graded`: time of the newest result that is in the gradebook.
recorded = _table(
    "recorded", "student week", student=str, week=str, graded=float, not_before=float, error=str
)
# Uploads that a student has not confirmed yet. `left_out`: a line for each rejected file.
drafts = _table(
    "drafts", "student week", student=str, week=str, data=bytes, left_out=str, created=float
)
# Tokens and session keys are stored as hashes. A token is exchanged once for a session.
tokens = _table(
    "tokens", "hash", sa.Column("used", sa.Float), hash=str, name=str, role=str, created=float
)
sessions = _table(
    "sessions", "hash", hash=str, name=str, role=str, kind=str, last_used=float, expires=float
)
# Who changed which mark, extension, request or token. `cell`: an exercise or a question, or "".
_texts = dict.fromkeys(("who", "kind", "student", "week", "cell", "detail"), str)
actions = _table("actions", "number", number=int, at=float, **_texts)


def queued_submission(row: sa.Row[Any]) -> QueuedSubmission:
    return msgspec.convert(row, QueuedSubmission, from_attributes=True)


def recency(submission: QueuedSubmission) -> tuple[float, int]:
    """Return a sort key: the time of submission or restoration, whichever is later."""
    return max(submission.received, submission.restored), submission.number


Clock = Callable[[], float]


class Store:
    """Base class of the classes that read and write the tables. All methods block."""

    def __init__(self, engine: sa.Engine, clock: Clock = time.time) -> None:
        self.engine, self.clock = engine, clock

    @property
    def shared(self) -> bool:
        """Return True if services on several machines may use this database."""
        return self.engine.dialect.name != "sqlite"

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        # SQLite allows only one writer at a time, and a lock is cheaper than retries
        with nullcontext() if self.shared else _WRITING, self.engine.begin() as db:
            if not self.shared:
                db.exec_driver_sql("BEGIN IMMEDIATE")
            yield db

    def execute(self, *statements: sa.UpdateBase) -> int:
        """Execute statements in one transaction; return the row count of the last one."""
        with self.transaction() as db:
            return [db.execute(statement).rowcount for statement in statements][-1]

    def read(self, query: sa.Executable) -> sa.Result[Any]:
        """Run a query and return its result with all rows loaded."""
        with self.engine.connect() as db:
            return db.execute(query).freeze()()

    def insert(self, table: sa.Table, **row: Any) -> Any:
        """Return an INSERT statement for this database that supports `on_conflict_do_…`."""
        insert = postgresql.insert if self.shared else sqlite.insert
        return insert(table).values(**row)

    def upsert(self, table: sa.Table, student: str, week: str, **row: Any) -> Any:
        """Return an INSERT statement that updates the student's row for the week if it exists."""
        insertion = self.insert(table, student=student, week=week, **row)
        return insertion.on_conflict_do_update(index_elements=["student", "week"], set_=row)


def of_student(table: sa.Table, student: str, week: str) -> sa.ColumnElement[bool]:
    """Return the SQL condition for a student's rows for a week."""
    return (table.c.student == student) & (table.c.week == week)


def open_database(url: str) -> sa.Engine:
    """Open a database and create missing tables; raise KitError if the database is unusable."""
    if url == "sqlite:///" or not url.startswith(("sqlite:///", "postgresql")):
        raise KitError(
            "--db must look like postgresql+psycopg://user@host/database or sqlite:///service.db"
        )
    if url.startswith("sqlite"):
        options: dict[str, Any] = {"connect_args": {"timeout": 20, "check_same_thread": False}}
    else:  # detect an unreachable server within seconds, and replace closed connections
        options = {"pool_pre_ping": True, "connect_args": {"connect_timeout": 5}}
    try:
        engine = sa.create_engine(url, **_POOL, **options)
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _set_pragmas)
            path = Path(engine.url.database or "")
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            path.chmod(0o600)  # private, even if the file existed before
        if sa.inspect(engine).has_table("tries"):
            raise KitError(
                "--db: the database was created by a version before 1.0, which cannot be read. "
                "Move it away and start again: graded submissions are in nbgrader's gradebook"
            )
        metadata.create_all(engine)
    except (SQLAlchemyError, ImportError, OSError) as error:
        raise KitError(f"--db: the database cannot be opened: {first_line(error)}") from None
    return engine


def _set_pragmas(connection: Any, _: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=20000"):
        connection.execute(f"PRAGMA {pragma}")


def first_line(error: Exception) -> str:
    """Return the first line of a database error, without the SQL statement and its values."""
    origin = getattr(error, "orig", None) or error
    return (str(origin).strip().splitlines() or [type(origin).__name__])[0]


def error_text(error: Exception) -> str:
    """Return the message of an error, with its type if the message is not written for users."""
    if isinstance(error, SQLAlchemyError):
        return first_line(error)
    name = type(error).__name__
    if isinstance(error, KitError | OSError):
        return str(error) or name
    return f"{name}: {error}"


_LOCK_KEY = 0x6175746F  # arbitrary, but the same for all services


class Leader(Store):
    """The lock that selects one leader among several services. All methods block.

    With SQLite there is only one service, which is always the leader.
    """

    def __init__(self, engine: sa.Engine) -> None:
        super().__init__(engine)
        self._connection: sa.Connection | None = None
        self._lock = threading.Lock()

    def is_leader(self) -> bool:
        """Try to become the leader; return True if this service is the leader."""
        if not self.shared:
            return True
        with self._lock:
            try:
                if self._connection is None:
                    connection = self.engine.connect()
                    self._connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                # succeeds again on a connection that already holds the lock
                lock = sa.select(sa.func.pg_try_advisory_lock(_LOCK_KEY))
                return bool(self._connection.execute(lock).scalar())
            except SQLAlchemyError:
                self.resign()
                return False

    def resign(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(SQLAlchemyError):
                connection.invalidate()  # the pool must not reuse the connection with the lock
                connection.close()
