"""One gradebook for a whole class: nbgrader opens it nine times for each submission.

Each time it connects anew, asks which of its tables there are, and has every statement compiled
once more, since SQLAlchemy keeps what is compiled with the connection: half of what recording
costs. Within `one_gradebook`, all of this is done once. Each use still has a session of its own,
which ends with it, as before; but within `Opened.whole` they share one, and what they wrote is one
transaction.

nbgrader's tables have no index by which the grades of one submission are found: every look at them
reads those of the whole course, so a class would cost the square of its size. They get one here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...model.course.loader import Course
from ..workspace import open_gradebook

_INDICES = {
    "grade": "notebook_id",
    "comment": "notebook_id",
    "submitted_notebook": "assignment_id",
    "submitted_assignment": "student_id",
    "base_cell": "notebook_id",
}


class Opened:
    """The gradebook of a course, open for many submissions."""

    def __init__(self, gradebook: Any) -> None:
        self.gradebook = gradebook
        self.shared: Any = None

    def session(self) -> Any:
        """The session for one use of the gradebook."""
        return self.shared or _session(self.gradebook.engine)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Within it, what is written becomes one transaction; nothing if an error leaves it."""
        self.shared = _session(self.gradebook.engine)
        try:
            with one_transaction(self.shared):
                yield
        finally:
            self.shared.remove()
            self.shared = None


@contextmanager
def one_gradebook(course: Course) -> Iterator[Opened]:
    """Within it, nbgrader's uses of the course's gradebook share one connection."""
    from nbgrader.api import Gradebook

    opened = open_gradebook(course)
    _add_indices(opened.engine)
    url = opened.engine.url.render_as_string(hide_password=False)
    known = {opened.course_id}
    kind: Any = Gradebook
    begin, close = kind.__init__, kind.close
    found = Opened(opened)

    def begin_again(
        self: Any, db_url: str, course_id: str = "default_course", authenticator: Any = None
    ) -> None:
        if db_url != url:
            begin(self, db_url, course_id, authenticator)
            return
        self.engine, self.db = opened.engine, found.session()
        if course_id not in known:
            self.check_course(course_id=course_id)
            known.add(course_id)
        self.course_id, self.authenticator = course_id, authenticator

    def close_again(self: Any) -> None:
        if self.engine is not opened.engine:
            close(self)
        elif self.db is not found.shared:
            self.db.remove()

    kind.__init__, kind.close = begin_again, close_again
    try:
        yield found
    finally:
        kind.__init__, kind.close = begin, close
        opened.close()


@contextmanager
def one_transaction(session: Any) -> Iterator[None]:
    """Commits inside wait for its end; if an error leaves it, nothing is written."""
    commit = session.commit

    def wait() -> None:
        session.flush()
        session.expire_all()  # as after a commit: sums are asked for anew

    session.commit = wait
    try:
        yield
        commit()
    except BaseException:
        session.rollback()
        raise
    finally:
        session.commit = commit


def once_written(session: Any, do: Callable[[], None]) -> None:
    """Do something when what the session holds has been written, and never if it is not."""
    from sqlalchemy import event

    event.listen(session(), "after_commit", lambda _: do(), once=True)


def _session(engine: Any) -> Any:
    from sqlalchemy.orm import scoped_session, sessionmaker

    return scoped_session(sessionmaker(autoflush=True, bind=engine, future=True))


def _add_indices(engine: Any) -> None:
    from sqlalchemy import inspect, text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        for table, column in _INDICES.items():
            name = f"autograder_{table}_{column}"
            if name not in {index["name"] for index in inspect(engine).get_indexes(table)}:
                with engine.begin() as connection:
                    made = f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({column})"
                    connection.execute(text(made))
    except SQLAlchemyError:
        return  # without them it takes longer, and comes to the same
