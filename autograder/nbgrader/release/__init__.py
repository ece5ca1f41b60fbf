"""Release weeks, corrected weeks and solutions.

Every release is checked for secrets before and after it is published (`publish`, `solutions`).
`archive` numbers the releases of a week, and keeps the tests of each release so that submissions
based on an earlier release can still be graded. Start reading at `publish`.
"""
