"""Releases of a week and of its solutions.

Every release is checked for secrets before and after it is published (`publish`, `solutions`).
`archive` numbers the releases of a corrected week, and archives the tests of each release to grade
the submissions that are based on it. Start reading at `publish`.
"""

__all__ = ["archive", "publish", "solutions"]
