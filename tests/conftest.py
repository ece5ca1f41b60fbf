"""Shared fixtures: the project, a small course, and functions that run commands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.courses import PROJECT, copy_course

# jsonschema would compile this grammar for a second to check addresses; the commands skip it too.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # as import takes it

# Slow files start first, so that parallel processes finish at about the same time.
LONGEST = [
    "test_verify",
    "test_walk",
    "test_lessons",
    "test_submission_channels",
    "test_correct_callers",
    "test_wrong_callers",
    "test_costs_alone",
    "test_trivial_weeks",
    "test_attacks",
    "test_forging",
    "test_capstone",
]
# Files whose tests share no fixtures.
SPREAD = [
    "test_correct_callers",
    "test_costs_alone",
    "test_figures",
    "test_lessons",
    "test_trivial_weeks",
    "test_verify",
    "test_walk",
    "test_wrong_callers",
]
# Expensive tests that faster ones mostly cover; `make thorough` runs them.
THOROUGH = bool(os.environ.get("AUTOGRADER_E2E"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not THOROUGH and item.get_closest_marker("thorough"):
            item.add_marker(pytest.mark.skip(reason="thorough: `make thorough` runs it"))
    items.sort(key=lambda i: LONGEST.index(i.path.stem) if i.path.stem in LONGEST else len(LONGEST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process for its fixtures, except files in `SPREAD`.

    xdist's own groups (`--dist loadgroup`) have no effect with pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneFileOneProcess(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return nodeid if Path(path).stem in SPREAD else path

    return OneFileOneProcess(config, log)


# nbgrader runs this program for each new gradebook, always with the same result.
ASKED_ONCE = """\
#!/bin/sh
[ "$3" = heads ] || exec {program} "$@"
[ -s {heads} ] || {{ {program} "$@" >{heads}.$$ && mv {heads}.$$ {heads}; }}
cat {heads}
"""


@pytest.fixture(scope="session", autouse=True)
def _alembic_is_asked_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Cache the gradebook version of this installation: computing it takes three seconds."""
    beside, folder = Path(sys.executable).parent, tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # shared by all parallel processes
    own = tmp_path_factory.mktemp("programs") / "alembic"
    own.write_text(ASKED_ONCE.format(program=beside / "alembic", heads=folder / "heads"), "utf-8")
    own.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        places = own.parent, beside, os.environ.get("PATH", os.defpath)
        patch.setenv("PATH", os.pathsep.join(map(str, places)))
        yield


@pytest.fixture(scope="session")
def project() -> Path:
    return PROJECT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the project's course to a new folder, with week 1 only."""
    return copy_course(tmp_path / "course", weeks=("week01_softmax",))


@pytest.fixture(scope="session")
def autograder() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `autograder …` as a user would, at 80 columns without colour."""

    def run(
        *arguments: str | Path, cwd: Path = PROJECT, timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "80", "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [Path(sys.executable).parent / "autograder", *map(str, arguments)],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def in_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `autograder …` in this process, where most modules are already imported."""
    from autograder.cli import run as run_command

    def run(*arguments: str | Path, cwd: Path = PROJECT) -> subprocess.CompletedProcess[str]:
        words = [*map(str, arguments)]
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            for name, value in (("NO_COLOR", "1"), ("COLUMNS", "80"), ("OMP_NUM_THREADS", "1")):
                patch.setenv(name, value)
            capsys.readouterr()
            code = run_command(words)
        return subprocess.CompletedProcess(words, code, *capsys.readouterr())

    return run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regold", action="store_true", help="write the golden reports anew")


# Courses and submissions that tests grade are data, not tests of the kit.
collect_ignore_glob = ["golden/course/*", "golden/submissions/*"]
