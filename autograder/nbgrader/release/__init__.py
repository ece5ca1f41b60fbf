"""Releases of a week and of its solutions.

Every release is checked for secrets before and after it is published (`publish`, `solutions`).
`rerelease` publishes a corrected week, and `archive` keeps the tests of each release, so that its
submissions are graded with them. Start with `publish`.
"""

__all__ = ["archive", "publish", "rerelease", "solutions"]
