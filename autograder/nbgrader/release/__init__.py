"""Releases of a week and of its solutions.

Every release is checked for secrets before and after it is published (`publish`, `solutions`).
`archive` numbers the releases of a corrected week and keeps the tests of each, so that its
submissions are graded with them. Start with `publish`.
"""

__all__ = ["archive", "publish", "solutions"]
