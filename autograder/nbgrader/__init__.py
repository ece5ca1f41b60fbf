"""The course in nbgrader: releases, submissions, scores, manual marks and feedback.

nbgrader keeps its exchange, gradebook, Formgrader and commands. The kit replaces the steps that
trust students' files or run their code, through nbgrader's own settings (`configure`):

release      files of a week to the exchange; further releases; solutions
collect      submissions from every channel: merge, store, make current
autograde    reports of the sandbox to the gradebook, one transaction per submission
gradebook    scores, late penalties, stored reports, which submission counts
formgrader   marking pages, marking sheets, copies of manual marks
feedback     pages for students, only when all answers are marked
regrade      new scores after a fixed test, with a log and undo; regrade requests

Not trusted: everything that students submit, and the exchange's inbound folder. Guaranteed: a
submission that cannot be graded never replaces one that was graded, and manual marks are never
erased. nbgrader's folder has copies; `.autograder/` has every submission, report and mark, from
which the gradebook can be rebuilt. Start with `workspace`, then `collect.submissions` and
`autograde.recorder`.
"""

__all__ = [
    "autograde",
    "collect",
    "configure",
    "demo",
    "feedback",
    "formgrader",
    "gradebook",
    "regrade",
    "release",
    "status",
    "workspace",
]
