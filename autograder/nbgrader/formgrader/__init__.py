"""Manual marking: Formgrader's pages, marking sheets, and copies of manual marks.

Not trusted: submitted notebooks and names, which must not run scripts in the browser
(`handlers`, `submitted_cells`). `marking_sheets` is for anonymous and double marking, and
`manual_marks` copies every mark next to the gradebook. Start with `handlers`.
"""

__all__ = ["handlers", "manual_marks", "marking_sheets", "submitted_cells"]
