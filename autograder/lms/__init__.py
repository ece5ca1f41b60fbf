"""Files of learning platforms: class lists, grades and bulk downloads.

`columns` is the table of all class lists, `roster` reads one and matches students, `grade_files`
writes grades, and `bulk` sorts downloaded submissions by student. Names and files are chosen by
students: cells are escaped (`spreadsheet_cells`), and archives are read within limits. `csv_rows`
reads tables that instructors edit. Start with `columns`.
"""

__all__ = ["bulk", "columns", "csv_rows", "grade_files", "roster", "spreadsheet_cells"]
