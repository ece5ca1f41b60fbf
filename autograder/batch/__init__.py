"""Grade many submissions.

`intake` reads submissions as bytes within size limits. `grade_batch` returns stored results, and
grades the remaining submissions in local processes (`pool`) or on a Dask cluster (`cluster`).
"""

__all__ = ["cluster", "grade", "intake", "module_name", "pool", "store"]
