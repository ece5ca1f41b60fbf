"""Render results for students.

`wording` writes the sentences, `check_text` formats results for a terminal, and `notebook_output`
for a notebook. `solution` compares a student's code with the released solution. `verdict_json`
writes verdicts for other programs.
"""
