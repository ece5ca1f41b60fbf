"""Public checks of week 2: small examples with numbers you can check by hand.

Run them with `pytest` in this folder, or `autograder check`. They are a beginning: the hidden
tests try other sizes, types, devices and corners.
"""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

T, F = True, False


# causal_mask --------------------------------------------------------------------------------------


def test_causal_mask_of_three_tokens():
    """Row i says which keys query i may see."""
    from masking import causal_mask

    expected = torch.tensor([[T, F, F], [T, T, F], [T, T, T]])
    actual = causal_mask(3)
    assert actual.dtype == torch.bool, f"a mask is a bool tensor, yours is {actual.dtype}"
    assert torch.equal(actual, expected), f"expected\n{expected}\nbut got\n{actual}"


def test_causal_mask_of_twenty_tokens():
    """Query i sees i + 1 keys, for any length."""
    from masking import causal_mask

    actual = causal_mask(20)
    assert actual.shape == (20, 20), f"the shape should be (20, 20), not {tuple(actual.shape)}"
    assert actual.sum(-1).tolist() == list(range(1, 21)), "row i should have i + 1 visible keys"


def test_causal_mask_on_a_device():
    """The mask is made where it is asked for; `meta` is a device that every machine has."""
    from masking import causal_mask

    device = causal_mask(4, device="meta").device
    assert device.type == "meta", f"asked for a mask on the device meta, got one on {device}"


# padding_mask -------------------------------------------------------------------------------------


def test_padding_mask_of_two_sequences():
    """The longest sequence sets the width."""
    from masking import padding_mask

    expected = torch.tensor([[T, F, F], [T, T, T]])
    actual = padding_mask(torch.tensor([1, 3]))
    assert actual.dtype == torch.bool, f"a mask is a bool tensor, yours is {actual.dtype}"
    assert torch.equal(actual, expected), f"expected\n{expected}\nbut got\n{actual}"


def test_padding_mask_with_max_len():
    """`max_len` may leave room that no sequence needs."""
    from masking import padding_mask

    expected = torch.tensor([[T, T, F, F], [F, F, F, F]])
    actual = padding_mask(torch.tensor([2, 0]), max_len=4)
    assert torch.equal(actual, expected), f"expected\n{expected}\nbut got\n{actual}"


def test_padding_mask_refuses_bad_lengths():
    """The error says which length was wrong."""
    from masking import padding_mask

    with pytest.raises(ValueError, match="9"):
        padding_mask(torch.tensor([2, 9, 3]), max_len=5)
    with pytest.raises(ValueError, match="-1"):
        padding_mask(torch.tensor([2, -1, 3]))


# combine_masks ------------------------------------------------------------------------------------


def test_combine_masks_both_must_allow():
    """Three tokens, the last one of the second sequence is padding."""
    from masking import combine_masks

    causal = torch.tensor([[T, F, F], [T, T, F], [T, T, T]])
    padding = torch.tensor([[T, T, T], [T, T, F]])
    actual = combine_masks(causal, padding)
    assert actual.dtype == torch.bool, f"a mask is a bool tensor, yours is {actual.dtype}"
    assert actual.shape == (2, 1, 3, 3), (
        f"the shape should be (B, 1, T, T) = (2, 1, 3, 3), not {tuple(actual.shape)}"
    )
    assert torch.equal(actual[0, 0], causal), (
        "a sequence without padding should keep the causal mask unchanged"
    )
    expected = torch.tensor([[T, F, F], [T, T, F], [T, T, F]])
    assert torch.equal(actual[1, 0], expected), f"expected\n{expected}\nbut got\n{actual[1, 0]}"


# masked_softmax -----------------------------------------------------------------------------------


def test_masked_softmax_of_allowed_entries():
    """Two equal scores share the weight, whatever the hidden score."""
    from masking import masked_softmax

    actual = masked_softmax(torch.tensor([1.0, 50.0, 1.0]), torch.tensor([T, F, T]))
    assert torch.allclose(actual, torch.tensor([0.5, 0.0, 0.5])), (
        f"expected [0.5, 0, 0.5], got {actual.tolist()}"
    )


def test_masked_softmax_of_an_empty_row():
    """If all entries are hidden, the weights are zero, and so is the gradient."""
    from masking import masked_softmax

    scores = torch.tensor([[1.0, 2.0], [3.0, 3.0]], requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([[F, F], [T, T]]))
    expected = torch.tensor([[0.0, 0.0], [0.5, 0.5]])
    assert torch.allclose(weights, expected), (
        f"expected {expected.tolist()}, got {weights.tolist()}"
    )
    weights[:, 0].sum().backward()
    assert scores.grad is not None, "no gradient reached the scores"
    assert torch.isfinite(scores.grad).all(), (
        f"the gradient should contain no NaN, but is {scores.grad.tolist()}"
    )


def test_masked_softmax_along_the_first_dimension():
    """With dim=0 each column sums to 1."""
    from masking import masked_softmax

    scores = torch.tensor([[0.0, 5.0], [math.log(3.0), 6.0]])
    actual = masked_softmax(scores, torch.tensor([[T, T], [T, F]]), dim=0)
    expected = torch.tensor([[0.25, 1.0], [0.75, 0.0]])
    assert torch.allclose(actual, expected), (
        f"with dim=0: expected {expected.tolist()}, got {actual.tolist()}"
    )


def test_masked_softmax_of_large_scores():
    """Neither large scores nor a much larger hidden score change the weights."""
    from masking import masked_softmax

    scores = torch.tensor([[300.0, 300.0, -9.0], [2.0, 2.0, 700.0]])
    actual = masked_softmax(scores, torch.tensor([T, T, F]))
    assert torch.allclose(actual, torch.tensor([0.5, 0.5, 0.0])), (
        f"expected [0.5, 0.5, 0] in both rows, got {actual.tolist()}"
    )


def test_masked_softmax_in_half_precision():
    """float16 goes in and comes out."""
    from masking import masked_softmax

    actual = masked_softmax(
        torch.tensor([2.0, 0.0, 2.0], dtype=torch.float16), torch.tensor([T, F, T])
    )
    assert actual.dtype == torch.float16, f"float16 went in, {actual.dtype} came out"
    assert actual.tolist() == [0.5, 0.0, 0.5], f"expected [0.5, 0, 0.5], got {actual.tolist()}"


# scaled_dot_product_attention ---------------------------------------------------------------------


def test_scaled_dot_product_attention_by_hand():
    """One query, two keys, head size 4: scores ln 3 and 0 give the weights 3/4 and 1/4."""
    from masking import scaled_dot_product_attention

    q = torch.tensor([[2.0 * math.log(3.0), 0.0, 0.0, 0.0]])
    k = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    v = torch.tensor([[4.0, 0.0, 8.0], [0.0, 4.0, 8.0]])
    output, weights = scaled_dot_product_attention(q, k, v)
    assert torch.allclose(weights, torch.tensor([[0.75, 0.25]])), (
        f"expected weights [0.75, 0.25], got {weights}"
    )
    assert torch.allclose(output, torch.tensor([[3.0, 1.0, 8.0]])), (
        f"expected output [3, 1, 8], got {output}"
    )


def test_scaled_dot_product_attention_with_a_mask():
    """With a single key left to see, the output is that key's value."""
    from masking import scaled_dot_product_attention

    torch.manual_seed(0)
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
    mask = torch.tensor([F, F, T, F, F])
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    assert output.shape == (2, 3, 6), (
        f"the output should be (..., n, d_v) = (2, 3, 6), not {tuple(output.shape)}"
    )
    assert weights.shape == (2, 3, 5), (
        f"the weights should be (..., n, m) = (2, 3, 5), not {tuple(weights.shape)}"
    )
    assert torch.allclose(output, v[:, 2:3].expand(2, 3, 6)), (
        "every query should return the value of key 2"
    )


def test_scaled_dot_product_attention_matches_features():
    """Three keys; the query has scores ln 3, 0 and ln 3. The second query sees no key."""
    from masking import scaled_dot_product_attention

    q = torch.tensor([[2.0 * math.log(3.0), 0.0, 0.0, 0.0]]).expand(2, 4)
    k = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0], [1.0, 1.0, 0.0, 0.0]])
    mask = torch.tensor([[T, T, T], [F, F, F]])
    output, weights = scaled_dot_product_attention(q, k, torch.tensor([[7.0], [0.0], [14.0]]), mask)
    expected = torch.tensor([[3 / 7, 1 / 7, 3 / 7], [0.0, 0.0, 0.0]])
    assert torch.allclose(weights, expected), (
        f"expected weights {expected.tolist()}, got {weights.tolist()}"
    )
    assert torch.allclose(output, torch.tensor([[9.0], [0.0]])), (
        f"expected outputs 9 and 0, got {output.flatten().tolist()}"
    )


def test_scaled_dot_product_attention_of_trained_heads():
    """All 24 heads of a trained model, under its causal mask."""
    from masking import scaled_dot_product_attention

    with np.load(Path(__file__).with_name("model") / "heads.npz") as file:
        q, k, v, recorded = (torch.tensor(file[name]) for name in ("q", "k", "v", "output"))
    causal = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
    output, _ = scaled_dot_product_attention(q, k, v, causal)
    wrong = (output - recorded).abs().amax(dim=(0, 1, 2, 4)) > 1e-4
    assert not wrong.any(), (
        f"the outputs differ from those of the trained model at positions {wrong.nonzero().flatten().tolist()}"
    )


# SelfAttention ------------------------------------------------------------------------------------


def test_SelfAttention_parameters():
    """Three square projections without a bias."""
    from masking import SelfAttention

    shapes = {name: tuple(value.shape) for name, value in SelfAttention(6).state_dict().items()}
    expected = {"W_q.weight": (6, 6), "W_k.weight": (6, 6), "W_v.weight": (6, 6)}
    assert shapes == expected, f"expected the parameters {expected}, got {shapes}"


def test_SelfAttention_projects_with_its_layers():
    """Two tokens, the first with scores 0 and ln 3; two sequences with different masks."""
    from masking import SelfAttention

    model = SelfAttention(4)
    with torch.no_grad():
        for layer in (model.W_q, model.W_k, model.W_v):
            layer.weight.zero_()
        model.W_q.weight[0, 0] = 2.0 * math.log(3.0)
        model.W_k.weight[0, 1] = 1.0
        model.W_v.weight[2, 0], model.W_v.weight[2, 1] = 4.0, 8.0
    tokens = torch.eye(4)[:2].expand(2, 2, 4)
    output, weights = model(tokens)
    expected = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    assert torch.allclose(weights, expected), (
        f"without a mask the weights should be {expected.tolist()}, not {weights[0].tolist()}: "
        "queries from W_q, keys from W_k, scores divided by the root of the embedding size"
    )
    assert torch.allclose(output[..., 2], torch.tensor([7.0, 6.0])), (
        f"feature 2 of the outputs should be 7 and 6, not {output[0, :, 2].tolist()}"
    )
    masks = torch.tensor([[[T, F], [T, T]], [[T, T], [F, F]]])
    _, weights = model(tokens, masks)
    expected = torch.tensor([[[1.0, 0.0], [0.5, 0.5]], [[0.25, 0.75], [0.0, 0.0]]])
    assert torch.allclose(weights, expected), (
        f"with a mask per sequence: expected {expected.tolist()}, got {weights.tolist()}"
    )


def test_SelfAttention_cannot_see_the_future():
    """Under a causal mask the last token changes nothing before it."""
    from masking import SelfAttention

    torch.manual_seed(0)
    model, x = SelfAttention(6), torch.randn(2, 4, 6)
    causal = torch.tensor([[T, F, F, F], [T, T, F, F], [T, T, T, F], [T, T, T, T]])
    before, weights = model(x, causal)
    assert weights.shape == (2, 4, 4), (
        f"the weights should be (B, T, T) = (2, 4, 4), not {tuple(weights.shape)}"
    )
    changed = x.clone()
    changed[:, -1] += 1.0
    after, _ = model(changed, causal)
    assert torch.allclose(before[:, :-1], after[:, :-1]), (
        "an earlier output changed with the last token"
    )
    assert not torch.allclose(before[:, -1], after[:, -1]), (
        "the last output should change with the last token"
    )


# plot_attention -----------------------------------------------------------------------------------


def test_plot_attention_draws_the_weights():
    """One image: the matrix as it is, first row on top, colours from 0 to 1, both axes labelled."""
    from masking import plot_attention

    weights = torch.tensor([[0.25, 0.75, 0.0], [0.5, 0.25, 0.25]], requires_grad=True)
    ax = plot_attention(weights)
    images = [*ax.images, *ax.collections]  # imshow's or pcolormesh's
    assert len(images) == 1, f"there should be one image, not {len(images)}"
    drawn = np.asarray(images[0].get_array())
    drawn = drawn.reshape(2, 3) if drawn.size == 6 else drawn
    assert drawn.shape == (2, 3), (
        f"two queries and three keys should give 2 rows and 3 columns, not {drawn.shape}"
    )
    seen = drawn if ax.yaxis_inverted() else drawn[::-1]  # from the top
    assert np.allclose(seen, weights.detach().numpy()), (
        "the values should be drawn unchanged, the first query on top"
    )
    low, high = images[0].get_clim()
    assert (low, high) == (0, 1), f"the colours should span 0 to 1, not {low} to {high}"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Key", "Query"), (
        "the labels should be Key (x) and Query (y)"
    )


def test_plot_attention_makes_a_new_figure():
    """Two calls without `ax` draw two figures."""
    import matplotlib.pyplot as plt
    from masking import plot_attention

    first, second = plot_attention(torch.eye(2)), plot_attention(torch.eye(3))
    assert first.figure is not second.figure, "without `ax`, each call should make a new figure"
    plt.close("all")


def test_plot_attention_on_given_axes_with_tokens():
    """Tokens become tick labels, on the Axes that was given."""
    import matplotlib.pyplot as plt
    from masking import plot_attention

    _, given = plt.subplots()
    ax = plot_attention(
        torch.tensor([[0.25, 0.75, 0.0], [0.5, 0.25, 0.25]]),
        ["q0", "q1"],
        ["k0", "k1", "k2"],
        ax=given,
    )
    assert ax is given, "if `ax` is given, draw on it and return it"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["k0", "k1", "k2"], (
        "the keys label the columns"
    )
    up = 1 if ax.yaxis_inverted() else -1  # from the top
    assert [label.get_text() for label in ax.get_yticklabels()][::up] == ["q0", "q1"], (
        "the queries label the rows"
    )
    plt.close("all")
