"""A submission sees the runtime, its libraries and its own files only."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import autograder
from autograder.sandbox import Child
from tests.sandbox.sandbox_inside import HOST_SECRET, Spawn, ask

KIT = Path(autograder.__file__).parent
OWN_FILES = ["own.txt", "/tmp/own.txt"]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/hostname",
        "/proc/1/environ",
        "/proc/1/cmdline",
        "/proc/self/environ",
        "/proc/self/mountinfo",
        "/proc/self/maps",
        "/proc/self/mem",
        "/proc/mounts",
        "/sys/kernel/notes",
        __file__,
        str(KIT / "model" / "course.py"),
        str(KIT / "sandbox" / "session.py"),
    ],
)
def test_host_file_cannot_be_opened(witness: Child, path: str) -> None:
    answer = ask(witness, f"open({path!r}, 'rb').read(1)")
    assert answer["error"].split(":")[0] in ("FileNotFoundError", "PermissionError")


@pytest.mark.parametrize("folder", ["/home", "/root", "/proc", "/sys", "/etc", "/var", str(KIT)])
def test_host_folder_lists_nothing(witness: Child, folder: str) -> None:
    answer = ask(witness, f"import os\nreturn os.listdir({folder!r})")
    assert answer == [] or "error" in answer


@pytest.mark.parametrize("module", ["autograder", "nbgrader", "pytest", "jupytext", "pip"])
def test_module_off_the_list_cannot_be_imported(witness: Child, module: str) -> None:
    assert "ModuleNotFoundError" in ask(witness, f"import {module}")["error"]


def test_no_file_it_can_walk_to_is_ours(witness: Child) -> None:
    found = ask(
        witness,
        """
        import os, sys
        roots = ["/", *sys.path]
        return [
            os.path.join(folder, name)
            for root in roots
            for folder, folders, files in os.walk(root)
            for name in folders + files
            if "nbgrader" in name or "autograder" in name or "solutions" == name
        ]
        """,
    )
    assert found == []


def test_environment_holds_nothing_of_the_host(witness: Child) -> None:
    environment = ask(witness, "import os\nreturn dict(os.environ)")
    assert HOST_SECRET not in json.dumps(environment)
    assert "PATH" not in environment


def test_only_the_socket_and_dev_null_are_open(witness: Child) -> None:
    open_ones = ask(
        witness,
        """
        import os
        found = []
        for descriptor in range(4096):
            try:
                os.fstat(descriptor)
                found.append(descriptor)
            except OSError:
                pass
        return found
        """,
    )
    assert open_ones == [0, 1, 2, 3]


def test_no_frame_of_the_template_is_on_the_stack(witness: Child) -> None:
    names = ask(
        witness,
        """
        import sys
        frame, names = sys._getframe(), []
        while frame:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        return names
        """,
    )
    assert names == ["run", "_answer", "serve", "main", "<module>"]


def test_another_submissions_files_cannot_be_read(spawn: Spawn) -> None:
    first, second = spawn(), spawn()
    place = ask(
        first,
        """
        import os, tempfile
        for path in ("own.txt", tempfile.gettempdir() + "/own.txt"):
            with open(path, "w") as file:
                file.write("secret")
        return os.getcwd(), tempfile.gettempdir()
        """,
    )
    for folder in place:
        assert "error" in ask(second, f"open({folder!r} + '/own.txt').read()")


def test_no_other_process_exists_or_can_be_signalled(spawn: Spawn) -> None:
    spawn()
    # inside, 1 is the submission itself and 2 its own autograd thread
    reached = ask(
        spawn(),
        f"""
        import os
        reached = []
        for pid in {{*range(3, 400), {os.getpid()}, {os.getppid()}}} - {{1, 2}}:
            try:
                os.kill(pid, 0)
                reached.append(pid)
            except OSError:
                pass
        return reached
        """,
    )
    assert reached == []


@pytest.mark.parametrize("path", ["/escaped", "/dev/escaped", "/usr/escaped", "/kit/escaped"])
def test_nothing_outside_its_own_folders_can_be_written(witness: Child, path: str) -> None:
    assert "error" in ask(witness, f"open({path!r}, 'w')")


def test_the_libraries_cannot_be_changed(witness: Child) -> None:
    source = "import torch\nopen(torch.__file__, 'a')"
    assert "error" in ask(witness, source)


def test_the_disk_cannot_run_programs(witness: Child) -> None:
    source = "import subprocess, sys\nreturn subprocess.run([sys.executable, '-V']).returncode"
    assert "error" in ask(witness, source)
