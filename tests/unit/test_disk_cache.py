"""Test the cache of misconception runs."""

import pytest

from autograder.grading.outcomes import Crashed, TimedOut
from autograder.grading.running.disk_cache import RunCache
from autograder.grading.running.pytest_plugin import Ran
from autograder.grading.targets.in_process import InProcess, RecordedTarget
from autograder.model.report import schema as reports
from autograder.model.report.schema import Verdict
from autograder.worker.protocol.frames import Call, Raised, Reply, pack

RUN = Ran(
    reports.TestReport(
        "test_f.py::test_g[cpu]", Verdict.WRONG, 2.0, "It is off.", claim="It fits."
    ),
    "f",
    [
        (Reply("ok", value=(1.5), buffers=(2, 1)), [memoryview(b"xy"), memoryview(b"z")]),
        (Reply("raised", raised=Raised("ValueError", ("ValueError",), "bad", 3)), []),
        Crashed("it died"),
        TimedOut("too long"),
    ],
)


def plain(run):
    return [str(a) if isinstance(a, Exception) else (a[0], *map(bytes, a[1])) for a in run.answers]


def test_what_one_process_keeps_another_finds(tmp_path):
    RunCache(tmp_path / "bank", b"v1").put("off_by_one", [RUN])
    (found,) = RunCache(tmp_path / "bank", b"v1").get("off_by_one")
    assert (found.report, found.exercise, plain(found)) == (RUN.report, RUN.exercise, plain(RUN))
    assert [type(a) for a in found.answers[2:]] == [Crashed, TimedOut]


def test_a_misconception_that_fails_nothing_is_known_too(tmp_path):
    RunCache(tmp_path, b"v1").put("harmless", [])
    assert RunCache(tmp_path, b"v1").get("harmless") == []


def test_another_version_of_the_graders_knows_nothing_of_it(tmp_path):
    RunCache(tmp_path, b"v1").put("off_by_one", [RUN])
    assert RunCache(tmp_path, b"v2").get("off_by_one") is None


@pytest.mark.parametrize("keep", [0, 1, 10, -1])
def test_a_file_that_was_cut_off_is_as_good_as_none(tmp_path, keep):
    kept = RunCache(tmp_path, b"v1")
    kept.put("off_by_one", [RUN])
    (path,) = tmp_path.glob("off_by_one*")
    path.write_bytes(path.read_bytes()[:keep])
    assert kept.get("off_by_one") is None


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path):
    (tmp_path / "bank").write_text("in the way")
    kept = RunCache(tmp_path / "bank", b"v1")
    kept.put("off_by_one", [RUN])
    assert kept.get("off_by_one") is None


def test_nobody_else_may_read_it(tmp_path):
    RunCache(tmp_path / "bank", b"v1").put("off_by_one", [RUN])
    (path,) = (tmp_path / "bank").iterdir()
    assert (tmp_path / "bank").stat().st_mode & 0o77 == 0
    assert path.stat().st_mode & 0o77 == 0


def test_the_solution_is_not_asked_twice(tmp_path):
    source = tmp_path / "m.py"
    source.write_text("asked = []\ndef f():\n    asked.append(1)\n    return len(asked)\n")
    call = pack(Call("f", None, "f", (), {}, "cpu"), [])
    target = RecordedTarget(InProcess(source))
    for _ in range(2):
        target.begin("test", "f")
        assert target.request(call)[0].value == 1
