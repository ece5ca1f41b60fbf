"""System calls that honest work never makes, counted from outside the process that makes them.

Theory of operation. A second seccomp program holds every such call and asks the template what it
should answer; the template counts it and answers "not permitted". The submission cannot tell this
from a refusal, cannot undo the count and cannot silence it. The first program lets these calls
pass, since of two answers the kernel takes the stricter, and a refusal is stricter than a question.
Where nobody listens any more, the kernel refuses them by itself.

A count changes no score. What is listed here is never made by Python, numpy, torch or honest code,
also where that fails; trying to start a process, a thread or a connection may be an accident and is
not listed.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from .bpf import exported

NEVER_HONEST = """
    ptrace unshare setns mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount
    mount_setattr bpf userfaultfd io_uring_setup io_uring_enter io_uring_register kexec_load
    kexec_file_load init_module finit_module delete_module open_by_handle_at add_key request_key
    keyctl quotactl reboot swapon settimeofday clock_settime process_madvise acct syslog
    setuid setgid setreuid setregid setresuid setresgid setgroups sethostname setdomainname
"""
# A GPU's driver makes these.
_NOT_ON_A_GPU = "process_vm_readv process_vm_writev pidfd_open pidfd_getfd pidfd_send_signal kcmp"
_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")
_FIRST = 1  # the submission's own number in its pid namespace


@cache
def program(*, alone: bool, gpu: bool) -> tuple[bytes, dict[int, str]]:
    """The BPF program and the calls' names by number; nothing where the kernel cannot ask.

    alone: whether the submission is the only process that it can name, so that any other signal's
           target is not its own
    """
    if not _kernel_can_ask():
        return b"", {}
    import pyseccomp as seccomp

    filter_ = seccomp.SyscallFilter(seccomp.ALLOW)
    filter_.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    names = (NEVER_HONEST + ("" if gpu else _NOT_ON_A_GPU)).split()
    numbers = {_number(seccomp, name): name for name in names}
    numbers.pop(-1, None)
    for name in numbers.values():
        filter_.add_rule(seccomp.NOTIFY, name)
    if alone:
        filter_.add_rule(seccomp.NOTIFY, "kill", seccomp.Arg(0, seccomp.NE, _FIRST))
        numbers[_number(seccomp, "kill")] = "kill"
    return exported(filter_), numbers


def _number(seccomp: Any, name: str) -> int:
    """The call's number here, -1 where there is none."""
    try:
        return max(-1, int(seccomp.resolve_syscall(seccomp.system_arch(), name)))
    except (OSError, ValueError):
        return -1


@cache
def _kernel_can_ask() -> bool:
    try:
        return "user_notif" in _ACTIONS.read_text(encoding="ascii").split()
    except OSError:
        return False
