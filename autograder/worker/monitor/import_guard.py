"""What a submission finds of the worker by name, and what it may import: its own files and a list.

Theory of operation. The worker shares its process with code that may want to change it. Before the
first line of that code is read, `seal` takes the worker's modules out of `sys.modules` and their
folder off the path, so that no import finds them, under whatever spelling, and makes what lives now
invisible to `gc.get_objects` for good. The student's files are loaded with builtins of their own,
whose `__import__` knows the standard library, the libraries of the course's list, and the files
that were handed in: what else happens to be installed on the grading machine is not there, so that
the list that students are told is the whole truth.

What is not promised: code that walks frames, functions' globals or torch's stack of modes still
finds the worker's objects. They hold nothing secret, and what the worker reports is the student's
word (see the package's docstring).
"""

from __future__ import annotations

import builtins
import gc
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, Protocol

# `settrace` and its like are C functions: they are named by the rules, not hidden here.
_PACKAGE = __name__.rsplit(".", 2)[0]


class Loaders(Protocol):
    """Hands out loaders of files, of those that were handed in also to each other."""

    def own(self, files: Iterable[str]) -> None: ...

    def loader(self, name: str, origin: str) -> SourceFileLoader: ...


class StudentImports:
    """The builtins of the student's modules, and the finder that hands them out.

    root:    the folder of the submission
    modules: the libraries that may be imported besides the standard library
    """

    def __init__(self, root: str, modules: Iterable[str]) -> None:
        self._root = root + os.sep
        self._allowed = {*sys.stdlib_module_names, *modules}
        self._own: set[str] = set()
        self._import = builtins.__import__
        self.builtins: dict[str, Any] = {**vars(builtins), "__import__": self._checked_import}

    def own(self, files: Iterable[str]) -> None:
        """These were handed in: a folder may become a package, or be put on the path."""
        for name in files:
            if name.endswith(".py"):
                self._own.update(PurePosixPath(name).with_suffix("").parts)
        self._own -= self._allowed

    def install(self) -> None:
        """From now on, modules that are found in the submission get the student's builtins."""
        place = sys.meta_path.index(PathFinder)
        sys.meta_path[place] = self

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None and spec.origin.startswith(self._root):
            spec.loader = self.loader(name, spec.origin)
        return spec

    def invalidate_caches(self) -> None:
        PathFinder.invalidate_caches()

    def loader(self, name: str, origin: str) -> SourceFileLoader:
        """A loader of a student's file."""
        return _StudentLoader(name, origin, self.builtins)

    def _checked_import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if level == 0 and top not in self._allowed and not self._is_own(top):
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        return self._import(name, globals, locals, fromlist, level)

    def _is_own(self, name: str) -> bool:
        """Whether it was handed in, and is what would be found under that name.

        With a library's folder on the path, the name of a file of one's own would import a second
        copy of a library's file, which nobody looks at.
        """
        if name not in self._own or name in sys.modules:
            return name in self._own
        spec = PathFinder.find_spec(name)
        places = [spec.origin] if spec is not None and spec.origin is not None else []
        places += (spec and spec.submodule_search_locations) or []
        return spec is None or all((p + os.sep).startswith(self._root) for p in places)


class _StudentLoader(SourceFileLoader):
    def __init__(self, name: str, origin: str, student: dict[str, Any]) -> None:
        super().__init__(name, origin)
        self._student = student

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self._student
        super().exec_module(module)


def worker_modules() -> list[str]:
    """The worker's modules, to be asked for in the template.

    To look through all modules writes to a page for almost each name (its reference count), and in
    a fork every such page is copied.
    """
    return [n for n in sys.modules if n == _PACKAGE or n.startswith(f"{_PACKAGE}.")]


def seal(root: str, modules: Iterable[str], own: Iterable[str]) -> StudentImports:
    """Take the worker out of sight; afterwards it must import nothing of its own any more.

    own: the worker's modules
    """
    imports = StudentImports(root, modules)
    imports.install()
    kit = str(Path(__file__).absolute().parents[2])
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != kit]
    sys.path_importer_cache.pop(kit, None)
    for name in own:
        sys.modules.pop(name, None)
    main = vars(sys.modules["__main__"])
    for name in [n for n in main if not n.startswith("__")]:
        del main[name]
    vars(gc).pop("unfreeze", None)
    gc.freeze()
    return imports
