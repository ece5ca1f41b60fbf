"""Where values of a wrong program leave those of right ones; all of it in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from autograder.grading.probes import Probe
from autograder.grading.targets import InProcess
from autograder.grading.traces import OwnPrograms, Traces
from autograder.worker import wire
from autograder.worker.values import Encoder

SOLUTION = """import torch

def f(q, k):
    scores = q @ k.mT
    scores = scores / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1)
"""
OTHER_WAY = """import torch

def f(q, k):
    e = torch.exp(torch.einsum("nd,md->nm", q, k) / q.shape[-1] ** 0.5)
    return e / e.sum(-1, keepdim=True)
"""
BANK = {
    "no_scale": SOLUTION.replace("    scores = scores / q.shape[-1] ** 0.5\n", ""),
    "over_queries": SOLUTION.replace("dim=-1", "dim=-2"),
}
OWN_WORDS = """import torch

def f(a, b):
    width = a.size(1)
    table = torch.einsum("id,jd->ij", a, b)
    e = (table / width ** 0.5).exp()
    total = e.sum(0, keepdim=True)
    return e / total
"""


@pytest.fixture
def traces(tmp_path: Path) -> Traces:
    def target(source: str) -> InProcess:
        folder = tmp_path / str(abs(hash(source)))
        folder.mkdir(exist_ok=True)
        (folder / "m.py").write_text(source)
        return InProcess(folder / "m.py")

    made = Traces(
        "f", OwnPrograms(lambda: [SOLUTION, OTHER_WAY], tuple(BANK), BANK.__getitem__, target)
    )
    made.target = target
    return made


def probe(name: str = "test_values", seed: int = 0) -> Probe:
    torch.manual_seed(seed)
    encoder = Encoder()
    args = tuple(encoder(torch.randn(n, 3)) for n in (4, 5))
    frame = wire.pack(wire.Call("f", None, "f", args, {}, "cpu", fresh=True), encoder.buffers)
    return Probe(name, [(frame, (wire.Reply("ok"), []))])


def hints(traces: Traces, source: str, *names: str):
    return traces.hints(source, frozenset(), traces.target, [probe()], names)


def test_a_line_is_odd_where_its_value_is_no_right_programs(traces):
    found = hints(traces, OWN_WORDS)
    assert ("f", 7) in found.odd
    assert ("f", 5) in found.right


def test_a_named_mistake_is_where_what_makes_its_value_leaves_the_right_ones(traces):
    assert hints(traces, OWN_WORDS, "over_queries").named == (("over_queries", ("f", 7)),)


def test_of_a_missing_step_the_place_is_told(traces):
    wrong = SOLUTION.replace("    scores = scores / q.shape[-1] ** 0.5\n", "")
    assert ("f", 4) in hints(traces, wrong).odd  # what should have been scaled


def test_a_value_that_one_mistake_alone_makes_names_it(traces):
    twice = OWN_WORDS.replace("return e / total", "return (e / total).double()")
    found = traces.hints(twice, frozenset(), traces.target, [probe(), probe("again", 2)], ())
    assert found.betrayed == "over_queries"
    alone = hints(traces, twice)
    assert [x.name for x in alone.likely if x.seen] == ["over_queries"]
    assert alone.betrayed == ""  # one test is no test


def test_right_code_betrays_nothing(traces):
    right = OWN_WORDS.replace("sum(0", "sum(1")
    found = hints(traces, right)
    assert found.betrayed == ""
    assert hints(traces, right, "over_queries").named == ()


def test_what_cannot_be_run_says_nothing(traces):
    found = hints(traces, "def f(:\n")
    assert not found.odd
    assert not found.named
