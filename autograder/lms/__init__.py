"""Files of learning platforms: class lists, grades and bulk downloads.

`csv_tables` has the columns of all class lists, reads tables that instructors edit, and escapes
cells, because students choose names and files. `roster` reads a class list and matches students,
`grade_files` writes grades, and `bulk` sorts downloaded submissions by student, within limits.
Start with `csv_tables`.
"""

__all__ = ["bulk", "csv_tables", "grade_files", "roster"]
