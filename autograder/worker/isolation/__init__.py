"""Confine the process of one submission: identity, view of the file system, limits, system calls.

The code runs in the fork server and in its freshly forked children, before a submission is read, so
it need not distrust its inputs. A step that fails ends the child. `lockdown` limits the process.
One of `enter_namespaces`, `enter_landlock` and `enter_chroot` restricts the file system,
depending on the host; the latter two use `workdirs`. `seccomp_notify` counts refused
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
