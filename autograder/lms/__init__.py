"""Read and write the files of learning platforms: class lists, grades and bulk downloads.

`csv_tables` describes the class list of each platform, and escapes text that students may have
chosen. `roster` reads class lists and matches students, `grade_files` writes grades, and `bulk`
sorts downloaded submissions by student. Start with `csv_tables`.
"""
