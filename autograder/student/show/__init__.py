"""Render results for students.

`wording` contains the sentences, `check_text` and `notebook_output` format them for a terminal and
for a notebook.
"""

__all__ = [
    "check_text",
    "explore",
    "hints",
    "notebook_output",
    "progress",
    "solution",
    "terminal",
    "wording",
]
