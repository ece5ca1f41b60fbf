"""Public checks for week 8: small examples with known answers. Run them with `pytest`."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class NewElements(TorchDispatchMode):
    """Counts the elements of new tensors and of copies into existing ones."""

    total = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        copied = operation.__name__.startswith("copy_")
        new = isinstance(result, torch.Tensor) and all(result is not arg for arg in args)
        if copied or (new and not operation.is_view):
            self.total += result.numel()
        return result


def test_cache_bytes_by_hand():
    from serving import cache_bytes

    answer = cache_bytes(n_layers=1, n_kv_heads=1, d=4, length=10)
    assert answer == 160, f"10 positions of 4 numbers, keys and values, 2 bytes each: not {answer}"
    answer = cache_bytes(1, 1, 4, 10, batch=3, dtype=torch.float32)
    assert answer == 960, f"three sequences in float32 take 6 times as much: 960, not {answer}"
    answer = cache_bytes(32, 8, 128, 8192, dtype=torch.bfloat16)
    assert answer == 2**30, f"that of a model with 8 billion weights is exactly 1 GiB, not {answer}"
    assert type(answer) is int, f"an int, not {type(answer).__name__}"


def test_KVCache_gives_back_everything_so_far():
    from serving import KVCache

    cache = KVCache(batch=1, n_kv_heads=1, max_len=5, d=1)
    assert cache.length == 0, f"a new cache has length 0, not {cache.length}"
    for numbers, so_far in (([1, 2, 3], [1, 2, 3]), ([4], [1, 2, 3, 4]), ([5], [1, 2, 3, 4, 5])):
        k = torch.tensor(numbers, dtype=torch.float32).view(1, 1, -1, 1)
        keys, values = cache.append(k, 10 * k)
        assert keys.flatten().tolist() == so_far, f"after {numbers} the keys should be {so_far}"
        assert values.flatten().tolist() == [10 * x for x in so_far], "the values go with the keys"
        assert cache.length == len(so_far), f"length should be {len(so_far)}, not {cache.length}"


def test_KVCache_gives_views():
    from serving import KVCache

    cache = KVCache(2, 3, 8, 4)
    first, _ = cache.append(random(2, 3, 5, 4), random(2, 3, 5, 4))
    second, _ = cache.append(random(2, 3, 1, 4), random(2, 3, 1, 4))
    assert first.data_ptr() == second.data_ptr(), (
        "both results should begin at the same place in memory: are the old keys copied?"
    )


def test_KVCache_keeps_heads_and_caches_apart():
    from serving import KVCache

    cache, other = (KVCache(2, 3, 41, 4, dtype=torch.float16) for _ in range(2))
    k = random(2, 3, 40, 4)
    keys, values = cache.append(k[:, :, :38], -k[:, :, :38])
    other.append(random(2, 3, 4, 4, seed=1), random(2, 3, 4, 4, seed=1))
    with NewElements() as new:
        keys, values = cache.append(k[:, :, 38:], -k[:, :, 38:])
    assert keys.dtype == torch.float16, f"the cache is float16, its keys are {keys.dtype}"
    assert keys.shape == (2, 3, 40, 4), f"(B, H_kv, t, d) is (2, 3, 40, 4), not {tuple(keys.shape)}"
    assert torch.equal(keys, k.half()) and torch.equal(values, -k.half()), (
        "keys and values should be those appended to this cache, in their order"
    )
    assert new.total <= 4 * 2 * k[:, :, 38:].numel(), "an append should write new positions only"


def test_KVCache_refuses_what_does_not_fit():
    from serving import KVCache

    cache = KVCache(1, 1, 4, 2)
    cache.append(random(1, 1, 3, 2), random(1, 1, 3, 2))
    with pytest.raises(ValueError, match=r"2|5"):
        cache.append(random(1, 1, 2, 2), random(1, 1, 2, 2))
    assert cache.length == 3, f"a refused append leaves length at 3, not {cache.length}"


def test_KVCache_writes_nothing_when_it_refuses():
    from serving import KVCache

    cache = KVCache(1, 1, 3, 1)
    keys, _ = cache.append(torch.ones(1, 1, 2, 1), torch.ones(1, 1, 2, 1))
    before = bytes(keys.untyped_storage())
    with pytest.raises(ValueError, match=r"\d"):
        cache.append(torch.full((1, 1, 2, 1), 5.0), torch.ones(1, 1, 2, 1))
    assert bytes(keys.untyped_storage()) == before, "a refused append should write nothing"


def test_grouped_query_attention_shares_heads():
    from serving import grouped_query_attention

    # All scores are 0, so each query gets the mean of the values of its key-value head.
    q, k = torch.zeros(1, 4, 1, 2), torch.zeros(1, 2, 3, 2)
    v = torch.tensor([1.0, 100.0]).view(1, 2, 1, 1).expand(1, 2, 3, 1)
    output, weights = grouped_query_attention(q, k, v)
    assert weights.shape == (1, 4, 1, 3), f"weights are (B, H, n, m), not {tuple(weights.shape)}"
    answer = [round(x) for x in output.flatten().tolist()]
    assert answer == [1, 1, 100, 100], (
        f"heads 0 and 1 share the first head, 2 and 3 the second, but the outputs are {answer}"
    )


def test_grouped_query_attention_against_copied_keys():
    from serving import grouped_query_attention

    q, k, v = random(2, 6, 4, 8), random(2, 2, 5, 8, seed=1), random(2, 2, 5, 3, seed=2)
    triangle = torch.ones(4, 5, dtype=torch.bool).tril()
    per_head = random(2, 6, 4, 5, seed=3) > -1
    per_head[..., 0] = True
    for mask in (None, triangle, per_head):
        output, weights = grouped_query_attention(q, k, v, mask)
        scores = q @ k.repeat_interleave(3, dim=1).mT / 8**0.5
        seen = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
        expected = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        shape = "no mask" if mask is None else f"a mask of shape {tuple(mask.shape)}"
        assert torch.allclose(weights, expected, atol=1e-6), f"with {shape} the weights are wrong"
        expected = expected @ v.repeat_interleave(3, dim=1)
        assert torch.allclose(output, expected, atol=1e-6), f"with {shape} the output is wrong"


def test_grouped_query_attention_of_a_trained_layer():
    from serving import grouped_query_attention

    with np.load(Path(__file__).with_name("model") / "layer.npz") as file:
        q, k, v, recorded = (torch.tensor(file[name]) for name in ("q", "k", "v", "output"))
    causal = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    output, _ = grouped_query_attention(q, k, v, causal)
    wrong = (output - recorded).abs().amax(dim=(0, 2, 3)) > 1e-4
    assert not wrong.any(), (
        f"heads {wrong.nonzero().flatten().tolist()} differ from those of the trained layer"
    )


def test_grouped_query_attention_copies_no_keys():
    from serving import grouped_query_attention

    q, k, v = random(1, 32, 1, 32), random(1, 2, 512, 32, seed=1), random(1, 2, 512, 32, seed=2)
    with NewElements() as new:
        grouped_query_attention(q, k, v)
    assert new.total <= 8 * k.numel(), (
        f"keys and values have {k.numel()} numbers each, but your tensors have {new.total} in all: "
        "are the keys copied for the query heads?"
    )


def test_grouped_query_attention_of_hidden_keys():
    from serving import grouped_query_attention

    mask = torch.tensor([[True, False], [False, False]])
    v = random(1, 2, 2, 3, seed=2)
    output, _ = grouped_query_attention(
        300 * random(1, 4, 2, 4), random(1, 2, 2, 4, seed=1), v, mask
    )
    expected = v[:, [0, 0, 1, 1], 0]
    assert torch.allclose(output[:, :, 0], expected, atol=1e-5), (
        "a query that sees one key should return its value"
    )
    assert not output[:, :, 1].any(), "a query with no visible key should get zeros"


def test_grouped_query_attention_refuses_uneven_groups():
    from serving import grouped_query_attention

    with pytest.raises(ValueError, match=r"5|2"):
        grouped_query_attention(random(1, 5, 1, 4), random(1, 2, 3, 4), random(1, 2, 3, 4))


class Joining:
    """A cache that concatenates: slow, and independent of yours."""

    def __init__(self):
        self.length, self.both = 0, None

    def append(self, k, v):
        new = torch.stack([k, v])
        self.both = new if self.both is None else torch.cat([self.both, new], dim=3)
        self.length = self.both.shape[3]
        return self.both[0], self.both[1]


def test_GroupedQueryAttention_has_small_projections():
    from serving import GroupedQueryAttention

    module = GroupedQueryAttention(d_model=12, n_heads=6, n_kv_heads=2)
    shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    expected = {"W_q": (12, 12), "W_k": (4, 12), "W_v": (4, 12), "W_o": (12, 12)}
    expected = {f"{name}.weight": shape for name, shape in expected.items()}
    assert shapes == expected, f"the parameters should be {expected}, not {shapes}"


def test_GroupedQueryAttention_agrees_with_torch():
    from serving import GroupedQueryAttention

    torch.manual_seed(1)
    module, x = GroupedQueryAttention(12, 6, 2), random(2, 5, 12, seed=4)
    q, k, v = (
        (x @ layer.weight.T).unflatten(-1, (-1, 2)).transpose(1, 2)
        for layer in (module.W_q, module.W_k, module.W_v)
    )
    k, v = (part.repeat_interleave(3, dim=1) for part in (k, v))
    heads = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    expected = heads.transpose(1, 2).flatten(2) @ module.W_o.weight.T
    assert torch.allclose(module(x), expected, atol=1e-5), (
        "the output differs from PyTorch's: check which layer makes queries, keys and values, how "
        "features become heads, the scale, and W_o"
    )


def test_GroupedQueryAttention_keeps_caches_apart():
    from serving import GroupedQueryAttention

    torch.manual_seed(2)
    module, x, y = GroupedQueryAttention(12, 6, 2), random(1, 4, 12), random(1, 4, 12, seed=1)
    first, second = Joining(), Joining()
    module(x[:, :3], first), module(y[:, :3], second)
    assert torch.allclose(module(x[:, 3:], first), module(x)[:, 3:], atol=1e-5), (
        "each cache belongs to a separate sequence"
    )


def test_GroupedQueryAttention_attends_to_the_cache():
    from serving import GroupedQueryAttention

    torch.manual_seed(3)
    module, x, outputs = GroupedQueryAttention(12, 6, 2), random(1, 1, 12), []
    for value in (0.0, 10.0):
        cache = Joining()
        cache.append(torch.zeros(1, 2, 4, 2), torch.full((1, 2, 4, 2), value))
        outputs.append(module(x, cache))
    assert not torch.allclose(*outputs), "the output should depend on the values in the cache"


def test_GroupedQueryAttention_in_chunks():
    from serving import GroupedQueryAttention

    torch.manual_seed(0)
    module, x = GroupedQueryAttention(12, 6, 2), random(2, 7, 12)
    whole = module(x)
    assert whole.shape == x.shape, f"(B, s, C) in, (B, s, C) out, not {tuple(whole.shape)}"
    for sizes in ((7,), (4, 1, 1, 1), (2, 3, 2)):
        cache = Joining()
        chunked = torch.cat([module(chunk, cache) for chunk in x.split(sizes, dim=1)], dim=1)
        assert cache.length == 7, f"in chunks of {sizes} the cache should end with 7 positions"
        assert cache.both.shape[2] == 2, "append the two key-value heads, not a copy per query head"
        worst = int((chunked - whole).abs().amax((0, 2)).argmax())
        assert torch.allclose(chunked, whole, atol=1e-5), (
            f"in chunks of {sizes} the outputs differ, with the largest error at position {worst}"
        )


def test_sliding_window_mask_by_hand():
    from serving import sliding_window_mask

    def drawn(mask):
        return ["".join("x" if seen else "." for seen in row) for row in mask.tolist()]

    answer = drawn(sliding_window_mask(5, 5, 2))
    assert answer == ["x....", "xx...", ".xx..", "..xx.", "...xx"], answer
    answer = drawn(sliding_window_mask(5, 5, 2, sinks=1))
    assert answer == ["x....", "xx...", "xxx..", "x.xx.", "x..xx"], answer
    answer = drawn(sliding_window_mask(6, 6, 3, sinks=2))
    assert answer == ["x.....", "xx....", "xxx...", "xxxx..", "xxxxx.", "xx.xxx"], answer
    answer = drawn(sliding_window_mask(2, 5, 2))
    assert answer == ["x....", "xx..."], f"positions are counted from 0 in both: not {answer}"
    answer = drawn(sliding_window_mask(1, 5, 2, sinks=1, offset=4))
    assert answer == ["x..xx"], f"the query is at position 4, and sees {answer}"


class Counting(torch.nn.Module):
    """Predicts (the sum of all tokens so far) mod 10, and records what it is fed."""

    def __init__(self):
        super().__init__()
        self.fed, self.asked = [], []

    def new_caches(self, batch, max_len):
        self.asked.append((batch, max_len))
        return [torch.zeros(batch, dtype=torch.long)]

    def forward(self, ids, caches):
        self.fed.append(ids.shape[1])
        sums = caches[0][:, None] + ids.cumsum(1) + self.training  # off by one in training mode
        caches[0] += ids.sum(1)
        return torch.nn.functional.one_hot(sums % 10, 10).float()


def test_generate_cached_feeds_each_token_once():
    from serving import generate_cached

    model = Counting()
    ids = generate_cached(model, torch.tensor([[1, 2, 3], [0, 0, 4]]), 3)
    expected = [[1, 2, 3, 6, 2, 4], [0, 0, 4, 4, 8, 6]]
    assert ids.tolist() == expected, (
        f"each new token should be the most likely one: {expected}, not {ids.tolist()}"
    )
    assert model.fed[:3] == [3, 1, 1], f"the prompt at once, then one at a time, not {model.fed}"
    assert len(model.asked) == 1, f"caches are made once, not {len(model.asked)} times"
    assert model.asked[0][0] == 2 and model.asked[0][1] in (5, 6), (
        f"for 2 prompts of 3 tokens and 3 new ones, request caches for 6 positions (or 5, because "
        f"the last token is never fed), not {model.asked[0]}"
    )


def test_generate_cached_restores_everything():
    from serving import generate_cached

    for training in (True, False):
        model = Counting().train(training)
        prompt = torch.tensor([[1, 2, 3]])
        first, second = generate_cached(model, prompt, 2), generate_cached(model, prompt, 2)
        assert first.tolist() == [[1, 2, 3, 6, 2]], "the model should run in evaluation mode"
        assert torch.equal(first, second), "a second call should start with empty caches"
        assert prompt.tolist() == [[1, 2, 3]], "the prompt was changed"
        assert model.training is training, "the model's previous mode should be restored"
        assert torch.is_grad_enabled(), "gradients should be enabled again afterwards"


def test_PagedCache_takes_and_gives_back():
    from serving import PagedCache

    cache = PagedCache(num_pages=4, page_size=2, n_kv_heads=1, d=1)
    numbers = torch.arange(10.0)
    for seq, part, free in (("a", (0, 3), 2), ("b", (5, 6), 1), ("a", (3, 4), 1), ("a", (4, 5), 0)):
        k = numbers[slice(*part)].view(1, -1, 1)
        cache.append(seq, k, -k)
        assert cache.free_pages == free, (
            f"after positions {part} of {seq}, {free} pages are free, not {cache.free_pages}"
        )
    keys, values = cache.gather("a")
    assert keys.flatten().tolist() == [0, 1, 2, 3, 4], (
        f"all keys of a in order are 0, 1, 2, 3, 4, not {keys.flatten().tolist()}"
    )
    assert torch.equal(values, -keys), "the values go with the keys"
    with pytest.raises(ValueError, match=r"\d"):
        cache.append("b", numbers[:2].view(1, 2, 1), numbers[:2].view(1, 2, 1))
    cache.free("a")
    assert cache.free_pages == 3, f"a gave three pages back; 3 are free, not {cache.free_pages}"
    assert cache.gather("b")[0].flatten().tolist() == [5], "b keeps what it has"
    cache.append("b", numbers[6:9].view(1, 3, 1), numbers[6:9].view(1, 3, 1))
    again = cache.gather("b")[0].flatten().tolist()
    assert again == [5, 6, 7, 8], f"b should continue in pages that a has freed: not {again}"


def test_PagedCache_keeps_sequences_apart():
    from serving import PagedCache

    cache, other = PagedCache(6, 2, n_kv_heads=3, d=4), PagedCache(6, 2, n_kv_heads=3, d=4)
    k = random(3, 9, 4)
    cache.append("a", k[:, :3], k[:, :3])
    cache.append("b", k[:, 3:5], k[:, 3:5])
    cache.free("a")  # its pages come first again
    cache.append("b", k[:, 5:9], k[:, 5:9])
    other.append("b", k[:, :1], k[:, :1])
    keys, _ = cache.gather("b")
    assert keys.shape == (3, 6, 4), f"(H_kv, t, d) is (3, 6, 4), not {tuple(keys.shape)}"
    assert torch.equal(keys, k[:, 3:9]), (
        "the positions of b should be in the order in which they were appended"
    )
    free = cache.free_pages
    with pytest.raises(ValueError, match=r"\d"):
        cache.append("c", random(3, 8, 4), random(3, 8, 4))
    assert cache.free_pages == free, "a refused append should take no page"
    cache.append("a", k[:, :2], k[:, :2])
    assert torch.equal(cache.gather("a")[0], k[:, :2]), "after `free`, a name starts again"


def test_PagedCache_copies_no_old_positions():
    from serving import PagedCache

    cache = PagedCache(64, 16, n_kv_heads=1, d=4)
    cache.append("a", random(1, 1000, 4), random(1, 1000, 4))
    with NewElements() as new:
        cache.append("a", random(1, 1, 4), random(1, 1, 4))
    assert new.total <= 400, (
        f"one more position has 4 numbers, but you make tensors of {new.total} in all"
    )


def test_speculative_step_by_hand():
    from serving import speculative_step

    p = torch.tensor([[0.2, 0.8, 0.0], [0.1, 0.1, 0.8]])
    q = torch.tensor([[0.8, 0.1, 0.1]])
    kept = speculative_step(torch.tensor([0]), p, q, torch.tensor([0.2, 0.5]))
    assert kept == (1, 2), f"0.2 < 0.2/0.8: kept, and 0.5 draws token 2 from the last row: {kept}"
    refused = speculative_step(torch.tensor([0]), p, q, torch.tensor([0.3, 0.1]))
    assert refused == (0, 1), f"0.3 is too much; only token 1 has more in p than in q: {refused}"
    longer = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.4, 0.6], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]])
    guess = torch.tensor([[0.5, 0.4, 0.1], [0.2, 0.8, 0.0], [0.3, 0.3, 0.4]])
    draft = torch.tensor([0, 1, 2])
    middle = speculative_step(draft, longer, guess, torch.tensor([0.9, 0.7, 0.1, 0.0]))
    assert middle == (1, 2), (
        f"the second token is rejected (0.7 > 0.4/0.8), so stop there: {middle}"
    )
    all_kept = speculative_step(draft, longer, guess, torch.tensor([0.9, 0.3, 0.5, 0.7]))
    assert all_kept == (3, 1), f"three accepted, then 0.7 draws token 1: {all_kept}"
    flat = torch.tensor([[0.4, 0.3, 0.3], [1.0, 0.0, 0.0]])
    steep = torch.tensor([[1.0, 0.0, 0.0]])
    drawn = speculative_step(torch.tensor([0]), flat, steep, torch.tensor([0.4, 0.45]))
    assert drawn == (0, 1), (
        f"after the rejection 1 and 2 have probability 1/2 each, and 0.45 draws token 1: {drawn}"
    )
    late = speculative_step(torch.tensor([0]), flat, steep, torch.tensor([0.4, 0.55]))
    assert late == (0, 2), f"the last number, 0.55, draws token 2: {late}"
    empty = speculative_step(torch.tensor([], dtype=torch.long), p[:1], q[:0], torch.tensor([0.1]))
    assert empty == (0, 0), f"without a draft the token comes from p: {empty}"
