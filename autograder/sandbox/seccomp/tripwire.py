"""Count system calls that honest programs never make.

Theory of operation. A second seccomp filter suspends each of these calls and notifies the template,
which counts the call and denies it with EPERM. The submission cannot distinguish this from an
ordinary denial, and cannot undo or suppress the count. The first filter allows these calls, because
the kernel applies the strictest action of all filters and a denial is stricter than a notification.
Without a listener the kernel denies them itself.

Counts do not change a score. The list contains only calls that Python, NumPy, torch and honest
programs never make, even when they fail. Starting a process, a thread or a connection can happen by
accident and is not listed.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

NEVER_HONEST = """
    ptrace unshare setns mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount
    mount_setattr bpf userfaultfd io_uring_setup io_uring_enter io_uring_register kexec_load
    kexec_file_load init_module finit_module delete_module open_by_handle_at add_key request_key
    keyctl quotactl reboot swapon settimeofday clock_settime process_madvise acct syslog
    setuid setgid setreuid setregid setresuid setresgid setgroups sethostname setdomainname
"""
# Counted only without a GPU, because GPU drivers make these calls.
_NOT_ON_A_GPU = "process_vm_readv process_vm_writev pidfd_open pidfd_getfd pidfd_send_signal kcmp"
_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")
_FIRST = 1  # the pid of the submission in its namespace


@cache
def program(*, alone: bool, gpu: bool) -> tuple[bytes, dict[int, str]]:
    """Return the BPF program and its calls by number, both empty if the kernel lacks support.

    alone: True if the submission is alone in its pid namespace; `kill` of any other pid then counts
    """
    if not _kernel_can_ask():
        return b"", {}
    import pyseccomp as seccomp

    filter_ = seccomp.SyscallFilter(seccomp.ALLOW)
    filter_.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    names = (NEVER_HONEST + ("" if gpu else _NOT_ON_A_GPU)).split()
    numbers = {call_number(seccomp, name): name for name in names}
    numbers.pop(-1, None)
    for name in numbers.values():
        filter_.add_rule(seccomp.NOTIFY, name)
    if alone:
        filter_.add_rule(seccomp.NOTIFY, "kill", seccomp.Arg(0, seccomp.NE, _FIRST))
        numbers[call_number(seccomp, "kill")] = "kill"
    return export_bpf(filter_), numbers


def call_number(seccomp: Any, name: str) -> int:
    """Return the number of a system call, negative if this architecture lacks it."""
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


def export_bpf(filter_: Any) -> bytes:
    """Return a libseccomp filter as a BPF program."""
    with tempfile.TemporaryFile() as file:
        filter_.export_bpf(file)
        file.seek(0)
        return file.read()
