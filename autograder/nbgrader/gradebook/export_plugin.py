"""`nbgrader export` with quoted cells that a spreadsheet does not run as formulas."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from nbgrader.plugins.export import CsvExportPlugin
from traitlets import Bool

from ...lms.spreadsheet_cells import text_cell

_NUMBERS = ("raw_score", "late_submission_penalty", "score", "max_score")
_ABOUT = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email")


class QuotedCsvExport(CsvExportPlugin):
    """Export the columns of nbgrader's CSV plugin, which writes every cell unquoted."""

    unmarked = Bool(False, help="Export unmarked answers as 0.").tag(config=True)

    def export(self, gradebook: Any) -> None:
        if not self.unmarked:
            self._require_marked(gradebook)
        target = Path(self.to or "grades.csv")
        rows = [
            self._row(gradebook, assignment, student)
            for assignment in gradebook.assignments
            if not self.assignment or assignment.name in map(str, self.assignment)
            for student in gradebook.students
            if not self.student or student.id in map(str, self.student)
        ]
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, (*_ABOUT, *_NUMBERS))
        writer.writeheader()
        writer.writerows(rows)
        target.write_text(out.getvalue(), encoding="utf-8", newline="")
        self.log.info("Exported grades to %s", target)

    def _require_marked(self, gradebook: Any) -> None:
        waiting = [
            (assignment.name, submission.student.id)
            for assignment in gradebook.assignments
            if not self.assignment or assignment.name in map(str, self.assignment)
            for submission in assignment.submissions
            if submission.needs_manual_grade
            and (not self.student or submission.student.id in map(str, self.student))
        ]
        if waiting:
            weeks = ", ".join(dict.fromkeys(week for week, _ in waiting))
            raise SystemExit(
                f"nothing exported: {len(waiting)} "
                f"{'submission has' if len(waiting) == 1 else 'submissions have'} unmarked answers "
                f"({weeks}), which would count as 0. To export anyway: "
                "--QuotedCsvExport.unmarked=True"
            )

    def _row(self, gradebook: Any, assignment: Any, student: Any) -> dict[str, str]:
        from nbgrader.api import MissingEntry

        try:
            submission = gradebook.find_submission(assignment.name, student.id)
            raw, penalty = submission.score, submission.late_submission_penalty or 0.0
            time = submission.timestamp
        except MissingEntry:  # nbgrader exports a missing submission as 0
            raw, penalty, time = 0.0, 0.0, None
        row = {
            "assignment": assignment.name,
            "duedate": assignment.duedate,
            "timestamp": time,
            "student_id": student.id,
            "last_name": student.last_name,
            "first_name": student.first_name,
            "email": student.email,
            "raw_score": raw,
            "late_submission_penalty": penalty,
            "score": max(0.0, raw - penalty),
            "max_score": assignment.max_score,
        }
        return {name: str(v) if name in _NUMBERS else text_cell(v) for name, v in row.items()}
