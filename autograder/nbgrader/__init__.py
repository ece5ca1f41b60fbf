"""Run the course in nbgrader: releases, submissions, scores, manual marks and feedback.

The kit uses nbgrader's exchange, gradebook, Formgrader and commands. Through nbgrader's settings
(`configure`), it replaces the steps that trust students' files or run their code. The parts are:

release      release weeks, corrected weeks and solutions in the exchange
collect      merge and store submissions from every channel
autograde    record the sandbox's reports in the gradebook
gradebook    read scores, compute late penalties, decide which submission counts
formgrader   protect the marking pages, read marking sheets, back up manual marks
feedback     (`publish_feedback`) generate and release the feedback pages
regrade      rescore after a hidden test is fixed, undo that, and answer regrade requests

Submitted files and the exchange's inbound folder are not trusted. A submission that cannot be
graded never replaces a graded submission, and manual marks are never erased. `.autograder/` keeps
every submission, report and mark, so the gradebook can be rebuilt. Start reading at `workspace`,
then `collect.submissions` and `autograde.recorder`.
"""
