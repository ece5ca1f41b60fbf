"""Sandbox backends, from the strongest to the weakest: bubblewrap, Landlock, chroot.

Each backend starts a `Template` (see `autograder.sandbox.session`). `choice` runs a trial
submission that tries to escape and returns the strongest backend from which it cannot.
"""

__all__ = ["bubblewrap", "choice", "chroot", "landlock"]
