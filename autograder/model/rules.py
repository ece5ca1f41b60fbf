"""What is not allowed, and what may be imported: one book for the grader, `check` and the stub.

Four kinds of rules:

- calls (`not_allowed` in course.yaml) would do the exercise. The worker sees them when they happen,
  whatever they are called; `check` looks for them in the source and while the public checks run;
- names in the source (`source_not_allowed`), where the point is to do without a library;
- evasions, in every exercise: ways to look away from the worker, which sees calls and counts work;
- imports: the standard library, the libraries named here, and the files that are handed in.

The last three are read from the source by the same code wherever they are asked for. This is a
fence, not a wall: code that wants to look away finds a spelling that no list holds, and the threat
model says so.
"""

from __future__ import annotations

import fnmatch
import io
import re
import sys
import tokenize
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Literal

import msgspec

from ..worker.names import matches
from .sources import MOST_SIGNS, Sources
from .uses import Imported, Part, Use

# What may be imported besides the standard library and one's own files: always, and where a week
# has an exercise that needs the extra.
LIBRARIES = ("torch", "numpy", "matplotlib")
OF_EXTRAS = {
    "keras": ("keras",),
    "text": ("transformers", "tokenizers"),
    "triton": ("triton",),
}

# What runs inside of a kernel is no call of a library's that does the exercise.
_WITHIN = "triton."

# Ways past the modes and kernels that watch the calls. What only looks like one is not here:
# `gc.collect`, `sys.modules`, `inspect.signature`, an import that nothing uses.
EVASIONS = (
    "ctypes*",
    "_ctypes*",
    # a thread or process of its own is watched by nobody
    "threading.Thread*",
    "threading.Timer*",
    "_thread.start*",
    *(f"multiprocessing.{n}*" for n in ("Process", "Pool", "pool", "dummy", "Manager", "get_con")),
    *(f"multiprocessing.{n}*" for n in ("context", "managers", "process", "shared_memory")),
    "concurrent.futures*",
    "subprocess*",
    "os.fork*",
    "os.popen*",
    "os.posix_spawn*",
    "os.spawn*",
    "os.execl*",
    "os.execv*",
    # what torch has to switch its own modes and kernels
    "torch._C.*Disable*",
    "torch._C._*mode*",
    "torch._C._dispatch*",
    "torch._C._set_*",
    "torch._C._len_torch_*",
    "torch._C._pop_*",
    "torch._C._jit*",
    "torch.overrides._*",
    "torch.utils._python_dispatch*",
    "torch.library*",
    "worker.*",
    # the objects and frames of whoever called
    "gc.get_objects*",
    "gc.get_referrers*",
    "gc.get_referents*",
    "gc.unfreeze*",
    "gc.callbacks*",
    "sys._getframe*",
    "sys._current_frames*",
    "sys.settrace*",
    "sys.setprofile*",
    "sys.monitoring*",
    "sys.meta_path*",
    "sys.path_hooks*",
    "inspect.currentframe*",
    "inspect.stack*",
    "inspect.trace*",
    "inspect.getouterframes*",
    "traceback.walk_stack*",
    ".tb_frame",
    ".f_back",
    ".f_globals",
    ".f_locals",
    ".f_builtins",
    ".gi_frame",
    ".cr_frame",
    ".ag_frame",
    ".__globals__",
    ".__closure__",
    ".__builtins__",
    ".__subclasses__",
    ".cell_contents",
    # text and files that are run as code, which nobody can read beforehand
    *(f"importlib.{n}*" for n in ("import_module", "__import__", "reload", "machinery", "abc")),
    "importlib.util.[!f]*",
    "importlib._*",
    "_frozen_importlib*",
    "_imp.*",
    "imp.*",
    "zipimport*",
    "pkgutil*",
    "runpy*",
    "marshal*",
    "__import__",
    "__builtins__*",
    "__loader__*",
    "builtins.__import__*",
    "builtins.eval*",
    "builtins.exec*",
    "builtins.compile*",
    "eval",
    "exec",
    "compile",
)
_EVASION = re.compile("|".join(fnmatch.translate(p) for p in EVASIONS))

# Without one of these in the text, no name in it is an evasion: most sources need no closer look.
# fmt: off
_SIGNS = (
    "ctypes", "hread", "multiprocessing", "futures", "subprocess", "fork", "popen", "spawn",
    "execl", "execv", "_C", "overrides", "_dispatch", "library", "get_objects", "get_refer",
    "unfreeze", "callbacks", "_getframe", "_frame", "settrace", "setprofile", "monitoring",
    "meta_path", "path_hooks", "inspect", "walk_stack", "f_back", "f_locals", "f_globals",
    "f_builtins", "__globals__", "__closure__", "__builtins__", "__subclasses__", "cell_contents",
    "importlib", "zipimport", "pkgutil", "runpy", "marshal", "__import__", "__loader__",
    "builtins", "worker",
)
# fmt: on
# Words that honest sources hold too, as `model.eval` and `re.compile`.
_WORDS = re.compile(r"(?<![.\w])(?:eval|exec|compile|imp|_imp)\b")
_ENCODINGS = ("utf-8", "utf-8-sig", "ascii", "iso-8859-1", "cp1252")
Kind = Literal["call", "name", "evasion", "import", "unreadable"]


class Rules(msgspec.Struct, frozen=True):
    """What holds for one exercise."""

    not_allowed: tuple[str, ...] = ()
    source_not_allowed: tuple[str, ...] = ()


class Refusal(msgspec.Struct, frozen=True):
    """Something in the source that is not allowed: what, where, and in words for the student."""

    kind: Kind
    name: str
    file: str
    line: int
    message: str


def libraries(extras: tuple[str, ...]) -> tuple[str, ...]:
    """What may be imported where these extras are asked for."""
    return LIBRARIES + tuple(m for e in extras for m in OF_EXTRAS.get(e, ()))


def may_import(extras: tuple[str, ...]) -> str:
    """The sentence that tells students what may be imported."""
    *most, last = [f"`{name}`" for name in libraries(extras)]
    return (
        f"You may import Python's standard library, {', '.join(most)} and {last}, and files of "
        "your own that you hand in."
    )


def in_words(extras: tuple[str, ...]) -> str:
    """What may be imported, and that there is nothing else."""
    return f"{may_import(extras)} Nothing else is there when your work is graded."


def texts_of(files: Mapping[str, bytes]) -> dict[str, str | None]:
    """The Python files as Python itself would read them; None for one in a rare encoding."""
    return {n: _text(content) for n, content in files.items() if n.endswith(".py")}


def _text(content: bytes) -> str | None:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding) if encoding in _ENCODINGS else None
    except (SyntaxError, UnicodeError):
        return ""  # the import will tell


def may_be_evasive(texts: Mapping[str, str | None]) -> bool:
    """Whether a look at these files could find an evasion: cheap, and never wrong with no."""
    return any(t is None or _may_hold_one(_as_python_reads(t)) for t in texts.values())


def _may_hold_one(text: str) -> bool:
    return any(sign in text for sign in _SIGNS) or _WORDS.search(text) is not None


def _as_python_reads(text: str) -> str:
    """Text in which names stand as Python takes them: wide, bold and joined letters are plain."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def refusals(
    sources: Sources, rules: Mapping[str, Rules], replaced: Collection[str] = ()
) -> dict[str, Refusal]:
    """What the grader refuses without running anything: the first finding of each exercise.

    replaced: functions of the module whose own code does not run
    """
    at_once = _first(_evasions(sources.on_import()))
    found: dict[str, Refusal] = {}
    for exercise, own in rules.items():
        by_name, on_import = sources.reached(exercise, replaced)
        refusal = at_once or _first(_evasions(by_name)) or _first(_evasions(on_import))
        refusal = refusal or _first(_names(by_name, own.source_not_allowed))
        refusal = refusal or _unreadable(sources)
        if refusal is not None:
            found[exercise] = refusal
    return found


def missing_imports(
    sources: Sources, exercises: tuple[str, ...], extras: tuple[str, ...]
) -> dict[str, Refusal]:
    """By exercise, the first import of what is not there when work is graded."""
    at_once = _first(_absent(sources.on_import(), extras))
    found = {}
    for exercise in exercises:
        by_name, on_import = sources.reached(exercise)
        refusal = at_once or _first(_absent(by_name, extras)) or _first(_absent(on_import, extras))
        if refusal is not None:
            found[exercise] = refusal
    return found


def plain_calls(sources: Sources, rules: Mapping[str, Rules]) -> dict[str, Refusal]:
    """By exercise, the first call that would do it, as far as the source shows it plainly."""
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
            yield _refusal(
                "evasion",
                use,
                "does what the grader cannot follow. An exercise is plain tensor code: remove it.",
            )


def _names(part: Part, patterns: tuple[str, ...]) -> Iterator[Refusal]:
    for use in part.uses if patterns else ():
        if any(fnmatch.fnmatchcase(use.name, p) for p in patterns):
            name = use.name[:60]
            message = f"Write this exercise without `{name}` ({_place(use)}): see its "
            yield Refusal(
                "name", use.name, use.file, use.line, message + "docstring for what may be used."
            )


def _calls(part: Part, patterns: tuple[str, ...], sources: Sources) -> Iterator[Refusal]:
    for use in part.uses if patterns else ():
        last = use.name.rpartition(".")[2]
        own = use.name.startswith(".") and sources.is_own_method(last)
        if use.name.startswith(_WITHIN) or not use.called or "." not in use.name or own:
            continue
        if matches(last, patterns) or matches(use.name, patterns):
            name = use.name.lstrip(".")
            yield Refusal("call", name, use.file, use.line, call_in_words(name))


def _absent(part: Part, extras: tuple[str, ...]) -> Iterator[Refusal]:
    there = {*libraries(extras), *sys.stdlib_module_names}
    for wanted in part.imports:
        top = wanted.module.split(".")[0]
        if not wanted.guarded and top not in there:
            yield _refusal(
                "import",
                wanted,
                "is not there when your work is graded. " + may_import(extras),
                name=top,
            )


def _unreadable(sources: Sources) -> Refusal | None:
    if not sources.unreadable:
        return None
    return Refusal(
        "unreadable",
        sources.unreadable,
        sources.unreadable,
        0,
        f"{sources.unreadable[:60]} cannot be read: it is nested too deeply, or it and what it "
        f"imports hold more than {MOST_SIGNS} words and signs. Hand in your functions and no data.",
    )


def _refusal(kind: Kind, use: Use | Imported, said: str, name: str = "") -> Refusal:
    name = name or (use.name if isinstance(use, Use) else use.module)
    return Refusal(kind, name, use.file, use.line, f"`{name[:60]}` ({_place(use)}) {said}")


def _place(use: Use | Imported) -> str:
    return f"{use.file[:60]}, line {use.line}"
