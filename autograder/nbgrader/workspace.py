"""Locate nbgrader's folders, and open its gradebook and API.

nbgrader opens the gradebook nine times for each submission, and each time it connects, inspects the
tables and compiles every statement. Within `shared_gradebook`, all uses share one connection, with
one transaction per submission. It also adds indices to nbgrader's tables, because without indices
the time to record a class grows with the square of its size.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..files import read_state, write_state
from ..lms.roster import RosterEntry
from ..model.course import Course, Week
from ..model.errors import NbgraderError

if TYPE_CHECKING:
    from traitlets.config.loader import Config

CONFIG = "nbgrader_config.py"
_RAISED = re.compile(r"^[^\S\n]*+(?:\w+\.)*[A-Z]\w*: (.+)$", re.MULTILINE)


class Workspace:
    """The paths of a course's nbgrader folders."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.root = course.root / course.registry.nbgrader.folder

    @property
    def exchange(self) -> Path:
        named = self.course.registry.nbgrader.exchange
        return self.course.root / named if named else self.root / "exchange"

    @property
    def inbound(self) -> Path:
        return self.exchange / self.course.id / "inbound"

    @property
    def db_url(self) -> str:
        return self.course.registry.nbgrader.db_url or f"sqlite:///{self.root / 'gradebook.db'}"

    def source(self, week: Week) -> Path:
        return self.root / "source" / week.name

    def released(self, week: Week) -> Path:
        return self.root / "release" / week.name

    def released_file(self, week: Week, name: str) -> bytes:
        """Return the content of a released file, or b"" if it does not exist."""
        try:
            return (self.released(week) / name).read_bytes()
        except OSError:
            return b""

    def outbound(self, week: Week) -> Path:
        return self.exchange / self.course.id / "outbound" / week.name

    def bundle(self, week: Week) -> Path:
        """Return the path of the week's zip, for students who have no access to the exchange."""
        return self.root / "handouts" / f"{week.name}.zip"

    def submitted(self, student: str, week: Week) -> Path:
        return self.root / "submitted" / student / week.name

    def autograded(self, student: str, week: Week) -> Path:
        return self.root / "autograded" / student / week.name

    def feedback(self, student: str, week: Week) -> Path:
        return self.root / "feedback" / student / week.name

    def feedback_page(self, student: str, week: Week) -> Path:
        """Return the path of the feedback page, which nbgrader names after the notebook."""
        return self.feedback(student, week) / f"{week.name}.html"

    def delivered_page(self, secret: bytes, week: Week) -> Path:
        """Return the path in the exchange that nbgrader derives from a submission's secret."""
        name = hashlib.md5(secret + week.name.encode(), usedforsecurity=False).hexdigest()
        return self.exchange / self.course.id / "feedback" / f"{name}.html"

    def students(self, step: str, week: Week) -> list[str]:
        """Return the sorted names of the students who have reached a step of the week.

        step: the step's folder, which is `submitted`, `autograded` or `feedback`
        """
        return sorted(p.parent.name for p in (self.root / step).glob(f"*/{week.name}"))

    def make(self) -> None:
        """Create nbgrader's folder and its configuration file, unless they exist."""
        self.root.mkdir(parents=True, exist_ok=True)
        config = self.root / CONFIG
        if not config.exists():
            project = os.path.relpath(self.course.root, self.root)
            template = Path(__file__).with_name("templates") / f"{CONFIG}.blank"
            text = template.read_text(encoding="utf-8").format(project=project)
            config.write_text(text, encoding="utf-8")

    def config(self) -> Config:
        """Load nbgrader's configuration, with the kit's and the instructor's settings."""
        from traitlets.config.loader import PyFileConfigLoader

        self.make()
        return PyFileConfigLoader(CONFIG, path=str(self.root)).load_config()


def prepare_process() -> None:
    """Extend PATH for nbgrader, and silence irrelevant warnings.

    When nbgrader creates a gradebook, it runs `alembic` without a path, which fails if the virtual
    environment is not activated. SQLAlchemy warns about every new submission, and nbformat warns
    about notebooks that RestoreCells repairs.
    """
    from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
    from sqlalchemy.exc import SAWarning

    warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.")
    for kind in (DuplicateCellId, MissingIDFieldWarning):
        warnings.filterwarnings("ignore", category=kind)
    beside = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath)
    if beside not in path.split(os.pathsep):
        os.environ["PATH"] = f"{beside}{os.pathsep}{path}"


def open_gradebook(course: Course) -> Any:
    """Return the course's open gradebook, to be used as a context manager.

    Raise NbgraderError if the database cannot be opened.
    """
    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SQLAlchemyError

    prepare_process()
    workspace = Workspace(course)
    workspace.make()
    try:
        return Gradebook(workspace.db_url, course.id)
    except (SQLAlchemyError, ImportError) as error:
        raise unreachable_gradebook(error) from None


def enter_students(course: Course, listed: Sequence[RosterEntry]) -> None:
    """Add a class list to the gradebook and store it; if it is empty, add the stored list."""
    path = course.state / "class-list.json"
    stored = {e.student: e for e in [*(read_state(path, list[RosterEntry]) or ()), *listed]}
    with open_gradebook(course) as gradebook:
        for entry in listed or stored.values():
            first, last = entry.split_name()
            gradebook.update_or_create_student(
                entry.student, first_name=first, last_name=last, email=entry.email or None
            )
    if listed:
        write_state(path, list(stored.values()))


Transaction = Callable[[], AbstractContextManager[None]]


@contextmanager
def shared_gradebook(course: Course) -> Iterator[Transaction]:
    """Make every `nbgrader.api.Gradebook` of this course share one connection.

    Yield a function that returns a transaction as a context manager. An exception rolls the
    transaction back. The gradebook must be used only within transactions.
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
    """Commit a session only once, at the end of the block; roll back on an exception."""
    commit = session.commit
    session.commit = session.flush
    try:
        yield
        session.flush()
        session.expire_all()  # reload on next access: the database computes sums of scores
        commit()
    except BaseException:
        session.rollback()
        raise
    finally:
        session.commit = commit


def _add_indices(engine: Any) -> None:
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    statements = Path(__file__).with_name("indices.sql").read_text(encoding="utf-8")
    # A failure, for example in a read-only schema, only makes recording slower.
    with suppress(SQLAlchemyError), engine.begin() as connection:
        for statement in statements.splitlines():
            connection.execute(text(statement))


class GradedCell(NamedTuple):
    """A cell's rows in the gradebook. `comment` is None if the cell cannot have comments."""

    grade: Any
    comment: Any


def cells_of(gradebook: Any, week: Week, student: str) -> dict[str, GradedCell]:
    """Return the graded cells of a submission by name, or {} if nothing was submitted."""
    from nbgrader.api import MissingEntry

    try:
        notebooks = gradebook.find_submission(week.name, student).notebooks
    except MissingEntry:
        return {}
    comments = {c.name: c for notebook in notebooks for c in notebook.comments}
    grades = [g for notebook in notebooks for g in notebook.grades]
    return {g.name: GradedCell(g, comments.get(g.name)) for g in grades}


def unreachable_gradebook(error: Exception) -> NbgraderError:
    """Convert an exception from opening or reading the gradebook to an NbgraderError."""
    if isinstance(error, ImportError):
        return NbgraderError(
            "the gradebook at nbgrader.db_url needs a driver that is not installed: "
            "pip install 'gradewright[postgres]'"
        )
    why = str(error).splitlines()[0]
    return NbgraderError(f"the gradebook at nbgrader.db_url cannot be read: {why}")


def open_api(course: Course) -> Any:
    """Return an NbGraderAPI with the workspace's settings; its results include the log."""
    from nbgrader.apps import NbGraderAPI

    api = NbGraderAPI(config=Workspace(course).config())
    api.log_level = logging.INFO
    return api


def exchange_step(
    api: Any, step: str, attributes: dict[str, str], **options: Any
) -> tuple[Any, dict[str, Any]]:
    """Run a step of nbgrader's exchange, such as `Collect`; return the step and its result.

    attributes: CourseDirectory attributes to set during the step, such as `assignment_id`
    """
    from nbgrader.utils import capture_log, temp_attrs

    with temp_attrs(api.coursedir, **attributes):
        create = getattr(api.exchange, step)
        done = create(
            coursedir=api.coursedir, authenticator=api.authenticator, parent=api, **options
        )
        return done, capture_log(done)


def require(result: dict[str, Any], step: str) -> None:
    """Raise NbgraderError with nbgrader's error message if the step failed."""
    if not result.get("success"):
        raise NbgraderError(f"{step}: {last_words(result)}")


def last_words(result: dict[str, Any]) -> str:
    """Return the error message of a failed step as one line.

    The log is searched first, because nbgrader logs the original traceback and then raises a
    generic error that only refers to the log.
    """
    log, error = str(result.get("log", "")), str(result.get("error", ""))
    raised = _RAISED.findall(log) or _RAISED.findall(error)
    return str(raised[-1]) if raised else "nbgrader gave no reason"
