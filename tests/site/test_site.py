"""The students' site: pages of released weeks only, without secrets."""

from __future__ import annotations

import base64
import copy
import datetime as dt
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

from autograder.authoring.lesson.handout import week_files
from autograder.authoring.verify.public_files import cell_problems, run_lesson
from autograder.cli import run
from autograder.model.course import Course, load
from autograder.model.course.stubs import write_stub
from autograder.model.errors import BuildError, LeakError
from autograder.site.build import build_site, executed_lesson, week_pages, words_of

NUMBERS = Path(__file__).parents[1] / "second_course"
AFTER_WEEK_1 = dt.datetime(2030, 1, 7, 9, 0, 1, tzinfo=dt.UTC)
AFTER_WEEK_2_IS_DUE = dt.datetime(2030, 1, 22, tzinfo=dt.UTC)
BEFORE = AFTER_WEEK_1 - dt.timedelta(seconds=2)
# outputs of a lesson: text, a framed page, a formula, a table
CELLS = """
```python
import lines
print("\\x1b[31mheights", lines.predict(2, 3, 4))
```

```python
from autograder import explore
explore("line.html")
```

$$ y = ax + b $$

| x | y |
| --- | --- |
| 1 | 2 |

"""
SYLLABUS = {
    "lesson_minutes": 20,
    "prerequisites": ["means"],
    "objectives": ["fit a line with `fit_line`"],
    "exercises": {
        "predict": {"minutes": [5, 10], "difficulty": 1, "weight": 2},
        "fit_line": {"minutes": [10, 30], "difficulty": 3, "weight": 2},
    },
    "questions": {"far_away": {"minutes": [5, 10], "difficulty": 2, "weight": 1}},
    "readings": [
        {
            "by": "Gauss",
            "title": "Theoria motus",
            "sections": "section 3",
            "address": "https://a.org",
        }
    ],
    "origin": "here",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Create a course of two weeks; the first has code, a framed page and text."""
    root = tmp_path_factory.mktemp("site") / "numbers"
    shutil.copytree(NUMBERS, root, ignore=shutil.ignore_patterns("__pycache__", "test_second*"))
    week = root / "exercises" / "week01_lines"
    lesson = (week / "lesson.md").read_text(encoding="utf-8")
    (week / "lesson.md").write_text(lesson.replace("## 1", CELLS + "## 1"), encoding="utf-8")
    (week / "syllabus.yaml").write_text(yaml.safe_dump(SYLLABUS), encoding="utf-8")
    (root / "assets").mkdir()
    moving = '<title>A line to turn</title><script id="data" type="application/json">{}</script>'
    (root / "assets" / "line.html").write_text(moving, encoding="utf-8")
    registry = (root / "course.yaml").read_text(encoding="utf-8")
    registry = registry.replace("lines.py\n", "lines.py\n    files: [line.html]\n")
    (root / "course.yaml").write_text(registry, encoding="utf-8")
    course = load(root, unfinished=True)
    for week in course.weeks:
        write_stub(course, week)
    return load(root)


@pytest.fixture(scope="module")
def site(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "students"
    built = build_site(course, folder, now=AFTER_WEEK_1)
    assert (built.weeks, built.waiting) == (["week01_lines"], ["week02_sorting"])
    return folder


@pytest.fixture(scope="module")
def page(site: Path) -> str:
    return (site / "week01_lines" / "index.html").read_text(encoding="utf-8")


@pytest.fixture
def notebook(course: Course, site: Path) -> Any:
    """Return the executed lesson that was cached when the site was built."""
    (kept,) = (course.state / "site").glob("week01_lines-*.ipynb")
    return nbformat.read(kept, as_version=4)


def test_before_its_date_nothing_of_a_week_is_there(course: Course, tmp_path: Path) -> None:
    build_site(course, tmp_path / "students", now=BEFORE)
    files = [p for p in (tmp_path / "students").rglob("*") if p.is_file()]
    assert sorted(p.name for p in files) == [".autograder-site", "index.html"]
    index = (tmp_path / "students" / "index.html").read_text(encoding="utf-8")
    assert "No week is released yet." in index
    assert "through points" not in index


def test_a_week_that_waits_is_named_nowhere(site: Path) -> None:
    said = "".join(p.read_text(encoding="utf-8") for p in site.rglob("*.html"))
    assert not re.search(r"week02|sorting|In order", said)


def test_the_index_leads_to_the_week(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    assert '<a href="week01_lines/index.html">Week 1 · A line through points</a>' in index
    assert "due Monday 14 January 2030, 23:59" in index


@pytest.mark.parametrize(
    "told",
    [
        "fit a line with <code>fit_line</code>",  # an objective
        "<li>means</li>",  # a prerequisite
        "2 points, 5 to 10 minutes, difficulty 1 of 5",
        "The authors estimate ½ to 1 hour in total",
        '<a href="https://a.org">Theoria motus</a>, section 3',
        "<details><summary>Hint 2 of 3 for predict</summary><p>Multiply, then add.</p>",
        '<pre tabindex="0">heights 10\n</pre>',  # printed output, without colours
        '<iframe src="explore-1.html" title="A line to turn" height="400">',
        '<div class="scroll formula" tabindex="0"><math display="block"',
        '<div class="scroll" tabindex="0"><table>',
        'id="question-far_away"',
    ],
)
def test_the_page_shows(page: str, told: str) -> None:
    assert told in page


def test_no_script_runs_on_the_page_itself(page: str) -> None:
    assert "<script" not in page
    assert "default-src 'none'" in page


def test_the_search_finds_each_section_and_task_where_it_is(site: Path, page: str) -> None:
    search = (site / "search.html").read_text(encoding="utf-8")
    index = re.search(r'id="index">(.*?)</script>', search, re.DOTALL)
    assert index is not None
    texts = {title: text for _, title, _, text in json.loads(index[1])}
    assert {"1 · A line", "Write predict", "Answer far_away in the notebook"} <= texts.keys()
    assert "heights 10" in texts["Week 1 · A line through points"]
    for _, _, address, _ in json.loads(index[1]):
        file, _, anchor = address.partition("#")
        assert file == "week01_lines/index.html"
        assert not anchor or f'id="{anchor}"' in page


def test_the_search_does_not_unfold_a_hint(site: Path, page: str) -> None:
    assert "Multiply, then add." in page
    assert "Multiply, then add." not in (site / "search.html").read_text(encoding="utf-8")


def test_the_search_page_runs_no_script_but_its_own(site: Path) -> None:
    search = (site / "search.html").read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", search, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'; style-src" in search


def test_the_map_shows_a_solutions_calls_when_its_week_is_due(
    course: Course, tmp_path: Path
) -> None:
    def syllabus(now: dt.datetime) -> str:
        build_site(course, tmp_path / "students", now=now)
        text = (tmp_path / "students" / "syllabus.html").read_text(encoding="utf-8")
        return words_of(text)

    assert "merge_sort calls merge" in syllabus(AFTER_WEEK_2_IS_DUE)
    assert "merge_sort calls" not in syllabus(AFTER_WEEK_2_IS_DUE - dt.timedelta(days=1))


def test_the_solution_is_not_on_the_page(page: str) -> None:
    assert "slope * x + intercept" not in words_of(page)


def test_an_output_that_shows_the_solution_is_stopped(course: Course, notebook: Any) -> None:
    week = course.weeks[0]
    source = course.solution(week).read_text(encoding="utf-8")
    leaking = copy.deepcopy(notebook)
    cell = next(c for c in leaking.cells if c.cell_type == "code" and c.get("outputs"))
    cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text=source))
    with pytest.raises(LeakError):
        week_pages(course, week, week_files(course, week), leaking)


def test_a_frame_that_shows_the_solution_is_stopped(course: Course, notebook: Any) -> None:
    week = course.weeks[0]
    source = course.solution(week).read_text(encoding="utf-8").replace(" ", "<b> </b>")
    leaking = copy.deepcopy(notebook)
    shown = next(
        o.data
        for c in leaking.cells
        for o in c.get("outputs", ())
        if "text/html" in o.get("data", {})
    )
    shown["text/html"] = shown["text/html"].replace(
        'srcdoc="', f'srcdoc="{source}'.replace('"""', "")
    )
    with pytest.raises(LeakError):
        week_pages(course, week, week_files(course, week), leaking)


def test_a_lesson_is_not_run_again_while_nothing_changed(course: Course, notebook: Any) -> None:
    files = week_files(course, course.weeks[0])
    (kept,) = (course.state / "site").glob("week01_lines-*.ipynb")
    written = kept.stat().st_mtime_ns
    assert executed_lesson(course, course.weeks[0], files) == notebook
    assert kept.stat().st_mtime_ns == written


def test_a_folder_with_something_else_is_left_alone(course: Course, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(BuildError, match="contains files that are not a site"):
        build_site(course, tmp_path, now=AFTER_WEEK_1)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_former_site_is_replaced(course: Course, tmp_path: Path) -> None:
    build_site(course, tmp_path / "students", now=AFTER_WEEK_1)
    build_site(course, tmp_path / "students", now=BEFORE)
    assert not (tmp_path / "students" / "week01_lines").exists()


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder, by path."""
    files = (p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def test_a_lesson_that_fails_stops_the_site_and_leaves_the_old_one(
    course: Course,
    site: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken = tmp_path / "course"
    shutil.copytree(course.root, broken)
    lesson = broken / "exercises" / "week01_lines" / "lesson.md"
    text = lesson.read_text(encoding="utf-8")
    lesson.write_text(text.replace("lines.predict(2, 3, 4)", "lines.predict(2)"), encoding="utf-8")
    out = tmp_path / "made" / "students"
    shutil.copytree(site, out)
    before = contents(tmp_path / "made")
    monkeypatch.chdir(broken)
    assert run(["site", "--out", str(out), "--at", "2030-01-08"]) == 2
    said = capsys.readouterr().err
    assert re.search(
        r"week01_lines: its lesson fails: .*code cell \d+, import lines: TypeError", said
    )
    assert contents(tmp_path / "made") == before
    assert contents(broken / ".autograder") == contents(course.root / ".autograder")


def test_a_cell_that_ends_python_is_named(course: Course) -> None:
    week = course.weeks[0]
    files = week_files(course, week)
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("import os"),
            nbformat.v4.new_code_cell("os._exit(1)"),
            nbformat.v4.new_code_cell("print(1)"),
        ]
    )
    files[f"{week.name}.ipynb"] = nbformat.writes(notebook).encode()
    (said,) = cell_problems(run_lesson(course, week, files))
    assert said == "code cell 2, os._exit(1): DeadKernelError: Python ended in this cell"


def test_a_page_that_cannot_be_written_leaves_the_old_site(
    course: Course, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "students"
    shutil.copytree(site, out)
    before = contents(tmp_path)
    written = Path.write_bytes

    def full_disk(path: Path, data: bytes) -> int:
        if path.name == "explore-1.html":
            raise OSError(28, "No space left on device")
        return written(path, data)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space"):
        build_site(course, out, now=AFTER_WEEK_1)
    assert contents(tmp_path) == before
