"""Share one gradebook connection while a class is recorded.

nbgrader opens the gradebook nine times for each submission. Each time it connects, inspects the
tables and compiles every statement again, because SQLAlchemy caches compiled statements with the
engine. Within `shared_gradebook`, all uses share one engine and one transaction per submission.

nbgrader's tables also lack the indices that find the grades of one submission, so the time for a
class grows with the square of its size. They are added here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ...model.course import Course
from ..workspace import open_gradebook

_INDICES = {
    "grade": "notebook_id",
    "comment": "notebook_id",
    "submitted_notebook": "assignment_id",
    "submitted_assignment": "student_id",
    "base_cell": "notebook_id",
}


Transaction = Callable[[], AbstractContextManager[None]]


@contextmanager
def shared_gradebook(course: Course) -> Iterator[Transaction]:
    """Make every `nbgrader.api.Gradebook` of this course share one connection.

    Yield a function that starts a transaction; an exception rolls it back. Use the gradebook only
    within transactions.
    """
    from nbgrader.api import Gradebook

    opened = open_gradebook(course)
    _add_indices(opened.engine)
    url = opened.engine.url.render_as_string(hide_password=False)
    known_courses = {opened.course_id}
    gradebook_class: Any = Gradebook
    original_init, original_close = gradebook_class.__init__, gradebook_class.close

    def init(
        self: Any, db_url: str, course_id: str = "default_course", authenticator: Any = None
    ) -> None:
        if db_url != url:
            original_init(self, db_url, course_id, authenticator)
            return
        self.engine, self.db = opened.engine, opened.db
        if course_id not in known_courses:
            self.check_course(course_id=course_id)
            known_courses.add(course_id)
        self.course_id, self.authenticator = course_id, authenticator

    def close(self: Any) -> None:
        if self.db is not opened.db:
            original_close(self)

    @contextmanager
    def transaction() -> Iterator[None]:
        try:
            with one_transaction(opened.db):
                yield
        finally:
            opened.db.remove()

    gradebook_class.__init__, gradebook_class.close = init, close
    try:
        yield transaction
    finally:
        gradebook_class.__init__, gradebook_class.close = original_init, original_close
        opened.close()


@contextmanager
def one_transaction(session: Any) -> Iterator[None]:
    """Delay the session's commits to the end of the block; roll back if it raises."""
    commit = session.commit
    session.commit = session.flush
    try:
        yield
        session.flush()
        session.expire_all()  # the sums of scores are computed by the database
        commit()
    except BaseException:
        session.rollback()
        raise
    finally:
        session.commit = commit


def _add_indices(engine: Any) -> None:
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with engine.begin() as connection:
            for table, column in _INDICES.items():
                name = f"autograder_{table}_{column}"
                connection.execute(text(f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({column})"))
    except SQLAlchemyError:
        return  # recording takes longer without indices, for example in a read-only schema
