"""`check` on files of every kind: correct, wrong, broken, hostile."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.batch.intake import read_submission
from autograder.model.course import Limits, Week
from autograder.student.commands.check import check_in_notebook, check_week
from autograder.student.show.check_text import Layout, lines, plain

from .conftest import SOLVED

GOLDEN = Path(__file__).parent / "golden"


def first(result, name):
    return next(e for e in result.exercises if e.name == name).first.failure


def states(result):
    return {e.name: e.state for e in result.exercises}


def test_what_is_not_written_is_open_and_not_failed(tiny):
    result = check_week(tiny, tiny.names)
    assert states(result) == {"double": "open", "double_all": "open", "shout": "open"}


def test_a_right_file_passes(write):
    assert check_week(write(*SOLVED.values()), ["double", "double_all", "shout"]).passed


def test_each_kind_of_failure_is_told_apart(write):
    folder = write(
        "def double(x):\n    print('seen', x)\n    return 3 * x",
        SOLVED["double_all"],
        "def shout(text):\n    return text.upperr()",
    )
    result = check_week(folder, folder.names)
    wrong, raised = first(result, "double"), first(result, "shout")
    assert (wrong.kind, wrong.message) == ("wrong", "twice 3 is 6, not 9")
    assert wrong.output == "seen 3\nseen 3\n"
    assert (raised.kind, raised.error) == ("raised", "AttributeError")
    assert raised.code == "return text.upperr()"
    assert folder.module.read_text().split("\n")[raised.line - 1].strip() == raised.code


def test_output_that_is_cut_at_its_beginning_is_marked(write):
    flood = "def double(x):\n    print(*range(9000), sep='\\n')\n    return 3 * x"
    output = first(check_week(write(flood), ["double"]), "double").output
    assert output.startswith("… ")
    assert output.endswith("\n8999\n")


def test_numbers_of_numpy_are_written_as_numbers(write):
    pair = "import numpy as np\ndef double(x):\n    return np.float64(1e-3), np.int64(-9), np.True_"
    result = check_week(write(pair), ["double"])
    assert first(result, "double").message == "twice 3 is 6, not (0.001, -9, np.True_)"


def test_an_exercise_that_uses_an_unwritten_one_waits(write):
    result = check_week(write(SOLVED["double_all"]), ["double_all"])
    assert states(result) == {"double_all": "waiting"}
    assert first(result, "double_all").waits_for == "double"


def test_a_deleted_function_is_missing(write):
    assert first(check_week(write("del shout"), ["shout"]), "shout").kind == "missing"


def test_a_file_that_python_cannot_read_is_told_once(write):
    text = plain(check_week(write("def shout(text:\n    return 1"), ["double", "shout"]))
    assert text.count("tiny.py does not run: line 24, `'(' was never closed`") == 1
    assert "    def shout(text:\n               ^" in text
    assert "double" not in text


def test_an_endless_loop_costs_only_its_exercise(write):
    folder = write("def double(x):\n    while True:\n        x += 1", SOLVED["shout"])
    result = check_week(folder, ["double", "shout"], seconds=1)
    assert states(result) == {"double": "fail", "shout": "pass"}
    assert first(result, "double").kind == "timeout"
    assert first(result, "double").code in ("while True:", "x += 1")


def test_leaving_python_costs_only_its_exercise(write):
    folder = write("def double(x):\n    import os; os._exit(7)", SOLVED["shout"])
    result = check_week(folder, ["double", "shout"])
    assert states(result) == {"double": "fail", "shout": "pass"}
    assert "exited with code 7" in plain(result)


def test_the_import_is_stopped_once_however_many_exercises_there_are(write):
    folder = write("import os\n\nos._exit(7)", SOLVED["shout"])
    shown = plain(check_week(folder, ["double", "shout"]))
    assert "tiny.py does not run: it ends Python (`os._exit()`)" in shown
    assert "shout" not in shown


def test_leaving_python_after_the_import_is_not_told_of_it(write):
    folder = write("def shout(text):\n    import os; os._exit(7)")
    assert check_week(folder, ["shout"]).broken is None


def test_a_library_is_not_hidden_by_a_file_beside_the_module(write):
    folder = write("import torch", SOLVED["shout"])
    (folder.path / "torch.py").write_text("raise RuntimeError('this is not torch')")
    assert check_week(folder, ["shout"]).passed


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return input('a number: ')", "It waits for keyboard input (`input()`)"),
        ("import sys; return sys.stdin.readline()", "It waits for keyboard input"),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            "Python itself crashed (SIGSEGV)",
        ),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "Did it run out of memory?"),
    ],
)
def test_accidents_are_told_in_words(write, body, said):
    result = check_week(write(f"def double(x):\n    {body}"), ["double"])
    assert said in " ".join(plain(result).split())


@pytest.mark.parametrize(
    ("encoding", "fine"),
    [("utf-8-sig", True), ("utf-8", True), ("latin-1", False)],
)
def test_check_and_grader_read_the_same_encodings(write, encoding, fine):
    folder = write(*SOLVED.values(), "greeting = 'Grüße'")
    text = folder.module.read_text("utf-8").replace("\n", "\r\n")
    folder.module.write_bytes(text.encode(encoding))
    week = Week("week03_tiny", "Tiny", "tiny.py", *(dt.datetime(2027, 1, n) for n in (11, 18)), ())
    handed_in = read_submission(folder.module, week, Limits())
    result = check_in_notebook(None, folder.path)
    assert (result.passed, not handed_in.problem) == (fine, fine)
    if encoding == "latin-1":
        assert repr(result) in handed_in.problem


def test_what_only_uses_a_broken_exercise_says_so_and_comes_after_it(write):
    folder = write("def double(x):\n    return 3 * x", SOLVED["double_all"])
    result = check_week(folder, ["double_all", "double"])
    assert [e.uses for e in result.exercises] == [("double",), ()]
    text = plain(result)
    assert "double_all  1 of 2 checks, uses double" in text
    assert "double: three" in text
    alone = " ".join(plain(check_week(folder, ["double_all"])).split())
    assert "It calls `double`, which also fails: fix that first" in alone
    write(
        "def double(x):\n    return 3 * x + 0", SOLVED["double_all"]
    )  # changed since its last check
    assert check_week(folder, ["double_all"]).exercises[0].uses == ()


def test_of_several_checks_each_is_named(write):
    result = check_week(write("def double(x):\n    return 0"), ["double"])
    assert "Its checks: ✗ three · ✓ Twice zero is zero." in plain(result)
    assert "Twice zero is zero." in result._repr_html_()


@pytest.mark.parametrize("width", [40, 57, 80, 120])
def test_no_line_is_wider_than_the_terminal(write, width):
    folder = write(
        "def double(x):\n    print('a b c ' * 60)\n    raise ValueError('much to say ' * 20)",
        SOLVED["double_all"],
    )
    result = check_week(folder, folder.names)
    shown = [line.plain for line in lines(result, Layout(width))]
    paths = ("Next:", "      ")  # commands and places to copy stay whole
    assert all(len(line) <= width for line in shown if not line.startswith(paths))
    assert max(map(len, shown)) > width - 15


def test_a_polite_exit_is_an_exception(write):
    assert (
        first(check_week(write("def shout(t):\n    exit()"), ["shout"]), "shout").kind == "raised"
    )


def test_a_check_that_cannot_run_here_says_what_it_needs(write):
    folder = write(SOLVED["shout"])
    folder.checks.write_text(
        "import pytest\n\ndef test_shout_x():\n    pytest.skip('needs keras')\n"
    )
    result = check_week(folder, ["shout"])
    assert states(result) == {"shout": "skipped"}


def test_a_call_that_is_not_allowed_is_seen_before_it_costs_points(write):
    folder = write(
        SOLVED["double"],
        "import functools as mapped\n"
        "def double_all(xs):\n    return list(xs and [double(x) for x in xs]) or mapped.mapper(xs)",
    )
    failure = first(check_week(folder, ["double_all"]), "double_all")
    assert (failure.kind, failure.error) == ("forbidden", "functools.mapper")


def test_a_file_saved_twice_in_one_second_is_read_again(write):
    folder = write("def shout(text):\n    return 'B'")
    subprocess.run([sys.executable, "-c", "import tiny"], cwd=folder.path, check=True)
    stamp = folder.module.stat().st_mtime
    write("def shout(text):\n    return 'A'")
    os.utime(folder.module, (stamp, stamp))
    assert check_week(folder, ["shout"]).passed


def test_the_folder_stays_as_it_was_but_for_the_memory(write):
    folder = write(*SOLVED.values())
    before = {p.name for p in folder.path.iterdir()}
    check_week(folder, folder.names)
    assert {p.name for p in folder.path.iterdir()} - before == {".autograder-student.json"}


@pytest.mark.parametrize("name", ["double", "nonsense"])
def test_in_a_notebook_nothing_is_raised(name, tmp_path, write):
    broken = write("raise RuntimeError('at import')")
    for folder in (tmp_path, broken.path):
        result = check_in_notebook(name, folder)
        assert not result.passed
        assert repr(result)
        assert result._repr_html_()


def test_html_of_a_result_is_escaped(write):
    folder = write("def shout(text):\n    print('<b>x</b>')\n    raise ValueError('<script>')")
    page = check_week(folder, ["shout"])._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt;x" in page


def test_shapes_stand_beside_the_line_that_failed(week1, bank):
    wrong = "\ndef scaled_dot_product_attention(q, k, v):\n    return q @ k, v\n"
    (week1 / "softmax.py").write_text(bank.solution + wrong, encoding="utf-8")
    failure = check_in_notebook("scaled_dot_product_attention", week1).exercises[0].first.failure
    assert failure.facts == (
        "q: tensor of shape (2, 4), float32",
        "k: tensor of shape (3, 4), float32",
        "v: tensor of shape (3, 2), float32",
    )


def test_a_known_folder_reads_as_in_the_golden_file(week1, bank):
    mistakes = {m.name: m.source.removeprefix(bank.solution) for m in bank.misconceptions}
    source = bank.solution + mistakes["leaves_the_graph"] + mistakes["counts_only_the_inputs"]
    source += "\ndef ascii_heatmap(*a, **k):\n    raise NotImplementedError('ascii_heatmap')\n"
    (week1 / "softmax.py").write_text(source, encoding="utf-8")
    assert plain(check_in_notebook(None, week1)) + "\n" == (GOLDEN / "check.txt").read_text("utf-8")


def test_no_right_program_is_suspected_of_what_is_not_allowed(course):
    from autograder.model.course.bank import Bank
    from autograder.model.source.reachable import Sources
    from autograder.model.source.rules import Rules, refusals, texts_of

    for week in course.weeks:
        bank = Bank(course, week)
        rules = {e.name: Rules(week.patterns(e.name), e.source_not_allowed) for e in week.exercises}
        for source in (bank.solution, *bank.alternatives.values()):
            files = Sources(texts_of({week.module: source.encode()}), week.module)
            assert refusals(files, rules, libraries=week.importable) == {}


def test_open_points_count_only_as_many_electives_as_count(tmp_path):
    from autograder.student.checks.check_results import CheckResult, ExerciseResult
    from autograder.student.folder.week import WeekFile, WeekFolder

    def exercise(points, state, elective):
        return ExerciseResult("x", points, state, 0, 1, elective=elective)

    some = (exercise(1, "fail", False), exercise(3, "open", True), exercise(2, "pass", True))
    more = (exercise(5, "open", True),)
    due = dt.datetime(2027, 1, 18, tzinfo=dt.UTC)
    week = WeekFile("week01_x", "X", "x.py", due, (), electives_counted=2)
    result = CheckResult(WeekFolder(tmp_path, week), some + more)
    assert result.open_points == 1 + 5


def test_plain_pytest_in_the_folder_says_the_same(write):
    folder = write(SOLVED["shout"])
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in ran.stdout
    assert "4 failed" in ran.stdout


def test_a_package_that_is_missing_is_named(write):
    from autograder.model.errors import KitError

    folder = write(SOLVED["shout"])
    folder.checks.write_text("import no_such_package\n")
    with pytest.raises(KitError, match="pip install no_such_package"):
        check_week(folder, ["shout"])


def test_a_file_named_like_a_library_does_not_stop_the_checks(write):
    folder = write(SOLVED["shout"])
    (folder.path / "msgspec.py").write_text("raise RuntimeError")
    assert check_week(folder, ["shout"]).passed


def test_under_nbgraders_validate_a_failing_check_raises(write, monkeypatch):
    from autograder import check
    from autograder.student.commands.check import NotPassed

    folder = write(SOLVED["double"])
    monkeypatch.chdir(folder.path)
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert check("double").passed
    with pytest.raises(NotPassed, match="shout"):
        check("shout")
