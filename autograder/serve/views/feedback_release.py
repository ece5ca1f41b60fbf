"""Release a week's feedback from the gradebook page, in a child process."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ...model.course import Week, load
from ...model.errors import NbgraderError
from ...nbgrader.workspace import Workspace
from ..grading_process import ChildProcess
from ..shared_state import SharedState
from ..tables import error_text
from .staff_log import StaffLog

if TYPE_CHECKING:
    from ...nbgrader.publish_feedback import Returned

_MAX_NOTES = 20


class FeedbackRelease:
    """Releases feedback as `autograder feedback` does, one week at a time.

    The log of staff actions contains each outcome. `running`: the week that is being released, or
    "".
    """

    def __init__(self, state: SharedState, log: StaffLog) -> None:
        self._state, self._log = state, log
        self.process = ChildProcess("feedback", state.settings.niceness)
        self.running, self._alone = "", Lock()

    def start(self, week: Week, who: str) -> None:
        """Start to release a week's feedback; raise NbgraderError if that is not possible now."""
        course = self._state.courses.now
        if not Workspace(course).students("autograded", week):
            raise NbgraderError(f"Nothing has been graded in {week.name} yet.")
        if not self._alone.acquire(blocking=False):
            raise NbgraderError(
                f"The feedback for {self.running} is being released. Wait until it is finished."
            )
        self.running = week.name
        release = self.process.submit(_release_in_child, course.root, week.name)
        release.add_done_callback(partial(self._finish, week.name, who))

    def _finish(self, week: str, who: str, release: Future[Returned]) -> None:
        try:
            done = release.result()
            sent, total = len(done.students), len(done.students) + len(done.notes)
            lines = [f"{sent} of {total} pages are in nbgrader's exchange"]
            lines += done.notes[:_MAX_NOTES]
        except Exception as error:
            lines = [f"not released: {error_text(error)}"]
        self._log.add(who, "feedback", [""], week, detail="\n".join(lines))
        self.process.end()
        self.running = ""
        self._alone.release()


def _release_in_child(root: Path, week: str) -> Returned:
    from ...nbgrader.publish_feedback import return_feedback  # imports nbgrader, which is slow

    course = load(root)
    return return_feedback(course, course.week(week))
