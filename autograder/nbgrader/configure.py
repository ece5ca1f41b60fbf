"""nbgrader's settings, derived from course.yaml.

The workspace's nbgrader_config.py calls `configure`, so that every door (our commands, `nbgrader
autograde` on a command line, the buttons of Formgrader) works in the same way:

- submissions are graded by `GradeInSandbox`, in the place where stock nbgrader runs the student's
  code with the instructor's rights (`Execute`);
- what students may have done to a notebook's cells is mended first (`RestoreCells`);
- collecting takes ordinary files only (`CollectOrdinaryFiles`);
- marks given by hand stay settled when a submission is graded again (`SaveScores`);
- late work costs what course.yaml says (`PenaltyIfLate` and `LateByCourse`, and `CountLateness`
  before feedback);
- no feedback and no export shows 0 for an answer that nobody has read (`OnlyMarked`);
- feedback is our page, with the notebook and its marks below (`FinishFeedback`, `FeedbackPage`);
- in a Jupyter server, Formgrader's pages are guarded against what students wrote (`marking`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..authoring.lesson.lesson_notebook import ANSWER
from ..model.course.loader import load
from .workspace import Workspace, prepare_process

_OURS = "autograder.nbgrader"
_SANITIZE = [
    f"{_OURS}.collect.cell_repair.RestoreCells",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    f"{_OURS}.autograde.notebook_cells.KernelspecAtOnce",
    f"{_OURS}.autograde.notebook_cells.OverwrittenAtOnce",
    f"{_OURS}.autograde.notebook_cells.CheckedOnce",
]
_AUTOGRADE = [
    f"{_OURS}.autograde.preprocessor.GradeInSandbox",
    f"{_OURS}.autograde.submission_scores.SaveScores",
    f"{_OURS}.gradebook.late_penalty.PenaltyIfLate",
    f"{_OURS}.autograde.notebook_cells.CheckedOnce",
]
_FEEDBACK = [
    f"{_OURS}.feedback.publish_feedback.OnlyMarked",
    f"{_OURS}.gradebook.late_penalty.CountLateness",
    f"{_OURS}.feedback.publish_feedback.FinishFeedback",
]


def configure(c: Any, config_file: str, project: str = "..") -> None:
    """Fill nbgrader's config; `project` is relative to the folder of the config file."""
    prepare_process()
    folder = Path(config_file).resolve().parent
    course = load(folder / project)
    workspace = Workspace(course)
    c.CourseDirectory.course_id = course.id
    c.CourseDirectory.root = str(folder)
    c.CourseDirectory.db_url = workspace.db_url
    c.Exchange.root = str(workspace.exchange)
    c.ExchangeFactory.collect = f"{_OURS}.collect.exchange.CollectOrdinaryFiles"
    c.CoursePreprocessor.project = str(course.root)
    c.CollectOrdinaryFiles.project = str(course.root)
    c.ClearSolutions.text_stub = ANSWER
    c.AssignLatePenalties.plugin_class = f"{_OURS}.gradebook.late_penalty.LateByCourse"
    c.LateByCourse.project = str(course.root)
    c.Autograde.sanitize_preprocessors = _SANITIZE
    c.Autograde.autograde_preprocessors = _AUTOGRADE
    # A notebook is held against its schema when it is read, and when all that changes it is done.
    c.Exporter.optimistic_validation = True
    c.Autograde.exclude_overwriting = {week.name: [week.module] for week in course.weeks}
    c.GenerateFeedback.preprocessors = _FEEDBACK
    c.ExportApp.plugin_class = f"{_OURS}.gradebook.export_plugin.QuotedCsvExport"
    c.GenerateFeedback.exporter_class = f"{_OURS}.autograde.batch_steps.FeedbackPage"
    _guard_formgrader(folder, course.root)


def _guard_formgrader(folder: Path, project: Path) -> None:
    """Guard Formgrader's pages if this process is a Jupyter server."""
    serverapp = sys.modules.get("jupyter_server.serverapp")
    if serverapp is None or not serverapp.ServerApp.initialized():
        return
    from .formgrader.handlers import install

    install(serverapp.ServerApp.instance().web_app, folder, project)
