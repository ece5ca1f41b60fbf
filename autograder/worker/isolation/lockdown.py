"""Limit the process that is about to run a submission.

Theory of operation. This module runs in a newly forked child of the fork server, before any part of
the submission is read. Every step must succeed before the submission starts. If a step raises an
exception, the child exits, and the fork server reports the child as `Refused`.

1. Descriptors: close all except the submission's socket (3), and open /dev/null as 0, 1 and 2. Two
   descriptors that the following steps need (4 and 5) are closed afterwards.
2. File system: call `Isolation.enter`, which also switches to a uid that owns no files if
   `Boot.child_uid` is set.
3. Privileges: drop all capabilities and the bounding set, and set no_new_privs.
4. Threads: run a backward pass, because torch's autograd then starts one thread per device except
   the CPU, and these threads must exist before threads are forbidden.
5. Resource limits: call setrlimit. The memory limit is added to the fork server's own memory use.
6. System calls: install the BPF programs that the trusted process compiled on all threads at once:
   an allow-list and, if the kernel supports it, a program that reports suspicious calls.

Address randomisation does not protect submissions from each other, because all children share the
memory layout of the fork server. CPU caches and the kernel are shared as well.
"""

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
import threading
from typing import Any

import msgspec

SOCKET_FD = 3
STATUS_FD = 4
TASKS_FD = 5

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC = 1, 1
_SECCOMP_FILTER_FLAGS_ASKING = 8 | 16  # NEW_LISTENER; TSYNC_ESRCH: a failed TSYNC returns ESRCH
_MIB = 1 << 20
_FEWEST_FILES = 8
DRIVERS_BYTES = 2 << 30  # writable memory that GPU drivers and libraries need
# Number of uids for children if the fork server runs as root. Far fewer children run concurrently.
SPARE_UIDS = 10_000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class ChildLimits(msgspec.Struct, frozen=True):
    """The resource limits of one submission.

    memory_bytes: address space in addition to the fork server's. With a GPU, this limits writable
                  private memory instead, in addition to the driver's memory
    processes:    number of processes and threads that the submission may start
    disk_bytes:   total size of files in the working directory, /tmp and /dev/shm
    open_files:   number of descriptors, including the three standard ones and the socket
    cpu_seconds:  processor time until SIGKILL; the caller limits wall-clock time
    """

    memory_bytes: int = 1 << 30
    processes: int = 0
    disk_bytes: int = 16 << 20
    open_files: int = 64
    cpu_seconds: int = 120

    def __post_init__(self) -> None:
        if min(self.memory_bytes, self.disk_bytes, self.cpu_seconds) < 1:
            raise ValueError(f"memory, disk and processor time must be above 0: {self}")
        if self.processes < 0 or self.open_files < _FEWEST_FILES:
            raise ValueError(f"processes must be >= 0 and open_files >= {_FEWEST_FILES}: {self}")


class Boot(msgspec.Struct, frozen=True):
    """The first packet to the fork server, sent with a descriptor of `server.prepare`'s config.

    backend:   "bubblewrap", "landlock" or "chroot"
    warm:      modules to import before the first fork
    child_uid: first uid of the range for children, or None to keep the current uid
    gpu:       whether CUDA may be used
    first:     random offset into the uid range, so that parallel fork servers rarely share a uid
    scratch:   folder for children's working directories (landlock and chroot only)
    readable:  paths that a child may read (landlock only)
    root:      folder that becomes a child's root (chroot only)
    """

    backend: str
    warm: tuple[str, ...]
    child_uid: int | None
    gpu: bool
    first: int = 0
    scratch: str = ""
    readable: tuple[str, ...] = ()
    root: str = ""


class Isolation:
    """Isolates the children of a fork server; each backend has a subclass.

    parent:      the fork server's pid as seen by a child; 0 if they are in different pid namespaces
    count_tasks: whether to set RLIMIT_NPROC; False if it would also count other processes' tasks
    patience_ms: timeout after which `overrun` is called even without an event; -1 for no timeout
    """

    parent = 0
    count_tasks = True

    def __init__(self, boot: Boot) -> None:
        self.boot = boot

    @property
    def patience_ms(self) -> int:
        return -1

    def finish_warm_up(self) -> None:
        """Prepare the fork server before its first fork; raise OSError if that fails."""

    def fork(self, number: int, limits: ChildLimits) -> int:
        """Fork a child; return its pid, or 0 in the child."""
        raise NotImplementedError

    def enter(self, number: int, limits: ChildLimits) -> None:
        """Restrict the child's file system and switch its uid; called in the child."""
        raise NotImplementedError

    def overrun(self) -> list[int]:
        """Return the numbers of children whose files exceed the disk limit."""
        return []

    def leave(self, number: int) -> None:
        """Remove the resources of a child that has ended."""

    def close(self) -> None:
        """Remove the resources of all children."""

    def uid(self, number: int) -> int | None:
        """Return a child's uid, or None if children keep the current uid.

        Children of one fork server that run concurrently have different uids.
        """
        first = self.boot.child_uid
        return None if first is None else first + (self.boot.first + number) % SPARE_UIDS


def call(name: str, *arguments: object) -> int:
    """Call a libc function; raise OSError, with the name in its message, if it returns -1."""
    return _checked(name, getattr(_libc, name)(*arguments))


def syscall(number: int, name: str, *arguments: object) -> int:
    """Make a system call by number; raise OSError, with `name` in its message, if it fails."""
    padded = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(name, _libc.syscall(ctypes.c_long(number), *padded))


def _checked(name: str, result: int) -> int:
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def keep_descriptors(sock: int, status: int) -> None:
    """Close all descriptors except the socket, the status socket and /proc/self/task.

    Descriptors 0 to 2 become /dev/null. `lock` closes the task folder, and the caller closes the
    status socket.
    """
    sock = fcntl.fcntl(sock, fcntl.F_DUPFD, TASKS_FD + 1)
    status = fcntl.fcntl(status, fcntl.F_DUPFD, TASKS_FD + 1)
    tasks = fcntl.fcntl(os.open("/proc/self/task", os.O_RDONLY), fcntl.F_DUPFD, TASKS_FD + 1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.dup2(sock, SOCKET_FD, inheritable=False)
    os.dup2(status, STATUS_FD, inheritable=False)
    os.dup2(tasks, TASKS_FD, inheritable=False)
    os.closerange(TASKS_FD + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def used_memory(*, gpu: bool) -> int:
    """Return the size of the address space in bytes, or of writable memory if a GPU is used."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5 if gpu else 0]) * resource.getpagesize()


def prefer_for_oom() -> None:
    """Make the kernel kill this process rather than the grader if the host runs out of memory."""
    # root owns /proc/self of an undumpable process, so this process could not write to it
    call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def become(uid: int | None) -> None:
    """Switch to `uid` and the gid of the same number, or keep both if `uid` is None."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def lock(
    limits: ChildLimits, program: bytes, notifying: bytes, used_bytes: int, isolation: Isolation
) -> None:
    """Drop privileges, set limits and restrict system calls; call after `Isolation.enter`.

    program:    BPF program that refuses forbidden system calls
    notifying:  BPF program to install first, or b""; the fork server answers its notifications
    used_bytes: the fork server's `used_memory`, to which `memory_bytes` is added

    With a GPU, the memory limit applies to writable memory instead of address space, because a GPU
    driver reserves far more addresses than it uses.
    """
    gpu = isolation.boot.gpu
    _drop_privileges()
    _start_autograd_threads()
    tasks = len(os.listdir(TASKS_FD))
    os.close(TASKS_FD)
    _apply_limits(
        limits,
        memory=used_bytes + limits.memory_bytes + (DRIVERS_BYTES if gpu else 0),
        kind=resource.RLIMIT_DATA if gpu else resource.RLIMIT_AS,
        tasks=tasks + limits.processes if isolation.count_tasks else None,
    )
    call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
    # set last, because every change of credentials clears the parent-death signal
    call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != isolation.parent:
        raise OSError("the fork server died")
    if notifying:
        _send_listener(_install_filter(notifying, notifies=True), STATUS_FD)
    _install_filter(program)


def _apply_limits(limits: ChildLimits, memory: int, kind: int, tasks: int | None) -> None:
    bounds = {
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.disk_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_STACK: 8 * _MIB,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 64,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
        kind: memory,
    }
    if tasks is not None:
        bounds[resource.RLIMIT_NPROC] = tasks
    for which, wanted in bounds.items():
        hard = resource.getrlimit(which)[1]
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (bound, bound))


def _drop_privileges() -> None:
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    capability = 0
    while _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    header = ctypes.create_string_buffer(struct.pack("Ii", _CAPABILITY_VERSION_3, 0))
    nothing = ctypes.create_string_buffer(24)
    call("capset", header, nothing)


_autograd_graph: list[Any] = []


def prepare_arena() -> None:
    """Create a malloc arena in the fork server, so that a child's first new thread can reuse it.

    A new arena would take 64 MiB of the child's address space.
    """
    thread = threading.Thread(target=bytearray, args=(1 << 16,))
    thread.start()
    thread.join()


def prepare_autograd() -> None:
    """If torch is loaded, build a small autograd graph, whose backward pass each child runs."""
    torch = sys.modules.get("torch")
    if torch is not None:
        _autograd_graph.append(torch.ones(1, requires_grad=True).sum())


def _start_autograd_threads() -> None:
    """Run a backward pass, because autograd then starts a thread for each device except the CPU."""
    while _autograd_graph:
        _autograd_graph.pop().backward()


def _send_listener(listener: int, channel: int) -> None:
    """Send a seccomp listener to the fork server, and close the child's copy."""
    with socket.socket(fileno=os.dup(channel)) as sock:
        socket.send_fds(sock, [b"?"], [listener])
    os.close(listener)


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _install_filter(program: bytes, notifies: bool = False) -> int:
    """Install a seccomp program on all threads; return its listener if `notifies`, otherwise 0."""
    loaded = _FilterProgram(len(program) // 8, program)
    flags = _SECCOMP_FILTER_FLAG_TSYNC | (_SECCOMP_FILTER_FLAGS_ASKING if notifies else 0)
    result = syscall(
        _SYS_SECCOMP[os.uname().machine],
        "seccomp",
        _SECCOMP_SET_MODE_FILTER,
        flags,
        ctypes.byref(loaded),
    )
    if result and not notifies:
        raise OSError(f"seccomp: thread {result} could not be filtered")
    return result
