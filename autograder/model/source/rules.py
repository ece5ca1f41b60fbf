"""Rules about source code: forbidden calls and names, evasion of hooks, and allowed imports.

The grader, `check` and the stub share these rules. There are four types of rules:

- Forbidden calls (`not_allowed` in course.yaml) do the exercise for the student. The worker detects
  them at run time under any alias; `check` finds them in the source and while public checks run.
- Forbidden names (`source_not_allowed`) are for exercises that must work without a library.
- Evasions are code that can hide calls from the worker's hooks. They are forbidden everywhere.
- Only the standard library, the week's libraries and submitted files may be imported.

Names, evasions and imports are checked in the source. A determined student can write code that
these lists do not cover. The threat model describes the consequences.
"""

import fnmatch
import io
import re
import sys
import tokenize
import tomllib
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ...worker.monitor.function_hooks import matches
from .reachable import MAX_TOKENS, Sources
from .uses import Imported, Part, Use

# Triton's functions are always allowed, because a call inside a kernel cannot solve the exercise.
_KERNEL_CALLS = "triton."

# Names that can hide calls from the worker's hooks, by reason.
_EVASIONS = tomllib.loads(Path(__file__).with_name("evasions.toml").read_text(encoding="utf-8"))
EVASIONS = tuple(name for names in _EVASIONS.values() for name in names.split())
_EVASION = re.compile("|".join(fnmatch.translate(p) for p in EVASIONS))


def _words_of(pattern: str) -> tuple[str, ...]:
    """Return the words and word prefixes of a pattern, delimited by newlines for searching."""
    parts = [(part.rstrip("*"), part.endswith("*")) for part in pattern.split(".")]
    return tuple(
        f"\n{word}" if begins else f"\n{word}\n"
        for word, begins in parts
        if word and not {"*", "["} & set(word)
    )


_EVASION_WORDS = tuple(map(_words_of, EVASIONS))

_ENCODINGS = ("utf-8", "utf-8-sig", "ascii", "iso-8859-1", "cp1252")
Kind = Literal["call", "name", "evasion", "import", "unreadable"]


class Rules(msgspec.Struct, frozen=True):
    """The forbidden calls and names of one exercise."""

    not_allowed: tuple[str, ...] = ()
    source_not_allowed: tuple[str, ...] = ()


class Refusal(msgspec.Struct, frozen=True):
    """A violation of a rule: the name that is not allowed, its position, and a message."""

    kind: Kind
    name: str
    file: str
    line: int
    message: str


def may_import(libraries: tuple[str, ...]) -> str:
    """Return a sentence that lists the allowed imports."""
    *most, last = ["Python's standard library", *(f"`{name}`" for name in libraries)]
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"You may import {listed}, and files that you submit."


def in_words(libraries: tuple[str, ...]) -> str:
    """Return the sentences about allowed imports for the stub and the README."""
    return f"{may_import(libraries)} Other libraries are not available during grading."


def texts_of(files: Mapping[str, bytes]) -> dict[str, str | None]:
    """Map Python files to their text, or to None (unusual encoding) or "" (not decodable)."""
    return {n: _text(content) for n, content in files.items() if n.endswith(".py")}


def _text(content: bytes) -> str | None:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding) if encoding in _ENCODINGS else None
    except (SyntaxError, UnicodeError):
        return ""  # the import will report the error


def may_be_evasive(texts: Mapping[str, str | None]) -> bool:
    """Return False if no file can contain an evasion. This test is much faster than parsing."""
    if None in texts.values():
        return True
    # Python normalizes identifiers: full-width and bold letters are equal to plain letters
    source = unicodedata.normalize("NFKC", "\n".join(t or "" for t in texts.values()))
    words = "\n".join(["", *set(re.findall(r"\w+", source)), ""])
    return any(all(word in words for word in needed) for needed in _EVASION_WORDS)


def refusals(
    sources: Sources,
    rules: Mapping[str, Rules],
    replaced: Collection[str] = (),
    libraries: tuple[str, ...] | None = None,
) -> dict[str, Refusal]:
    """Map exercises to the violation of a rule to report, if they have any.

    The order is: imports, evasions, forbidden names, files that cannot be analysed, calls.

    replaced:  functions of the module that correct versions replace, so they are not analysed
    libraries: the libraries that may be imported; None does not check imports
    """
    at_start = sources.on_import()
    unreadable = _unreadable(sources)
    found: dict[str, Refusal] = {}
    for exercise, own in rules.items():
        by_name, on_import = sources.reached(exercise, replaced)
        parts = (at_start, by_name, on_import)
        violations = [
            *(_absent(part, libraries) for part in parts if libraries is not None),
            _evasions(at_start),
            unreadable,
            _evasions(by_name),
            _evasions(on_import),
            _names(by_name, own.source_not_allowed),
            _unreadable(sources),
            _calls(by_name, own.not_allowed, sources),
        ]
        first = (min(v, key=lambda r: (r.file, r.line), default=None) for v in violations)
        if refusal := next(filter(None, first), None):
            found[exercise] = refusal
    return found


def call_in_words(name: str) -> str:
    return (
        f"`{name[:60]}` does the exercise for you. It is not allowed in this exercise and costs "
        "all of its points."
    )


def _evasions(part: Part) -> Iterator[Refusal]:
    for use in part.uses:
        if _EVASION.match(use.name):
            reason = "is code that the grader cannot follow. Remove it: tensor code is enough."
            yield _refusal("evasion", use.name, use, reason)


def _names(part: Part, patterns: tuple[str, ...]) -> Iterator[Refusal]:
    for use in part.uses if patterns else ():
        if any(fnmatch.fnmatchcase(use.name, p) for p in patterns):
            name = use.name[:60]
            message = f"Write this exercise without `{name}` ({_place(use)}): its docstring "
            yield Refusal("name", use.name, use.file, use.line, message + "lists what is allowed.")


def _calls(part: Part, patterns: tuple[str, ...], sources: Sources) -> Iterator[Refusal]:
    for use in part.uses if patterns else ():
        last = use.name.rpartition(".")[2]
        own = use.name.startswith(".") and sources.is_own_method(last)
        if use.name.startswith(_KERNEL_CALLS) or not use.called or "." not in use.name or own:
            continue
        if matches(last, patterns) or matches(use.name, patterns):
            name = use.name.lstrip(".")
            yield Refusal("call", name, use.file, use.line, call_in_words(name))


def _absent(part: Part, libraries: tuple[str, ...]) -> Iterator[Refusal]:
    available = {*libraries, *sys.stdlib_module_names}
    for wanted in part.imports:
        top = wanted.module.split(".")[0]
        is_own = top == wanted.file.removesuffix(".py")  # a file that imports itself
        if not wanted.guarded and not is_own and top not in available:
            reason = f"is not available during grading. {may_import(libraries)}"
            yield _refusal("import", top, wanted, reason)


def _unreadable(sources: Sources) -> list[Refusal]:
    name = sources.unreadable
    message = (
        f"{name[:60]} cannot be analysed: it is nested too deeply, or it and its imports contain "
        f"more than {MAX_TOKENS} words and symbols. Submit functions, no data."
    )
    return [Refusal("unreadable", name, name, 0, message)] if name else []


def _refusal(kind: Kind, name: str, use: Use | Imported, reason: str) -> Refusal:
    return Refusal(kind, name, use.file, use.line, f"`{name[:60]}` ({_place(use)}) {reason}")


def _place(use: Use | Imported) -> str:
    return f"{use.file[:60]}, line {use.line}"
