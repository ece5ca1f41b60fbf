"""Confine the process of one submission: identity, view of the file system, limits, system calls.

The code runs in the fork server and in newly forked children before a submission is read, so its
inputs are trusted. If a step fails, the child exits. `lockdown` limits the process, and
`enter_namespaces` or `without_namespaces`, depending on the host, restricts the file system. Start
with `lockdown`.
"""

__all__ = ["enter_namespaces", "lockdown", "without_namespaces"]
