"""Sandbox backends, from the strongest to the weakest: bubblewrap, Landlock, chroot.

Each backend is a `Sandbox` (see `backend`), which starts a `Template` (see
`autograder.sandbox.session`). `choice` runs a trial submission that tries to escape and returns the
strongest backend from which it cannot.
"""

__all__ = ["backend", "bubblewrap", "choice", "chroot", "landlock"]
