"""Test that a submission imports only allowed modules and cannot find the worker by name.

`seal` changes its process permanently, so each test runs in a separate process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SEALS = """
def main():  # with local names, because `seal` deletes those of the main module
    import json, sys
    from pathlib import Path

    kit, root, lines = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    sys.path.insert(0, kit)
    from worker.monitor.import_guard import StudentImports

    (Path(root) / "mine.py").write_text("value = 1")
    (Path(root) / "pack").mkdir()
    (Path(root) / "pack" / "__init__.py").write_text("from . import inner")
    (Path(root) / "pack" / "inner.py").write_text("import mine")
    imports = StudentImports(["numpy"])
    imports.seal(root)
    imports.add_files(["m.py", "mine.py", "pack/__init__.py", "pack/inner.py"])
    sys.path.append(root)
    found = {}
    for line in lines:
        scope = {"__builtins__": imports.builtins, "__name__": "m", "__file__": root + "/m.py"}
        try:
            exec(compile(line, root + "/m.py", "exec"), scope)
            found[line] = "ok"
        except BaseException as error:
            found[line] = type(error).__name__
    print(json.dumps(found))


main()
"""
FINE = (
    "import math, json, collections.abc",
    "import numpy",
    "import mine; assert mine.value == 1",
    "import pack; from pack import inner",
    "from mine import value",
    "import importlib.util; importlib.util.find_spec('math')",
    "__import__('math')",
)
ABSENT = (
    "import worker",
    "from worker.monitor import operator_hooks as watch",
    "from worker.monitor.operator_hooks import Watcher",
    "import msgspec",
    "import autograder",
    "import yaml",
    "import pytest",
    "__import__('msgspec')",
    "import mine.worker",
    "import sys; sys.stdlib_module_names = {*sys.stdlib_module_names, 'yaml'}; import yaml",
)
GONE = (
    "import sys; assert not [n for n in sys.modules if n == 'worker' or n.startswith('worker.')]",
    "import sys; assert not [p for p in sys.path if p.endswith('autograder')]",
    "import sys; m = sys.modules['__main__']; assert not hasattr(m, 'imports')",
    "import gc; assert not [o for o in gc.get_objects() if type(o).__name__ == 'StudentImports']",
    "import gc; assert not hasattr(gc, 'unfreeze')",
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("submission")
    kit = Path(__file__).resolve().parents[2] / "autograder"
    lines = json.dumps([*FINE, *ABSENT, *GONE])
    done = subprocess.run(
        [sys.executable, "-c", SEALS, str(kit), str(root), lines],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    ends: dict[str, str] = json.loads(done.stdout)
    return ends


@pytest.mark.parametrize("line", FINE)
def test_what_is_on_the_list_or_handed_in_is_there(line: str, found: dict[str, str]) -> None:
    assert found[line] == "ok"


@pytest.mark.parametrize("line", ABSENT)
def test_nothing_else_is(line: str, found: dict[str, str]) -> None:
    assert found[line] == "ModuleNotFoundError"


@pytest.mark.parametrize("line", GONE)
def test_nothing_of_the_worker_is_found_by_name(line: str, found: dict[str, str]) -> None:
    assert found[line] == "ok"
