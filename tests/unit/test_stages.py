"""Test how the stages of a project folder end."""

from __future__ import annotations

import torch

from autograder.student.checks.stages import run_stage


class NoBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()


def test_a_backward_that_a_library_misses_is_no_unwritten_function():
    x = torch.ones(1, requires_grad=True)
    stage = run_stage("Train.", lambda: NoBackward.apply(x).backward(), {"flash": 7})
    assert not stage.passed
    assert not stage.unwritten
    assert "NotImplementedError" in stage.why


def test_a_stub_is_an_unwritten_function(tmp_path):
    path = tmp_path / "flash.py"
    path.write_text('def tiled_attention():\n    raise NotImplementedError("tiled_attention")\n')
    module: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), module)
    stage = run_stage("Train.", module["tiled_attention"], {"flash": 7})  # type: ignore[arg-type]
    assert stage.unwritten
    assert stage.why == "tiled_attention (flash.py, week 7) is not written yet."
