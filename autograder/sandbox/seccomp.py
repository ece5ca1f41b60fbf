"""Compile a child's seccomp filters: an allow-list, and a tripwire that counts suspicious calls.

Theory of operation. The code that runs under the filters is untrusted, and may make any system call
with any arguments, from any thread, without libc. Calls outside of the allow-list fail, and calls
for a different architecture kill the process. No capability or later call can remove a filter.

Because the first filter is an allow-list, it denies calls that future kernels add. A denied call
returns ENOSYS, for which C libraries have fallbacks (clone3 -> clone, faccessat2 -> faccessat), or
EPERM if the caller should see a clear refusal.

The second filter, the tripwire, suspends calls that honest programs never make and notifies the
template, which counts the call and denies it with EPERM. The submission cannot distinguish this
from an ordinary denial, and cannot undo or suppress the count. The allow-list contains these calls,
because the kernel applies the strictest action of all filters, and a denial is stricter than a
notification. Without a listener, the kernel itself denies the calls. Counts do not change a score.

libseccomp compiles the filters in the trusted process, so the sandbox does not need the library.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from autograder.model.errors import SandboxMissing

NEVER_HONEST = """
    ptrace unshare setns mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount
    mount_setattr bpf userfaultfd io_uring_setup io_uring_enter io_uring_register kexec_load
    kexec_file_load init_module finit_module delete_module open_by_handle_at add_key request_key
    keyctl quotactl reboot swapon settimeofday clock_settime process_madvise acct syslog
    setuid setgid setreuid setregid setresuid setresgid setgroups sethostname setdomainname
"""
# Calls that are suspicious only without a GPU, because GPU drivers make them.
_NOT_ON_A_GPU = "process_vm_readv process_vm_writev pidfd_open pidfd_getfd pidfd_send_signal kcmp"
_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")
_FIRST = 1  # the submission's pid in its pid namespace


@cache
def tripwire(*, alone: bool, gpu: bool) -> tuple[bytes, dict[int, str]]:
    """Return the tripwire's BPF program, and the names of its system calls by number.

    alone: whether the submission is the only process in its pid namespace. If so, `kill` with any
           pid except the submission's own is counted, too

    Both results are empty if the kernel does not support notifications.
    """
    if not _kernel_can_ask():
        return b"", {}
    import pyseccomp as seccomp

    filter_ = seccomp.SyscallFilter(seccomp.ALLOW)
    filter_.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    names = (NEVER_HONEST + ("" if gpu else _NOT_ON_A_GPU)).split()
    numbers = {_call_number(seccomp, name): name for name in names}
    numbers.pop(-1, None)
    for name in numbers.values():
        filter_.add_rule(seccomp.NOTIFY, name)
    if alone:
        filter_.add_rule(seccomp.NOTIFY, "kill", seccomp.Arg(0, seccomp.NE, _FIRST))
        numbers[_call_number(seccomp, "kill")] = "kill"
    return _exported(filter_), numbers


def _call_number(seccomp: Any, name: str) -> int:
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


def _exported(filter_: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        filter_.export_bpf(file)
        file.seek(0)
        return file.read()


_MEMORY = """
    brk mmap munmap mprotect mremap madvise msync munlock membarrier get_mempolicy
"""
# Calls that use files. The backend determines which files can be opened.
_FILES = """
    read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek close close_range
    stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat
    getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat
    renameat2 symlink symlinkat creat ftruncate fallocate fsync fdatasync umask
    copy_file_range sendfile
"""
_DESCRIPTORS = """
    dup dup2 dup3 pipe pipe2 eventfd2 poll ppoll select pselect6 epoll_create epoll_create1
    epoll_ctl epoll_wait epoll_pwait
"""
_SELF = """
    exit exit_group wait4 waitid getpid getppid gettid getuid geteuid getgid getegid getresuid
    getresgid getgroups getpgrp getpgid getsid getpriority getrusage times getrlimit setrlimit
    sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max
    sched_get_priority_min getcpu set_tid_address set_robust_list rseq arch_prctl futex uname
    sysinfo getrandom capget restart_syscall
"""
_SIGNALS = """
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait
    sigaltstack pause alarm setitimer getitimer
"""
_TIME = "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time"
# Calls that use the child's only socket. setsockopt is excluded because it can attach BPF programs,
# and sendmsg because descriptors in flight count against the limit of the grader's user.
_SOCKET = "getsockname getpeername shutdown"
_ALLOWED = (_MEMORY, _FILES, _DESCRIPTORS, _SELF, _SIGNALS, _TIME, _SOCKET)

# Allowed only in a separate pid namespace, because signals could otherwise reach the grader.
_SIGNAL_OTHERS = "kill tkill tgkill"
# Allowed only if the host's files are mounted read-only. Landlock does not restrict changes of
# modes and times or reads of extended attributes, and ABI versions before 3 allow `truncate`.
_METADATA = """
    chmod fchmod fchmodat fchmodat2 utimensat truncate link linkat
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
"""
# Additional calls that GPU drivers make. GPU device nodes are visible only if CUDA was requested.
_GPU = "ioctl sched_setaffinity sched_setscheduler mlock memfd_create set_mempolicy mbind"

# Calls that are denied with EPERM unless allowed above; students see "Operation not permitted".
_REFUSED = f"""
    fork vfork execve execveat socket socketpair connect bind listen accept accept4 setsockopt
    sendmsg sendmmsg recvmsg recvmmsg flock mincore fadvise64 mknod mknodat chown fchown lchown
    fchownat setxattr perf_event_open memfd_create memfd_secret personality name_to_handle_at
    shmget shmat semget msgget mq_open setpriority sched_setaffinity sched_setscheduler ioprio_set
    mlock mlock2 mlockall vmsplice splice tee setsid setpgid fanotify_init inotify_init
    inotify_init1 {_SIGNAL_OTHERS} {_METADATA} {NEVER_HONEST} {_NOT_ON_A_GPU}
"""

_ALL_BITS = (1 << 64) - 1
_NEW_NAMESPACE_FLAGS = 0x7E020000
_CLONE_THREAD = 0x00010000
_O_ACCMODE, _O_TRUNC = 0o3, 0o1000
_MSG_OOB = 1
# TCGETS (isatty), FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TIOCGWINSZ. Never TIOCSTI or TIOCLINUX.
_IOCTLS = (0x5401, 0x541B, 0x5421, 0x5450, 0x5451, 0x5413)
# Duplicate a descriptor, get or set flags, get the pipe size. Never F_SETOWN or F_SETSIG, which
# make the kernel signal other processes, or locks, through which submissions could communicate.
_FCNTLS = (0, 1, 2, 3, 4, 1030, 1032)
# SO_TYPE, SO_PROTOCOL, SO_DOMAIN, SO_ERROR. Never SO_PEERPIDFD, which returns the grader's pidfd.
_SOCKET_OPTIONS = (3, 38, 39, 4)
# Queries, and names of threads and mappings. Never PR_SET_PDEATHSIG, _DUMPABLE or _SECCOMP.
_PRCTLS = (3, 15, 16, 21, 39, 0x53564D41)


class Tasks(Enum):
    """The kinds of tasks that a submission may start."""

    NONE = "none"
    THREADS = "threads"
    PROCESSES = "processes"


@cache
def allow_list(
    tasks: Tasks, *, namespaces: bool, gpu: bool, left_out: frozenset[str] = frozenset()
) -> bytes:
    """Return the allow-list's BPF program for this architecture, eight bytes per instruction.

    namespaces: whether the child has separate pid and mount namespaces, with all files of the host
                mounted read-only
    left_out:   calls to allow because the tripwire handles them

    Raises SandboxMissing if libseccomp is not available.
    """
    try:
        import pyseccomp as seccomp
    except (ImportError, RuntimeError) as error:
        raise SandboxMissing(
            f"libseccomp cannot be used ({error}); run: apt-get install libseccomp2"
        ) from error

    compiled = _Rules(seccomp)
    for names in _ALLOWED:
        compiled.allow(names)
    if namespaces:
        compiled.allow(_SIGNAL_OTHERS)
        compiled.allow(_METADATA)
    if gpu:
        compiled.allow(_GPU)
    _allow_by_argument(compiled, gpu=gpu)
    _allow_tasks(compiled, tasks)
    compiled.allow(" ".join(left_out))
    compiled.refuse(_REFUSED)
    return _exported(compiled.filter)


def _allow_by_argument(compiled: _Rules, *, gpu: bool) -> None:
    if not gpu:
        for value in _IOCTLS:
            compiled.allow_if("ioctl", 1, value)
    for value in _FCNTLS:
        compiled.allow_if("fcntl", 1, value)
    for value in _PRCTLS:
        compiled.allow_if("prctl", 0, value)
    for value in _SOCKET_OPTIONS:
        compiled.allow_if("getsockopt", 2, value)
    compiled.allow_if("prlimit64", 0, 0)  # pid 0 is the calling process
    # Early versions of Landlock do not prevent open(O_RDONLY | O_TRUNC) from truncating a file.
    for name, flags in (("open", 1), ("openat", 2)):
        compiled.allow_if(name, flags, 0, _O_TRUNC)
        for mode in (1, 2):
            compiled.allow_if(name, flags, mode, _O_ACCMODE)
    # The kernel's code for out-of-band data on unix sockets is rarely used and prone to bugs.
    for name in ("sendto", "recvfrom"):
        compiled.allow_if(name, 3, 0, _MSG_OOB)


def _allow_tasks(compiled: _Rules, tasks: Tasks) -> None:
    if tasks is Tasks.NONE:
        compiled.refuse("clone")
    elif tasks is Tasks.THREADS:
        compiled.allow_if("clone", 0, _CLONE_THREAD, _NEW_NAMESPACE_FLAGS | _CLONE_THREAD)
    else:
        compiled.allow_if("clone", 0, 0, _NEW_NAMESPACE_FLAGS)
        compiled.allow("fork vfork setsid setpgid")


class _Rules:
    """A libseccomp filter that ignores system calls unknown to libseccomp or this architecture."""

    def __init__(self, seccomp: Any) -> None:
        self._seccomp = seccomp
        self.filter = seccomp.SyscallFilter(seccomp.ERRNO(errno.ENOSYS))
        self.filter.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
        self._allowed: set[str] = set()

    def allow(self, names: str) -> None:
        for name in names.split():
            if self._known(name) and name not in self._allowed:
                self.filter.add_rule(self._seccomp.ALLOW, name)
                self._allowed.add(name)

    def refuse(self, names: str) -> None:
        for name in names.split():
            if self._known(name) and name not in self._allowed:
                self.filter.add_rule(self._seccomp.ERRNO(errno.EPERM), name)

    def allow_if(self, name: str, argument: int, value: int, mask: int = _ALL_BITS) -> None:
        """Allow a call if the argument of this index, masked, equals the value."""
        if self._known(name):
            compare = self._seccomp.Arg(argument, self._seccomp.MASKED_EQ, mask, value)
            self.filter.add_rule(self._seccomp.ALLOW, name, compare)

    def _known(self, name: str) -> bool:
        return _call_number(self._seccomp, name) >= 0


class Programs(NamedTuple):
    """The seccomp filters of a child.

    refusing: BPF program of the allow-list
    asking:   BPF program of the tripwire, or b"" if the kernel does not support notifications
    names:    names of the tripwire's system calls, by number
    """

    refusing: bytes
    asking: bytes
    names: Mapping[int, str]


def programs(tasks: Tasks, *, namespaces: bool, gpu: bool) -> Programs:
    """Compile the allow-list and the tripwire for a child that may start `tasks`."""
    asking, names = tripwire(alone=namespaces and tasks is not Tasks.PROCESSES, gpu=gpu)
    left_out = frozenset(names.values())
    refusing = allow_list(tasks, namespaces=namespaces, gpu=gpu, left_out=left_out)
    return Programs(refusing, asking, names)
