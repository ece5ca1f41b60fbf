"""Elect the service that records results and reads the exchange.

A course has one gradebook and one exchange, and two services would race for them. The service that
holds an advisory lock of the database does both; the others only grade. When the leader's
connection ends, another service takes over.
"""

from __future__ import annotations

import contextlib
import threading

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from ..tables import Store

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
