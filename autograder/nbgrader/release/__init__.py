"""Releases of a week and of its solutions.

Every release is checked for secrets before and after it leaves (`publish`, `solutions`).
`rerelease` publishes a corrected week, and `archive` keeps the tests of each release, by which its
submissions are graded. Start with `publish`.
"""

__all__ = ["archive", "publish", "rerelease", "solutions"]
