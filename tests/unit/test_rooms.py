"""The house: rooms on floors, arrows that go down, no circles. Lazy imports count."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.imports import imported, modules, path_of

# From the ground up. A room imports from floors below it, and from its own.
FLOORS = (
    ("version",),
    ("worker",),
    ("model",),
    ("files", "pages", "repair", "sandbox", "terminal"),
    ("grading",),
    ("authors",),
    ("batch", "feedback", "authoring", "student", "lms"),
    ("nbgrader",),
    ("similarity", "classreport", "site", "serve", "channels"),
    ("cli",),
)
# What outsiders import: the package's face, and its start as a program.
HALL = ("autograder", "autograder.__main__")


def room(module: str) -> str:
    return module.split(".")[1]


def level(module: str) -> int:
    return next(n for n, rooms in enumerate(FLOORS) if room(module) in rooms)


def inside() -> list[str]:
    return [m for m in modules() if m not in HALL]


def test_every_module_has_a_room() -> None:
    rooms = {r for floor in FLOORS for r in floor}
    assert {room(m) for m in inside()} == rooms


def test_no_arrow_goes_up() -> None:
    up = [
        f"{m} imports {other}"
        for m in inside()
        for other in sorted(imported(m))
        if other not in HALL and level(other) > level(m)
    ]
    assert up == []


def reached(arrows: dict[str, set[str]], start: str) -> set[str]:
    """The modules that `start` imports, and what these import, and so on."""
    found: set[str] = set()
    waiting = [*arrows[start]]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += arrows.get(module, ())
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    arrows = {m: imported(m) for m in modules()}
    assert [m for m in arrows if m in reached(arrows, m)] == []


def class_names(module: str) -> Iterator[str]:
    path = path_of(module)
    assert path is not None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def test_a_class_name_stands_once() -> None:
    """One name for two things costs every reader a look at the imports."""
    places: dict[str, list[str]] = {}
    for module in modules():
        for name in class_names(module):
            places.setdefault(name, []).append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
