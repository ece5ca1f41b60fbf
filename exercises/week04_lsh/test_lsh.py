"""Public checks for week 4: small examples with known answers. Run them with `pytest`."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

# One column R = (1, 0): bucket 0 holds the vectors that point to the right, bucket 1 the others.
LEFT_OR_RIGHT = torch.tensor([[[1.0], [0.0]]])
VALUES = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])


def test_attention_memory_full():
    from lsh import attention_memory

    bytes_ = attention_memory(512)
    assert bytes_ == 1_048_576, f"512 x 512 scores of 4 bytes are 1048576 bytes, not {bytes_}"
    assert isinstance(bytes_, int), f"a number of bytes is an int, not {type(bytes_).__name__}"
    assert attention_memory(512, "full", bytes_per_element=2) == 524_288, "float16 takes half"


def test_attention_memory_lsh():
    from lsh import attention_memory

    bytes_ = attention_memory(1024, "lsh", bucket_size=16, n_hashes=3)
    assert bytes_ == 393_216, (
        f"3 rounds x 1024 queries x (2 x 16) keys x 4 bytes are 393216 bytes, not {bytes_}"
    )


def test_attention_memory_counts_what_is_computed():
    from lsh import attention_memory

    full = attention_memory(512, "full", bucket_size=16, n_hashes=3)
    assert full == 1_048_576, f"full attention has neither buckets nor rounds: not {full}"
    short = attention_memory(64, "lsh", bucket_size=64, n_hashes=4)
    assert short == 131_072, f"LSH attention can cost more than full attention: 131072, not {short}"


def test_attention_memory_unknown_kind():
    from lsh import attention_memory

    with pytest.raises(ValueError, match="lhs"):
        attention_memory(512, "lhs")


def test_hash_vectors_by_hand():
    from lsh import hash_vectors

    x = torch.tensor([[2.0, 1.0], [1.0, -3.0], [-2.0, 1.0], [0.5, 4.0]])
    rotations = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    buckets = hash_vectors(x, rotations)
    assert buckets.shape == (2, 4), (
        f"2 rounds of 4 positions should have shape (2, 4), not {tuple(buckets.shape)}"
    )
    assert buckets.dtype == torch.int64, f"buckets are int64, not {buckets.dtype}"
    # In round 1 the first vector becomes [2, 1, -2, -1]: the largest entry stands at place 0.
    expected = [[0, 3, 2, 1], [1, 2, 3, 0]]
    assert buckets.tolist() == expected, (
        f"the buckets of both rounds should be {expected}, not {buckets.tolist()}"
    )


def test_hash_vectors_uses_the_rotation_of_each_round():
    from lsh import hash_vectors

    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    rotations = torch.tensor([[[3.0, 1.0], [0.0, -2.0]], [[-1.0, 2.0], [1.0, -3.0]]])
    # The rows of the first rotation are [3, 1] and [0, -2], so x[2] becomes [3, -1, -3, 1].
    expected = [[0, 3, 0], [1, 3, 3]]
    buckets = hash_vectors(x, rotations).tolist()
    assert buckets == expected, f"the buckets should be {expected}, not {buckets}"


def test_hash_vectors_in_half_precision():
    from lsh import hash_vectors

    x = torch.tensor([[300.0, 300.0]], dtype=torch.float16)
    rotations = torch.tensor([[[300.0, 300.0], [0.0, 1.0]]])  # products 90000 and 90300
    bucket = hash_vectors(x, rotations).item()
    assert bucket == 1, (
        f"90300 is larger than 90000, so the bucket is 1, not {bucket}; float16 ends at 65504"
    )


def test_hash_vectors_opposite_directions():
    from lsh import hash_vectors

    x = torch.tensor([[[3.0, 1.0, -2.0]], [[-3.0, -1.0, 2.0]]])
    buckets = hash_vectors(x, torch.eye(3).unsqueeze(0)).flatten().tolist()
    assert buckets == [0, 3], f"x and -x should be 3 of the 6 buckets apart, not in {buckets}"


def test_sort_by_bucket_by_hand():
    from lsh import sort_by_bucket

    order, inverse = sort_by_bucket(torch.tensor([2, 0, 1, 0, 2]))
    assert order.tolist() == [1, 3, 2, 0, 4], (
        f"buckets 2 0 1 0 2: first positions 1 and 3, then 2, then 0 and 4, not {order.tolist()}"
    )
    assert inverse.tolist() == [3, 0, 2, 1, 4], (
        f"position 0 comes at place 3, position 1 at place 0, …, not {inverse.tolist()}"
    )


def test_sort_by_bucket_rows():
    from lsh import sort_by_bucket

    order, inverse = sort_by_bucket(torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0]]))
    assert order.tolist() == [[1, 3, 0, 2], [0, 1, 2, 3]], "each row is sorted on its own"
    assert order.gather(-1, inverse).tolist() == [[0, 1, 2, 3]] * 2, (
        "the inverse should lead back to 0, 1, 2, 3"
    )


def test_sort_by_bucket_is_stable():
    from lsh import sort_by_bucket

    order, _ = sort_by_bucket(torch.arange(6000) % 3)
    for bucket, part in enumerate(order.split(2000)):
        assert part.tolist() == list(range(bucket, 6000, 3)), (
            "within a bucket, positions should stay in the order of the sequence"
        )


def test_combine_rounds_by_hand():
    from lsh import combine_rounds

    outputs = torch.tensor([[[1.0, 0.0]], [[3.0, 4.0]]])  # 2 rounds, 1 position, 2 features
    result = combine_rounds(outputs, torch.tensor([[0.0], [math.log(3)]]))
    assert result.shape == (1, 2), f"the shape should be (1, 2), not {tuple(result.shape)}"
    assert torch.allclose(result, torch.tensor([[2.5, 3.0]])), (
        f"masses 1 and 3 make weights 1/4 and 3/4, so [[2.5, 3.0]], not {result.tolist()}"
    )


def test_combine_rounds_of_a_batch():
    from lsh import combine_rounds

    outputs = torch.tensor([[[[1.0]], [[3.0]]], [[[10.0]], [[20.0]]]])  # 2 sequences, 2 rounds
    logsumexps = torch.tensor([[[0.0], [math.log(3)]], [[0.0], [0.0]]], requires_grad=True)
    result = combine_rounds(outputs, logsumexps)
    assert result.flatten().tolist() == pytest.approx([2.5, 15.0]), (
        f"the rounds are the third axis from the end of the outputs: 2.5 and 15, not {result}"
    )
    (gradient,) = torch.autograd.grad(result.sum(), logsumexps)
    assert gradient[0].abs().sum() > 0, "gradients should flow through the weights of the rounds"


def test_combine_rounds_large():
    from lsh import combine_rounds

    result = combine_rounds(torch.tensor([[[1.0]], [[3.0]]]), torch.tensor([[500.0], [500.0]]))
    assert torch.allclose(result, torch.tensor([[2.0]]), atol=1e-4), (
        f"equal masses give the mean, however large they are: not {result}"
    )


def test_lsh_attention_sees_its_bucket_only():
    from lsh import lsh_attention

    qk = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0], [-3.0, 0.0]])
    result = lsh_attention(qk, VALUES, LEFT_OR_RIGHT, bucket_size=4)
    assert torch.allclose(result, VALUES[[2, 3, 0, 1]]), (
        "positions 0 and 2 share a bucket, as do 1 and 3: each should get the other's value, "
        f"not {result.tolist()}"
    )


def test_lsh_attention_causal_and_alone():
    from lsh import lsh_attention

    qk = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0], [-3.0, 0.0]])
    result = lsh_attention(qk, VALUES, LEFT_OR_RIGHT, bucket_size=4, causal=True)
    assert torch.allclose(result, VALUES[[0, 1, 0, 1]]), (
        "with causal, positions 0 and 1 are alone and get their own values, 2 and 3 those of "
        f"0 and 1; not {result.tolist()}"
    )


def test_lsh_attention_looks_back_one_chunk():
    from lsh import lsh_attention

    qk = torch.tensor([[1.0, 0.5]]).expand(4, 2)
    result = lsh_attention(qk, VALUES, LEFT_OR_RIGHT, bucket_size=1)
    assert torch.allclose(result, VALUES[[0, 0, 1, 2]]), (
        "in chunks of one, each position sees the one before it, and the first is alone; "
        f"not {result.tolist()}"
    )


def test_lsh_attention_weights():
    from lsh import lsh_attention

    qk = torch.tensor([[2.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
    everybody = torch.tensor([[[1.0], [1.0]]])
    v = torch.tensor([[0.0], [1.0], [2.0]])
    result = lsh_attention(qk, v, everybody, bucket_size=3)
    # Query 0 meets the unit keys (0, 1) and (0.6, 0.8): scores 0 and 1.2 / sqrt(2).
    high = math.exp(1.2 / math.sqrt(2))
    expected = (1 + 2 * high) / (1 + high)
    assert math.isclose(float(result[0, 0]), expected, rel_tol=1e-5), (
        f"query 0 has scores 0 and 0.849, so its output is {expected:.4f}, "
        f"not {float(result[0, 0]):.4f}"
    )


def test_lsh_attention_combines_two_rounds():
    from lsh import lsh_attention

    # Round 1 pairs positions 0, 3 (right) and 1, 2 (left); round 2 pairs 0, 1 (up) and 2, 3 (down).
    qk = torch.tensor([[1.0, 3.0], [-1.0, 2.0], [-2.0, -1.0], [4.0, -1.0]])
    rotations = torch.tensor([[[1.0], [0.0]], [[0.0], [1.0]]])
    result = lsh_attention(qk, VALUES[:, :1], rotations, bucket_size=4).flatten().tolist()
    expected = [2.3926, 1.4928, 2.4628, 1.1608]
    assert result == pytest.approx(expected, abs=1e-3), (
        "each position meets one key in each round, and the better one counts more: expected "
        f"{expected}, not {result}"
    )


class LargestTensor(TorchDispatchMode):
    """Records the number of elements of the largest new tensor."""

    elements = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not operation.is_view:
            self.elements = max(self.elements, result.numel())
        return result


def test_lsh_attention_makes_no_square_matrix():
    from lsh import lsh_attention

    generator = torch.Generator().manual_seed(5)
    T = 2048
    qk, rotations = (
        torch.randn(T, 4, generator=generator),
        torch.randn(1, 4, 8, generator=generator),
    )
    with LargestTensor() as largest:
        lsh_attention(qk, qk, rotations, bucket_size=16)
    assert largest.elements <= T * T // 8, (
        f"with {T} positions and chunks of 16 there are {2 * 16 * T} scores, but you make a tensor "
        f"of {largest.elements} elements: do not compute the scores of all pairs"
    )


def test_lsh_attention_refuses_a_remainder():
    from lsh import lsh_attention

    with pytest.raises(ValueError, match="10"):
        lsh_attention(torch.ones(10, 2), torch.ones(10, 3), LEFT_OR_RIGHT, bucket_size=4)


def _plain_module(**arguments):
    from lsh import LSHAttention

    module = LSHAttention(4, 2, **arguments)
    with torch.no_grad():
        for projection in (module.W_qk, module.W_v, module.W_o):
            projection.weight.copy_(torch.eye(4))
    return module


def test_LSHAttention_parameters():
    from lsh import LSHAttention

    names = {name: tuple(p.shape) for name, p in LSHAttention(12, 3).named_parameters()}
    expected = {f"{name}.weight": (12, 12) for name in ("W_qk", "W_v", "W_o")}
    assert names == expected, f"expected three bias-free projections {expected}, not {names}"
    with pytest.raises(ValueError, match="10"):
        LSHAttention(10, 4)


def test_LSHAttention_heads_side_by_side():
    from lsh import lsh_attention

    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 8, 4, generator=generator)
    rotations = torch.randn(1, 2, 1, generator=generator)
    result = _plain_module(bucket_size=4, n_hashes=1)(x, rotations)
    heads = [lsh_attention(part, part, rotations, 4) for part in x.split(2, dim=-1)]
    assert torch.allclose(result, torch.cat(heads, dim=-1), atol=1e-5), (
        "with identity projections, the output should be the heads' outputs side by side"
    )


def test_LSHAttention_draws_its_rotations():
    module = _plain_module(bucket_size=4, n_hashes=3)
    x = torch.randn(1, 20, 4, generator=torch.Generator().manual_seed(1))
    drawn = module(x, generator=torch.Generator().manual_seed(2))
    # 5 chunks: 6 buckets, three columns
    rotations = torch.randn(3, 2, 3, generator=torch.Generator().manual_seed(2))
    assert torch.allclose(drawn, module(x, rotations), atol=1e-5), (
        "without rotations, they should come from one torch.randn of shape (3, 2, 3) here"
    )


def test_LSHAttention_uses_each_projection():
    module = _plain_module(bucket_size=4, n_hashes=1)
    x = torch.randn(1, 8, 4, generator=torch.Generator().manual_seed(6))
    rotations = torch.randn(1, 2, 1, generator=torch.Generator().manual_seed(7))
    plain = module(x, rotations)
    with torch.no_grad():
        module.W_v.weight.mul_(2.0)
        module.W_o.weight.mul_(3.0)
    assert torch.allclose(module(x, rotations), 6 * plain, atol=1e-4), (
        "doubling W_v and tripling W_o should multiply the output by 6"
    )


def test_LSHAttention_draws_for_every_call():
    module = _plain_module(bucket_size=4, n_hashes=2)
    x = torch.randn(1, 16, 4, generator=torch.Generator().manual_seed(8))
    first, second = (module(x, generator=torch.Generator().manual_seed(s)) for s in (1, 2))
    assert not torch.allclose(first, second), "two generators should give different rotations"


def test_LSHAttention_causal():
    module = _plain_module(bucket_size=4, n_hashes=2, causal=True)
    x = torch.randn(1, 8, 4, generator=torch.Generator().manual_seed(3))
    later = x.clone()
    later[:, -1] *= 2  # the same direction, so the same bucket
    rotations = torch.randn(2, 2, 1, generator=torch.Generator().manual_seed(4))
    before, after = module(x, rotations), module(later, rotations)
    assert torch.allclose(before[:, :-1], after[:, :-1], atol=1e-5), (
        "a later token should not change earlier outputs"
    )
