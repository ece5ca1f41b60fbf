"""Tools for course authors, used by `autograder new`, `build`, `verify` and `release`.

`scaffolding` creates courses, weeks and exercises from templates, `verify` checks that a week's
graders are fair and strict, and `lesson` builds the files that students get.
"""
