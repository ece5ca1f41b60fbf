"""Manage a sandbox in the trusted process: a warm template process and the children that it forks.

Theory of operation. A child is untrusted and may write anything to its socket. This module never
reads from that socket. The template runs only the kit's code and is trusted.

`spawn` returns only after the child is confined. Its first call waits until the template is warm,
or raises SandboxFault with the reason why the template did not start. A child is identified by a
pidfd, so the trusted process can watch and kill it without the template, and never confuses it with
a later process that reuses its pid. `kill` ends the child and all processes that it started. All
methods are thread-safe. Threads share only the control socket and hold its lock briefly, because
waiting for a child uses the child's pidfd.
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
import psutil
from msgspec.structs import replace

from autograder.model.errors import SandboxFault
from autograder.worker.fork_server import Exited, Failed, Ready, Refused, Report, Spawn, Started
from autograder.worker.isolation.lockdown import Boot, ChildLimits

from . import processes
from .seccomp import Programs, Tasks

_PACKET = 1 << 16
_BOOT_SECONDS = 120.0
_SPAWN_SECONDS = 15.0
_GPU_SPAWN_SECONDS = 75.0
_EXIT_SECONDS = 30.0  # on a busy machine, or for the last process on a GPU, which powers it down
# Numbers of additional threads and file descriptors that a GPU driver needs.
_GPU_THREADS, _GPU_FILES = 16, 192
_DECODER = msgspec.msgpack.Decoder(Report)


class Child(contextlib.AbstractContextManager["Child"]):
    """The process of one submission. `sock`: a blocking stream socket; the caller's protocol."""

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
        self.pidfd = pidfd
        self.pid = processes.pid_of(pidfd)
        self._status: int | None = None

    def kill(self) -> None:
        """Kill the child and all processes that it started, and wait until the child has ended.

        Raises SandboxFault if the child is still alive some seconds after SIGKILL.
        """
        if self.pidfd < 0:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        if not processes.readable(self.pidfd, _EXIT_SECONDS):
            raise SandboxFault(f"a child did not die within {_EXIT_SECONDS:.0f} s of SIGKILL")
        with contextlib.suppress(SandboxFault):  # the template may have ended
            self.exit_status(0)

    def exit_status(self, timeout: float) -> int | None:
        """Return the exit code (-N after signal N), or None if still running after `timeout` s."""
        if self._status is None and self.pidfd >= 0 and processes.readable(self.pidfd, timeout):
            self._status = self._template._status_of(self._number)
        return self._status

    def tried(self) -> tuple[str, ...]:
        """Return the suspicious system calls that a child attempted; () until its exit is known."""
        ended = self._template._ended.get(self._number)
        return tuple(
            sorted({self._watched.get(c, "another") for c in ended.tried} if ended else ())
        )

    def resident_bytes(self) -> int:
        """Return the child's resident memory in bytes, including its descendants'; 0 if ended."""
        if self._has_ended():
            return 0
        pids = [self.pid]
        if self._template._bred:
            with contextlib.suppress(psutil.Error):
                pids += [p.pid for p in psutil.Process(self.pid).children(recursive=True)]
        return sum(processes.status_bytes(pid, "VmRSS") for pid in pids)

    def peak_bytes(self) -> int:
        """Return the child's peak resident memory in bytes, or 0 if the child has ended."""
        return 0 if self._has_ended() else processes.status_bytes(self.pid, "VmHWM")

    def anonymous_bytes(self) -> int:
        """Return the child's anonymous memory in bytes, or 0 if the child has ended."""
        return 0 if self._has_ended() else processes.status_bytes(self.pid, "RssAnon")

    def waited_seconds(self) -> float:
        """Return the seconds that the child waited for a CPU, or 0 if the child has ended."""
        return 0.0 if self._has_ended() else processes.scheduled_seconds(self.pid)[1]

    def ran_seconds(self) -> float:
        """Return the seconds that the child ran on a CPU, or 0 if the child has ended."""
        return 0.0 if self._has_ended() else processes.scheduled_seconds(self.pid)[0]

    def _has_ended(self) -> bool:
        return self.pidfd < 0 or processes.readable(self.pidfd, 0)

    def close(self) -> None:
        """Kill the child if it is still running, and close its descriptors."""
        if self.pidfd < 0:
            return
        try:
            self.kill()
        finally:
            self.sock.close()
            self._template._forget(self._number)
            os.close(self.pidfd)
            self.pidfd = -1

    def __exit__(self, *_: object) -> None:
        self.close()

    def _abandon(self) -> None:
        self.sock.close()
        os.close(self.pidfd)
        self.pidfd = -1


class Template(contextlib.AbstractContextManager["Template"]):
    """A process in the sandbox that forks a child for each submission.

    The process imports its libraries in the background. `warm` is True once the first `spawn` has
    waited for the imports.

    control:      control socket of the started process
    boot, config: contents of the first packet to the process
    programs:     returns the seccomp programs for a child that may start the given tasks
    most:         the most permissive kind of tasks that this backend allows
    end:          waits for the process, kills it after the given seconds, and returns its output
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
        self._ended: dict[int, Exited] = {}
        self._dead = ""
        self._bred = False
        self.warm = False
        self._warm_until = time.monotonic() + _BOOT_SECONDS
        _living.add(self)
        with open(os.memfd_create("config"), "r+b") as file:
            file.write(config)
            file.seek(0)
            try:
                self._send(boot, file.fileno())
            except BaseException:
                self.close()
                raise

    def spawn(self, limits: ChildLimits) -> Child:
        """Fork and confine a child.

        Raises SandboxFault if the template has ended, does not start or answer in time, or cannot
        confine the child, or if this host cannot limit the requested number of processes.
        """
        tasks = self._tasks(limits)
        if self._gpu:
            limits = replace(
                limits,
                processes=limits.processes + _GPU_THREADS,
                open_files=limits.open_files + _GPU_FILES,
            )
        with self._lock:
            if self._dead:
                raise SandboxFault(self._dead)
            if not self.warm:
                self._await(Ready, 0, self._warm_until - time.monotonic())
                self.warm = True
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
            with contextlib.suppress(psutil.Error, ValueError):  # the child may already have ended
                if number == 1:
                    processes.step_back(psutil.Process(child.pid).ppid())
                processes.step_back(child.pid)
            self._children[number] = child
            return child

    def close(self) -> None:
        """Terminate the template and all of its children."""
        with self._lock:
            self._dead = self._dead or "the template was closed"
            self._control.close()
        _living.discard(self)
        # a template that is not warm has no children and would not notice the closed socket
        self._end(processes.END_SECONDS if self.warm else 0.0)

    def __exit__(self, *_: object) -> None:
        self.close()

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
        """Wait for a report of type `kind` about a child; return its descriptor (-1 if none).

        Raises SandboxFault if the template fails, refuses the child or does not report in time.
        """
        deadline = time.monotonic() + seconds
        while True:
            report, descriptor = self._receive(deadline)
            if isinstance(report, Exited) and report.number in self._children:
                self._ended[report.number] = report
            if isinstance(report, Failed):
                self._fail(f"the template could not start:\n{report.message}")
            if isinstance(report, kind) and getattr(report, "number", number) == number:
                return descriptor
            if isinstance(report, Refused) and report.number == number:
                raise SandboxFault(f"a child could not be confined: {report.message}")
            if descriptor >= 0:  # an earlier `spawn` was interrupted after it sent its request
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                os.close(descriptor)

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
        printed = self._end(processes.END_SECONDS).strip()
        self._dead = f"{message}\n{printed}" if printed else message
        raise SandboxFault(self._dead)

    def _status_of(self, number: int) -> int:
        with self._lock:
            if number not in self._ended:
                if self._dead:
                    raise SandboxFault(self._dead)
                self._await(Exited, number, _EXIT_SECONDS)
            return self._ended[number].status

    def _forget(self, number: int) -> None:
        with self._lock:
            self._children.pop(number, None)
            self._ended.pop(number, None)

    def _abandon(self) -> None:
        """Close all descriptors in a forked process, because its parent owns the template."""
        self._dead = "this template belongs to the process that started it"
        self._control.close()
        for child in self._children.values():
            child._abandon()
        self._children.clear()


_living: weakref.WeakSet[Template] = weakref.WeakSet()


def _abandon_all() -> None:
    for template in list(_living):
        template._abandon()
    _living.clear()


# A forked process must close its copy of the control socket, which would keep the template alive.
os.register_at_fork(after_in_child=_abandon_all)
