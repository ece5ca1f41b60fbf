"""Golden reports: a submission, and the report it must give, byte for byte (timings aside).

Run with `--regold` after a change that is meant to alter reports, and read the difference.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SECRET = b"golden reports need inputs that never change"


@pytest.fixture(scope="module")
def reports(tmp_path_factory, autograder):
    course = tmp_path_factory.mktemp("golden") / "course"
    shutil.copytree(HERE / "course", course, ignore=shutil.ignore_patterns("__pycache__"))
    (course / ".autograder").mkdir()
    (course / ".autograder" / "secret").write_bytes(SECRET)
    paths = sorted((HERE / "submissions").iterdir())
    output = course / "report.json"
    done = autograder("grade", "1", *paths, "--device", "fake-gpu", "--json", output, cwd=course)
    assert done.returncode == 1, done.stderr  # two of them are refused
    return json.loads(output.read_text(encoding="utf-8"))


def test_the_report_has_the_shape_that_others_rely_on(reports):
    assert reports["schema"] == 3
    assert reports["week"] == "week01_tiny"
    assert reports["devices"] == ["cpu", "fake-gpu"]
    submission = reports["submissions"][0]
    assert {"name", "verdict", "message", "score", "max_score", "seconds", "exercises"} <= set(
        submission
    )
    exercise = next(s for s in reports["submissions"] if s["name"] == "solution")["exercises"][0]
    assert {"name", "score", "max_score", "diagnosis", "tests"} <= set(exercise)
    assert {"name", "verdict", "weight", "message", "public"} <= set(exercise["tests"][0])
    assert exercise["tests"][-1]["name"] == "test_weigh.py::test_device[fake-gpu]"


@pytest.mark.parametrize("name", sorted(p.name for p in (HERE / "submissions").iterdir()))
def test_the_report_of(name, reports, request):
    found = next(s for s in reports["submissions"] if s["name"] == name)
    del found["seconds"]
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    golden = HERE / "expected" / f"{name}.json"
    if request.config.getoption("--regold"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
