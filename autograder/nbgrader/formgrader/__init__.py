"""Manual marking: Formgrader's pages, marking sheets, and copies of manual marks.

Submitted notebooks and names are not trusted and must not run scripts in the browser (`safe_pages`,
`submitted_cells`). `marking_sheets` is for anonymous and double marking, and `manual_marks` copies
manual marks to `.autograder/marks/`. Start reading at `safe_pages`.
"""
