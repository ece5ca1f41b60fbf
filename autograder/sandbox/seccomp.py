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
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from autograder.model.errors import SandboxMissing

_CALLS = tomllib.loads(Path(__file__).with_name("system_calls.toml").read_text(encoding="utf-8"))
_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")
_FIRST = 1  # the submission's pid in its pid namespace


@cache
def tripwire(*, alone: bool, gpu: bool) -> tuple[bytes, dict[int, str]]:
    """Return the tripwire's BPF program, and the names of its system calls by number.

    alone: whether the submission is the only process in its pid namespace. If so, `kill` with any
           pid except the submission's own is counted, too

    Both results are empty if the kernel does not support notifications.
    """
    actions = ""
    with suppress(OSError):
        actions = _ACTIONS.read_text(encoding="ascii")
    if "user_notif" not in actions.split():
        return b"", {}
    import pyseccomp as seccomp

    filter_ = seccomp.SyscallFilter(seccomp.ALLOW)
    filter_.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    names = [*_CALLS["never_honest"].split(), *("" if gpu else _CALLS["not_on_a_gpu"]).split()]
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


def _exported(filter_: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        filter_.export_bpf(file)
        file.seek(0)
        return file.read()


_ALL_BITS = (1 << 64) - 1
_NEW_NAMESPACE_FLAGS = 0x7E020000
_CLONE_THREAD = 0x00010000
_O_ACCMODE, _O_TRUNC = 0o3, 0o1000
_MSG_OOB = 1


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
    for names in _CALLS["allowed"].values():
        compiled.allow(names)
    if namespaces:
        compiled.allow(_CALLS["signal_others"])
        compiled.allow(_CALLS["metadata"])
    if gpu:
        compiled.allow(_CALLS["gpu"])
    _allow_by_argument(compiled)
    _allow_tasks(compiled, tasks)
    compiled.allow(" ".join(left_out))
    for group in ("refused", "signal_others", "metadata", "never_honest", "not_on_a_gpu"):
        compiled.refuse(_CALLS[group])
    return _exported(compiled.filter)


def _allow_by_argument(compiled: _Rules) -> None:
    for name, rule in _CALLS["by_argument"].items():
        for value in rule["values"]:
            compiled.allow_if(name, rule["argument"], value)
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
        if self._known(name) and name not in self._allowed:
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
