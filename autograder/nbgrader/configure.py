"""Configure nbgrader according to course.yaml.

The workspace's nbgrader_config.py calls `configure`, so nbgrader's own commands and Formgrader's
buttons behave like the kit's commands:

- `RestoreCells` repairs the notebook's cells before nbgrader reads them.
- `GradeInSandbox` grades submissions instead of `Execute`, which would run the student's code with
  the instructor's permissions.
- `SaveScores` saves scores and late penalties, and flags manual marks whose answer has changed.
- `CollectOrdinaryFiles` collects only regular files.
- `OnlyMarked` and `QuotedCsvExport` refuse to show 0 for an answer that is not marked yet.
- `FinishFeedback` and `FeedbackPage` replace nbgrader's feedback page with the kit's page.
- In a Jupyter server, Formgrader's pages are protected against scripts (formgrader/safe_pages.py).
"""

import sys
from pathlib import Path
from typing import Any

from ..authoring.lesson.handout import ANSWER
from ..model.course import load
from .workspace import Workspace, prepare_process

_KIT = "autograder.nbgrader"


def configure(c: Any, config_file: str, project: str = "..") -> None:
    """Set the traits of nbgrader's configuration `c`.

    project: folder that contains course.yaml, relative to the folder of the config file
    """
    prepare_process()
    folder = Path(config_file).resolve().parent
    course = load(folder / project)
    workspace = Workspace(course)
    c.CourseDirectory.course_id = course.id
    c.CourseDirectory.root = str(folder)
    c.CourseDirectory.db_url = workspace.db_url
    c.Exchange.root = str(workspace.exchange)
    c.ExchangeFactory.collect = f"{_KIT}.collect.exchange.CollectOrdinaryFiles"
    c.CoursePreprocessor.project = str(course.root)
    c.CollectOrdinaryFiles.project = str(course.root)
    c.QuotedCsvExport.project = str(course.root)
    c.ClearSolutions.text_stub = ANSWER
    c.Autograde.sanitize_preprocessors = [f"{_KIT}.collect.cell_repair.RestoreCells"]
    grading, feedback = f"{_KIT}.autograde.preprocessor", f"{_KIT}.publish_feedback"
    c.Autograde.autograde_preprocessors = [f"{grading}.GradeInSandbox", f"{grading}.SaveScores"]
    # Validate a notebook when it is read and after the last preprocessor, not after every one.
    c.Exporter.optimistic_validation = True
    c.Autograde.exclude_overwriting = {week.name: [week.module] for week in course.weeks}
    c.GenerateFeedback.preprocessors = [f"{feedback}.OnlyMarked", f"{feedback}.FinishFeedback"]
    c.ExportApp.plugin_class = f"{_KIT}.gradebook.export_plugin.QuotedCsvExport"
    c.GenerateFeedback.exporter_class = f"{feedback}.FeedbackPage"
    serverapp = sys.modules.get("jupyter_server.serverapp")
    if serverapp is not None and serverapp.ServerApp.initialized():
        from .formgrader.safe_pages import install

        install(serverapp.ServerApp.instance().web_app, folder, course.root)
