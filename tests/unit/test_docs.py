"""Check that the documentation matches the sources and generated pages are complete."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from autograder import authors
from autograder.model.course import load
from autograder.version import __version__
from tests.courses import copy_course

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md"))),
]


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_setting_of_the_registry_says_what_it_means(generate: ModuleType) -> None:
    silent = [
        f"{kind.name}.{field.target.id}"
        for kind, lines in generate.record_kinds()
        for field in generate.fields(kind)
        if not generate.meaning(field, lines)
    ]
    assert silent == []


def test_every_attack_is_on_the_page(generate: ModuleType) -> None:
    page = generate.attacks()
    folders = [ROOT / "tests" / "attacks" / group for group in generate.ATTACK_GROUPS]
    files = [path for folder in folders for path in folder.glob("*.py")]
    assert [p.stem for p in files if f"`{p.stem}`" not in page] == []


def test_every_attack_names_its_line(generate: ModuleType) -> None:
    rows = [row for row in generate.attacks().split("\n") if row.startswith("|  |")]
    assert rows == []


def test_a_week_without_a_syllabus_has_a_page_all_the_same(
    generate: ModuleType, tmp_path: Path
) -> None:
    course = load(copy_course(tmp_path / "course", ("week08_serving",)))
    (course.exercise_folder(course.weeks[0]) / "syllabus.yaml").unlink()
    assert "| `KVCache` | 3 |" in generate.syllabus_page(course, course.weeks[0])


def test_the_page_of_a_syllabus_says_what_it_takes_and_who_says_so(generate: ModuleType) -> None:
    page = dict(generate.syllabus())["week08_serving"]
    assert "| `KVCache` | 3 | 15 to 30 | 2 of 5 ●●○○○ | 5 of 5 ●●●●● |" in page
    assert "estimates by the authors, not measured in a class" in page


@pytest.mark.parametrize("command", ["check", "grade", "verify", "release", "export"])
def test_commands_are_on_the_page(generate: ModuleType, command: str) -> None:
    assert f"## `autograder {command}`" in generate.commands()


@pytest.mark.parametrize("page", PAGES)
def test_paths_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:autograder|tests|docs|benchmarks)/[\w/.-]+)`", text)
    examples = r"/week13_pooling|/week01_scores"  # the weeks that docs/authors.md creates
    missing = [n for n in named if not (ROOT / n).exists()]
    assert [n for n in missing if not re.search(examples, n)] == []


@pytest.mark.parametrize("page", ["README.md", "docs/authors.md"])
def test_wheels_on_a_page_have_the_current_version(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    wheels = re.findall(r"(\w+)-(\S+)-py3-none-any\.whl", text)
    assert {*wheels} == {(name, __version__) for name in ("gradewright", "gradewright_student")}


def test_every_word_of_hidden_tests_is_on_its_page_and_says_what_it_does(
    generate: ModuleType,
) -> None:
    page = generate.words()
    found = dict(generate.public_names())
    assert sorted(found) == sorted(authors.__all__)
    assert all(f"## `{name}`" in page for name in found)
    documented = [n for n in found.values() if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    assert [n.name for n in documented if not ast.get_docstring(n)] == []
    assert [line for line in page.split("\n") if line.startswith("- ") and line.endswith("`")] == []


def test_what_the_author_is_told_to_type_names_what_is_there() -> None:
    text = (ROOT / "docs" / "authors.md").read_text(encoding="utf-8")
    files = [n for n in re.findall(r"\$EDITOR (\S+)", text) if not (ROOT / n).is_file()]
    week = ROOT / "solutions" / "week02_masking"
    bank = {p.stem for p in week.glob("*/*.py")}
    named = re.findall(r"(?:try week02|--alternative) (\w+)", text)
    assert named
    assert (files, [n for n in named if n not in bank]) == ([], [])


def test_the_readme_shows_every_picture_with_a_description() -> None:
    shown = re.findall(
        r"!\[([^\]]{40,})\]\((docs/images/[\w-]+\.png)\)", (ROOT / "README.md").read_text()
    )
    files = sorted((ROOT / "docs" / "images").glob("*.png"))
    assert sorted(name for _, name in shown) == [str(f.relative_to(ROOT)) for f in files]
    assert [f.name for f in files if f.stat().st_size >= 150_000] == []
