"""Render results for students.

`wording` contains the sentences, `check_text` and `notebook_output` format them for a terminal and
for a notebook. `solution` compares a student's code with the released solution.
"""

__all__ = ["check_text", "notebook_output", "solution", "wording"]
