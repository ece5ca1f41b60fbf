"""Which of several services on one database tells the gradebook and looks into the exchange.

A course has one gradebook and one exchange, for which two would race. Whoever holds a lock of the
database does both; the others grade, and one of them goes on when its connection has ended.
"""

from __future__ import annotations

import contextlib
import threading

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from .tables import Rows

_KEY = 0x6175746F  # any number that is ours


class Chair(Rows):
    """The lock. On SQLite there is one service, and nothing to ask. Methods block."""

    def __init__(self, engine: sa.Engine) -> None:
        super().__init__(engine)
        self._held: sa.Connection | None = None
        self._asking = threading.Lock()

    def taken(self) -> bool:
        """Return whether this service holds it, after asking for it if nobody does."""
        if not self.shared:
            return True
        with self._asking:
            return self._taken()

    def _taken(self) -> bool:
        if self._held is not None and self._lives(self._held):
            return True
        self.leave()
        connection = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if connection.execute(sa.select(sa.func.pg_try_advisory_lock(_KEY))).scalar():
            self._held = connection
            return True
        connection.close()
        return False

    def leave(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            with contextlib.suppress(SQLAlchemyError):
                held.invalidate()  # whoever would get this connection next would hold the lock
                held.close()

    def _lives(self, connection: sa.Connection) -> bool:
        try:
            connection.execute(sa.select(1))
        except SQLAlchemyError:
            return False
        return True
