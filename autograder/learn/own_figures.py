"""Draw the figures of a lesson with the learner's module, in a separate process.

The process runs with the learner's permissions, as in `autograder check`. It draws the figures
whose code uses an exercise of the week, and leaves out a figure that fails. Helpers that the
learner's module lacks come from the solution.
"""

import ast
import asyncio
import contextlib
import hashlib
import importlib.util
import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..authoring.lesson.figures import make_figures, picture
from ..authoring.lesson.handout import figures_used, lesson_text
from ..files import replace_file
from ..model.course import Week, load
from ..student.folder.source import statements_of
from .learner_record import LearnerFolder

_SECONDS = 300.0
_DRAWN = "module"  # the file with the digest of the module that the figures were drawn with


def figures_folder(learner: LearnerFolder, week: Week) -> Path:
    return learner.state / "figures" / week.name


def own_figures(learner: LearnerFolder, week: Week) -> list[tuple[str, str]]:
    """Return the file names and descriptions of the figures drawn so far, in the lesson's order."""
    text, folder = lesson_text(learner.course, week), figures_folder(learner, week)
    names = (name for name in figures_used(text) if (folder / name).is_file())
    return [(name, _description(text, name)) for name in names]


def _description(text: str, name: str) -> str:
    found = re.search(rf"!\[([^\]]*)\]\(figures/{re.escape(name)}\)", text)
    return found[1] if found else ""


def are_drawn(learner: LearnerFolder, week: Week) -> bool:
    """Return True if the figures were drawn with the current version of the module, if any."""
    try:
        return (figures_folder(learner, week) / _DRAWN).read_bytes() == _digest(learner, week)
    except FileNotFoundError:
        return not (learner.path / week.name / week.module).is_file()


def _digest(learner: LearnerFolder, week: Week) -> bytes:
    source = (learner.path / week.name / week.module).read_bytes()
    return hashlib.blake2b(source).hexdigest().encode()


async def draw_own_figures(learner: LearnerFolder, week: Week) -> None:
    """Draw the week's figures with the current version of the module."""
    module, folder = learner.path / week.name / week.module, figures_folder(learner, week)
    digest = _digest(learner, week)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", __name__),
        *(str(learner.course.root), week.name, str(module), str(folder)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"},
        start_new_session=True,  # Ctrl-C is handled by this process
    )
    try:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _SECONDS)
        replace_file(folder / _DRAWN, digest)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()


# In the separate process


def main(root: str, name: str, module: str, out: str) -> None:
    """Draw a week's figures into the folder `out`."""
    os.nice(10)
    course = load(Path(root))
    week = course.week(name)
    own = _imported(week.stem, Path(module))
    solution = _imported(f"{week.stem}_solution", course.solution(week))
    for helper, value in vars(solution).items():
        vars(own).setdefault(helper, value)
    for stem, figure in make_figures(course, week, lambda f: _only_own(f, week)).items():
        file, content = picture(stem, figure, course)
        replace_file(Path(out) / file, content, lasting=False)


def _imported(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _only_own(figures: ModuleType, week: Week) -> None:
    """Let `figures()` return only figures that use an exercise and can be drawn."""
    source, exercises = inspect.getsource(figures), {e.name for e in week.exercises}

    def attempt(draw: Callable[[], Any]) -> Callable[[], Any]:
        def drawn() -> Any:
            with contextlib.suppress(Exception):  # raised by the learner's code
                return draw()
            return {}

        return drawn

    for name in set(_called_without_arguments(source, "figures")):
        names = {n for s in statements_of(source, name) for n in _names(s)}
        draw = getattr(figures, name) if names & exercises else dict
        setattr(figures, name, attempt(draw))
    every = figures.figures
    figures.figures = lambda: {n: f for n, f in every().items() if hasattr(f, "savefig")}  # type: ignore[attr-defined]  # the module's function


def _called_without_arguments(source: str, function: str) -> Iterator[str]:
    nodes = (
        n for s in ast.parse(source).body if getattr(s, "name", "") == function for n in ast.walk(s)
    )
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            yield node.func.id


def _names(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


if __name__ == "__main__":
    main(*sys.argv[1:])
