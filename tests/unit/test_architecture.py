"""Check the structure of the kit: layers, no import cycles, small packages, unique names."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.imports import ROOT, imported, modules, path_of

# From the bottom up. A package imports from its own layer and from the layers below it.
LAYERS = (
    ("version",),
    ("worker",),
    ("model",),
    ("files", "pages", "repair", "sandbox", "terminal"),
    ("grading",),
    ("authors",),
    ("batch", "feedback", "authoring", "student", "lms"),
    ("nbgrader",),
    ("similarity", "classreport", "site", "serve", "learn", "channels"),
    ("cli",),
)
# The package's public interface and its entry point are imported from outside only.
ENTRY_POINTS = ("autograder", "autograder.__main__")
MOST_MODULES, MOST_LINES = 12, 350


def package(module: str) -> str:
    return module.split(".")[1]


def layer(module: str) -> int:
    return next(n for n, packages in enumerate(LAYERS) if package(module) in packages)


def inside() -> list[str]:
    return [m for m in modules() if m not in ENTRY_POINTS]


def test_every_package_belongs_to_a_layer() -> None:
    assert {package(m) for m in inside()} == {p for layer in LAYERS for p in layer}


def test_no_module_imports_from_a_higher_layer() -> None:
    upward = [
        f"{m} imports {other}"
        for m in inside()
        for other in sorted(imported(m))
        if other not in ENTRY_POINTS and layer(other) > layer(m)
    ]
    assert upward == []


def reachable(imports: dict[str, set[str]], start: str) -> set[str]:
    """Return the modules that `start` imports, directly or not."""
    found: set[str] = set()
    waiting = [*imports[start]]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += imports.get(module, ())
    return found


def test_no_modules_import_each_other_in_a_cycle() -> None:
    imports = {m: imported(m) for m in modules()}
    assert [m for m in imports if m in reachable(imports, m)] == []


def class_names(module: str) -> Iterator[str]:
    path = path_of(module)
    assert path is not None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def test_class_names_are_unique() -> None:
    places: dict[str, list[str]] = {}
    for module in modules():
        for name in class_names(module):
            places.setdefault(name, []).append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def sources() -> list[Path]:
    return [path for m in modules() if (path := path_of(m)) is not None]


def test_module_names_are_unique() -> None:
    names = Counter(p.stem for p in sources() if not p.stem.startswith("__"))
    assert [name for name, count in names.items() if count > 1] == []


def test_packages_are_small() -> None:
    sizes = Counter(p.parent for p in sources() if p.stem != "__init__")
    large = {str(p.relative_to(ROOT)): n for p, n in sizes.items() if n > MOST_MODULES}
    assert large == {}


def test_modules_are_short() -> None:
    lines = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in sources()}
    long = {str(p.relative_to(ROOT)): n for p, n in lines.items() if n > MOST_LINES}
    assert long == {}


def test_every_package_that_exports_names_lists_them() -> None:
    silent = []
    for path in sources():
        if path.stem == "__init__":
            body = ast.parse(path.read_text(encoding="utf-8")).body
            targets = [ast.unparse(t) for n in body if isinstance(n, ast.Assign) for t in n.targets]
            if any(not isinstance(n, ast.Expr) for n in body) and "__all__" not in targets:
                silent.append(str(path.relative_to(ROOT)))
    assert silent == []


def test_every_module_has_a_line_on_the_code_map() -> None:
    silent = [p for p in sources() if not ast.get_docstring(ast.parse(p.read_text("utf-8")))]
    assert [str(p.relative_to(ROOT)) for p in silent if p.stem != "__main__"] == []
