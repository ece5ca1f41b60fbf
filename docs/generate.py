"""Generate pages from the sources, so that they stay current. MkDocs loads this file as a hook.

The syllabus comes from course.yaml and exercises/<week>/syllabus.yaml, course-yaml.md from the
types that read course.yaml, attacks.md from the headers of the attack files, commands.md from the
commands' own help, words.md from the docstrings of what hidden tests import, code-map.md from the
first line of each module's docstring.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

    from autograder.model.course import Course, Week

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT))

_ATTACK = re.compile(r"Lines? (?P<line>[\d, -]+)\. (?P<what>.*?)\n\n", re.DOTALL)
ATTACK_GROUPS = {
    "read_secrets": "Reading secrets",
    "forge": "Forging a score",
    "exhaust": "Exhausting the machine",
    "intake": "Intake and neighbours",
    "serving": "Week 8's counts",
    "kernels": "Week 9's kernels",
}


def on_config(config: Any) -> Any:
    """Replace the entry `Syllabus` of `nav` with an overview and a page for each week."""
    for entry in config["nav"] or []:
        if "Syllabus" in entry:
            entry["Syllabus"] = [
                {"All weeks": "syllabus/overview.md"},
                *({f"Week {name[4:6]}": f"syllabus/{name}.md"} for name, _ in syllabus()),
            ]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to the handwritten ones."""
    from mkdocs.structure.files import File

    for name, page in (
        ("course-yaml.md", course_yaml()),
        ("attacks.md", attacks()),
        ("commands.md", commands()),
        ("words.md", words()),
        ("code-map.md", code_map()),
        ("syllabus/overview.md", syllabus_overview()),
        *((f"syllabus/{name}.md", page) for name, page in syllabus()),
    ):
        files.append(File.generated(config, name, content=page))
    return files


def syllabus() -> list[tuple[str, str]]:
    """Return the name and the page of each week."""
    from autograder.model.course import load

    course = load(ROOT)
    return [(week.name, syllabus_page(course, week)) for week in course.weeks]


def syllabus_overview() -> str:
    """Return a table of the weeks and a map of their dependencies."""
    from autograder.model.course import load
    from autograder.site.course_map import course_overview

    course = load(ROOT)
    overview = course_overview(course, course.weeks, "{}.html")
    return f"# Syllabus\n\n<div>\n{overview}\n</div>\n"


def syllabus_page(course: Course, week: Week) -> str:
    """Render the page of a week's dates, prerequisites, objectives, readings and times."""
    from jinja2 import Environment, StrictUndefined

    from autograder.authoring.lesson.syllabus import read_syllabus, rough_hours, total_minutes

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    read = read_syllabus(course, week)
    page = environment.from_string((DOCS / "syllabus.md.j2").read_text(encoding="utf-8")).render(
        week=week,
        number=int(week.name[4:6]),
        released=f"{course.localized(week.release):%A %d %B %Y, %H:%M}",
        due=f"{course.localized(week.due):%A %d %B %Y, %H:%M}",
        timezone=course.registry.timezone,
        syllabus=read,
        hours=rough_hours(total_minutes(week, read)) if read else "",
        dots=lambda level: f"{level} of 5 {'●' * level}{'○' * (5 - level)}",
    )
    return f"{page.rstrip()}\n"


def course_yaml() -> str:
    """Return a page with the type, default and meaning of every setting, ordered by type."""
    parts = [(DOCS / "course-yaml.head.txt").read_text(encoding="utf-8")]
    for kind, lines in sorted(record_kinds(), key=lambda k: k[0].name != "Registry"):
        title = "The course" if kind.name == "Registry" else kind.name
        parts += [f"## {title}\n", f"{ast.get_docstring(kind) or ''}\n"]
        parts += ["| setting | type | default | meaning |", "| --- | --- | --- | --- |"]
        parts += [*(_row(field, lines) for field in fields(kind)), ""]
    return "\n".join(parts)


def record_kinds() -> Iterator[tuple[ast.ClassDef, list[str]]]:
    source = (ROOT / "autograder" / "model" / "course" / "registry.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and "_Config" in map(ast.unparse, node.bases):
            yield node, source.split("\n")


def fields(kind: ast.ClassDef) -> list[ast.AnnAssign]:
    return [field for field in kind.body if isinstance(field, ast.AnnAssign)]


def _row(field: ast.AnnAssign, lines: list[str]) -> str:
    default = "required" if field.value is None else f"`{ast.unparse(field.value)}`"
    name = f"`{ast.unparse(field.target)}`"
    cells = (name, _type(field.annotation), default, meaning(field, lines))
    return "| " + " | ".join(cells) + " |"


def meaning(field: ast.AnnAssign, lines: list[str]) -> str:
    """Return the comment after a setting or in the line above it, or "" if there is none."""
    last = lines[(field.end_lineno or field.lineno) - 1][field.end_col_offset or 0 :]
    if "#" in last:
        return last.partition("#")[2].strip()
    above = lines[field.lineno - 2].strip()
    return above.removeprefix("# ") if above.startswith("# ") else ""


def _type(annotation: ast.expr) -> str:
    text = ast.unparse(annotation)
    text = re.sub(r"tuple\[(\w+), \.\.\.\]", r"list of \1", text)
    words = {
        "PositiveInt": "whole number > 0",
        "Positive": "number > 0",
        "Percent": "0 to 100",
        "Text": "text",
        "Library": "torch, numpy or matplotlib",
    }
    for name, said in words.items():
        text = re.sub(rf"\b{name}\b", said, text)
    bound = re.match(r"Annotated\[(\w+), msgspec\.Meta\((.*)\)\]", text)
    if bound:
        text = f"{bound[1]}, {bound[2].replace('=', ' ')}"
    if text.startswith("Literal["):
        text = " or ".join(re.findall(r"'(.*?)'", text))
    text = text.replace("dt.datetime", "date and time").replace(" | None", "")
    return text.replace("str", "text").replace("|", "or")


def words() -> str:
    """Return a page with the docstring of every name that hidden tests import."""
    parts = ["# The words of hidden tests, one by one\n"]
    parts.append("Examples of each, which are run: [the vocabulary](vocabulary.md).\n")
    for name, node in sorted(public_names(), key=lambda found: found[0].lower()):
        parts.append(f"## `{name}`\n")
        parts += [f"{_said(node)}\n"] if isinstance(node, ast.Assign) else _described(name, node)
    return "\n".join(parts)


def public_names() -> Iterator[tuple[str, ast.stmt]]:
    """Return the names that `autograder.authors` exports, with the statements that define them."""
    source = (ROOT / "autograder" / "authors" / "__init__.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom):
            file = ROOT / "autograder" / str(node.module).replace(".", "/")
            known = _definitions(file.with_suffix(".py"))
            yield from ((alias.name, known[alias.name]) for alias in node.names)


def _definitions(file: Path) -> dict[str, ast.stmt]:
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0])] = node
    return found


def _described(name: str, node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield f"```python\n{_signature(node)}\n```\n"
    yield f"{_said(node)}\n"
    if not isinstance(node, ast.ClassDef):
        return
    members = list(node.body)
    for base in map(ast.unparse, node.bases):  # documents most methods of `agree`
        if base == "Comparison":
            file = ROOT / "autograder" / "grading" / "assertions" / "call_comparison.py"
            inherited = _definitions(file)[base]
            members += getattr(inherited, "body", [])
    for member in members:
        name = getattr(member, "name", "_")
        if isinstance(member, ast.FunctionDef) and name[0] != "_" and name != "object_on":
            yield f"- `{_signature(member)}` {_said(member)}".rstrip()
    yield ""


def _signature(node: ast.FunctionDef) -> str:
    if any(ast.unparse(d).startswith("property") for d in node.decorator_list):
        return node.name
    arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
    return f"{node.name}({arguments})"


def _said(node: ast.stmt) -> str:
    documented = isinstance(node, (ast.FunctionDef, ast.ClassDef))
    text = (ast.get_docstring(node) or "") if documented else f"`{ast.unparse(node)}`"
    return " ".join(text.split("\n\n")[0].split())


def code_map() -> str:
    """Return a page with one line for each package and module of the kit."""
    parts = ["# Code map\n", "One line for each module of `autograder/`, by package.\n"]
    for package in sorted((ROOT / "autograder").rglob("__init__.py")):
        if "graders" in package.parts:
            continue
        name = ".".join(package.parent.relative_to(ROOT).parts)
        parts += [f"## `{name}`\n", f"{summary(package)}\n"]
        modules = [m for m in sorted(package.parent.glob("*.py")) if m != package]
        if modules:
            parts += ["| module | |", "| --- | --- |"]
            parts += [f"| `{m.stem}` | {summary(m)} |" for m in modules]
            parts.append("")
    return "\n".join(parts)


def summary(module: Path) -> str:
    """Return the first paragraph of a module's docstring on one line."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


def attacks() -> str:
    """Return a page with the numbered list of attacks, and the file and verdict of each attack."""
    parts = [(DOCS / "attacks.head.txt").read_text(encoding="utf-8")]
    for group, title in ATTACK_GROUPS.items():
        parts += [f"\n## {title}: `tests/attacks/{group}`\n", "| lines | attack | what it does |"]
        parts += ["| --- | --- | --- |"]
        for path in sorted((ROOT / "tests" / "attacks" / group).glob("*.py")):
            doc = path.read_text(encoding="utf-8").split('"""')[1]  # some contain several files
            found = _ATTACK.match(f"{doc.strip()}\n\n")
            line, what = (found["line"], found["what"]) if found else ("", doc.split("\n")[0])
            said = " ".join(what.split()).replace("|", "\\|")
            parts.append(f"| {line} | `{path.stem}` | {said} |")
    return "\n".join(parts) + "\n"


def commands() -> str:
    """Return a page with the help text of every command."""
    import typer.main

    from autograder.cli import register
    from autograder.cli.app import app

    register()
    group: Any = typer.main.get_command(app)
    parts = ["# Commands\n", "`autograder COMMAND --help` prints the same text.\n"]
    for name, command in group.commands.items():
        lines = (command.help or "").replace("\b", "").strip().split("\n")
        parts += [f"## `autograder {name}`\n", "\n".join(line.strip() for line in lines), ""]
        options = [p for p in command.params if p.name != "help"]
        if options:
            parts += ["| option | meaning |", "| --- | --- |"]
            for option in options:
                said = (getattr(option, "help", None) or "").replace("|", "/").replace("[", r"\[")
                names = ", ".join(f"`{o}`" for o in option.opts) or f"`{option.name}`"
                parts.append(f"| {names} | {said} |")
            parts.append("")
    return "\n".join(parts)
