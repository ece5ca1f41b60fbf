"""Make `nbgrader export` write the same table as `autograder export`."""

from pathlib import Path
from typing import Any

from nbgrader.plugins.export import ExportPlugin
from traitlets import Bool, Unicode

from ...lms.grade_files import export
from ...model.course import load
from ...model.errors import KitError
from .database import read_students
from .final_scores import final_scores, require_marked


class QuotedCsvExport(ExportPlugin):
    """Exports final scores with a row per student and a column per week, escaped for spreadsheets.

    nbgrader's own plugin does not escape values, and shows 0 for work that was not submitted or not
    marked.
    """

    project = Unicode("", help="The folder of course.yaml.").tag(config=True)
    unmarked = Bool(False, help="Export unmarked answers as 0.").tag(config=True)

    def export(self, gradebook: Any) -> None:
        course = load(Path(self.project))
        chosen = [w for w in course.weeks if not self.assignment or w.name in self.assignment]
        try:
            if not self.unmarked:
                require_marked(course, chosen, self.student or None)
            scores = {week.name: final_scores(course, week) for week in chosen}
        except KitError as error:
            raise SystemExit(f"{error} (here: --QuotedCsvExport.unmarked=True)") from None
        if self.student:
            wanted = set(map(str, self.student))
            scores = {w: {s: of[s] for s in of.keys() & wanted} for w, of in scores.items()}
        weeks = [week for week in chosen if scores[week.name]]
        target = Path(self.to or "grades.csv")
        text = export("csv", weeks, scores, None, named=read_students(course)).text
        target.write_text(text, encoding="utf-8", newline="")
        self.log.info("Exported grades to %s", target)
