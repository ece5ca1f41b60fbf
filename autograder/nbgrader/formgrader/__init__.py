"""Manual marking: Formgrader's pages, marking sheets, and copies of manual marks.

Not trusted: submitted notebooks and names, which must not run scripts in the browser
(`safe_pages`, `submitted_cells`). `marking_sheets` is for anonymous and double marking, and
`manual_marks` copies every mark next to the gradebook. Start with `safe_pages`.
"""

__all__ = ["manual_marks", "marking_sheets", "safe_pages", "submitted_cells"]
