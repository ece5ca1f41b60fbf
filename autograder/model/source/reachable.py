"""Find the code that an exercise reaches in the submitted files, without running it.

Theory of operation. The files are untrusted. They are never run, and a file is parsed only if
something imports it. An exercise reaches its own function or class, and every definition in the
submission that it uses directly or indirectly. Code that runs on import is reported separately.
Unused code and code under `if __name__ == "__main__"` are not reached. The time for each exercise
is linear in the total size of the files.

Names assembled at run time (`getattr(x, a + b)`) and code in strings are not detected. `rules.py`
forbids the common ways to run strings.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from .uses import FileUses, Part

# The limit for all parsed files together. A syntax tree needs up to 1 KiB for each token.
MAX_TOKENS = 40_000
# A comment line such as # ---- counts as one token.
_TOKEN = re.compile(r"\w+|\n|#[ #=*~-]*|[!-/:-@\[-^`{-~]", re.ASCII)
_MAX_FILES_PER_NAME = 8


def count_tokens(text: str) -> int:
    """Count words, symbols and line breaks; the number bounds the size of the syntax tree."""
    return _TOKEN.subn("", text)[1]


def parse_bounded(source: str) -> ast.Module | None:
    """Parse code; return None if it is too large (`MAX_TOKENS`) or cannot be parsed."""
    if count_tokens(source) > MAX_TOKENS:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class Sources:
    """The Python files of one submission.

    texts: maps file names to their text, or to None if the encoding is unusual (`rules.texts_of`)
    module: the name of the file that defines the exercises
    """

    def __init__(self, texts: Mapping[str, str | None], module: str) -> None:
        self.module = module
        self._texts = texts
        self._tokens_left = MAX_TOKENS
        self._files: dict[str, FileUses | None] = {}
        # Submissions may change `sys.path`, so a/b/c.py can be imported as a.b.c, b.c or c.
        self._by_end: dict[str, list[str]] = {}
        for name in sorted(self._texts, key=lambda n: (n.count("/"), n)):
            parts = _dotted(name)
            for size in range(1, len(parts) + 1):
                self._by_end.setdefault(".".join(parts[-size:]), []).append(name)
        self._problems: dict[str, str] = {}  # maps a file to the file that could not be analysed
        self.unreadable = ""  # the first such file that the last search reached

    def reached(self, exercise: str, replaced: Iterable[str] = ()) -> tuple[Part, Part]:
        """Return the code that an exercise reaches by name, and the code that its imports run.

        replaced: functions of the module that correct versions replace. They are not followed.
        Replaced classes are followed anyway, because only some of their methods are replaced.
        """
        self.unreadable = ""
        by_name, on_import, module = Part(), Part(), self._file(self.module)
        plain = module.plain_functions if module is not None else {}
        skipped = [plain[name] for name in replaced if name in plain]
        self._follow([(self.module, exercise)], by_name, skipped=skipped)
        self._load(by_name.loads, on_import)
        return by_name, on_import

    def on_import(self) -> Part:
        """Return the code that runs when the module is imported."""
        self.unreadable = ""
        found = Part()
        self._load([self.module], found)
        return found

    def is_own_method(self, name: str) -> bool:
        """Return True if a class in one of the parsed files defines a method of that name."""
        return any(f is not None and name in f.methods for f in self._files.values())

    def _load(self, files: Iterable[str], found: Part) -> None:
        waiting, done, followed = list(files), set[str](), set[tuple[str, str]]()
        while waiting:
            name = waiting.pop()
            file = None if name in done else self._file(name)
            done.add(name)
            if file is not None:
                ran = Part()
                ran.add(file.on_import)
                self._follow([(name, n) for n in ran.names] + ran.elsewhere, ran, followed)
                waiting += ran.loads
                found.add(ran)

    def _follow(
        self,
        starts: list[tuple[str, str]],
        found: Part,
        done: set[tuple[str, str]] | None = None,
        skipped: Iterable[Part] = (),
    ) -> None:
        waiting, parts = list(starts), set(map(id, skipped))
        done = set() if done is None else done
        while waiting:
            place = waiting.pop()
            file = None if place in done else self._file(place[0])
            done.add(place)
            for part in file.named(place[1]) if file is not None else ():
                if id(part) not in parts:
                    parts.add(id(part))
                    found.add(part)
                    waiting += [(place[0], n) for n in part.names] + part.elsewhere

    def _file(self, name: str) -> FileUses | None:
        if name not in self._files:
            self._files[name] = self._read(name)
        self.unreadable = self.unreadable or self._problems.get(name, "")
        return self._files[name]

    def _read(self, name: str) -> FileUses | None:
        text = self._texts.get(name, "")
        self._tokens_left -= count_tokens(text or "")
        if text is None or self._tokens_left < 0:
            self._problems[name] = name
            return None
        try:
            return FileUses(name, ast.parse(text), lambda dotted: self._resolve(dotted, name))
        except (SyntaxError, ValueError):
            return None  # the import will report the error
        except (RecursionError, MemoryError):
            self._problems[name] = name
            return None

    def _resolve(self, dotted: str, near: str) -> list[tuple[str, str]]:
        """Return files that a name can refer to, except `near`, each with the rest of the name."""
        parts = dotted.split(".")
        for size in range(len(parts), 0, -1):
            files = self._by_end.get(".".join(parts[:size]), [])
            if len(files) > _MAX_FILES_PER_NAME:
                self._problems[near] = files[0]
                self.unreadable = self.unreadable or files[0]  # names are resolved late
            found = [f for f in files[:_MAX_FILES_PER_NAME] if f != near]
            if found:
                return [(file, ".".join(parts[size:])) for file in found]
        return []


def _dotted(file: str) -> tuple[str, ...]:
    """Return the dotted module name of a file: a/b.py is a.b, a/__init__.py is a."""
    parts = PurePosixPath(file).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
