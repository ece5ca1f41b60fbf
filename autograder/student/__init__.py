"""Public checks, hints, progress, stubs and submission on the student's machine.

This package works in a folder that `release` created, without the rest of the project, and in
exercises/<week> of an author's checkout. It needs no hidden tests, solutions or sandbox. The
student's code runs with the student's permissions, but in a separate process, so that an endless
loop can be stopped. This package is not a trust boundary: only the grader decides the score.

Start reading in `commands.check`. `folder` reads and writes a week's folder, `checks` runs the
public checks, and `show` renders results for a terminal and a notebook.
"""
