"""Parse course.yaml into the types of `registry`, and report syntax errors and wrong types.

Each mistake is reported in one line with the path to the value and its line, for example
`course.yaml: weeks[0].exercises[1].points: must be at least 0 (line 24)`.

PyYAML silently uses the last of two equal keys and raises ValueError for 30 February. This loader
rejects duplicate keys, and leaves invalid dates as strings so that the message names the setting.
"""

import contextlib
import datetime as dt
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import yaml
from msgspec.structs import replace

from ..errors import CourseError, NoCourse
from .registry import REGISTRY, Course, Nbgrader, Registry, Week
from .validation import ADVICE, folder_problems, problems, with_fix

_DATE = "tag:yaml.org,2002:timestamp"
_MOMENT = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[Tt]|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)?"
)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # mypy cannot check a dynamic base class
    """A YAML loader that rejects duplicate keys and leaves invalid dates as strings."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in lines:
                problem = f"`{name}` appears twice (lines {lines[name]} and {line}): keep one"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            lines[name] = line
        read: dict[Any, Any] = super().construct_mapping(node, deep)
        return read


def _date(loader: _Loader, node: yaml.ScalarNode) -> dt.datetime | str:
    try:
        return moment(node.value)
    except ValueError:
        return str(node.value)


_Loader.add_implicit_resolver(_DATE, _MOMENT, list("0123456789"))
_Loader.add_constructor(_DATE, _date)


def read_yaml(text: str) -> object:
    """Parse YAML into dicts, lists and datetimes; raise CourseError if it is malformed or empty."""
    try:
        raw: object = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise CourseError(_yaml_message(text, error)) from None
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{REGISTRY}: not valid YAML: {error}") from None
    if raw is None:
        raise CourseError(f"{REGISTRY}: top level: the file is empty")
    return raw


def _yaml_message(text: str, error: yaml.YAMLError) -> str:
    """Return an error message, if possible that of PyYAML's more precise pure Python parser."""
    try:
        yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as better:
        error = better
    mark = getattr(error, "problem_mark", None)
    place = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
    problem = getattr(error, "problem", None) or "not valid YAML"
    about = f"{getattr(error, 'context', None) or ''} {problem}"
    fix = next((fix for pattern, fix in ADVICE["syntax"].items() if re.search(pattern, about)), "")
    return f"{REGISTRY}:{place} {problem}" + (f": {fix}" if fix else "")


def moment(text: str) -> dt.datetime:
    """Parse a date with a time, which may be 24:00; raise ValueError if the text is invalid."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(text)
    *date, hour, minute, second, zone = found.groups("")
    end_of_day = (hour, minute, second or "00") == ("24", "00", "00")
    time = f"{'00' if end_of_day else hour.zfill(2)}:{minute}:{second or '00'}{zone}"
    start = dt.datetime.fromisoformat(f"{'-'.join(part.zfill(2) for part in date)}T{time}")
    return start + dt.timedelta(days=end_of_day)


def find_root(start: Path | None = None) -> Path:
    """Return the closest folder at or above `start` with a course.yaml, or raise NoCourse."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        with contextlib.suppress(OSError):  # skip folders without read permission
            if (folder / REGISTRY).is_file():
                return folder
    raise NoCourse(
        f"there is no {REGISTRY} in {start} or a folder above it: `cd` to the course's project "
        "folder and try again"
    )


def load(root: Path | None = None, *, unfinished: bool = False) -> Course:
    """Read and validate the course.

    root: the project's folder; default: the project that contains the current folder
    unfinished: do not check whether modules, graders and other files exist
    Raise CourseError for the first mistake.
    """
    root = root.resolve() if root else find_root()
    path = root / REGISTRY
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CourseError(f"{path} does not exist") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{REGISTRY}: not UTF-8 text: {error}") from None
    course = Course(root, parse(text))
    for location, message in folder_problems(course, unfinished=unfinished):
        raise _mistake(text, location, message)
    return course


def _mistake(text: str, location: str, message: str) -> CourseError:
    """Return an error for the value at a path such as `weeks[0].exercises[1]`, with its line."""
    node, line = yaml.compose(text, Loader=_Loader), 0
    for key, index in re.findall(r"(\w+)|\[(\d+)\]", location):
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(index)]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            found = next(((k, v) for k, v in node.value if k.value == key), None)
            node, line = (found[1], found[0].start_mark.line + 1) if found else (None, line)
    where = f" (line {line})" if line else ""
    return CourseError(f"{REGISTRY}: {location}: {message}{where}")


def parse(text: str) -> Registry:
    """Parse and validate the text of course.yaml; raise CourseError for the first mistake."""
    raw, source = read_yaml(text), text
    try:
        registry = msgspec.convert(raw, Registry, strict=True)
    except msgspec.ValidationError as error:
        message, _, location = str(error).partition("$")
        location = location.rstrip("`").lstrip(".")
        wanted = _type_at(location)
        text = "a number is written where a name belongs: write half a point as 0.5"
        if "`key`" not in message:
            choices = get_args(wanted) if get_origin(wanted) is Literal else ()
            fields = getattr(wanted, "__struct_fields__", ())
            text = with_fix(message.partition(" - at ")[0], fields, choices)
        raise _mistake(source, location or "top level", text) from None
    for location, message in problems(registry):
        raise _mistake(source, location, message)
    return registry


def _type_at(location: str) -> Any:
    """Return the type of the value at a path in the registry, such as `weeks[0].exercises[1]`."""
    found: Any = Registry
    for name in re.findall(r"\w+", re.sub(r"\[\d+\]", "", location)):
        hint = get_type_hints(found).get(name)
        structs = (t for t in (hint, *get_args(hint)) if isinstance(t, type))
        found = next((t for t in structs if issubclass(t, msgspec.Struct)), hint)
    return found


def one_week(course: Course, week: Week) -> str:
    """Return a course.yaml with only this week, without the settings that grading does not use."""
    alone = replace(week, folders=(), questions=(), lms=None, limits=course.limits(week))
    alone = replace(alone, files=week.test_files)
    registry = replace(
        course.registry, weeks=(alone,), late=None, nbgrader=Nbgrader(), canvas=None, lti=None
    )
    return yaml.safe_dump(msgspec.to_builtins(registry), sort_keys=False, allow_unicode=True)
