"""The service's database: SQLite in the project's private folder, or PostgreSQL by URL.

A commit is on the disk before it returns: SQLite writes a log that is flushed at each of them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from ...model.errors import KitError

# As many as there are threads that ask.
_POOL = {"pool_size": 16, "max_overflow": 16}

metadata = sa.MetaData()

# Secrets are kept as hashes. A token is used once, and then a session stands for the person.
tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, index=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("made", sa.Float, nullable=False),
    sa.Column("used", sa.Float),
)
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, index=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("kind", sa.String(20), nullable=False),  # browser or program
    sa.Column("seen", sa.Float, nullable=False),
    sa.Column("ends", sa.Float, nullable=False),
)
contents = sa.Table(
    "contents",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
tries = sa.Table(
    "tries",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("receipt", sa.String(40), nullable=False, unique=True),
    sa.Column("student", sa.String(200), nullable=False),
    sa.Column("week", sa.String(200), nullable=False),
    sa.Column("door", sa.String(20), nullable=False),  # page, command or exchange
    sa.Column("source", sa.String(400), unique=True),  # the folder's name in the exchange
    sa.Column("digest", sa.String(64), nullable=False),
    # seconds of UTC: when the student submitted. In the exchange the student's machine says so,
    # so lateness depends on it and nothing else.
    sa.Column("received", sa.Float, nullable=False),
    # when its result may be shown at the earliest, by this service's clock: attempts are counted
    # and the cooldown is measured from here
    sa.Column("counted", sa.Float, nullable=False, server_default="0"),
    sa.Column("state", sa.String(20), nullable=False),
    sa.Column("held", sa.Boolean, nullable=False),  # graded, and its result is not told
    sa.Column("turn", sa.Integer, nullable=False),  # how many tries of the student went before
    sa.Column("place", sa.Integer, nullable=False),  # in the line of those with the same turn
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("not_before", sa.Float, nullable=False),
    sa.Column("trouble", sa.Text, nullable=False),  # of ours, for the instructor
    # which service grades it, and until when that is believed if nothing more is heard of it
    sa.Column("owner", sa.String(400), nullable=False, server_default=""),
    sa.Column("leased", sa.Float, nullable=False, server_default="0"),
    # when the student restored it (seconds of UTC): it counts before those received earlier
    sa.Column("chosen", sa.Float, nullable=False, server_default="0"),
    sa.Index("of_student", "student", "week"),
    sa.Index("in_line", "state", "held", "turn", "place"),
)
# Files that a student has sent and not submitted yet: they see first what would be submitted.
drafts = sa.Table(
    "drafts",
    metadata,
    sa.Column("student", sa.String(200), primary_key=True),
    sa.Column("week", sa.String(200), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("left_out", sa.Text, nullable=False),  # a line for each file that is not taken
    sa.Column("made", sa.Float, nullable=False),
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
# What stands in the gradebook for a student's week, and what was said where it could not.
settled = sa.Table(
    "settled",
    metadata,
    sa.Column("student", sa.String(200), primary_key=True),
    sa.Column("week", sa.String(200), primary_key=True),
    sa.Column("receipt", sa.String(40), nullable=False),
    sa.Column("graded", sa.Float, nullable=False),  # the newest result that was known then
    sa.Column("not_before", sa.Float, nullable=False),
    sa.Column("trouble", sa.Text, nullable=False),
)


class Rows:
    """What reads and writes the tables. Methods of those who inherit it block."""

    def __init__(self, engine: sa.Engine, clock: Callable[[], float] = time.time) -> None:
        self.engine, self.clock = engine, clock

    @property
    def shared(self) -> bool:
        """Return whether services on several machines may use this database."""
        return self.engine.dialect.name != "sqlite"

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        """A transaction, whole or not at all."""
        if self.shared:
            with self.engine.begin() as connection:
                yield connection
            return
        # SQLite takes one writer at a time: waiting here costs less than failing there
        with _WRITING.setdefault(self.engine, threading.Lock()), self._read() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        with self.engine.connect() as connection:
            yield connection


_WRITING: WeakKeyDictionary[sa.Engine, threading.Lock] = WeakKeyDictionary()


def open_database(url: str) -> sa.Engine:
    """The database with its tables; raises KitError if it cannot be reached."""
    if not url.startswith(("sqlite:///", "postgresql")):
        raise KitError("--db must look like postgresql+psycopg://user@host/database")
    try:
        engine = sa.create_engine(url, **_options(url))
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _careful)
            _private(Path(engine.url.database or ""))
        metadata.create_all(engine)
        _add_columns(engine)
    except (SQLAlchemyError, ImportError) as error:
        raise KitError(f"--db: the database cannot be opened: {first_line(error)}") from None
    return engine


def _add_columns(engine: sa.Engine) -> None:
    """What a database of an earlier version lacks."""
    there = sa.inspect(engine)
    for table in metadata.sorted_tables:
        known = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                definition = sa.schema.CreateColumn(column).compile(dialect=engine.dialect)
                with engine.begin() as db:
                    db.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")
    with engine.begin() as db:
        earlier = tries.c.counted == 0
        db.execute(tries.update().where(earlier).values(counted=tries.c.received))


def _options(url: str) -> dict[str, Any]:
    if url.startswith("sqlite"):
        return _POOL | {"connect_args": {"timeout": 20, "check_same_thread": False}}
    # a server that is gone is told within seconds, and a connection that died is not used
    return _POOL | {"pool_pre_ping": True, "connect_args": {"connect_timeout": 5}}


def _careful(connection: Any, _: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=20000"):
        connection.execute(f"PRAGMA {pragma}")


def _private(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)


def first_line(error: Exception) -> str:
    """What a database says went wrong, without the statement and its values."""
    origin = getattr(error, "orig", None) or error
    return (str(origin).strip().splitlines() or [type(origin).__name__])[0]
