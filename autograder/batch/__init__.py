"""Grade many submissions.

`intake` reads submissions into memory and enforces size limits. `grade` reuses stored reports and
grades the other submissions in local processes (`pool`) or on a Dask cluster (`cluster`).
"""
