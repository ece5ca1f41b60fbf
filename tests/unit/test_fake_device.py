"""Test that the fake GPU runs and refuses the same operations as a GPU."""

import copy
import io
import math

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from autograder.grading.targets.in_process import InProcess
from autograder.worker.protocol import frames
from autograder.worker.protocol.values import Decoder, Encoder
from autograder.worker.torch_support import devices, fake_device

MODULE = """
import torch

def square(x, y):
    return x * x

def same(x, y):
    return x

def elsewhere(x, y):
    return x * x if x.device.type == "cpu" else (x * x).detach() + 0 * x

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

def again(x, y):
    from torch.utils.checkpoint import checkpoint
    return checkpoint(lambda x: x * x, x, use_reentrant=True)
"""


@pytest.fixture
def pull_back(tmp_path):
    """Return the reply and the gradients of a named function on two inputs with a cotangent."""
    (tmp_path / "module.py").write_text(MODULE)
    target = InProcess(tmp_path / "module.py")

    def call(name, device="fake-gpu"):
        encoder = Encoder()
        x = torch.ones(2, 3, dtype=torch.float16)
        args, cotangents = (encoder(x), encoder(x.clone())), (encoder(x.clone()),)
        request = frames.Call("e", None, name, args, {}, device, cotangents=cotangents)
        reply, buffers = target.request(frames.pack(request, encoder.buffers))
        return reply, [Decoder(buffers)(g) for g in reply.gradients or ()]

    yield call
    target.close()


def test_a_gradient_has_its_form_its_device_and_its_values(pull_back):
    reply, gradients = pull_back("square")
    assert reply.gradients[0].device == "fake_gpu"
    assert torch.equal(gradients[0], torch.full((2, 3), 2.0, dtype=torch.float16))
    assert gradients[1] is None


def test_an_input_that_comes_back_as_it_was_has_its_gradient(pull_back):
    _, gradients = pull_back("same")
    assert torch.equal(gradients[0], torch.ones(2, 3, dtype=torch.float16))


def test_a_formula_that_the_cpu_did_not_see_is_run(pull_back):
    pull_back("elsewhere", "cpu")
    _, gradients = pull_back("elsewhere")
    assert float(gradients[0].sum()) == 0.0


@pytest.mark.parametrize("device", ["cpu", "fake-gpu"])
def test_what_a_checkpoint_computes_again_has_its_gradient(pull_back, device):
    reply, gradients = pull_back("again", device)
    assert reply.status == "ok"
    assert torch.equal(gradients[0], torch.full((2, 3), 2.0, dtype=torch.float16))


def test_what_was_cut_off_is_said(pull_back):
    reply, _ = pull_back("cut")
    assert (reply.status, reply.gradients, reply.detached) == ("ok", (), (0,))


def test_a_formula_of_the_submissions_own_is_run(pull_back):
    _, gradients = pull_back("doubled")
    assert [float(g.sum()) for g in gradients] == [12.0, 12.0]


def test_a_formula_that_mixes_devices_is_found(pull_back):
    reply, _ = pull_back("astray")
    assert reply.status == "raised"
    assert "device" in reply.raised.message


# Operations of any GPU. `x` is (4, 6) on the device, `d` the device, `i` some indices on it.
GOES_ON = """
torch.tensor(1.0, device=d)
torch.tensor([[True]], device=d)
torch.as_tensor([1.0, 2.0], device=d)
torch.tensor([x[0, 0], x[1, 1]], device=d)
torch.asarray([1.0, 2.0], device=x.device)
x.new_tensor([1.0, 2.0])
x.new_full((2,), 1.0)
torch.arange(5, device=d)
torch.arange(1, 4, 0.5, device=d)
torch.full((2, 2), -math.inf, device=d).triu(1)
torch.linspace(0, 1, 5, device=d)
torch.eye(3, device=d)
torch.randn(3, device=d)
torch.randint(0, 3, (2,), device=d)
torch.randperm(4, device=d)
torch.tril_indices(3, 3, device=d)
torch.ones(3, device="fake_gpu")
torch.ones(3).to(x)
torch.rand_like(x)
torch.nn.functional.one_hot(i)
x[x > 0]
x[torch.tensor([0, 1])]
x[torch.ones(4) > 0]
x * torch.tensor(2.0)
torch.tensor(2.0) * x[0, 0]
x.masked_fill(x > 0, torch.tensor(1.0))
torch.where(x > 0, torch.tensor(0.0), x)
x.nonzero()
x.unique()
x.softmax(-1) @ x.mT
torch.einsum("ij,kj->ik", x, x)
nn.functional.scaled_dot_product_attention(x[None], x[None], x[None])
nn.Linear(6, 3, device=d)(x)
nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Dropout(0.5)).to(d)(x)
nn.MultiheadAttention(6, 2, device=d)(x[None], x[None], x[None])[0]
copy.deepcopy(nn.Linear(6, 3, device=d))(x)
torch.vmap(lambda row: row.softmax(-1))(x)
torch.func.grad(lambda row: (row * row).sum())(x)
torch.fft.fft(x).real
torch.view_as_real(torch.polar(torch.ones_like(x), x))
torch.add(x, x, out=torch.empty_like(x))
torch.empty_like(x).copy_(torch.ones(4, 6))
x.clone().unsqueeze_(0).squeeze_(0).t_()
next(iter(x))
torch.add(x, x, out=torch.empty(0, device=d))
torch.sort(x[0], out=(torch.empty(0, device=d), torch.empty(0, dtype=torch.int64, device=d)))[1]
x.clone().resize_(2, 2)
nn.LSTM(6, 3, device=d)(x)[0]
nn.GRU(6, 3, device=d)(x)[0]
torch.rand(3, generator=torch.Generator(device=d), device=d)
x.clone().uniform_(generator=torch.Generator(x.device).manual_seed(1))
x.cpu().pin_memory().to(d, non_blocking=True)
"""


def claimed_names():
    x = devices.place(torch.linspace(-2, 3, 24).reshape(4, 6), "fake-gpu")
    i = devices.place(torch.tensor([0, 2, 1]), "fake-gpu")
    return {"torch": torch, "nn": nn, "math": math, "copy": copy, "x": x, "i": i, "d": x.device}


@pytest.mark.parametrize("text", GOES_ON.strip().split("\n"))
def test_goes_on_as_on_a_gpu(text):
    result = eval(text, claimed_names())
    assert result.device.type == "fake_gpu"
    assert result.shape == result.elem.shape


@pytest.mark.parametrize(
    "text",
    [
        "x + torch.ones(6)",
        "torch.ones(6) + x",
        "x @ torch.ones(6, 2)",
        "x.add_(torch.ones(6))",
        "torch.ones(4, 6).add_(x)",
        "torch.tensor(1.0).add_(x[0, 0])",
        "torch.add(x[0, 0], x[0, 0], out=torch.tensor(1.0))",
        "x.masked_fill(torch.ones(4, 6) > 0, 1.0)",
        "torch.where(torch.ones(4, 6) > 0, x, x)",
        "torch.cat([x, torch.ones(1, 6)])",
        "torch.stack([x[0, 0], torch.tensor(1.0)])",
        "torch.ones(4, 6)[i]",
        "x.index_put((i,), torch.ones(3, 6))",
        "x.gather(1, torch.zeros(4, 1, dtype=torch.int64))",
        "nn.functional.embedding(torch.tensor([0]), x)",
        "nn.Linear(6, 3)(x)",
        "nn.functional.scaled_dot_product_attention(x, x, x, torch.ones(4, 4) > 0)",
        "torch.arange(6) < i[0] + i",
    ],
)
def test_a_mix_of_devices_is_refused_as_by_a_gpu(text):
    with pytest.raises(RuntimeError, match="on the same device"):
        eval(text, claimed_names())


@pytest.mark.parametrize("text", ["x.numpy()", "__import__('numpy').asarray(x)"])
def test_numpy_cannot_read_the_device(text):
    with pytest.raises(TypeError, match=r"Use Tensor\.cpu"):
        eval(text, claimed_names())


def test_values_can_be_looked_at():
    x = claimed_names()["x"]
    assert bool((x > 2).any())
    assert not (x > 9).any()
    assert x[0, 0].item() == float(x.min()) == x.tolist()[0][0] == -2.0
    assert x.cpu().numpy().shape == (4, 6)
    assert type(x.cpu()) is torch.Tensor
    assert f"{x[0, 0]:.1f}" == "-2.0"
    assert "fake_gpu" in repr(x)


def test_what_is_written_shows_in_every_view():
    x = claimed_names()["x"]
    x[0] = 1.0
    x[1:, 2:] += torch.tensor(3.0)
    x.T[0].fill_(7.0)
    x[x > 6.5] = -1.0
    on_cpu = torch.linspace(-2, 3, 24).reshape(4, 6)
    on_cpu[0] = 1.0
    on_cpu[1:, 2:] += 3.0
    on_cpu[:, 0] = 7.0
    on_cpu[on_cpu > 6.5] = -1.0
    assert torch.equal(x.cpu(), on_cpu)


def test_a_model_is_trained_there():
    names = claimed_names()
    model = nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 1)).to(names["d"])
    optimizer = torch.optim.AdamW(model.parameters(), 0.1)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = (model(names["x"]) - 1.0).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert model[0].weight.grad.device.type == "fake_gpu"
    nn.Linear(6, 6, device=names["d"]).load_state_dict(nn.Linear(6, 6).state_dict())
    torch.save(model.state_dict(), io.BytesIO())


def test_new_data_of_a_parameter_is_used():
    names = claimed_names()
    model = nn.Linear(6, 3, device=names["d"])
    model.weight.data = torch.ones(3, 6, device=names["d"])
    model.bias.data = torch.zeros(3, device=names["d"])
    sums = names["x"].cpu().sum(1, keepdim=True).expand(-1, 3)
    torch.testing.assert_close(model(names["x"]).cpu(), sums)
    assert model.half()(names["x"].half()).dtype is torch.float16


def test_views_of_older_tensors_in_inference_mode():
    x = claimed_names()["x"]
    with torch.inference_mode():
        view = x[:, 1:]
        result = view * 2
        result += 1
    assert (view.is_inference(), result.is_inference()) == (False, True)


def test_tied_weights_stay_tied():
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5, bias=False))
    model[1].weight = model[0].weight
    devices.move_module(model, "fake-gpu", torch.float64)
    assert model[1].weight is model[0].weight
    assert model[0].weight.dtype is torch.float64


def test_copies_are_made_as_often_as_one_likes():
    """Copy a fake tensor often: torch's own fake tensors free memory twice and crash later."""
    for _ in range(50):
        torch.tensor(1e4)
        copied = copy.deepcopy(claimed_names()["x"])
        [nn.Linear(32, 32) for _ in range(4)]
    copied[0, 0] = 5.0
    assert copied.elem[0, 0] == 5.0


def test_strides_are_kept():
    x = torch.arange(12.0).reshape(3, 4)
    for view in (x.T, x[:, ::2], x[:1].expand(5, 4), x[1:]):
        placed = devices.place(view, "fake-gpu")
        assert (placed.shape, placed.stride()) == (view.shape, view.stride())
        assert placed.is_contiguous() == view.is_contiguous()


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers_compute_the_same_there_with_gradients(kind):
    model, x = kind(6, 3, num_layers=2), claimed_names()["x"]
    on_cpu = model(x.cpu())[0]
    on_cpu.square().sum().backward()
    expected = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    devices.move_module(model, "fake-gpu", torch.float32)
    y = model(x)[0]
    y.square().sum().backward()
    assert torch.allclose(y.cpu(), on_cpu, atol=1e-6)
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        assert torch.allclose(parameter.grad.cpu(), gradient, atol=1e-5)
    with torch.inference_mode():
        assert torch.allclose(model(x)[0].cpu(), on_cpu, atol=1e-6)


def test_a_generator_of_the_device_says_so_and_draws_what_the_cpus_draws():
    d = claimed_names()["d"]
    generator = torch.Generator(device=d).manual_seed(7)
    assert generator.device == d
    drawn = torch.randn(5, generator=generator, device=d)
    assert torch.equal(drawn.cpu(), torch.randn(5, generator=torch.Generator().manual_seed(7)))


def test_every_generator_is_a_torch_generator():
    there, here = torch.Generator(device=claimed_names()["d"]), torch.Generator()
    assert isinstance(there, torch.Generator)
    assert isinstance(here, torch.Generator)
    assert isinstance(torch.default_generator, torch.Generator)
    assert not isinstance("cpu", torch.Generator)


@pytest.mark.parametrize(
    ("owner", "draw"),
    [
        ("d", "torch.randn(3, generator=g).to(d)"),
        ("d", "torch.ones(3).normal_(generator=g)"),
        ("cpu", "torch.randn(3, generator=g, device=d)"),
        ("cpu", "torch.multinomial(x.softmax(-1), 1, generator=g)"),
    ],
)
def test_a_generator_of_another_device_is_refused(owner: str, draw: str) -> None:
    names = claimed_names()
    names["g"] = torch.Generator(device=names.get(owner, owner))
    with devices.generator_check("fake-gpu", [names["g"]]):
        with pytest.raises(RuntimeError, match="device type for generator"):
            eval(draw, names)
        eval("torch.randn(3, generator=g, device=g.device)", names)


@pytest.mark.parametrize("product", ["i @ i.T", "i.flatten().dot(i.flatten())", "i @ i[0]"])
def test_products_of_integers_are_refused_as_by_cuda(product: str) -> None:
    names = claimed_names()
    names["i"] = torch.ones(2, 2, dtype=torch.int64, device=names["d"])
    with pytest.raises(RuntimeError, match="not implemented for integers"):
        eval(product, names)


def test_torch_names_the_accelerator_of_the_test_that_runs():
    fake_device.device()
    with fake_device.present(True):
        assert torch.accelerator.is_available()
        assert torch.accelerator.current_accelerator().type == "fake_gpu"
        torch.accelerator.synchronize()


@pytest.mark.skipif(torch.version.cuda is not None, reason="torch names CUDA, there or not")
def test_torch_names_none_where_the_test_is_the_cpus():
    fake_device.device()
    assert not torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() is None


@pytest.mark.parametrize("options", [{}, {"devices": []}, {"device_type": "fake_gpu"}])
def test_random_states_are_forked_there(options):
    names = claimed_names()
    before = torch.get_rng_state()
    with fake_device.present(True), torch.random.fork_rng(**options):
        torch.rand(3, device=names["d"])
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoints_are_recomputed_there(use_reentrant):
    x = claimed_names()["x"].requires_grad_()
    drop = nn.Dropout(0.5)
    y = checkpoint(lambda x: drop(x * x), x, use_reentrant=use_reentrant)
    y.sum().backward()
    kept = y.detach().cpu() != 0
    assert torch.equal(x.grad.cpu(), torch.where(kept, 4 * x.detach().cpu(), torch.tensor(0.0)))


def test_autocast_leaves_types_as_they_are():
    names = claimed_names()
    with torch.autocast("fake_gpu", dtype=torch.bfloat16):
        assert (names["x"] @ names["x"].mT).device == names["d"]


def test_conjugates_have_their_values_there():
    here = torch.tensor([[1 + 2j, 3 - 1j], [2j, -1 + 1j]])
    there = here.to(fake_device.device())
    for conjugate in (lambda x: x.conj().imag, lambda x: x @ x.mH, lambda x: (x * x.conj()).real):
        assert torch.equal(conjugate(there).cpu(), conjugate(here))
