"""Public checks for week 1: small examples with known answers. Run them with `pytest`."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

SCORES = [2.1, 0.3, 0.1, 0.8, 0.2]
WEIGHTS = [0.5805, 0.0960, 0.0786, 0.1582, 0.0868]  # rounded to four digits

# Two queries, three keys, all of size 4, so that the scale is 2.
QUERIES = [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]]
KEYS = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
VALUES = [[10.0, 0.0], [20.0, 0.0], [0.0, 30.0]]
ATTENTION = [[0.5761, 0.2119, 0.2119], [0.2119, 0.5761, 0.2119]]  # e : 1 : 1 and 1 : e : 1
BLENDS = [[10.0, 6.3583], [13.6417, 6.3583]]

TRAINED = Path(__file__).with_name("model") / "heads.npz"  # 24 heads of a trained model


def test_softmax_numpy_known_row():
    from softmax import softmax_numpy

    weights = softmax_numpy(np.array(SCORES))
    assert np.allclose(weights, WEIGHTS, atol=1e-4), (
        f"softmax of {SCORES} should be about {WEIGHTS}, not {weights}"
    )


def test_softmax_numpy_each_axis():
    from softmax import softmax_numpy

    x = np.array([[0.0, 0.0, math.log(2)], [0.0, math.log(3), 0.0]])
    rows, columns = softmax_numpy(x), softmax_numpy(x, axis=0)
    assert np.allclose(rows, [[0.25, 0.25, 0.5], [0.2, 0.6, 0.2]]), (
        "without `axis`, each row should sum to 1"
    )
    expected = [[1 / 2, 1 / 4, 2 / 3], [1 / 2, 3 / 4, 1 / 3]]
    assert np.allclose(columns, expected), "with axis=0, each column should sum to 1"


def test_softmax_numpy_large_scores_and_integers():
    from softmax import softmax_numpy

    weights = softmax_numpy(np.array([[1000, 1000], [-1000, -1000]]))
    assert weights.dtype == np.float64, (
        f"integers should give a float64 result, not {weights.dtype}"
    )
    assert np.allclose(weights, 0.5), (
        f"equal scores share equally, however large: expected 0.5 everywhere, not {weights}"
    )


def test_softmax_numpy_keeps_differences_of_large_scores():
    from softmax import softmax_numpy

    weights = softmax_numpy(np.array([[2000.0, 2000.0 + math.log(3)], [0.0, 3000.0]]))
    assert np.allclose(weights, [[0.25, 0.75], [0.0, 1.0]]), (
        f"the weights should be 1/4, 3/4 and 0, 1, not {weights}: only differences of scores count"
    )


def test_softmax_known_row():
    from softmax import softmax

    weights = softmax(torch.tensor(SCORES))
    assert torch.allclose(weights, torch.tensor(WEIGHTS), atol=1e-4), (
        f"softmax of {SCORES} should be about {WEIGHTS}, not {weights}"
    )
    columns = softmax(torch.zeros(2, 3), dim=0)
    assert torch.allclose(columns, torch.full((2, 3), 0.5)), (
        "with dim=0, two equal rows should share each column in halves"
    )


def test_softmax_along_the_first_dimension():
    from softmax import softmax

    weights = softmax(torch.tensor([[0.0, math.log(2)], [math.log(3), 0.0]]), dim=0)
    expected = torch.tensor([[1 / 4, 2 / 3], [3 / 4, 1 / 3]])
    assert torch.allclose(weights, expected), f"with dim=0: expected {expected}, not {weights}"


def test_softmax_large_scores():
    from softmax import softmax

    weights = softmax(torch.tensor([[1e3, 1e3, -torch.inf], [-1e3, -1e3, -1e3]]))
    expected = torch.tensor([[0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    assert torch.allclose(weights, expected, atol=1e-4), (
        f"each row needs its own maximum: expected {expected}, not {weights}"
    )


def test_softmax_gradient():
    from softmax import softmax

    x = torch.tensor([0.0, math.log(3.0)], dtype=torch.float64, requires_grad=True)
    weights = softmax(x)
    assert weights.requires_grad, (
        "the result has lost its connection to the input: "
        "do all steps in torch, and detach nothing but the shift"
    )
    (gradient,) = torch.autograd.grad(weights[0], x)
    expected = torch.tensor([3 / 16, -3 / 16], dtype=torch.float64)
    assert torch.allclose(gradient, expected), (
        f"weights are 1/4 and 3/4, so the first one's gradient is 3/16 and -3/16, not {gradient}"
    )


def test_logsumexp_known_values():
    from softmax import logsumexp

    x = torch.tensor([[0.0, 0.0], [1000.0, 1000.0], [-1000.0, -1000.0]])
    expected = torch.tensor([0.0, 1000.0, -1000.0]) + math.log(2)
    result = logsumexp(x)
    assert result.shape == (3,), (
        f"one number per row is expected, shape (3,), not {tuple(result.shape)}"
    )
    assert torch.allclose(result, expected), (
        f"log(2 exp(x)) is x + log 2: expected {expected}, not {result}"
    )


def test_logsumexp_gradient():
    from softmax import logsumexp

    x = torch.tensor([[0.0, math.log(3)], [math.log(3), 0.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(logsumexp(x), x, torch.tensor([1.0, 2.0]))
    expected = torch.tensor([[1 / 4, 3 / 4], [6 / 4, 2 / 4]])
    assert torch.allclose(gradient, expected), (
        f"the gradient of each row is its softmax times the incoming gradient: expected {expected}, "
        f"not {gradient}"
    )


def test_logsumexp_keepdim():
    from softmax import logsumexp

    x = torch.zeros(2, 3, 5)
    for dim, shape in ((0, (1, 3, 5)), (1, (2, 1, 5)), (-1, (2, 3, 1))):
        kept = logsumexp(x, dim=dim, keepdim=True)
        assert kept.shape == shape, (
            f"keepdim=True with dim={dim} should give shape {shape}, not {tuple(kept.shape)}"
        )


def test_logsumexp_nothing_to_sum():
    from softmax import logsumexp

    result = logsumexp(torch.tensor([[-torch.inf, -torch.inf], [1000.0, -torch.inf]]))
    assert torch.equal(result, torch.tensor([-torch.inf, 1000.0])), (
        f"a row of only -inf gives -inf, and log(exp(1000)) is 1000; got {result}"
    )


def test_scaled_dot_product_attention_numpy_by_hand():
    from softmax import scaled_dot_product_attention_numpy

    output, weights = scaled_dot_product_attention_numpy(
        np.array(QUERIES), np.array(KEYS), np.array(VALUES)
    )
    assert weights.shape == (2, 3), (
        f"two queries and three keys make weights of shape (2, 3), not {weights.shape}"
    )
    assert np.allclose(weights, ATTENTION, atol=1e-4), (
        f"scores 2 scaled by 2 give e : 1 : 1, that is {ATTENTION}, not {weights}"
    )
    assert np.allclose(output, BLENDS, atol=1e-3), (
        f"the blended values should be {BLENDS}, not {output}"
    )


def test_scaled_dot_product_attention_numpy_batch_and_type():
    from softmax import scaled_dot_product_attention_numpy

    q, k, v = (np.stack([np.array(a, dtype=np.float32)] * 5) for a in (QUERIES, KEYS, VALUES))
    output, weights = scaled_dot_product_attention_numpy(q, k, v)
    assert output.shape == (5, 2, 2) and weights.shape == (5, 2, 3), (
        f"a batch of 5 should stay a batch of 5, got {output.shape} and {weights.shape}"
    )
    assert output.dtype == weights.dtype == np.float32, (
        f"float32 in, float32 out; got {output.dtype} and {weights.dtype}"
    )


def test_scaled_dot_product_attention_numpy_large_scores():
    from softmax import scaled_dot_product_attention_numpy

    q, k = np.array([[4000.0, 0.0, 0.0, 0.0]]), np.eye(2, 4)
    output, _ = scaled_dot_product_attention_numpy(q, k, np.array([[7.0], [1.0]]))
    assert np.allclose(output, 7.0), f"the first key gets all the weight: 7, not {output}"


def test_scaled_dot_product_attention_numpy_of_trained_heads():
    from softmax import scaled_dot_product_attention_numpy

    with np.load(TRAINED) as file:
        q, k, v, recorded = (file[name] for name in ("q", "k", "v", "output"))
    output, _ = scaled_dot_product_attention_numpy(q[..., -1:, :], k, v)
    assert np.allclose(output, recorded[..., -1:, :], atol=1e-4), (
        "the last token should read what the heads of the trained model recorded"
    )


def test_scaled_dot_product_attention_by_hand():
    from softmax import scaled_dot_product_attention

    output, weights = scaled_dot_product_attention(*map(torch.tensor, (QUERIES, KEYS, VALUES)))
    assert torch.allclose(weights, torch.tensor(ATTENTION), atol=1e-4), (
        f"scores 2 scaled by 2 give e : 1 : 1, that is {ATTENTION}, not {weights}"
    )
    assert torch.allclose(output, torch.tensor(BLENDS), atol=1e-3), (
        f"the blended values should be {BLENDS}, not {output}"
    )


def test_scaled_dot_product_attention_of_a_batch():
    from softmax import scaled_dot_product_attention

    q, k, v = (torch.tensor(a).expand(3, -1, -1) for a in (QUERIES, KEYS, VALUES))
    _, weights = scaled_dot_product_attention(q, k, v)
    assert torch.allclose(weights, torch.tensor(ATTENTION).expand(3, -1, -1), atol=1e-4), (
        "three copies of the example above should get its weights three times"
    )


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_scaled_dot_product_attention_leading_axes(leading):
    from softmax import scaled_dot_product_attention

    q, k, v = torch.zeros(*leading, 4, 6), torch.zeros(*leading, 7, 6), torch.ones(*leading, 7, 5)
    output, weights = scaled_dot_product_attention(q, k, v)
    assert weights.shape == (*leading, 4, 7), (
        f"weights should have shape {(*leading, 4, 7)}, not {tuple(weights.shape)}"
    )
    assert torch.allclose(weights, torch.full_like(weights, 1 / 7)), (
        "equal scores should share the attention equally among 7 keys"
    )
    assert torch.allclose(output, torch.ones(*leading, 4, 5)), "a blend of ones is one"


def test_scaled_dot_product_attention_gradients():
    from softmax import scaled_dot_product_attention

    three = [torch.tensor(a, requires_grad=True) for a in (QUERIES, KEYS, VALUES)]
    output, weights = scaled_dot_product_attention(*three)
    (output.sum() + weights[0, 0]).backward()
    for name, tensor in zip(("queries", "keys", "values"), three):
        assert tensor.grad is not None, f"no gradient reaches the {name}"


def test_scaled_dot_product_attention_of_trained_heads():
    from softmax import scaled_dot_product_attention

    with np.load(TRAINED) as file:
        q, k, v, recorded = (torch.tensor(file[name]) for name in ("q", "k", "v", "output"))
    output, _ = scaled_dot_product_attention(q[..., -1:, :], k, v)
    assert torch.allclose(output, recorded[..., -1:, :], atol=1e-4), (
        "the last token should read what the heads of the trained model recorded"
    )


def test_SelfAttention_matrices():
    from softmax import SelfAttention

    attention = SelfAttention(8, 4, 3)
    assert attention.Wq.shape == attention.Wk.shape == (8, 4), (
        f"Wq and Wk should have shape (8, 4), not {attention.Wq.shape}, {attention.Wk.shape}"
    )
    assert attention.Wv.shape == (8, 3), f"Wv should have shape (8, 3), not {attention.Wv.shape}"
    first = (attention.Wq[0, 0], attention.Wk[0, 0], attention.Wv[0, 0])
    expected = (0.1244, -0.2091, 0.3033)
    assert np.allclose(first, expected, atol=1e-4), (
        f"with seed 42 the matrices should begin with {expected}, not {first}"
    )


def test_SelfAttention_draws_from_its_seed():
    from softmax import SelfAttention

    assert not np.allclose(SelfAttention(8, 4, 3, seed=0).Wq, SelfAttention(8, 4, 3, seed=1).Wq), (
        "two seeds should give different matrices"
    )


def test_SelfAttention_projects_with_its_matrices():
    from softmax import SelfAttention

    attention = SelfAttention(d_model=2, dk=4, dv=1)
    attention.Wq[:], attention.Wk[:] = 0.0, 0.0
    attention.Wq[0, 0], attention.Wk[1, 0] = 2.0, math.log(3)
    attention.Wv[:] = [[1.0], [5.0]]
    output, weights = attention.forward(np.eye(2))  # token 0 has the scores 0 and log 3
    again, _ = attention.forward(np.eye(2))
    assert np.array_equal(output, again), "the matrices should be drawn once, not in every call"
    assert np.allclose(weights, [[1 / 4, 3 / 4], [1 / 2, 1 / 2]]), (
        "queries from Wq, keys from Wk, scores divided by the root of their size: "
        f"expected 1/4, 3/4 and 1/2, 1/2, not {weights}"
    )
    assert np.allclose(output, [[4.0], [3.0]]), f"expected the outputs 4 and 3, not {output}"


def test_SelfAttention_forward():
    from softmax import SelfAttention

    sentence = np.ones((6, 8), dtype=np.float32)  # six times the same token
    output, weights = SelfAttention(8, 4, 3).forward(sentence)
    assert output.shape == (6, 3) and weights.shape == (6, 6), (
        f"expected shapes (6, 3) and (6, 6), not {output.shape} and {weights.shape}"
    )
    assert np.allclose(weights, 1 / 6), "equal tokens should get equal attention"
    assert output.dtype == weights.dtype == np.float32, (
        f"float32 in, float32 out; got {output.dtype} and {weights.dtype}"
    )


def test_ascii_heatmap_two_tokens():
    from softmax import ascii_heatmap

    drawing = ascii_heatmap(np.array([[0.5, 0.15], [0.0, 0.3]]), ["hi", "you"])
    assert isinstance(drawing, str), "return the drawing as one text; do not print it"
    expected = ["          hi   you", "    hi  █     ░", "   you        ▒"]
    lines = [line.rstrip() for line in drawing.split("\n")]
    assert lines == expected, "expected\n" + "\n".join(expected) + "\nnot\n" + "\n".join(lines)


def test_ascii_heatmap_levels():
    from softmax import ascii_heatmap

    weights = np.array([[0.9, 0.8], [0.3, 0.5]])
    for chars, expected in ((" ░▒▓█", ["█", "▓", "░", "▒"]), (".o@", ["@", "o", ".", "o"])):
        lines = ascii_heatmap(weights, ["a", "b"], chars=chars).split("\n")[1:]
        drawn = [cell for line in lines for cell in line.split()[1:]]
        assert drawn == expected, (
            f"with {len(chars)} characters, 0.9, 0.8, 0.3 and 0.5 should be {expected}, not {drawn}: "
            "the level is rounded down and counted from 0 to the maximum"
        )


def test_ascii_heatmap_nothing_and_other_characters():
    from softmax import ascii_heatmap

    lines = ascii_heatmap(np.zeros((2, 2)), ["a", "b"], chars="oO", width=4).split("\n")
    assert [line.rstrip() for line in lines] == ["       a   b", "   a  o   o", "   b  o   o"], (
        "zeros should all be drawn as chars[0], in cells of `width` places"
    )
