"""Submissions, fork servers and graders end without leaving processes or files."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from autograder.sandbox import (
    BACKENDS,
    Child,
    ChildLimits,
    SandboxFault,
    SandboxMissing,
    Template,
    choose,
    processes,
)
from autograder.sandbox.bubblewrap import FIXED_OPTIONS
from autograder.sandbox.processes import readable
from tests.sandbox.sandbox_inside import Spawn, ask, require, start_cold


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a separate temporary folder, because tests in other processes use the default one."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def leftovers() -> set[str]:
    """Return traces that a sandbox could leave in the temporary folder or the mount table."""
    place = tempfile.gettempdir()
    mounts = Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    return {str(path) for path in Path(place).iterdir()} | {m for m in mounts if place in m}


def parent_of(child: Child) -> int:
    return psutil.Process(child.pid).ppid()


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("import os\nos._exit(3)", 3),
        ("raise SystemExit", 70),
        ("raise KeyboardInterrupt", 70),
        ("import ctypes\nctypes.string_at(0)", -signal.SIGSEGV),
        ("import os\nos.abort()", -signal.SIGSEGV),
    ],
)
def test_exit_status(child: Child, source: str, status: int) -> None:
    assert ask(child, source) is None
    assert child.exit_status(5) == status


def test_a_running_child_has_no_status(child: Child) -> None:
    assert child.exit_status(0) is None


def test_kill_ends_one_that_ignores_signals(child: Child) -> None:
    child.sock.sendall(
        b'"import signal\\nfor n in range(1, 65):\\n  try: signal.signal(n, signal.SIG_IGN)\\n'
        b'  except (OSError, ValueError): pass\\nwhile True: pass"\n'
    )
    child.kill()
    assert child.exit_status(0) == -signal.SIGKILL


def test_kill_is_idempotent(child: Child) -> None:
    child.kill()
    child.kill()
    assert child.resident_bytes() == 0


def test_kill_ends_all_that_it_started(template: Template, backend: str) -> None:
    if backend == "landlock":
        pytest.skip("landlock allows no process to be started")
    try:
        child = template.spawn(ChildLimits(processes=4))
    except SandboxFault as error:
        pytest.skip(str(error))
    with child:
        ask(
            child,
            """
            import os, signal, time
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    for number in range(1, 32):
                        if number not in (9, 19):
                            signal.signal(number, signal.SIG_IGN)
                    while True:
                        time.sleep(1000)
                os._exit(0)
            os.wait()
            """,
        )
        started = psutil.Process(child.pid).children(recursive=True)
        child.kill()
    assert started
    assert not any(process.is_running() for process in started)


def test_a_closed_child_leaves_no_process(spawn: Spawn) -> None:
    child = spawn()
    pid = child.pid
    child.close()
    assert not psutil.pid_exists(pid)


def test_fifty_in_a_row(template: Template) -> None:
    for number in range(50):
        with template.spawn(ChildLimits()) as child:
            assert ask(child, f"return {number}") == number


def test_ten_at_once(template: Template) -> None:
    meeting = threading.Barrier(10)

    def work(number: int) -> object:
        with template.spawn(ChildLimits()) as child:
            meeting.wait(20)
            return ask(child, f"return {number}")

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(work, range(10))) == list(range(10))


def test_a_stuck_child_delays_no_other(spawn: Spawn) -> None:
    stuck = spawn()
    stuck.sock.sendall(b'"while True: pass"\n')
    assert ask(spawn(), "return 1") == 1


@contextlib.contextmanager
def beginning() -> Iterator[tuple[processes.Process, psutil.Process]]:
    """A bubblewrap that waits before its child's life hangs on its own, and that child."""
    require("bubblewrap")
    info, info_theirs = os.pipe()
    gate_theirs, gate = os.pipe()
    waiting = ["--info-fd", str(info_theirs), "--userns-block-fd", str(gate_theirs)]
    program = [sys.executable, *processes.python_arguments([], 3)]
    argv = ["bwrap", *FIXED_OPTIONS, *waiting, "--ro-bind", "/", "/", *program]
    process = processes.run(argv, (info_theirs, gate_theirs), {"PATH": os.environ["PATH"]})
    os.close(info_theirs)
    os.close(gate_theirs)
    with open(info, "rb") as answers, open(gate, "wb"):
        begun = psutil.Process(json.loads(answers.read())["child-pid"])
        try:
            yield process, begun
        finally:
            process.end(0)
            with contextlib.suppress(psutil.NoSuchProcess):
                begun.kill()


def test_a_bubblewrap_ended_while_it_begins_leaves_no_process() -> None:
    with beginning() as (process, begun):
        process.end(0)
        _, left = psutil.wait_procs([begun], timeout=5)
        assert not left


def test_the_beginning_that_a_killed_grader_left_is_ended_by_the_next() -> None:
    with beginning() as (_, begun), beginning() as (_, in_use):
        bubblewrap = begun.parent()
        assert bubblewrap is not None
        bubblewrap.kill()  # as the kernel does when its grader dies
        bubblewrap.wait()
        assert begun.is_running()
        processes.end_orphans()
        _, left = psutil.wait_procs([begun], timeout=5)
        assert not left
        assert in_use.is_running()


def test_a_sandbox_steps_back_as_its_grader_does() -> None:
    require("bubblewrap")
    if not Path("/proc/self/autogroup").exists():
        pytest.skip("this kernel shares processors among processes only")
    program = """
        import os
        from autograder.sandbox import ChildLimits
        from tests.sandbox.sandbox_inside import start_cold
        os.nice(7)
        with start_cold("bubblewrap") as template, template.spawn(ChildLimits()) as child:
            import psutil
            for pid in (child.pid, psutil.Process(child.pid).ppid()):
                print(open(f"/proc/{pid}/autogroup").read().split()[-1])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    assert "7" in done.stdout.split()[0], done.stdout
    if os.geteuid() == 0:  # other users may do so only ten times in a second
        assert done.stdout.split() == ["7", "7"]


def test_a_dead_template_is_a_fault_of_ours(backend: str) -> None:
    before = leftovers()
    with start_cold(backend) as template:
        child = template.spawn(ChildLimits())
        os.kill(parent_of(child), signal.SIGKILL)
        assert readable(child.pidfd, 5)
        with pytest.raises(SandboxFault):
            template.spawn(ChildLimits())
        with pytest.raises(SandboxFault):
            child.exit_status(1)
        child.close()
    assert leftovers() == before


def test_a_closed_template_takes_its_children_along(backend: str) -> None:
    before = leftovers()
    with start_cold(backend) as template:
        child = template.spawn(ChildLimits())
        ask(child, "open('own', 'w').write('x')")
        template.close()
        assert readable(child.pidfd, 5)
        child.close()
    assert leftovers() == before


def test_a_tree_made_to_resist_removal_is_removed(backend: str) -> None:
    before = leftovers()
    with start_cold(backend) as template, template.spawn(ChildLimits()) as child:
        ask(
            child,
            """
            import os
            for _ in range(1500):
                os.mkdir("deep")
                os.chdir("deep")
            os.symlink("/", "everything")
            os.mkdir("closed", 0)
            """,
        )
    assert leftovers() == before


def test_a_template_outlives_the_thread_that_started_it(backend: str) -> None:
    made: list[Template] = []
    thread = threading.Thread(target=lambda: made.append(start_cold(backend)))
    thread.start()
    thread.join()
    with made[0] as template, template.spawn(ChildLimits()) as child:
        assert ask(child, "return 1") == 1


def first_spawn(backend: str, config: bytes) -> None:
    with start_cold(backend, config) as template:
        template.spawn(ChildLimits()).close()


def test_a_runtime_that_cannot_prepare_says_why(backend: str) -> None:
    with pytest.raises(SandboxFault, match="no such course"):
        first_spawn(backend, b"raise ValueError('no such course')")


@pytest.mark.thorough  # the runtime waits for the thread to end
def test_a_thread_left_by_the_warm_up_is_refused(backend: str) -> None:
    config = b"import threading\nthreading.stack_size(1 << 16)\nimport _thread, time\n"
    config += b"_thread.start_new_thread(time.sleep, (1000,))"
    with pytest.raises(SandboxFault, match="2 threads exist"):
        first_spawn(backend, config)


def test_a_template_warms_up_while_its_starter_goes_on(backend: str) -> None:
    with start_cold(backend, b"import time; time.sleep(1.5)") as template:
        assert not template.warm
        with template.spawn(ChildLimits()) as child:
            assert ask(child, "return 1") == 1
        assert template.warm


def test_a_template_that_is_still_warming_up_ends_at_once(backend: str) -> None:
    before = leftovers()
    template = start_cold(backend, b"import time; time.sleep(3600)")
    started = time.monotonic()
    template.close()
    assert time.monotonic() - started < 600  # it did not wait for the sleeper
    assert leftovers() == before


GRADER = """
import signal, sys
import psutil
sys.path[:0] = {path!r}
from tests.sandbox.sandbox_inside import start_cold, ask
from autograder.sandbox import ChildLimits
template = start_cold({backend!r})
child = template.spawn(ChildLimits())
ask(child, "open('own', 'w').write('x')")
child.sock.sendall(b'"while True: pass"\\n')
print(child.pid, psutil.Process(child.pid).ppid(), flush=True)
signal.pause()
"""


def test_a_killed_grader_leaves_nothing(backend: str) -> None:
    before = leftovers()
    here = Path(__file__)
    script = GRADER.format(path=[str(here.parents[2])], backend=backend)
    grader = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert grader.stdout is not None
    watched = [os.pidfd_open(int(pid)) for pid in grader.stdout.readline().split()]
    grader.kill()
    grader.wait()
    grader.stdout.close()
    for pidfd in watched:
        assert readable(pidfd, 5)
        os.close(pidfd)
    assert leftovers() == before


def test_an_unknown_backend_is_missing() -> None:
    with pytest.raises(SandboxMissing, match="choose from bubblewrap, landlock"):
        choose("jail")


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from autograder.sandbox.bubblewrap import Bubblewrap

    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxMissing, match="apt-get install bubblewrap"):
        Bubblewrap().start(b"")


def test_the_root_of_the_grader_is_not_the_submissions(template: Template, backend: str) -> None:
    if os.geteuid() != 0 or backend == "landlock":
        pytest.skip("only a grader that is root gives its submissions another uid")
    with template.spawn(ChildLimits()) as child, contextlib.suppress(psutil.NoSuchProcess):
        assert psutil.Process(child.pid).uids().real != 0


def test_each_submission_has_a_uid_of_its_own(spawn: Spawn, backend: str) -> None:
    if not BACKENDS[backend]().separate_uids:
        pytest.skip("only a grader that is root gives its submissions other uids")
    first, second = (psutil.Process(spawn().pid).uids().real for _ in range(2))
    assert 0 not in (first, second)
    assert first != second


def test_the_host_ends_a_submission_first_when_memory_runs_out(spawn: Spawn) -> None:
    score = Path(f"/proc/{spawn().pid}/oom_score_adj").read_text("ascii")
    assert score.strip() == "1000"


def test_a_child_that_nobody_waited_for_is_ended(
    template: Template, spawn: Spawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = spawn()
    with monkeypatch.context() as patch:
        patch.setattr(processes, "readable", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            template.spawn(ChildLimits())
    mine = psutil.Process()
    descriptors = mine.num_fds()
    second = spawn()
    assert mine.num_fds() == descriptors + 2  # a socket and a pidfd, none of the lost child
    parent = psutil.Process(first.pid).parent()
    assert parent is not None
    lost = [c for c in parent.children() if c.pid not in (first.pid, second.pid)]
    _, left = psutil.wait_procs(lost, timeout=5)
    assert not left
