"""The trusted end of a sandbox: a warm template, and the children that it forks.

Theory of operation
-------------------
Who may be lying: a child, about everything that comes over its socket; nothing here reads that.
The template runs only the kit's code and is believed.

What is promised: `spawn` returns when the child is confined and not before. The first one waits
until the template is warm, and says why where it does not get so far. The child is held by
a pidfd, so that it can be killed and watched without the template's help and never confused with
a process that got its number later. `kill` takes down everything that the child started. All of
this may be used from several threads; only the template's control socket is shared, and each use
of it is short, because whoever waits for a child waits on that child's own pidfd.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import NoReturn

import msgspec

from autograder.worker.fork_server import (
    Boot,
    Exited,
    Failed,
    Ready,
    Refused,
    Report,
    Spawn,
    Started,
)
from autograder.worker.isolation.lockdown import ChildLimits

from . import processes
from .errors import SandboxFault
from .launch import END_SECONDS
from .seccomp.syscalls import Programs, Tasks

_PACKET = 1 << 16
_BOOT_SECONDS = 120.0
_SPAWN_SECONDS = 15.0
_GPU_SPAWN_SECONDS = 75.0
_REPORT_SECONDS = 5.0
_KILL_SECONDS = 2.0
_GPU_KILL_SECONDS = 30.0  # the last one that leaves a GPU may have to wait until it is put to sleep
# Threads that a GPU driver starts for itself, and descriptors that it holds.
_GPU_THREADS, _GPU_FILES = 16, 192
_DECODER = msgspec.msgpack.Decoder(Report)


class Child:
    """One submission's process. `sock` is its stream, blocking; frames on it are the caller's."""

    def __init__(
        self,
        template: Template,
        number: int,
        sock: socket.socket,
        pidfd: int,
        watched: Mapping[int, str],
    ) -> None:
        self.sock = sock
        self._watched = watched
        self._template = template
        self._number = number
        self._pidfd = pidfd
        self._pid = processes.pid_of(pidfd)
        self._status: int | None = None

    def kill(self) -> None:
        """SIGKILL it and all it started; return once all are gone. Harmless when they are."""
        if self._pidfd < 0:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        patience = _GPU_KILL_SECONDS if self._template._gpu else _KILL_SECONDS
        if not processes.readable(self._pidfd, patience):
            raise SandboxFault(f"a child did not die within {patience:.0f} s of SIGKILL")
        with contextlib.suppress(SandboxFault):  # without its template, nobody knows its status
            self.exit_status(0)

    def exit_status(self, timeout: float) -> int | None:
        """Its exit code, negative for a signal; None while it runs after `timeout` seconds."""
        if self._status is None and self._pidfd >= 0 and processes.readable(self._pidfd, timeout):
            self._status = self._template._status_of(self._number)
        return self._status

    def tried(self) -> tuple[str, ...]:
        """System calls that honest work never makes, once it is gone: those that it made."""
        calls = self._template._tried.get(self._number, ())
        return tuple(sorted({self._watched.get(call, "another") for call in calls}))

    def resident_bytes(self) -> int:
        """Resident memory of it and all it started, shared pages included; 0 once gone."""
        if self._pidfd < 0 or processes.readable(self._pidfd, 0):
            return 0
        pids = [self._pid] if not self._template._bred else processes.tree(self._pid)
        return sum(processes.resident_bytes(pid) for pid in pids)

    def peak_bytes(self) -> int:
        """The most resident memory that it ever had, as the kernel counted it; 0 once gone."""
        if self._pidfd < 0 or processes.readable(self._pidfd, 0):
            return 0
        return processes.peak_resident_bytes(self._pid)

    def anonymous_bytes(self) -> int:
        """Its resident memory that lies behind no file, the template's included; 0 once gone."""
        if self._pidfd < 0 or processes.readable(self._pidfd, 0):
            return 0
        return processes.anonymous_bytes(self._pid)

    def waited_seconds(self) -> float:
        """How long it has stood ready to run while others had the processors; 0 once gone."""
        if self._pidfd < 0 or processes.readable(self._pidfd, 0):
            return 0.0
        return processes.waited_seconds(self._pid)

    def ran_seconds(self) -> float:
        """How long it has had a processor; 0 once gone."""
        if self._pidfd < 0 or processes.readable(self._pidfd, 0):
            return 0.0
        return processes.ran_seconds(self._pid)

    def close(self) -> None:
        """End it if it still runs, and release what is held for it."""
        if self._pidfd < 0:
            return
        try:
            self.kill()
        finally:
            self.sock.close()
            self._template._forget(self._number)
            os.close(self._pidfd)
            self._pidfd = -1

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _abandon(self) -> None:
        self.sock.close()
        os.close(self._pidfd)
        self._pidfd = -1


class Template:
    """One warm process in the sandbox, from which submissions are forked.

    It warms up while the caller goes on.

    control:      socket on which the started process waits for `boot`
    boot, config: what it is told first
    programs:     gives the seccomp programs for what a child may start
    most:         the most that can be granted and bounded here
    end:          ends and reaps the process that holds the template, given so many seconds to
                  end by itself; answers what it printed

    `warm` says whether it got so far.
    """

    def __init__(
        self,
        control: socket.socket,
        boot: Boot,
        config: bytes,
        *,
        programs: Callable[[Tasks], Programs],
        most: Tasks,
        end: Callable[[float], str],
    ) -> None:
        self._control = control
        self._programs = programs
        self._most = most
        self._gpu = boot.gpu
        self._spawn_seconds = _GPU_SPAWN_SECONDS if boot.gpu else _SPAWN_SECONDS
        self._end = end
        self._lock = threading.Lock()
        self._number = 0
        self._children: dict[int, Child] = {}
        self._statuses: dict[int, int] = {}
        self._tried: dict[int, tuple[int, ...]] = {}
        self._dead = ""
        self._bred = False
        self.warm = False
        self._warm_until = time.monotonic() + _BOOT_SECONDS
        _living.add(self)
        try:
            self._boot(boot, config)
        except BaseException:
            self.close()
            raise

    def spawn(self, limits: ChildLimits) -> Child:
        """Fork and confine a child; SandboxFault where the template is gone or could not."""
        tasks = self._tasks(limits)
        if self._gpu:
            limits = msgspec.structs.replace(
                limits,
                processes=limits.processes + _GPU_THREADS,
                open_files=limits.open_files + _GPU_FILES,
            )
        with self._lock:
            if self._dead:
                raise SandboxFault(self._dead)
            self._wait_until_warm()
            self._number += 1
            number = self._number
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                programs = self._programs(tasks)
                spawn = Spawn(number, limits, programs.refusing, programs.asking)
                self._send(spawn, theirs.fileno())
                pidfd = self._await(Started, number, self._spawn_seconds)
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()
            self._bred = self._bred or tasks is Tasks.PROCESSES
            child = Child(self, number, ours, pidfd, programs.names)
            if number == 1:
                processes.step_back(processes.parent_of(child._pid))
            processes.step_back(child._pid)
            self._children[number] = child
            return child

    def close(self) -> None:
        """End the template and every child of it."""
        with self._lock:
            self._dead = self._dead or "the template was closed"
            self._control.close()
        _living.discard(self)
        # before it is warm it has no children to end, and does not look at its socket
        self._end(END_SECONDS if self.warm else 0.0)

    def __enter__(self) -> Template:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _boot(self, boot: Boot, config: bytes) -> None:
        descriptor = os.memfd_create("config")
        with open(descriptor, "r+b") as file:
            file.write(config)
            file.seek(0)
            self._send(boot, descriptor)

    def _wait_until_warm(self) -> None:
        if not self.warm:
            self._await(Ready, 0, self._warm_until - time.monotonic())
            self.warm = True

    def _tasks(self, limits: ChildLimits) -> Tasks:
        if limits.processes == 0:
            return Tasks.THREADS if self._gpu else Tasks.NONE
        if self._most is Tasks.NONE:
            raise SandboxFault(
                "as root, extra processes cannot be bounded here: set `processes` to 0, or let"
                " other users read the Python installation"
            )
        return self._most

    def _send(self, order: Boot | Spawn, descriptor: int) -> None:
        try:
            socket.send_fds(self._control, [msgspec.msgpack.encode(order)], [descriptor])
        except OSError:
            self._fail("the template is gone")

    def _await(self, kind: type[Started | Ready | Exited], number: int, seconds: float) -> int:
        """Read reports until the wanted one comes; the descriptor that came with it, or -1."""
        deadline = time.monotonic() + seconds
        while True:
            report, descriptor = self._receive(deadline)
            if isinstance(report, Exited) and report.number in self._children:
                self._statuses[report.number] = report.status
                self._tried[report.number] = report.tried
            if isinstance(report, Failed):
                self._fail(f"the template could not start:\n{report.message}")
            if isinstance(report, kind) and getattr(report, "number", number) == number:
                return descriptor
            if isinstance(report, Refused) and report.number == number:
                raise SandboxFault(f"a child could not be confined: {report.message}")
            if descriptor >= 0:
                _discard(descriptor)  # whoever asked for that child was interrupted

    def _receive(self, deadline: float) -> tuple[Report, int]:
        if not processes.readable(self._control.fileno(), deadline - time.monotonic()):
            self._fail("the template did not answer in time")
        try:
            packet, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, 1)
        except ConnectionError:
            packet = b""
        if not packet:
            self._fail("the template is gone")
        return _DECODER.decode(packet), descriptors[0] if descriptors else -1

    def _fail(self, message: str) -> NoReturn:
        self._control.close()
        printed = self._end(END_SECONDS).strip()
        self._dead = f"{message}\n{printed}" if printed else message
        raise SandboxFault(self._dead)

    def _status_of(self, number: int) -> int:
        with self._lock:
            if number not in self._statuses:
                if self._dead:
                    raise SandboxFault(self._dead)
                self._await(Exited, number, _REPORT_SECONDS)
            return self._statuses[number]

    def _forget(self, number: int) -> None:
        with self._lock:
            self._children.pop(number, None)
            self._statuses.pop(number, None)
            self._tried.pop(number, None)

    def _abandon(self) -> None:
        """In a forked copy of the trusted process: hold nothing of what is not ours."""
        self._dead = "this template belongs to the process that started it"
        self._control.close()
        for child in self._children.values():
            child._abandon()
        self._children.clear()


def _discard(pidfd: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    os.close(pidfd)


_living: weakref.WeakSet[Template] = weakref.WeakSet()


def _abandon_all() -> None:
    for template in list(_living):
        template._abandon()
    _living.clear()


# A fork that kept a control socket open would keep a template alive after its owner.
os.register_at_fork(after_in_child=_abandon_all)
