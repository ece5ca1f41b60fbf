"""Read students' notebooks within limits, and report changed cells and misplaced code.

Notebooks are not trusted, so they are parsed within limits and never run. Parsing needs half a
kilobyte for each pair of braces, so `text_in` first estimates the memory that parsing would need.
Unreadable cells are ignored, because they do not affect the automatic scores. `cell_repair` repairs
the cells that are reported here.
"""

import ast
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...batch.module_name import as_utf8
from ...model.course import Week
from ...model.source.reachable import MAX_TOKENS, count_tokens
from ...model.submission_files import Note

DATA_URL = re.compile(r"\((data:image/[a-z+]+;base64,[A-Za-z0-9+/]+={0,2})\)")
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")  # media types allowed in answers
_BOUND = 24 << 20
# Estimated bytes of memory that parsing needs for each occurrence of these characters.
_BYTES_OF = {"{": 500, "[": 150, ",": 50, ":": 50, '"': 50}
_OTHERS = bytes(sign for sign in range(256) if chr(sign) not in _BYTES_OF)
_MOST_BYTES = 32 << 20  # limit on the estimate for a notebook
# Matches a string. Group 1 is an unterminated string, which would otherwise take quadratic time.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|(".*+)', re.DOTALL)
CELLS = 1000  # ungraded cells beyond this number are ignored
# Matches an unpaired surrogate. Group 1 is text to skip: escaped backslashes and surrogate pairs.
_ESCAPES = re.compile(
    r"((?:\\\\[^\\]*+)++|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MAGIC = re.compile(r"^[^\S\n]*+[%!?].*$", re.MULTILINE)
_DEFINES = re.compile(r"\b(?:def|class)\b")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read_cells(path: Path) -> list[dict[str, Any]]:
    """Return a notebook's readable cells, or [] if the file is unreadable or too large."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _BOUND:
            return []
        cells = json.loads(text_in(path.read_bytes(), path.name)).get("cells", [])
        found = [c for c in cells if isinstance(c, dict)]
        return [c for n, c in enumerate(found) if n < CELLS or grade_id(c)]
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return []


def text_in(data: bytes, name: str) -> str:
    """Decode a notebook. Raise ValueError if parsing the notebook would need too much memory.

    Unpaired surrogates, which some editors write, become replacement characters, because neither
    files nor the gradebook can store surrogates. UTF-16 is accepted, as it is for modules.
    """
    if len(data) > _BOUND:
        raise ValueError(f"{name} is too large for a notebook")
    data = as_utf8(data)
    everywhere, quotes = _weights(data)
    text = data.decode("utf-8-sig")
    if _HALF.search(data):
        text = _ESCAPES.sub(lambda found: found[1] or "\\ufffd", text)
    del data
    if everywhere <= _MOST_BYTES:
        return text
    if quotes > _MOST_BYTES or everywhere - _weight_in_strings(text) > _MOST_BYTES:
        raise ValueError(f"{name} has too many parts for a notebook")
    return text


def _weights(data: bytes) -> tuple[int, int]:
    """Estimate the bytes needed to parse a notebook; return the total and the part for strings."""
    signs = data.translate(None, _OTHERS)
    weights = {sign: signs.count(sign.encode()) * weight for sign, weight in _BYTES_OF.items()}
    return sum(weights.values()), weights['"']


def _weight_in_strings(text: str) -> int:
    """Return the part of the estimate that is due to braces, commas and colons inside strings."""
    signs = [(sign, weight) for sign, weight in _BYTES_OF.items() if sign != '"']
    strings = (found.span() for found in _STRING.finditer(text) if not found.lastindex)
    return sum(text.count(sign, *span) * weight for span in strings for sign, weight in signs)


def parse_notebook(data: bytes) -> Any:
    """Parse a notebook and convert it to nbformat 4; return None if it cannot be read."""
    import nbformat  # takes a second to import

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about cells that RestoreCells repairs
        try:
            notebook = _validated(nbformat.reader.reads(text_in(data, "the notebook")))
            return notebook if notebook.nbformat == 4 else _validated(nbformat.convert(notebook, 4))
        except Exception:  # nbformat raises many types of exceptions for damaged files
            return None


def _validated(notebook: Any) -> Any:
    """Return the notebook with ids for all cells, or raise an exception if it is invalid.

    `nbformat.validate` is not used, because it takes minutes to format thousands of errors.
    """
    from nbformat import reader, validator

    version, minor = reader.get_version(notebook)
    _, notebook = validator.normalize(notebook, version=version, version_minor=minor)
    validator.get_validator(version, minor, name="fastjsonschema").validate(notebook)
    return notebook


def grade_id(cell: Mapping[str, Any]) -> str:
    """Return nbgrader's name for a cell (`grade_id`), or "" if the cell has no valid name."""
    metadata = cell.get("metadata")
    grading = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = grading.get("grade_id") if isinstance(grading, dict) else None
    return name if isinstance(name, str) else ""


def first_cells(
    cells: Iterable[Any], released: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the first cell with each grade id, by id.

    If that cell is empty or unchanged from `released`, prefer the first edited duplicate.
    """
    found: dict[str, Any] = {}
    for cell in cells:
        if name := grade_id(cell):
            first, original = found.setdefault(name, cell), released.get(name)
            if _is_unwritten(first, original) and not _is_unwritten(cell, original):
                found[name] = cell
    return found


def _is_unwritten(cell: Any, released: Any) -> bool:
    if released is None or pictures_of(cell):
        return False
    return source_of(cell).strip() in ("", source_of(released).strip())


def source_of(cell: Mapping[str, Any]) -> str:
    return joined(cell.get("source", ""))


def joined(text: Any) -> str:
    """Return a notebook's text as one string; notebooks may store it as a list of lines."""
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def pictures_of(cell: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the pictures attached to a cell, by file name and media type."""
    attached = cell.get("attachments")
    kept = {
        name: {kind: data for kind, data in bundle.items() if kind in PICTURES}
        for name, bundle in (attached.items() if isinstance(attached, dict) else ())
        if isinstance(bundle, dict)
    }
    return {name: bundle for name, bundle in kept.items() if bundle}


def cell_notes(
    cells: list[dict[str, Any]], released: list[dict[str, Any]], week: Week
) -> Iterator[Note]:
    """Yield notes about graded cells that the student deleted, duplicated or edited."""
    originals = first_cells(released)
    found, times = first_cells(cells, originals), Counter(map(grade_id, cells))
    for name, original in originals.items():
        answer = original["metadata"]["nbgrader"].get("solution")
        what = f"the cell of your answer `{name}`" if answer else f'the cell `check("{name}")`'
        if name not in found:
            tail = "without an answer" if answer else "your points do not depend on it"
            text = f"In your notebook, {what} was deleted. It was restored, {tail}."
            yield Note("deleted", text)
        elif times[name] > 1:
            text = f"In your notebook, {what} appears twice: the first one with changes counts."
            yield Note("doubled", text)
        elif not answer and source_of(found[name]).strip() != source_of(original).strip():
            yield Note(
                "edited",
                f"In your notebook, {what} was changed; it was restored. "
                f"Only {week.module} is graded: write your code there.",
            )


def unwritten(week: Week, module: str, stub: str) -> set[str]:
    """Return the exercises that a module does not define, or leaves as they are in the stub."""
    own, stubs = _definitions(module), _definitions(stub)
    return {
        e.name
        for e in week.exercises
        if e.name not in own
        or (e.name in stubs and _dumped(own[e.name]) == ast.dump(stubs[e.name]))
    }


def code_notes(cells: list[dict[str, Any]], module: str, stub: str, week: Week) -> Iterator[Note]:
    """Yield a note if the student has written exercises in the notebook but not in the module."""
    exercises = {e.name for e in week.exercises}
    names = [name for name in dict.fromkeys(_defined_in(cells)) if name in exercises]
    missing = unwritten(week, module, stub) if names else set()
    listed = ", ".join(f"`{name}`" for name in names if name in missing)
    if listed:
        yield Note(
            "code",
            f"Your notebook defines {listed}, but {week.module} does not. Move your code into "
            f"{week.module}: code in the notebook is not graded.",
        )


def _dumped(node: ast.AST) -> str:
    """Dump a syntax tree; return "" if it is too deep or contains a very long number."""
    try:
        return ast.dump(node)
    except (RecursionError, ValueError):
        return ""


def _defined_in(cells: list[dict[str, Any]]) -> Iterator[str]:
    signs = 0
    for cell in cells:
        if cell.get("cell_type") != "code" or not _DEFINES.search(source_of(cell)):
            continue  # parsing every cell would be slow
        source = _MAGIC.sub("", source_of(cell))
        signs += count_tokens(source)
        if signs > MAX_TOKENS:
            return
        yield from _definitions(source)


@lru_cache(maxsize=256)  # most cells are released cells, which all students share
def _definitions(source: str) -> Mapping[str, ast.stmt]:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {n.name: n for n in body if isinstance(n, _Definition)}
