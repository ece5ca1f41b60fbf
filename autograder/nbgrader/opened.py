"""One gradebook for a whole class: nbgrader opens it nine times for each submission.

Each time it connects anew, asks which of its tables there are, and has every statement compiled
once more, since SQLAlchemy keeps what is compiled with the connection: half of what recording
costs. Within `one_gradebook`, all of this is done once. Each use still has a session of its own,
which ends with it, as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..model.course import Course
from .workspace import open_gradebook


@contextmanager
def one_gradebook(course: Course) -> Iterator[None]:
    """Within it, nbgrader's uses of the course's gradebook share one connection."""
    from nbgrader.api import Gradebook
    from sqlalchemy.orm import scoped_session, sessionmaker

    opened = open_gradebook(course)
    url = opened.engine.url.render_as_string(hide_password=False)
    known = {opened.course_id}
    kind: Any = Gradebook
    begin, close = kind.__init__, kind.close

    def begin_again(
        self: Any, db_url: str, course_id: str = "default_course", authenticator: Any = None
    ) -> None:
        if db_url != url:
            begin(self, db_url, course_id, authenticator)
            return
        self.engine = opened.engine
        self.db = scoped_session(sessionmaker(autoflush=True, bind=self.engine, future=True))
        if course_id not in known:
            self.check_course(course_id=course_id)
            known.add(course_id)
        self.course_id, self.authenticator = course_id, authenticator

    def close_again(self: Any) -> None:
        if self.engine is opened.engine:
            self.db.remove()
        else:
            close(self)

    kind.__init__, kind.close = begin_again, close_again
    try:
        yield
    finally:
        kind.__init__, kind.close = begin, close
        opened.close()
