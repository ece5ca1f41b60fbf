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
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Literal

import msgspec

from ...worker.monitor.function_hooks import matches
from .reachable import MAX_TOKENS, Sources
from .uses import Imported, Part, Use

# Triton's functions are always allowed, because a call inside a kernel cannot solve the exercise.
_KERNEL_CALLS = "triton."

# Names that can hide calls from the worker's hooks, grouped by reason. Harmless names in the same
# modules, such as `gc.collect`, `sys.modules` and `inspect.signature`, are not listed.
_EVASION_GROUPS = {
    "native code": "ctypes* _ctypes*",
    "threads and processes, which no hook sees": """
        threading.Thread* threading.Timer* _thread.start* concurrent.futures* subprocess*
        multiprocessing.Process* multiprocessing.Pool* multiprocessing.pool*
        multiprocessing.dummy* multiprocessing.Manager* multiprocessing.get_con*
        multiprocessing.context* multiprocessing.managers* multiprocessing.process*
        multiprocessing.shared_memory*
        os.fork* os.popen* os.posix_spawn* os.spawn* os.execl* os.execv*
    """,
    "switches of torch's modes and kernels": """
        torch._C.*Disable* torch._C._*mode* torch._C._dispatch* torch._C._set_*
        torch._C._len_torch_* torch._C._pop_* torch._C._jit* torch.overrides._*
        torch.utils._python_dispatch* torch.library* worker.*
    """,
    "objects and frames of the caller": """
        gc.get_objects* gc.get_referrers* gc.get_referents* gc.unfreeze* gc.callbacks*
        sys._getframe* sys._current_frames* sys.settrace* sys.setprofile* sys.monitoring*
        sys.meta_path* sys.path_hooks*
        inspect.currentframe* inspect.stack* inspect.trace* inspect.getouterframes*
        traceback.walk_stack*
        .tb_frame .f_back .f_globals .f_locals .f_builtins .gi_frame .cr_frame .ag_frame
        .__globals__ .__closure__ .__builtins__ .__subclasses__ .cell_contents
    """,
    "code from strings and files, which cannot be read in advance": """
        importlib.import_module* importlib.__import__* importlib.reload* importlib.machinery*
        importlib.abc* importlib.util.[!f]* importlib._* _frozen_importlib* _imp.* imp.*
        zipimport* pkgutil* runpy* marshal* __import__ __builtins__* __loader__*
        builtins.__import__* builtins.eval* builtins.exec* builtins.compile* eval exec compile
    """,
}
EVASIONS = tuple(name for names in _EVASION_GROUPS.values() for name in names.split())
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
    sources: Sources, rules: Mapping[str, Rules], replaced: Collection[str] = ()
) -> dict[str, Refusal]:
    """Map exercises to their first evasion, forbidden name or file that cannot be analysed.

    replaced: functions of the module that correct versions replace, so they are not analysed
    """
    for_all = _first(_evasions(sources.on_import())) or _unreadable(sources)
    found: dict[str, Refusal] = {}
    for exercise, own in rules.items():
        by_name, on_import = sources.reached(exercise, replaced)
        refusal = for_all or _first(_evasions(by_name)) or _first(_evasions(on_import))
        refusal = refusal or _first(_names(by_name, own.source_not_allowed))
        refusal = refusal or _unreadable(sources)
        if refusal is not None:
            found[exercise] = refusal
    return found


def missing_imports(
    sources: Sources, exercises: tuple[str, ...], libraries: tuple[str, ...]
) -> dict[str, Refusal]:
    """Map exercises to their first unguarded import of a library that is unavailable in grading."""
    for_all = _first(_absent(sources.on_import(), libraries))
    found = {}
    for exercise in exercises:
        by_name, on_import = sources.reached(exercise)
        refusal = for_all or _first(_absent(by_name, libraries))
        refusal = refusal or _first(_absent(on_import, libraries))
        if refusal is not None:
            found[exercise] = refusal
    return found


def plain_calls(sources: Sources, rules: Mapping[str, Rules]) -> dict[str, Refusal]:
    """Map exercises to the first forbidden call in the code that they reach."""
    found = {}
    for exercise, own in rules.items():
        by_name, _ = sources.reached(exercise)
        refusal = _first(_calls(by_name, own.not_allowed, sources))
        if refusal is not None:
            found[exercise] = refusal
    return found


def call_in_words(name: str) -> str:
    return (
        f"`{name[:60]}` does the exercise for you. It is not allowed this week and costs all "
        "points of this exercise."
    )


def _first(found: Iterator[Refusal]) -> Refusal | None:
    return min(found, key=lambda r: (r.file, r.line), default=None)


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


def _unreadable(sources: Sources) -> Refusal | None:
    if not sources.unreadable:
        return None
    return Refusal(
        "unreadable",
        sources.unreadable,
        sources.unreadable,
        0,
        f"{sources.unreadable[:60]} cannot be analysed: it is nested too deeply, or it and its "
        f"imports contain more than {MAX_TOKENS} words and symbols. Submit functions, no data.",
    )


def _refusal(kind: Kind, name: str, use: Use | Imported, reason: str) -> Refusal:
    return Refusal(kind, name, use.file, use.line, f"`{name[:60]}` ({_place(use)}) {reason}")


def _place(use: Use | Imported) -> str:
    return f"{use.file[:60]}, line {use.line}"
