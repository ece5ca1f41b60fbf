"""Draw the figures of a lesson with the learner's module, in a child process.

The process runs with the learner's permissions, as in `autograder check`. It draws the figures
whose code uses an exercise of the week, and leaves out a figure that fails. Helpers that the
learner's module lacks come from the solution.
"""

import ast
import contextlib
import hashlib
import re
import runpy
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ..authoring.lesson.figures import make_figures, picture
from ..authoring.lesson.handout import lesson_text
from ..files import replace_file
from ..model.course import Course, Week
from ..student.folder.source import statements_of
from .learner_record import FIGURES, LearnerFolder

_DRAWN = "module"  # the file with the digest of the module that the figures were drawn with


def figures_folder(learner: LearnerFolder, week: Week) -> Path:
    return learner.state / FIGURES / week.name


def own_figures(learner: LearnerFolder, week: Week) -> list[tuple[str, str]]:
    """Return the file names and descriptions of the drawn figures, in the lesson's order."""
    folder, text = figures_folder(learner, week), lesson_text(learner.course, week)
    found = re.findall(r"!\[([^\]]*)\]\(figures/([^)\s]+)\)", text)
    return [(name, words) for words, name in found if (folder / name).is_file()]


def are_drawn(learner: LearnerFolder, week: Week) -> bool:
    """Return True if the figures were drawn with this version of the module, if there is one."""
    with contextlib.suppress(FileNotFoundError):
        digest = _digest(learner.path / week.name / week.module)
        drawn = figures_folder(learner, week) / _DRAWN
        return drawn.is_file() and drawn.read_bytes() == digest
    return True


def _digest(module: Path) -> bytes:
    return hashlib.blake2b(module.read_bytes()).hexdigest().encode()


def draw_figures(course: Course, week: Week, module: Path, out: Path) -> None:
    """Draw a week's figures with `module` into the folder `out`. This runs in a child process."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    replace_file(out / _DRAWN, _digest(module))  # at first, so that a failure is not repeated
    solution = runpy.run_path(str(course.solution(week)))
    own = sys.modules[week.stem] = ModuleType(week.stem)
    vars(own).update(runpy.run_path(str(module), solution))
    exercises = {e.name for e in week.exercises}
    drawn = make_figures(course, week, lambda figures: _keep_only(figures, exercises))
    for stem, figure in drawn.items():
        name, content = picture(stem, figure, course)
        replace_file(out / name, content, lasting=False)


def _keep_only(module: Any, exercises: set[str]) -> None:
    """Let `module.figures()` return only figures that use an exercise and can be drawn."""

    source = Path(module.__file__).read_text(encoding="utf-8")

    def uses_exercise(name: str) -> bool:
        nodes = [n for s in statements_of(source, name) for n in ast.walk(s)]
        used = {n.id if isinstance(n, ast.Name) else getattr(n, "attr", "") for n in nodes}
        return bool(used & exercises)

    def attempt(draw: Callable[[], Any]) -> Any:
        try:
            return draw()
        except Exception:  # raised by the learner's code
            return {}

    every = module.figures
    for name in every.__code__.co_names:
        if isinstance(draw := vars(module).get(name), FunctionType):
            kept = draw if uses_exercise(name) else dict
            setattr(module, name, lambda kept=kept: attempt(kept))
    module.figures = lambda: {n: f for n, f in every().items() if hasattr(f, "savefig")}
