"""Why a submitted module cannot be imported, as one sentence with the line and a caret.

`check` imports the module in a process on the student's machine, the grader in its sandbox. Both
describe what happened as an `ImportFailure`, and the words come from here, so a student reads the
same sentence everywhere. At import no test has called anything, so nothing needs to be withheld.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping

import msgspec

# The end of the sentence where nothing is known but that the import went on.
STUCK = "its import did not end in time. Is there a loop that never ends, or a long wait?"
_LONGEST = 300  # characters of Python's message
_WIDEST = 72  # characters of the source line
_NOTEBOOK = "`%` and `!` commands work only in a notebook"
_CIRCULAR = re.compile(
    r"cannot import name '([^']+)' from (partially initialized module )?'([^']+)'"
)
# What a stub imports, by the names that code uses.
_IMPORTED = re.compile(r"name '(?:torch|np|math|nn|F|plt|tl|triton)' is not defined")
_EXITS = ("name 'exit' is not defined", "name 'quit' is not defined")
_MEMORY = ("can't allocate memory", "out of memory", "Unable to allocate")
_SYNTAX = ("SyntaxError", "IndentationError", "TabError")


class ImportFailure(msgspec.Struct, frozen=True):
    """What ended an import, and where in the student's files.

    error: the exception's type, or "" if the message is a whole clause. file: "" if it is the
    module itself. line and column: from 1, or 0 if unknown.
    """

    error: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0


def explained(module: str, failure: ImportFailure, files: Mapping[str, str]) -> str:
    """Return the sentence, followed by the source line with a caret if the line is known."""
    file = failure.file or module
    lines = files.get(file, "").split("\n")
    known = 1 <= failure.line <= len(lines)
    code = lines[failure.line - 1].rstrip() if known else ""
    place = f"line {failure.line}{f' of {file}' if file != module else ''}, " if known else ""
    sentence = f"{module} does not run: {place}{_problem(module, failure, code)}"
    column = failure.column if failure.error != "ImportTimeout" else 0  # a chance one
    return "\n".join([sentence, *_excerpt(code, column)])


def ended(signal: str) -> str:
    """The end of the sentence where the process that imported the module has ended."""
    if not signal:
        return "it ends Python (`os._exit()`)"
    return (
        f"Python itself crashed ({signal}) in compiled code, so there is no exception and no line"
    )


def _problem(module: str, failure: ImportFailure, code: str) -> str:
    message = _printable(failure.message.strip().split("\n")[0])[:_LONGEST]
    message = message.replace("`", "'")  # what stands in these is code, in the sentences below
    if failure.error in _SYNTAX:
        return message + _advice(failure.error, code)
    if failure.error == "EOFError" and message == "EOF when reading a line":
        return "`input()` waits for somebody to type, and nobody does during a check or grading"
    if failure.error == "ImportTimeout":
        return f"still running after {message} of processor time. Is there a loop that never ends?"
    # `exit` comes with an interactive Python, which the sandbox's is not
    if failure.error == "SystemExit" or message in _EXITS:
        return "it ends Python (`exit()`, `quit()` or `sys.exit()`)"
    if failure.error == "MemoryError" or any(sign in message for sign in _MEMORY):
        return "it asks for more memory than it may use"
    circular = _CIRCULAR.match(message) if failure.error == "ImportError" else None
    if circular and (circular[2] or f"{circular[3]}.py" == module):
        return (
            f"it imports `{circular[1]}` from {circular[3]}.py, which is still being imported "
            "(circular import)"
        )
    if failure.error == "NameError" and _IMPORTED.match(message):
        message += " (is its import missing?)"
    return ": ".join(filter(None, (failure.error, message)))


def _advice(error: str, code: str) -> str:
    """What a syntax error most likely is where Python's message does not say so."""
    start = code.lstrip()
    if start.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return " (a merge conflict is left in the file: keep one side and delete these marks)"
    if start.startswith(("%", "!")):
        return f" ({_NOTEBOOK})"
    return " (indent with spaces only, no tabs)" if error == "TabError" else ""


def _excerpt(code: str, column: int) -> list[str]:
    """The line without its indent, and below it a caret at the column, if that is in the line."""
    shown = code.lstrip()
    if not shown:
        return []
    at = column - 1 - (len(code) - len(shown))
    at = at if 0 <= at <= len(shown) else 0  # of an indent Python tells the end of the line
    first = max(0, at - _WIDEST // 2) if len(shown) > _WIDEST else 0
    return [f"    {_printable(shown[first : first + _WIDEST])}", f"    {' ' * (at - first)}^"]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in text)


def not_text(module: str, content: bytes) -> str:
    """Return the sentence for a file that is not UTF-8 text, or "" if it is."""
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
        # Python would read another source than we do
        return f"{module} does not run: it declares the encoding {encoding}. {again}"
    return ""
