"""What an exercise reaches in the files that were handed in.

Theory of operation. A stranger wrote these files. They are parsed, never run; a file is parsed only
if something imports it; what an exercise reaches is found by following names, so the time is linear
in the length of the text (times the exercises). An exercise reaches its function or class, every
definition that is named there, in the module or in another file of the submission, and so on. What
runs on import is known apart. Dead code and self-checks under `if __name__ == "__main__"` are not
reached.

Not decidable, and so not seen: a name that is put together at run time (`getattr(x, a + b)`), and
text that is run as code. `rules.py` refuses the plain ways to run text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from .uses import FileUses, Part

# All that can be reached together, in characters. An import finds its file by name, and more files
# of one name are more than a course needs.
MOST_TEXT = 512 << 10
# All that is parsed together: a syntax tree takes up to a KiB for each word, sign and line.
MOST_SIGNS = 40_000
_SIGN = re.compile(r"\w+|\n|#[ #=*~-]*|[!-/:-@\[-^`{-~]", re.ASCII)  # a ruled line is one sign
_MOST_OF_ONE_NAME = 8


def signs_in(text: str) -> int:
    """How many words, signs and lines a source has: what bounds its syntax tree."""
    return _SIGN.subn("", text)[1]


class Sources:
    """The Python files of one submission (name -> text, or None if it cannot be read as text).

    The exercises are in `module`.
    """

    def __init__(self, texts: Mapping[str, str | None], module: str) -> None:
        self.module = module
        self._texts = texts
        self._left, self._signs_left = MOST_TEXT, MOST_SIGNS
        self._files: dict[str, FileUses | None] = {}
        # By the end of its path too: `sys.path` may be changed on the way.
        self._by_end: dict[str, list[str]] = {}
        for name in sorted(self._texts, key=lambda n: (n.count("/"), n)):
            parts = _dotted(name)
            for size in range(1, len(parts) + 1):
                self._by_end.setdefault(".".join(parts[-size:]), []).append(name)
        self.unreadable = ""  # a file that was reached and could not be read

    def reached(self, exercise: str, replaced: Iterable[str] = ()) -> tuple[Part, Part]:
        """What an exercise reaches by name, and what the imports on its way run.

        replaced: functions of the module whose own code does not run. Classes are reached all the
        same, because only some of their methods are replaced.
        """
        by_name, on_import, module = Part(), Part(), self._file(self.module)
        skipped = [p for n in replaced if module is not None for p in module.plain_function(n)]
        self._follow([(self.module, exercise)], by_name, skipped=skipped)
        self._load(by_name.loads, on_import)
        return by_name, on_import

    def on_import(self) -> Part:
        """What runs when the module is imported."""
        found = Part()
        self._load([self.module], found)
        return found

    def is_own_method(self, name: str) -> bool:
        """Return whether a class in a file that was read defines a method of that name."""
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
        return self._files[name]

    def _read(self, name: str) -> FileUses | None:
        text = self._texts.get(name, "")
        self._left -= len(text or "")
        if self._left >= 0:
            self._signs_left -= signs_in(text or "")
        if text is None or self._left < 0 or self._signs_left < 0:
            self.unreadable = self.unreadable or name
            return None
        try:
            return FileUses(name, ast.parse(text), lambda dotted: self._resolve(dotted, name))
        except (SyntaxError, ValueError):
            return None  # the import will tell
        except (RecursionError, MemoryError):
            self.unreadable = self.unreadable or name
            return None

    def _resolve(self, dotted: str, near: str) -> list[tuple[str, str]]:
        """The submission's files that a dotted name leads to, with the rest of the name."""
        parts = dotted.split(".")
        for size in range(len(parts), 0, -1):
            files = self._by_end.get(".".join(parts[:size]), [])
            if len(files) > _MOST_OF_ONE_NAME:
                self.unreadable = self.unreadable or files[0]
            found = [f for f in files[:_MOST_OF_ONE_NAME] if f != near]
            if found:
                return [(file, ".".join(parts[size:])) for file in found]
        return []


def _dotted(file: str) -> tuple[str, ...]:
    """a/b.py is a.b, and a/__init__.py is a."""
    parts = PurePosixPath(file).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
