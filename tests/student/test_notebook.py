"""`check`, `hint` and `progress` in a real kernel, and its checking processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from autograder.student.checks.launcher import WarmPython
from autograder.student.commands import check as check_module
from autograder.student.commands.check import check_week
from autograder.student.folder.week import WeekFolder

from .conftest import SOLVED

forking = pytest.mark.skipif(sys.platform != "linux", reason="one Python per order here")
Run = Callable[[str], dict[str, str]]


@pytest.fixture
def warm(tiny: WeekFolder) -> Iterator[WarmPython]:
    python = WarmPython(tiny)
    yield python
    python.close()


@forking
def test_one_python_answers_again_and_again(warm, write) -> None:
    folder = write(*SOLVED.values())
    before = warm.process.pid
    assert all(check_week(folder, folder.names, warm=warm).passed for _ in range(3))
    assert warm.process.pid == before


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(0)", "ended"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended"),
        ("raise SystemExit", "raised"),
    ],
)
def test_a_check_that_ends_its_python_costs_its_exercise_alone(warm, write, body, kind) -> None:
    folder = write(f"def double(x):\n    {body}", SOLVED["shout"])
    for _ in range(2):
        double, shout = check_week(folder, ["double", "shout"], seconds=1, warm=warm).exercises
        assert (double.first.failure.kind, shout.state) == (kind, "pass")


def test_what_was_printed_before_the_end_is_not_shown_with_the_next_check(warm, write) -> None:
    folder = write("def shout(t):\n    print('one', flush=True)\n    import os; os._exit(1)")
    check_week(folder, ["shout"], warm=warm)
    write("def shout(t):\n    print('two')\n    return 'B'")
    (shout,) = check_week(folder, ["shout"], warm=warm).exercises
    assert shout.first.failure.output == "two\n"


def test_changed_checks_and_helpers_are_read_again(warm, write) -> None:
    folder = write("from side import shout")
    (folder.path / "side.py").write_text("def shout(t):\n    return 'A'\n")
    assert check_week(folder, ["shout"], warm=warm).passed
    (folder.path / "side.py").write_text("def shout(t):\n    return 'B'\n")
    assert not check_week(folder, ["shout"], warm=warm).passed
    folder.checks.write_text(folder.checks.read_text().replace('== "A"', '== "B"'))
    assert check_week(folder, ["shout"], warm=warm).passed


@forking
def test_a_python_that_was_killed_meanwhile_is_replaced(warm, write) -> None:
    folder = write(*SOLVED.values())
    os.kill(warm.process.pid, signal.SIGKILL)
    assert gone(warm.process.pid)
    for _ in range(2):
        assert check_week(folder, folder.names, warm=warm).passed


@forking
def test_nothing_is_left_when_whoever_asked_is_killed(write) -> None:
    begun = "open('begun', 'w').close()"
    folder = write(f"def shout(t):\n    {begun}\n    while True: pass")
    asking = (
        "from pathlib import Path\n"
        "from autograder.student.commands.check import check_week\n"
        "from autograder.student.checks.launcher import WarmPython\n"
        "from autograder.student.folder.week import open_folder\n"
        f"folder = open_folder(Path({str(folder.path)!r}))\n"
        "warm = WarmPython(folder)\nprint(warm.process.pid, flush=True)\n"
        "check_week(folder, ['shout'], seconds=600, warm=warm)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", asking], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    server = int(process.stdout.readline())
    while not (folder.path / "begun").exists():
        time.sleep(0.1)
    forks = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    process.kill()
    process.wait()
    process.stdout.close()
    assert forks
    for pid in (server, *map(int, forks)):
        assert gone(pid), pid


def gone(pid: int) -> bool:
    """Return whether a process ends within half a minute."""
    for _ in range(300):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":  # its parent ended too: init reaps it
            return True
        time.sleep(0.1)
    return False


@pytest.fixture
def kernel(tiny: WeekFolder) -> Iterator[Run]:
    """Run cells in a new kernel in the week's folder; return their outputs."""
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tiny.path))

    def run(source: str) -> dict[str, str]:
        shown: dict[str, str] = {}

        def hear(message: dict) -> None:
            content = message["content"]
            shown.update(content.get("data", {}))
            if "traceback" in content:
                shown["error"] = content["evalue"]
            if message["msg_type"] == "stream":
                shown[content["name"]] = shown.get(content["name"], "") + content["text"]

        client.execute_interactive(source, timeout=60, output_hook=hear)
        return shown

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_kernel_checks_hints_and_shows_progress(kernel, write) -> None:
    write(SOLVED["shout"])
    assert kernel("from autograder import check, hint, progress") == {}
    checked = kernel('check("shout")')
    assert "All public checks pass" in checked["text/plain"]
    assert "<table" in checked["text/html"]
    double = kernel('check("double")')["text/html"]
    assert "in a cell, <code>hint(&#34;double&#34;)</code>" in double
    assert "terminal" not in double
    first, second = kernel('hint("double")'), kernel('hint("double")')
    assert "hint 1 of 2" in first["text/html"]
    assert "hint 2 of 2" in second["text/html"]
    assert "You have seen all hints" in kernel('hint("double")')["text/plain"]
    shown = kernel("progress()")["text/html"]
    assert shown.count("<progress") == 1
    assert "1 of 6 points" in shown


def test_the_checking_process_ends_with_the_kernel(kernel) -> None:
    kernel("from autograder import check; import sys; check()")
    said = kernel(
        "(warm,) = sys.modules['autograder.student.commands.check'].processes.values()\n"
        "print(warm.process.pid)"
    )
    pid = int(said["stdout"])
    assert Path(f"/proc/{pid}").exists() or sys.platform != "linux"
    kernel("exit()")
    assert sys.platform != "linux" or gone(pid)


def test_a_folder_can_be_named(kernel, tiny, write, tmp_path) -> None:
    write(SOLVED["shout"])
    kernel(f"import os; os.chdir({str(tmp_path)!r}); from autograder import check, hint, progress")
    assert "All public" in kernel(f'check("shout", folder={str(tiny.path)!r})')["text/plain"]
    assert "is not a week" not in kernel(f"hint(folder={str(tiny.path)!r})")["text/plain"]
    assert "Tiny" in kernel("progress()")["text/plain"]


@pytest.mark.parametrize("call", ['check("nonsense")', 'hint("nonsense")'])
def test_a_wrong_name_is_said_and_nothing_raised(kernel, call) -> None:
    kernel("from autograder import check, hint")
    said = kernel(call)
    assert "has no exercise" in said["text/html"]
    assert "error" not in said


def test_one_week_is_kept(tiny, tmp_path) -> None:
    import shutil

    for name in ("week01_a", "week02_b", "week04_c"):
        folder = shutil.copytree(tiny.path, tmp_path / name)
        check_module.check_in_notebook("shout", Path(folder))
    assert [path.name for path in check_module.processes] == ["week04_c"]
    check_module.processes.popitem()[1].close()
