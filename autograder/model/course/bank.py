"""Read a week's bank: its solution, alternative solutions, and misconceptions.

A misconception file contains only the wrong definitions, which are appended to the solution and
override its definitions. `verify` checks the statements in the file's docstring:

    Divides by one less than the count.

    Exercise: mean
    Believes: mean and variance have the same denominator.
    Shows: results are too large, most for small inputs.
    Hint: …
    Rejected by: test_known_mean
    Costs: 40 %
    Belief: denominator_of_the_mean    (optional: one key for several exercises)
    Same as: other_file because …      (optional)

`Costs` is the share of the exercise's points that this mistake costs. If several exercises of a
week show the same `Belief`, only one of them loses points for it.
"""

import ast
import re
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..errors import CourseError
from ..message_text import close_names
from .registry import Course, Week

_FIELD = re.compile(
    r"^[ \t]*(Exercise|Believes|Shows|Hint|Rejected by|Costs|Belief|Same as):", re.MULTILINE
)
_COST = re.compile(r"(\d{1,3}) %\Z")
_REQUIRED = ("Exercise", "Believes", "Shows", "Hint", "Rejected by")


class Misconception(msgspec.Struct, frozen=True):
    """A misconception. `cost`: a share of the exercise's points, or None if not stated."""

    name: str
    exercise: str
    title: str
    believes: str
    shows: str
    hint: str
    rejected_by: str
    same_as: tuple[str, ...]
    source: str
    cost: float | None = None
    belief: str = ""


class Bank:
    """The solution, alternatives and misconceptions in `solutions/<week>`, as complete modules."""

    def __init__(self, course: Course, week: Week) -> None:
        self.course, self.week = course, week
        self.folder = course.solution_folder(week)

    @cached_property
    def solution(self) -> str:
        return self._read(self.course.solution(self.week))

    @cached_property
    def alternatives(self) -> dict[str, str]:
        """Correct solutions in different styles, as a mapping from names to complete modules."""
        files = sorted((self.folder / "alternatives").glob("*.py"))
        return {f.stem: self.over_solution(self._read(f)) for f in files}

    @cached_property
    def public_modules(self) -> dict[str, str]:
        """The sources of the Python files that are released with the week, by file name."""
        return {path.name: self._read(path) for path in self.course.public_modules(self.week)}

    @cached_property
    def misconceptions(self) -> tuple[Misconception, ...]:
        files = sorted((self.folder / "misconceptions").glob("*.py"))
        return tuple(self._misconception(f) for f in files)

    @cached_property
    def adapters(self) -> dict[str, Misconception]:
        """Code that makes an exercise fit inputs that it stops on, by exercise.

        The source of an adapter follows the submission's own code. It begins with the functions in
        `_shared.py`, if there are any.
        """
        folder = self.folder / "adapters"
        shared = [self._read(f) for f in folder.glob("_shared.py")]
        found = (
            replace(self._misconception(f), source="\n\n".join([*shared, self._read(f)]))
            for f in sorted(folder.glob("[!_]*.py"))
        )
        return {adapter.exercise: adapter for adapter in found}

    @property
    def correct_programs(self) -> list[tuple[str, str]]:
        """The solution and all alternatives, as (name, source) pairs; messages use the names."""
        alternatives = [(f"alternative {name}", s) for name, s in self.alternatives.items()]
        return [("the solution", self.solution), *alternatives]

    def correct_sources(self, exercise: str) -> list[str]:
        """Return the source of the solution and of each alternative that redefines the exercise."""
        starts = (f"def {exercise}(", f"class {exercise}(", f"class {exercise}:")
        own = len(self.solution)
        others = self.alternatives.values()
        return [self.solution, *(s for s in others if any(start in s[own:] for start in starts))]

    def of_exercise(self, exercise: str) -> tuple[Misconception, ...]:
        return tuple(m for m in self.misconceptions if m.exercise == exercise)

    def program(self, name: str) -> str:
        """Return the solution, an alternative or a misconception; raise CourseError if unknown."""
        programs = {m.name: m.source for m in self.misconceptions}
        programs |= self.alternatives | {"solution": self.solution}
        if name not in programs:
            raise CourseError(
                f"{name} is neither a file nor a program in the bank of {self.week.name}"
                f"{close_names(name, programs)}"
            )
        return programs[name]

    def _read(self, path: Path) -> str:
        location = path.relative_to(self.course.root)
        try:
            text = path.read_text(encoding="utf-8-sig")
            ast.parse(text)
        except FileNotFoundError:
            raise CourseError(f"{location}: the file is missing") from None
        except SyntaxError as error:
            raise CourseError(f"{location}:{error.lineno}: {error.msg}") from None
        return text

    def over_solution(self, text: str) -> str:
        """Return the solution followed by `text`, whose definitions override the solution's."""
        # `__future__` imports are allowed only at the top. The empty line keeps line numbers valid.
        text = re.sub(r"^from __future__.*$", "", text, flags=re.MULTILINE)
        return f"{self.solution}\n\n{text}"

    def complete_module(self, text: str, name: str) -> tuple[str, int]:
        """Return a complete module, and the number of its lines that precede `text`.

        A text that defines all exercises or has a syntax error is returned unchanged; other texts
        are appended to the solution. Raise CourseError if a text shares no name with the solution.
        """
        wanted = {e.name for e in self.week.exercises}
        try:
            defined = _defined(text)
        except (SyntaxError, ValueError):
            return text, 0  # the import will report the error
        if wanted <= defined:
            return text, 0
        if not _defined(self.solution) & defined:
            exercises = ", ".join(e.name for e in self.week.exercises)
            raise CourseError(f"{name} defines none of the exercises {exercises}")
        return self.over_solution(text), self.solution.count("\n") + 2

    def _misconception(self, path: Path) -> Misconception:
        location = path.relative_to(self.course.root)
        text = self._read(path)
        doc = ast.get_docstring(ast.parse(text))
        if not doc:
            raise CourseError(f"{location}: add a docstring that states the misconception")
        title, fields = _fields(doc)
        missing = [name for name in _REQUIRED if not fields.get(name)]
        if missing:
            raise CourseError(f"{location}: the docstring lacks the line `{missing[0]}: …`")
        exercise = fields["Exercise"]
        if exercise not in {e.name for e in self.week.exercises}:
            raise CourseError(f"{location}: {self.week.name} has no exercise {exercise!r}")
        same = re.split(r"\s+because\s+", fields.get("Same as", ""))[0]
        return Misconception(
            name=path.stem,
            exercise=exercise,
            title=title,
            believes=fields["Believes"],
            shows=fields["Shows"],
            hint=fields["Hint"],
            rejected_by=fields["Rejected by"].split("::")[-1].strip("` ."),
            same_as=tuple(s.strip() for s in same.split(",") if s.strip()),
            source=self.over_solution(text),
            cost=_cost(fields.get("Costs", ""), str(location)),
            belief=fields.get("Belief", "").strip("` ."),
        )


def _cost(text: str, location: str) -> float | None:
    if not text:
        return None
    found = _COST.match(text)
    if not found or not 0 < int(found.group(1)) <= 100:
        raise CourseError(f"{location}: `Costs: {text}` must be a whole number from 1 % to 100 %")
    return int(found.group(1)) / 100


def _defined(text: str) -> set[str]:
    defined = (getattr(node, "name", "") for node in ast.parse(text).body)
    return {name for name in defined if name}


def _fields(doc: str) -> tuple[str, dict[str, str]]:
    first, _, rest = doc.partition("\n\n")
    _, *parts = _FIELD.split(rest)
    fields = zip(parts[::2], parts[1::2], strict=True)
    return " ".join(first.split()), {name: " ".join(text.split()) for name, text in fields}
