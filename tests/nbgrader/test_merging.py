"""Test how a second submission replaces or keeps each part of the first."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from autograder.model.course import Course, Week
from autograder.nbgrader.collect.history import read_student
from autograder.nbgrader.collect.merging import Merged, merge
from autograder.nbgrader.collect.submissions import accept
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import SOLUTION, STUB, WEEK

NOTEBOOK = f"{WEEK}.ipynb"
WRONG = SOLUTION.replace("x + x", "x")
Merge = Callable[[dict[str, str | bytes], dict[str, str | bytes]], Merged]


@pytest.fixture
def merged(course: Course, week: Week, released: Workspace) -> Merge:
    def as_bytes(files: dict[str, str | bytes]) -> dict[str, bytes]:
        return {n: d.encode() if isinstance(d, str) else d for n, d in files.items()}

    return lambda earlier, now: merge(course, week, as_bytes(earlier), as_bytes(now))


@pytest.fixture
def answered(notebook: str) -> Callable[[str], str]:
    return lambda text: notebook.replace("*Your answer here.*", text)


def fates(merged: Merged) -> dict[str, str]:
    return {part.name: part.fate for part in merged.parts}


def answer_in(merged: Merged) -> str:
    cells: list[dict[str, Any]] = json.loads(merged.files[NOTEBOOK])["cells"]
    (cell,) = (c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == "why")
    return "".join(cell["source"])


def zipped(files: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def test_the_module_alone_keeps_the_written_answer(
    merged: Merge, answered: Callable[[str], str]
) -> None:
    found = merged({"doubling.py": WRONG, NOTEBOOK: answered("Mine.")}, {"doubling.py": SOLUTION})
    assert fates(found) == {"doubling.py": "replaced", "why": "kept"}
    assert answer_in(found) == "Mine."


def test_the_notebook_alone_keeps_the_module(merged: Merge, answered: Callable[[str], str]) -> None:
    found = merged({"doubling.py": SOLUTION, "own.py": "1"}, {NOTEBOOK: answered("Mine.")})
    assert fates(found) == {"doubling.py": "kept", "why": "new", "own.py": "kept"}
    assert found.files["doubling.py"] == SOLUTION.encode()


@pytest.mark.parametrize("text", ["", "*Your answer here.*", "  "])
def test_an_answer_that_is_empty_or_unchanged_keeps_the_earlier_one(
    merged: Merge, answered: Callable[[str], str], text: str
) -> None:
    found = merged({"doubling.py": WRONG, NOTEBOOK: answered("Mine.")}, {NOTEBOOK: answered(text)})
    assert (fates(found)["why"], answer_in(found)) == ("kept", "Mine.")


def test_a_deleted_answer_cell_keeps_the_earlier_answer(
    merged: Merge, answered: Callable[[str], str], notebook: str
) -> None:
    cells = json.loads(notebook)
    cells["cells"] = [c for c in cells["cells"] if "why" not in json.dumps(c["metadata"])]
    found = merged(
        {"doubling.py": WRONG, NOTEBOOK: answered("Mine.")}, {NOTEBOOK: json.dumps(cells)}
    )
    assert (fates(found)["why"], answer_in(found)) == ("kept", "Mine.")


def test_a_new_answer_replaces_the_earlier_one(
    merged: Merge, answered: Callable[[str], str]
) -> None:
    found = merged(
        {NOTEBOOK: answered("Old.")}, {"doubling.py": SOLUTION, NOTEBOOK: answered("New.")}
    )
    assert (fates(found)["why"], answer_in(found)) == ("replaced", "New.")


def test_a_damaged_notebook_keeps_the_earlier_one(
    merged: Merge, answered: Callable[[str], str]
) -> None:
    found = merged(
        {"doubling.py": WRONG, NOTEBOOK: answered("Mine.")},
        {"doubling.py": SOLUTION, NOTEBOOK: "{"},
    )
    assert answer_in(found) == "Mine."
    assert found.files[f"{NOTEBOOK}.unreadable"] == b"{"
    assert [note.kind for note in found.notes] == ["unreadable", "kept"]


MODULES: dict[str, dict[str, str | bytes]] = {
    "under another name": {"doubling_final.py": SOLUTION},
    "with a browser's number": {"doubling (1).py": SOLUTION},
    "beside the untouched stub": {"doubling.py": STUB, "my_version.py": SOLUTION},
    "in a zip": {"week1.zip": zipped({"week01_tiny/doubling.py": SOLUTION})},
    "in a zip, under another name": {"week1.zip": zipped({"a/doubling_final.py": SOLUTION})},
    "as UTF-16": {"doubling.py": SOLUTION.encode("utf-16")},
    "under another name, as UTF-16": {"final.py": SOLUTION.encode("utf-16")},
}


@pytest.mark.parametrize("files", MODULES.values(), ids=MODULES)
def test_a_module_is_found(merged: Merge, files: dict[str, str | bytes]) -> None:
    found = merged({"doubling.py": WRONG}, files)
    assert (found.problem, found.files["doubling.py"]) == ("", SOLUTION.encode())


REFUSED: dict[str, dict[str, str | bytes]] = {
    "two candidates": {"first.py": SOLUTION, "second.py": WRONG},
    "binary": {"doubling.py": b"\x7fELF" + bytes(50)},
    "empty": {"doubling.py": " "},
    "a syntax error": {"doubling.py": "def double(x:\n"},
    "too large": {"doubling.py": b"#" * (300 << 10)},
}


@pytest.mark.parametrize("files", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_graded_is_refused(merged: Merge, files: dict[str, str | bytes]) -> None:
    assert merged({"doubling.py": WRONG}, files).problem


@pytest.mark.parametrize("name", ["extra.ipynb/more.ipynb", "Extra.ipynb"])
def test_names_that_cannot_be_stored_together_are_refused(
    course: Course, week: Week, notebook: str, name: str
) -> None:
    data = notebook.encode()
    first = {"doubling.py": WRONG.encode(), NOTEBOOK: data, "extra.ipynb": data}
    accept(course, week, "ada", first, "2020-01-10 12:00:00.000000 UTC", "page")
    second = {"doubling.py": SOLUTION.encode(), NOTEBOOK: data, name: data}
    done = accept(course, week, "ada", second, "2020-01-11 12:00:00.000000 UTC", "page")
    assert done.refused
    (said,) = done.remarks("ada")
    assert "Rename one" in said
    assert (Workspace(course).submitted("ada", week) / "extra.ipynb").read_bytes() == data
    accept(course, week, "bea", first | second, "", "page")
    assert "Rename one" in read_student(course, week, "bea").problem


def test_a_syntax_error_is_located(merged: Merge) -> None:
    found = merged({"doubling.py": SOLUTION}, {"doubling.py": "x = 1\ny = (\n"})
    assert found.problem.startswith("doubling.py does not run: line 2, `'(' was never closed`")


def test_a_first_module_that_python_cannot_read_is_graded(merged: Merge) -> None:
    assert merged({}, {"doubling.py": "y = (\n"}).problem == ""


def test_nothing_is_refused_for_want_of_a_module_if_answers_arrive(
    merged: Merge, answered: Callable[[str], str], notebook: str
) -> None:
    found = merged({}, {NOTEBOOK: answered("Mine.")})
    assert (found.problem, fates(found)) == ("", {"doubling.py": "missing", "why": "new"})
    assert "doubling.py is missing" in merged({}, {NOTEBOOK: notebook}).problem


def test_the_untouched_stub_keeps_the_earlier_module(merged: Merge) -> None:
    found = merged({"doubling.py": SOLUTION}, {"doubling.py": STUB})
    assert fates(found)["doubling.py"] == "kept"


def test_a_folder_that_arrives_whole_replaces_the_earlier_one(merged: Merge) -> None:
    earlier: dict[str, str | bytes] = {"doubling.py": SOLUTION, "own.py": "1"}
    whole: dict[str, str | bytes] = {"doubling.py": SOLUTION, "README.md": "# Week 1\n"}
    assert "own.py" not in merged(earlier, whole).files
    assert "own.py" in merged(earlier, {"doubling.py": WRONG}).files


def test_merging_again_changes_nothing(merged: Merge, answered: Callable[[str], str]) -> None:
    found = merged(
        {"doubling.py": WRONG, "own.py": "1", NOTEBOOK: answered("Mine.")},
        {"doubling_final.py": SOLUTION, "Copy.ipynb": answered("")},
    )
    again = merged(dict(found.files), dict(found.files))
    assert again.unchanged
    assert again.files == found.files


def test_hidden_files_and_times_are_not_taken(merged: Merge) -> None:
    sent: dict[str, str | bytes] = {
        "doubling.py": SOLUTION, ".parts": "x", "timestamp.txt": "soon", ".git/config": "x"
    }  # fmt: skip
    assert set(merged({}, sent).files) == {"doubling.py"}
