"""Test locating mistakes by side effects, refused changes and accesses outside of tensors."""

from __future__ import annotations

from autograder.grading.localization.candidate_runner import Probe, WrongExercise
from autograder.grading.localization.reply_evidence import reply_places
from autograder.grading.running.pytest_plugin import Ran
from autograder.model.report import schema
from autograder.model.report.schema import Verdict
from autograder.worker.protocol import frames
from autograder.worker.protocol.frames import Counts, Raised, Reply
from autograder.worker.protocol.messages import Effect, LaunchCounts, SideEffect

OK = Reply("ok")
REFUSED = Reply("ok", raised=Raised("ValueError", (), "", None))
CACHE = """class Cache:
    def append(self, k):
        new = list(self.pages)
        new.append(k)
        self.length += 1
        if self.length > self.room:
            raise ValueError
        self.pages.append(k)

    def reset(self, model):
        model.eval()
        self.length = 0
        model.train()
        return model.training
"""


def lines(*answered: tuple[Reply, ...], right: tuple[Reply, ...] = (OK,)) -> list[int]:
    """Return the lines found if each failed test got these replies to calls of `append`."""
    failed, probes = list[Ran](), dict[str, Probe]()
    call = frames.pack(frames.Call("Cache", 0, "append", (), {}, "cpu"), [])
    for number, replies in enumerate(answered):
        report = schema.TestReport(f"test_{number}", Verdict.WRONG, 1.0)
        failed.append(Ran(report, "Cache", [(reply, []) for reply in replies]))
        probes[report.name] = Probe(report.name, [(call, (reply, [])) for reply in right])
    wrong = WrongExercise({"m.py": CACHE.encode()}, "m.py", "Cache", frozenset(), tuple(failed))
    return [place.line for place in reply_places(wrong, probes)]


def test_a_change_before_a_refusal_is_located() -> None:
    assert lines((REFUSED, OK), right=(REFUSED, OK)) == [5]


def test_a_change_is_no_mistake_if_a_test_fails_without_a_refusal() -> None:
    assert lines((REFUSED, OK), (OK, OK), right=(REFUSED, OK)) == []


def test_the_last_statement_with_a_side_effect_is_located() -> None:
    changed = Reply("ok", side_effects=(SideEffect(Effect.MODE),))
    assert lines((changed,)) == [13]
    assert lines((changed,), (OK,)) == []


def outside(line: int) -> Reply:
    return Reply("ok", counts=Counts(0, 0, 0, launches=(LaunchCounts(1, 0, 2, 8, (), (), line),)))


def test_an_access_outside_of_a_tensor_is_located() -> None:
    assert lines((outside(8),), (OK,)) == [8]
    assert lines((outside(8),), (outside(9),)) == []
