"""Accidents of careless students: messages are true and lead to the fix, and no code is lost."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from autograder.student.folder import packing
from autograder.student.folder.week import WeekFolder
from tests.weeks import thorough_after

from .conftest import CHECKS, SOLVED, STUB

ALL = "\n\n".join([STUB, *SOLVED.values()])
PASSED = "All public checks pass: you can submit."
DOUBLE = "def double(x):\n    "


@pytest.fixture
def autograder(in_process) -> Callable[..., tuple[int, str]]:
    """Run a command in a folder; return the exit code, and the output as words."""

    def run(folder: Path, *words: str) -> tuple[int, str]:
        done = in_process(*words, cwd=folder)
        assert "Traceback" not in done.stderr
        return done.returncode, " ".join(f"{done.stdout}{done.stderr}".split())

    return run


def code_in(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.glob("*.[pt]*") if p.is_file()}


def rename(name: str) -> Callable[[WeekFolder], object]:
    return lambda week: week.module.rename(week.path / name)


def delete(name: str) -> Callable[[WeekFolder], object]:
    return lambda week: (week.path / name).unlink()


def beside(name: str, text: str | bytes) -> Callable[[WeekFolder], object]:
    data = text.encode() if isinstance(text, str) else text
    return lambda week: (week.path / name).write_bytes(data)


def module_is_a_folder(week: WeekFolder) -> None:
    week.module.unlink()
    week.module.mkdir()


def more_exercises(week: WeekFolder) -> None:
    path = week.path / "week.json"
    described = json.loads(path.read_bytes())
    described["exercises"].append({"name": "triple", "points": 1})
    path.write_text(json.dumps(described))


# claim: (source of the module, accident, exit code of `check`, part of its output)
ACCIDENTS: Mapping[str, tuple[str, Callable[[WeekFolder], object] | None, int, str]] = {
    # files
    "no file of checks": (ALL, delete("test_tiny.py"), 2, "autograder: test_tiny.py, the file"),
    "empty file of checks": (ALL, beside("test_tiny.py", ""), 2, "contains no check of double"),
    "half a file of checks": (ALL, beside("test_tiny.py", CHECKS[:200]), 2, "replace it with the"),
    "checks of an old release": (ALL, more_exercises, 1, "test_tiny.py contains no check of `tri"),
    "broken conftest": (ALL, beside("conftest.py", "import nothing_here"), 0, PASSED),
    "no week.json": (ALL, delete("week.json"), 2, "week.json is missing from week03_tiny: copy"),
    "damaged week.json": (ALL, beside("week.json", "{"), 2, "week.json is damaged"),
    "module is a folder": (ALL, module_is_a_folder, 2, "tiny.py is a folder: rename it"),
    "module deleted": (ALL, delete("tiny.py"), 2, "`autograder reset --all` restores the stub"),
    "saved as .txt": (ALL, rename("tiny.txt"), 2, "there is tiny.txt: rename it to tiny.py"),
    "saved as .py.txt": (ALL, rename("tiny.py.txt"), 2, "there is tiny.py.txt: rename it"),
    "renamed": (ALL, rename("tiny_final.py"), 2, "there is tiny_final.py: rename it to tiny.py"),
    "continued in a copy": (STUB, beside("tiny_v2.py", ALL), 1, "tiny_v2.py defines `double`"),
    "empty": ("", None, 1, "`autograder reset double` restores"),
    "a notebook's code": (STUB, beside("week03_tiny.ipynb", '{"cells": [{}]}'), 1, "not written"),
    "state file is a folder": (ALL, lambda w: w.memory.mkdir(), 0, PASSED),
    "named like a library": ("import numpy\n" + ALL, beside("numpy.py", "x = 1"), 0, PASSED),
    "named like a standard module": (ALL, beside("typing.py", "x = 1"), 0, PASSED),
    # text
    "byte order mark": ("\ufeff" + ALL, None, 0, PASSED),
    "Windows newlines": (ALL.replace("\n", "\r\n"), None, 0, PASSED),
    "old Mac newlines": (ALL.replace("\n", "\r"), None, 0, PASSED),
    "NUL": (f"{STUB}\n{DOUBLE}return 2 * x\0", None, 2, "line 24, it contains a NUL byte"),
    "UTF-16": (STUB, beside("tiny.py", ALL.encode("utf-16")), 2, "it is saved as UTF-16"),
    "web page": ("<!DOCTYPE html>\n<p>Sign in</p>", None, 1, "this is a web page: download"),
    "Markdown": (f"```python\n{ALL}```", None, 1, "line 1, `invalid syntax` (a mark of Markdown"),
    "merge conflict": (f"{ALL}\n<<<<<<< HEAD\nx = 1\n", None, 1, "an unresolved merge conflict"),
    "notebook command": (f"%matplotlib inline\n{ALL}", None, 1, "work only in a notebook"),
    "no-break space": (
        f"{STUB}\ndef shout(t):\n\u00a0return t",
        None,
        1,
        "only looks like a space",
    ),
    "tab before spaces": (
        f"{STUB}\n{DOUBLE[:-4]}\ty = 1\n        return y",
        None,
        1,
        "line 24 has a",
    ),
    "unclosed bracket": (f"{STUB}\n{DOUBLE}return (2 * x", None, 1, "line 24, `'(' was never cl"),
    # definitions
    "stub pasted below": (ALL + STUB, None, 1, "`double` is defined in lines 24 and"),
    "two definitions": (f"{ALL}\n{DOUBLE}return 1", None, 1, "`double` is defined in lines 24 and"),
    "code after return": (
        f"{STUB}\n{DOUBLE}return x\n    x = 2 * x",
        None,
        1,
        "Line 25 never runs",
    ),
    "indented": (f"class A:\n    {DOUBLE}    return x", None, 1, "`double` in line 2 is indented"),
    "parameters": (f"{STUB}\ndef double(x, y):\n    return x", None, 1, "Its parameters differ"),
    "printed, not returned": (f"{STUB}\n{DOUBLE}print(2 * x)", None, 1, "not None"),
    # imports
    "circular": (f"import a\n{ALL}", beside("a.py", "from tiny import double"), 1, "(circular imp"),
    "library that is not there": (f"import panda\n{ALL}", None, 1, "that is not installed?"),
    "exit on import": (f"{ALL}\nexit()", None, 1, "it ends Python (`exit()`"),
    "input on import": (f"{ALL}\nn = input()", None, 1, "`input()` waits for keyboard input"),
    # running
    "recursion": (f"{STUB}\n{DOUBLE}return double(x)", None, 1, "It calls itself without end"),
    "memory": (f"{STUB}\n{DOUBLE}return bytes(10**11)", None, 1, "It needs too much memory"),
    "much output": (f"{STUB}\n{DOUBLE}print('a\\n' * 10**6)", None, 1, "more lines"),
    "long message": (f"{STUB}\n{DOUBLE}raise ValueError('a' * 10**7)", None, 1, "ValueError: aaa"),
    "huge number": (f"{STUB}\n{DOUBLE}return 10**6000", None, 1, "4300 digits"),
    "closed output": (f"{STUB}\n{DOUBLE}import sys; sys.stdout.close()", None, 1, "double: three"),
    "other folder": (f"{ALL}\nimport os\n{DOUBLE}os.chdir('/'); return 2 * x", None, 0, PASSED),
    "argument in place": (
        f"import numpy as np\n{STUB}\n{DOUBLE}x *= 2; return x",
        beside(
            "test_tiny.py",
            "import numpy as np\ndef test_double_array():\n    from tiny import double\n"
            "    x = np.ones(2)\n    assert (double(x) == 2 * x).all(), 'twice x'\n",
        ),
        1,
        "It changes its argument `x` in place",
    ),
}


@pytest.mark.parametrize("claim", thorough_after(25, ACCIDENTS))
def test_an_accident_gets_a_true_message_and_nothing_is_lost(claim, tiny, autograder) -> None:
    source, accident, code, message = ACCIDENTS[claim]
    tiny.module.write_bytes(source.encode())
    if accident:
        accident(tiny)
    before = code_in(tiny.path)
    ended, output = autograder(tiny.path, "check")
    assert message in output
    assert ended == code
    assert code_in(tiny.path) == before


@pytest.mark.parametrize(
    "name", ["[CS 224] Deep", "a::b", "über (alt) ß {x} #1 & co", "name with  spaces", "-k x"]
)
def test_the_path_of_a_week_may_contain_any_characters(name, tiny, autograder) -> None:
    tiny.module.write_text(ALL, encoding="utf-8")
    parent = tiny.path.parent / name
    parent.mkdir()
    assert PASSED in autograder(tiny.path.rename(parent / "week03_tiny"), "check")[1]


def test_a_week_behind_a_link_is_checked_and_reset(tiny, tmp_path, autograder) -> None:
    (tmp_path / "link").symlink_to(tiny.path)
    tiny.module.write_text(ALL, encoding="utf-8")
    kept = tiny.module.rename(tmp_path / "mine.py")
    tiny.module.symlink_to(kept)
    assert PASSED in autograder(tmp_path / "link", "check")[1]
    assert autograder(tmp_path / "link", "reset", "shout")[0] == 0
    assert tiny.module.is_symlink()
    (backup,) = (tiny.path / "kept").iterdir()
    assert backup.read_text("utf-8") == ALL


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "dobule"), "did you mean 'double'?"),
        (("check", "--folder", "nowhere"), "there is no folder nowhere"),
        (("reset", "--all"), "tiny.py is a folder: rename it"),
        (("reset", "double"), "tiny.py is a folder: rename it"),
    ],
)
def test_other_commands_explain_accidents_too(words, message, tiny, autograder) -> None:
    module_is_a_folder(tiny)
    code, output = autograder(tiny.path, *words)
    assert message in output
    assert code == 2


def test_a_hint_that_cannot_be_recorded_says_so(tiny, autograder) -> None:
    tiny.memory.mkdir()
    for _ in range(2):
        _, output = autograder(tiny.path, "hint", "double")
        assert "double, hint 1 of 2" in output
        assert "the hint will be shown again. Make the folder writable, or read hints.md" in output


def test_a_week_is_found_by_one_of_its_files(tiny, tmp_path, autograder) -> None:
    tiny.module.write_text(ALL, encoding="utf-8")
    assert PASSED in autograder(tmp_path, "check", "--folder", str(tiny.module))[1]


@pytest.mark.parametrize(
    "words",
    [
        *[("submit", *to) for to in [(), ("--to", "grade.example.org"), ("--to", "http://a.de/")]],
        ("submit", "--to", "https://127.0.0.1:9/"),
    ],
)
def test_submit_says_first_that_there_is_nowhere_to_submit(
    words, tiny: WeekFolder, in_process, monkeypatch
) -> None:
    monkeypatch.setattr(packing, "EXCHANGE", "/nowhere")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tiny.path))
    monkeypatch.delenv("AUTOGRADER_TOKEN", raising=False)
    done = in_process(*words, cwd=tiny.path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_an_exercise_that_is_a_library_object_is_refused_as_in_grading(tiny, autograder) -> None:
    source = "import functools, torch\ndouble_all = functools.partial(torch.Tensor.softmax, dim=0)"
    week = json.loads((tiny.path / "week.json").read_bytes())
    week["exercises"][1]["not_allowed"] = ["softmax*"]
    (tiny.path / "week.json").write_text(json.dumps(week))
    checks = "def test_double_all_x():\n    import torch\n    from tiny import double_all\n"
    (tiny.path / "test_tiny.py").write_text(checks + "    assert double_all(torch.zeros(2)).any()")
    tiny.module.write_text(source, encoding="utf-8")
    _, output = autograder(tiny.path, "check", "double_all")
    assert "`softmax` does the exercise for you" in output
    assert "at line 2 of tiny.py" in output


def test_a_full_disk_is_one_line_and_leaves_no_half_backup(tiny, in_process, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "tiny.py")

    tiny.module.write_text(ALL, encoding="utf-8")
    before = code_in(tiny.path)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        done = in_process("reset", "double", cwd=tiny.path)
    assert "nothing was reset: tiny.py cannot be written (No space left" in done.stderr
    assert code_in(tiny.path) == before
    assert not [*(tiny.path / "kept").iterdir()]
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    done = in_process("check", cwd=tiny.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "autograder: tiny.py: No space left on device: fix this, then try again\n"
