"""Public checks of week 5: run `pytest` in this folder, or `autograder check`.

They use small examples that you can follow by hand. The graders look at more: other sizes, other
dtypes, trained weights, gradients, dropout, and what your functions leave behind.
"""

import math

import pytest
import torch
from torch import nn


def draw(*shape):
    """Normally distributed numbers, the same in every run."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5))


class Cycle(nn.Module):
    """A model that is given: after token i it expects token i + 1, and after the last one token 0.

    `confidence` is the only parameter. In training mode it says nothing at all.
    """

    def __init__(self, vocabulary=4, max_len=3, confidence=5.0):
        super().__init__()
        self.vocabulary, self.max_len = vocabulary, max_len
        self.confidence = nn.Parameter(torch.tensor(confidence))
        self.lengths = []  # of what it was shown

    def forward(self, ids):
        self.lengths.append(ids.shape[1])
        following = nn.functional.one_hot((ids + 1) % self.vocabulary, self.vocabulary).float()
        return following * self.confidence * (0.0 if self.training else 1.0)


# sinusoidal_positions


def test_sinusoidal_positions_of_two_positions():
    from transformer import sinusoidal_positions

    table = sinusoidal_positions(2, 4)
    assert table.shape == (2, 4), "The table should be (T, C)."
    assert table.dtype == torch.float32, "The table should be float32."
    assert torch.allclose(table[0], torch.tensor([0.0, 1.0, 0.0, 1.0]), atol=1e-6), (
        "At position 0 all sines are 0 and all cosines 1, and they alternate."
    )
    expected = torch.tensor([math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)])
    torch.testing.assert_close(
        table[1], expected, atol=1e-6, rtol=0, msg="For C = 4 the two frequencies are 1 and 1/100."
    )


def test_sinusoidal_positions_refuses_an_odd_width():
    from transformer import sinusoidal_positions

    with pytest.raises(ValueError, match="5"):
        sinusoidal_positions(3, 5)


# TransformerBlock


def test_TransformerBlock_has_its_parts():
    from transformer import TransformerBlock

    shapes = {name: tuple(p.shape) for name, p in TransformerBlock(8, 2, 20).named_parameters()}
    expected = {
        "ln1.weight": (8,),
        "ln1.bias": (8,),
        "attn.qkv.weight": (24, 8),
        "attn.proj.weight": (8, 8),
        "ln2.weight": (8,),
        "ln2.bias": (8,),
        "ff.0.weight": (20, 8),
        "ff.0.bias": (20,),
        "ff.2.weight": (8, 20),
        "ff.2.bias": (8,),
    }
    assert shapes == expected, f"The parameters should be {expected}, not {shapes}."


def test_TransformerBlock_adds_both_halves():
    from transformer import TransformerBlock

    block = TransformerBlock(8, 2, 20)
    nn.init.normal_(block.ln2.weight)  # a new LayerNorm is like every other one
    x = draw(2, 5, 8)
    before = x.clone()
    middle = x + block.attn(block.ln1(x))
    torch.testing.assert_close(
        block(x),
        middle + block.ff(block.ln2(middle)),
        msg="The block should be x' = x + attn(ln1(x)), then x' + ff(ln2(x')).",
    )
    assert torch.equal(x, before), "Your block has changed its input."


def test_TransformerBlock_drops_in_training_only():
    from transformer import TransformerBlock

    block = TransformerBlock(8, 2, 20, dropout=1.0)  # drops everything
    x = draw(2, 5, 8)
    torch.testing.assert_close(
        block(x), x, msg="With everything dropped nothing should be added, by attention or by ff."
    )
    block.eval()
    assert not torch.allclose(block(x), x), "In evaluation mode nothing should be dropped."


# MiniTransformer


def small_model(**sizes):
    from transformer import MiniTransformer

    torch.manual_seed(0)
    return MiniTransformer(
        **{"vocab_size": 7, "d_model": 8, "n_heads": 2, "n_layers": 2, "max_len": 6} | sizes
    )


def test_MiniTransformer_gives_logits():
    model = small_model()
    logits = model(torch.tensor([[1, 2, 3, 4], [0, 0, 6, 5]]))
    assert logits.shape == (2, 4, 7), "The logits should be (B, T, V)."
    assert model.max_len == 6, "max_len should be an attribute of the model."


def test_MiniTransformer_goes_through_its_parts():
    from transformer import sinusoidal_positions

    model = small_model()
    ids = torch.tensor([[1, 2, 3, 4], [0, 0, 6, 5]])
    x = model.embed(ids) + sinusoidal_positions(4, 8)
    for block in model.blocks:
        x = block(x)
    torch.testing.assert_close(
        model(ids),
        model.head(model.ln_f(x)),
        msg="The logits should come from embed + positions, the blocks, ln_f and head, in order.",
    )


def test_MiniTransformer_has_blocks_of_their_own():
    first, second = small_model().blocks
    assert first.ff[0].weight is not second.ff[0].weight, "Both blocks are one and the same."


def test_MiniTransformer_has_a_separate_head():
    model = small_model()
    assert model.head.weight is not model.embed.weight, "The head and the embedding share a matrix."


def test_MiniTransformer_saves_its_weights_only():
    names = set(small_model(n_layers=0).state_dict())
    assert names == {"embed.weight", "ln_f.weight", "ln_f.bias", "head.weight"}, (
        "The state dict should contain the embedding, ln_f and the head, in addition to the blocks."
    )


def test_MiniTransformer_knows_how_long_it_may_be():
    model = small_model()
    logits = model(torch.zeros(1, 6, dtype=torch.long))
    assert logits.shape == (1, 6, 7), f"The logits should be (1, 6, 7), not {tuple(logits.shape)}."
    with pytest.raises(ValueError, match="9"):
        model(torch.zeros(1, 9, dtype=torch.long))


# fit


def test_fit_returns_the_losses():
    from transformer import fit

    model = small_model(n_layers=0)
    text = torch.tensor([[1, 2, 3, 4, 5, 0], [6, 5, 4, 0, 2, 1]])
    inputs, targets = text[:, :-1], text[:, 1:]
    with torch.no_grad():
        logits = model(inputs)
    chances = torch.softmax(logits, dim=-1).gather(-1, targets[..., None])
    losses = fit(model, inputs, targets, steps=30)
    assert len(losses) == 30, "One loss per step."
    assert all(type(loss) is float for loss in losses), "Plain numbers: think of .item()."
    assert losses[0] == pytest.approx(-chances.log().mean().item(), rel=1e-5), (
        "The first loss is the mean of -log(probability of the target), before any update."
    )
    assert losses[-1] < 0.5 * losses[0], "The loss hardly falls. Does the optimiser take its steps?"


def test_fit_follows_adam():
    from transformer import fit

    model = Cycle(confidence=0.5).eval()
    model.forward = lambda ids: model.confidence * nn.functional.one_hot((ids + 1) % 4, 4).float()
    ids = torch.tensor([[0, 1, 2, 3]])
    fit(model, ids, (ids + 1) % 4, steps=3, lr=0.1)
    assert model.confidence.item() == pytest.approx(0.8, abs=1e-3), (
        "While the gradient keeps its direction and size, Adam moves by lr in every step."
    )


def test_fit_keeps_one_optimiser():
    from transformer import fit

    model = Cycle(confidence=0.5).eval()
    model.forward = lambda ids: model.confidence * nn.functional.one_hot((ids + 1) % 4, 4).float()
    ids = torch.tensor([[0, 1, 2, 3]])
    fit(model, ids, (ids + 1) % 4, steps=2, lr=2.0)
    assert model.confidence.item() == pytest.approx(4.217, abs=0.01), (
        "The second gradient is smaller than the first, so the second step should be shorter: 0.5, "
        f"2.5, 4.217, not {model.confidence.item():.3f}. Does the optimiser keep its statistics?"
    )


def test_fit_trains_in_training_mode_and_restores():
    from transformer import fit

    model = Cycle().eval()
    ids = torch.tensor([[0, 1, 2, 3]])
    losses = fit(model, ids, (ids + 1) % 4, steps=1)
    assert losses[0] == pytest.approx(math.log(4)), (
        "In evaluation mode, this model always predicts the right token."
    )
    assert not model.training, "The model was in evaluation mode: restore this mode afterwards."


# generate


def test_generate_takes_the_most_likely():
    from transformer import generate

    model = Cycle(max_len=10).eval()
    ids = generate(model, torch.tensor([[0, 1], [3, 3]]), 4, temperature=0)
    expected = [[0, 1, 2, 3, 0, 1], [3, 3, 0, 1, 2, 3]]
    assert ids.tolist() == expected, f"The texts should be {expected}, not {ids.tolist()}."


def test_generate_shows_the_model_what_it_can_take():
    from transformer import generate

    model = Cycle(max_len=3).eval()
    ids = generate(model, torch.tensor([[2, 3]]), 4, temperature=0)
    assert ids.tolist() == [[2, 3, 0, 1, 2, 3]], "The result should contain the whole sequence."
    assert max(model.lengths) == 3, "Feed the model at most max_len tokens."
    assert model.lengths[-1] == 3, "If there are more, feed it exactly max_len of them."
    ids = generate(model, torch.tensor([[0, 1, 2, 3, 0]]), 1, temperature=0)
    assert ids.tolist() == [[0, 1, 2, 3, 0, 1]], "A longer prompt should be returned whole, too."


def test_generate_draws_with_the_generator():
    from transformer import generate

    model = Cycle(confidence=0.0).eval()  # all tokens are equally likely
    prompt = torch.zeros(50, 1, dtype=torch.long)
    before = torch.get_rng_state()
    first, second = (
        generate(model, prompt, 1, generator=torch.Generator().manual_seed(s)) for s in (1, 1)
    )
    assert torch.equal(first, second), "The same generator should give the same text."
    assert torch.equal(torch.get_rng_state(), before), "Use the given generator, and no other."
    assert len(first[:, 1].unique()) == 4, "Draw a separate token for every sequence."


def test_generate_divides_logits_by_the_temperature():
    from transformer import generate

    model = Cycle(confidence=3.0).eval()
    prompt = torch.zeros(400, 1, dtype=torch.long)
    for temperature in (0.5, 3.0):
        generator = torch.Generator().manual_seed(0)
        ids = generate(model, prompt, 1, temperature, generator)
        share = (ids[:, 1] == 1).float().mean().item()
        sure = math.exp(3 / temperature)
        assert share == pytest.approx(sure / (sure + 3), abs=0.1), (
            f"At temperature {temperature} token 1 should have about {sure / (sure + 3):.0%}."
        )


def test_generate_leaves_the_mode_alone():
    from transformer import generate

    for training in (True, False):
        model = Cycle(max_len=10).train(training)
        ids = generate(model, torch.tensor([[0]]), 3, temperature=0)
        assert ids.tolist() == [[0, 1, 2, 3]], "Generate in evaluation mode."
        assert model.training is training, "The model's previous mode should be restored."
