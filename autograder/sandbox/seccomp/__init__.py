"""Seccomp filters: the system calls that a submission may make, and those that are counted."""

from .syscalls import Programs, Tasks, programs

__all__ = ["Programs", "Tasks", "programs"]
