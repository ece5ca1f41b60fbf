"""Nothing secret leaves: the check of every file before and after it is handed to nbgrader.

What is secret: the lines between BEGIN and END SOLUTION, the hidden graders, the misconceptions and
the alternatives of the week, and the sentences of its model answers. Text is compared without any
whitespace, so that wrapping, indenting or escaping a line in a notebook does not hide it; the check
looks into notebooks, JSON, and the text chunks of pictures. Three neighbouring short lines are as
secret as a long one. Lines that say little (short ones, imports) are not looked for, nor what the
stub itself shows. What the lesson and the public checks show on purpose, a bug to spot or an idiom,
may also stand in a misconception or an alternative, and as a single line, but not as two in a row,
in a hidden grader. It may not stand in a solution or in a model answer. An author may end a secret
line with `# public`, and it is none.

Not promised: a solution retold in other words or other names is not found.
"""

from __future__ import annotations

import json
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from ...model.course.loader import Course, Week
from ...model.course.stubs import stub_of
from ...model.errors import LeakError
from .marking_guide import answers_path, answers_text, secret_sentences

_BEGIN = re.compile(r"^\s*#+ BEGIN SOLUTION\s*$")
_END = re.compile(r"^\s*#+ END SOLUTION\s*$")
_PUBLIC = re.compile(r"#\s*public\s*$")
_SAYS_LITTLE = re.compile(r"^\s*(import|from)\s|^\s*(#+ )?(BEGIN|END) SOLUTION\s*$|^\W*$")
_TELLING = 24  # characters without whitespace from which a line is recognised as its author's
_PNG = b"\x89PNG\r\n\x1a\n"
_TEXT_CHUNKS = (b"tEXt", b"zTXt", b"iTXt", b"eXIf")


@dataclass(frozen=True)
class Secret:
    """A line, or a few in a row, that must not leave; `text` has no whitespace."""

    text: str
    origin: str


@dataclass(frozen=True)
class _Place:
    """A text with the line numbers of its characters, whitespace taken out."""

    where: str
    text: str
    starts: tuple[int, ...]

    def line(self, position: int) -> int:
        return bisect_right(self.starts, position)


def secrets_of(course: Course, week: Week, solved: str = "") -> tuple[Secret, ...]:
    """The secret lines of a week, each with the file and line where it stands.

    solved: what `release --solutions` hands out of the solution, which is no secret then.
    """
    stub = _squeezed(stub_of(course, week) + solved)
    spoken = "\0".join(_squeezed(t) for t in _public_texts(course, week))
    graders = list(_folder_lines(course, course.graders(week)))
    bank = course.solution_folder(week)
    strict = [_telling(block) for block in _solution_lines(course, week)]
    strict += [_in_a_row(block) for block in graders]
    lenient = [_telling(block) for block in graders]
    for folder in (bank / "misconceptions", bank / "alternatives"):
        lenient += [_telling(block) for block in _folder_lines(course, folder)]
    found: dict[str, Secret] = {}
    strict.append(_answer_sentences(course, week))
    for blocks, public in (strict, stub), (lenient, f"{stub}\0{spoken}"):
        for secret in chain.from_iterable(blocks):
            if secret.text not in public:
                found.setdefault(secret.text, secret)
    return tuple(found.values())


def check_files(files: Mapping[str, bytes], secrets: Iterable[Secret], shown: str) -> None:
    """Raise LeakError if a secret stands in one of the files; `shown` is what they lie in."""
    known = tuple(secrets)
    for name, content in files.items():
        for place in _places(f"{shown}/{name}", content):
            _check_place(place, known)


def check_folder(folder: Path, secrets: Iterable[Secret], expected: Iterable[str]) -> None:
    """The same for a folder, which must hold no file that was not asked for."""
    files = {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }
    if unknown := set(files) - set(expected):
        raise LeakError(
            f"{folder}/{min(unknown)}: this file is no part of the release, so nobody checked "
            "it: take it away and release again"
        )
    check_files(files, secrets, str(folder))


def _check_place(place: _Place, secrets: tuple[Secret, ...]) -> None:
    for secret in secrets:
        position = place.text.find(secret.text)
        if position >= 0:
            raise LeakError(
                f"{place.where}, line {place.line(position)}: this stands in {secret.origin}, "
                "which must not leave. Say it otherwise in one of the two; if students may see "
                "this line, end it in the secret file with `# public`"
            )


# What is secret


def _public_texts(course: Course, week: Week) -> Iterator[str]:
    folder = course.exercise_folder(week)
    for name in ("lesson.md", f"test_{week.stem}.py"):
        if (folder / name).is_file():
            yield (folder / name).read_text(encoding="utf-8")


_Line = tuple[str, str]  # text as written, origin


def _solution_lines(course: Course, week: Week) -> Iterator[list[_Line]]:
    path = course.solution(week)
    where = path.relative_to(course.root)
    block: list[_Line] = []
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if _BEGIN.match(line):
            inside, block = True, []
        elif _END.match(line):
            inside = False
            yield block
        elif inside:
            block.append((line, f"{where}:{number}"))


def _folder_lines(course: Course, folder: Path) -> Iterator[list[_Line]]:
    for path in sorted(folder.rglob("*.py")):
        where = path.relative_to(course.root)
        lines = path.read_text(encoding="utf-8").split("\n")
        yield [(line, f"{where}:{number}") for number, line in enumerate(lines, start=1)]


def _answer_sentences(course: Course, week: Week) -> Iterator[Secret]:
    where = str(answers_path(course, week).relative_to(course.root))
    for sentence in secret_sentences(answers_text(course, week)):
        squeezed = _squeezed(sentence)
        if len(squeezed) >= _TELLING:
            yield Secret(squeezed, where)


def _telling(block: list[_Line]) -> Iterator[Secret]:
    """Long lines alone; short ones three at a time, so that terse code is secret too."""
    lines = _secret_lines(block)
    for number, (text, origin) in enumerate(lines):
        run = [t for t, _ in lines[number : number + 3]]
        if len(text) >= _TELLING:
            yield Secret(text, origin)
        elif len(run) == 3 and max(map(len, run)) < _TELLING <= len("".join(run)):
            yield Secret("".join(run), origin)


def _in_a_row(block: list[_Line]) -> Iterator[Secret]:
    """Each two neighbouring lines."""
    for (text, origin), (following, _) in pairwise(_secret_lines(block)):
        if len(text + following) >= 2 * _TELLING:
            yield Secret(text + following, origin)


def _secret_lines(block: list[_Line]) -> list[_Line]:
    """What says something, without whitespace."""
    said = [line for line in block if not _SAYS_LITTLE.match(line[0])]
    return [(_squeezed(text), origin) for text, origin in said if not _PUBLIC.search(text)]


# Where it could stand


def _places(where: str, content: bytes) -> Iterator[_Place]:
    if content.startswith(_PNG):
        for number, text in enumerate(_png_texts(content), start=1):
            yield _place(f"{where} (metadata {number})", text)
        return
    text = content.decode("utf-8", "replace")
    yield _place(where, text)
    if where.endswith((".ipynb", ".json")):
        try:
            value = json.loads(text)
        except ValueError:
            raise LeakError(f"{where}: this is no valid JSON, so it cannot be checked") from None
        for path, inner in _strings(value, ""):
            yield _place(f"{where} at {path}", inner)


def _place(where: str, text: str) -> _Place:
    starts, parts, position = [], [], 0
    for line in text.split("\n"):
        squeezed = _squeezed(line)
        starts.append(position)
        parts.append(squeezed)
        position += len(squeezed)
    return _Place(where, "".join(parts), tuple(starts))


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Every text in a JSON value; a list of lines, as notebooks keep them, is one text."""
    if isinstance(value, str):
        yield path or "top level", value
    elif isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        yield path, "".join(v if v.endswith("\n") else f"{v}\n" for v in value)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _strings(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, f"{path}.{key}".lstrip("."))


def _png_texts(content: bytes) -> Iterator[str]:
    """The texts that a picture carries, unpacked; and what is hidden behind its end."""
    position = len(_PNG)
    while position + 8 <= len(content):
        size = int.from_bytes(content[position : position + 4], "big")
        kind, data = (
            content[position + 4 : position + 8],
            content[position + 8 : position + 8 + size],
        )
        position += 12 + size
        if kind in _TEXT_CHUNKS:
            yield data.decode("utf-8", "replace")
            yield from _unpacked(data)
        if kind == b"IEND":
            break
    yield content[position:].decode("utf-8", "replace")


def _unpacked(data: bytes) -> Iterator[str]:
    """A zlib stream inside a chunk, wherever its header ends."""
    for start in (i for i in range(len(data) - 1) if data[i] == 0x78):
        try:
            yield zlib.decompressobj().decompress(data[start:], 1 << 20).decode("utf-8", "replace")
        except zlib.error:
            continue


def _squeezed(text: str) -> str:
    return "".join(text.split())
