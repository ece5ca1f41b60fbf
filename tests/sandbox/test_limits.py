"""A submission can use up its own share of resources only."""

from __future__ import annotations

import pytest

from autograder.sandbox import ChildLimits, SandboxFault, Template
from tests.sandbox.sandbox_inside import Spawn, ask

MIB = 1 << 20
FILL = """
    import os, tempfile
    def fill(path, size):
        with open(path, "wb", buffering=0) as file:
            while size > 0:
                size -= file.write(b"x" * min(size, 1 << 20))
"""


def test_memory(spawn: Spawn) -> None:
    child = spawn(memory_bytes=64 * MIB)
    assert ask(child, f"return len(bytearray({32 * MIB}))") == 32 * MIB
    assert "MemoryError" in ask(child, f"return len(bytearray({128 * MIB}))")["error"]


def test_a_tensor_counts_as_memory(spawn: Spawn) -> None:
    answer = ask(spawn(memory_bytes=64 * MIB), f"import torch\ntorch.ones({64 * MIB})")
    assert "can't allocate memory" in answer["error"]


def test_resident_memory_is_seen_from_outside(spawn: Spawn) -> None:
    child = spawn()
    before = child.resident_bytes()
    ask(child, f"import builtins\nbuiltins.kept = b'x' * {100 * MIB}")
    assert child.resident_bytes() - before > 90 * MIB


def test_one_file_is_bounded(spawn: Spawn) -> None:
    assert "OSError" in ask(spawn(disk_bytes=MIB), FILL + f"    fill('big', {2 * MIB})")["error"]


def test_all_files_together_are_bounded(spawn: Spawn, backend: str) -> None:
    child = spawn(disk_bytes=4 * MIB)
    answer = ask(
        child,
        FILL
        + f"""
    folders = [".", tempfile.gettempdir()] * 8
    for number, folder in enumerate(folders):
        fill(os.path.join(folder, str(number)), {MIB})
    while True:
        pass
    """,
    )
    if backend == "bubblewrap":
        assert "No space left" in answer["error"]
    else:
        assert child.exit_status(5) == -9


def test_the_number_of_files_is_bounded(spawn: Spawn, backend: str) -> None:
    child = spawn(disk_bytes=MIB)
    answer = ask(
        child,
        """
        for number in range(100_000):
            open(str(number), "w").close()
        while True:
            pass
        """,
    )
    if backend == "bubblewrap":
        assert "No space left" in answer["error"]
    else:
        assert child.exit_status(5) == -9


def test_open_files(spawn: Spawn) -> None:
    answer = ask(spawn(open_files=16), "return [open('/dev/null') for _ in range(50)]")
    assert "Too many open files" in answer["error"]


def test_processor_time(spawn: Spawn) -> None:
    child = spawn(cpu_seconds=1)
    assert ask(child, "while True: pass") is None
    assert child.exit_status(5) == -9


def test_threads_may_be_allowed(spawn: Spawn) -> None:
    source = """
    import threading
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    return "ran"
    """
    assert ask(spawn(processes=1), source) == "ran"


def test_processes_are_counted_where_they_are_allowed(template: Template, backend: str) -> None:
    if backend == "landlock":
        pytest.skip("landlock allows threads only")
    source = """
    import os, time
    started = 0
    try:
        while True:
            if os.fork() == 0:
                time.sleep(1000)
            started += 1
    except OSError:
        return started
    """
    try:
        child = template.spawn(ChildLimits(processes=3))
    except SandboxFault as error:
        pytest.skip(str(error))
    with child:
        assert ask(child, source) == 3


def test_a_thread_where_allowed_cannot_be_a_process(spawn: Spawn, backend: str) -> None:
    if backend == "bubblewrap":
        pytest.skip("bubblewrap can bound processes, and allows them")
    assert "error" in ask(spawn(processes=3), "import os\nreturn os.fork()")


@pytest.mark.parametrize("wrong", [{"memory_bytes": 0}, {"processes": -1}, {"open_files": 3}])
def test_limits_that_no_process_could_live_with_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)).split("_")[0]):
        ChildLimits(**wrong)
