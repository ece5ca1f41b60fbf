"""`make gpu`: every command that it would run is there, and the page says what held."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from autograder.model.axes import has_cuda
from autograder.model.course import load
from benchmarks import prove_gpu
from benchmarks.prove_gpu import Step, page, prove, steps
from tests.courses import PROJECT


def test_every_step_runs_what_is_there(tmp_path):
    weeks = [w.name for w in load(PROJECT).weeks]
    planned = steps(weeks, 7, tmp_path)
    assert [s.name for s in planned if s.name.startswith("verify")] == [
        f"verify {w}" for w in weeks
    ]
    for step in planned:
        option, module, *rest = step.command
        assert option == "-m"
        assert importlib.util.find_spec(module) is not None
        folder = PROJECT / "exercises" / "week09_kernels" if step.folder == tmp_path else PROJECT
        paths = [r for r in rest if r.endswith(".py") or r.startswith("tests/")]
        assert all((folder / path).exists() for path in paths)


def test_the_page_says_what_holds_and_the_last_words_of_what_does_not():
    fine = prove(Step("fine", "it is", ("-c", "print('never shown')")))
    told = "import os; print(os.environ['TOLD'], '```'); raise SystemExit(3)"
    bad = prove(Step("bad", "it is not", ("-c", told), {"TOLD": "words"}))
    text = page([fine, bad])
    assert (fine.held, bad.held) == (True, False)
    assert "| fine | holds |" in text
    assert "| bad | does not hold |" in text
    assert "words '''" in text
    assert "never shown" not in text


@pytest.mark.skipif(has_cuda(), reason="here it would run")
def test_without_a_gpu_it_says_what_it_would_run_and_proves_nothing(monkeypatch, capsys, tmp_path):
    written = tmp_path / "GPU.md"
    monkeypatch.setattr(sys, "argv", ["prove_gpu", "--weeks", "week01", "--page", str(written)])
    assert prove_gpu.main() == 2
    said = capsys.readouterr().out
    assert "nothing is proven" in said
    assert "AUTOGRADER_ATTACKS_DEVICE=cuda python -m pytest" in said
    assert not written.exists()
