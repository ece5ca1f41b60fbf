"""Public checks for week 7: small examples with known answers. Run them with `pytest`."""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

LOGS = [0.0, math.log(2), math.log(4)]


def random_qkv(n=5, m=7):
    """Queries (2, n, 4), keys (2, m, 4) and values (2, m, 3) in float64."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((2, n, 4), (2, m, 4), (2, m, 3))
    return [torch.randn(shape, generator=generator).double() for shape in shapes]


def full_attention(q, k, v, causal=False):
    """Attention by the table of scores, and its logsumexp."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, -torch.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


class LargestTensor(TorchDispatchMode):
    """Records the number of elements of the largest new tensor."""

    elements = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor) and not operation.is_view:
                self.elements = max(self.elements, tensor.numel())
        return result


def test_online_softmax_by_hand():
    from flash import online_softmax

    blocks = [torch.tensor([[x]]) for x in LOGS]
    maximum, total = online_softmax(blocks)
    assert maximum.shape == (1,), f"one maximum per row: shape (1,), not {tuple(maximum.shape)}"
    assert math.isclose(maximum.item(), math.log(4), rel_tol=1e-6), (
        f"the largest number is log 4 = {math.log(4):.4f}, not {maximum.item():.4f}"
    )
    assert math.isclose(total.item(), 1.75, rel_tol=1e-6), (
        f"1/4 + 2/4 + 4/4 is 1.75, not {total.item():.4f}; "
        "was the old sum rescaled whenever the maximum rose?"
    )
    maximum, total = online_softmax(reversed(blocks))
    assert math.isclose(total.item(), 1.75, rel_tol=1e-6), (
        "in the reverse order it is 1.75 as well; do the new exponentials refer to the maximum "
        f"of all blocks so far? You have {total.item():.4f}"
    )


def test_online_softmax_from_a_generator():
    from flash import online_softmax

    x = torch.tensor([[1000.0, 1001.0, 1002.0, 1001.0, 999.0], [-3.0, -2.0, -1.0, -1.5, -3.0]])
    maximum, total = online_softmax(block for block in x.split([2, 1, 2], dim=-1))
    assert maximum.tolist() == [1002.0, -1.0], (
        f"the maxima should be 1002 and -1, not {maximum.tolist()}"
    )
    expected = torch.exp(x - x.amax(-1, keepdim=True)).sum(-1)
    assert torch.allclose(total, expected), (
        f"blocks of widths 2, 1 and 2 that come once: expected sums {expected}, not {total}"
    )


def test_online_softmax_minus_infinity():
    from flash import online_softmax

    nothing = torch.full((2, 2), -torch.inf)
    number = torch.tensor([[-200.0, -200.0], [-torch.inf, -torch.inf]])
    maximum, total = online_softmax([nothing, number])
    assert maximum.tolist() == [-200.0, -math.inf], (
        f"the maxima should be -200 and -inf, not {maximum.tolist()}"
    )
    assert total.tolist() == [2.0, 0.0], f"the sums should be 2 and 0, not {total.tolist()}"


def test_online_softmax_needs_one_block_at_a_time():
    from flash import online_softmax

    generator = torch.Generator().manual_seed(3)
    blocks = list(torch.randn(4, 6400, generator=generator).split(100, dim=-1))
    with LargestTensor() as largest:
        online_softmax(block for block in blocks)
    assert largest.elements <= 1200, (
        f"a block has 400 numbers, but you make a tensor of {largest.elements}: "
        "do not join the blocks"
    )


def test_tiled_attention_is_full_attention():
    from flash import tiled_attention

    q, k, v = random_qkv()
    expected, logsumexp = full_attention(q, k, v)
    for block_size in (1, 3, 7, 64):
        output, lse = tiled_attention(q, k, v, block_size)
        assert output.shape == (2, 5, 3), f"the output is (..., n, d_v), not {tuple(output.shape)}"
        assert torch.allclose(output, expected), (
            f"with blocks of {block_size} keys the output should be that of full attention"
        )
        assert lse.shape == (2, 5), f"the logsumexp is (..., n), not {tuple(lse.shape)}"
        assert torch.allclose(lse, logsumexp), (
            f"with blocks of {block_size} keys the logsumexp should be that of all scaled scores"
        )


def test_tiled_attention_of_ones():
    from flash import tiled_attention

    # One query; six keys with scaled scores 0, 1, 2, 3, 4, 5 (d is 1); all values are 1.
    scores = torch.arange(6.0)
    for name, order in (("rise", scores), ("fall", scores.flip(0))):
        output, lse = tiled_attention(torch.ones(1, 1), order[:, None], torch.ones(6, 1), 4)
        assert math.isclose(output.item(), 1.0, rel_tol=1e-6), (
            f"where all values are 1 the output is 1, not {output.item():.4f} (scores that {name})"
        )
        assert math.isclose(lse.item(), 5.4562, rel_tol=1e-4), (
            f"the logsumexp of 0, 1, …, 5 is 5.4562, not {lse.item():.4f} (scores that {name})"
        )


def test_tiled_attention_of_rows_of_different_size():
    from flash import tiled_attention

    # Scores -2000, -2000 in one row, 0.001 and -0.001 in another, 3000 and -3000 in the last.
    q = torch.tensor([[-2000.0, 0.0, 0.0, 0.0], [0.0, 0.001, 0.0, 0.0], [0.0, 3000.0, 0.0, 0.0]])
    k = torch.tensor([[2.0, 2.0, 0.0, 0.0], [2.0, -2.0, 0.0, 0.0]])
    output, _ = tiled_attention(q, k, torch.tensor([[0.0], [1.0]]), block_size=1)
    assert torch.allclose(output, torch.tensor([[0.5], [0.5], [0.0]]), atol=2e-3), (
        f"the outputs should be 0.5, 0.5 and 0, not {output.flatten().tolist()}: "
        "every query has its own maximum, which may be far below 0"
    )


def test_tiled_attention_visits_keys_in_blocks():
    from flash import tiled_attention

    q, k = torch.ones(16, 1, requires_grad=True), torch.ones(4096, 1)
    for causal in (False, True):
        with LargestTensor() as largest:
            output, _ = tiled_attention(q, k, k, block_size=16, causal=causal)
        assert largest.elements <= 2 * 4096, (
            f"16 queries meet 16 keys at a time, but you make a tensor of {largest.elements} "
            f"elements (all scores, or a mask for all of them, would be {16 * 4096})"
        )
    assert output.requires_grad, "the output has lost its connection to the queries"


def test_tiled_attention_causal():
    from flash import tiled_attention

    for n, m in ((6, 6), (4, 6), (6, 4)):
        q, k, v = random_qkv(n, m)
        output, lse = tiled_attention(q, k, v, block_size=4, causal=True)
        expected, logsumexp = full_attention(q, k, v, causal=True)
        assert torch.allclose(output[:, 0], v[:, 0]), "the first query sees the first key only"
        assert torch.allclose(output, expected), (
            f"n = {n}, m = {m}: query i sees the keys j <= i, counted in the sequence, "
            "not in the block"
        )
        assert torch.allclose(lse, logsumexp), "the logsumexp is that of the keys a query sees"


def test_FlashAttention_values_and_gradients():
    from flash import FlashAttention

    for causal in (False, True):
        ours = [x.requires_grad_() for x in random_qkv()]
        theirs = [x.requires_grad_() for x in random_qkv()]
        output = FlashAttention.apply(*ours, 3, causal)
        expected, _ = full_attention(*theirs, causal)
        assert torch.allclose(output, expected), "the output should be that of tiled_attention"
        upstream = torch.linspace(-1, 1, output.numel()).double().reshape(output.shape)
        output.backward(upstream)
        expected.backward(upstream)
        for name, x, y in zip(("values", "keys", "queries"), ours[::-1], theirs[::-1], strict=True):
            ratio = (x.grad.norm() / y.grad.norm()).item()
            assert torch.allclose(x.grad, y.grad), (
                f"causal={causal}: the gradient of the {name} is not that of full attention; "
                f"its length is {ratio:.3g} times the right one"
            )


def test_FlashAttention_visits_keys_in_blocks():
    from flash import FlashAttention

    q, k = torch.ones(16, 1, requires_grad=True), torch.ones(4096, 1, requires_grad=True)
    with LargestTensor() as forward:
        output = FlashAttention.apply(q, k, k, 16, False)
    with LargestTensor() as backward:
        output.sum().backward()
    for name, largest in (("forward", forward), ("backward", backward)):
        assert largest.elements <= 2 * 4096, (
            f"{name}: 16 queries meet 16 keys at a time, but you make a tensor of "
            f"{largest.elements} elements (all scores would be {16 * 4096})"
        )


def test_FlashAttention_keeps_little():
    from flash import FlashAttention

    n, d = 256, 4
    q, k, v = (torch.randn(n, d, requires_grad=True) for _ in range(3))
    kept = {}

    def note(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // 4
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        FlashAttention.apply(q, k, v, 16, False)
    elements = sum(kept.values())
    assert elements <= 8 * n * d, (
        f"inputs, output and logsumexp are {4 * n * d + n} numbers, but {elements} are kept for "
        f"the backward pass (all weights would be {n * n})"
    )
