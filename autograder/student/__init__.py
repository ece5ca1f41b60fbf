"""The students' side of the kit: checks, hints, progress, stubs and submission.

Everything here runs in a folder made by `release`, without the rest of the project, or in
exercises/<week> of an author's checkout. No hidden test, solution or sandbox is needed: a student's
code runs with the student's rights, in a separate process so that an endless loop can be stopped.
This package is not a trust boundary; the grader repeats all checks that count.

Start reading in `commands.check`. `folder` reads and writes a week's folder, `checks` runs the
public checks, `show` renders results for a terminal and a notebook.
"""

__all__ = ["checks", "commands", "folder", "show"]
