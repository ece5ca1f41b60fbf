"""Honest submissions work within the limits on threads and descriptors."""

from __future__ import annotations

from autograder.sandbox import Child, HealthFinding, probe
from autograder.sandbox.choice import BACKENDS
from tests.sandbox.sandbox_inside import Spawn, ask


def test_training_a_torch_model(child: Child) -> None:
    source = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(256, 8)
    losses = []
    for _ in range(20):
        loss = ((model(x) - x.sum(-1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[-1] < losses[0]
    """
    assert ask(child, source) is True


def test_large_matrix_products(child: Child) -> None:
    source = """
    import numpy, torch
    a = numpy.ones((700, 700)); b = torch.ones(700, 700)
    numpy.linalg.svd(a[:100, :100])
    return float((a @ a)[0, 0]), float((b @ b)[0, 0]), float(torch.linalg.eigvalsh(b)[-1].round())
    """
    assert ask(child, source) == [700.0, 700.0, 700.0]


def test_asking_for_more_threads_does_no_harm(child: Child) -> None:
    source = """
    import torch
    torch.set_num_threads(4)
    return float((torch.ones(600, 600) @ torch.ones(600, 600)).sum())
    """
    assert ask(child, source) == 600.0**3


def test_drawing_with_matplotlib(child: Child) -> None:
    source = """
    import io
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots()
    axes.imshow([[0, 1], [1, 0]])
    axes.set_xlabel("Key"); axes.set_title("softmax $\\\\sqrt{d}$ ░▒▓")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    figure.savefig("figure.png")
    return picture.getvalue()[:4].hex()
    """
    assert ask(child, source) == "89504e47"


def test_backward_on_a_device_without_hardware(child: Child) -> None:
    source = """
    import torch
    with torch.device("fake_gpu"):
        model = torch.nn.Linear(4, 4)
        x = torch.ones(3, 4, requires_grad=True)
        model(x).softmax(-1).sum().backward()
        return [str(x.grad.device), list(model.weight.grad.shape)]
    """
    assert ask(child, source) == ["fake_gpu:0", [4, 4]]


def test_libraries_not_yet_loaded_can_be_imported(child: Child) -> None:
    source = """
    import sympy, decimal, sqlite3, unittest, torch.distributions, numpy.polynomial
    return str(sympy.diff(sympy.sin(sympy.Symbol("x"))))
    """
    assert ask(child, source) == "cos(x)"


def test_its_own_files_behave_as_files(child: Child) -> None:
    source = """
    import os, pathlib, shutil, tempfile, numpy
    os.makedirs("a/b")
    pathlib.Path("a/b/c.txt").write_text("x")
    shutil.copyfile("a/b/c.txt", "copy.txt")
    os.rename("copy.txt", "moved")
    with tempfile.TemporaryDirectory() as folder:
        numpy.save(folder + "/x.npy", numpy.ones(3))
        total = numpy.load(folder + "/x.npy").sum()
    shutil.rmtree("a")
    return sorted(os.listdir(".")), float(total)
    """
    assert ask(child, source) == [["moved"], 3.0]


def test_two_children_agree_on_the_order_of_a_set(spawn: Spawn) -> None:
    source = "return list({'query', 'key', 'value', 'mask'})"
    assert ask(spawn(), source) == ask(spawn(), source)


def test_the_doctor_really_tries_each_backend() -> None:
    findings = probe()
    assert all(isinstance(finding, HealthFinding) for finding in findings)
    assert {finding.name for finding in findings} >= {"bubblewrap", "landlock", "sandbox"}


def test_the_doctor_has_a_remedy_for_whatever_is_wrong() -> None:
    assert all(finding.ok or finding.remedy for finding in probe())


def test_the_doctor_names_what_is_in_force() -> None:
    """A submission has a separate uid and limits, and its attempts are counted."""
    said = {finding.name: finding.detail for finding in probe()}
    own = "each submission has its own uid"
    for name, backend in BACKENDS.items():
        if said[name].startswith("works"):
            assert (own in said[name]) == backend().separate_uids
            assert own in said[name] or "the grader's uid" in said[name]
    assert "not in force: control groups" in said["limits"]
    assert "address space" in said["limits"]
    assert "system calls" in said["tripwire"]
