"""Gradients on the claimed device: only formulas that the submission wrote are run there."""

import pytest
import torch

from autograder.grading.targets import InProcess
from autograder.worker import wire
from autograder.worker.values import Encoder

MODULE = """
import torch

def square(x, y):
    return x * x

def same(x, y):
    return x

def cut(x, y):
    return (x * x).detach()

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient

class Astray(Doubled):
    @staticmethod
    def backward(ctx, gradient):
        return gradient * torch.ones(gradient.shape)

def doubled(x, y):
    return Doubled.apply(x) * y

def astray(x, y):
    return Astray.apply(x) * y
"""


@pytest.fixture
def pull_back(tmp_path):
    """The reply to a call of a function by name on two inputs, with a cotangent."""
    (tmp_path / "module.py").write_text(MODULE)
    target = InProcess(tmp_path / "module.py")

    def call(name):
        encoder = Encoder()
        x = torch.ones(2, 3, dtype=torch.float16)
        args, cotangents = (encoder(x), encoder(x.clone())), (encoder(x.clone()),)
        request = wire.Call("e", None, name, args, {}, "fake-gpu", cotangents=cotangents)
        return target.request(wire.pack(request, encoder.buffers))[0]

    yield call
    target.close()


def test_a_gradient_has_its_form_and_its_device_and_no_data(pull_back):
    reply = pull_back("square")
    assert reply.gradients == (wire.TensorV("float16", (2, 3), None, "fake_gpu", None), None)


def test_an_input_that_comes_back_as_it_was_has_its_gradient(pull_back):
    reply = pull_back("same")
    assert reply.gradients == (wire.TensorV("float16", (2, 3), None, "fake_gpu", None), None)


def test_what_was_cut_off_is_said(pull_back):
    reply = pull_back("cut")
    assert (reply.status, reply.gradients, reply.detached) == ("ok", (), (0,))


def test_a_formula_of_the_submissions_own_is_run(pull_back):
    reply = pull_back("doubled")
    assert [g.shape for g in reply.gradients] == [(2, 3), (2, 3)]


def test_a_formula_that_mixes_devices_is_found(pull_back):
    reply = pull_back("astray")
    assert reply.status == "raised"
    assert "device" in reply.raised.message
