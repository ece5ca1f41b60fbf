"""Check that no secret line leaves the instructor's machine.

Every file is checked before and after nbgrader processes it. The secret lines are the lines between
BEGIN and END SOLUTION, and those of the hidden graders, misconceptions, alternatives, model answers
and exam questions of the week. Whitespace is removed and JSON is decoded before comparing, so
wrapping, indenting or escaping a line does not hide it. The text chunks of PNG files are searched
too. Three consecutive short lines count as one long line. Imports, other short lines and lines of
the stub are ignored. Text that the lesson or the public checks show on purpose, such as a bug to
find, may also occur in a misconception or an alternative, and as a single line in a hidden grader,
but not in a solution or a model answer. Authors can end a secret line with `# public` to allow it.

Weeks are also compared with each other: at its release, a week must not give away an exercise of a
week that is not due yet, and no lesson may contain an exercise of its own week. For this, code is
compared by what it computes (`computations`), so different names do not hide it. Code that a week
due earlier contains is known by then. A solution that computes the same in a different way is not
detected.
"""

import contextlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from ...model.course import Course, Week
from ...model.course.stubs import solution_blocks, stub_of
from ...model.errors import LeakError
from .computations import Computation, computations, parts, size
from .marking_guide import answers_path, exam_path, secret_sentences

_PUBLIC = re.compile(r"#\s*public\s*$")
_GENERIC = re.compile(r"^\s*(import|from)\s|^\s*(#+ )?(BEGIN|END) SOLUTION\s*$|^\W*$")
_TELLING = 24  # minimum length of a line that counts as secret
_TELLING_SIZE = 4  # minimum number of operations of a computation that counts as secret
_CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)
_PNG = b"\x89PNG\r\n\x1a\n"


class Secret(NamedTuple):
    """A secret line, or consecutive lines, without whitespace. `origin`: the file and line."""

    text: str
    origin: str


def secrets_of(course: Course, week: Week, solved: str = "") -> tuple[Secret, ...]:
    """Return the secret lines of a week.

    solved: text that is published, so not secret: the part of the solution that `release
    --solutions` publishes, or the questions of an exam
    """
    stub = _without_whitespace(stub_of(course, week) + solved)
    folder, path = course.exercise_folder(week), course.solution(week)
    shown = (folder / name for name in ("lesson.md", f"test_{week.stem}.py"))
    texts = (file.read_text(encoding="utf-8") for file in shown if file.is_file())
    public_text = "\0".join(map(_without_whitespace, texts))
    bank = course.solution_folder(week)
    graders = list(_folder_lines(course, course.graders(week)))
    programs = _folder_lines(course, bank / "misconceptions", bank / "alternatives")
    blocks = solution_blocks(path.read_text(encoding="utf-8"))
    strict = [_telling(_lines(path.relative_to(course.root), block)) for block in blocks]
    strict += [_in_a_row(block) for block in graders]
    strict.append(_answer_sentences(course, week))
    lenient = [_telling(block) for block in (*graders, *programs)]
    found: dict[str, Secret] = {}
    for groups, public in (strict, stub), (lenient, f"{stub}\0{public_text}"):
        for secret in chain.from_iterable(groups):
            if secret.text not in public:
                found.setdefault(secret.text, secret)
    return tuple(found.values())


def check_files(files: Mapping[str, bytes], secrets: Iterable[Secret], folder: str) -> None:
    """Raise LeakError if a file contains a secret. `shown`: the files' folder in messages."""
    known = tuple(secrets)
    for name, content in files.items():
        for location, text in _texts(f"{folder}/{name}", content):
            stripped = _without_whitespace(text)
            for secret in known:
                position = stripped.find(secret.text)
                if position >= 0:
                    raise LeakError(
                        f"{location}, line {_line_at(text, position)}: this is a secret line of "
                        f"{secret.origin}. Reword one of the two, or add `# public` to the end of "
                        "the secret line if students may see it"
                    )


def require_undisclosed(course: Course, week: Week) -> None:
    """Raise LeakError if a week gives away an exercise that is not due at its release."""
    for message in exercises_given_away(course, week):
        raise LeakError(message)


def exercises_given_away(course: Course, week: Week) -> Iterator[str]:
    """Yield a message for each exercise that the week's lesson, stub or public checks give away."""
    lesson = dict[Computation, str]()
    for location, source in _lesson_code(course, week):
        _locate(source, location, lesson)
    shown = dict(lesson)
    _locate(stub_of(course, week), (week.module, 0), shown)
    checks = course.exercise_folder(week) / f"test_{week.stem}.py"
    if checks.is_file():
        _locate(checks.read_text(encoding="utf-8"), (checks.name, 0), shown)
    released = course.localized(week.release)
    due = [other for other in course.weeks if course.localized(other.due) <= released]
    known = {
        part
        for other in due
        for _, _, computed in computations(course.solution(other).read_text(encoding="utf-8"))
        for part in parts(computed)
    }
    for other in (w for w in course.weeks if w not in due and course.solution(w).is_file()):
        public = lesson if other == week else shown
        told = set[str]()
        for exercise, origin, computed in _secret_computations(course, other):
            if computed in public and computed not in known and exercise not in told:
                told.add(exercise)
                yield (
                    f"{week.name}/{public[computed]}: this computes what {exercise} of "
                    f"{other.name} computes ({origin}), which is due on "
                    f"{other.due:%d %B %Y}. Change the code, release the week later, or add "
                    "`# public` to the end of the secret line"
                )


def _secret_computations(course: Course, week: Week) -> Iterator[tuple[str, str, Computation]]:
    """Yield the exercise, the location and the computation of each telling line of a solution."""
    path = course.solution(week)
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")
    inside = {number for block in solution_blocks(source) for number, _ in block}
    for owner, number, computed in computations(source):
        secret = number in inside and not _PUBLIC.search(lines[number - 1])
        if secret and size(computed) >= _TELLING_SIZE:
            yield owner, f"{path.relative_to(course.root)}:{number}", computed


def _lesson_code(course: Course, week: Week) -> Iterator[tuple[tuple[str, int], str]]:
    path = course.exercise_folder(week) / "lesson.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for cell in _CODE.finditer(text):
        yield ("lesson.md", text.count("\n", 0, cell.start(1))), _MAGIC.sub("", cell[1])


def _locate(source: str, location: tuple[str, int], found: dict[Computation, str]) -> None:
    """Add each computation in `source`, with its first location; skip source with wrong syntax."""
    name, line = location
    with contextlib.suppress(SyntaxError):
        for _, number, computed in computations(source):
            for part in parts(computed):
                found.setdefault(part, f"{name}:{line + number}")


def check_folder(folder: Path, secrets: Iterable[Secret], expected: Iterable[str]) -> None:
    """Raise LeakError if a file in the folder contains a secret or is not expected there."""
    files = {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }
    if unknown := set(files) - set(expected):
        raise LeakError(
            f"{folder}/{min(unknown)}: this file is not part of the release and was not checked: "
            "remove it and release again"
        )
    check_files(files, secrets, str(folder))


def _folder_lines(course: Course, *folders: Path) -> Iterator[list[Secret]]:
    for path in (p for folder in folders for p in sorted(folder.rglob("*.py"))):
        lines = path.read_text(encoding="utf-8").split("\n")
        yield _lines(path.relative_to(course.root), enumerate(lines, start=1))


def _lines(location: Path, numbered: Iterable[tuple[int, str]]) -> list[Secret]:
    return [
        Secret(_without_whitespace(line), f"{location}:{number}")
        for number, line in numbered
        if not _GENERIC.match(line) and not _PUBLIC.search(line)
    ]


def _answer_sentences(course: Course, week: Week) -> Iterator[Secret]:
    for path in filter(Path.is_file, (answers_path(course, week), exam_path(course, week))):
        location = str(path.relative_to(course.root))
        for sentence in secret_sentences(path.read_text(encoding="utf-8")):
            stripped = _without_whitespace(sentence)
            if len(stripped) >= _TELLING:
                yield Secret(stripped, location)


def _telling(lines: list[Secret]) -> Iterator[Secret]:
    """Yield long lines, and three consecutive short lines if they are long enough together."""
    for number, line in enumerate(lines):
        run = [following.text for following in lines[number : number + 3]]
        if len(line.text) >= _TELLING:
            yield line
        elif len(run) == 3 and max(map(len, run)) < _TELLING <= len("".join(run)):
            yield Secret("".join(run), line.origin)


def _in_a_row(lines: list[Secret]) -> Iterator[Secret]:
    """Yield pairs of consecutive lines that are long enough together."""
    for line, following in pairwise(lines):
        if len(line.text + following.text) >= 2 * _TELLING:
            yield Secret(line.text + following.text, line.origin)


def _texts(location: str, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield the location and content of each text in a file; raise LeakError for a damaged file."""
    if content.startswith(_PNG):
        try:
            yield from ((f"{location} (metadata)", text) for text in _png_texts(content))
        except (OSError, SyntaxError, ValueError) as error:  # Pillow raises these for damaged files
            raise LeakError(f"{location}: {error}, so it cannot be checked") from None
        return
    text = content.decode("utf-8", "replace")
    yield location, text
    if location.endswith((".ipynb", ".json")):
        try:
            value = json.loads(text)
        except ValueError:
            raise LeakError(f"{location}: not valid JSON, so it cannot be checked") from None
        yield from ((f"{location} at {path}", inner) for path, inner in _strings(value, ""))


def _line_at(text: str, position: int) -> int:
    """Return the number of the line that contains `position`, counted without whitespace."""
    ends = accumulate(len(_without_whitespace(line)) for line in text.split("\n"))
    return next(number for number, end in enumerate(ends, start=1) if end > position)


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Yield every string in a JSON value; a list of lines, as in notebooks, is one string."""
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
    with Image.open(io.BytesIO(content)) as image:
        image.load()  # also reads the metadata after the pixels
        for value in image.info.values():
            yield value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    yield content.partition(b"IEND")[2].decode("utf-8", "replace")


def _without_whitespace(text: str) -> str:
    return "".join(text.split())
