"""Confine a submission's process: user id, file system, resource limits and system calls.

The code runs in the fork server and in newly forked children before a submission is read, so all
inputs are trusted. If a step fails, the child exits. `lockdown` limits the process. Depending on
the host, `enter_namespaces` or `without_namespaces` restricts the file system, and `large_pages`
makes forks cheaper. Start with `lockdown`.
"""

__all__ = ["enter_namespaces", "lockdown", "without_namespaces"]
