"""Test that problems with notebooks and names are fixed, reported and listed in status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.cli.instructor import overview
from autograder.model.course import Course, Week
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.history import read_student
from autograder.nbgrader.collect.notebooks import read_cells
from autograder.nbgrader.gradebook.report_store import stored_report
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.status import status
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import SOLUTION, STUB, WEEK, graded, report

Files = dict[str, str | bytes]
DOUBLE = "import math\n\n\ndef double(x):\n    return x * FACTOR"
CODE = f"%matplotlib inline\nfrom doubling import *\nFACTOR = 2\n{DOUBLE}\nprint(double(2))"


def edited(notebook: str, edit: Callable[[list[Any]], object]) -> str:
    content = json.loads(notebook)
    edit(content["cells"])
    return json.dumps(content)


def cell(cells: list[Any], name: str) -> Any:
    return next(c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def code(source: str) -> dict[str, Any]:
    more = {"execution_count": None, "id": "mine", "metadata": {}, "outputs": []}
    return {"cell_type": "code", "source": source, **more}


TROUBLES: dict[str, Callable[[str], Files]] = {
    "unreadable": lambda n: {"doubling.py": SOLUTION, f"{WEEK}.ipynb": n[:-50]},
    "missing": lambda n: {"doubling.py": SOLUTION},
    "renamed": lambda n: {"doubling.py": SOLUTION, "mine.ipynb": n},
    "deleted": lambda n: {
        "doubling.py": SOLUTION,
        f"{WEEK}.ipynb": edited(n, lambda cells: cells.remove(cell(cells, "why"))),
    },
    "doubled": lambda n: {
        "doubling.py": SOLUTION,
        f"{WEEK}.ipynb": edited(n, lambda cells: cells.append(cell(cells, "why"))),
    },
    "edited": lambda n: {
        "doubling.py": SOLUTION,
        f"{WEEK}.ipynb": edited(n, lambda c: cell(c, "double").update(source="double(3)")),
    },
    "code": lambda n: {
        "doubling.py": STUB,
        f"{WEEK}.ipynb": edited(n, lambda cells: cells.append(code(CODE))),
    },
    "module": lambda n: {"doubling (1).py": SOLUTION, f"{WEEK}.ipynb": n},
}
SAID = {
    "unreadable": "Your notebook could not be read",
    "missing": "Your submission has no notebook",
    "renamed": "Your notebook had a different name",
    "deleted": "In your notebook, the cell of your answer `why` was deleted",
    "doubled": "the cell of your answer `why` appears twice: the first one with changes counts",
    "edited": 'the cell `check("double")` was changed; it was restored',
    "code": "Your notebook defines `double`, but doubling.py does not. Move your code",
    "module": "'doubling (1).py' was taken as doubling.py",
}


@pytest.fixture
def recorded(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> Callable[..., None]:
    def recorded(**troubles: str) -> None:
        """Submit for each student with the given problem, then collect and record."""
        for student, trouble in troubles.items():
            hand_in(student, TROUBLES[trouble](notebook))
        collect(course, week, check_owner=False)
        record(course, week, report(*(graded(student, 2, 1) for student in troubles)))

    return recorded


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_trouble_is_kept_with_the_report(
    recorded: Callable[..., None], course: Course, week: Week, trouble: str
) -> None:
    recorded(ada=trouble)
    kept = stored_report(course, week, "ada")
    assert kept is not None
    assert [n.kind for n in kept.notes] == [trouble]
    assert SAID[trouble] in kept.notes[0].text


def test_half_of_an_emoji_costs_no_score(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    half = edited(
        notebook, lambda cells: cell(cells, "why").update(source="Because \ud83d \\ud83d")
    )
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": half})
    collect(course, week, check_owner=False)
    recording = record(course, week, report(graded("ada", 2, 1)))
    assert recording.left_out == {}
    answers = read_cells(Workspace(course).submitted("ada", week) / f"{WEEK}.ipynb")
    assert cell(answers, "why")["source"] == "Because \ufffd \\ud83d"


MARKED = "My answer."
PICTURE = f"![x](data:image/png;base64,{'A' * (2 << 20)})\n\n{MARKED}"


def doubled(cells: list[Any]) -> None:
    own = cell(cells, "why")
    cells.insert(cells.index(own) + 1, {**own, "id": "copy", "source": MARKED})


def far_below(cells: list[Any]) -> None:
    cell(cells, "why").update(source=MARKED)
    cells[:0] = [{**code(""), "id": f"c{n}"} for n in range(1100)]


ANSWERED: dict[str, Callable[[str], bytes]] = {
    "in the second copy of its cell": lambda n: edited(n, doubled).encode(),
    "after a thousand cells": lambda n: edited(n, far_below).encode(),
    "below a large picture": lambda n: edited(
        n, lambda cells: cell(cells, "why").update(source=PICTURE)
    ).encode(),
    "in UTF-16": lambda n: n.replace("*Your answer here.*", MARKED).encode("utf-16"),
    "behind a byte order mark": lambda n: n.replace("*Your answer here.*", MARKED).encode(
        "utf-8-sig"
    ),
}


@pytest.mark.parametrize("where", ANSWERED)
def test_an_answer_is_found(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str, where: str
) -> None:
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": ANSWERED[where](notebook)})
    collect(course, week, check_owner=False)
    record(course, week, report(graded("ada", 2, 1)))
    answers = read_cells(Workspace(course).autograded("ada", week) / f"{WEEK}.ipynb")
    assert "".join(cell(answers, "why")["source"]).endswith(MARKED)


def test_text_that_is_cut_says_so(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    long = edited(notebook, lambda cells: cell(cells, "why").update(source="x" * (3 << 20)))
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": long})
    collect(course, week, check_owner=False)
    record(course, week, report(graded("ada", 2, 1)))
    answers = read_cells(Workspace(course).autograded("ada", week) / f"{WEEK}.ipynb")
    assert "The rest was cut off" in "".join(cell(answers, "why")["source"])


def test_what_is_in_order_is_not_noted(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    both = edited(notebook, lambda cells: cells.append(code(CODE)))  # code in both files
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": both})
    collect(course, week, check_owner=False)
    assert read_student(course, week, "ada").notes == ()


@pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",  # by nbgrader, releasing feedback
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
def test_students_read_it_in_their_feedback(
    recorded: Callable[..., None], course: Course, week: Week
) -> None:
    recorded(ada="code")
    return_feedback(course, week)
    page = Workspace(course).feedback_page("ada", week).read_text("utf-8")
    assert "About your submission" in page
    assert "Your notebook defines <code>double</code>" in page


def test_status_has_a_line_for_each_kind_of_trouble(
    recorded: Callable[..., None],
    course: Course,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(course.root)
    recorded(ada="missing", bob="missing", carl="module", dora="missing")
    (found,) = status(course)
    assert found.noted == {"missing": ["ada", "bob", "dora"], "module": ["carl"]}
    assert not overview.status()
    lines = [line for line in capsys.readouterr().out.splitlines() if "LOOK" in line]
    assert lines == [
        f"{WEEK}: LOOK  the notebook is missing; replaced by an empty one: 3 (ada, bob, dora)",
        f"{WEEK}: LOOK  the module had a different name: 1 (carl)",
    ]


@pytest.mark.parametrize(
    "name",
    ["doubling(2).py", "Doubling.py", "doubling - Copy.py", "doubling_copy.py", "doubling.py.txt"],
)
def test_a_module_is_known_by_the_names_that_computers_give_it(
    course: Course, week: Week, hand_in: Callable[..., Path], name: str
) -> None:
    hand_in("ada", {name: SOLUTION})
    collect(course, week, check_owner=False)
    assert read_student(course, week, "ada").files == {"doubling.py": SOLUTION.encode()}


def test_of_two_such_names_the_student_has_to_choose(
    course: Course, week: Week, hand_in: Callable[..., Path]
) -> None:
    hand_in("ada", {"doubling (1).py": SOLUTION, "doubling (2).py": STUB})
    collect(course, week, check_owner=False)
    assert "could each be your doubling.py" in read_student(course, week, "ada").problem


@pytest.mark.parametrize(
    "notebook",
    ["[]", '{"cells": 3}', '{"cells": [3, {"metadata": {"nbgrader": []}, "source": {}}]}', "\0"],
)
def test_a_hostile_notebook_is_no_matter(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    collect(course, week, check_owner=False)
    found = read_student(course, week, "ada")
    assert (found.problem, found.files) == ("", {"doubling.py": SOLUTION.encode()})
