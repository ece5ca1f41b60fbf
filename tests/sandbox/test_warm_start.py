"""A submission's process starts with all imports done, so that no call pays for one."""

import pytest

from autograder.grading.targets.confined_process import Spawner
from autograder.grading.targets.sandboxed import Sandboxed
from autograder.model.course import load
from autograder.sandbox import BACKENDS
from autograder.worker.protocol import frames

MODULE = b"""
import sys
if DRAWING:
    import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

def imported():
    before = set(sys.modules)
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
    loss = F.mse_loss(model(torch.ones(2, 3, 4)), torch.zeros(2, 3, 4))
    loss.backward()
    if OPTIMIZER:
        torch.optim.AdamW(model.parameters()).step()
    x = torch.ones(2, 2, requires_grad=True)
    torch.autograd.grad(torch.einsum("ij,jk->ik", x, x).exp().sum(), x)
    np.einsum("ij,jk->ik", np.ones((2, 2)), np.ones((2, 2)))
    if DRAWING:
        figure, axes = plt.subplots()
        axes.imshow(np.eye(3))
    return sorted(set(sys.modules) - before)
"""


@pytest.mark.parametrize("devices", [("cpu",), ("cpu", "fake-gpu")], ids="-".join)
@pytest.mark.parametrize(
    ("name", "optimizer", "drawing"),
    [
        ("week01_softmax", False, False),
        ("week03_multihead", False, True),
        ("week05_transformer", True, False),
    ],
)
def test_everyday_work_imports_nothing_more(project, backend, devices, name, optimizer, drawing):
    course = load(project)
    week = course.week(name)
    module = MODULE.replace(b"OPTIMIZER", str(optimizer).encode())
    module = module.replace(b"DRAWING", str(drawing).encode())
    spawner = Spawner(BACKENDS[backend](), course, week, devices)
    target = Sandboxed(spawner.spawn, "m.py", {"m.py": module}, course.limits(week))
    target.begin("test", "imported")
    try:
        call = frames.pack(frames.Call("imported", None, "imported", (), {}, "cpu"), [])
        reply, _ = target.request(call)
    finally:
        target.close()
        spawner.end()
    assert reply.status == "ok", reply.raised
    assert not [n for n in reply.value.items if n not in ("torch.profiler._cupti_monitor",)]
