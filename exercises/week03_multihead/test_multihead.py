"""Public checks for week 3: run `pytest` in this folder, or `autograder check`.

They use small examples that you can follow by hand. The graders look at more: other sizes, other
dtypes, gradients, and masks that leave a query no visible key.
"""

from pathlib import Path

import numpy as np
import pytest
import torch


def numbered(*shape):
    """0, 1, 2, … in the given shape: every entry shows where it came from."""
    count = 1
    for length in shape:
        count *= length
    return torch.arange(float(count)).reshape(shape)


def draw(*shape):
    """Normally distributed numbers, the same in every run."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


# split_heads


def test_split_heads_cuts_every_token():
    from multihead import split_heads

    x = torch.tensor([[[0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 13.0]]])  # two tokens, C = 4
    heads = split_heads(x, 2)
    assert heads.shape == (1, 2, 2, 2), "The result should be (B, H, T, d)."
    assert heads[0, 0].tolist() == [[0.0, 1.0], [10.0, 11.0]], (
        "The first head should hold the first half of every token. If it holds all of token 0 "
        "instead, the numbers were reshaped without moving an axis."
    )
    assert heads[0, 1].tolist() == [[2.0, 3.0], [12.0, 13.0]], (
        f"The second head should hold the second half of every token, not {heads[0, 1].tolist()}."
    )


def test_split_heads_keeps_sequences_apart():
    from multihead import split_heads

    x = numbered(2, 3, 6)
    heads = split_heads(x, 3)
    assert heads.shape == (2, 3, 3, 2), (
        f"The result should be (B, H, T, d) = (2, 3, 3, 2), not {tuple(heads.shape)}."
    )
    assert torch.equal(heads[1, 2], x[1, :, 4:]), "The last head of sequence 2 is a slice of it."


def test_split_heads_refuses_an_uneven_cut():
    from multihead import split_heads

    with pytest.raises(ValueError, match="10"):
        split_heads(numbered(1, 2, 10), 4)


def test_split_heads_works_on_any_batch():
    from multihead import split_heads

    x = numbered(4, 2, 6)  # B = 4, T = 2, three heads of two features
    heads = split_heads(x, 3)
    for sequence, head, token in ((0, 1, 1), (1, 0, 1), (3, 2, 0)):
        start = 2 * head
        expected = x[sequence, token, start : start + 2].tolist()
        actual = heads[sequence, head, token].tolist()
        assert actual == expected, (
            f"Head {head} of token {token} of sequence {sequence} should be {expected}, not {actual}."
        )
    assert split_heads(x.clone().requires_grad_(), 3).requires_grad, (
        "The result has lost its connection to the input."
    )


# merge_heads


def test_merge_heads_puts_heads_side_by_side():
    from multihead import merge_heads

    heads = torch.tensor([[[[0.0, 1.0], [10.0, 11.0]], [[2.0, 3.0], [12.0, 13.0]]]])
    merged = merge_heads(heads)
    assert merged.shape == (1, 2, 4), "The result should be (B, T, C)."
    assert merged[0].tolist() == [[0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 13.0]], (
        f"Token 0 should be 0, 1, 2, 3 and token 1 10, 11, 12, 13, not {merged[0].tolist()}."
    )


def test_merge_heads_undoes_the_split():
    from multihead import merge_heads, split_heads

    x = numbered(2, 5, 12)
    assert torch.equal(merge_heads(split_heads(x, 3)), x), (
        "Splitting x and merging its heads should return x."
    )


def test_merge_heads_of_a_trained_layer():
    from multihead import merge_heads

    with np.load(Path(__file__).with_name("model") / "heads.npz") as file:
        heads, W_o = torch.tensor(file["output"][:, 0]), torch.tensor(file["W_o"])
        recorded = torch.tensor(file["layer_output"])
    torch.testing.assert_close(
        merge_heads(heads) @ W_o.T,
        recorded,
        atol=1e-4,
        rtol=1e-4,
        msg="Merged and projected, six heads should give what a layer of a trained model recorded.",
    )


# MultiHeadAttention


def with_torch_weights(width, heads):
    """PyTorch's module, and yours with the same weights."""
    from multihead import MultiHeadAttention

    theirs = torch.nn.MultiheadAttention(width, heads, batch_first=True)
    mine = MultiHeadAttention(width, heads)
    with torch.no_grad():
        rows = theirs.in_proj_weight.chunk(3)
        for layer, row in zip((mine.W_q, mine.W_k, mine.W_v), rows, strict=True):
            layer.weight.copy_(row)
            layer.bias.zero_()
        mine.W_o.weight.copy_(theirs.out_proj.weight)
        mine.W_o.bias.zero_()
    return theirs, mine


def test_MultiHeadAttention_agrees_with_torch():
    theirs, mine = with_torch_weights(12, 3)
    query, memory = draw(2, 4, 12), draw(2, 7, 12)
    output, weights = mine(query, memory)
    expected, expected_weights = theirs(query, memory, memory, average_attn_weights=False)
    assert weights.shape == (2, 3, 4, 7), "The weights should be (B, H, n, m), one set per head."
    torch.testing.assert_close(weights, expected_weights, msg="The weights differ from PyTorch's.")
    torch.testing.assert_close(output, expected, msg="The output differs from PyTorch's.")
    value = draw(2, 7, 12).flip(1)
    torch.testing.assert_close(
        mine(query, memory, value)[0],
        theirs(query, memory, value)[0],
        msg="With three inputs, the values should come from the third.",
    )


def test_MultiHeadAttention_obeys_the_mask():
    from multihead import MultiHeadAttention

    mask = torch.tensor([[True, False, True], [True, True, False], [False, False, False]])
    output, weights = MultiHeadAttention(8, 2)(draw(2, 3, 8), mask=mask)
    assert (weights[..., ~mask] == 0).all(), (
        "Hidden keys should have a weight of 0: True means may attend."
    )
    sums = weights.sum(dim=-1)
    torch.testing.assert_close(sums[..., :2], torch.ones(2, 2, 2), msg="Rows should sum to 1.")
    assert (sums[..., 2] == 0).all(), "A query with no visible key has weights of zero."
    assert output.isfinite().all(), "No output should be NaN or infinite."


def test_MultiHeadAttention_refuses_what_does_not_fit():
    from multihead import MultiHeadAttention

    with pytest.raises(ValueError, match="10"):
        MultiHeadAttention(10, 4)
    attention = MultiHeadAttention(8, 2)
    with pytest.raises(ValueError):
        attention(draw(2, 3, 8), mask=torch.ones(2, 3, 3, dtype=torch.bool))  # (B, n, m), B = H


# CausalSelfAttention


def test_CausalSelfAttention_looks_back_only():
    from multihead import CausalSelfAttention

    attention = CausalSelfAttention(8, 2)
    x = draw(1, 5, 8)
    y, weights = attention(x, return_weights=True)
    assert weights.shape == (1, 2, 5, 5), (
        f"The weights should be (B, H, T, T) = (1, 2, 5, 5), not {tuple(weights.shape)}."
    )
    assert (weights.triu(1) == 0).all(), "Future keys should have a weight of 0."
    changed = x.clone()
    changed[:, 4] = 0.0
    torch.testing.assert_close(
        attention(changed)[:, :4], y[:, :4], msg="The last token changed earlier outputs."
    )


def test_CausalSelfAttention_agrees_with_torch():
    from multihead import CausalSelfAttention

    attention = CausalSelfAttention(12, 3)
    for length in (3, 6):  # the mask must fit any length
        x = draw(2, length, 12)
        query, key, value = (x @ part.T for part in attention.qkv.weight.split(12))
        heads = [
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            for q, k, v in zip(
                query.split(4, -1), key.split(4, -1), value.split(4, -1), strict=True
            )
        ]
        expected = attention.proj(torch.cat(heads, dim=-1))
        torch.testing.assert_close(
            attention(x),
            expected,
            msg="The output differs from PyTorch's attention in each head: check the order of q, k "
            "and v, the scale, the heads and `proj`.",
        )


def test_CausalSelfAttention_has_two_layers():
    from multihead import CausalSelfAttention

    shapes = {name: tuple(p.shape) for name, p in CausalSelfAttention(8, 2).named_parameters()}
    expected = {"qkv.weight": (24, 8), "proj.weight": (8, 8)}
    assert shapes == expected, f"The parameters should be {expected}, not {shapes}."


def test_CausalSelfAttention_drops_weights():
    from multihead import CausalSelfAttention

    torch.manual_seed(0)
    attention = CausalSelfAttention(8, 2, dropout=0.5)
    with torch.no_grad():
        attention.proj.weight.copy_(torch.eye(8))  # the output is what the heads return
    x = draw(1, 1, 8)  # one token, whose only weight is 1
    kept = attention.eval()(x)
    attention.train()
    for _ in range(20):
        ratios = (attention(x) / kept).flatten().tolist()
        assert all(min(abs(ratio), abs(ratio - 2)) < 1e-3 for ratio in ratios), (
            "With dropout 0.5 a weight is either dropped or doubled before it multiplies the "
            f"values; the outputs are {ratios} times those of evaluation mode."
        )


def test_CausalSelfAttention_shows_weights_before_dropout():
    from multihead import CausalSelfAttention

    attention = CausalSelfAttention(8, 2, dropout=0.5)
    x = draw(3, 6, 8)
    y, weights = attention(x, return_weights=True)  # a new module is in training mode
    torch.testing.assert_close(
        weights.sum(dim=-1), torch.ones(3, 2, 6), msg="Return the weights before dropout."
    )
    assert not torch.equal(y, attention(x)), "In training, dropout makes two calls differ."
    attention.eval()
    assert torch.equal(attention(x), attention(x)), "In evaluation nothing is dropped."


# plot_heads


def labels(axis):
    """The texts at an axis's ticks, also where panels share an axis and hide them."""
    axis.get_ticklabels()  # brings them up to date
    return [tick.label1.get_text() for tick in axis.get_major_ticks()]


def test_plot_heads_draws_a_panel_per_head():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from multihead import plot_heads

    weights = torch.softmax(draw(3, 4, 4), dim=-1).requires_grad_()
    figure = plot_heads(weights, ["one", "two", "three", "four"])
    panels = [ax for ax in figure.axes if ax.get_title()]
    titles = [ax.get_title() for ax in panels]
    assert titles == ["Head 1", "Head 2", "Head 3"], (
        f"The titles should be Head 1, Head 2 and Head 3, not {titles}."
    )
    for ax, matrix in zip(panels, weights, strict=True):
        (image,) = [*ax.images, *ax.collections]  # imshow's or pcolormesh's
        up = 1 if ax.yaxis_inverted() else -1  # from the top
        drawn = torch.as_tensor(image.get_array().reshape(4, 4)[::up].copy()).float()
        torch.testing.assert_close(
            drawn, matrix.detach(), msg=f"{ax.get_title()} is not drawn unchanged."
        )
        assert image.get_clim() == (0.0, 1.0), "The colours should run from 0 to 1."
        names = (ax.get_xlabel(), ax.get_ylabel())
        assert names == ("Key", "Query"), f"The axes should be Key and Query, not {names}."
        tokens = ["one", "two", "three", "four"]
        assert labels(ax.xaxis) == tokens, "The tokens should label the keys."
        assert labels(ax.yaxis)[::up] == tokens, "The tokens should label the queries."
    plt.close(figure)


@pytest.mark.parametrize("heads", [1, 5])
def test_plot_heads_draws_any_number_of_heads(heads):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from multihead import plot_heads

    first, second = (plot_heads(torch.full((heads, 2, 2), 0.5)) for _ in range(2))
    assert first is not second, "Each call should make a new figure."
    titles = [ax.get_title() for ax in first.axes if ax.images or ax.collections]
    named = [title for title in titles if title]
    assert len(named) == heads, f"{heads} heads should give {heads} panels, not {len(named)}."
    plt.close("all")


# from_torch


@pytest.mark.parametrize("bias", [True, False])
def test_from_torch_gives_the_same_results(bias):
    from multihead import from_torch

    theirs = torch.nn.MultiheadAttention(12, 3, bias=bias, batch_first=True)
    if bias:  # PyTorch starts them at zero, where a forgotten bias would not be noticed
        torch.nn.init.normal_(theirs.in_proj_bias)
        torch.nn.init.normal_(theirs.out_proj.bias)
    x = draw(2, 5, 12)
    output, weights = from_torch(theirs)(x)
    expected, expected_weights = theirs(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(weights, expected_weights, msg="The weights differ from PyTorch's.")
    torch.testing.assert_close(output, expected, msg="The output differs from PyTorch's.")


def test_from_torch_leaves_the_random_state_alone():
    from multihead import from_torch

    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    before = torch.get_rng_state()
    from_torch(theirs)
    assert torch.equal(torch.get_rng_state(), before), "from_torch drew random numbers."


def test_from_torch_makes_a_trainable_copy():
    from multihead import from_torch

    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    copy = from_torch(theirs)
    assert all(p.requires_grad for p in copy.parameters()), "The copy cannot be trained."
    before = theirs.in_proj_weight.clone()
    with torch.no_grad():
        for parameter in copy.parameters():
            parameter.add_(1.0)
    assert torch.equal(theirs.in_proj_weight, before), "The copy shares memory with the original."
