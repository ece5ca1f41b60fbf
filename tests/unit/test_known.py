"""What one submission of a class has shown, and for which others it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from autograder.grading.causes import FailureCause, FoundPlaces, KnownCauses, cause_of
from autograder.grading.guards import KnownGuards
from autograder.grading.kept import KeptRuns
from autograder.grading.plugin import Ran
from autograder.grading.targets import Answer
from autograder.model import report as reports
from autograder.model.report import Suspect
from autograder.model.verdicts import Verdict
from autograder.repair import wording
from autograder.worker.values import Encoder
from autograder.worker.wire import Reply

MEAN = """def mean(x, dim=-1):
    total = x.sum(-1)
    return total / x.shape[dim]
"""
MOVED = f"# mine\n\n{MEAN}".replace("total", "s")
FOUND = FoundPlaces((Suspect("m.py", 2, "mean", "axis"),), "forgets_an_axis")
X = torch.tensor([1.0, 2.0, 3.0])


def answer(x: torch.Tensor) -> Answer:
    encoder = Encoder()
    value = encoder(x)
    buffers = [memoryview(bytes(b)) for b in encoder.buffers]
    return Reply("ok", value=value, buffers=tuple(map(len, buffers))), buffers


def cause(
    source: str = MEAN, x: torch.Tensor = X, name: str = "t", named: bool = False
) -> FailureCause:
    report = reports.TestReport(name, Verdict.WRONG, 1.0, "")
    return cause_of("mean", wording(source, "mean"), [Ran(report, "mean", [answer(x)])], named)


def known() -> KnownCauses:
    causes = KnownCauses()
    causes.put(cause(), FOUND)
    return causes


def test_what_says_and_answers_the_same_has_its_mistake_in_the_same_place() -> None:
    found = known().get(cause(MOVED, X * (1 + 1e-7)))
    assert found == FoundPlaces((Suspect("m.py", 4, "mean", "axis"),), "forgets_an_axis")


@pytest.mark.parametrize(
    "other",
    [
        cause(x=X + 0.01),
        cause(x=X[:2]),
        cause(x=X.double()),
        cause(name="another test"),
        cause(named=True),
        cause(MEAN.replace("sum", "mean")),
    ],
)
def test_any_difference_makes_another_cause(other: FailureCause) -> None:
    assert known().get(other) is None


def test_a_module_that_cannot_be_read_is_like_no_other() -> None:
    causes = KnownCauses()
    causes.put(cause("def mean("), FoundPlaces())
    assert causes.get(cause("def mean(")) is None


def test_a_place_that_others_cannot_know_is_not_kept() -> None:
    causes = KnownCauses()
    causes.put(cause(), FoundPlaces((Suspect("m.py", 77, "mean", "axis"),)))
    assert causes.get(cause()) is None


def test_a_guard_is_asked_once_also_for_the_next_process(tmp_path: Path) -> None:
    guards = KnownGuards(KeptRuns(tmp_path, b"v1"))
    assert [guards.of(b"key", lambda: {"t": 0.75}) for _ in range(2)] == [{"t": 0.75}] * 2
    assert guards.of(b"other", dict) == {}
    assert guards.asked == 2
    later = KnownGuards(KeptRuns(tmp_path, b"v1"))
    assert (later.of(b"key", dict), later.of(b"other", lambda: {"t": 1.0})) == ({"t": 0.75}, {})
    assert later.asked == 0


def test_what_there_was_no_time_for_is_asked_again() -> None:
    guards = KnownGuards()
    assert guards.of(b"key", lambda: None) == {}
    assert guards.of(b"key", lambda: {"t": 1.0}) == {"t": 1.0}
    assert guards.asked == 2


def test_another_version_asks_for_itself(tmp_path: Path) -> None:
    KnownGuards(KeptRuns(tmp_path, b"v1")).of(b"key", lambda: {"t": 1.0})
    assert KnownGuards(KeptRuns(tmp_path, b"v2")).of(b"key", dict) == {}


@pytest.mark.parametrize("content", [b"", b"x", b"\x82"])
def test_guards_that_cannot_be_read_are_asked_again(tmp_path: Path, content: bytes) -> None:
    kept = KeptRuns(tmp_path, b"v1")
    kept.put_guard(b"key", {"t": 1.0}, 10)
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    assert kept.guards() == {}


def test_the_latest_guards_are_kept_up_to_a_bound(tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path, b"v1")
    for key in (b"a", b"b", b"c"):
        kept.put_guard(key, {}, 2)
    assert list(kept.guards()) == [b"b", b"c"]
