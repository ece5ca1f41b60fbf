"""Hide the worker from a submission, and restrict the submission's imports.

Theory of operation. The worker runs in the same process as the submission, which may try to modify
the worker. Before the submission is read, `seal` removes the worker's modules from `sys.modules`
and their folder from `sys.path`, so that they cannot be imported, and hides existing objects from
`gc.get_objects`. The submission's files get separate builtins, whose `__import__` allows only the
standard library, the libraries that the course lists, and submitted files. Other packages on the
grading machine cannot be imported, so a submission cannot depend on a package that is not listed.

Code that inspects stack frames, function globals or torch's stack of modes can still find the
worker's objects. These objects contain no secrets (see the docstring of the package `worker`).
"""

import builtins
import gc
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

_PACKAGE = __name__.rsplit(".", 2)[0]


class StudentImports:
    """A meta path finder that gives submitted modules builtins with restricted imports.

    The finder is created before the fork. In a child, code that only reads the names of thousands
    of modules would change their reference counts, and thereby copy most pages of memory.

    modules: libraries that may be imported, in addition to the standard library
    """

    def __init__(self, modules: Iterable[str]) -> None:
        self._root = ""
        self._modules = frozenset(modules)
        self._standard = sys.stdlib_module_names  # a submission could replace the attribute
        self._submitted: set[str] = set()
        self._import = builtins.__import__
        self.builtins: dict[str, Any] = {**vars(builtins), "__import__": self._checked_import}
        own = (n for n in sys.modules if n == _PACKAGE or n.startswith(f"{_PACKAGE}."))
        self._worker_modules = tuple(own)

    def seal(self, root: str) -> None:
        """Install this finder for the submission in `root`, and hide the worker's modules."""
        self._root = root + os.sep
        sys.meta_path[sys.meta_path.index(PathFinder)] = self
        kit = str(Path(__file__).absolute().parents[2])
        sys.path[:] = [p for p in sys.path if os.path.abspath(p) != kit]
        sys.path_importer_cache.pop(kit, None)
        for name in self._worker_modules:
            sys.modules.pop(name, None)
        main = vars(sys.modules["__main__"])
        for name in [n for n in main if not n.startswith("__")]:
            del main[name]
        vars(gc).pop("unfreeze", None)
        gc.freeze()

    def add_files(self, files: Iterable[str]) -> None:
        """Allow imports of submitted Python files and of the folders that contain these files."""
        for name in files:
            if name.endswith(".py"):
                parts = PurePosixPath(name).with_suffix("").parts
                self._submitted.update(p for p in parts if not self._is_library(p))

    def _is_library(self, name: str) -> bool:
        return name in self._standard or name in self._modules

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
        """Return a loader that executes a submitted file with the restricted builtins."""
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
        if level == 0 and not self._is_library(top) and not self._is_submitted(top):
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        return self._import(name, globals, locals, fromlist, level)

    def _is_submitted(self, name: str) -> bool:
        """Return True if a submitted file has this module name and an import would find that file.

        Without this check, a submission that puts a library's folder on the path and contains a
        file with the name of a library module could import a copy of that module without hooks.
        """
        if name not in self._submitted or name in sys.modules:
            return name in self._submitted
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
