"""Grade many submissions.

`intake` reads submissions as bytes within size limits; `grade_batch` looks them up in the result
store and distributes the others over a pool of processes (`pool`) or a Dask cluster (`cluster`).
"""

__all__ = ["cluster", "grade", "intake", "module_name", "pool", "store"]
