"""Test that the audit hook reports code that inspects the grader, and no honest code.

An audit hook cannot be removed, so each test runs in a separate process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

KEEPS = """
import json, sys
from autograder.worker.monitor import audit_hook
root, lines = sys.argv[1], json.loads(sys.argv[2])
told = {}
for number, line in enumerate(lines):
    compile(line, f"{root}/m{number}.py", "exec")  # the compiler's own accesses are not reported
asked = []
audit_hook.install(root, lambda what, line: asked.append([what, line]))
for number, line in enumerate(lines):
    del asked[:]
    try:
        exec(compile(line, f"{root}/m{number}.py", "exec"), {"__name__": "m"})
    except Exception as error:
        asked.append(["raised", repr(error)])
    told[line] = list(asked)
print(json.dumps(told))
"""
NOBODYS = (
    "import collections; collections.namedtuple('P', 'x')",
    "import warnings; warnings.simplefilter('ignore'); warnings.warn('x')",
    "import traceback\ntry: 1 / 0\nexcept ZeroDivisionError: traceback.format_exc()",
    "import inspect; inspect.signature(len)",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int",
    "import enum; enum.Enum('E', 'a b')",
    "import logging; logging.getLogger('x').debug('y')",
    "import os; os.kill(os.getpid(), 0)",
    "open('/proc/self/status').close()",
    "open('/dev/null').close()",
    "def f(): pass\nf.__code__",
    "import typing; typing.NamedTuple('N', [('x', int)])",
)
TOLD = {
    "import sys\n\nsys._getframe()": ["sys._getframe", 3],
    "import inspect\ninspect.currentframe()": ["sys._getframe", 2],
    "try: 1 / 0\nexcept ZeroDivisionError as e: e.__traceback__.tb_frame": ["tb_frame", 2],
    "g = (i for i in 'a')\ng.gi_frame": ["gi_frame", 2],
    "import gc\ngc.get_objects()": ["gc.get_objects", 2],
    "import gc\ngc.get_referrers(gc)": ["gc.get_referrers", 2],
    "import sys\nsys.settrace(None)": ["sys.settrace", 2],
    "import sys\nsys.setprofile(None)": ["sys.setprofile", 2],
    "import sys\nsys._current_frames()": ["sys._current_frames", 2],
    "try: open('/proc/1/environ')\nexcept OSError: pass": ["/proc", 1],
    "import os\ntry: os.listdir('/proc')\nexcept OSError: pass": ["/proc", 2],
    "import pathlib\ntry: pathlib.Path('/proc/1/maps').read_text()\nexcept OSError: pass": [
        "/proc",
        2,
    ],
    "import os\ntry: os.kill(1, 0)\nexcept OSError: pass": ["kill", 2],
    "import ctypes\nctypes.string_at(b'x')": ["ctypes.string_at", 2],
    "def f(): pass\nf.__module__ = 'torch.nn'\nf.__code__": ["__code__", 3],
    "exec(compile('import sys; sys._getframe()', '<made>', 'exec'))": ["sys._getframe", None],
}


def told(lines: tuple[str, ...], root: Path) -> dict[str, list[list[object]]]:
    done = subprocess.run(
        [sys.executable, "-c", KEEPS, str(root), json.dumps(lines)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found: dict[str, list[list[object]]] = json.loads(done.stdout)
    return found


def test_what_honest_code_does_is_not_told(tmp_path: Path) -> None:
    assert {line: what for line, what in told(NOBODYS, tmp_path).items() if what} == {}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[object]]]:
    return told(tuple(TOLD), tmp_path_factory.mktemp("submission"))


@pytest.mark.parametrize("line", TOLD, ids=[t[0] for t in map(str, range(len(TOLD)))])
def test_a_look_around_is_told_with_its_line(
    line: str, seen: dict[str, list[list[object]]]
) -> None:
    assert TOLD[line] in seen[line]
