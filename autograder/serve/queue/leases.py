"""Whose a try is while it is graded, and what becomes of it when that service is no more.

On SQLite there is one service, so at its start whatever is `running` is no longer, and waits again.
On PostgreSQL there may be several: each says every while that it lives (`renew`), and what belongs
to one that said nothing for `LEASE` seconds waits again. If that one was only slow, the result that
comes first is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import sqlalchemy as sa

from . import tables as t
from .tables import Rows

WAITING, RUNNING, STUCK = "waiting", "running", "stuck"
LEASE = 60.0  # seconds


class Leases(Rows):
    """The part of the queue that services on one database share.

    owner: the name of this service, the same after it was started again
    """

    def __init__(
        self, engine: sa.Engine, clock: Callable[[], float] = time.time, owner: str = ""
    ) -> None:
        super().__init__(engine, clock)
        self.owner = owner

    def start(self) -> int:
        """Put back in line what the service before this one had begun; how many these are."""
        begun = (t.tries.c.state == STUCK) | (self._left_behind(mine=True))
        with self._write() as db:
            again = {"state": WAITING, "attempts": 0, "not_before": 0.0}
            return db.execute(t.tries.update().where(begun).values(**again)).rowcount

    def renew(self) -> int:
        """Say that this service lives; put back in line what another one left; how many."""
        if not self.shared:
            return 0
        mine = (t.tries.c.state == RUNNING) & (t.tries.c.owner == self.owner)
        with self._write() as db:
            db.execute(t.tries.update().where(mine).values(leased=self.clock() + LEASE))
            left = t.tries.update().where(self._left_behind(mine=False))
            return db.execute(left.values(state=WAITING)).rowcount

    def _left_behind(self, *, mine: bool) -> sa.ColumnElement[bool]:
        """What runs nowhere any more. mine: nor here, where the service has just begun."""
        running = t.tries.c.state == RUNNING
        if not self.shared:
            return running
        silent = t.tries.c.leased < self.clock()
        own = t.tries.c.owner == self.owner
        return running & (silent | own if mine else silent & ~own)
