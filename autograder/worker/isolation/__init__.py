"""Confine the process of one submission: identity, view of the file system, limits, system calls.

The code runs in the fork server and in its freshly forked children, before a submission is read, so
it need not distrust its inputs. A step that fails ends the child. `lockdown` limits the process.
`enter_namespaces` or `without_namespaces` restricts the file system, depending on the host. Start
with `lockdown`.
"""

__all__ = ["enter_namespaces", "lockdown", "without_namespaces"]
