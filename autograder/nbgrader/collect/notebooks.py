"""What a student's notebook tells beside its answers: cells that were changed, code that belongs
into the module.

Theory of operation. The notebook is a stranger's. It is read within bounds and parsed, never run;
whatever cannot be read is passed over, for the grade does not depend on it. Each pair of braces
becomes an object of half a kilobyte, so what is parsed is weighed before (`text_of`). RestoreCells
mends the cells themselves; here it is only told. Code is taken from a notebook where course.yaml
says so (`modules_from_notebook`), and then nothing but imports, functions, classes and plain
constants: what else stands in a notebook draws pictures or runs trainings.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...model.course.loader import Week
from ...model.notes import Note
from ...model.source.reachable import MOST_SIGNS, signs_in

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")  # kept in answers
_BOUND = 24 << 20
# What the parts of a notebook take once they are read, and how much of that is read at all.
_BYTES_OF = {"{": 500, "[": 150, ",": 50, ":": 50, '"': 50}
_OTHERS = bytes(sign for sign in range(256) if chr(sign) not in _BYTES_OF)
_MOST_BYTES = 32 << 20
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_CELLS = 1000
# Escapes in JSON: backslashes, a pair of surrogates, and half of such a pair.
_ESCAPES = re.compile(
    r"((?:\\\\[^\\]*+)++|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MAGIC = re.compile(r"^\s*[%!?].*$", re.MULTILINE)
_DEFINES = re.compile(r"\b(?:def|class)\b")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read_cells(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook, as far as they can be read."""
    try:
        cells = json.loads(text_of(path)).get("cells", [])
        return [c for c in cells[:_CELLS] if isinstance(c, dict)]
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return []


def text_of(path: Path) -> str:
    """A notebook's text; ValueError if it is none, or more than a notebook can need."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _BOUND:
        raise ValueError(f"{path.name} is no file of a notebook's size")
    return text_in(path.read_bytes(), path.name)


def text_in(data: bytes, name: str) -> str:
    """Return a notebook's bytes as text; raise ValueError if they hold more than a notebook can.

    Half of an emoji, which an editor can leave, becomes a replacement character, because no file
    and no gradebook can store it.
    """
    if len(data) > _BOUND:
        raise ValueError(f"{name} is larger than a notebook can be")
    everywhere, quotes = _weights(data)
    text = data.decode("utf-8")
    if _HALF.search(data):
        text = _ESCAPES.sub(lambda found: found[1] or "\\ufffd", text)
    del data
    if everywhere <= _MOST_BYTES:  # whatever of it stands in strings
        return text
    outside = text if quotes > _MOST_BYTES else _STRING.sub("", text)
    if quotes + sum(outside.count(sign) * _BYTES_OF[sign] for sign in "{[,:") > _MOST_BYTES:
        raise ValueError(f"{name} holds more parts than a notebook does")
    return text


def _weights(data: bytes) -> tuple[int, int]:
    """What all signs of a text weigh, and the quotation marks alone."""
    signs = data.translate(None, _OTHERS)  # once through it, and not once for each
    weights = {sign: signs.count(sign.encode()) * weight for sign, weight in _BYTES_OF.items()}
    return sum(weights.values()), weights['"']


def cell_notes(own: list[dict[str, Any]], released: list[dict[str, Any]], week: Week) -> list[Note]:
    """Graded cells that were deleted, doubled or, if they are locked, edited."""
    handed_out = {_grade_id(c): c for c in released if _grade_id(c)}
    times = Counter(_grade_id(c) for c in own)
    found: dict[str, Any] = {}
    for cell in own:
        found.setdefault(_grade_id(cell), cell)
    notes = []
    for name, original in handed_out.items():
        answer = original["metadata"]["nbgrader"].get("solution")
        what = f"the cell of your answer `{name}`" if answer else f'the cell `check("{name}")`'
        if name not in found:
            tail = "without an answer" if answer else "your points do not depend on it"
            text = f"In your notebook {what} is gone. It was put back, {tail}."
            notes.append(Note("deleted", text))
        elif times[name] > 1:
            text = f"In your notebook {what} stands twice: the first counts."
            notes.append(Note("doubled", text))
        elif not answer and _source(found[name]).strip() != _source(original).strip():
            notes.append(
                Note(
                    "edited",
                    f"In your notebook {what} was changed, and put back as it was. "
                    f"Only {week.module} is graded: write your code there.",
                )
            )
    return notes


def unwritten(week: Week, module: str, stub: str) -> set[str]:
    """The exercises that a module leaves as they were handed out, or does not have."""
    own, handed_out = _definitions(module), _definitions(stub)
    return {
        e.name
        for e in week.exercises
        if e.name not in own
        or (
            e.name in handed_out and _written(ast.dump, own[e.name]) == ast.dump(handed_out[e.name])
        )
    }


def written_in(cells: list[dict[str, Any]], names: set[str]) -> list[str]:
    """Which of these exercises a notebook's code defines, in the order of its cells."""
    code = (c for c in cells if c.get("cell_type") == "code")
    defining = [c for c in code if _defines(_source(c))]  # parsing them all takes a while
    defined = (n.name for n in _statements(defining) if isinstance(n, _Definition))
    return [name for name in dict.fromkeys(defined) if name in names]


def _defines(source: str) -> bool:
    """Return whether something is defined; to look for words where none is takes the longest."""
    return ("def" in source or "class" in source) and bool(_DEFINES.search(source))


def code_note(week: Week, names: list[str]) -> Note:
    listed = ", ".join(f"`{name}`" for name in names)
    belong = "it belongs" if len(names) == 1 else "they belong"
    return Note(
        "code",
        f"Your notebook defines {listed}, and {week.module} does not: {belong} into {week.module}. "
        "Nothing in the notebook was graded.",
    )


def taken_note(week: Week, names: list[str]) -> Note:
    listed = ", ".join(f"`{name}`" for name in names)
    return Note(
        "taken",
        f"{week.module} does not define {listed}: what your notebook defines was graded instead.",
    )


def with_notebook(module: str, cells: list[dict[str, Any]], names: list[str], week: Week) -> str:
    """The module with these exercises as the notebook defines them, and what they may need."""
    own = _definitions(module)
    kept = [
        _written(ast.unparse, node)
        for node in _statements(cells)
        if _is_plain(node, week)
        and not (isinstance(node, _Definition) and node.name in own and node.name not in names)
    ]
    return "\n\n".join([module.rstrip("\n"), "# From the notebook.", *filter(None, kept)]) + "\n"


def _written(write: Callable[[ast.AST], str], node: ast.AST) -> str:
    """A tree as text; nothing if it is deeper, or a number of it longer, than Python writes."""
    try:
        return write(node)
    except (RecursionError, ValueError):
        return ""


def _is_plain(node: ast.stmt, week: Week) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] not in (week.stem, "autograder")
    if isinstance(node, ast.Import):
        return all(a.name.split(".")[0] not in (week.stem, "autograder") for a in node.names)
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, _Definition)


def _statements(cells: list[dict[str, Any]]) -> Iterator[ast.stmt]:
    signs = 0
    for cell in cells:
        if cell.get("cell_type") != "code":
            continue
        source, own = _code_of(_source(cell))
        signs += own
        if signs > MOST_SIGNS:
            return
        yield from _parsed(source)


@lru_cache(maxsize=256)
def _code_of(source: str) -> tuple[str, int]:
    """A cell's code without the notebook's own commands, and how many signs it has."""
    code = _MAGIC.sub("", source)
    return code, signs_in(code)


@lru_cache(maxsize=256)  # most cells are as they were handed out, to everybody
def _parsed(source: str) -> tuple[ast.stmt, ...]:
    try:
        return tuple(ast.parse(source).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _definitions(source: str) -> Mapping[str, ast.stmt]:
    return {n.name: n for n in _parsed(source) if isinstance(n, _Definition)}


def _grade_id(cell: Mapping[str, Any]) -> str:
    metadata = cell.get("metadata")
    grading = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if not isinstance(grading, dict) or not grading.get("grade"):
        return ""
    name = grading.get("grade_id")
    return name if isinstance(name, str) else ""


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
