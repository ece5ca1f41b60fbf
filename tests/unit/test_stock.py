"""Models that a template makes beforehand are those that a call would have made."""

from __future__ import annotations

import pytest
import torch

from autograder.worker.torch_support import builders

pytest.importorskip("transformers", reason="transformers is not installed")
SHAPE = builders._Shape(16, 16, 2, 2, "eager")
CONTENT = {
    **{"part": "model", "seed": 3, "layers": 2, "heads": 2, "hidden": 16, "training": True},
    **{"attention": "eager", "dtype": "float64", "vocabulary": [*"abcdefghijkl"]},
}


@pytest.fixture
def stocked(monkeypatch):
    monkeypatch.setattr(builders, "_USUAL", {SHAPE: 2})
    monkeypatch.setattr(builders, "_ready", {})
    made = builders.build("hf_encoder", CONTENT, "cpu")
    builders.stock("text")
    return made


def test_one_from_the_stock_is_what_would_have_been_made(stocked):
    before = torch.get_rng_state()
    taken = builders.build("hf_encoder", CONTENT, "cpu")
    assert torch.equal(before, torch.get_rng_state())
    assert str(taken) == str(stocked)
    assert taken.config.to_dict() == stocked.config.to_dict()
    assert taken.config._attn_implementation == stocked.config._attn_implementation
    ours = dict([*taken.named_parameters(), *taken.named_buffers()])
    theirs = dict([*stocked.named_parameters(), *stocked.named_buffers()])
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[k], theirs[k]) and ours[k].dtype == theirs[k].dtype for k in ours)
    assert [m.training for m in taken.modules()] == [m.training for m in stocked.modules()]
    assert all(p.requires_grad and p.is_leaf for p in taken.parameters())


def test_nobody_gets_what_another_call_had(stocked):
    taken = [builders.build("hf_encoder", CONTENT, "cpu") for _ in range(4)]
    assert len({id(model) for model in taken}) == 4
    assert len({p.data_ptr() for model in taken for p in model.parameters()}) == 4 * len(
        list(stocked.parameters())
    )
    assert not builders._ready[SHAPE]


def test_another_shape_is_not_taken_from_the_stock(stocked):
    other = builders.build("hf_encoder", CONTENT | {"attention": "sdpa"}, "cpu")
    assert other.config._attn_implementation == "sdpa"
    assert len(builders._ready[SHAPE]) == 2


def test_a_week_without_text_makes_none(monkeypatch):
    monkeypatch.setattr(builders, "_ready", {})
    builders.stock("keras")
    assert not builders._ready
