"""Public checks for week 6: run `pytest` in this folder, or `autograder check`.

Check one elective with `pytest -k rotary` or `autograder check rotary`. The graders look at more:
other sizes, dtypes, devices, gradients, and how much memory is used. What needs keras or
transformers is skipped where they are not installed.
"""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode


def draw(*shape):
    """Normally distributed numbers, the same in every run."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(6))


class LargestTensor(TorchDispatchMode):
    """Records the number of elements of the largest new tensor."""

    elements = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not operation.is_view:
            self.elements = max(self.elements, result.numel())
        return result


# sparsemax


def test_sparsemax_of_the_lesson():
    from beyond import sparsemax

    p = sparsemax(torch.tensor([1.0, 0.8, 0.1]))
    expected = torch.tensor([0.6, 0.4, 0.0])
    torch.testing.assert_close(p, expected, msg=f"It should be 0.6, 0.4, 0, not {p}")
    assert p[2] == 0, "The last entry should be exactly zero, not just small."


def test_sparsemax_takes_any_axis_and_infinity():
    from beyond import sparsemax

    x = torch.tensor([[1.0, 5.0], [0.8, -math.inf], [0.1, 4.5]])
    expected = torch.tensor([[0.6, 0.75], [0.4, 0.0], [0.0, 0.25]])
    p = sparsemax(x, dim=0)
    assert not p.isnan().any(), "-inf should get 0, not NaN. What is 0 times -inf?"
    torch.testing.assert_close(p, expected, msg="With dim=0 every column sums to 1.")


def test_sparsemax_has_a_gradient():
    from beyond import sparsemax

    x = torch.tensor([1.0, 0.8, 0.1], requires_grad=True)
    (gradient,) = torch.autograd.grad(sparsemax(x)[0], x)
    torch.testing.assert_close(
        gradient,
        torch.tensor([0.5, -0.5, 0.0]),
        msg="Raising one entry raises the level for all. Is the level part of the graph?",
    )


# entmax15


def test_entmax15_of_two_entries():
    from beyond import entmax15

    p = entmax15(torch.tensor([[0.0, 0.0, -9.0], [3.0, 0.0, 0.0]]))
    expected = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    torch.testing.assert_close(p, expected, msg=f"Equal entries share; 2 below gets nothing: {p}")


def test_entmax15_solves_its_equation():
    from beyond import entmax15

    x = draw(4, 7).double()
    p = entmax15(x)
    torch.testing.assert_close(
        p.sum(dim=-1), torch.ones(4).double(), msg="In float64 rows should sum to 1 to 15 digits."
    )
    for row, entries in zip(p, x, strict=True):
        levels = (entries / 2 - row.sqrt())[row > 0]
        torch.testing.assert_close(
            levels, levels[:1].expand_as(levels), msg="x/2 - √p should be the same wherever p > 0."
        )


def test_entmax15_has_a_gradient():
    from beyond import entmax15

    x = (3 * draw(2, 6)).double().requires_grad_()
    (gradient,) = torch.autograd.grad(entmax15(x)[:, 0].sum(), x)
    assert not gradient.isnan().any(), "Did you take the root of a negative number, or of zero?"
    torch.testing.assert_close(
        gradient.sum(dim=-1), torch.zeros(2).double(), msg="Raising all entries changes nothing."
    )


# relative_attention


def test_relative_attention_finds_the_left_neighbour():
    from beyond import relative_attention

    table = torch.zeros(5, 4)
    table[1] = 20.0  # the row of distance -1
    values = torch.tensor([[10.0], [20.0], [30.0], [40.0]])
    output, weights = relative_attention(torch.ones(4, 4), torch.zeros(4, 4), values, table)
    shapes = tuple(output.shape), tuple(weights.shape)
    assert shapes == ((4, 1), (4, 4)), f"(n, d_v) = (4, 1) and (n, m) = (4, 4), not {shapes}"
    expected = torch.tensor([[25.0], [10.0], [20.0], [30.0]])
    torch.testing.assert_close(
        output, expected, msg=f"Each token should get its left neighbour: {output.flatten()}"
    )


def test_relative_attention_by_the_formula():
    from beyond import relative_attention

    q, k, v, table = draw(2, 3, 4), draw(2, 6, 4), draw(2, 6, 5), draw(5, 4)
    _, weights = relative_attention(q, k, v, table)
    scores = torch.empty(2, 3, 6)
    for i in range(3):
        for j in range(6):
            row = table[min(max(j - i, -2), 2) + 2]
            scores[:, i, j] = (q[:, i] * (k[:, j] + row)).sum(dim=-1) / 2
    torch.testing.assert_close(
        weights, torch.softmax(scores, dim=-1), msg="The weights are not those of the formula."
    )


def test_relative_attention_keeps_no_vector_per_pair():
    from beyond import relative_attention

    n, d = 128, 32
    with LargestTensor() as largest:
        relative_attention(draw(n, d), draw(n, d), draw(n, 2), draw(5, d))
    assert largest.elements <= n * n * d // 8, (
        f"{n} queries and keys have {n * n} scores, but you make a tensor of {largest.elements} "
        "elements: multiply out the formula"
    )


# rotary


def test_rotary_turns_a_pair():
    from beyond import rotary

    x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    c, s = math.cos(1), math.sin(1)
    expected = torch.tensor([[1.0, 0.0], [c, s], [-2 * math.sin(2), 2 * math.cos(2)]])
    torch.testing.assert_close(
        rotary(x), expected, msg="Position p rotates the only pair by p radians, counter-clockwise."
    )


def test_rotary_pairs_neighbours():
    from beyond import rotary

    turned = rotary(torch.tensor([1.0, 0.0, 1.0, 0.0]).expand(1, 4), torch.tensor([1]), base=100.0)
    expected = torch.tensor([[math.cos(1), math.sin(1), math.cos(0.1), math.sin(0.1)]])
    torch.testing.assert_close(
        turned, expected, msg="Entries 0 and 1 are rotated by 1 radian, entries 2 and 3 by 1/10."
    )


def test_rotary_leaves_distances():
    from beyond import rotary

    q, k = draw(2, 1, 8)
    near = rotary(q, torch.tensor([0])) @ rotary(k, torch.tensor([3])).T
    far = rotary(q, torch.tensor([50])) @ rotary(k, torch.tensor([53])).T
    torch.testing.assert_close(near, far, rtol=1e-3, atol=1e-3, msg="Only the distance may matter.")


def test_rotary_refuses_odd_sizes():
    from beyond import rotary

    with pytest.raises(ValueError, match="5"):
        rotary(draw(3, 5))


# favor_features


def test_favor_features_by_hand():
    from beyond import favor_features

    x = torch.tensor([[2.0, 0.0, 0.0, 2.0]])  # d = 4, so x' = x / √2 and ‖x'‖² = 4
    w = torch.tensor([[0.0, 1.0, 1.0, 0.0], [math.sqrt(2), 0.0, 0.0, 0.0]])
    expected = torch.tensor([[math.exp(0 - 2), math.exp(2 - 2)]]) / math.sqrt(2)
    torch.testing.assert_close(
        favor_features(x, w),
        expected,
        msg="It should be exp(w·x' - ‖x'‖²/2) / √r with x' = x / d^(1/4).",
    )


def test_favor_features_approximate_the_exponential():
    from beyond import favor_features

    q, k = 0.3 * draw(2, 1, 4)
    half = draw(1_000, 4)
    w = torch.cat((half, -half))  # each next to its opposite: the mean needs far fewer
    product = favor_features(q, w) @ favor_features(k, w).T
    torch.testing.assert_close(
        product,
        torch.exp(q @ k.T / 2),
        rtol=0.02,
        atol=0.0,
        msg="φ(q)·φ(k) is far from exp(q·k/√d)",
    )


# performer_attention


def test_performer_attention_by_its_features():
    from beyond import performer_attention

    q, k, v, w = draw(3, 4), draw(5, 4) + 0.5, draw(5, 2), draw(6, 4)

    def features(x):
        x = x / math.sqrt(2)  # the fourth root of d = 4
        return torch.exp(x @ w.T - x.square().sum(dim=-1, keepdim=True) / 2)

    weights = features(q) @ features(k).T
    for causal in (False, True):
        if causal:
            weights = weights.tril()
        expected = weights @ v / weights.sum(dim=-1, keepdim=True)
        torch.testing.assert_close(
            performer_attention(q, k, v, w, causal=causal),
            expected,
            msg=f"With causal={causal} the output is not the weighted mean of the values.",
        )


def test_performer_attention_keeps_equal_values():
    from beyond import performer_attention

    values = torch.tensor([1.0, -2.0]).expand(5, 2)
    for causal in (False, True):
        output = performer_attention(draw(5, 4), draw(5, 4), values, draw(6, 4), causal=causal)
        torch.testing.assert_close(output, values.clone(), msg="Do you divide by the weights' sum?")


@pytest.mark.parametrize("causal", [False, True])
def test_performer_attention_makes_no_square_matrix(causal):
    from beyond import performer_attention

    n = 1024
    with LargestTensor() as largest:
        performer_attention(draw(n, 4), draw(n, 4), draw(n, 2), draw(8, 4), causal=causal)
    assert largest.elements <= n * n // 8, (
        f"for {n} queries and {n} keys you make a tensor of {largest.elements} elements: "
        "set the parentheses so that no n x m matrix appears"
    )


# keras_attention


def test_keras_attention_agrees_with_torch():
    from beyond import keras_attention  # first: it names the backend that keras shall use

    pytest.importorskip("keras", reason="keras is not installed")

    q, k, v = draw(2, 3, 4), draw(2, 5, 4), draw(2, 5, 6)
    mask = torch.tensor([True, True, False, True, False]).expand(3, 5)
    for given in (None, mask):
        output, weights = keras_attention(q, k, v, given)
        assert tuple(weights.shape) == (2, 3, 5), "The weights should be (..., n, m)."
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=given)
        torch.testing.assert_close(
            output.cpu(),
            expected,
            msg=f"Not attention {'with' if given is mask else 'without'} mask",
        )


def test_keras_attention_of_nothing_is_zero():
    from beyond import keras_attention  # first: it names the backend that keras shall use

    pytest.importorskip("keras", reason="keras is not installed")

    mask = torch.tensor([[True, False], [False, False]])
    output, weights = keras_attention(draw(2, 4), draw(2, 4), draw(2, 3), mask)
    assert weights.tolist() == [[1.0, 0.0], [0.0, 0.0]], (
        f"the second query has no visible key and should get zeros: {weights.tolist()}"
    )
    assert output[1].tolist() == [0.0, 0.0, 0.0], "Its output should be zero as well."


def test_keras_attention_passes_gradients():
    from beyond import keras_attention  # first: it names the backend that keras shall use

    keras = pytest.importorskip("keras", reason="keras is not installed")
    if keras.backend.backend() != "torch":
        pytest.skip("gradients are checked with the torch backend")
    q = draw(2, 4).requires_grad_()
    mask = torch.tensor([[True, True], [False, False]])
    output, _ = keras_attention(q, draw(2, 4), draw(2, 3), mask)
    assert output.requires_grad, "the output has lost its connection to the inputs"
    output.sum().backward()
    assert q.grad.isfinite().all(), "a query with no visible key should get no NaN in its gradient"


# sentence_attention


def small_encoder():
    """A BERT of two layers with three heads and random weights, and its tokenizer."""
    tokenizers = pytest.importorskip("tokenizers", reason="transformers is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "##s", "sleep"]
    rules = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]")
    )
    rules.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    rules.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3}
    config = transformers.BertConfig(
        vocab_size=len(words), intermediate_size=24, initializer_range=0.4, **sizes
    )
    model = transformers.BertModel(config, add_pooling_layer=False)
    return model, transformers.PreTrainedTokenizerFast(tokenizer_object=rules, unk_token="[UNK]")


def test_sentence_attention_returns_tokens_and_weights():
    model, tokenizer = small_encoder()
    from beyond import sentence_attention

    tokens, weights = sentence_attention(model, tokenizer, "the cats sleep")
    expected = ["[CLS]", "the", "cat", "##s", "sleep", "[SEP]"]
    assert tokens == expected, f"the tokens should be {expected}, not {tokens}"
    assert weights.shape == (2, 3, 6, 6), (
        f"the weights should be (layers, heads, T, T) = (2, 3, 6, 6), not {tuple(weights.shape)}"
    )
    torch.testing.assert_close(
        weights.sum(dim=-1), torch.ones(2, 3, 6), msg="Rows should sum to 1: is dropout still on?"
    )


@pytest.mark.parametrize("training", [True, False])
def test_sentence_attention_leaves_the_model_alone(training):
    model, tokenizer = small_encoder()
    from beyond import sentence_attention

    model.train(training)
    before = model.config._attn_implementation
    sentence_attention(model, tokenizer, "the cat")
    assert model.training is training, "The model's previous mode should be restored."
    assert model.config._attn_implementation == before, (
        "Restore the previous attention implementation."
    )


# additive_attention


def test_additive_attention_by_the_formula():
    from beyond import additive_attention

    q, k, v, W_q, W_k, u = draw(3, 2), draw(4, 5), draw(4, 6), draw(7, 2), draw(7, 5), draw(7)
    output, weights = additive_attention(q, k, v, W_q, W_k, u)
    shapes = tuple(output.shape), tuple(weights.shape)
    assert shapes == ((3, 6), (3, 4)), f"(n, d_v) = (3, 6) and (n, m) = (3, 4), not {shapes}"
    scores = torch.empty(3, 4)
    for i in range(3):
        for j in range(4):
            scores[i, j] = sum(u * torch.tanh(W_q @ q[i] + W_k @ k[j]))
    expected = torch.softmax(scores, dim=-1)
    torch.testing.assert_close(weights, expected, msg="The weights are not those of the formula.")
    torch.testing.assert_close(output, expected @ v, msg="The weights should mix the values.")


def test_additive_attention_without_a_visible_key():
    from beyond import additive_attention

    mask = torch.tensor([[True, False, True], [False, False, False]])
    inputs = draw(2, 4), draw(3, 4), draw(3, 2), draw(5, 4), draw(5, 4), draw(5)
    output, weights = additive_attention(*inputs, mask)
    assert not weights[~mask].any(), "Hidden keys should have a weight of 0."
    assert weights[0].sum().item() == pytest.approx(1.0), "Visible keys share a weight of 1."
    assert not output[1].any(), "A query with no visible key should get zeros."


# attention_backward


def expected_gradients(q, k, v, grad_out, mask=None):
    """Autograd's gradients of torch's own attention."""
    given = [x.clone().requires_grad_() for x in (q, k, v)]
    output = torch.nn.functional.scaled_dot_product_attention(*given, attn_mask=mask)
    return torch.autograd.grad(output, given, grad_out)


@pytest.mark.parametrize("masked", [False, True])
def test_attention_backward_agrees_with_autograd(masked):
    from beyond import attention_backward

    inputs = draw(2, 3, 4), draw(2, 5, 4) + 0.5, draw(2, 5, 6), draw(2, 3, 6) - 0.5
    mask = torch.tensor([True, True, False, True, False]).expand(3, 5) if masked else None
    found = attention_backward(*inputs, mask)
    assert len(found) == 3, f"there are three gradients, of q, k and v, not {len(found)}"
    told = " with a mask" if masked else ""
    for name, x, gradient, expected in zip(
        "qkv", inputs[:3], found, expected_gradients(*inputs, mask), strict=True
    ):
        assert gradient.shape == x.shape, (
            f"the gradient of {name} should have its shape {tuple(x.shape)}, "
            f"not {tuple(gradient.shape)}"
        )
        torch.testing.assert_close(
            gradient, expected, msg=f"The gradient of {name}{told} is not that of autograd."
        )


def test_attention_backward_without_a_visible_key():
    from beyond import attention_backward

    mask = torch.tensor([[True, False, True], [False, False, False]])
    inputs = draw(2, 4), draw(3, 4), draw(3, 2), draw(2, 2)
    grad_q, grad_k, grad_v = attention_backward(*inputs, mask)
    assert not grad_q[1].any(), "A query with no visible key should get a gradient of zero."
    assert not grad_k[1].any(), "Key 1 is hidden from all queries: its gradient should be zero."
    assert not grad_v[1].any(), "So is value 1: where does its gradient come from?"
    alone = attention_backward(*(x[:1] if len(x) == 2 else x for x in inputs), mask[:1])
    torch.testing.assert_close(
        (grad_k, grad_v), alone[1:], msg="The query that sees nothing should add nothing."
    )
