"""Test the parts of GPU support that need no GPU; `make gpu` tests the rest."""

from __future__ import annotations

import importlib.util
import sys

import pytest
import torch

from autograder.model.availability import has_cuda
from autograder.model.course import load
from autograder.sandbox import mounts, processes
from autograder.worker.torch_support import devices
from benchmarks import prove_gpu
from benchmarks.prove_gpu import Step, not_run, page, prove, steps
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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("3 passed, 2 deselected in 1.20s", ""),
        ("SKIPPED [2] tests/a.py:3: thorough: AUTOGRADER_E2E=1\n3 passed, 2 skipped", ""),
        ("SKIPPED [2] tests/a.py:3: bubblewrap is not installed\n3 passed, 2 skipped", "skipped: "),
        ("2 skipped in 0.10s", "no test was run"),
        ("no tests ran in 0.10s", "no test was run"),
    ],
)
def test_tests_that_were_skipped_hold_nothing(words, told):
    found = not_run(Step("tests", "", ("-m", "pytest")), words)
    assert found.startswith(told) if told else not found


def test_a_week_that_was_not_run_holds_nothing():
    step = Step("verify", "", ("-m", "autograder", "verify"))
    assert not_run(step, "not_run: exercises of week09_kernels need triton (pip install triton)")
    assert not_run(step, "2 tests cannot run on this machine")
    assert not not_run(step, "1 week, 67 tests, 4 alternatives, 105 misconceptions: 0 gaps")


def test_a_step_that_hangs_ends_and_does_not_hold(monkeypatch):
    monkeypatch.setattr(prove_gpu, "_MOST_SECONDS", 0.5)
    hung = prove(Step("hung", "it ends", ("-c", "import time; time.sleep(600)")))
    assert not hung.held
    assert "did not end" in hung.words


def test_of_a_gpus_nodes_those_are_shown_that_computing_needs(tmp_path):
    needed = {"nvidia0", "nvidia12", "nvidiactl", "nvidia-uvm", "nvidia-caps"}
    for name in (*needed, "nvidia-modeset", "nvidia-uvm-tools", "nvidia-nvswitch0", "null"):
        (tmp_path / name).touch()
    assert {path.removeprefix(f"{tmp_path}/") for path in mounts.graphics_nodes(tmp_path)} == (
        needed
    )


def test_which_gpu_is_ours_is_said_within_the_sandbox_too(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    told = processes.environment("/cache", "/tmp")
    assert told["CUDA_VISIBLE_DEVICES"] == "3"
    assert "CUDA_DEVICE_ORDER" not in told


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_a_gpu_that_is_hidden_is_not_here(monkeypatch, hidden):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert not has_cuda()


def test_a_gpu_that_does_not_answer_is_no_mistake_of_a_submission(monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(RuntimeError, match="no GPU answers"):
        devices.start_gpu(1 << 30)


@pytest.mark.skipif(has_cuda(), reason="here it would run")
def test_without_a_gpu_it_says_what_it_would_run_and_proves_nothing(monkeypatch, capsys, tmp_path):
    written = tmp_path / "GPU.md"
    monkeypatch.setattr(sys, "argv", ["prove_gpu", "--weeks", "week01", "--page", str(written)])
    assert prove_gpu.main() == 2
    said = capsys.readouterr().out
    assert "nothing is proven" in said
    assert "AUTOGRADER_ATTACKS_DEVICE=cuda AUTOGRADER_ATTACKED=bubblewrap python -m pytest" in said
    assert not written.exists()


def test_a_driver_that_lies_where_the_loader_does_not_look_is_shown(tmp_path, monkeypatch):
    system, own = tmp_path / "system", tmp_path / "own"
    system.mkdir(), own.mkdir()
    for name in ("libcuda.so.1", "libnvidia-ml.so.1", "libelse.so"):
        (own / name).touch()
    monkeypatch.setattr(mounts, "_DRIVER_FOLDERS", ())
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert mounts.driver_libraries([system]) == ()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{system}:{own}")
    found = mounts.driver_libraries([system])
    assert [path.name for path in found] == ["libcuda.so.1", "libnvidia-ml.so.1"]
    (system / "libcuda.so.1").touch()
    assert mounts.driver_libraries([system]) == ()


def test_what_fails_on_the_gpu_fails_in_the_call_that_asked_for_it(monkeypatch):
    def fail():
        raise RuntimeError("device-side assert triggered")

    monkeypatch.setattr(torch.cuda, "synchronize", fail)
    devices.finish("cpu")
    assert (devices.is_lost("cpu"), devices.is_lost("cuda")) == (False, True)
    with pytest.raises(RuntimeError, match="assert"):
        devices.finish("cuda")
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    assert not devices.is_lost("cuda")


def test_a_submission_leaves_no_coarser_arithmetic_behind():
    matmul = torch.backends.cuda.matmul
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        matmul.allow_fp16_reduced_precision_reduction = True
        devices.compute_exactly()
        assert torch.get_float32_matmul_precision() == "highest"
        assert not matmul.allow_fp16_reduced_precision_reduction
        assert not torch.backends.cudnn.allow_tf32
    finally:
        torch.set_float32_matmul_precision(before)
        matmul.allow_fp16_reduced_precision_reduction = True
        matmul.allow_bf16_reduced_precision_reduction = True
        torch.backends.cudnn.allow_tf32 = True
