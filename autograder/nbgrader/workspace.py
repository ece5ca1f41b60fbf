"""Where nbgrader works: one folder with source/, release/, submitted/, …, and its config file."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.course.loader import Course, Week
from ..model.errors import NbgraderError

if TYPE_CHECKING:
    from traitlets.config.loader import Config

CONFIG = "nbgrader_config.py"
_CONFIG_TEXT = '''"""nbgrader's settings. They come from course.yaml; add your own below."""

from autograder.nbgrader.configure import configure

c = get_config()  # noqa: F821  # Jupyter defines it
configure(c, __file__, project={project!r})
'''


_RAISED = re.compile(r"^\s*(?:\w+\.)*[A-Z]\w*: (.+)$", re.MULTILINE)


class Workspace:
    """The paths of nbgrader's folders for a course."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.root = course.root / course.registry.nbgrader.folder

    @property
    def exchange(self) -> Path:
        named = self.course.registry.nbgrader.exchange
        return self.course.root / named if named else self.root / "exchange"

    @property
    def db_url(self) -> str:
        return self.course.registry.nbgrader.db_url or f"sqlite:///{self.root / 'gradebook.db'}"

    def source(self, week: Week) -> Path:
        return self.root / "source" / week.name

    def released(self, week: Week) -> Path:
        return self.root / "release" / week.name

    def outbound(self, week: Week) -> Path:
        return self.exchange / self.course.id / "outbound" / week.name

    def bundle(self, week: Week) -> Path:
        """The week as one file, for who has no exchange."""
        return self.root / "handouts" / f"{week.name}.zip"

    def submitted(self, student: str, week: Week) -> Path:
        return self.root / "submitted" / student / week.name

    def autograded(self, student: str, week: Week) -> Path:
        return self.root / "autograded" / student / week.name

    def feedback(self, student: str, week: Week) -> Path:
        return self.root / "feedback" / student / week.name

    def feedback_page(self, student: str, week: Week) -> Path:
        """What the student reads; nbgrader names it by the notebook."""
        return self.feedback(student, week) / f"{week.name}.html"

    def students(self, step: str, week: Week) -> list[str]:
        """Who has a folder for the week in a step, such as "submitted"."""
        return sorted(p.parent.name for p in (self.root / step).glob(f"*/{week.name}"))

    def make(self) -> None:
        """Make the folder and its config file, where they are missing."""
        self.root.mkdir(parents=True, exist_ok=True)
        config = self.root / CONFIG
        if not config.exists():
            project = os.path.relpath(self.course.root, self.root)
            config.write_text(_CONFIG_TEXT.format(project=project), encoding="utf-8")

    def config(self) -> Config:
        """What `nbgrader` reads when it is started here: our settings and the instructor's own."""
        from traitlets.config.loader import PyFileConfigLoader

        self.make()
        return PyFileConfigLoader(CONFIG, path=str(self.root)).load_config()


def prepare_process() -> None:
    """What nbgrader needs of the process that it runs in.

    It runs `alembic` by its bare name when it makes a gradebook, which fails if the environment
    was not activated; it makes SQLAlchemy warn about its way of adding submissions, each time; and
    nbformat warns of a student's notebook where RestoreCells mends it and `collect` tells of it.
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
    """nbgrader's gradebook of the course; to be closed, or used in a `with`."""
    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SQLAlchemyError

    prepare_process()
    workspace = Workspace(course)
    workspace.make()
    try:
        return Gradebook(workspace.db_url, course.id)
    except (SQLAlchemyError, ImportError) as error:
        raise unreachable_gradebook(error) from None


def unreachable_gradebook(error: Exception) -> NbgraderError:
    """What to say where the gradebook cannot be opened or read."""
    if isinstance(error, ImportError):
        return NbgraderError(
            "the gradebook at nbgrader.db_url needs a driver that is not installed: "
            "pip install -c constraints.txt -e '.[postgres]'"
        )
    why = str(error).splitlines()[0]
    return NbgraderError(f"the gradebook at nbgrader.db_url cannot be read: {why}")


def open_api(course: Course) -> Any:
    """An NbGraderAPI with the workspace's settings; the log of each call comes back with it."""
    from nbgrader.apps import NbGraderAPI

    api = NbGraderAPI(config=Workspace(course).config())
    api.log_level = logging.INFO
    return api


def require(result: dict[str, Any], step: str) -> str:
    """The log of a step of nbgrader; raises NbgraderError with its last words where it failed."""
    log = str(result.get("log", ""))
    if result.get("success"):
        return log
    raise NbgraderError(f"{step}: {last_words(result)}")


def last_words(result: dict[str, Any]) -> str:
    """What a failed step says went wrong, in one line.

    nbgrader logs the traceback of what went wrong and then raises an error that points to it.
    """
    log, error = str(result.get("log", "")), str(result.get("error", ""))
    raised = _RAISED.findall(log) or _RAISED.findall(error)
    return str(raised[-1]) if raised else "nbgrader gave no reason"
