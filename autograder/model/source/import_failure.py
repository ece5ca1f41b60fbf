"""Explain why a submitted module cannot be imported: a sentence, the source line and a caret.

`check` imports the module on the student's machine, and the grader imports it in the sandbox. Each
of them describes a failure as an `ImportFailure` and explains it with the sentences here, so
students always read the same text. A sentence may contain Python's error message, because no hidden
test has run. Text that the submission controls, such as an exception's message, is quoted.
"""

import io
import re
import tokenize
from collections.abc import Mapping, Sequence

import msgspec

from ..message_text import quoted

# The end of the sentence about an import that timed out.
STUCK = "its import did not finish in time. Is there a loop that never ends, or a long wait?"
_MAX_MESSAGE = 300  # characters of Python's message
_MAX_WIDTH = 72  # characters of the source line
# Advice about a line that is not Python, by its beginning.
_BEGINNINGS = (
    (
        ("<<<<<<<", "=======", ">>>>>>>"),
        "an unresolved merge conflict: keep one side and delete these marks",
    ),
    (("%", "!"), "`%` and `!` commands work only in a notebook"),
    (("```",), "a mark of Markdown: delete it"),
    (("<",), "this is a web page: download the file itself"),
)
_CIRCULAR = re.compile(
    r"cannot import name '([^']+)' from (partially initialized module )?'([^']+)'"
)
# Matches the message of a NameError about a name that stubs usually import.
_IMPORTED = re.compile(r"name '(?:torch|np|math|nn|F|plt|tl|triton)' is not defined")
_SIMPLE = re.compile(r"[A-Za-z_][\w./-]{0,60}", re.ASCII)
_SECONDS = re.compile(r"[\d.]+ seconds")
_EXITS = ("name 'exit' is not defined", "name 'quit' is not defined")
_MEMORY = ("can't allocate memory", "out of memory", "Unable to allocate")
_SYNTAX = ("SyntaxError", "IndentationError", "TabError")


class ImportFailure(msgspec.Struct, frozen=True):
    """The exception that ended an import, and its position in the student's files."""

    error: str  # the exception's type, or "" if `message` already completes the sentence
    message: str
    file: str = ""  # "" for the module itself
    line: int = 0  # counted from 1; 0 if unknown
    column: int = 0  # counted from 1; 0 if unknown


def explained(module: str, failure: ImportFailure, files: Mapping[str, str]) -> str:
    """Explain the failure in a sentence; add the source line with a caret if the line is known."""
    file = failure.file or module
    lines = files.get(file, "").split("\n")
    known = 1 <= failure.line <= len(lines)
    lines = lines[: failure.line] if known else []
    code = lines[-1].rstrip() if known else ""
    of = "" if file == module else f" of {file if _SIMPLE.fullmatch(file) else quoted(file)}"
    place = f"line {failure.line}{of}, " if known else ""
    sentence = f"{module} does not run: {place}{_problem(module, failure, lines)}"
    column = failure.column if failure.error != "ImportTimeout" else 0  # arbitrary after a timeout
    return "\n".join([sentence, *_excerpt(code, column)])


def ended(signal: str) -> str:
    """Return the end of the sentence for an import whose process exited, or died of `signal`."""
    if not signal:
        return "it ends Python (`os._exit()`)"
    return f"Python itself crashed ({signal}) in compiled code, without an exception or a line"


def _problem(module: str, failure: ImportFailure, lines: Sequence[str]) -> str:
    """Complete the sentence. `lines`: those of the file, up to the line of the failure."""
    message = _printable(failure.message.strip().split("\n")[0])[:_MAX_MESSAGE]
    if not failure.error:
        return message
    if failure.error in _SYNTAX:
        return quoted(message) + _advice(failure.error, message, lines)
    if failure.error == "EOFError" and message == "EOF when reading a line":
        return "`input()` waits for keyboard input, which checks and grading do not have"
    if failure.error == "ImportTimeout" and _SECONDS.fullmatch(message):
        return f"still running after {message} of processor time. Is there a loop that never ends?"
    # in the sandbox, `exit` and `quit` are not defined and raise NameError
    if failure.error == "SystemExit" or message in _EXITS:
        return "it ends Python (`exit()`, `quit()` or `sys.exit()`)"
    if failure.error == "MemoryError" or any(sign in message for sign in _MEMORY):
        return "it needs more memory than is allowed"
    circular = _CIRCULAR.match(message) if failure.error == "ImportError" else None
    if circular and (circular[2] or f"{circular[3]}.py" == module):
        return (
            f"it imports {quoted(circular[1])} from {quoted(f'{circular[3]}.py')}, which is still "
            "being imported (circular import)"
        )
    error = failure.error if _SIMPLE.fullmatch(failure.error) else "an exception"
    said = f"{error}: {quoted(message)}" if message else error
    if failure.error == "NameError" and _IMPORTED.match(message):
        return f"{said} (is its import missing?)"
    if failure.error == "ModuleNotFoundError":
        return f"{said} (a misspelled name, a missing file, or a library that is not installed?)"
    return said


def _advice(error: str, message: str, lines: Sequence[str]) -> str:
    """Return advice about a syntax error in the last of these lines in parentheses, or ""."""
    start = lines[-1].lstrip() if lines else ""
    advice = next((a for beginnings, a in _BEGINNINGS if start.startswith(beginnings)), "")
    if error == "TabError":
        tabs = [n for n, line in enumerate(lines, start=1) if re.match(r" *\t", line)]
        at = f"; line {tabs[-1]} has a tab" if tabs and tabs[-1] < len(lines) else ""
        advice = f"indent with spaces only, no tabs{at}"
    elif "U+00A0" in message:
        advice = "a character that only looks like a space: delete it and type a space"
    return f" ({advice})" if advice else ""


def _excerpt(code: str, column: int) -> list[str]:
    shown = code.lstrip()
    if not shown:
        return []
    at = column - 1 - (len(code) - len(shown))
    if not 0 <= at <= len(shown):  # Python reports the end of the line for indentation errors
        at = 0
    first = max(0, at - _MAX_WIDTH // 2) if len(shown) > _MAX_WIDTH else 0
    return [f"    {_printable(shown[first : first + _MAX_WIDTH])}", f"    {' ' * (at - first)}^"]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in text)


def not_text(module: str, content: bytes) -> str:
    """Return a sentence that explains why a file is not UTF-8 text, or "" if it is."""
    again = "Save it again as UTF-8."
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"{module} does not run: it is saved as UTF-16. {again}"
    if (at := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, at) + 1
        return f"{module} does not run: line {line}, it contains a NUL byte. {again}"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return f"{module} does not run: line {line}, it is not saved as UTF-8 text. {again}"
    except SyntaxError as error:
        return f"{module} does not run: {error.msg}. {again}"
    if encoding not in ("utf-8", "utf-8-sig"):
        # Python would decode the source in the declared encoding
        return f"{module} does not run: it declares the encoding {encoding}. {again}"
    return ""
