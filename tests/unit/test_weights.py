"""Test that weights of new modules are cast, loaded and compared by name and shape."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from autograder.worker.protocol import frames
from autograder.worker.protocol.values import Encoder
from autograder.worker.torch_support import builders, devices, parameters


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.other = nn.Linear(3, 3)
        self.other.weight = self.one.weight
        self.register_buffer("kept", torch.zeros(2))
        self.register_buffer("passing", torch.zeros(2), persistent=False)
        self.register_parameter("none", None)


class OwnWay(nn.Linear):
    """Stores its weight transposed."""

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight"] = destination[prefix + "weight"].T

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        turned = state_dict | {prefix + "weight": state_dict[prefix + "weight"].T}
        super()._load_from_state_dict(turned, prefix, *rest)


def no_bias(module, _):
    module.bias.data.zero_()


class Hooked(nn.Linear):
    def __init__(self) -> None:
        super().__init__(3, 2)
        self.register_load_state_dict_post_hook(no_bias)


def settled(module, state, device="cpu", dtype=None, fitting=False):
    encoder = Encoder()
    request = frames.Call(
        "x",
        None,
        "x",
        (),
        {},
        device,
        construct=True,
        dtype=dtype,
        state=encoder(state),
        fitting=fitting,
    )
    return parameters.settle(module, request, [memoryview(b) for b in encoder.buffers])


def drawn(module):
    return {k: torch.randn_like(v) for k, v in module.state_dict().items()}


MODULES = {
    "tied": Tied,
    "nested": lambda: nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.LayerNorm(3))),
    "attention": lambda: nn.MultiheadAttention(4, 2),
    "own way": lambda: OwnWay(3, 2),
    "hook": Hooked,
    "shared part": lambda: nn.ModuleList([part := nn.Linear(2, 2), part]),
}


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("device", ["cpu", "fake-gpu"])
def test_weights_are_loaded_as_torch_loads_them(name, device):
    module, twin = MODULES[name](), MODULES[name]()
    state = drawn(module)
    assert settled(module, state, device) is None
    twin.load_state_dict(state)
    place = devices.torch_device(device)
    assert all(p.device == place and p.is_leaf and p.requires_grad for p in module.parameters())
    ours, theirs = module.state_dict(), twin.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[k].cpu(), theirs[k]) for k in ours)


def test_what_does_not_fit_is_told_and_nothing_is_loaded():
    module = nn.Linear(3, 2)
    before = module.weight.detach().clone()
    state = {"weight": torch.ones(2, 4), "gain": torch.ones(2)}
    assert settled(module, state) == frames.StateMismatch(
        missing=("gain",), unexpected=("bias",), shapes=(("weight", (2, 4), (2, 3)),)
    )
    assert torch.equal(module.weight, before)


@pytest.mark.parametrize("dtype", ["float64", "float16", None])
def test_a_module_is_cast_if_it_is_not_yet_of_the_type(dtype):
    module = nn.BatchNorm1d(3)
    assert settled(module, module.state_dict(), dtype=dtype) is None
    assert str(module.weight.dtype) == f"torch.{dtype or 'float32'}"
    assert module.num_batches_tracked.dtype == torch.int64


def test_drawn_weights_follow_their_seed_and_leave_the_global_one():
    def drawn(seed):
        parts = nn.Embedding(40, 9, padding_idx=0), nn.LayerNorm(9), nn.Linear(9, 9)
        model = nn.Sequential(*parts).requires_grad_(False)
        before = torch.get_rng_state()
        builders.draw_weights(model, seed)
        assert torch.equal(before, torch.get_rng_state())
        return model

    one, same, other = drawn(1), drawn(1), drawn(2)
    assert all(map(torch.equal, one.parameters(), same.parameters()))
    words, norm, linear = one
    assert not torch.equal(words.weight, other[0].weight)
    assert not words.weight[0].any()
    assert words.weight[1:].all()
    assert norm.weight.eq(1).all()
    assert not torch.cat([norm.bias, linear.bias]).any()
    assert 0.3 < float(words.weight[1:].std()) < 0.5


class WithTable(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.register_buffer("bias", torch.ones(4, 4).tril())


@pytest.mark.parametrize("rename", [False, True])
def test_layers_that_are_made_to_fit_leave_tables_as_they_are(rename):
    module = WithTable()
    state = {f"two.{k}" if rename else f"one.{k}": torch.randn(s) for k, s in SIZES.items()}
    assert (
        settled(module, state).unexpected
        == ("bias", "one.bias", "one.weight")[: 3 if rename else 1]
    )
    assert settled(module, state, fitting=True) is None
    assert torch.equal(module.bias, torch.ones(4, 4).tril())
    assert torch.equal(module.one.weight, state["two.weight" if rename else "one.weight"])


SIZES = {"weight": (3, 3), "bias": (3,)}


def layers(**widths):
    return nn.ModuleDict({name: nn.Linear(3, width, bias=False) for name, width in widths.items()})


def test_fitted_layers_get_the_biases_that_they_lack():
    module = layers(query=3, key=2)
    state = {"W_q.weight": torch.randn(3, 3), "W_q.bias": torch.randn(3)}
    state |= {"W_k.weight": torch.randn(2, 3), "W_k.bias": torch.randn(2)}
    assert settled(module, state, fitting=True) is None
    assert torch.equal(module["query"].bias, state["W_q.bias"])
    assert torch.equal(module["key"].weight, state["W_k.weight"])
    in_order = [module["key"].bias, module["key"].weight, module["query"].bias]
    assert all(a is b for a, b in zip(in_order, parameters.float_parameters(module), strict=False))


def test_fitted_layers_lose_the_biases_that_the_reference_lacks():
    module = nn.ModuleDict({"one": nn.Linear(3, 3), "two": nn.Linear(3, 3)})
    state = {"one.weight": torch.randn(3, 3), "two.weight": torch.randn(3, 3)}
    assert settled(module, state, fitting=True) is None
    assert not torch.cat([module["one"].bias, module["two"].bias]).any()
    assert parameters.float_parameters(module) == [module["one"].weight, module["two"].weight]


def test_a_layer_is_loaded_into_several_layers_and_back():
    apart, fused = layers(q=3, k=3, v=3), layers(qkv=9)
    state = {"qkv.weight": torch.randn(9, 3)}
    assert settled(apart, state, fitting=True) is None
    assert torch.equal(torch.cat([apart[n].weight for n in "qkv"]), state["qkv.weight"])
    assert settled(fused, apart.state_dict(), fitting=True) is None
    assert torch.equal(fused["qkv"].weight, state["qkv.weight"])


def test_weights_without_a_place_are_drawn():
    module = layers(q=3, extra=4)
    twin = layers(q=3, extra=4)
    state = {"q.weight": torch.randn(3, 3), "out.weight": torch.randn(5, 3)}
    assert settled(module, state, fitting=True) is None
    assert settled(twin, state, fitting=True) is None
    assert torch.equal(module["q"].weight, state["q.weight"])
    assert torch.equal(module["extra"].weight, twin["extra"].weight)
