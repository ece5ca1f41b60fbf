"""Confine the process of one submission: identity, view of the file system, limits, system calls.

The code runs in the fork server and in its freshly forked children, before a submission is read, so
nobody lies here yet. A failing step ends the child: nothing runs unconfined. `lockdown` limits the
process. One of `enter_namespaces`, `enter_landlock` and `enter_chroot` restricts the file system,
depending on what the host allows; the latter two use `workdirs`. `seccomp_notify` counts refused
system calls. Start with `lockdown`.
"""

__all__ = [
    "enter_chroot",
    "enter_landlock",
    "enter_namespaces",
    "lockdown",
    "seccomp_notify",
    "workdirs",
]
